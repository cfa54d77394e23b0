"""The runs measured under the gains and every set of labels, with the worlds that topics and judgments allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from judgewell.comparison.scores import ScoreArray, aligned, score_array, tell_of_identical
from judgewell.comparison.worlds import Worlds, all_worlds, topic_worlds
from judgewell.errors import DataError, MeasureError
from judgewell.reports.parts import LeftOut
from judgewell.reports.sources import Sources, hearing
from judgewell.reports.worth import Worth

if TYPE_CHECKING:
    from judgewell.evaluation.measures import Measure

BLOCK = 32  # gain tables measured at once


@dataclass(frozen=True)
class Scored:
    """The runs measured: the first measure under each set of gains, all measures under the first set."""

    sets: Mapping[str, ScoreArray]
    measures: Mapping[str, ScoreArray]
    judged: pl.DataFrame  # set, system, judged
    depth: int
    worlds: Mapping[str, Worlds] = field(default_factory=dict)
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def main(self) -> ScoreArray:
        return next(iter(self.sets.values()))


def scored(sources: Sources, worth: Worth | None, progress: Callable[[int, int], None] | None = None) -> Scored:
    """Measure the runs, and resample topics, and judgments where there are draws of other gains."""
    notes: list[str] = []
    left_out: list[LeftOut] = []
    with hearing(notes):
        tables = _tables(sources, worth)
        found: dict[str, pl.DataFrame] = {}
        depth = max((one.cutoff or 0 for one in sources.measures), default=0) or 10
        for name, table in tables.items():
            try:
                found[name] = _scores(sources, table, depth, progress)
            except (DataError, MeasureError) as problem:
                if not found:
                    raise
                left_out.append(LeftOut("systems", f"systems under {name}", str(problem)))
        sets = aligned({name: _of(table, sources.measures[0]) for name, table in found.items()}, common=True)
        tell_of_identical(next(iter(sets.values())))
        main = next(iter(found))
        measures = {scores.measure: scores for scores in (_of(found[main], one) for one in sources.measures)}
        shared = next(iter(sets.values())).topics
        judged = pl.concat(_judged(name, table, depth, shared) for name, table in found.items())
        worlds = _worlds(sources, worth, next(iter(sets.values())), left_out)
    return Scored(sets, measures, judged, depth, worlds, tuple(left_out), tuple(notes))


def _tables(sources: Sources, worth: Worth | None) -> dict[str, pl.DataFrame]:
    """The sets of gains that the runs are measured under, the report's own first."""
    own = {worth.name: worth.gains} if worth else {}
    found = own | {name: table for name, table in sources.gains.items() if name not in own}
    for name, table in sources.labels.items():
        found[name if name not in found else f"{name} (labels)"] = table
    if not found:
        raise DataError("runs cannot be measured without gains or labels; give --gains, --labels or --judgments")
    return found


def _scores(
    sources: Sources, table: pl.DataFrame, depth: int, progress: Callable[[int, int], None] | None
) -> pl.DataFrame:
    from judgewell.evaluation.evaluate import scores_table, system_scores, topic_names
    from judgewell.evaluation.measures import Judged

    wanted: list[Measure] = [*sources.measures]
    if Judged(cutoff=depth) not in wanted:
        wanted.append(Judged(cutoff=depth))
    results = list(system_scores(sources.runs, table, wanted, progress=progress))
    return scores_table(results, topic_names(table), wanted)


def _of(table: pl.DataFrame, measure: Measure) -> ScoreArray:
    """The scores of a measure, whose name in the table also says what the gains settled."""
    from judgewell.evaluation.measures import find_measure

    name = find_measure(measure, table["measure"].unique(maintain_order=True))
    return score_array(table, name, limits=measure.limits)


def _judged(name: str, table: pl.DataFrame, depth: int, topics: Sequence[str]) -> pl.DataFrame:
    counted_here = (pl.col("measure") == f"Judged@{depth}") & pl.col("topic").is_in(list(topics))
    rows = table.filter(counted_here).group_by("system").agg(judged=pl.col("value").mean())
    return rows.sort("system").select(pl.lit(name).alias("set"), "system", "judged")


def _worlds(sources: Sources, worth: Worth | None, scores: ScoreArray, left_out: list[LeftOut]) -> dict[str, Worlds]:
    """Other topics; with draws also other judgments, and both."""
    if len(scores.systems) < 2 or len(scores.topics) < 2:
        what, few = "ranks and pairs of systems", "one system"
        if len(scores.topics) < 2:
            what, few = f"intervals, {what}", "one topic"
        left_out.append(LeftOut("systems", what, f"there is {few}"))
        return {}
    measure = sources.measures[0]
    if worth is not None and worth.draws is not None and measure.cutoff is not None:
        return _with_judgments(sources, worth, measure, scores)
    if worth is None or worth.draws is None:
        left_out.append(LeftOut("systems", "other judgments", "needs judgments or pairs that the gains are made from"))
    else:
        left_out.append(LeftOut("systems", "other judgments", f"{measure} looks at whole rankings; give it a cutoff"))
    return {"topics": topic_worlds(scores.systems, scores.values, sources.worlds, seed=sources.seed)}


def _with_judgments(sources: Sources, worth: Worth, measure: Measure, scores: ScoreArray) -> dict[str, Worlds]:
    from judgewell.evaluation.resampled import ranked_items

    rankings = ranked_items(sources.runs, worth.gains, measure.cutoff or 0)
    settled = measure.settled(worth.gains["gain"].to_numpy())
    rows = [rankings.systems.index(name) for name in scores.systems]
    columns = [rankings.topics.index(name) for name in scores.topics]

    def score(gains: Any) -> Any:
        return rankings.scores(settled, gains)[:, rows][..., columns]

    def blocks() -> Iterator[Any]:
        for start in range(0, len(worth.draws), BLOCK):
            yield worth.draws[start : start + BLOCK]

    return all_worlds(scores.systems, scores.values, score, blocks(), sources.worlds, seed=sources.seed)


def widest(worlds: Mapping[str, Worlds]) -> Worlds:
    """The worlds that hold all the uncertainty there is."""
    return worlds.get("both") or worlds["topics"]


def own_judged(found: Scored) -> pl.DataFrame:
    first = next(iter(found.sets))
    return found.judged.filter(pl.col("set") == first)
