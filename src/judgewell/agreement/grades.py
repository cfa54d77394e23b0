"""Document scores against expert grades: do higher grades get higher scores, where not, and by how much?

`gains` holds the documents' scores, `grades` is a gains table whose gain is the expert grade (0 … 3 for N, M, R, H).
Documents without a grade are U: they are described, never compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from judgewell.agreement.common import (
    each_group,
    five_numbers,
    gains_of,
    grade_pairs,
    grade_values,
    rows_table,
    with_grades,
)
from judgewell.errors import DataError
from judgewell.stats.arrays import Floats

UNLABELLED = "U"
NUMBERS = ("lower_mean", "lower_median", "upper_mean", "upper_median", "p_rank_sum")  # of :func:`rank_sum`


def grade_distributions(gains: Any, grades: Any, *, by: Sequence[str] = ()) -> pl.DataFrame:
    """The scores of each grade's documents as a box plot needs them: quartiles, whiskers at 1.5 IQR, what lies beyond.

    Turpin et al. 2015, Fig. 1 and 2 (`by=("topic",)`); Yang et al. 2018, Fig. 3.
    """
    frame = with_grades(gains_of(gains), grades).sort("grade", nulls_last=True, maintain_order=True)
    frame = frame.with_columns(
        pl.col("gain").quantile(share, "linear").over([*by, "grade"]).alias(name)
        for name, share in (("q1", 0.25), ("q3", 0.75))
    )
    reach = 1.5 * (pl.col("q3") - pl.col("q1"))
    inside = pl.col("gain").is_between(pl.col("q1") - reach, pl.col("q3") + reach)
    boxes = frame.group_by([*by, "grade"], maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("documents"),
        *five_numbers("gain"),
        pl.col("gain").mean().alias("mean"),
        pl.col("gain").std().alias("sd"),
        pl.col("gain").filter(inside).min().alias("whisker_low"),
        pl.col("gain").filter(inside).max().alias("whisker_high"),
        (~inside).sum().cast(pl.Int64).alias("beyond"),
    )
    label = pl.when(pl.col("grade").is_null()).then(pl.lit(UNLABELLED)).otherwise(grade_label(pl.col("grade")))
    first = [*by, "grade", "label"]
    boxes = boxes.sort([*by, "grade"], nulls_last=True).with_columns(label=label)
    return boxes.select(*first, *[name for name in boxes.columns if name not in first])


def adjacent_grade_tests(gains: Any, grades: Any) -> pl.DataFrame:
    """Do documents of adjacent grades differ in score? Two-tailed t (Student and Welch), Welch on logs, and rank-sum.

    Turpin et al. 2015 report a t-test without saying which; all are given. Logs need scores above 0.
    """
    known = with_grades(gains_of(gains), grades).filter(pl.col("grade").is_not_null())
    scores = by_grade(known, "gain")
    rows = [
        {"lower": low, "upper": high} | _two_sample(scores[low], scores[high])
        for low, high in pairwise(grade_values(known))
    ]
    return rows_table(rows, *NUMBERS, "p_student", "p_welch", "p_welch_log")


def exceptions(gains: Any, grades: Any) -> pl.DataFrame:
    """Per topic, every two grades whose median scores are out of order (Turpin et al. 2015, §4.1).

    One row per topic and pair of grades that has documents of both; equal medians are not out of order.
    """
    frame = with_grades(gains_of(gains), grades).filter(pl.col("grade").is_not_null())
    present = grade_values(frame)
    medians = frame.group_by("topic", "grade").agg(median=pl.col("gain").median(), documents=pl.len())
    pairs = pl.DataFrame(
        [(low, high, (low, high) in list(pairwise(present))) for low, high in grade_pairs(present)],
        schema=["lower", "upper", "adjacent"],
        orient="row",
    )
    lower = medians.rename({"grade": "lower", "median": "lower_median", "documents": "lower_documents"})
    upper = medians.rename({"grade": "upper", "median": "upper_median", "documents": "upper_documents"})
    return (
        lower.join(upper, on="topic")
        .join(pairs, on=["lower", "upper"])
        .with_columns(exception=pl.col("lower_median") > pl.col("upper_median"))
        .sort("topic", "lower", "upper")
    )


def exception_counts(gains: Any, grades: Any) -> pl.DataFrame:
    """Exceptions among adjacent and among all pairs of grades: how many of how many cases over all topics."""
    table = exceptions(gains, grades)
    exception = pl.col("exception")
    total = [pl.len().alias("cases"), exception.sum().alias("exceptions"), exception.mean().alias("share")]
    adjacent = table.filter("adjacent").select(pl.lit("adjacent").alias("grades"), *total)
    return pl.concat([adjacent, table.select(pl.lit("all").alias("grades"), *total)])


def order_agreement(gains: Any, grades: Any) -> pl.DataFrame:
    """Per topic and pair of grades, the document pairs whose scores go the grades' way (Turpin et al. 2015, Fig. 3).

    strict counts lower < upper, lenient lower ≤ upper, half counts a tie as one half.
    """
    frame = with_grades(gains_of(gains), grades).filter(pl.col("grade").is_not_null())
    compared = grade_pairs(grade_values(frame))
    rows = []
    for key, part in each_group(frame, ["topic"]):
        scores = by_grade(part, "gain")
        for low, high in compared:
            if low in scores and high in scores:
                below, tied, pairs = _order(scores[low], scores[high])
                rows.append(key | {"lower": low, "upper": high, "pairs": pairs, "in_order": below, "tied": tied})
    if not rows:
        raise DataError("order agreement needs a topic with documents of two grades; every topic has one grade only")
    return pl.DataFrame(rows).with_columns(order_shares())


def order_agreement_summary(gains: Any, grades: Any) -> pl.DataFrame:
    """Order agreement per pair of grades as the mean over topics, then over pairs of grades, and pooled over pairs.

    The row "mean" averages the grade pairs; "pooled" counts document pairs alike. `topics` have both grades,
    `topics_without` have not.
    """
    table = order_agreement(gains, grades)
    topics = table["topic"].n_unique()
    shares = ["strict", "half", "lenient"]
    counts = [pl.col(name).sum() for name in ("pairs", "in_order", "tied")]
    each = (
        table.group_by("lower", "upper")
        .agg(*[pl.col(name).mean() for name in shares], *counts, topics=pl.len().cast(pl.Int64))
        .sort("lower", "upper")
        .with_columns(
            topics_without=topics - pl.col("topics"),
            figure=pl.concat_str(grade_label("lower"), pl.lit("<"), grade_label("upper")),
        )
    )
    mean = each.select(pl.lit("mean").alias("figure"), *[pl.col(name).mean() for name in shares])
    pooled = table.select(pl.lit("pooled").alias("figure"), *counts).with_columns(order_shares())
    columns = ["figure", "lower", "upper", *shares, "pairs", "in_order", "tied", "topics", "topics_without"]
    return pl.concat([each, mean, pooled], how="diagonal").select(columns)


def order_shares() -> list[pl.Expr]:
    """strict, half and lenient from the counts pairs, in_order and tied."""
    pairs, in_order, tied = pl.col("pairs"), pl.col("in_order"), pl.col("tied")
    return [
        (in_order / pairs).alias("strict"),
        ((in_order + tied / 2) / pairs).alias("half"),
        ((in_order + tied) / pairs).alias("lenient"),
    ]


def by_grade(frame: pl.DataFrame, column: str) -> dict[float, Floats]:
    """The column's values of each grade."""
    parts = frame.partition_by("grade", as_dict=True)
    return {float(key[0]): part[column].to_numpy() for key, part in parts.items()}


