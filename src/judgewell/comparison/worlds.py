"""Scores, ranks and tau over the worlds that the data allow: other judgments, other topics, or both.

A world is one draw: a gain table that the judgments allow, a resample of the topics, or both together. Side by side
the three say which of the two limits a conclusion. Draws come in blocks and are counted as they pass, so memory does
not grow with their number: ranks and "A is above B" are counted over all worlds; means of systems and tau are kept for
quantiles up to 10,000 worlds, and beyond that a uniform sample of 10,000 is kept.

Noise in judgments moves most measures one way (nDCG down), in the data, and once more in every world drawn from them.
So where judgments are drawn the interval of a score is the worlds' percentile interval moved by that second shift,
which puts their mean onto the data's own score: it says where the score of another study like this one, with as many
judges and topics, would lie on average, and holds the score it stands beside. `shift` tells by how much the worlds lie
off; about as far on the other side lies the score that judgments without noise would have given. Only worlds of both
hold for new judges and new topics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.comparison.correlation import tau_b, tie_ranks
from judgewell.comparison.scores import listed
from judgewell.errors import DataError, InputError
from judgewell.stats.resampling import bootstrap_weights, check_level, percentile_interval

Floats = NDArray[np.float64]
Score = Callable[[Floats], Floats]  # gains (draws × rows) -> scores (draws × systems × topics)

KEPT = 10_000
BLOCK_CELLS = 4_000_000


@dataclass(frozen=True)
class Worlds:
    """What became of the systems over `count` worlds."""

    systems: tuple[str, ...]
    over: str
    count: int
    mean: Floats  # of each system's score
    spread: Floats  # its standard deviation
    kept: Floats  # kept worlds × systems: scores
    tau: Floats  # of kept worlds: tau-b with the reference order
    higher: NDArray[np.int64]  # systems × systems: worlds in which the row's system scores higher
    tied: NDArray[np.int64]  # systems × systems: worlds in which they tie
    ranks: NDArray[np.int64]  # systems × ranks: worlds in which exactly so many systems score higher
    point: Floats | None = None  # the data's own scores, where judgments were drawn from them
    reach: tuple[float, float] = (-np.inf, np.inf)  # the least and the highest score of any topic in any world

    def above(self, first: str, second: str) -> float:
        """The share of worlds in which the first system is above the second, ties counting half."""
        at, other = (self._number(name) for name in (first, second))
        return float((self.higher[at, other] + self.tied[at, other] / 2) / self.count)

    def table(self, level: float = 0.95) -> pl.DataFrame:
        """Each system's score and rank with intervals, and how often it is best; best score first."""
        low, high = self.interval(level)
        rank_low, rank_middle, rank_high = (
            _rank_quantile(self.ranks, share) for share in ((1 - level) / 2, 0.5, (1 + level) / 2)
        )
        frame = pl.DataFrame(
            {
                "system": self.systems,
                "over": [self.over] * len(self.systems),
                "worlds": [self.count] * len(self.systems),
                "score": self.score,
                "low": low,
                "high": high,
                "sd": self.spread,
                "shift": self.mean - self.score,
                "rank": rank_middle,
                "rank_low": rank_low,
                "rank_high": rank_high,
                "best": self.ranks[:, 0] / self.count,
            }
        )
        return frame.sort("score", "system", descending=[True, False])

    @property
    def score(self) -> Floats:
        """Each system's score in the data; where the data's own is not known, the mean over the worlds."""
        return self.mean if self.point is None else self.point

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """The interval of each system's score; as a mean over topics it cannot pass the scores of all topics."""
        moved = self.kept - (self.mean - self.score)
        low, high = (np.clip(end, *self.reach) for end in percentile_interval(moved, level))
        return low, high

    def difference(self, first: str, second: str, level: float = 0.95) -> tuple[float, float, float]:
        """The difference of two systems' scores, in the data where known, else on average, and its interval."""
        at, other = (self._number(name) for name in (first, second))
        low, high = percentile_interval(self.kept[:, at] - self.kept[:, other], level)
        seen = float(self.score[at] - self.score[other])
        shift = float(self.mean[at] - self.mean[other]) - seen
        return seen, float(low) - shift, float(high) - shift

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


def topic_worlds(
    systems: tuple[str, ...], values: Floats, worlds: int = 1000, *, reference: Floats | None = None, seed: int = 0
) -> Worlds:
    """The worlds of other topics: topics drawn again with replacement, judgments as they are (systems × topics)."""
    topics = values.shape[-1]
    _refuse_one_topic(topics)
    rng = np.random.default_rng([seed, 1])
    tally = _Tally(systems, "topics", values.mean(axis=-1) if reference is None else reference, seed)
    for size in _block_sizes(worlds, max(topics, len(systems) ** 2)):
        tally.add(bootstrap_weights(topics, size, rng) @ values.T / topics)
    return tally.result()


