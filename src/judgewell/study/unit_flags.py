"""Which assessors of exported judgments deserve a second look. A flag is a reason to look, not proof."""

from __future__ import annotations

import polars as pl

LEAST = 6  # judgments, or comments, before anything is said of somebody
SAME_SHARE = 0.9
LEAST_SECONDS = 5.0
REPEATED = pl.lit("one comment again and again")


def attention_flags(judgments: pl.DataFrame) -> pl.DataFrame:
    """Assessors who answer nearly always alike, or in no time: assessor, flag, seen, of, detail.

    `same_answer`: one value makes up at least nine tenths of six or more judgments; `hurried`: the median active time
    of six or more is below 5 s; `same_comment`: more than half of six or more comments are one text.
    """
    grouped = judgments.filter(pl.col("assessor").is_not_null()).group_by("assessor", maintain_order=True)
    summary = grouped.agg(
        pl.len().alias("of"),
        pl.col("value").unique_counts().max().alias("same"),
        pl.col("value").mode().min().alias("value"),
        pl.col("seconds").median(),
        pl.col("comment").drop_nulls().unique_counts().max().alias("same_comment"),
        pl.col("comment").count().alias("comments"),
    )
    of, same, seconds = pl.col("of"), pl.col("same"), pl.col("seconds")
    comments, same_comment = pl.col("comments"), pl.col("same_comment")
    shown = pl.col("value").cast(pl.String).str.strip_suffix(".0")
    value = pl.format("the value {} nearly always", shown)
    flags = {
        "same_answer": (of, (of >= LEAST) & (same >= SAME_SHARE * of), same, value),
        "hurried": (of, (of >= LEAST) & (seconds < LEAST_SECONDS), of, pl.format("median {} s", seconds.round(1))),
        "same_comment": (comments, (comments >= LEAST) & (same_comment > 0.5 * comments), same_comment, REPEATED),
    }
    parts = [
        summary.filter(which).select("assessor", flag=pl.lit(flag), seen=seen, of=count, detail=detail)
        for flag, (count, which, seen, detail) in flags.items()
    ]
    return pl.concat(parts, how="vertical_relaxed").sort("assessor", "flag")
