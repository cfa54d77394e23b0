"""How likely would a difference as large as the one seen be found again? Power by simulation.

Samples of the sizes asked for are drawn with replacement from the observed ones and tested; power is the share of
p < α. It speaks of the difference observed, so at the sizes observed it says little more than the p value; its use is
planning: what would other sizes have found?
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from judgewell.agreement.common import each_group, grade_values, judgments_of, rows_table, with_grades
from judgewell.agreement.grades import by_grade
from judgewell.errors import DataError, InputError
from judgewell.stats.arrays import Floats

BLOCK_CELLS = 4_000_000  # values of replicates held at once

Test = Callable[[Floats, Floats], Floats]


def _rank_sum(first: Floats, second: Floats) -> Floats:
    from scipy.stats import mannwhitneyu

    return np.asarray(mannwhitneyu(first, second, axis=1, method="asymptotic").pvalue)


def _welch(first: Floats, second: Floats) -> Floats:
    from scipy.stats import ttest_ind

    return np.asarray(ttest_ind(first, second, axis=1, equal_var=False).pvalue)


TESTS: dict[str, Test] = {"rank-sum": _rank_sum, "welch": _welch}


def power_of(
    first: Floats,
    second: Floats,
    sizes: tuple[int, int] | None = None,
    *,
    test: str = "rank-sum",
    alpha: float = 0.05,
    replicates: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """The share of replicates that a test calls different, with a 95 % interval for the simulation's own error."""
    from scipy.stats import binomtest

    _check(test, alpha, replicates)
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    counts = sizes or (len(one), len(other))
    if min(len(one), len(other)) < 2 or min(counts) < 2:
        raise DataError(f"power needs two values on both sides; there are {len(one)} and {len(other)}")
    rng = np.random.default_rng(seed)
    rejections, rows = 0, max(1, BLOCK_CELLS // sum(counts))
    for start in range(0, replicates, rows):
        block = min(rows, replicates - start)
        drawn = [
            sample[rng.integers(0, len(sample), size=(block, count))]
            for sample, count in zip((one, other), counts, strict=True)
        ]
        rejections += int((TESTS[test](*drawn) < alpha).sum())  # a replicate of equal values has no p: nothing is found
    interval = binomtest(rejections, replicates).proportion_ci(method="wilson")
    return {
        "test": test,
        "size": counts[0],
        "other_size": counts[1],
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
    test: str = "rank-sum",
    alpha: float = 0.05,
    replicates: int = 1000,
    seed: int = 0,
) -> pl.DataFrame:
    """Power of the test between adjacent grades, at the sizes observed (or not) and at any asked for per grade.

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
            for wanted in ([None] if observed else []) + [(size, size) for size in sizes]:
                estimate = power_of(first, second, wanted, test=test, alpha=alpha, replicates=replicates, seed=seed)
                rows.append(row | estimate | {"observed": wanted is None, "note": None})
    if all("power" not in row for row in rows):
        raise DataError("power needs two judgments of two adjacent grades")
    return rows_table(rows)


def _check(test: str, alpha: float, replicates: int) -> None:
    if test not in TESTS:
        raise InputError(f"there is no test {test!r}", cure=f"choose {', '.join(TESTS)}")
    if not 0 < alpha < 1:
        raise InputError(f"a significance level of {alpha} is not between 0 and 1", cure="give 0.05")
    if replicates < 1:
        raise InputError(f"{replicates} simulations are too few", cure="ask for 1000")