def judgment_worlds(
    systems: tuple[str, ...],
    score: Score,
    draws: Iterable[Floats],
    *,
    reference: Floats | None = None,
    seed: int = 0,
) -> Worlds:
    """The worlds of other judgments: `score` is called with each block of gain tables (draws × rows).

    `reference` is the order that tau compares with (mean scores of the systems); unless given, the first world's.
    """
    tally: _Tally | None = None
    for scores in _scores_of_draws(score, draws):
        means = scores.mean(axis=-1)
        tally = tally or _Tally(systems, "judgments", means[0] if reference is None else reference, seed)
        tally.add(means)
    if tally is None:
        raise DataError("there are no draws of gain tables; draw one or more")
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

    tau is to the order of `values` (systems × topics). `draws` is read once, a block at a time.
    """
    reference = values.mean(axis=-1)
    topics = values.shape[-1]
    _refuse_one_topic(topics)
    rng = np.random.default_rng([seed, 2])
    least, most = float(values.min()), float(values.max())
    alone, both = (_Tally(systems, over, reference, seed, reference) for over in ("judgments", "both"))
    for scores in _scores_of_draws(score, draws):
        weights = bootstrap_weights(topics, len(scores), rng)
        least, most = min(least, float(scores.min())), max(most, float(scores.max()))
        alone.add(scores.mean(axis=-1))
        both.add(np.einsum("dst,dt->ds", scores, weights) / topics)
    if not alone.count:
        raise DataError("there are no draws of gain tables; draw one or more")
    return {
        "judgments": alone.result((least, most)),
        "topics": topic_worlds(systems, values, worlds, reference=reference, seed=seed),
        "both": both.result((least, most)),
    }


class _Tally:
    """Counts over the worlds seen so far."""

    def __init__(
        self, systems: tuple[str, ...], over: str, reference: Floats, seed: int, point: Floats | None = None
    ) -> None:
        size = len(systems)
        if size < 2:
            raise DataError(f"there is one system ({systems[0]}) and nothing to compare it with; give two or more")
        self.systems, self.over, self.reference, self.point, self.count = systems, over, reference, point, 0
        self.rng = np.random.default_rng([seed, 3])
        self.sums, self.squares = np.zeros(size), np.zeros(size)
        self.centre = reference  # sums are of differences from it, so that squares lose no digits
        self.kept = np.empty((0, size))
        self.higher = np.zeros((size, size), dtype=np.int64)
        self.tied = np.zeros((size, size), dtype=np.int64)
        self.ranks = np.zeros((size, size), dtype=np.int64)

    def add(self, means: Floats) -> None:
        """Count some worlds (worlds × systems)."""
        if means.shape[-1] != len(self.systems):
            raise DataError(f"{means.shape[-1]} systems were scored and {len(self.systems)} named; name each of them")
        for start in range(0, len(means), self._block):
            self._add(means[start : start + self._block])

    @property
    def _block(self) -> int:
        return max(1, BLOCK_CELLS // len(self.systems) ** 2)

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
        away = means - self.centre
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

    def result(self, reach: tuple[float, float] = (-np.inf, np.inf)) -> Worlds:
        away = self.sums / self.count
        variance = np.maximum(self.squares / self.count - away**2, 0.0) * self.count / max(self.count - 1, 1)
        return Worlds(
            systems=self.systems,
            over=self.over,
            count=self.count,
            mean=self.centre + away,
            spread=np.sqrt(variance),
            kept=self.kept,
            tau=np.atleast_1d(tau_b(self.kept, self.reference)),
            higher=self.higher,
            tied=self.tied,
            ranks=self.ranks,
            point=self.point,
            reach=reach,
        )


def _scores_of_draws(score: Score, draws: Iterable[Floats]) -> Iterator[Floats]:
    for gains in draws:
        block = np.atleast_2d(gains)
        if len(block):
            yield score(block)


def _block_sizes(count: int, width: int) -> Iterator[int]:
    if count < 1:
        raise InputError(f"{count} worlds are too few", cure="ask for 1 or more, usually 1000")
    block = max(1, BLOCK_CELLS // width)
    for start in range(0, count, block):
        yield min(block, count - start)


def _refuse_one_topic(topics: int) -> None:
    if topics < 2:
        raise DataError("there is one topic, and other topics cannot be imagined from it; resample judgments alone")


def _rank_quantile(ranks: NDArray[np.int64], share: float) -> NDArray[np.int64]:
    """The rank (from 1) that this share of a system's worlds reach or beat."""
    seen = np.cumsum(ranks, axis=1)
    return np.asarray((seen < share * seen[:, -1:] - 1e-9).sum(axis=1) + 1)
