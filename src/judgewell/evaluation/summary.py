"""Scores → one line per system: means over topics with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from judgewell.errors import DataError, note
from judgewell.evaluation.measures import parsed_or_none
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.means import NO_LIMITS, few_topics_note, mean_intervals, no_spread_note, without_intervals

if TYPE_CHECKING:
    import polars as pl


WHY_NONE = {"none": "none: no spread", "biased": "none: drawn documents"}  # kinds without an interval


def summarise(scores: pl.DataFrame, *, level: float = 0.95, seed: int = 0) -> pl.DataFrame:
    """The mean of each measure for each system over its topics, with an interval for other topics of the same kind.

    The interval is that of `judgewell.stats.means`; the column `interval` says how it was made: bootstrap, t, normal
    or exact. One topic allows no interval, and neither do topics with the same score: low and high are missing.
    """
    import polars as pl

    from judgewell.tables import SCORES, check

    scores = check(scores, SCORES)
    if not len(scores):
        raise DataError("the scores table is empty; there is nothing to summarise")
    systems = scores["system"].unique(maintain_order=True)
    topics = scores["topic"].unique(maintain_order=True)
    measures = scores["measure"].unique(maintain_order=True)
    values = np.full((len(systems), len(topics), len(measures)), np.nan)
    at = _number(scores["system"], systems), _number(scores["topic"], topics), _number(scores["measure"], measures)
    values[at] = scores["value"].to_numpy()
    rows = summary_rows(values, systems.to_list(), measures.to_list(), level=level, seed=seed)
    return pl.DataFrame(rows, schema_overrides={"low": pl.Float64, "high": pl.Float64}, infer_schema_length=None)


def summary_rows(
    values: Floats,
    systems: Sequence[str],
    measures: Sequence[str],
    *,
    level: float = 0.95,
    seed: int = 0,
    biased: Sequence[bool] | None = None,
) -> list[dict[str, Any]]:
    """The rows of `summarise`, from an array systems × topics × measures, NaN where a topic does not count.

    Counts are added up over topics, not averaged, and GMAP is a geometric mean; their intervals follow. Measures whose
    means are `biased` get no interval.
    """
    count, topics, asked = values.shape
    over = [getattr(parsed_or_none(name), "over_topics", "mean") for name in measures]
    geometric = np.array([one == "geometric" for one in over], dtype=bool)
    limits = np.array([measure_limits(name) for name in measures] * count).reshape(-1, 2).T
    if geometric.any():
        with np.errstate(divide="ignore"):
            limits = np.where(np.tile(geometric, count), np.log(np.maximum(limits, 0.0)), limits)
        values = np.where(geometric, np.log(np.where(geometric, values, 1.0)), values)
    rows = values.transpose(0, 2, 1).reshape(count * asked, topics)
    means = mean_intervals(rows, level=level, limits=(limits[0], limits[1]), seed=seed)
    means = means if biased is None else without_intervals(means, [*biased] * count)
    names = [(system, measure) for system in systems for measure in measures]
    spoken = ["" if measure.endswith(".residual") else f"{measure} of {system}" for system, measure in names]
    shown = ["" if measure.startswith("Judged@") else name for name, (_, measure) in zip(spoken, names, strict=True)]
    for text in (few_topics_note(means, shown), no_spread_note(means, spoken)):
        if text:
            note(text)
    ends = np.stack([means.mean, means.low, means.high], axis=-1)
    counts = np.tile([one == "sum" for one in over], count)
    ends[counts] *= means.topics[counts, None]
    ends[np.tile(geometric, count)] = np.exp(ends[np.tile(geometric, count)])
    return [
        {
            "system": system,
            "measure": measure,
            "mean": mean,
            "low": None if kind in WHY_NONE else low,
            "high": None if kind in WHY_NONE else high,
            "topics": number,
            "interval": "none: one topic" if number == 1 and kind == "none" else WHY_NONE.get(kind, kind),
        }
        for (system, measure), (mean, low, high), number, kind in zip(
            names, ends.tolist(), means.topics.tolist(), means.kind, strict=True
        )
    ]


def measure_limits(name: str) -> tuple[float, float]:
    """The least and the largest value of a measure by its name; without limits where the name is not a measure's."""
    measure = parsed_or_none(name)
    return NO_LIMITS if measure is None else measure.limits


def _number(values: pl.Series, names: pl.Series) -> Ints:
    import polars as pl

    return values.replace_strict(names, np.arange(len(names)), return_dtype=pl.Int64).to_numpy()
