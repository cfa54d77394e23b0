"""Wilcoxon's signed-rank test of thousands of pairs of systems at once: scipy's, with differences that are equal tied.

scipy's rule for each pair: with more than 50 topics the normal approximation; else the exact distribution where no
difference is 0 or shared; else all sign patterns where there are at most 13 topics; else the normal approximation.
scipy applies its rule to all rows together and counts patterns row by row, so the rows are sorted out here and the
patterns are counted in blocks.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from judgewell.errors import InputError
from judgewell.stats.arrays import Bools, Floats

Zeros = Literal["drop", "pratt"]

SAME = 1e-9  # differences this close, relative to the largest of their pair, are equal: 0.3 − 0.2 is 0.1 − 0
MOST_EXACT = 50
MOST_PATTERNS = 13
BLOCK = 512  # pairs whose sign patterns are held at once


def wilcoxon_p(differences: Floats, zeros: Zeros = "drop") -> Floats:
    """Two-sided p of each row of differences; 1 where all are 0.

    Topics without a difference are dropped, as Wilcoxon did; "pratt" ranks them first and drops them then.
    """
    if zeros not in ("drop", "pratt"):
        raise InputError(f"zeros {zeros!r} is not one of drop, pratt")
    rows, shared = tied_differences(differences)
    p = np.ones(len(rows))
    any_left = rows.any(axis=-1)
    clean = ~shared & any_left
    if rows.shape[-1] > MOST_EXACT:
        p[any_left] = _scipy_p(rows[any_left], zeros, "approx")
        return p
    p[clean] = _scipy_p(rows[clean], zeros, "exact")
    rest = shared & any_left
    if rows.shape[-1] > MOST_PATTERNS:
        p[rest] = _scipy_p(rows[rest], zeros, "approx")
    else:
        p[rest] = _pattern_p(rows[rest], zeros)
    return p


def tied_differences(differences: Floats) -> tuple[Floats, Bools]:
    """The rows with sizes that are equal but for rounding made equal; and which rows have equal sizes or a 0."""
    size = np.abs(differences)
    order = np.argsort(size, axis=-1)
    ordered = np.take_along_axis(size, order, axis=-1)
    steps = np.diff(ordered, axis=-1, prepend=0.0) > SAME * ordered[..., -1:]
    group = np.cumsum(steps, axis=-1)  # group 0 is no difference
    first = np.maximum.accumulate(np.where(steps, np.arange(size.shape[-1]), 0), axis=-1)
    level = np.where(group > 0, np.take_along_axis(ordered, first, axis=-1), 0.0)
    sizes = np.empty(size.shape)
    np.put_along_axis(sizes, order, level, axis=-1)
    return np.asarray(np.copysign(sizes, differences)), np.asarray(~steps.all(axis=-1))


def _scipy_p(rows: Floats, zeros: Zeros, method: Literal["exact", "approx"]) -> Floats:
    from scipy.stats import wilcoxon

    if not len(rows):
        return np.empty(0)
    how: Literal["wilcox", "pratt"] = "wilcox" if zeros == "drop" else "pratt"
    return np.asarray(wilcoxon(rows, zero_method=how, method=method, axis=-1).pvalue)


def _pattern_p(rows: Floats, zeros: Zeros) -> Floats:
    """Over all 2^n sign patterns; ranks are halves of whole numbers, so sums compare exactly."""
    from scipy.stats import rankdata

    ranks = np.where(rows == 0, 0.0, rankdata(np.abs(rows), axis=-1))
    if zeros == "drop":
        ranks = np.maximum(ranks - (rows == 0).sum(axis=-1, keepdims=True), 0.0)
    positive = (ranks * (rows > 0)).sum(axis=-1)
    topics = rows.shape[-1]
    patterns = (np.arange(2**topics)[:, None] >> np.arange(topics)) & 1
    p = np.empty(len(rows))
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        sums = patterns @ ranks[part].T
        below = (sums <= positive[part]).mean(axis=0)
        above = (sums >= positive[part]).mean(axis=0)
        p[part] = np.minimum(1.0, 2 * np.minimum(below, above))
    return p
