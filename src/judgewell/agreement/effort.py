"""Assessors' effort: who judged how much, how fast and with which habits, and how many assessors a document had."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from judgewell.agreement.common import check_columns, judgments_of, pairs_of, require, unit_count
from judgewell.tables import frame_of


def assessor_statistics(judgments: Any) -> pl.DataFrame:
    """Each assessor's volume, speed and habits, the busiest first: one who types one number shows here.

    most_used is the value given most often (the smaller of two), most_used_share its share of the assessor's values.
    """
    frame = judgments_of(judgments)
    require(frame, "assessor", "assessor statistics")
    value = pl.col("value")
    return (
        frame.filter(pl.col("assessor").is_not_null())
        .group_by("assessor", maintain_order=True)
        .agg(
            judgments=pl.len().cast(pl.Int64),
            documents=pl.struct("topic", "doc").n_unique().cast(pl.Int64),
            topics=pl.col("topic").n_unique().cast(pl.Int64),
            units=unit_count("topic"),
            median_seconds=pl.col("seconds").median(),
            median=value.median(),
            distinct=value.n_unique().cast(pl.Int64),
            most_used=value.mode().min(),
            most_used_share=value.unique_counts().max() / pl.len(),
        )
        .sort("judgments", descending=True, maintain_order=True)
    )


def assessors_per_document(judgments: Any, *, by: Sequence[str] = ("topic",)) -> pl.DataFrame:
    """How many documents were judged by 1, 2, 3 … assessors (Yang et al. 2018, Fig. 2)."""
    return _histogram(_seen(judgments), "assessor", ["topic", "doc"], by, "assessors", "documents")


def assessors_per_document_of_pairs(pairs: Any, *, by: Sequence[str] = ("topic",)) -> pl.DataFrame:
    """The same for documents shown in pairs."""
    frame = pairs_of(pairs)
    require(frame, "assessor", "counting assessors per document")
    others = [name for name in frame.columns if name not in ("left", "right", "doc")]
    seen = pl.concat([frame.select(*others, doc=side) for side in ("left", "right")])
    return _histogram(seen, "assessor", ["topic", "doc"], by, "assessors", "documents")


def units_per_assessor(work: Any, *, by: Sequence[str] = ()) -> pl.DataFrame:
    """How many assessors did 1, 2, 3 … units; `work` is a judgments or a pairs table."""
    frame = pairs_of(work) if "left" in frame_of(work).columns else _seen(work)
    require(frame, "assessor", "counting units per assessor")
    require(frame, "unit", "counting units per assessor")
    named = frame.drop_nulls(["assessor", "unit"]).with_columns(place=pl.struct("topic", "unit"))
    return _histogram(named, "place", ["assessor"], by, "units", "assessors")


def _seen(judgments: Any) -> pl.DataFrame:
    frame = judgments_of(judgments)
    require(frame, "assessor", "counting assessors")
    return frame.filter(pl.col("assessor").is_not_null())


def _histogram(
    frame: pl.DataFrame, counted: str, owner: list[str], by: Sequence[str], name: str, of: str
) -> pl.DataFrame:
    """How many owners have each number of distinct `counted`."""
    check_columns(frame, by)
    each = frame.group_by(list(dict.fromkeys([*by, *owner]))).agg(pl.col(counted).n_unique().cast(pl.Int64).alias(name))
    return each.group_by([*by, name]).agg(pl.len().cast(pl.Int64).alias(of)).sort([*by, name])