def rank_sum(low: Floats | None, high: Floats | None) -> dict[str, Any]:
    """Counts, medians and Mann–Whitney's p of two samples, with a note where one is missing."""
    from scipy.stats import mannwhitneyu

    row: dict[str, Any] = _described(low, high) | {"p_rank_sum": None, "note": _too_few(low, high, 1)}
    if low is None or high is None:
        return row
    if np.ptp(np.concatenate([low, high])) == 0:
        row["note"] = f"no test: all values of both grades are {low[0]:g}"
    else:
        row["p_rank_sum"] = float(mannwhitneyu(low, high, alternative="two-sided").pvalue)
    return row


def _two_sample(low: Floats, high: Floats) -> dict[str, Any]:
    row = rank_sum(low, high) | {"p_student": None, "p_welch": None, "p_welch_log": None}
    row["note"] = row.pop("note") or _too_few(low, high, 2)  # the note comes last
    if row["note"]:
        return row
    if max(np.ptp(low), np.ptp(high)) == 0:
        return row | {"note": "a t-test needs scores that vary; in both grades all are equal"}
    row["p_student"], row["p_welch"] = _t_test(low, high, equal_variance=True), _t_test(low, high)
    if min(low.min(), high.min()) <= 0:
        row["note"] = "no test on logs: some scores are not above 0"
    else:
        row["p_welch_log"] = _t_test(np.log(low), np.log(high))
    return row


def _t_test(low: Floats, high: Floats, equal_variance: bool = False) -> float:
    """The two-tailed p of a t-test, from means and deviations, so that a grade of equal scores raises no alarm."""
    from scipy.stats import ttest_ind_from_stats

    one, other = ((sample.mean(), sample.std(ddof=1), len(sample)) for sample in (low, high))
    return float(ttest_ind_from_stats(*one, *other, equal_var=equal_variance).pvalue)


def _described(low: Floats | None, high: Floats | None) -> dict[str, Any]:
    described: dict[str, Any] = {}
    for side, values in (("lower", low), ("upper", high)):
        described[f"{side}_count"] = 0 if values is None else len(values)
        described[f"{side}_mean"] = None if values is None else float(values.mean())
        described[f"{side}_median"] = None if values is None else float(np.median(values))
    return described


def _too_few(low: Floats | None, high: Floats | None, least: int) -> str | None:
    counts = [0 if values is None else len(values) for values in (low, high)]
    if min(counts) >= least:
        return None
    return f"needs {least} or more of both grades; there are {counts[0]} and {counts[1]}"


def _order(low: Floats, high: Floats) -> tuple[int, int, int]:
    """How many (lower, upper) pairs are in order, tied, and there at all: by sorting, not by comparing each two."""
    ordered = np.sort(low)
    below = np.searchsorted(ordered, high, side="left").sum()
    not_above = np.searchsorted(ordered, high, side="right").sum()
    return int(below), int(not_above - below), len(low) * len(high)


def grade_label(grade: str | pl.Expr) -> pl.Expr:
    """A grade as text: 2 rather than 2.0."""
    value = pl.col(grade) if isinstance(grade, str) else grade
    return pl.when(value == value.round()).then(value.cast(pl.Int64).cast(pl.String)).otherwise(value.cast(pl.String))
