"""Measures that add up discounted gains: CG, DCG, nDCG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from judgewell.errors import MeasureError
from judgewell.evaluation.measures.base import Array, Measure

DISCOUNTS = ("log2", "zipf")
GAINS = ("linear", "exp2")


@dataclass(frozen=True, kw_only=True)
class DCG(Measure):
    """Discounted cumulative gain: Σ g_i / log2(i + 1), unjudged documents counting 0.

    `gain="exp2"` uses 2^g − 1 instead of g; `discount="zipf"` divides by i instead of log2(i + 1).
    """

    gain: str = "linear"
    discount: str = "log2"

    name: ClassVar[str] = "DCG"
    source: ClassVar[str] = "Järvelin & Kekäläinen, ACM TOIS 20(4), 2002"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.gain not in GAINS:
            raise MeasureError(f"{self.name}: gain {self.gain!r} is not one of {', '.join(GAINS)}")
        if self.discount not in DISCOUNTS:
            raise MeasureError(f"{self.name}: discount {self.discount!r} is not one of {', '.join(DISCOUNTS)}")

    def __call__(self, gains: Array, ideal: Array) -> Array:
        top = np.nan_to_num(self.top(gains))
        if self.gain == "exp2":
            top = np.exp2(top) - 1
        rank = np.arange(1, top.shape[-1] + 1)
        return top @ (1 / (np.log2(rank + 1) if self.discount == "log2" else rank))


@dataclass(frozen=True, kw_only=True)
class nDCG(DCG):
    """DCG divided by the DCG of the topic's best possible ranking; 0 where that is 0."""

    name: ClassVar[str] = "nDCG"
    other_names: ClassVar[tuple[str, ...]] = ("NDCG",)

    def __call__(self, gains: Array, ideal: Array) -> Array:
        best = super().__call__(ideal, ideal)
        return np.divide(super().__call__(gains, ideal), best, out=np.zeros_like(best), where=best > 0)
