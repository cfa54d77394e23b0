"""The same runs under many gain tables: documents are looked up once, then every table is array work.

`ranked_items` maps each rank to a row of the gains table; `Rankings.scores` measures any number of
alternative gains for those rows (draws × rows) in blocks of bounded memory. What a measure makes of a gain is worked
out once for each row of the table, not for each place where the row is ranked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.errors import DataError, InputError, note
from judgewell.evaluation.evaluate import of_runs
from judgewell.evaluation.judged import Judged, prepare
from judgewell.evaluation.measures import Measure, Residual
from judgewell.evaluation.measures.base import Linear, ratio
from judgewell.evaluation.measures.cascade import ERR, GRADES, nERR
from judgewell.evaluation.measures.cumulative import nDCG
from judgewell.evaluation.part import part_ranks
from judgewell.evaluation.ranks import JudgedRanks
from judgewell.evaluation.settings import Settings
from judgewell.executors import Executor
from judgewell.formats.runs import Run
from judgewell.stats.arrays import Floats, Ints

BLOCK_CELLS = 1_000_000  # gains at ranks held at once: 8 MB, small enough to stay in the processor's cache


@dataclass(frozen=True)
class Rankings:
    """The row of a gains table at each rank: systems × topics × ranks, −1 where unjudged."""

    systems: list[str]
    topics: list[str]
    items: NDArray[np.int32]
    rows: tuple[Ints, ...]  # of each topic: its rows in the gains table
    local: Ints = field(init=False, repr=False)  # the items as places within their topic's rows
    lengths: Ints | None = None  # systems × topics: how many documents each ranks, at most the depth

    def __post_init__(self) -> None:
        place = np.empty(sum(map(len, self.rows)) + 1, dtype=np.int64)
        lengths = np.array([len(rows) for rows in self.rows])
        for rows in self.rows:
            place[rows] = np.arange(len(rows))
        local = place[self.items]  # −1 is the last, filled in next: the place behind the topic's last row
        object.__setattr__(self, "local", np.where(self.items < 0, lengths[:, None], local))

    def scores(self, measure: Measure, gains: Floats) -> Floats:
        """The measure under alternative gains for the table's rows (…, rows): (…, systems, topics).

        NaN is a document that a table leaves unjudged. What a measure takes from the whole table (the largest gain,
        for a residual) it takes from each table, unless it is `prepared` with one.
        """
        depth = measure.of.cutoff if isinstance(measure, Residual) else measure.cutoff
        if depth is None or depth > self.items.shape[-1]:
            raise DataError(f"{measure} looks deeper than the {self.items.shape[-1]} ranks kept; rank to its depth")
        if measure.by_intent:
            raise DataError(f"{measure} needs gains by intent, which many gain tables do not hold")
        if measure.needs_lengths:
            raise DataError(f"{measure} depends on how much was retrieved, which many gain tables do not say")
        if gains.shape[-1] != sum(map(len, self.rows)):
            raise DataError(f"{gains.shape[-1]} gains for {sum(map(len, self.rows))} rows; give one for each row")
        flat = gains.reshape(-1, gains.shape[-1])
        unjudged = np.isnan(flat)
        measure.check(flat[~unjudged] if unjudged.any() else flat)
        scores = np.empty((len(flat), len(self.systems), len(self.topics)))
        widest = max((len(rows) for rows in self.rows), default=1)
        block = max(1, BLOCK_CELLS // max(len(self.systems) * depth, widest, 1))
        for start in range(0, len(flat), block):
            self._score(measure, depth, flat[start : start + block], scores[start : start + block])
        return scores.reshape(*gains.shape[:-1], len(self.systems), len(self.topics))

    def _score(self, measure: Measure, depth: int, gains: Floats, out: Floats) -> None:
        """Topic by topic; draws are the last axis inside, so that a row's gains lie side by side."""
        if isinstance(measure, Linear):
            self._score_sums(measure, depth, gains, out)
            return
        largest = np.fmax.reduce(gains, axis=1, initial=0.0)
        for topic, rows in enumerate(self.rows):
            judged = np.full((len(rows) + 1, len(gains)), np.nan)  # the last is every unjudged document
            judged[:-1] = gains[:, rows].T
            ranked = self.local[:, topic, :depth]
            if isinstance(measure, ERR):
                scores = _cascade(measure, judged, ranked)
            else:
                scores = _any(measure, judged, ranked, largest)
            out[:, :, topic] = scores.T

    def _score_sums(self, measure: Linear, depth: int, gains: Floats, out: Floats) -> None:
        """A measure that adds up credit × weight: a sparse matrix of weights times the credit of every row."""
        from scipy.sparse import csr_array

        judged = self.items[..., :depth] >= 0
        ends = np.append(0, np.cumsum(judged.sum(axis=-1)))
        weights = np.broadcast_to(measure.weights(depth), judged.shape)[judged]
        shape = (len(self.systems) * len(self.topics), gains.shape[-1])
        matrix = csr_array((weights, self.items[..., :depth][judged], ends), shape=shape)
        one = np.ones((len(gains), 1, 1))  # a sum of 1; the value is linear in the sum
        sums = (matrix @ measure.credit(np.ascontiguousarray(gains.T))).reshape(*out.shape[1:], len(gains))
        for topic, rows in enumerate(self.rows):
            unit = measure.total(one, _best(gains[:, rows], depth)[:, None], np.ones(1))
            out[:, :, topic] = sums[:, topic].T * unit


