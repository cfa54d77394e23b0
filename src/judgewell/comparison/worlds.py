"""Ranks and tau over the worlds that the data allow: other judgments, other topics, or both.

A draw is a gain table that the judgments allow; a world is a draw, resampled topics, or both together. Side by
side the three say which of the two limits a conclusion. Worlds come in blocks, each with a seed of its own, and are
counted by an executor's workers, so memory does not grow with their number but for one tau each.

Worlds describe ranks and orders. Noise in judgments moves most measures one way, so the means over worlds are not
estimates of scores: intervals of scores come from `stats.means`, and `noise` removes what noise in judgments adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from judgewell.comparison.correlation import tau_b, tie_ranks
from judgewell.comparison.noise import Draws, Score, blocks_of
from judgewell.comparison.scores import system_number
from judgewell.errors import DataError, InputError
from judgewell.executors import Executor
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.resampling import bootstrap_weights, check_level, percentile_interval, tasks

TASK = 250  # worlds of a task


@dataclass(frozen=True)
class Worlds:
    """What became of the systems over `count` worlds."""

    systems: tuple[str, ...]
    over: str
    count: int
    mean: Floats  # of each system's mean score
    spread: Floats  # its standard deviation
    tau: Floats  # of each world: tau-b with the reference order
    higher: Ints  # systems × systems: worlds in which the row's system scores higher
    tied: Ints  # systems × systems: worlds in which they tie
    ranks: Ints  # systems × ranks: worlds in which exactly so many systems score higher

    def above(self, first: str, second: str) -> float:
        """The share of worlds in which the first system is above the second, ties counting half."""
        at, other = (system_number(self.systems, name) for name in (first, second))
        return float((self.higher[at, other] + self.tied[at, other] / 2) / self.count)

    def table(self, level: float = 0.95) -> pl.DataFrame:
        """Each system's mean over worlds, its rank with interval, and how often it is best; best mean first."""
        rank_low, rank_middle, rank_high = (
            _rank_quantile(self.ranks, share) for share in ((1 - level) / 2, 0.5, (1 + level) / 2)
        )
        frame = pl.DataFrame(
            {
                "system": self.systems,
                "over": [self.over] * len(self.systems),
                "worlds": [self.count] * len(self.systems),
                "mean": self.mean,
                "sd": self.spread,
                "rank": rank_middle,
                "rank_low": rank_low,
                "rank_high": rank_high,
                "best": self.ranks[:, 0] / self.count,
            }
        )
        return frame.sort("mean", "system", descending=[True, False])

    def pairs(self) -> pl.DataFrame:
        """For every pair of systems the share of worlds in which the first is above; the one more often above first."""
        rows, columns = np.triu_indices(len(self.systems), 1)
        share = (self.higher[rows, columns] + self.tied[rows, columns] / 2) / self.count
        first, second = np.where(share >= 0.5, rows, columns), np.where(share >= 0.5, columns, rows)
        names = np.array(self.systems)
        return pl.DataFrame(
            {"first": names[first], "second": names[second], "above": np.maximum(share, 1 - share)}
        ).with_columns(pl.lit(self.over).alias("over"), pl.Series("tied", self.tied[first, second] / self.count))

    def tau_interval(self, level: float = 0.95) -> tuple[float, float, float]:
        """The median of tau-b with the reference order, and its interval."""
        check_level(level)
        if np.isnan(self.tau).all():
            return float("nan"), float("nan"), float("nan")
        low, high = percentile_interval(self.tau, level)
        return float(np.nanmedian(self.tau)), float(low), float(high)


def topic_worlds(
    systems: tuple[str, ...], values: Floats, worlds: int = 1000, *, seed: int = 0, executor: Executor | None = None
) -> Worlds:
    """The worlds of other topics: topics drawn again with replacement, judgments as they are (systems × topics)."""
    _check(systems, values)
    if worlds < 1:
        raise InputError(f"{worlds} worlds are too few", cure="ask for 1 or more, usually 1000")
    executor = executor or Executor()
    blocks = tasks(worlds, TASK)
    total = _Total(systems)
    for count in executor.map(_other_topics, blocks, executor.share((values, seed)), total=len(blocks)):
        total.add(count)
    return total.worlds("topics", values.mean(axis=-1))


def _other_topics(task: tuple[int, int], shared: tuple[Floats, int]) -> _Count:
    (number, size), (values, seed) = task, shared
    topics = values.shape[-1]
    weights = bootstrap_weights(topics, size, np.random.default_rng([seed, 1, number]))
    return _Count.of(np.einsum("wt,st->ws", weights, values) / topics, values.mean(axis=-1))


