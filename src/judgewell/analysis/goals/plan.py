"""A study's goal, made ready: its pool, its systems as arrays, its rule, and how answers become points."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from judgewell.analysis.goals.look import Decide, Mode, Rule, Systems
from judgewell.analysis.goals.state import State
from judgewell.analysis.goals.systems import Points, first_state, linear_measure, state_of, systems_of
from judgewell.comparison.scores import system_number
from judgewell.errors import Information, InputError, JudgewellError, collect_notes, note
from judgewell.evaluation.measures.base import Linear
from judgewell.formats.runs import open_runs
from judgewell.stats.arrays import Bools, Floats
from judgewell.study.file import Problem, Source, matching, read_source
from judgewell.study.inputs import Inputs, missing_files
from judgewell.study.model import Goal, Study
from judgewell.tables import INCLUSION


@dataclass(frozen=True)
class Plan:
    """Everything that looks and batches of a study need; `dump` and `load` carry it through JSON."""

    pool: pl.DataFrame = field(repr=False)  # topic and doc, sorted: the rows of every array
    systems: Systems = field(repr=False)
    rule: Rule
    measure: str
    low: float | None  # the ends of the scale; None in a study of pairs
    high: float | None
    seed: int

    @property
    def points(self) -> Points:
        """How answers become points."""
        if self.low is None or self.high is None:
            raise InputError("answers about pairs have no points", cure="use look_at_pairs")
        return Points(linear_measure(self.measure), self.low, self.high)

    def limited_to(self, units: int) -> Plan:
        """The plan of a study that makes no more units than these, those of its whole design."""
        return replace(self, rule=replace(self.rule, most_units=units))

    def first(self) -> State:
        """The state before the first answer."""
        return first_state(self.pool, self.seed)

    def state(self, answers: pl.DataFrame, pi: Floats) -> State:
        """The state that collected answers (topic, doc, value) give after batches that raised π to `pi`."""
        return state_of(answers, self.pool, self.first(), pi, self.points)

    def dump(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        system, document = np.nonzero(self.systems.weights)
        return {
            "pool": self.pool.select("topic", "doc").to_dict(as_series=False),
            "systems": self.systems.names,
            "weights": [system.tolist(), document.tolist(), self.systems.weights[system, document].tolist()],
            "importance": self.systems.importance.tolist(),
            "rule": asdict(self.rule),
            "measure": self.measure,
            "ends": [self.low, self.high],
            "seed": self.seed,
        }

    @classmethod
    def load(cls, dumped: dict[str, Any]) -> Plan:
        """The plan that `dump` gave."""
        pool = pl.DataFrame(dumped["pool"], schema={"topic": pl.String(), "doc": pl.String()})
        weights = np.zeros((len(dumped["systems"]), len(pool)))
        system, document, weight = dumped["weights"]
        weights[system, document] = weight
        systems = Systems(tuple(dumped["systems"]), weights, np.array(dumped["importance"]))
        low, high = dumped["ends"]
        return cls(pool, systems, Rule(**dumped["rule"]), dumped["measure"], low, high, dumped["seed"])


def plan_of(study: Study, inputs: Inputs, source: Source) -> tuple[Plan | None, list[Problem], list[Problem]]:
    """The plan of a study with a goal, what is wrong with the goal, and what was noted while reading."""
    goal = study.goal
    if goal is None:
        return None, [], []
    wrong = measure_mistakes(goal, source)
    if wrong:
        return None, [*wrong, *missing_files(source)], []
    measure = linear_measure(goal.measure)
    place: tuple[str, ...] = ("goal", "systems")
    with collect_notes() as notes:
        try:
            pool = inputs.pool.select("topic", "doc").sort("topic", "doc")
            systems = goal_systems(goal, measure, pool, source)
            place = ("goal", "decide")
            systems = chosen_systems(systems, goal)
            place = ("scale",) if study.scale else ("groups",)
            low, high = scale_ends(study)
            if INCLUSION.name in inputs.pool.columns:
                place = ("pool", "file")
                raise InputError(
                    "a drawn pool (column inclusion) beside [goal]", cure="give the whole pool: the goal draws from it"
                )
            rule = rule_of(study, pool)
            if rule.mode == "sampled" and not study.groups:
                pool, systems = ranked_part(pool, systems)
        except JudgewellError as error:
            return None, [source.problem(place, *_parts(error))], []
    return (
        Plan(pool, systems, rule, str(measure), low, high, study.study.seed),
        [],
        [
            replace(source.problem(("goal", "systems"), text), information=isinstance(text, Information))
            for text in notes
        ],
    )


def measure_mistakes(goal: Goal, source: Source) -> list[Problem]:
    """What is wrong with the goal's measure, whatever else is wrong with the study."""
    try:
        linear_measure(goal.measure)
    except JudgewellError as error:
        return [source.problem(("goal", "measure"), *_parts(error))]
    return []


