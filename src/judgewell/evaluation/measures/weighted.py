"""Measures that weight ranks by how many users look that far, over a list without end: RBP, INST."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from judgewell.evaluation.measures.base import (
    Linear,
    Measure,
    refuse_outside_unit,
    setting,
    unjudged_as,
    unjudged_as_zero,
)
from judgewell.evaluation.measures.ranks import Array, weighted_sum


@dataclass(frozen=True, kw_only=True)
class RBP(Linear):
    """Rank-biased precision: (1 − p) Σ g_i p^(i−1), for gains from 0 to 1.

    With `rel`, a document counts 1 from that gain on and 0 below. The residual is what the unjudged documents and all
    ranks behind the cutoff or the ranking's end (p^depth) could still add.

    Formula: RBP = (1 − p) Σ_i g_i p^(i−1); p = 0.5 looks at about 2 ranks, 0.8 at 5, 0.9 at 10, 0.95 at 20 (1 / (1
    − p)).
    Use: A measure with a user model that says how much is not known: value and residual bound what any further
    judging could give.
    Traps: Gains must lie between 0 and 1 (--gains-as unit). Without p it is 0.9 here, as in trec_eval, and 0.8 in
    ir_measures: a note says so, and p is always printed. It is not divided by the best possible value: 1 needs an
    endless list of perfect documents, and a topic with one relevant document reaches at most 1 − p.
    """

    p: float = setting(0.9, "the chance of going on to the next rank", least=0, most=1, ends=False)
    rel: float | None = setting(None, "the least gain that counts as relevant; without it gains count as they are")

    name: ClassVar[str] = "RBP"
    source: ClassVar[str] = "Moffat & Zobel, ACM TOIS 27(1), 2008"
    trec_names: ClassVar[tuple[str, ...]] = ("rbp",)
    in_example: ClassVar[str] = "p=0.9"
    dotted: ClassVar[str] = "p"
    never_at: ClassVar = {"rbp": "RBP(p=0.95) for ranx's rbp@95 and rbp.95, or RBP(p=0.9)@95 for the first 95 ranks"}
    always_shown: ClassVar[tuple[str, ...]] = ("p",)
    assumed: ClassVar = {
        "p": "p is not given, and 0.9 is used as in trec_eval (ir_measures uses 0.8); write RBP(p=0.9)"
    }
    has_residual: ClassVar[bool] = True
    residual_needs_cutoff: ClassVar[bool] = False
    laws: ClassVar[frozenset[str]] = frozenset(
        {"range01", "monotone_append", "swap_up", "unjudged_is_zero", "zero_without_relevant", "ideal_is_best"}
    )

    def credit(self, gains: Array) -> Array:
        return unjudged_as_zero(gains) if self.rel is None else (gains >= self.rel).astype(np.float64)

    def weights(self, depth: int) -> Array:
        return (1 - self.p) * np.power(self.p, np.arange(depth, dtype=np.float64))

    def tail(self, depth: int) -> float:
        return float(self.p**depth)

    def check(self, gains: Array) -> None:
        if self.rel is None:
            refuse_outside_unit(self, gains)


@dataclass(frozen=True, kw_only=True)
class INST(Measure):
    """The expected rate of gain of a user who wants T documents' worth: Σ W_i g_i, for gains from 0 to 1.

    The chance of going on behind rank i is ((i − 1 + T + T_i) / (i + T + T_i))² with T_i = T − Σ_{j≤i} g_j, and
    W_1 = 1/Σ_i Π_{j<i} C_j over the infinite list. Behind the ranking's end gains are 0, where the weights add up to
    y² ψ₁(y) times the next weight, y = depth + T + T_depth. The residual is against a list whose unjudged documents,
    and all ranks behind its end, have gain 1.

    Formula: INST = Σ_i W_i g_i, W_i = W_1 Π_{j<i} C_j.
    Use: A user who looks for T documents' worth of gain and gives up more slowly the more is missing.
    Traps: Gains must lie between 0 and 1. T is the expected need, not a cutoff. An ideal order is not always the
    best one: what is found early also ends the search.
    """

    T: float = setting(1.0, "how much gain the user looks for; from 0.5 on, so that going on is a chance", least=0.5)

    name: ClassVar[str] = "INST"
    source: ClassVar[str] = "Moffat, Bailey, Scholer & Thomas, ACM TOIS 35(3), 2017"
    has_residual: ClassVar[bool] = True
    residual_needs_cutoff: ClassVar[bool] = False
    laws: ClassVar[frozenset[str]] = frozenset(
        {"range01", "unjudged_is_zero", "zero_without_relevant", "monotone_append"}
    )

    def __call__(self, gains: Array, ideal: Array) -> Array:
        gain = unjudged_as_zero(self.top(gains))
        seen, left = self._reached(gain)
        behind = seen[..., -1] * (left + 1) ** 2 * _trigamma(left + 1)
        value: Array = weighted_sum(seen[..., :-1], gain) / (seen[..., :-1].sum(axis=-1) + behind)
        return value

    def residual(self, gains: Array, ideal: Array) -> Array:
        gain = unjudged_as(1.0, self.top(gains))
        seen, left = self._reached(gain)
        behind = seen[..., -1] * (left + 1) ** 2 / (2 * left + 1)  # gains of 1 keep the chance of going on as it is
        most: Array = (weighted_sum(seen[..., :-1], gain) + behind) / (seen[..., :-1].sum(axis=-1) + behind)
        return np.subtract(most, self(gains, ideal))

    def _reached(self, gain: Array) -> tuple[Array, Array]:
        """How likely each rank, and the one behind the last, is reached; and depth − 1 + T + T_depth."""
        depth = gain.shape[-1]
        left = np.arange(depth) + 2 * self.T - np.cumsum(gain, axis=-1)
        seen = np.ones((*gain.shape[:-1], depth + 1))
        np.cumprod(np.square(left / (left + 1)), axis=-1, out=seen[..., 1:])
        return seen, depth - 1 + 2 * self.T - gain.sum(axis=-1)

    def check(self, gains: Array) -> None:
        refuse_outside_unit(self, gains)


def _trigamma(x: Array) -> Array:
    """ψ₁(x) = Σ_{k≥0} 1/(x + k)² for x > 0: twenty terms, then the asymptotic series (DLMF 5.15.8)."""
    terms = 20
    start = sum((1 / (x + k) ** 2 for k in range(terms)), np.zeros_like(x))
    y = 1 / (x + terms)
    z = y * y
    return start + y * (1 + y / 2 + z * (1 / 6 - z * (1 / 30 - z * (1 / 42 - z / 30))))
