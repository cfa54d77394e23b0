"""Who did how much, which question they liked, and how hard the topics were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from judgewell.agreement.common import check_columns, judgments_of, pairs_of, require
from judgewell.errors import DataError, InputError
from judgewell.tables import SCORES, check, frame_of


def worker_statistics(judgments: Any) -> pl.DataFrame:
    """Each assessor's volume, speed and habits, the busiest first: one who types one number shows here.

    most_used is the value given most often (the smaller of two), most_used_share its share of the assessor's values.
    """
    frame = judgments_of(judgments)
    require(frame, "assessor", "worker statistics")
    value = pl.col("value")
    return (
        frame.filter(pl.col("assessor").is_not_null())
        .group_by("assessor", maintain_order=True)
        .agg(
            judgments=pl.len().cast(pl.Int64),
            documents=pl.struct("topic", "doc").n_unique().cast(pl.Int64),
            topics=pl.col("topic").n_unique().cast(pl.Int64),
            units=pl.struct("topic", "unit").n_unique().cast(pl.Int64),
            median_seconds=pl.col("seconds").median(),
            median=value.median(),
            distinct=value.n_unique().cast(pl.Int64),
            most_used=value.mode().min(),
            most_used_share=value.unique_counts().max() / pl.len(),
        )
        .sort("judgments", descending=True, maintain_order=True)
    )


def workers_per_document(judgments: Any, *, by: Sequence[str] = ("topic",)) -> pl.DataFrame:
    """How many documents were judged by 1, 2, 3 … assessors (Yang et al. 2018, Fig. 2)."""
    return _histogram(_seen(judgments), "assessor", ["topic", "doc"], by, "workers", "documents")


def workers_per_document_of_pairs(pairs: Any, *, by: Sequence[str] = ("topic",)) -> pl.DataFrame:
    """The same for documents shown in pairs."""
    frame = pairs_of(pairs)
    require(frame, "assessor", "counting workers per document")
    others = [name for name in frame.columns if name not in ("left", "right", "doc")]
    seen = pl.concat([frame.select(*others, doc=side) for side in ("left", "right")])
    return _histogram(seen, "assessor", ["topic", "doc"], by, "workers", "documents")


def units_per_worker(work: Any, *, by: Sequence[str] = ()) -> pl.DataFrame:
    """How many assessors did 1, 2, 3 … units; `work` is a judgments or a pairs table."""
    frame = pairs_of(work) if "left" in frame_of(work).columns else _seen(work)
    require(frame, "assessor", "counting units per worker")
    named = frame.filter(pl.col("assessor").is_not_null()).with_columns(place=pl.struct("topic", "unit"))
    return _histogram(named, "place", ["assessor"], by, "units", "workers")


def question_likes(likes: pl.DataFrame, *, by: Sequence[str] = ("topic",)) -> pl.DataFrame:
    """The share of assessors who liked each question, every assessor counting once (Yang et al. 2018, Table 3).

    `likes` has a row per answer: topic, assessor, question, liked (true or false); an assessor's answers are averaged
    first. Several questions may be liked, so shares need not sum to 1.
    """
    missing = [name for name in ("topic", "assessor", "question", "liked") if name not in likes.columns]
    if missing:
        raise InputError(f"the likes table lacks {', '.join(missing)}", cure="give topic, assessor, question, liked")
    if likes.is_empty():
        raise DataError("the likes table has no rows")
    check_columns(likes, by)
    own = likes.group_by([*by, "question", "assessor"]).agg(liked=pl.col("liked").cast(pl.Float64).mean())
    return (
        own.group_by([*by, "question"])
        .agg(workers=pl.len().cast(pl.Int64), share=pl.col("liked").mean(), sd=pl.col("liked").std())
        .sort([*by, "question"])
    )


def likes_over_topics(likes_by_topic: pl.DataFrame) -> pl.DataFrame:
    """The shares of :func:`question_likes` over topics: plain mean, and weighted by the number of workers."""
    weighted = (pl.col("share") * pl.col("workers")).sum() / pl.col("workers").sum()
    return (
        likes_by_topic.group_by("question")
        .agg(topics=pl.len().cast(pl.Int64), mean=pl.col("share").mean(), weighted=weighted)
        .sort("question")
    )


def likes_against_difficulty(
    likes_by_topic: pl.DataFrame, difficulty: pl.DataFrame, first: str, second: str
) -> pl.DataFrame:
    """Over topics: is one question liked more than another where topics are easier? Pearson's r and Kendall's tau-b."""
    from scipy.stats import kendalltau, pearsonr

    shares = [
        likes_by_topic.filter(pl.col("question") == name).select("topic", share="share") for name in (first, second)
    ]
    both = shares[0].join(shares[1], on="topic", suffix="_second").join(difficulty, on="topic")
    if both.height < 3:
        raise DataError(
            f"a correlation over topics needs three that have likes and a difficulty; there are {both.height}"
        )
    difference = (both["share"] - both["share_second"]).to_numpy()
    ease = both["difficulty"].to_numpy()
    if not (np.ptp(difference) and np.ptp(ease)):
        raise DataError("a correlation over topics needs likes and difficulties that vary")
    straight, ranked = pearsonr(difference, ease), kendalltau(difference, ease)
    row = {"question": first, "other": second, "topics": both.height}
    row |= {"pearson": float(straight.statistic), "p_pearson": float(straight.pvalue)}
    return pl.DataFrame([row | {"tau": float(ranked.statistic), "p_tau": float(ranked.pvalue)}])


def topic_difficulty(scores: Any, measure: str = "AP") -> pl.DataFrame:
    """Each topic's mean score over all systems, usually average precision with binary labels: low is difficult."""
    frame = check(scores, SCORES)
    chosen = frame.filter(pl.col("measure") == measure)
    if chosen.is_empty():
        measures = ", ".join(frame["measure"].unique().sort().to_list()) or "none"
        raise DataError(f"there are no scores of {measure}; the measures are {measures}")
    return (
        chosen.group_by("topic")
        .agg(difficulty=pl.col("value").mean(), systems=pl.col("system").n_unique().cast(pl.Int64))
        .sort("difficulty")
    )


def _seen(judgments: Any) -> pl.DataFrame:
    frame = judgments_of(judgments)
    require(frame, "assessor", "counting workers")
    return frame.filter(pl.col("assessor").is_not_null())


def _histogram(
    frame: pl.DataFrame, counted: str, owner: list[str], by: Sequence[str], name: str, of: str
) -> pl.DataFrame:
    """How many owners have each number of distinct `counted`."""
    check_columns(frame, by)
    each = frame.group_by(list(dict.fromkeys([*by, *owner]))).agg(pl.col(counted).n_unique().cast(pl.Int64).alias(name))
    return each.group_by([*by, name]).agg(pl.len().cast(pl.Int64).alias(of)).sort([*by, name])
