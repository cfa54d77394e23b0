"""Wilcoxon's signed-rank test of thousands of pairs of systems at once, each as scipy decides and computes it.

scipy's rule for each pair: with more than 50 topics the normal approximation; else the exact distribution where no
difference is 0 or shared; else all sign patterns where there are at most 13 topics; else the normal approximation.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from judgewell.errors import InputError

Floats = NDArray[np.float64]
Zeros = Literal["drop", "pratt"]

MOST_EXACT = 50
MOST_PATTERNS = 13
BLOCK = 512  # pairs whose sign patterns are held at once


def wilcoxon_p(differences: Floats, zeros: Zeros = "drop") -> Floats:
    """Two-sided p of each row of differences; 1 where all are 0.

    Topics without a difference are dropped, as Wilcoxon did; "pratt" ranks them first and drops them then.
    """
    if zeros not in ("drop", "pratt"):
        raise InputError(f"zeros {zeros!r} is not one of drop, pratt")
    ranks, shared = _ranks(np.abs(differences), zeros)
    positive = (ranks * (differences > 0)).sum(axis=-1)
    topics = differences.shape[-1]
    none = differences == 0
    clean = ~(none.any(axis=-1) | shared.any(axis=-1))
    p = _normal_p(positive, ranks, none.sum(axis=-1), shared, topics, zeros)
    if topics <= MOST_EXACT:
        p[clean] = _exact_p(positive[clean], topics)
    if topics <= MOST_PATTERNS:
        p[~clean] = _pattern_p(positive[~clean], ranks[~clean])
    p[none.all(axis=-1)] = 1.0
    return p


def rank_sums(differences: Floats) -> tuple[Floats, Floats]:
    """The sums of the ranks of the topics that the first system wins and loses, topics without a difference dropped."""
    ranks, _ = _ranks(np.abs(differences), "drop")
    return (ranks * (differences > 0)).sum(axis=-1), (ranks * (differences < 0)).sum(axis=-1)


def _ranks(size: Floats, zeros: str) -> tuple[Floats, Floats]:
    """The rank of each difference by size, shared ones at their mean rank, 0 for no difference; and behind them t³ − t
    at the last of each group of t that share a rank (differences of 0 are no group)."""
    order = np.argsort(size, axis=-1)
    ordered = np.take_along_axis(size, order, axis=-1)
    count = size.shape[-1]
    place = np.arange(count)
    begins = np.ones(size.shape, dtype=bool)
    begins[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    ends = np.ones(size.shape, dtype=bool)
    ends[..., :-1] = begins[..., 1:]
    first = np.maximum.accumulate(np.where(begins, place, 0), axis=-1)
    last = np.minimum.accumulate(np.where(ends, place, count)[..., ::-1], axis=-1)[..., ::-1]
    there = ordered > 0
    rank = (first + last) / 2 + 1
    if zeros == "drop":
        rank = rank - (~there).sum(axis=-1, keepdims=True)
    length = (last - first + 1).astype(np.float64)
    shared = np.where(ends & there, length**3 - length, 0.0)
    ranks = np.empty(size.shape)
    np.put_along_axis(ranks, order, np.where(there, rank, 0.0), axis=-1)
    return ranks, shared


def _normal_p(positive: Floats, ranks: Floats, none: Any, shared: Floats, topics: int, zeros: str) -> Floats:
    """With corrections for shared ranks and for Pratt's zeros (Cureton 1967), none for continuity."""
    from scipy.special import ndtr

    n = np.asarray(topics - none if zeros == "drop" else np.full(none.shape, topics), dtype=np.float64)
    mean = n * (n + 1) / 4
    spread = n * (n + 1) * (2 * n + 1)
    if zeros == "pratt":
        mean = mean - none * (none + 1) / 4
        spread = spread - none * (none + 1.0) * (2 * none + 1)
    spread = np.sqrt(np.maximum(spread - shared.sum(axis=-1) / 2, 0) / 24)
    gap = positive - mean
    safe = np.where(spread > 0, spread, 1.0)
    z = gap / safe
    return np.asarray(np.where(spread > 0, np.minimum(2 * ndtr(-np.abs(z)), 1.0), 1.0))


@cache
def _cumulated(topics: int) -> Floats:
    """P(rank sum ≤ s) for s = 0 … n(n + 1)/2 where every sign pattern is equally likely and no rank is shared."""
    chances = np.ones(1)
    for rank in range(1, topics + 1):
        longer = np.zeros(len(chances) + rank)
        longer[: len(chances)] += chances / 2
        longer[rank:] += chances / 2
        chances = longer
    return np.cumsum(chances)


def _exact_p(positive: Floats, topics: int) -> Floats:
    at_most = _cumulated(topics)
    low = np.rint(positive).astype(np.int64)
    high = len(at_most) - 1 - low  # the distribution is symmetric
    return np.minimum(1.0, 2 * at_most[np.minimum(low, high)])


def _pattern_p(positive: Floats, ranks: Floats) -> Floats:
    """Over all 2^n sign patterns; ranks are halves of whole numbers, so sums compare exactly."""
    topics = ranks.shape[-1]
    patterns = (np.arange(2**topics)[:, None] >> np.arange(topics)) & 1
    p = np.empty(len(positive))
    for start in range(0, len(positive), BLOCK):
        part = slice(start, start + BLOCK)
        sums = patterns @ ranks[part].T
        below = (sums <= positive[part]).mean(axis=0)
        above = (sums >= positive[part]).mean(axis=0)
        p[part] = np.minimum(1.0, 2 * np.minimum(below, above))
    return p
