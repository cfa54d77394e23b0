"""Compatibility: how like the ranking is to an ideal one, by rank-biased overlap."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from judgewell.evaluation.measures.base import Measure, given_lengths, ratio, refuse_negative, setting
from judgewell.evaluation.measures.ranks import Array, added_up, keep
from judgewell.values import dataclass


@dataclass(frozen=True, kw_only=True)
class Compat(Measure):
    """The rank-biased overlap of the ranking with the most similar ideal ranking, divided by the largest possible
    overlap.

    The ideal rankings hold the topic's documents with a gain above 0 by descending gain; of those that differ only in
    the order of equal gains, the most similar one counts.

    Formula: RBO = Σ_{d≤D} p^(d−1) |ranking_d ∩ ideal_d| / d, divided by the RBO of the ideal with itself; D is the
    length of the longer list. With normalize=False, by Σ_{d≤D} p^(d−1).
    Use: Gains of which only the order counts, such as gains from preferences.
    Traps: How much better a document is does not matter. Every gain above 0 belongs to the ideal ranking. Tied scores
    are ordered by document id, descending, as in all measures here; the authors' code orders them ascending.
    """

    p: float = setting(0.95, "the probability of going on to the next rank", least=0, most=1, ends=False)
    normalize: bool = setting(True, "divide by the overlap of the ideal ranking with itself")

    name: ClassVar[str] = "Compat"
    source: ClassVar[str] = "Clarke, Vtyurina & Smucker, ACM TOIS 39(3), 2021"
    takes_cutoff: ClassVar[bool] = False
    needs_lengths: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = frozenset({"range01", "unjudged_is_zero", "zero_without_relevant"})

    def __call__(self, gains: Array, ideal: Array, lengths: Any = None) -> Array:
        retrieved = given_lengths(self, lengths).astype(np.int64)
        known = np.count_nonzero(ideal > 0, axis=-1)
        deepest = np.maximum(retrieved, known)
        sums = self._sums(int(deepest.max(initial=0)))
        worthy = keep(gains > 0, None)
        both = np.maximum(worthy.ranks(), _ideal_places(worthy.values(gains), ideal))  # in both lists from there on
        both = np.minimum(both, deepest[..., None])
        shared = np.where(worthy.there, sums[deepest][..., None] - sums[both], 0.0)
        steps = (1 - np.power(self.p, deepest)) / (1 - self.p)
        if not self.normalize:
            return ratio(added_up(shared), steps)
        best = (1 - np.power(self.p, known)) / (1 - self.p) + known * (sums[deepest] - sums[known])
        return ratio(added_up(shared), best)

    def _sums(self, depth: int) -> Array:
        """Σ_{d≤n} p^(d−1) / d for n = 0 … depth."""
        rank = np.arange(1, depth + 1)
        return np.append(0.0, np.cumsum(np.power(self.p, rank - 1.0) / rank))

    def check(self, gains: Array) -> None:
        refuse_negative(self, gains)


def _ideal_places(gain: Array, ideal: Array) -> Any:
    """Each document's place in the ideal ranking, from 0: behind all larger gains and equal ones ranked above it."""
    places = np.zeros(gain.shape, dtype=np.int64)
    for at in range(gain.shape[-1]):
        here = gain[..., at, None]
        places[..., at] = np.count_nonzero(ideal > here, axis=-1) + np.count_nonzero(gain[..., :at] == here, axis=-1)
    return places
