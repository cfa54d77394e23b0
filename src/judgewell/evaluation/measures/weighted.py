"""Rank-biased precision."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from judgewell.evaluation.measures.base import SUMMED, Linear, refuse_outside_unit, setting, unjudged_as_zero
from judgewell.evaluation.measures.ranks import Array
from judgewell.values import dataclass


@dataclass(frozen=True, kw_only=True)
class RBP(Linear):
    """Rank-biased precision: (1 − p) Σ g_i p^(i−1), for gains from 0 to 1.

    With `rel`, a document counts 1 if its gain is rel or more, and 0 otherwise. The residual is what the unjudged
    documents and all ranks after the cutoff or the ranking's end (p^depth) could still add.

    Formula: RBP = (1 − p) Σ_i g_i p^(i−1); p = 0.5 looks at about 2 ranks, 0.8 at 5, 0.9 at 10, 0.95 at 20 (1 / (1
    − p)).
    Use: A measure with a user model that shows how much is unknown: with more judgments the value stays between value
    and value + residual.
    Traps: Gains must lie between 0 and 1 (--gains-as unit). Without p it is 0.9 here, as in trec_eval, and 0.8 in
    ir_measures: a note says so, and p is always printed. It is not divided by the best possible value: 1 needs an
    endless list of perfect documents, and a topic with one relevant document reaches at most 1 − p.
    """

    p: float = setting(0.9, "the probability of going on to the next rank", least=0, most=1, ends=False)
    rel: float | None = setting(None, "the lowest gain that counts as relevant; without it gains count as they are")

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
    laws: ClassVar[frozenset[str]] = SUMMED

    def credit(self, gains: Array) -> Array:
        return unjudged_as_zero(gains) if self.rel is None else (gains >= self.rel).astype(np.float64)

    def weights(self, depth: int) -> Array:
        return (1 - self.p) * np.power(self.p, np.arange(depth, dtype=np.float64))

    def tail(self, depth: int) -> float:
        return float(self.p**depth)

    def check(self, gains: Array) -> None:
        if self.rel is None:
            refuse_outside_unit(self, gains)
