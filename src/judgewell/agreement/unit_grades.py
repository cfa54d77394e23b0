"""Single judgments against expert grades, within the unit an assessor judged in one go."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import polars as pl

from judgewell.agreement.common import (
    UNIT,
    each_group,
    grade_values,
    judgments_of,
    rows_table,
    with_grades,
    with_number,
)
from judgewell.agreement.grades import NUMBERS, by_grade, order_shares, rank_sum
from judgewell.errors import DataError, note
from judgewell.text import counted


def grade_value_tests(judgments: Any, grades: Any, *, by: Sequence[str] = (), value: str = "value") -> pl.DataFrame:
    """Do single judgments of adjacent grades differ? Rank-sum on pooled values, signed-rank within assessor beside it.

    Scholer et al. 2014, Table 3: the pooled samples differ in size, so their "signed rank" can only be rank-sum. Within
    an assessor and topic, the mean value of each grade is compared. `by=("scale", "template")` repeats it for each.
    """
    frame = with_grades(judgments_of(judgments), grades).filter(pl.col("grade").is_not_null())
    compared = list(pairwise(grade_values(frame)))
    rows = []
    for key, part in each_group(frame, by):
        values = by_grade(part, value)
        within = part.group_by("topic", "assessor", "grade").agg(pl.col(value).mean())
        for low, high in compared:
            row = key | {"lower": low, "upper": high} | rank_sum(values.get(low), values.get(high))
            rows.append(row | _signed_rank(within, low, high, value))
    return rows_table(rows, *NUMBERS, "p_signed_rank")


def unit_order_agreement(judgments: Any, grades: Any, *, by: Sequence[str] = ()) -> pl.DataFrame:
    """Within an assessor's unit, the share of document pairs scored in the grades' order, per pair of grades.

    Scholer et al. 2014, Table 2 (`by=("template", "scale")`): strict is their "% of workers who agreed".
    """
    pairs = pairs_within_units(judgments, grades, by)
    below, tied = pl.col("lower_value") < pl.col("upper_value"), pl.col("lower_value") == pl.col("upper_value")
    return (
        pairs.group_by([*by, "lower", "upper"])
        .agg(
            pairs=pl.len().cast(pl.Int64),
            units=pl.col("unit_number").n_unique().cast(pl.Int64),
            in_order=below.sum().cast(pl.Int64),
            tied=tied.sum().cast(pl.Int64),
        )
        .sort([*by, "lower", "upper"])
        .with_columns(order_shares())
    )


def inferred_ranks(judgments: Any, grades: Any, *, by: Sequence[str] = ()) -> pl.DataFrame:
    """Each judgment's rank within its unit beside the rank its grade would give it (ties share their mean rank).

    Scholer et al. 2014, Fig. 2; units with a document that has no grade are excluded.
    """
    frame = with_unit_number(with_grades(judgments_of(judgments), grades))
    whole = pl.col("grade").is_not_null().all().over("unit_number")
    labelled = frame.filter(whole)
    lost = frame["unit_number"].n_unique() - labelled["unit_number"].n_unique()
    if labelled.is_empty():
        raise DataError(f"inferred ranks need units whose documents all have a grade; none of {lost} has")
    if lost:
        note(f"{counted(lost, 'unit')} with a document that has no grade are excluded from the inferred ranks")
    return labelled.select(
        *dict.fromkeys([*by, "topic", "assessor", "unit", "position", "doc", "grade", "value"]),
        rank=pl.col("value").rank("average").over("unit_number"),
        nominal=pl.col("grade").rank("average").over("unit_number"),
    )


def with_unit_number(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with a number for their unit: a topic and assessor's, where units are not recorded."""
    if frame["assessor"].null_count() == frame.height and frame["unit"].null_count() == frame.height:
        raise DataError("this needs to know which judgments were made together; neither assessor nor unit is recorded")
    return with_number(frame, UNIT, "unit_number")


def pairs_within_units(judgments: Any, grades: Any, by: Sequence[str] = ()) -> pl.DataFrame:
    """Every two judgments of a unit whose documents have different grades, the lower grade first.

    Columns: `by`, unit_number, lower, upper, lower_value, upper_value, lower_position, upper_position.
    """
    frame = with_unit_number(with_grades(judgments_of(judgments), grades)).filter(pl.col("grade").is_not_null())
    rows = frame.select(*by, "unit_number", "grade", "value", "position")
    lower = rows.rename({"grade": "lower", "value": "lower_value", "position": "lower_position"})
    upper = rows.drop(*by).rename({"grade": "upper", "value": "upper_value", "position": "upper_position"})
    pairs = lower.join(upper, on="unit_number").filter(pl.col("lower") < pl.col("upper"))
    if pairs.is_empty():
        raise DataError("no unit has documents of two grades; grades cannot be compared within a unit")
    return pairs


def _signed_rank(within: pl.DataFrame, low: float, high: float, value: str) -> dict[str, Any]:
    """Wilcoxon's signed-rank of an assessor's mean at one grade against the other, over assessors."""
    from scipy.stats import wilcoxon

    both = within.filter(pl.col("grade") == low).join(
        within.filter(pl.col("grade") == high), on=["topic", "assessor"], suffix="_upper", nulls_equal=True
    )
    differences = (both[f"{value}_upper"] - both[value]).to_numpy()
    row: dict[str, Any] = {"assessors": len(differences), "p_signed_rank": None, "note_signed_rank": None}
    if not len(differences):
        return row | {"note_signed_rank": "no assessor judged documents of both grades"}
    if not differences.any():
        return row | {"note_signed_rank": "all assessors gave both grades the same value"}
    return row | {"p_signed_rank": float(wilcoxon(differences).pvalue)}
