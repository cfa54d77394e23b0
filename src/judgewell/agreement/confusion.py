"""Which grades two label sets, or two assessors, give to the same document."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from judgewell.agreement.common import DOCUMENT, gains_of, judgments_of, require, with_number
from judgewell.errors import DataError


def label_confusion(label_sets: Mapping[str, Any]) -> pl.DataFrame:
    """For each two label sets, how many documents got each two grades; `share` is of the first set's grade."""
    checked = {name: gains_of(labels) for name, labels in label_sets.items()}
    parts = []
    for first, second in combinations(checked, 2):
        both = checked[first].join(checked[second], on=DOCUMENT, suffix="_second")
        cells = both.group_by(grade="gain", other="gain_second").agg(documents=pl.len().cast(pl.Int64))
        whole = pl.DataFrame({"grade": both["gain"].unique()}).join(
            pl.DataFrame({"other": both["gain_second"].unique()}), how="cross"
        )
        cells = whole.join(cells, on=["grade", "other"], how="left").with_columns(pl.col("documents").fill_null(0))
        share = pl.col("documents") / pl.col("documents").sum().over("grade")
        parts.append(
            cells.sort("grade", "other").select(
                pl.lit(first).alias("first"), pl.lit(second).alias("second"), pl.all(), share=share
            )
        )
    table = pl.concat(parts) if parts else pl.DataFrame()
    if table.is_empty():
        raise DataError("no two label sets share a document")
    return table


def label_coverage(label_sets: Mapping[str, Any], judged: pl.DataFrame | None = None) -> pl.DataFrame:
    """Each label set's topics, documents and grades, and how many judged topics and documents it does not label."""
    rows = []
    for name, labels in label_sets.items():
        frame = gains_of(labels)
        row: dict[str, Any] = {
            "labels": name,
            "topics": frame["topic"].n_unique(),
            "documents": frame.height,
            "grades": frame["gain"].n_unique(),
            "lowest": frame["gain"].min(),
            "highest": frame["gain"].max(),
        }
        if judged is not None:
            missing = judged.join(frame, on=DOCUMENT, how="anti")
            without = set(judged["topic"]) - set(frame["topic"])
            row |= {"judged_without_label": missing.height, "topics_without_labels": len(without)}
        rows.append(row)
    return pl.DataFrame(rows)


def as_judgments(label_sets: Mapping[str, Any]) -> pl.DataFrame:
    """Label sets as judgments, each set an assessor."""
    return pl.concat(
        gains_of(labels).select("topic", "doc", pl.lit(name).alias("assessor"), value="gain")
        for name, labels in label_sets.items()
    )


def disagreement(judgments: Any) -> pl.DataFrame:
    """P(another assessor gives j | one gives i), over all ordered pairs of distinct assessors of a document.

    The disagreement matrix of the predicted relevance model (Demeester et al. 2015, eq. 5): `pairs` is symmetric, and
    the `share`s of each grade add up to 1.
    """
    frame = judgments_of(judgments)
    require(frame, "assessor", "disagreement between assessors")
    named = frame.filter(pl.col("assessor").is_not_null()).unique([*DOCUMENT, "assessor"], maintain_order=True)
    numbered = with_number(named, DOCUMENT, "document")
    grades, codes = np.unique(numbered["value"].to_numpy(), return_inverse=True)
    document = numbered["document"].to_numpy()
    counts = np.zeros((int(document.max()) + 1, len(grades)))
    np.add.at(counts, (document, codes.ravel()), 1.0)
    pairs = counts.T @ counts - np.diag(counts.sum(axis=0))
    if not pairs.sum():
        raise DataError("disagreement between assessors needs documents judged by two")
    total = pairs.sum(axis=1, keepdims=True)
    p = np.where(total > 0, pairs / np.where(total > 0, total, 1.0), np.nan)
    size = len(grades)
    return pl.DataFrame(
        {
            "grade": np.repeat(grades, size),
            "other": np.tile(grades, size),
            "pairs": pairs.ravel().astype(np.int64),
            "share": p.ravel(),
        }
    ).with_columns(pl.col("share").fill_nan(None))
