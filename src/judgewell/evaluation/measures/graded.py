"""Average precision for graded and real-valued gains, and NTCIR's measures: GAP, Q, O, P-measure, P+, NCU."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from judgewell.evaluation.measures.base import (
    SUMMED,
    Measure,
    cut_known,
    ratio,
    refuse_negative,
    setting,
    unjudged_as_zero,
)
from judgewell.evaluation.measures.ranks import Array, Kept, Truth, added_up, keep, weighted_sum
from judgewell.values import dataclass


class GAP(Measure):
    """Graded average precision: Σ_n (1/n) Σ_{m≤n} min(g_m, g_n), divided by the sum of the topic's gains.

    It is the mean of AP over users with different thresholds of relevance: a gain is the share of users (times a
    constant) for whom a document is relevant.

    Formula: GAP = Σ_n (1/n) Σ_{m≤n} min(g_m, g_n) / Σ_j g_j.
    Use: AP for graded and real-valued gains, without choosing a threshold.
    Traps: A topic's few large gains weigh most. With gains of 0 and 1 it is AP. Unjudged documents count 0.
    """

    name: ClassVar[str] = "GAP"
    source: ClassVar[str] = "Robertson, Kanoulas & Yilmaz, SIGIR 2010"
    laws: ClassVar[frozenset[str]] = SUMMED | {"scale_invariant", "best_is_one_uncut"}

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
        refuse_negative(self, gains)


@dataclass(frozen=True, kw_only=True)
class Blended(Measure):
    """A measure of the blended ratio (C_r + β cg_r) / (r + β cg*_r) at ranks r with a gain above 0.

    C_r is the number of such ranks down to r, cg_r their cumulative gain and cg*_r the cumulative gain of the topic's
    best ranking.
    """

    beta: float = setting(1.0, "how much gain counts against the number of relevant documents", least=0)

    laws: ClassVar[frozenset[str]] = frozenset({"range01", "unjudged_is_zero", "zero_without_relevant"})

    def ratios(self, top: Array, ideal: Array) -> tuple[Kept, Array]:
        """The ranks with a gain above 0, and the blended ratio at each, 0 where blank."""
        worthy = keep(top > 0, self.cutoff)
        reached = self.beta * np.cumsum(worthy.values(top), axis=-1) + worthy.number
        rank = worthy.ranks()
        best = to_depth(np.cumsum(unjudged_as_zero(ideal), axis=-1), max(top.shape[-1], 1))
        best = np.take_along_axis(best.reshape((1,) * (rank.ndim - best.ndim) + best.shape), rank, axis=-1)
        return worthy, np.where(worthy.there, reached / (self.beta * best + rank + 1), 0.0)

    def check(self, gains: Array) -> None:
        refuse_negative(self, gains)


@dataclass(frozen=True, kw_only=True)
class Q(Blended):
    """Q-measure: (1/R) Σ over ranks r with a gain above 0 of (C_r + β cg_r) / (r + β cg*_r).

    C_r is the number of such ranks down to r, cg_r their cumulative gain, cg*_r the cumulative gain of the topic's best
    ranking and R the number of the topic's documents with a gain above 0.

    Formula: Q = (1/R) Σ_{r : g_r > 0} (C_r + β cg_r) / (r + β cg*_r).
    Use: AP for graded gains that also looks at how much of the ideal gain was reached.
    Traps: It is not invariant to the unit of the gains: with β = 1, gains of 0–100 and 0–1 give different values.
    Every gain above 0, however small, counts as relevant; set near-zero gains to 0 first if that is not meant. NTCIR
    divides Q@k by min(k, R): Q(norm='min')@k.
    """

    norm: str = setting("all", "what the sum is divided by: all R, or min(k, R)", choices=("all", "min"))

    name: ClassVar[str] = "Q"
    other_names: ClassVar[tuple[str, ...]] = ("Q-measure",)
    source: ClassVar[str] = "Sakai, Information Processing & Management 43(2), 2007"
    laws: ClassVar[frozenset[str]] = Blended.laws | {"monotone_append", "ideal_is_best", "best_is_one_uncut"}

    def __call__(self, gains: Array, ideal: Array) -> Array:
        _, ratios = self.ratios(self.top(gains), ideal)
        known = np.count_nonzero(ideal > 0, axis=-1)
        return ratio(added_up(ratios), cut_known(known, self.norm, self.cutoff))


class O(Blended):  # noqa: E742  # the measure's name
    """O-measure: the blended ratio at the first rank with a gain above 0.

    Formula: O = (1 + β g_r) / (r + β cg*_r), r the first rank with g_r > 0; 0 without one.
    Use: Finding one good document: reciprocal rank for graded gains.
    Traps: A better document just after the first does not count; P+ goes on to the best one.
    """

    name: ClassVar[str] = "O"
    other_names: ClassVar[tuple[str, ...]] = ("O-measure",)
    source: ClassVar[str] = "Sakai, IPSJ TOD 48(SIG 9), 2007"

    def __call__(self, gains: Array, ideal: Array) -> Array:
        worthy, ratios = self.ratios(self.top(gains), ideal)
        return added_up(np.where(worthy.number == 1, ratios, 0.0))


class PMeasure(Blended):
    """P-measure: the blended ratio at the first of the best documents found.

    Formula: P = (C_r + β cg_r) / (r + β cg*_r), r the rank of the ranking's largest gain; 0 where none is above 0.
    Use: Finding one highly relevant document, whatever is ranked above it.
    Traps: Good documents above the best one only count through the ratio at its rank; P+ averages over them.
    """

    name: ClassVar[str] = "PMeasure"
    other_names: ClassVar[tuple[str, ...]] = ("P-measure",)
    source: ClassVar[str] = "Sakai, IPSJ TOD 48(SIG 9), 2007"

    def __call__(self, gains: Array, ideal: Array) -> Array:
        top = self.top(gains)
        worthy, ratios = self.ratios(top, ideal)
        inside = worthy.there & ~_passed(worthy.values(top))
        last = inside & (worthy.number == np.count_nonzero(inside, axis=-1)[..., None])
        return added_up(np.where(last, ratios, 0.0))


class PPlus(Blended):
    """P+: the mean blended ratio at the ranks with a gain above 0 down to the first of the best documents found.

    Formula: P+ = (1/n) Σ_{r ≤ r_p : g_r > 0} (C_r + β cg_r) / (r + β cg*_r), r_p the rank of the largest gain of the
    ranking, n the number of ranks in the sum.
    Use: Finding one highly relevant document: the user goes on until the best document of the list.
    Traps: The user stops at the best document of the list, even if it is a poor one; only the ideal in the ratio lowers
    the score of such a list.
    """

    name: ClassVar[str] = "PPlus"
    other_names: ClassVar[tuple[str, ...]] = ("P+", "P-plus")
    source: ClassVar[str] = "Sakai, IPSJ TOD 48(SIG 9), 2007"

    def __call__(self, gains: Array, ideal: Array) -> Array:
        top = self.top(gains)
        worthy, ratios = self.ratios(top, ideal)
        gain = worthy.values(top)
        inside = worthy.there & ~_passed(gain)
        return ratio(added_up(np.where(inside, ratios, 0.0)), np.count_nonzero(inside, axis=-1))


@dataclass(frozen=True, kw_only=True)
class NCU(Blended):
    """Normalised cumulative utility: the expected blended ratio at the rank where a user stops, always at a gain above
    0.

    `stop="gain"`: the probability of stopping is the document's share of all gains of the topic (graded-uniform);
    `"rank"`: for the n-th relevant document found it is γ^(n−1) / Σ_{m<R} γ^m (rank-biased). β = 0 makes the utility
    precision.

    Formula: NCU = Σ_r Pr(stop at r) (C_r + β cg_r) / (r + β cg*_r).
    Use: Like AP and Q, but for users who do not stop at every relevant document with the same probability.
    Traps: Users who would stop at a document that is not found count 0, so it also measures recall.
    """

    stop: str = setting("gain", "where users stop: by gain, or earlier ones more (rank)", choices=("gain", "rank"))
    gamma: float = setting(
        0.95, "with stop='rank': how much less each further relevant document stops", least=0, most=1
    )

    name: ClassVar[str] = "NCU"
    source: ClassVar[str] = "Sakai & Robertson, EVIA 2008"

    def __call__(self, gains: Array, ideal: Array) -> Array:
        top = self.top(gains)
        worthy, ratios = self.ratios(top, ideal)
        if self.stop == "gain":
            return ratio(weighted_sum(ratios, worthy.values(top)), added_up(unjudged_as_zero(ideal)))
        chance = np.power(self.gamma, worthy.number - 1.0)
        known = np.count_nonzero(ideal > 0, axis=-1)
        total = known if self.gamma == 1 else (1 - np.power(self.gamma, known)) / (1 - self.gamma)
        return ratio(weighted_sum(ratios, np.broadcast_to(chance, ratios.shape)), total)


def _passed(gain: Array) -> Truth:
    """Which ranks lie behind the first of the largest gains."""
    if not gain.shape[-1]:
        return np.zeros(gain.shape, dtype=bool)
    behind: Truth = np.arange(gain.shape[-1]) > gain.argmax(axis=-1)[..., None]
    return behind


def to_depth(sums: Array, depth: int) -> Array:
    """Running sums cut or held at their last value, so that they have `depth` ranks."""
    if sums.shape[-1] >= depth:
        return sums[..., :depth]
    last = sums[..., -1:] if sums.shape[-1] else np.zeros((*sums.shape[:-1], 1))
    return np.concatenate([sums, np.repeat(last, depth - sums.shape[-1], axis=-1)], axis=-1)
