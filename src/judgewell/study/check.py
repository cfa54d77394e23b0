"""Checking a study before it begins: every mistake at once, what is legal but unwise, and what it will cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from judgewell.errors import DataError, InputError, collect_notes
from judgewell.study.cost import Cost, cost_of_design, group_alternatives, hand_out, largest_topic, unit_alternatives
from judgewell.study.design.plan import Design, Note, make_design, without_known
from judgewell.study.file import Problem, Source, first_of, parse, read_source, without_mistakes
from judgewell.study.inputs import Inputs, missing_files, read_inputs
from judgewell.study.model import Study
from judgewell.study.new import example, has_example_topics
from judgewell.text import counted

UNTRANSLATED_SHOWN = 10


@dataclass(frozen=True)
class Checked:
    """What a check found: mistakes (the study cannot run), warnings, and the study's design and cost where it can."""

    mistakes: tuple[Problem, ...]
    warnings: tuple[Problem, ...] = ()
    study: Study | None = None
    inputs: Inputs | None = field(default=None, repr=False)
    design: Design | None = field(default=None, repr=False)
    cost: Cost | None = None


def check_study(path: str | Path) -> Checked:
    """All that can be said about a study file before it is run."""
    source = read_source(path)
    study, mistakes = parse(source)
    usable = study or without_mistakes(source)
    inputs, wrong, noted = read_inputs(usable, source) if usable else (None, [], [])
    if study is None or inputs is None:
        return Checked(_each_once(source, [*mistakes, *wrong, *missing_files(source)]), tuple(noted), study)
    unknown = without_known(study, inputs)
    if unknown:
        return Checked((source.problem(("known",), *unknown),), tuple(noted), study, inputs)
    place = ("groups",) if study.groups else ("templates",) if study.templates else ("units",)
    with collect_notes() as collected:
        try:
            design = make_design(study, inputs)
        except (DataError, InputError) as error:
            problem, _, cure = str(error).partition("; ")
            return Checked((source.problem(place, problem, cure or None),), tuple(noted), study, inputs)
    noted += [source.problem(place, text) for text in collected]
    noted += [replace(source.problem(place, text), information=True) for text in _condensed(design.notes)]
    cost = cost_of_design(study, design)
    noted += [*_unwise(study, inputs, design, source), *_owner(study, cost, source)]
    return Checked((), tuple(noted), study, inputs, design, cost)


