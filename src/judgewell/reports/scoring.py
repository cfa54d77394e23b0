"""The runs of a report scored under its gains and every set of labels, with worlds over topics and judgments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from judgewell.analysis.draws import GainDraws, Resampled, resample, score_of_draws
from judgewell.analysis.scores import on_shared_topics, scores_under
from judgewell.comparison.scores import ScoreArray, note_identical
from judgewell.comparison.worlds import Worlds, topic_worlds
from judgewell.errors import DataError, MeasureError, collect_notes
from judgewell.evaluation.measures import Judged, Measure
from judgewell.reports.gains import ReportGains
from judgewell.reports.parts import NotAnalysed
from judgewell.reports.sources import Sources


@dataclass(frozen=True)
class Scored:
    """The runs scored: the first measure under each set of gains, all measures under the first set."""

    sets: Mapping[str, ScoreArray]
    measures: Mapping[str, ScoreArray]
    judged: pl.DataFrame  # set, system, judged
    depth: int
    worlds: Mapping[str, Worlds] = field(default_factory=dict)
    without_noise: ScoreArray | None = None
    unscored: Mapping[str, str] = field(default_factory=dict)  # sets the first measure has no meaning for, with why
    not_analysed: tuple[NotAnalysed, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def main(self) -> ScoreArray:
        """The scores that most of the report is about."""
        return next(iter(self.sets.values()))

    @property
    def own_judged(self) -> pl.DataFrame:
        """How much of each system's ranking the first set of gains judges."""
        return self.judged.filter(pl.col("set") == next(iter(self.sets)))

    @property
    def widest(self) -> Worlds:
        """The worlds that hold all the uncertainty there is."""
        return self.worlds.get("both") or self.worlds["topics"]


def score_systems(sources: Sources, used: ReportGains | None) -> Scored:
    """Score the runs, and resample topics, and judgments where there are draws of other gains."""
    not_analysed: list[NotAnalysed] = []
    unscored: dict[str, str] = {}
    with collect_notes() as notes:
        depth = max((one.cutoff or 0 for one in sources.measures), default=0) or 10
        scored = _under_each(sources, used, depth, unscored)
        asked = len(sources.measures)
        sets = {name: scores[0] for name, scores in scored.items()}
        main = next(iter(sets.values()))
        note_identical(main)
        first = next(iter(scored.values()))
        judged = pl.concat(
            pl.DataFrame({"set": [name] * len(main.systems), "system": main.systems, "judged": scores[-1].means})
            for name, scores in scored.items()
        )
        resampled = _resampled(sources, used, main, not_analysed) or Resampled({}, None)
    measures = {one.measure: one for one in first[:asked]}
    return Scored(
        sets,
        measures,
        judged,
        depth,
        resampled.worlds,
        resampled.without_noise,
        unscored,
        tuple(not_analysed),
        tuple(notes),
    )


def _under_each(
    sources: Sources, used: ReportGains | None, depth: int, unscored: dict[str, str]
) -> dict[str, Sequence[ScoreArray]]:
    """Scores under each set of gains, Judged@depth last: every measure under the first set, the first measure under the
    others. A set for which the first measure has no meaning goes to `unscored`, with the reason."""
    scored: dict[str, Sequence[ScoreArray]] = {}
    for name, table in on_shared_topics(_tables(sources, used), common=True).items():
        wanted: list[Measure] = [*sources.measures[: 1 if scored else None], Judged(cutoff=depth)]
        try:
            scored[name] = scores_under(sources.runs, table, wanted, executor=sources.executor)
        except (DataError, MeasureError) as problem:
            if not scored:
                raise
            unscored[name] = str(problem)
    return scored


def _tables(sources: Sources, used: ReportGains | None) -> dict[str, pl.DataFrame]:
    """The sets of gains that the runs are scored under, the report's own first."""
    own = {used.name: used.gains} if used else {}
    tables = own | {name: table for name, table in sources.gains.items() if name not in own}
    for name, table in sources.labels.items():
        tables[name if name not in tables else f"{name} (labels)"] = table
    if not tables:
        raise DataError("runs cannot be scored without gains or labels; give --gains, --labels or --judgments")
    return tables


def _resampled(
    sources: Sources, used: ReportGains | None, scores: ScoreArray, not_analysed: list[NotAnalysed]
) -> Resampled | None:
    """Other topics; with draws also other judgments, and both."""
    if len(scores.systems) < 2 or len(scores.topics) < 2:
        what, few = "ranks and pairs of systems", "one system"
        if len(scores.topics) < 2:
            what, few = f"intervals, {what}", "one topic"
        not_analysed.append(NotAnalysed("systems", what, f"there is {few}"))
        return None
    measure = sources.measures[0]
    how: Any = {"worlds": sources.worlds, "seed": sources.seed, "executor": sources.executor}
    if used is not None and used.draws is not None and measure.cutoff is not None:
        kept = used.gains["topic"].is_in(scores.topics)
        draws = GainDraws.of_array(used.gains.filter(kept), used.draws[:, kept.to_numpy()])
        score = score_of_draws(sources.runs, draws.documents, measure, scores, executor=sources.executor)
        return resample(draws, score, scores, **how)
    if used is None:
        reason = "needs judgments or pairs that gains are made from"
    elif used.draws is None:
        reason = f"the gains {used.name} are given ready-made; make them here with --method instead of --gains"
    else:
        reason = f"{measure} looks at whole rankings; give it a cutoff"
    not_analysed.append(NotAnalysed("systems", "uncertainty from judgments", reason))
    return Resampled({"topics": topic_worlds(scores.systems, scores.values, **how)}, None)
