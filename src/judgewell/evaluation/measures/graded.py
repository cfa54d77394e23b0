"""Average precision for graded and real-valued gains: GAP, Q."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from judgewell.evaluation.measures.base import (
    Array,
    Measure,
    ratio,
    refuse_below,
    setting,
    unjudged_as_zero,
    weighted_sum,
)
from judgewell.evaluation.measures.binary import hits_so_far


@dataclass(frozen=True, kw_only=True)
class GAP(Measure):
    """Graded average precision: Σ_n (1/n) Σ_{m≤n} min(g_m, g_n), divided by the sum of the topic's gains.

    It is the mean of AP over the users' thresholds of relevance, a gain being the share of users (times a constant)
    for whom a document is relevant.
    """

    name: ClassVar[str] = "GAP"
    source: ClassVar[str] = "Robertson, Kanoulas & Yilmaz, SIGIR 2010"
    laws: ClassVar[frozenset[str]] = frozenset(
        {"range01", "scale_invariant", "monotone_append", "swap_up", "unjudged_is_zero", "zero_without_relevant"}
        | {"ideal_is_best", "best_is_one_uncut"}
    )

    def __call__(self, gains: Array, ideal: Array) -> Array:
        gain, rank = _worth_something(self.top(gains))
        shared = np.zeros_like(gain)
        for above in range(gain.shape[-1]):  # each document adds to all from it on
            shared[..., above:] += np.minimum(gain[..., above:], gain[..., above, None])
        return ratio(weighted_sum(shared, 1 / rank), unjudged_as_zero(ideal).sum(axis=-1))

    def check(self, gains: Array) -> None:
        refuse_below(self, gains)


@dataclass(frozen=True, kw_only=True)
class Q(Measure):
    """Q-measure: (1/R) Σ over ranks r with a gain above 0 of (C_r + β cg_r) / (r + β cg*_r).

    C_r is the number of such ranks down to r, cg_r their cumulative gain, cg*_r that of the topic's best ranking and R
    the number of the topic's documents with a gain above 0.
    """

    beta: float = setting(1.0, "how much gain counts against the number of relevant documents", least=0)

    name: ClassVar[str] = "Q"
    source: ClassVar[str] = "Sakai, Information Processing & Management 43(2), 2007"
    laws: ClassVar[frozenset[str]] = frozenset(
        {
            "range01",
            "monotone_append",
            "unjudged_is_zero",
            "zero_without_relevant",
            "ideal_is_best",
            "best_is_one_uncut",
        }
    )

    def __call__(self, gains: Array, ideal: Array) -> Array:
        gain = unjudged_as_zero(self.top(gains))
        depth = gain.shape[-1]
        hit = gain > 0
        reached = np.cumsum(gain, axis=-1) * self.beta + hits_so_far(hit)
        best = to_depth(np.cumsum(unjudged_as_zero(ideal), axis=-1), depth) * self.beta + np.arange(1, depth + 1)
        return ratio(np.sum(reached / best, axis=-1, where=hit), np.count_nonzero(ideal > 0, axis=-1))

    def check(self, gains: Array) -> None:
        refuse_below(self, gains)


def _worth_something(gains: Array) -> tuple[Array, Array]:
    """The gains above 0 of each row, pushed together to the left, 0 behind them; and their ranks, 1 behind them."""
    rows = gains.reshape(math.prod(gains.shape[:-1]), gains.shape[-1])
    row, rank = np.nonzero(rows > 0)
    counts = np.bincount(row, minlength=len(rows))
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = (len(rows), int(counts.max(initial=0)))
    gain, ranks = np.zeros(shape), np.ones(shape)
    gain[row, place] = rows[row, rank]
    ranks[row, place] = rank + 1
    lead = (*gains.shape[:-1], shape[1])
    return gain.reshape(lead), ranks.reshape(lead)


def to_depth(sums: Array, depth: int) -> Array:
    """Running sums cut or held at their last value, so that they have `depth` ranks."""
    if sums.shape[-1] >= depth:
        return sums[..., :depth]
    last = sums[..., -1:] if sums.shape[-1] else np.zeros((*sums.shape[:-1], 1))
    return np.concatenate([sums, np.repeat(last, depth - sums.shape[-1], axis=-1)], axis=-1)
