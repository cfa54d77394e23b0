"""A study's goal over recorded answers: the table of a replay, what it says in words, and its chart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.analysis.goals.look import Rule
from judgewell.analysis.goals.plan import chosen_systems, goal_systems, rule_of, scale_ends
from judgewell.analysis.goals.replay import (
    ranked_only,
    recorded_answers,
    recorded_pairs,
    replay,
    replay_pairs,
    simulated,
)
from judgewell.analysis.goals.systems import Points, first_state, linear_measure
from judgewell.errors import InputError, note
from judgewell.formats.judgments import read_judgments, read_pairs
from judgewell.formats.options import reading
from judgewell.study.file import parse, read_source
from judgewell.study.model import Study
from judgewell.tables import INCLUSION
from judgewell.terminal import frame_text, prose
from judgewell.text import counted, percent

OF_DOCUMENTS, OF_PAIRS = ("even", "floor", "sampled"), ("even", "pairs")
# What a study file must name and a replay does not read: topics and documents are those of the answers.
NOT_READ = {"study": {"name": "replay"}} | {name: {"file": "answers"} for name in ("topics", "documents", "pool")}


@dataclass(frozen=True)
class Replay:
    """What designs would have cost over recorded answers; its text is what the command prints."""

    table: pl.DataFrame  # a row for each design and repeat
    rule: Rule
    answers: int  # recorded
    documents: int
    systems: int

    @property
    def summary(self) -> pl.DataFrame:
        """Each design: its answers, the ratio of its cost to the even design's, and how often it was right."""
        even = self.table.filter(pl.col("design") == "even").select("repeat", even="cost")
        joined = self.table.join(even, on="repeat", how="left").with_columns(ratio=pl.col("cost") / pl.col("even"))
        gaps = pl.col("estimated").sum() / pl.col("true").sum() - 1
        return joined.group_by("design", maintain_order=True).agg(
            answers=pl.col("answers").median(),
            cost=pl.col("cost").median(),
            ratio=pl.col("ratio").median(),
            ratio_90=pl.col("ratio").quantile(0.9),
            decided=(pl.col("status") == "decided").mean(),
            right=pl.col("right").mean(),
            overstated=gaps,
            **{name: pl.col(name).median() for name in ("similar", "similar_own") if name in joined.columns},
        )

    def __repr__(self) -> str:
        repeats, summary = int(self.table["repeat"].max()), self.summary  # type: ignore[arg-type]
        within = f" within {self.rule.within:g} of 100 points" if self.rule.within else ""
        goal = "the order" if self.rule.decide == "order" else f"the best system{within}"
        every = f"all {self.rule.full} answers" if self.rule.full != 1 else "the one answer"
        asked = f"; rule: would {every} per document agree?" if self.rule.full else ""
        data = f"{self.answers:,} answers about {self.documents:,} documents, {self.systems} systems"
        saved = [f"{design} {percent(ratio, 0)}" for design, ratio in summary.select("design", "ratio").rows()[1:]]
        answer = f"Answers needed, of those of the even design: {', '.join(saved)}.\n" if saved else ""
        shown = summary.with_columns(
            pl.col("answers").round().cast(pl.Int64),
            pl.col("cost", "ratio", "ratio_90").map_elements(lambda number: f"{number:.2f}", pl.String),
            pl.col("decided", "right").map_elements(lambda share: f"{round(share * repeats)} of {repeats}", pl.String),
            pl.col("overstated").fill_nan(None).map_elements(lambda share: f"{100 * share:+.1f} %", pl.String),
        )
        similar = (
            " similar: share of the answers until the order of the systems by bradley-terry gains has τ ≥ .95 with "
            "that of all answers; similar_own: the same by the estimate that stops the study."
            if "similar" in shown.columns
            else ""
        )
        about = prose(
            f"Medians over {counted(repeats, 'random order')} of the answers. cost: answers per document. ratio: cost "
            "over that of the even design with the same stopping rule; ratio_90: its 90 % quantile. right: decided, "
            f"and all answers say the same. overstated: differences at the stop against those of all answers.{similar}"
        )
        return f"{data}; goal: {goal}{asked}\n{answer}\n{frame_text(shown)}\n{about}"

    def chart(self) -> Any:
        """The cost of each design in every repeat, by how it ended."""
        from judgewell.comparison.charts import altair, themed

        alt = altair()
        ended = (
            pl.when(pl.col("right"))
            .then(pl.lit("right"))
            .otherwise(pl.when(pl.col("status") == "decided").then(pl.lit("wrong")).otherwise(pl.lit("not separable")))
        )
        points = self.table.select("design", "repeat", "cost", ended=ended)
        base = alt.Chart(alt.Data(values=points.to_dicts())).encode(
            y=alt.Y("design:N", title=None, sort=points["design"].unique(maintain_order=True).to_list())
        )
        dots = base.mark_circle(size=50, opacity=0.6).encode(
            x=alt.X("cost:Q", title="answers per document until the stop", scale=alt.Scale(zero=True)),
            color=alt.Color("ended:N", title=None, scale=alt.Scale(domain=["right", "wrong", "not separable"])),
            yOffset=alt.YOffset("repeat:Q", scale=alt.Scale(range=[10, 38])),
        )
        middle = base.mark_tick(thickness=3, size=40).encode(x="median(cost):Q")
        return themed((dots + middle).properties(width=480, height=alt.Step(60)))


