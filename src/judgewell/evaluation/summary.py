"""Scores → one line per system: means over topics with intervals."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.errors import DataError
from judgewell.resampling import bootstrap_weights, check_level, percentile_interval

Floats = NDArray[np.float64]
MOST_TOPICS = 2000  # above it the bootstrap interval and the normal one agree to the digits shown


def summarise(scores: pl.DataFrame, *, level: float = 0.95, resamples: int = 1000, seed: int = 0) -> pl.DataFrame:
    """The mean of each measure for each system over its topics, with an interval for other topics of the same kind.

    Percentile bootstrap over topics, the same resamples for all systems; the normal interval where there are more than
    2,000 topics. `interval` says which. One topic allows no interval: low and high are missing.
    """
    check_level(level)
    if not len(scores):
        raise DataError("the scores table is empty; there is nothing to summarise")
    rng = np.random.default_rng(seed)
    if not _ragged(scores):
        return _summary_of_all(scores, level, resamples, rng)
    parts = scores.partition_by(["system", "measure"], maintain_order=True)
    return pl.concat([_summary(part, level, resamples, rng) for part in parts])


def _ragged(scores: pl.DataFrame) -> bool:
    """Whether systems or measures have different topics."""
    counts = scores.group_by("system", "measure").agg(pl.len())["len"]
    return bool((counts != scores["topic"].n_unique()).any())


def _summary_of_all(scores: pl.DataFrame, level: float, resamples: int, rng: np.random.Generator) -> pl.DataFrame:
    """All systems and measures at once, where they have the same topics."""
    groups = scores.select("system", "measure").unique(maintain_order=True)
    numbered = scores.join(groups.with_row_index("group"), on=["system", "measure"])
    values = numbered.sort("group", "topic")["value"].to_numpy().reshape(len(groups), -1).T
    low, high, kind = _interval(values, level, resamples, rng)
    return _rows(groups, values, low, high, kind)


def _summary(part: pl.DataFrame, level: float, resamples: int, rng: np.random.Generator) -> pl.DataFrame:
    values = part["value"].to_numpy()[:, None]
    low, high, kind = _interval(values, level, resamples, rng)
    return _rows(part.select("system", "measure").head(1), values, low, high, kind)


def _interval(
    values: Floats, level: float, resamples: int, rng: np.random.Generator
) -> tuple[Floats | None, Floats | None, str]:
    topics = len(values)
    if topics < 2:
        return None, None, "none: one topic"
    if topics > MOST_TOPICS:
        from statistics import NormalDist

        reach = NormalDist().inv_cdf((1 + level) / 2) * values.std(axis=0, ddof=1) / np.sqrt(topics)
        return values.mean(axis=0) - reach, values.mean(axis=0) + reach, "normal"
    means = bootstrap_weights(topics, resamples, rng) @ values / topics
    low, high = percentile_interval(means, level)
    return low, high, "bootstrap"


def _rows(groups: pl.DataFrame, values: Floats, low: Floats | None, high: Floats | None, kind: str) -> pl.DataFrame:
    return groups.with_columns(
        pl.Series("mean", values.mean(axis=0)),
        pl.Series("low", low) if low is not None else pl.lit(None, pl.Float64).alias("low"),
        pl.Series("high", high) if high is not None else pl.lit(None, pl.Float64).alias("high"),
        pl.lit(len(values), pl.Int64).alias("topics"),
        pl.lit(kind).alias("interval"),
    )
