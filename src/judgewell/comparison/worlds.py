"""Ranks and tau over the worlds that the data allow: other judgments, other topics, or both.

A draw is a gain table that the judgments allow; a world is a draw, a resample of the topics, or both together. Side by
side the three say which of the two limits a conclusion. Worlds come in blocks and are counted as they pass, so memory
does not grow with their number: ranks and "A is above B" are counted over all worlds; tau is of up to 10,000 of them,
a uniform sample where there are more.

Worlds describe ranks and orders. Noise in judgments moves most measures one way, so the means over worlds are not
estimates of scores: intervals of scores come from `stats.means`, and `noise` removes what noise in judgments adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from judgewell.comparison.correlation import tau_b, tie_ranks
from judgewell.comparison.noise import Score
from judgewell.comparison.scores import listed
from judgewell.errors import DataError, InputError
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.resampling import bootstrap_weights, check_level, percentile_interval

KEPT = 10_000
BLOCK_CELLS = 4_000_000


@dataclass(frozen=True)
class Worlds:
    """What became of the systems over `count` worlds."""

    systems: tuple[str, ...]
    over: str
    count: int
    mean: Floats  # of each system's mean score
    spread: Floats  # its standard deviation
    tau: Floats  # of kept worlds: tau-b with the reference order
    higher: Ints  # systems × systems: worlds in which the row's system scores higher
    tied: Ints  # systems × systems: worlds in which they tie
    ranks: Ints  # systems × ranks: worlds in which exactly so many systems score higher

    def above(self, first: str, second: str) -> float:
        """The share of worlds in which the first system is above the second, ties counting half."""
        at, other = (self._number(name) for name in (first, second))
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

    def _number(self, system: str) -> int:
        if system not in self.systems:
            raise InputError(f"there is no system {system!r}; the systems are {listed(self.systems, 'systems')}")
        return self.systems.index(system)


def topic_worlds(systems: tuple[str, ...], values: Floats, worlds: int = 1000, *, seed: int = 0) -> Worlds:
    """The worlds of other topics: topics drawn again with replacement, judgments as they are (systems × topics)."""
    topics = values.shape[-1]
    _refuse_one_topic(topics)
    rng = np.random.default_rng([seed, 1])
    tally = _Tally(systems, "topics", values.mean(axis=-1), seed)
    for size in _block_sizes(worlds, max(topics, len(systems) ** 2)):
        tally.add(bootstrap_weights(topics, size, rng) @ values.T / topics)
    return tally.result()


def all_worlds(
    systems: tuple[str, ...],
    values: Floats,
    score: Score,
    draws: Iterable[Floats],
    worlds: int = 1000,
    *,
    seed: int = 0,
) -> dict[str, Worlds]:
    """Judgments alone, topics alone and both: what a reader needs to see which of the two limits the conclusion.

    tau is to the order of `values` (systems × topics). `draws` is read once, a block of draws × rows at a time.
    """
    topics = values.shape[-1]
    _refuse_one_topic(topics)
    rng = np.random.default_rng([seed, 2])
    alone, both = (_Tally(systems, over, values.mean(axis=-1), seed) for over in ("judgments", "both"))
    for block in draws:
        scores = score(block)
        weights = bootstrap_weights(topics, len(scores), rng)
        alone.add(scores.mean(axis=-1))
        both.add(np.einsum("dst,dt->ds", scores, weights) / topics)
    if not alone.count:
        raise DataError("there are no draws of gain tables; draw one or more")
    return {
        "judgments": alone.result(),
        "topics": topic_worlds(systems, values, worlds, seed=seed),
        "both": both.result(),
    }


class _Tally:
    """Counts over the worlds seen so far."""

    def __init__(self, systems: tuple[str, ...], over: str, reference: Floats, seed: int) -> None:
        size = len(systems)
        if size < 2:
            raise DataError(f"there is one system ({systems[0]}) and nothing to compare it with; give two or more")
        self.systems, self.over, self.reference, self.count = systems, over, reference, 0
        self.rng = np.random.default_rng([seed, 3])
        self.sums, self.squares = np.zeros(size), np.zeros(size)  # of differences from the reference: no digits lost
        self.kept = np.empty((0, size))
        self.higher = np.zeros((size, size), dtype=np.int64)
        self.tied = np.zeros((size, size), dtype=np.int64)
        self.ranks = np.zeros((size, size), dtype=np.int64)

    def add(self, means: Floats) -> None:
        """Count some worlds (worlds × systems)."""
        if means.shape[-1] != len(self.systems):
            raise DataError(f"{means.shape[-1]} systems were scored and {len(self.systems)} named; name each of them")
        block = max(1, BLOCK_CELLS // len(self.systems) ** 2)
        for start in range(0, len(means), block):
            self._add(means[start : start + block])

    def _add(self, means: Floats) -> None:
        order = tie_ranks(means).astype(np.int32)
        higher = np.zeros(order.shape, dtype=np.int64)
        for system in range(order.shape[-1]):
            beaten = order[:, system, None] > order
            higher += beaten
            self.higher[system] += beaten.sum(axis=0)
            self.tied[system] += (order[:, system, None] == order).sum(axis=0)
        size = len(self.systems)
        places = (np.arange(size) * size + higher).ravel()
        self.ranks += np.bincount(places, minlength=size * size).reshape(size, size)
        away = means - self.reference
        self.sums += away.sum(axis=0)
        self.squares += (away**2).sum(axis=0)
        self._keep(means)
        self.count += len(means)

    def _keep(self, means: Floats) -> None:
        """All worlds until there are KEPT, then each new one in the place of a random one with chance KEPT / number."""
        room = max(0, KEPT - len(self.kept))
        self.kept = np.concatenate([self.kept, means[:room]])
        rest = means[room:]
        if len(rest):
            number = self.count + room + np.arange(1, len(rest) + 1)
            place = (self.rng.random(len(rest)) * number).astype(np.int64)
            stays = place < KEPT
            self.kept[place[stays]] = rest[stays]  # of two for one place the later stays, as one by one

    def result(self) -> Worlds:
        away = self.sums / self.count
        variance = np.maximum(self.squares / self.count - away**2, 0.0) * self.count / max(self.count - 1, 1)
        return Worlds(
            systems=self.systems,
            over=self.over,
            count=self.count,
            mean=self.reference + away,
            spread=np.sqrt(variance),
            tau=np.atleast_1d(tau_b(self.kept, self.reference)),
            higher=self.higher,
            tied=self.tied,
            ranks=self.ranks,
        )


def _block_sizes(count: int, width: int) -> Iterator[int]:
    if count < 1:
        raise InputError(f"{count} worlds are too few", cure="ask for 1 or more, usually 1000")
    block = max(1, BLOCK_CELLS // width)
    for start in range(0, count, block):
        yield min(block, count - start)


def _refuse_one_topic(topics: int) -> None:
    if topics < 2:
        raise DataError("there is one topic, and other topics cannot be imagined from it; resample judgments alone")


def _rank_quantile(ranks: Ints, share: float) -> Ints:
    """The rank (from 1) that this share of a system's worlds reach or beat."""
    seen = np.cumsum(ranks, axis=1)
    return np.asarray((seen < share * seen[:, -1:] - 1e-9).sum(axis=1) + 1)