def all_worlds(
    systems: tuple[str, ...],
    values: Floats,
    score: Score,
    draws: Draws,
    worlds: int = 1000,
    *,
    seed: int = 0,
    executor: Executor | None = None,
) -> dict[str, Worlds]:
    """Judgments alone, topics alone and both: what a reader needs to see which of the two limits the conclusion.

    tau is to the order of `values` (systems × topics). `draws` is read once, a block of draws × rows at a time.
    """
    _check(systems, values)
    executor = executor or Executor()
    blocks, block_of = blocks_of(draws)
    shared = executor.share((score, block_of, values, seed))
    alone, both = _Total(systems), _Total(systems)
    for one, two in executor.map(_other_judgments, enumerate(blocks), shared):
        alone.add(one)
        both.add(two)
    if not alone.count:
        raise DataError("there are no draws of gain tables; draw one or more")
    reference = values.mean(axis=-1)
    return {
        "judgments": alone.worlds("judgments", reference),
        "topics": topic_worlds(systems, values, worlds, seed=seed, executor=executor),
        "both": both.worlds("both", reference),
    }


def _other_judgments(task: tuple[int, Any], shared: tuple[Score, Any, Floats, int]) -> tuple[_Count, _Count]:
    """The worlds of one block of draws: with the topics as they are, and with topics drawn again."""
    (number, block), (score, block_of, values, seed) = task, shared
    scores = score(block_of(block))
    if scores.shape[1] != len(values):
        raise DataError(f"{scores.shape[1]} systems were scored and {len(values)} named; name each of them")
    topics, reference = values.shape[-1], values.mean(axis=-1)
    weights = bootstrap_weights(topics, len(scores), np.random.default_rng([seed, 2, number]))
    both = np.einsum("dst,dt->ds", scores, weights) / topics
    return _Count.of(scores.mean(axis=-1), reference), _Count.of(both, reference)


@dataclass(frozen=True)
class _Count:
    """What became of the systems in some worlds, in the fields of :class:`Worlds` or as sums."""

    count: int
    sums: Floats  # of differences from the reference: no digits lost
    squares: Floats
    tau: Floats
    higher: Any  # as few bytes as hold them, because they travel
    tied: Any
    ranks: Any

    @classmethod
    def of(cls, means: Floats, reference: Floats) -> _Count:
        """Some worlds (worlds × systems) counted."""
        size = means.shape[-1]
        order = tie_ranks(means).astype(np.int32)
        place = np.zeros(order.shape, dtype=np.int64)
        higher, tied = (np.empty((size, size), dtype=np.int64) for _ in range(2))
        for system in range(size):
            beaten = order[:, system, None] > order
            place += beaten
            higher[system] = beaten.sum(axis=0)
            tied[system] = (order[:, system, None] == order).sum(axis=0)
        ranks = np.bincount((np.arange(size) * size + place).ravel(), minlength=size * size).reshape(size, size)
        away, small = means - reference, np.min_scalar_type(len(means))
        return cls(
            len(means),
            away.sum(axis=0),
            (away**2).sum(axis=0),
            np.atleast_1d(tau_b(means, reference)),
            *(counts.astype(small) for counts in (higher, tied, ranks)),
        )


class _Total:
    """Counts over all worlds so far."""

    def __init__(self, systems: tuple[str, ...]) -> None:
        size = len(systems)
        self.systems, self.count, self.taus = systems, 0, [np.empty(0)]
        self.sums, self.squares = np.zeros(size), np.zeros(size)
        self.higher, self.tied, self.ranks = (np.zeros((size, size), dtype=np.int64) for _ in range(3))

    def add(self, more: _Count) -> None:
        self.count += more.count
        self.taus.append(more.tau)
        for name in ("sums", "squares", "higher", "tied", "ranks"):
            total = getattr(self, name)
            total += getattr(more, name)

    def worlds(self, over: str, reference: Floats) -> Worlds:
        away = self.sums / self.count
        variance = np.maximum(self.squares / self.count - away**2, 0.0) * self.count / max(self.count - 1, 1)
        counts = self.higher, self.tied, self.ranks
        mean, spread, tau = reference + away, np.sqrt(variance), np.concatenate(self.taus)
        return Worlds(self.systems, over, self.count, mean, spread, tau, *counts)


def _check(systems: tuple[str, ...], values: Floats) -> None:
    if values.shape[-1] < 2:
        raise DataError("there is one topic, and other topics cannot be imagined from it; resample judgments alone")
    if len(systems) < 2:
        raise DataError(f"there is one system ({systems[0]}) and nothing to compare it with; give two or more")


def _rank_quantile(ranks: Ints, share: float) -> Ints:
    """The rank (from 1) that this share of a system's worlds reach or beat."""
    seen = np.cumsum(ranks, axis=1)
    return np.asarray((seen < share * seen[:, -1:] - 1e-9).sum(axis=1) + 1)
