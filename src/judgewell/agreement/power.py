"""How likely would a difference as large as the one seen be found again? Power by simulation.

Samples of the sizes asked for are drawn with replacement from the observed ones and tested; power is the share of
p < .05. It speaks of the difference observed, so at the sizes observed it says little more than the p value; its use is
planning: what would other sizes have found?
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from judgewell.agreement.common import each_group, grade_values, judgments_of, rows_table, with_grades
from judgewell.agreement.grades import by_grade
from judgewell.errors import DataError
from judgewell.stats.arrays import Floats

BLOCK_CELLS = 4_000_000  # values of replicates held at once
ALPHA = 0.05


def power_of(
    first: Floats,
    second: Floats,
    sizes: tuple[int, int],
    *,
    replicates: int,
    seed: int = 0,
) -> dict[str, Any]:
    """The share of replicates in which the rank-sum test finds a difference at ALPHA, with a 95 % interval for the
    simulation's own error."""
    from scipy.stats import binomtest, mannwhitneyu

    rng = np.random.default_rng(seed)
    rejections, rows = 0, max(1, BLOCK_CELLS // sum(sizes))
    for start in range(0, replicates, rows):
        block = min(rows, replicates - start)
        one, other = (
            sample[rng.integers(0, len(sample), size=(block, count))]
            for sample, count in zip((first, second), sizes, strict=True)
        )
        p = np.asarray(mannwhitneyu(one, other, axis=1, method="asymptotic").pvalue)
        rejections += int((p < ALPHA).sum())  # a replicate of equal values has no p: nothing is found
    interval = binomtest(rejections, replicates).proportion_ci(method="wilson")
    return {
        "test": "rank-sum",
        "size": sizes[0],
        "other_size": sizes[1],
        "power": rejections / replicates,
        "low": float(interval.low),
        "high": float(interval.high),
    }


def grade_power(
    judgments: Any,
    grades: Any,
    *,
    by: Sequence[str] = (),
    sizes: Sequence[int] = (),
    observed: bool = True,
    value: str = "value",
    replicates: int = 1000,
    seed: int = 0,
) -> pl.DataFrame:
    """Power of the rank-sum test between adjacent grades, at the sizes observed (or not) and at any asked for.

    Scholer et al. 2014 report 0.99 for N against M pooled and 0.16 within one order, without saying how.
    """
    frame = with_grades(judgments_of(judgments), grades).filter(pl.col("grade").is_not_null())
    adjacent = list(pairwise(grade_values(frame)))
    rows = []
    for key, part in each_group(frame, by):
        values = by_grade(part, value)
        for low, high in adjacent:
            row = key | {"lower": low, "upper": high}
            first, second = values.get(low, np.zeros(0)), values.get(high, np.zeros(0))
            if min(len(first), len(second)) < 2:
                rows.append(
                    row | {"note": f"needs two judgments of both grades; there are {len(first)} and {len(second)}"}
                )
                continue
            there = [(len(first), len(second))] if observed else []
            for place, counts in enumerate(there + [(size, size) for size in sizes]):
                estimate = power_of(first, second, counts, replicates=replicates, seed=seed)
                rows.append(row | estimate | {"observed": place < len(there), "note": None})
    if all("power" not in row for row in rows):
        raise DataError("power needs two judgments of two adjacent grades")
    return rows_table(rows)
