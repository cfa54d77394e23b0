"""Rank-biased overlap of two rankings: how much their tops share, with what the unseen rest may add.

RBO = (1 − p) Σ_{d ≥ 1} p^(d−1) A_d, A_d the agreement of the two rankings down to depth d (Webber, Moffat & Zobel,
ACM TOIS 28(4), 2010). Tied items (Corsi & Urbano, SIGIR 2024) reach depth d in part: an item tied over the ranks t … b
contributes c = (d − t + 1)/(b − t + 1) for t ≤ d < b and 1 from b on. The three variants of the agreement are
  b   Σ c_S c_L / √(Σ c_S² Σ c_L²): two rankings that may both tie; the default, as tau-b is
  a   Σ c_S c_L / d: what breaking the ties at random gives on average; one ranking is the truth
  w   2 |S ∩ L| / (|S| + |L|), all tied items being there from rank t on: Webber's own way with ties
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgewell.comparison.correlation import tie_ranks
from judgewell.errors import DataError, InputError
from judgewell.stats.arrays import Floats, Ints

Variant = Literal["b", "a", "w"]


@dataclass(frozen=True)
class Overlap:
    """RBO of two rankings known down to some depth: the least it can be, how far it can be from that, and the value if
    what is unseen agrees as what is seen."""

    extrapolated: float
    least: float
    residual: float


def rbo(first: ArrayLike, second: ArrayLike, p: float = 0.9, variant: Variant = "b") -> Overlap:
    """Rank-biased overlap of two sets of scores of the same items, NaN where a ranking does not hold an item.

    Where one ranking is shorter, extrapolation takes each unseen item of it to be in the longer one as often as its
    seen items are; least and residual take all unseen items to be missing or matched. Unseen items are not tied.
    """
    if not 0 < p < 1:
        raise InputError(f"p {p} is not between 0 and 1", cure="give 0.9, or more to look deeper")
    if variant not in ("b", "a", "w"):
        raise InputError(f"variant {variant!r} is not one of b, a, w")
    short, long = sorted((_Ranking.of(scores, variant) for scores in (first, second)), key=lambda ranking: ranking.size)
    if short.shares.shape[0] != long.shares.shape[0]:
        raise DataError(f"{short.shares.shape[0]} and {long.shares.shape[0]} items; give both rankings the same items")
    if not short.size:
        raise DataError("a ranking is empty, and its overlap has no value; give each at least one item")
    return _overlap(short, long, p, variant)


@dataclass(frozen=True)
class _Ranking:
    """A ranking as the share of each item that has been reached at each depth."""

    size: int
    place: Ints  # of each item: its order among the ranked, for matching first come, first served
    shares: Floats  # items × depths 1 … size

    @staticmethod
    def of(scores: ArrayLike, variant: str) -> _Ranking:
        values = np.asarray(scores, dtype=np.float64)
        ranked = np.flatnonzero(~np.isnan(values))
        ranks = tie_ranks(-values[ranked])
        sizes = np.bincount(ranks) if len(ranked) else np.zeros(0, np.int64)
        top = (np.cumsum(sizes) - sizes)[ranks] + 1
        depth = np.arange(1, len(ranked) + 1)
        reached = (depth - top[:, None] + 1) / (sizes[ranks][:, None] if variant != "w" else 1)
        shares = np.zeros((len(values), len(ranked)))
        shares[ranked] = np.clip(reached, 0, 1)
        place = np.full(len(values), len(values))
        place[ranked[np.argsort(ranks, kind="stable")]] = np.arange(len(ranked))
        return _Ranking(len(ranked), place, shares)


def _overlap(short: _Ranking, long: _Ranking, p: float, variant: str) -> Overlap:
    depth = np.arange(1, long.size + 1)
    unseen = np.maximum(depth - short.size, 0)
    full = np.concatenate([short.shares, np.repeat(short.shares[:, -1:], long.size - short.size, axis=1)], axis=1)
    seen = (full * long.shares).sum(axis=0)
    scale = _scale(full, unseen, long.shares, depth, variant)
    agreed = seen / scale
    extrapolated = (seen + unseen * agreed[short.size - 1]) / scale
    most = (seen + _best_matches(short, long, unseen)) / scale
    weights = (1 - p) * p ** (depth - 1.0)
    matched = seen[-1]
    tail = np.log(1 / (1 - p)) - (p**depth / depth).sum()  # Σ over d > size of p^d / d
    least = float(weights @ agreed + matched * (1 - p) / p * tail)
    return Overlap(
        extrapolated=float(weights @ extrapolated + extrapolated[-1] * p**long.size),
        least=least,
        residual=float(weights @ most + _most_below(short.size, long.size, matched, p)) - least,
    )


def _scale(short: Floats, unseen: Floats, long: Floats, depth: Ints, variant: str) -> Floats:
    """What the overlap is divided by at each depth."""
    if variant == "a":
        return depth.astype(np.float64)
    if variant == "w":
        return np.asarray((short.sum(axis=0) + unseen + long.sum(axis=0)) / 2)
    return np.asarray(np.sqrt(((short**2).sum(axis=0) + unseen) * (long**2).sum(axis=0)))


def _best_matches(short: _Ranking, long: _Ranking, unseen: Ints) -> Floats:
    """The most that the unseen items of the shorter ranking can add at each depth of the longer one: the items of the
    longer that are not in the shorter, highest first."""
    free = np.flatnonzero((short.place == len(short.place)) & (long.place < len(long.place)))
    free = free[np.argsort(long.place[free])]
    sums = np.concatenate([np.zeros((1, long.size)), np.cumsum(long.shares[free], axis=0)])
    return np.asarray(sums[np.minimum(unseen, len(free)), np.arange(long.size)])


def _most_below(short: int, long: int, matched: float, p: float) -> float:
    """(1 − p) Σ p^(d−1) A_d over d > `long` where every unseen item of either ranking finds its match."""
    last = int(long + short - matched)  # from here on they agree wholly
    depth = np.arange(long + 1, last + 1)
    agreed = np.minimum(depth, matched + (depth - short) + (depth - long)) / depth
    return float((1 - p) * (p ** (depth - 1.0) @ agreed) + p ** max(last, long))