def ranked_items(
    runs: Sequence[Run],
    gains: pl.DataFrame,
    depth: int,
    settings: Settings | None = None,
    executor: Executor | None = None,
) -> Rankings:
    """Look the judged documents of every run's first `depth` ranks up once; a note reports topics that a run lacks."""
    settings = settings or Settings()
    if settings.ties != "doc" or settings.unjudged == "error" or settings.topics == "run":
        raise InputError(
            "many gain tables are measured with ties=doc, unjudged=zero or condense and topics=judged",
            cure="leave these settings at their defaults",
        )
    judged = prepare(gains)
    executor = executor or Executor()
    read = list(executor.map(_items, runs, executor.share((judged, depth, settings)), total=len(runs)))
    missing = [(len(judged.topics) - count, run.system) for run, (_, _, count) in zip(runs, read, strict=True)]
    items, lengths = (np.stack([one[part] for one in read]) for part in (0, 1))
    _tell_of_missing(missing, len(judged.topics))
    rows = tuple(np.flatnonzero(judged.number == topic) for topic in range(len(judged.topics)))
    return Rankings([run.system for run in runs], judged.topics, items, rows, lengths)


def cutoff_of(measure: Measure) -> int:
    """How deep a measure looks; one that looks at whole rankings is refused."""
    if measure.cutoff is None:
        raise InputError(f"{measure} looks at whole rankings", cure=f"give it a cutoff: {measure}@10")
    return measure.cutoff


def rank_weights(rankings: Rankings, measure: Linear) -> list[Floats]:
    """What a document's credit adds to a system's score: systems × documents for each topic; for nDCG, to its DCG."""
    depth = cutoff_of(measure)
    unit = fixed_unit(measure)
    weights = measure.weights(depth) * (1.0 if unit is None else unit)
    parts = []
    for topic, rows in enumerate(rankings.rows):
        part = np.zeros((len(rankings.systems), len(rows) + 1))  # the last column is every other document
        place = rankings.local[:, topic, :depth]
        np.put_along_axis(part, place, np.broadcast_to(weights, place.shape), axis=1)
        parts.append(part[:, :-1])
    return parts


def fixed_unit(measure: Linear) -> float | None:
    """The score of a weighted sum of 1; None where it depends on the topic's other documents."""
    one, first, second = np.ones(1), np.array([1.0, 0.0]), np.array([1.0, 1.0])
    units = [float(measure.total(one, ideal, one)) for ideal in (first, second)]
    return units[0] if units[0] == units[1] and not isinstance(measure, nDCG) else None


