"""What the analyses share: tables at the door, splitting by columns, units, and saying what is excluded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError, note
from judgewell.tables import GAINS, JUDGMENTS, PAIRS, check

DOCUMENT = ["topic", "doc"]
WORDS = ("note", "note_signed_rank", "speaks_for", "test")  # columns of words that may all be missing
UNIT = ["topic", "assessor", "unit"]  # a unit's name is unique only within a topic and an assessor


def unit_count(*names: str) -> pl.Expr:
    """The number of units, identified by these columns and their name; null where no unit is named."""
    units = pl.struct(*names, "unit").filter(pl.col("unit").is_not_null()).n_unique().cast(pl.Int64)
    return pl.when(pl.col("unit").is_not_null().any()).then(units).alias("units")


def judgments_of(data: Any) -> pl.DataFrame:
    """The data as a checked judgments table that is not empty."""
    return _not_empty(check(data, JUDGMENTS), "judgments")


def pairs_of(data: Any) -> pl.DataFrame:
    """The data as a checked pairs table that is not empty."""
    return _not_empty(check(data, PAIRS), "pairs")


def gains_of(data: Any) -> pl.DataFrame:
    """Topic, document and gain of a checked gains table that is not empty."""
    return _not_empty(check(data, GAINS), "gains").select("topic", "doc", "gain")


def grades_of(data: Any) -> pl.DataFrame:
    """Topic, document and grade of a checked gains table that holds expert grades."""
    return gains_of(data).rename({"gain": "grade"})


def with_grades(frame: pl.DataFrame, grades: Any) -> pl.DataFrame:
    """The rows with their document's grade behind them, null where the experts gave none."""
    joined = frame.drop("grade", strict=False).join(grades_of(grades), on=DOCUMENT, how="left", maintain_order="left")
    if joined["grade"].null_count() == joined.height:
        raise DataError("no document has a grade; give grades for the topics and documents that were judged")
    return joined


def grade_values(frame: pl.DataFrame) -> list[float]:
    """The grades in use, from low to high; two at least."""
    grades = frame["grade"].drop_nulls().unique().sort().to_list()
    if len(grades) < 2:
        raise DataError(f"the comparison needs documents of two grades; all that are labelled have grade {grades[0]:g}")
    return grades


def grade_pairs(grades: Sequence[float]) -> list[tuple[float, float]]:
    """Every lower grade with every higher one: NM, NR, NH, MR, MH, RH."""
    return [(low, high) for place, low in enumerate(grades) for high in grades[place + 1 :]]


def require(frame: pl.DataFrame, column: str, purpose: str) -> None:
    """Refuse a table without any value in a column that the statistic rests on."""
    if column not in frame.columns or frame[column].null_count() == frame.height:
        raise DataError(f"{purpose} needs the column {column!r}, which is empty or missing")


def check_columns(frame: pl.DataFrame, by: Sequence[str]) -> None:
    """Refuse to split by a column that is not there."""
    for name in by:
        if name not in frame.columns:
            raise InputError(
                f"there is no column {name!r} to split by", cure=f"the columns are {', '.join(frame.columns)}"
            )


def without_known(frame: pl.DataFrame) -> pl.DataFrame:
    """Judgments without known documents, or pairs without known pairs: assessors must order those to pass a check, so
    they agree on them. Every table that compares assessors, or says how reliable their answers are, leaves them out."""
    names = [name for name in ("known", "left_known", "right_known") if name in frame.columns]
    known = frame.select(pl.all_horizontal(pl.col(names).is_not_null()) if names else pl.lit(False)).to_series()
    if not known.any() or known.all():
        return frame
    what = "pairs" if "left" in frame.columns else "documents"
    note(f"known {what}, which every assessor had to order to pass, are excluded from comparisons of assessors")
    return frame.filter(~known)


def each_group(frame: pl.DataFrame, by: Sequence[str]) -> Iterator[tuple[dict[str, Any], pl.DataFrame]]:
    """The parts of a table that share their values in `by`, in order; the whole table where `by` is empty."""
    check_columns(frame, by)
    if not by:
        yield {}, frame
        return
    parts = frame.partition_by(list(by), as_dict=True, maintain_order=True)
    for key in sorted(parts, key=lambda values: [(value is not None, value) for value in values]):
        yield dict(zip(by, key, strict=True)), parts[key]


def with_number(frame: pl.DataFrame, columns: Sequence[str], name: str) -> pl.DataFrame:
    """The rows with the number (from 0) of their distinct values in `columns`, in order of appearance."""
    distinct = frame.select(columns).unique(maintain_order=True).with_row_index(name)
    numbered = frame.join(distinct, on=list(columns), how="left", nulls_equal=True, maintain_order="left")
    return numbered.with_columns(pl.col(name).cast(pl.Int64))


def document_medians(judgments: Any) -> pl.DataFrame:
    """The plain median of each document's values as gains, for data whose values can be compared as they are."""
    return (
        judgments_of(judgments)
        .group_by(DOCUMENT, maintain_order=True)
        .agg(gain=pl.col("value").median(), judgments=pl.len().cast(pl.Int64))
    )


def five_numbers(column: str) -> list[pl.Expr]:
    """Least, quartiles and greatest of a column."""
    value = pl.col(column)
    return [
        value.min().alias("least"),
        value.quantile(0.25, "linear").alias("q1"),
        value.median().alias("median"),
        value.quantile(0.75, "linear").alias("q3"),
        value.max().alias("greatest"),
    ]


def rows_table(rows: Sequence[Mapping[str, Any]], *numbers: str) -> pl.DataFrame:
    """The rows as a table. `numbers` and words have their type also where every one is missing."""
    types: dict[str, Any] = dict.fromkeys(numbers, pl.Float64) | dict.fromkeys(WORDS, pl.String)
    return pl.DataFrame(rows, infer_schema_length=None, schema_overrides=types)


def or_none(value: float) -> float | None:
    """A number for a table: null where it is undefined (the note says why)."""
    return None if np.isnan(value) else float(value)


def _not_empty(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    if frame.is_empty():
        raise DataError(f"the {name} table has no rows")
    return frame
