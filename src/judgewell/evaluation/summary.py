"""Scores → one line per system: means over topics with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.errors import DataError, InputError
from judgewell.stats.resampling import bootstrap_weights, check_level, percentile_interval
from judgewell.tables import SCORES, check

Floats = NDArray[np.float64]
MOST_TOPICS = 2000  # above it the bootstrap interval and the normal one agree to the digits shown


def summarise(scores: pl.DataFrame, *, level: float = 0.95, resamples: int = 1000, seed: int = 0) -> pl.DataFrame:
    """The mean of each measure for each system over its topics, with an interval for other topics of the same kind.

    Percentile bootstrap over topics, the same resamples for all systems; the normal interval where there are more than
    2,000 topics. `interval` says which. One topic allows no interval: low and high are missing.
    """
    scores = check(scores, SCORES)
    if not len(scores):
        raise DataError("the scores table is empty; there is nothing to summarise")
    systems = scores["system"].unique(maintain_order=True)
    topics = scores["topic"].unique(maintain_order=True)
    measures = scores["measure"].unique(maintain_order=True)
    values = np.full((len(systems), len(topics), len(measures)), np.nan)
    at = _number(scores["system"], systems), _number(scores["topic"], topics), _number(scores["measure"], measures)
    values[at] = scores["value"].to_numpy()
    return summarise_values(values, systems.to_list(), measures.to_list(), level=level, resamples=resamples, seed=seed)


def summarise_values(
    values: Floats,
    systems: Sequence[str],
    measures: Sequence[str],
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> pl.DataFrame:
    """The same of an array systems × topics × measures, NaN where a topic does not count for a system."""
    check_level(level)
    if seed < 0:
        raise InputError(f"the seed {seed} is below 0", cure="give 0 or more")
    count, topics, asked = values.shape
    flat = values.transpose(1, 0, 2).reshape(topics, count * asked)
    counted = ~np.isnan(flat)
    number = counted.sum(axis=0)
    mean = np.where(counted, flat, 0.0).sum(axis=0) / np.maximum(number, 1)
    if topics > MOST_TOPICS:
        low, high, kind = *_normal(flat, counted, mean, number, level), "normal"
    else:
        low, high, kind = *_bootstrap(flat, counted, level, resamples, np.random.default_rng(seed)), "bootstrap"
    return pl.DataFrame(
        {
            "system": np.repeat(np.array(systems, dtype=object), asked).tolist(),
            "measure": list(measures) * count,
            "mean": mean,
            "low": low,
            "high": high,
            "topics": number,
            "interval": pl.Series([kind if n > 1 else "none: one topic" for n in number.tolist()]),
        }
    ).with_columns(pl.when(pl.col("topics") > 1).then(pl.col("low", "high")))


def _number(values: pl.Series, names: pl.Series) -> NDArray[np.int64]:
    return values.replace_strict(names, np.arange(len(names)), return_dtype=pl.Int64).to_numpy()


def _normal(
    flat: Floats, counted: NDArray[np.bool_], mean: Floats, number: NDArray[np.int64], level: float
) -> tuple[Floats, Floats]:
    from statistics import NormalDist

    squares = np.where(counted, (flat - mean) ** 2, 0.0).sum(axis=0)
    error = np.sqrt(squares / np.maximum(number - 1, 1) / np.maximum(number, 1))
    reach = NormalDist().inv_cdf((1 + level) / 2) * error
    least, most = np.where(counted, flat, np.inf).min(axis=0), np.where(counted, flat, -np.inf).max(axis=0)
    return np.maximum(mean - reach, least), np.minimum(mean + reach, most)  # as a resampled mean would be


def _bootstrap(
    flat: Floats, counted: NDArray[np.bool_], level: float, resamples: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    weights = bootstrap_weights(len(flat), resamples, rng).astype(np.float64)
    drawn = weights @ counted
    means = np.divide(weights @ np.where(counted, flat, 0.0), drawn, out=np.full(drawn.shape, np.nan), where=drawn > 0)
    low, high = percentile_interval(means, level)
    return low, high
