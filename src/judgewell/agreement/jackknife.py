"""Intervals of agreement for other assessors and other documents: the delete-one jackknife over both.

V_D = (D − 1)/D · Σ (θ₋d − mean)² over documents, V_A likewise over assessors, V = V_D + V_A,
df = V² / (V_D²/(D − 1) + V_A²/(A − 1)), and θ ± t_df √V, cut at 1. A bootstrap over documents alone speaks for the same
assessors only: it covers .55 to .81 where another three assessors would be asked. The noise of single judgments is in
V_D and in V_A. Where it is most of both (Fleiss' κ), V = V_D + V_A − V_J, with V_J over single judgments (Cameron,
Gelbach and Miller 2011), and never less than V_D or V_A.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.resampling import jackknife_variance

LEAST_ASSESSORS = 3
LEAST_DOCUMENTS = 20
BOTH = "other assessors and documents"


def refusal(documents: int, assessors: int, what: str = "documents") -> str | None:
    """Why there is no interval, or nothing."""
    if not assessors:
        return "no interval: assessors are not named"
    if assessors < LEAST_ASSESSORS:
        return f"no interval: {assessors} assessors, at least {LEAST_ASSESSORS} are needed"
    if documents < LEAST_DOCUMENTS:
        return f"no interval: {documents} {what}, at least {LEAST_DOCUMENTS} are needed"
    return None


def jackknife_interval(estimate: float, without: Sequence[Floats], judgments: Floats | None = None) -> dict[str, Any]:
    """The 95 % interval from the estimates without each document (or group of them) and without each assessor; those
    without each judgment, where given, keep noise from being counted twice. As columns: low, high, whom it speaks for,
    and a note where there is none."""
    from scipy.stats import t

    parts = [jackknife_variance(values) for values in without]
    variance = sum(parts)
    if not np.isfinite(variance):
        reason = "no interval: without some assessor or document nothing is left to compare"
        return {"low": None, "high": None, "speaks_for": None, "note": reason}
    if variance <= 0:
        return {"low": estimate, "high": estimate, "speaks_for": BOTH, "note": None}
    freedom = variance**2 / sum(part**2 / (len(values) - 1) for part, values in zip(parts, without, strict=True))
    if judgments is not None:
        variance = max(variance - jackknife_variance(judgments), *parts)
    reach = float(t.ppf(0.975, freedom)) * np.sqrt(variance)
    return {"low": estimate - reach, "high": min(estimate + reach, 1.0), "speaks_for": BOTH, "note": None}


def counts_without(counts: Floats, document: Ints, value: Ints, group: Ints) -> Iterator[tuple[Floats, Floats]]:
    """For each group of rows (0, 1, 2 …) the counts (documents × values) of the documents it judged, with its rows and
    without them."""
    order = np.argsort(group, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(group))[:-1]):
        touched, places = np.unique(document[rows], return_inverse=True)
        fewer = counts[touched]
        np.subtract.at(fewer, (places.ravel(), value[rows]), 1.0)
        yield counts[touched], fewer


def few_groups(codes: Ints, most: int) -> Ints:
    """The codes merged at random (always alike) into at most so many groups of nearly equal size."""
    count = int(codes.max()) + 1
    if count <= most:
        return codes
    return np.asarray(np.random.default_rng(0).permutation(count) % most, dtype=np.int64)[codes]