def _each_once(source: Source, problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """Every problem once: the study file's by their lines, then those of other files."""
    own = str(source.path)
    once = {(problem.file, problem.line, problem.problem): problem for problem in reversed(problems)}
    order = sorted(once, key=lambda key: (key[0] != own, key[0] or "", key[1] or 0, key[2]))
    return tuple(once[key] for key in order)


def load_study(path: str | Path) -> tuple[Study, Inputs]:
    """A study and its inputs, ready to be designed or served; the first mistake is raised."""
    source = read_source(path)
    study, mistakes = parse(source)
    inputs = None
    if study is not None:
        inputs, mistakes, _ = read_inputs(study, source)
    if study is None or inputs is None:
        raise first_of(mistakes, path)
    return study, inputs


def alternatives(study: Study, inputs: Inputs) -> pl.DataFrame:
    """Other sizes for the study's design with their cost and expected reliability; empty for templates."""
    sizes = [len(inputs.pool_of(topic)) for topic in inputs.topics["topic"]]
    if study.units:
        return unit_alternatives(sizes, study)
    if study.groups is None:
        return pl.DataFrame()
    known = [
        (len(inputs.known_of(topic, "H")) + len(inputs.known_of(topic, "reserve")), len(inputs.known_of(topic, "N")))
        for topic in inputs.topics["topic"]
    ]
    topics = [(n, high, low) if high and low else (n, 0, 0) for n, (high, low) in zip(sizes, known, strict=True)]
    return group_alternatives(topics, study)


def _condensed(notes: Sequence[Note]) -> list[str]:
    """The first note of each kind, and for how many more topics the like is true."""
    kinds: dict[str, list[Note]] = {}
    for note in notes:
        kinds.setdefault(note.kind, []).append(note)
    return [f"{same[0]}{_more(len(same) - 1)}" for same in kinds.values()]


def _more(topics: int) -> str:
    return f" ({topics} more topic{'s are' if topics > 1 else ' is'} like this)" if topics else ""


def _unwise(study: Study, inputs: Inputs, design: Design, source: Source) -> list[Problem]:
    """What is legal and still worth a second thought."""
    problems = []
    place = ("groups",) if study.groups else ("units",)
    if study.known is None and study.templates is None and study.checks.known != "off":
        cure = 'add [known] with expert grades, or set known = "off" under [checks] to do without'
        problems.append(source.problem(place, "no known documents: careless work goes unnoticed", cure))
    missing = inputs.texts.untranslated()
    if missing and inputs.texts.code != "en":
        shown = ", ".join(missing[:UNTRANSLATED_SHOWN]) + (", …" if len(missing) > UNTRANSLATED_SHOWN else "")
        problem = f"{len(missing)} of {len(inputs.texts.texts)} texts are not translated: {shown}"
        problems.append(source.problem(("study", "texts"), problem, "assessors read them in English"))
    if study.units:
        size = study.units.documents
        small = [topic for topic in inputs.topics["topic"] if len(inputs.pool_of(topic)) < size]
        if small:
            problem = f"{len(small)} topics have fewer documents than a unit of {size} (first {small[0]})"
            problems.append(source.problem(("units", "documents"), problem, "their units hold all their documents"))
    problems += [*_examples(study, source), *_unreachable(study, design, source)]
    if study.checks.known != "off" and study.known and study.groups and "preference" not in study.groups.questions:
        problems.append(source.problem(("groups", "questions"), "known pairs are only checked with a preference"))
    if study.checks.review and not study.checks.comment:
        problems.append(
            source.problem(("checks", "review"), "comments are reviewed but not asked for", "set checks.comment")
        )
    if study.double and study.units and study.units.redundancy > 1 and not study.double.given:
        problem = f"[double] adds to a redundancy of {study.units.redundancy}"
        problems.append(source.problem(("units", "redundancy"), problem, "single judgments have a redundancy of 1"))
    return problems


def _examples(study: Study, source: Source) -> list[Problem]:
    """Texts of the example study that people would read in this one; the example itself is only reminded of them."""
    problems = []
    untouched = has_example_topics(source.resolved(study.topics.file))
    if study.study.consent == example()["study"]["consent"]:
        cure = "before people judge, say who asks, what for and whom to write to"
        kept = source.problem(("study", "consent"), "this is the example's consent text", cure)
        problems.append(replace(kept, information=untouched))
    if not untouched:
        given = [one["answers"] for one in example()["checks"]["question"]]
        for number, question in enumerate(study.checks.question):
            if question.answers in given:
                problem = f"the question about topic {question.topic} is still that of the example"
                problems.append(source.problem(("checks", "question", number), problem, "ask about your own topic"))
    return problems


def _owner(study: Study, cost: Cost, source: Source) -> list[Problem]:
    """What the owner would learn too late."""
    problems = []
    budget = study.pay.budget
    if budget is not None and cost.total > budget:
        may_stop = study.goal is not None and not study.groups  # before that; the goal's own cost is simulated
        units = f"{study.pay.affordable():,.0f} of {cost.units:,} units" + (" of the whole design" if may_stop else "")
        pays = f"the budget of {budget:,.2f} {cost.currency} pays for {units}"
        problem = f"{pays}; then the study ends"
        few = source.problem(("pay", "budget"), problem, f"all of them cost {cost.total:,.2f}")
        problems.append(replace(few, information=may_stop))
    if study.owner.webhook and not study.owner.webhook_secret:
        problem = "what the webhook sends is not signed"
        problems.append(source.problem(("owner", "webhook"), problem, "name a variable in owner.webhook_secret"))
    return problems


def _unreachable(study: Study, design: Design, source: Source) -> list[Problem]:
    """Work that the assessors at hand cannot do, each topic and unit being done by different people."""
    people = study.work.assessors
    if people is None:
        return []
    work = largest_topic(design)
    problems = []
    needed, _ = hand_out(work, study.work.units_per_topic)
    if needed > people:
        _, can = hand_out(work, study.work.units_per_topic, people)
        fewest, _ = hand_out(work, len(work.units))
        cures = [f"invite {needed}", "lower the redundancy"]
        if fewest <= people:
            cures.insert(1, "raise work.units_per_topic")
        problems.append(
            source.problem(
                ("work", "assessors"),
                f"{counted(people, 'assessor')} can do {counted(can, 'unit')} of topic {work.topic}, which needs "
                f"{work.completions}; nobody judges a document twice",
                f"{', '.join(cures[:-1])} or {cures[-1]}",
            )
        )
    if design.completions > people * study.work.most_units:
        problem = (
            f"{counted(people, 'assessor')} can do {counted(people * study.work.most_units, 'unit')}, "
            f"the study needs {design.completions}"
        )
        problems.append(source.problem(("work", "assessors"), problem, "invite more, or raise work.most_units"))
    return problems
