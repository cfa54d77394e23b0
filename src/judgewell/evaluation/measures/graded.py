"""Average precision for graded and real-valued gains: GAP, Q."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from judgewell.evaluation.measures.base import Measure, ratio, refuse_below, setting, unjudged_as_zero
from judgewell.evaluation.measures.ranks import Array, added_up, keep, weighted_sum


class GAP(Measure):
    """Graded average precision: Σ_n (1/n) Σ_{m≤n} min(g_m, g_n), divided by the sum of the topic's gains.

    It is the mean of AP over the users' thresholds of relevance, a gain being the share of users (times a constant)
    for whom a document is relevant.

    Formula: GAP = Σ_n (1/n) Σ_{m≤n} min(g_m, g_n) / Σ_j g_j.
    Use: AP for graded and real-valued gains, without choosing a threshold.
    Traps: A topic's few large gains weigh most. With gains of 0 and 1 it is AP. Unjudged documents count 0.
    """

    name: ClassVar[str] = "GAP"
    source: ClassVar[str] = "Robertson, Kanoulas & Yilmaz, SIGIR 2010"
    laws: ClassVar[frozenset[str]] = frozenset(
        {"range01", "scale_invariant", "monotone_append", "swap_up", "unjudged_is_zero", "zero_without_relevant"}
        | {"ideal_is_best", "best_is_one_uncut"}
    )

    def __call__(self, gains: Array, ideal: Array) -> Array:
        top = self.top(gains)
        worthy = keep(top > 0, self.cutoff)
        gain = worthy.values(top)
        shared = np.zeros_like(gain)
        for above in range(gain.shape[-1]):  # each document adds to all from it on
            shared[..., above:] += np.minimum(gain[..., above:], gain[..., above, None])
        reached = weighted_sum(shared, worthy.inverse_rank, self.cutoff)
        return ratio(reached, added_up(unjudged_as_zero(ideal)))

    def check(self, gains: Array) -> None:
        refuse_below(self, gains)


@dataclass(frozen=True, kw_only=True)
class Q(Measure):
    """Q-measure: (1/R) Σ over ranks r with a gain above 0 of (C_r + β cg_r) / (r + β cg*_r).

    C_r is the number of such ranks down to r, cg_r their cumulative gain, cg*_r that of the topic's best ranking and R
    the number of the topic's documents with a gain above 0.

    Formula: Q = (1/R) Σ_{r : g_r > 0} (C_r + β cg_r) / (r + β cg*_r).
    Use: AP for graded gains that also looks at how much of the ideal gain was reached.
    Traps: It is not invariant to the unit of the gains: with β = 1, gains of 0–100 and 0–1 give different values.
    Every gain above 0, however small, counts as relevant; set near-zero gains to 0 first if that is not meant.
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
        top = self.top(gains)
        worthy = keep(top > 0, self.cutoff)
        reached = self.beta * np.cumsum(worthy.values(top), axis=-1) + worthy.number
        rank = worthy.ranks()
        best = to_depth(np.cumsum(unjudged_as_zero(ideal), axis=-1), max(top.shape[-1], 1))
        best = np.take_along_axis(best.reshape((1,) * (rank.ndim - best.ndim) + best.shape), rank, axis=-1)
        shares = np.where(worthy.there, reached / (self.beta * best + rank + 1), 0.0)
        return ratio(added_up(shares), np.count_nonzero(ideal > 0, axis=-1))

    def check(self, gains: Array) -> None:
        refuse_below(self, gains)


def to_depth(sums: Array, depth: int) -> Array:
    """Running sums cut or held at their last value, so that they have `depth` ranks."""
    if sums.shape[-1] >= depth:
        return sums[..., :depth]
    last = sums[..., -1:] if sums.shape[-1] else np.zeros((*sums.shape[:-1], 1))
    return np.concatenate([sums, np.repeat(last, depth - sums.shape[-1], axis=-1)], axis=-1)
