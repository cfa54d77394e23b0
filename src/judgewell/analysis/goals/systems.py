"""Runs, a measure and a pool as arrays: what each document adds to each system's score, and answers in points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from judgewell.analysis.goals.look import Systems
from judgewell.analysis.goals.state import TOP, State, empty_state
from judgewell.errors import InputError, MeasureError, note
from judgewell.evaluation.measures import nDCG, parse
from judgewell.evaluation.measures.base import Linear
from judgewell.evaluation.resampled import Rankings, cutoff_of, rank_weights, ranked_items
from judgewell.evaluation.settings import Settings
from judgewell.formats.runs import Run
from judgewell.stats.arrays import Floats
from judgewell.stats.sampling import log_importance
from judgewell.study.design.chance import generator


@dataclass(frozen=True)
class Points:
    """Answers as points from 0 to 100: what the measure makes of each answer, as a share of what it makes of the top.

    A measure that is linear in the gains (DCG) leaves answers on a scale from 0 to 100 as they are. One with a
    threshold (P) turns each answer into 0 or 100; the score is then the expected one for a single assessor.
    """

    measure: Linear
    low: float
    high: float

    def __call__(self, values: Floats) -> Floats:
        bottom, top = self._credit(np.array([self.low, self.high]))
        return np.asarray(TOP * (self._credit(np.clip(values, self.low, self.high)) - bottom) / (top - bottom))

    def _credit(self, values: Floats) -> Floats:
        try:
            self.measure.check(np.array([self.low, self.high]))
        except MeasureError:
            values = (values - self.low) / (self.high - self.low)  # a measure for gains from 0 to 1, such as RBP
        return np.asarray(self.measure.credit(values), dtype=np.float64)


def linear_measure(name: str) -> Linear:
    """The measure of a goal: a weighted sum of gains down to a cutoff."""
    measure = parse(name)
    if isinstance(measure, nDCG):
        raise InputError(
            f"{name} depends on the topic's other documents",
            cure=f"decide by {name.replace('nDCG', 'DCG', 1)}, which is a weighted sum of gains",
        )
    if not isinstance(measure, Linear):
        raise InputError(f"{name} is not a weighted sum of gains", cure="decide by DCG@10, RBP(p=0.8)@10 or P@10")
    cutoff_of(measure)  # which refuses one that looks at whole rankings
    return measure


def systems_of(runs: Sequence[Run], measure: Linear, pool: pl.DataFrame) -> Systems:
    """The weights of the pool's documents (sorted by topic and doc) in every run; documents outside it count 0."""
    depth = cutoff_of(measure)
    rankings = ranked_items(runs, pool.select("topic", "doc", gain=pl.lit(0.0)), depth, Settings())
    weights = np.zeros((len(runs), len(pool)))
    for rows, part in zip(rankings.rows, rank_weights(rankings, measure), strict=True):
        weights[:, rows] = part
    _tell_of_unpooled(rankings, depth)
    by_rank = measure.weights(depth)
    unit = weights.max(initial=0.0) / by_rank.max() or 1.0
    importance = log_importance(weights.sum(axis=0) / (unit * by_rank[0]))
    topics = pool["topic"].n_unique()
    return Systems(tuple(rankings.systems), weights / (unit * by_rank.sum() * topics), importance)


def _tell_of_unpooled(rankings: Rankings, depth: int) -> None:
    """Notes about documents that systems retrieve and the pool lacks, and about rankings shorter than the cutoff."""
    retrieved = np.zeros(0) if rankings.lengths is None else rankings.lengths
    outside = int(retrieved.sum() - (rankings.items >= 0).sum())
    if outside > 0:
        share = 100 * outside / retrieved.sum()
        note(f"{share:.1f} % of the first {depth} documents of these systems are not in the pool and count 0")
    short = int(((retrieved > 0) & (retrieved < depth)).sum())
    if short:
        note(f"{short:,} of {retrieved.size:,} rankings have fewer than {depth} documents; empty ranks count 0")


def first_state(pool: pl.DataFrame, seed: int) -> State:
    """The state before the first answer; each document's lot follows from the seed and its topic."""
    topics = pool["topic"].unique(maintain_order=True).to_list()
    sizes = pool.group_by("topic", maintain_order=True).len()["len"].to_numpy()
    lots = np.concatenate(
        [generator(seed, "goal", topic).random(size) for topic, size in zip(topics, sizes, strict=True)]
    )
    return empty_state(np.repeat(np.arange(len(sizes)), sizes), lots)


def state_of(answers: pl.DataFrame, pool: pl.DataFrame, first: State, pi: Floats, points: Points) -> State:
    """The state that collected answers (topic, doc, value) give; `pi` is the inclusion after the complete batches."""
    rows = pool.select("topic", "doc").with_row_index("row")
    known = answers.join(rows, on=["topic", "doc"], how="inner")
    row, value = known["row"].to_numpy(), points(known["value"].to_numpy())
    n = np.bincount(row, minlength=len(pool))
    total, squares = (np.asarray(np.bincount(row, one, len(pool)), np.float64) for one in (value, value**2))
    return State(first.topic, first.u, n, total, squares, pi, n, pi)
