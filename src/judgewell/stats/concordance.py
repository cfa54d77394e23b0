"""Counting pairs that two sets of numbers put in the same order, for many groups at once.

Over the pairs of a group: agree = same strict order, disagree = opposite order, tied = equal in either.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from judgewell.stats.arrays import Floats, Ints

TIE = 1e-9  # a relative difference up to this is a tie: sums in another order must not make an order
SMALL_GROUP = 48  # up to this size comparing every pair is faster than sorting


@dataclass(frozen=True)
class Concordance:
    """Per group: how many pairs there are and how they fall."""

    pairs: Ints
    agree: Ints
    disagree: Ints
    tied_first: Ints
    tied_second: Ints

    @property
    def unknown(self) -> Ints:
        """Pairs tied in either set."""
        return self.pairs - self.agree - self.disagree

    @property
    def tau_a(self) -> Floats:
        """(agree − disagree) / pairs; NaN in a group without a pair."""
        return _share(self.agree - self.disagree, self.pairs)

    @property
    def tau_b(self) -> Floats:
        """(agree − disagree) / √(pairs untied in the first · pairs untied in the second); NaN where one is 0."""
        untied = (self.pairs - self.tied_first).astype(np.float64) * (self.pairs - self.tied_second)
        return _share(self.agree - self.disagree, np.sqrt(untied))

    def added(self, owner: Ints) -> Concordance:
        """The counts of groups with the same owner (0, 1, 2 …) added up."""
        counts = (self.pairs, self.agree, self.disagree, self.tied_first, self.tied_second)
        return Concordance(*(np.bincount(owner, weights=count).astype(np.int64) for count in counts))


def count_concordance(
    first: ArrayLike, second: ArrayLike, groups: ArrayLike | None = None, *, tolerance: float = TIE
) -> Concordance:
    """The pairs of each group (0, 1, 2 …) counted in O(n log² n), or pair by pair where all groups are small."""
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    group = np.zeros(len(x), dtype=np.int64) if groups is None else np.asarray(groups, dtype=np.int64)
    count = int(group.max(initial=-1)) + 1
    x_rank, y_rank = tie_ranks(x, group, tolerance), tie_ranks(y, group, tolerance)
    order = np.lexsort((y_rank, x_rank, group))
    group, x_rank, y_rank = group[order], x_rank[order], y_rank[order]
    sizes = np.bincount(group, minlength=count)
    inversions = _small_inversions if sizes.max(initial=0) <= SMALL_GROUP else _inversions
    disagree = inversions(group, y_rank, count)
    tied_x = _tied(group, [x_rank], count)
    tied_y = _tied(group, [y_rank], count)
    both = _tied(group, [x_rank, y_rank], count)
    pairs = sizes * (sizes - 1) // 2
    return Concordance(pairs, pairs - disagree - tied_x - tied_y + both, disagree, tied_x, tied_y)


def tie_ranks(values: Floats, groups: Ints, tolerance: float = TIE) -> Ints:
    """Ranks within each group where neighbours closer than the relative tolerance share a rank."""
    order = np.lexsort((values, groups))
    ordered, group = values[order], groups[order]
    low, high = ordered[:-1], ordered[1:]
    apart = (high - low) > tolerance * np.maximum(np.abs(low), np.abs(high))
    steps = np.concatenate(([0], (apart | (group[1:] != group[:-1])).astype(np.int64)))[: len(values)]
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.cumsum(steps)
    return ranks


def _small_inversions(group: Ints, rank: Ints, count: int) -> Ints:
    """Per group, pairs out of order, comparing each row with the one 1, 2, 3 … places on."""
    total = np.zeros(count, dtype=np.int64)
    for step in range(1, len(group)):
        same = group[step:] == group[:-step]
        if not same.any():
            break
        out = same & (rank[step:] < rank[:-step])
        total += np.bincount(group[step:][out], minlength=count)
    return total


def _inversions(group: Ints, rank: Ints, count: int) -> Ints:
    """Per group, pairs out of order, by merging halves: ranks of a later group are higher, so groups never mix.

    At each width, the rows of a right half are placed among the sorted rows of their left half.
    """
    size = len(rank)
    places = np.arange(size)
    span = int(rank.max(initial=0)) + 1
    total = np.zeros(count)
    width = 1
    while width < size:
        block = places // (2 * width)
        in_left = (places // width) % 2 == 0
        key = block * span + rank
        left = np.sort(key[in_left])
        right = ~in_left
        after_left = np.minimum((block[right] + 1) * width, len(left))  # left rows up to the end of this block
        greater = after_left - np.searchsorted(left, key[right], side="right")
        total += np.bincount(group[right], weights=greater, minlength=count)
        width *= 2
    return total.astype(np.int64)


def _tied(group: Ints, ranks: list[Ints], count: int) -> Ints:
    """Per group, pairs that share all the ranks given."""
    order = np.lexsort((*ranks, group))
    columns = [group[order], *(rank[order] for rank in ranks)]
    fresh = np.zeros(len(group), dtype=bool)
    if len(group):
        fresh[0] = True
    for column in columns:
        fresh[1:] |= column[1:] != column[:-1]
    starts = np.flatnonzero(fresh)
    runs = np.diff(np.append(starts, len(group)))
    weights = runs * (runs - 1) // 2
    return np.bincount(columns[0][starts], weights=weights, minlength=count).astype(np.int64)


def _share(part: Ints | Floats, whole: Ints | Floats) -> Floats:
    """part / whole, NaN where the whole is 0."""
    safe = np.where(whole == 0, 1, whole)
    return np.where(whole == 0, np.nan, part / safe)
