"""Which question assessors liked, and whether that goes with how hard the topics were."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError
from judgewell.tables import SCORES, check


def question_likes(likes: pl.DataFrame) -> pl.DataFrame:
    """By topic, the share of assessors who liked each question, every one counting once (Yang et al. 2018, Table 3).

    `likes` has a row per answer: topic, assessor, question, liked (true or false); an assessor's answers are averaged
    first. Several questions may be liked, so shares need not sum to 1.
    """
    missing = [name for name in ("topic", "assessor", "question", "liked") if name not in likes.columns]
    if missing:
        raise InputError(f"the likes table lacks {', '.join(missing)}", cure="give topic, assessor, question, liked")
    if likes.is_empty():
        raise DataError("the likes table has no rows")
    own = likes.group_by("topic", "question", "assessor").agg(liked=pl.col("liked").cast(pl.Float64).mean())
    return (
        own.group_by("topic", "question")
        .agg(assessors=pl.len().cast(pl.Int64), share=pl.col("liked").mean(), sd=pl.col("liked").std())
        .sort("topic", "question")
    )


def likes_over_topics(likes_by_topic: pl.DataFrame) -> pl.DataFrame:
    """The shares of :func:`question_likes` over topics: plain mean, and weighted by the number of assessors."""
    weighted = (pl.col("share") * pl.col("assessors")).sum() / pl.col("assessors").sum()
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