def _items(run: Run, shared: tuple[Judged, int, Settings]) -> tuple[NDArray[np.int32], Ints, int]:
    """The judged document at each rank (topics × depth, −1 for none), how many ranks of each topic are filled, and how
    many topics are ranked."""
    judged, depth, settings = shared
    items = np.full((len(judged.topics), depth), -1, np.int32)
    lengths = np.zeros(len(judged.topics), np.int64)
    topics = [_fill(items, lengths, ranks) for ranks in part_ranks(run.whole().parts[0], judged, settings)]
    count = len(np.unique(np.concatenate(topics)))
    if not count:
        raise InputError(
            f"none of the topics of run {run.system} has judgments",
            cure="give runs of the judged topics",
            file=run.source,
        )
    return items, lengths, count


def _fill(items: NDArray[np.int32], lengths: Ints, ranks: JudgedRanks) -> Ints:
    """Write judged documents to their ranks, and how many there are; the topics that are ranked."""
    lengths[ranks.topics] = np.minimum(ranks.lengths, items.shape[-1])
    inside = ranks.rank < items.shape[-1]
    items[ranks.topics[ranks.row[inside]], ranks.rank[inside]] = ranks.item[inside]
    return ranks.topics


def _tell_of_missing(missing: Sequence[tuple[int, str]], topics: int) -> None:
    short = [(count, system) for count, system in missing if count]
    if short:
        most, system = max(short)
        missed = of_runs(len(short), len(missing), "misses", "miss")
        note(f"{missed} judged topics: the score there is 0 (most: {system}, {most} of {topics})")


def _best(gains: Floats, depth: int | None) -> Floats:
    """Each draw's largest gains (draws × depth, descending, NaN behind the last); all of them without a depth."""
    worst_first = -gains
    if depth is not None and depth < worst_first.shape[-1]:
        worst_first = np.partition(worst_first, depth - 1, axis=-1)[:, :depth]
    return -np.sort(worst_first, axis=-1)


def _cascade(measure: ERR, judged: Floats, ranked: Ints) -> Floats:
    """Systems × draws of ERR: the chance to stop is worked out once for each document."""
    gmax: Any = GRADES if measure.gmax is None else measure.gmax
    if gmax == "topic":
        gmax = np.fmax.reduce(judged, axis=0, initial=0.0)
    expected = _expected(measure.stops(np.fmax(judged, 0.0), gmax), ranked)
    if type(measure) is not nERR:
        return expected
    best = measure.stops(np.fmax(_best(judged[:-1].T, ranked.shape[-1]).T, 0.0), gmax)
    return ratio(expected, _expected(best, np.arange(len(best))[None]))


def _expected(stops: Floats, ranked: Ints) -> Floats:
    """Σ over ranks of the chance to come that far and stop there, divided by the rank."""
    total = np.zeros((len(ranked), stops.shape[-1]))
    reached, here = np.ones_like(total), np.empty_like(total)
    for rank, places in enumerate(ranked.T):
        np.take(stops, places, axis=0, out=here, mode="clip")  # clip: without it take works on a copy
        here *= reached
        reached -= here
        here *= 1 / (rank + 1)
        total += here
    return total


def _any(measure: Measure, judged: Floats, ranked: Ints, largest: Floats) -> Floats:
    """Systems × draws of any measure, called once for all draws, or for each where it wants their largest gain."""
    table = np.moveaxis(judged[ranked], -1, 0)
    ideal = _best(judged[:-1].T, None)[:, None]
    if measure.largest is not None or not isinstance(measure, Residual):
        return np.asarray(measure(table, ideal)).T
    each = [measure.prepared(float(most))(table[at], ideal[at]) for at, most in enumerate(largest)]
    return np.stack(each, axis=-1)
