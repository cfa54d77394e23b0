"""Which assessors of exported judgments deserve a second look. A flag is a reason to look, not proof."""

from __future__ import annotations

import polars as pl


def attention_flags(judgments: pl.DataFrame, *, same_share: float = 0.9, least_seconds: float = 5.0) -> pl.DataFrame:
    """Assessors who answer nearly always alike, or in no time: assessor, flag, seen, of, detail.

    `same_answer`: one value makes up at least `same_share` of six or more judgments; `hurried`: the median active
    time of six or more is below `least_seconds`; `same_comment`: more than half of six or more comments are one
    text.
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
    enough = pl.col("of") >= 6
    flags = [
        summary.filter(enough, pl.col("same") >= same_share * pl.col("of")).select(
            "assessor",
            pl.lit("same_answer").alias("flag"),
            pl.col("same").alias("seen"),
            "of",
            pl.format("the value {} again and again", "value").alias("detail"),
        ),
        summary.filter(enough, pl.col("seconds") < least_seconds).select(
            "assessor",
            pl.lit("hurried").alias("flag"),
            pl.col("of").alias("seen"),
            "of",
            pl.format("median {} s", pl.col("seconds").round(1)).alias("detail"),
        ),
        summary.filter(pl.col("comments") >= 6, pl.col("same_comment") > 0.5 * pl.col("comments")).select(
            "assessor",
            pl.lit("same_comment").alias("flag"),
            pl.col("same_comment").alias("seen"),
            pl.col("comments").alias("of"),
            pl.lit("one comment again and again").alias("detail"),
        ),
    ]
    return pl.concat(flags, how="vertical_relaxed").sort("assessor", "flag")
