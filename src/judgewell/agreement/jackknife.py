"""Intervals of agreement for other assessors and other documents: the delete-one jackknife over both.

V_D = (D − 1)/D · Σ (θ₋d − mean)² over documents, V_A likewise over assessors, V = V_D + V_A,
df = V² / (V_D²/(D − 1) + V_A²/(A − 1)), and θ ± t_df √V, cut at 1. A bootstrap over documents alone speaks for the same
assessors only: it covers .55 to .81 where another three assessors would be asked. The noise of single judgments is in
V_D and in V_A. Where it is most of both (Fleiss' κ), V = V_D + V_A − V_J, with V_J over single judgments (Cameron,
Gelbach and Miller 2011), and never less than V_D or V_A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.resampling import jackknife_variance

LEAST_ASSESSORS = 3
LEAST_DOCUMENTS = 20
BOTH = "other assessors and documents"


@dataclass(frozen=True)
class Interval:
    """The two ends and whom they speak for, or why there is none."""

    low: float | None = None
    high: float | None = None
    speaks_for: str | None = None
    refusal: str | None = None

    @property
    def columns(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "speaks_for": self.speaks_for, "note": self.refusal}


def refusal(documents: int, assessors: int, what: str = "documents") -> str | None:
    """Why there is no interval, or nothing."""
    if not assessors:
        return "no interval: assessors are not named"
    if assessors < LEAST_ASSESSORS:
        return f"no interval: {assessors} assessors, at least {LEAST_ASSESSORS} are needed"
    if documents < LEAST_DOCUMENTS:
        return f"no interval: {documents} {what}, at least {LEAST_DOCUMENTS} are needed"
    return None


def jackknife_interval(estimate: float, without: Sequence[Floats], judgments: Floats | None = None) -> Interval:
    """The 95 % interval from the estimates without each document (or group of them) and without each assessor; those
    without each judgment, where given, keep noise from being counted twice."""
    from scipy.stats import t

    parts = [jackknife_variance(values) for values in without]
    variance = sum(parts)
    if not np.isfinite(variance):
        return Interval(refusal="no interval: without some assessor or document nothing is left to compare")
    if variance <= 0:
        return Interval(estimate, estimate, BOTH)
    freedom = variance**2 / sum(part**2 / (len(values) - 1) for part, values in zip(parts, without, strict=True))
    if judgments is not None:
        variance = max(variance - jackknife_variance(judgments), *parts)
    reach = float(t.ppf(0.975, freedom)) * np.sqrt(variance)
    return Interval(estimate - reach, min(estimate + reach, 1.0), BOTH)


def few_groups(codes: Ints, most: int) -> Ints:
    """The codes merged at random (always alike) into at most so many groups of nearly equal size."""
    count = int(codes.max()) + 1
    if count <= most:
        return codes
    return np.asarray(np.random.default_rng(0).permutation(count) % most, dtype=np.int64)[codes]