def replay_study(
    study: str | Path,
    answers: Any,
    *,
    designs: Sequence[str] = (),
    systems: int | None = None,
    repeats: int = 20,
    rule: Literal["full", "goal"] = "full",
    seed: int = 0,
    columns: str | Mapping[str, str] | None = None,
    words: str | Mapping[str, str] | None = None,
    separator: str | None = None,
    no_header: bool = False,
    kind: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Replay:
    """The goal of a study file over recorded answers, by several designs; the pool is what the answers are about.

    `systems` simulates so many instead of reading runs. With the `rule` full each look asks whether the design with all
    answers would agree; goal asks what the study itself would.
    """
    given = {"columns": columns, "words": words, "separator": separator, "no_header": no_header}
    how = reading(given, "judgments", "pairs")
    source = read_source(study)
    source = replace(source, settings=NOT_READ | dict(source.settings))
    chosen, problems = parse(source)
    if chosen is None:
        raise problems[0].error
    if chosen.goal is None:
        raise InputError("the study has no goal", cure="add [goal] with systems and decide", file=study)
    allowed = OF_PAIRS if chosen.groups else OF_DOCUMENTS
    strange = [name for name in designs if name not in allowed]
    if strange:
        raise InputError(f"there is no design {strange[0]!r}", cure=f"the designs are {', '.join(allowed)}")
    which: Any = tuple(dict.fromkeys(("even", *designs))) if designs else allowed
    if chosen.groups:
        recorded = recorded_pairs(read_pairs(answers, **how))
        if systems:
            raise InputError("systems are simulated from gains, and pairs have none", cure="name runs in goal.systems")
        read_systems = _systems(chosen, recorded.pool, source)
        stops = rule_of(chosen, recorded.pool)
        table = replay_pairs(recorded, read_systems, stops, which, repeats, seed, progress)
        return Replay(table, stops, len(recorded.answers), len(recorded.pool), len(read_systems.names))
    low, high = scale_ends(chosen)
    measure = linear_measure(chosen.goal.measure)
    values = read_judgments(answers, **how, kind=kind)
    if INCLUSION.name in values.columns and values[INCLUSION.name].min() != 1:
        note(
            "the answers were drawn by a goal (column inclusion): a replay knows only these documents, and cannot show "
            "what another design would have asked about; replay answers that were collected evenly"
        )
    most = chosen.units.redundancy if chosen.units else 1
    documents = recorded_answers(values, Points(measure, float(low or 0), float(high or 0)), most)
    made = (
        simulated(documents.pool, documents.means, systems, seed)
        if systems
        else _systems(chosen, documents.pool, source)
    )
    documents, made = ranked_only(documents, made)
    stops = rule_of(chosen, documents.pool)
    if rule == "full":
        stops = replace(stops, full=int(np.median(documents.counts)))
    first = first_state(documents.pool, chosen.study.seed)
    table = replay(documents, first, made, stops, which, repeats, seed, progress)
    return Replay(table, stops, int(documents.counts.sum()), len(documents.pool), len(made.names))


def _systems(study: Study, pool: pl.DataFrame, source: Any) -> Any:
    goal = study.goal
    assert goal is not None
    return chosen_systems(goal_systems(goal, linear_measure(goal.measure), pool, source), goal)
