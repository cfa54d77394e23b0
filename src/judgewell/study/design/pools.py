"""Which documents are judged: the union of what the systems ranked highest, or a ready list."""

from __future__ import annotations

import polars as pl

from judgewell.errors import DataError, InputError


def pool_runs(runs: pl.DataFrame, depth: int) -> pl.DataFrame:
    """Every document that some system ranks among its first `depth` for a topic.

    Columns topic, doc, systems (how many rank it so high) and rank (the best). Ranks follow scores downwards, then
    document ids downwards, as everywhere in judgewell.
    """
    if depth < 1:
        raise InputError(f"a pool of depth {depth} is empty", cure="choose a depth of at least 1")
    ranked = runs.sort(["score", "doc"], descending=True).with_columns(
        rank=pl.int_range(1, pl.len() + 1).over("system", "topic")
    )
    pooled = (
        ranked.filter(pl.col("rank") <= depth)
        .group_by("topic", "doc")
        .agg(pl.col("system").n_unique().alias("systems"), pl.col("rank").min())
    )
    return pooled.sort("topic", "doc")


def first_of_run(run: pl.DataFrame, system: str, depth: int) -> pl.DataFrame:
    """The first `depth` documents of each topic of one run, as rows of the runs table."""
    first = run.sort("score", "doc", descending=True).group_by("topic", maintain_order=True).head(depth)
    return first.select(pl.lit(system).alias("system"), "topic", "doc", "score")


def pool_list(pairs: pl.DataFrame) -> pl.DataFrame:
    """A ready list of topics and documents as a pool; a document listed twice is an error."""
    pool = pairs.select(pl.col("topic").cast(pl.String), pl.col("doc").cast(pl.String), pl.exclude("topic", "doc"))
    twice = pool.filter(pool.select("topic", "doc").is_duplicated())
    if not twice.is_empty():
        topic, doc = twice.row(0)[:2]
        raise DataError(f"topic {topic}: document {doc} is in the list twice; keep one row of it")
    return pool.sort("topic", "doc")
