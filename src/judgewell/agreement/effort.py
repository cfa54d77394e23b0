"""Assessors' effort: who judged how much, how fast and with which habits, and how many assessors a document had."""

from __future__ import annotations

from typing import Any

import polars as pl

from judgewell.agreement.common import judgments_of, pairs_of, require, unit_count
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


def assessors_per_document(work: Any) -> pl.DataFrame:
    """How many documents of a topic 1, 2, 3 … assessors judged, alone or in pairs (Yang et al. 2018, Fig. 2)."""
    frame = _by_assessors(work, "counting assessors per document")
    if "left" in frame.columns:
        frame = pl.concat([frame.select("topic", "assessor", doc=side) for side in ("left", "right")])
    each = frame.group_by("topic", "doc").agg(assessors=pl.col("assessor").n_unique().cast(pl.Int64))
    return each.group_by("topic", "assessors").agg(documents=pl.len().cast(pl.Int64)).sort("topic", "assessors")


def units_per_assessor(work: Any) -> pl.DataFrame:
    """How many assessors did 1, 2, 3 … units; `work` is a judgments or a pairs table."""
    frame = _by_assessors(work, "counting units per assessor")
    require(frame, "unit", "counting units per assessor")
    named = frame.drop_nulls("unit")
    each = named.group_by("assessor").agg(units=pl.struct("topic", "unit").n_unique().cast(pl.Int64))
    return each.group_by("units").agg(assessors=pl.len().cast(pl.Int64)).sort("units")


def _by_assessors(work: Any, purpose: str) -> pl.DataFrame:
    """The checked rows, of judgments or pairs, that name an assessor."""
    frame = pairs_of(work) if "left" in frame_of(work).columns else judgments_of(work)
    require(frame, "assessor", purpose)
    return frame.drop_nulls("assessor")