def load_plan(path: str, study: Study, inputs: Inputs) -> Plan | None:
    """The plan of a study that was read from `path`, or None without a goal; the first mistake is raised."""
    plan, mistakes, _ = plan_of(study, inputs, read_source(path))
    if mistakes:
        raise mistakes[0].error
    return plan


def rule_of(study: Study, pool: pl.DataFrame) -> Rule:
    """When the study stops: `within` in points, and at most as many answers per document as its design has."""
    goal = study.goal
    if goal is None:
        raise InputError("the study has no goal", cure="add [goal]")
    decide: Decide = "order" if goal.decide == "order" else "best"
    mode: Mode = goal.ask or ("floor" if decide == "order" else "sampled")
    most = study.units.redundancy if study.units else 1
    if study.groups:  # each document meets a share of the others, and a pair is two documents
        others = len(pool) / max(pool["topic"].n_unique(), 1) - 1
        most = max(1, math.ceil(study.groups.share * others * study.groups.assessors / 2))
    return Rule(decide, 100 * goal.within, goal.confidence, mode, most)


def _parts(error: JudgewellError) -> tuple[str, str | None]:
    if isinstance(error, InputError):
        return error.problem, error.cure
    problem, _, cure = str(error).partition("; ")
    return problem, cure or None


def goal_systems(goal: Goal, measure: Linear, pool: pl.DataFrame, source: Source) -> Systems:
    """The systems of the run files that a goal names."""
    files = [str(path) for pattern in goal.systems for path in matching(source, pattern)]
    if not files:
        cure = "name files from the study's folder (judgewell replay --simulated 20 needs none)"
        raise InputError(f"no run file matches {', '.join(goal.systems)}", cure=cure, file=source.path)
    systems = systems_of(open_runs(files), measure, pool)
    if len(systems.names) < 2:
        raise InputError(f"one system, {systems.names[0]}, has nothing to be compared with", cure="name two or more")
    return systems


def chosen_systems(systems: Systems, goal: Goal) -> Systems:
    """All systems, or the two that are to be decided between."""
    if isinstance(goal.decide, str):
        return systems
    rows = [system_number(systems.names, name) for name in goal.decide]
    return Systems(tuple(goal.decide), systems.weights[rows], systems.importance)


def ranked_part(pool: pl.DataFrame, systems: Systems) -> tuple[pl.DataFrame, Systems]:
    """Only documents that some system ranks within the cutoff, with a note: the others change no score."""
    kept = systems.weights.any(axis=0)
    if not kept.any():
        raise InputError(
            "no document of the pool is among the first of the systems", cure="pool their runs, or check the ids"
        )
    if not kept.all():
        few = f"{int((~kept).sum()):,} of {len(pool):,} documents of the pool"
        text = f"{few} are not asked about: no system of the goal ranks them within the measure's cutoff"
        note(Information(text))
    return pool.filter(pl.Series(kept)), Systems(systems.names, systems.weights[:, kept], systems.importance[kept])


def known_rows(pool: pl.DataFrame, known: Mapping[str, Mapping[str, str]]) -> Bools:
    """Which documents of a pool are known ones, which every unit of their topic has."""
    return np.array([doc in known.get(topic, {}) for topic, doc in pool.select("topic", "doc").iter_rows()], bool)


def scale_ends(study: Study) -> tuple[float | None, float | None]:
    """The ends of the scale; none for pairs."""
    if study.groups:
        if "preference" not in study.groups.questions:
            raise InputError("a goal about pairs needs preferences", cure='add "preference" to groups.questions')
        return None, None
    scale = study.scale[0]
    if scale.choices:
        return scale.choices[0].value, scale.choices[-1].value
    kind = scale.numbers
    if kind.in_logs or kind.low is None or kind.high is None:
        raise InputError(
            f"a goal needs numbers that mean the same for all assessors, and {scale.kind} lets each choose their own",
            cure='take kind = "s100", "ordinal" or "binary"',
        )
    return kind.low, kind.high
