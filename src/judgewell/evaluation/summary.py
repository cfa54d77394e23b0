"""Scores → one line per system: means over topics with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.errors import DataError, MeasureError, note
from judgewell.evaluation.measures import parse
from judgewell.stats.means import NO_LIMITS, few_topics_note, mean_intervals
from judgewell.tables import SCORES, check

Floats = NDArray[np.float64]


def summarise(scores: pl.DataFrame, *, level: float = 0.95, seed: int = 0) -> pl.DataFrame:
    """The mean of each measure for each system over its topics, with an interval for other topics of the same kind.

    The interval is that of `judgewell.stats.means`; the column `interval` says how it was made: bootstrap, t or normal.
    One topic allows no interval: low and high are missing.
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
    return summarise_values(values, systems.to_list(), measures.to_list(), level=level, seed=seed)


def summarise_values(
    values: Floats, systems: Sequence[str], measures: Sequence[str], *, level: float = 0.95, seed: int = 0
) -> pl.DataFrame:
    """The same of an array systems × topics × measures, NaN where a topic does not count for a system.

    Counts are added up over topics, not averaged, and GMAP is a geometric mean; their intervals follow.
    """
    count, topics, asked = values.shape
    over = [over_topics(name) for name in measures]
    geometric = np.array([one == "geometric" for one in over], dtype=bool)
    limits = np.array([measure_limits(name) for name in measures] * count).reshape(-1, 2).T
    limits = np.where(np.tile(geometric, count), np.array(NO_LIMITS)[:, None], limits)
    logs = np.where(geometric, np.log(np.where(geometric, values, 1.0)), values)
    rows = logs.transpose(0, 2, 1).reshape(count * asked, topics)
    means = mean_intervals(rows, level=level, limits=(limits[0], limits[1]), seed=seed)
    if few := few_topics_note(means):
        note(few)
    kind = pl.Series(over * count)
    shown = pl.col("mean", "low", "high")
    table = pl.DataFrame(
        {
            "system": np.repeat(np.array(systems, dtype=object), asked).tolist(),
            "measure": list(measures) * count,
            "mean": means.mean,
            "low": means.low,
            "high": means.high,
            "topics": means.topics,
            "interval": pl.Series([kind if kind != "none" else "none: one topic" for kind in means.kind]),
        }
    ).with_columns(pl.when(pl.col("topics") > 1).then(pl.col("low", "high")))
    total = pl.when(kind == "sum").then(shown * pl.col("topics"))
    return table.with_columns(total.when(kind == "geometric").then(shown.exp()).otherwise(shown))


def over_topics(name: str) -> str:
    """How a measure's topics are put together, by its name: mean, sum or geometric."""
    try:
        return parse(name).over_topics
    except MeasureError:
        return "mean"


def measure_limits(name: str) -> tuple[float, float]:
    """The least and the largest value of a measure by its name; without limits where the name is not a measure's."""
    try:
        return parse(name).limits
    except MeasureError:
        return NO_LIMITS


def _number(values: pl.Series, names: pl.Series) -> NDArray[np.int64]:
    return values.replace_strict(names, np.arange(len(names)), return_dtype=pl.Int64).to_numpy()
