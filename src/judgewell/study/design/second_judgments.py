"""Which documents are judged by two assessors, to predict relevance from single grades (Demeester et al. 2015).

The sample must look like what is evaluated: of the depth that the measures see, from many topics rather than all of
few.
"""

from __future__ import annotations

from math import ceil

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError, note
from judgewell.study.design.chance import generator


def plan_doubles(
    pool: pl.DataFrame, *, share: float, seed: int, depth: int | None = None, least_grade: float | None = None
) -> pl.DataFrame:
    """The documents to judge a second time: a share of every topic's, by lot (columns topic, doc).

    `depth` keeps only documents that some system ranked so high (column `rank` of the pool: the best rank). With
    `least_grade` only documents whose first grade (column `grade`) reaches it are sampled; then the first judgments
    alone are representative, and only eq. (4) of the predicted relevance model is valid.
    """
    if not 0 < share <= 1:
        raise InputError(f"a share of {share:g} cannot be judged twice", cure="choose above 0 and up to 1")
    sample = pool
    if depth is not None:
        sample = _column(sample, "rank", "depth").filter(pl.col("rank") <= depth)
    if least_grade is not None:
        sample = _column(sample, "grade", "least_grade").filter(pl.col("grade") >= least_grade)
        note(
            f"only documents graded {least_grade:g} or more are judged twice: estimate with the first judgments as "
            "given (eq. 4), not with both directions (eq. 5)"
        )
    if sample.is_empty():
        raise DataError("no document is left to judge twice; ask for a greater depth or a lower grade")
    chosen = [_of_topic(topic, docs, share, seed) for topic, docs in _by_topic(sample)]
    return pl.concat(chosen)


def _column(pool: pl.DataFrame, name: str, option: str) -> pl.DataFrame:
    if name not in pool.columns:
        raise InputError(f"{option} needs a column {name}; the pool has {', '.join(pool.columns)}")
    return pool


def _by_topic(pool: pl.DataFrame) -> list[tuple[str, list[str]]]:
    grouped = pool.group_by("topic", maintain_order=True).agg(pl.col("doc").unique().sort())
    return [(topic, docs) for topic, docs in grouped.iter_rows()]


def _of_topic(topic: str, docs: list[str], share: float, seed: int) -> pl.DataFrame:
    """A share of a topic's documents, rounded up so that no topic is excluded."""
    rng = generator(seed, "double", topic)
    picked = np.sort(rng.permutation(len(docs))[: ceil(share * len(docs) - 1e-9)])
    return pl.DataFrame({"topic": [topic] * len(picked), "doc": [docs[number] for number in picked]})
