"""Real data as tables."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

Labels = dict[str, pl.DataFrame]


@pytest.fixture(scope="session")
def trec8(data: Path) -> tuple[pl.DataFrame, Labels]:
    """trec8-s100 as judgments and its two sets of labels."""
    raw = pl.read_csv(data / "trec8-s100" / "judgments.csv.gz", null_values=["", "null"], infer_schema_length=None)
    raw = raw.rename({"topic_id": "topic", "document_id": "doc"}).with_columns(pl.col("topic").cast(pl.String))
    judgments = raw.select(
        "topic",
        "doc",
        assessor="worker_id",
        unit=pl.col("unit_id").cast(pl.String),
        position=pl.col("doc_pos") + 1,
        scale=pl.lit("0-100"),
        value="relevance_score",
        seconds="cumulative_time",
        comment="comment",
        known="gold",
    )
    labels = raw.unique(["topic", "doc"], maintain_order=True)
    sets = {name: labels.select("topic", "doc", gain=name).drop_nulls() for name in ("trec", "sormunen")}
    return judgments, sets


@pytest.fixture(scope="session")
def nyt(data: Path) -> tuple[pl.DataFrame, Labels]:
    """nyt-crowd's judgments (the few without an answer left out) and the NIST labels."""
    grades = {"not_relevant": 0.0, "relevant": 1.0, "highly_relevant": 2.0}
    raw = pl.read_csv(data / "nyt-crowd" / "judgments.csv.gz", infer_schema_length=None)
    raw = raw.filter(~pl.col("pilot").str.contains("merged"), pl.col("relevance") != "").with_columns(
        pl.col("topic").cast(pl.String)
    )
    judgments = raw.select(
        "topic",
        doc=pl.col("document_id").cast(pl.String),
        assessor=pl.col("_worker_id"),
        unit=pl.col("pilot"),
        scale=pl.col("pilot"),
        value=pl.col("relevance").replace_strict(grades, return_dtype=pl.Float64),
        length=pl.col("doc_len"),
    )
    nist = raw.select("topic", doc=pl.col("document_id").cast(pl.String), gain=pl.col("rel").cast(pl.Float64))
    return judgments, {"nist": nist.unique(["topic", "doc"], maintain_order=True)}


@pytest.fixture(scope="session")
def music(data: Path) -> pl.DataFrame:
    """music-preferences as pairs; the five empty answers stay empty."""
    raw = pl.read_csv(data / "music-preferences" / "judgments.csv", infer_schema_length=None, encoding="latin-1")
    sides = {"a": "left", "b": "right", "s": "same"}
    return raw.select(
        topic="Input.query",
        left="Input.docA",
        right="Input.docB",
        assessor=pl.col("WorkerId").cast(pl.String),
        unit=pl.col("HITId").cast(pl.String),
        preferred=pl.col("Answer.radio").replace_strict(sides, default=None, return_dtype=pl.String),
        seconds="WorkTimeInSeconds",
    )
