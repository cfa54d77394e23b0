"""Many values as a few counts, so that a chart of a hundred thousand judgments stays small."""

from __future__ import annotations

import numpy as np
import polars as pl

BINS = 40
GROUPS = 60
SINGLE = 120  # whole values up to this range get a bar each


def on_a_log_axis(values: pl.Series, ratio: bool = False) -> bool:
    """Ratio scales have a logarithmic axis, and so have other values above 0 that span three powers of ten."""
    least, greatest = values.min(), values.max()
    return bool(least is not None and least > 0 and (ratio or greatest / least >= 1000))  # type: ignore[operator]


def binned(values: pl.Series, *, log: bool = False, bins: int = BINS) -> pl.DataFrame:
    """Counts in equal bins (equal on a log scale if asked): low, high, count; whole values of few get one each."""
    array = values.drop_nulls().to_numpy().astype(np.float64)
    if not len(array):
        return pl.DataFrame(schema={"low": pl.Float64, "high": pl.Float64, "count": pl.Int64})
    if not log and np.ptp(array) <= SINGLE and (array == np.round(array)).all():
        edges = np.arange(array.min(), array.max() + 2) - 0.5
    elif log:
        edges = np.geomspace(array.min(), array.max(), bins + 1)
    else:
        edges = np.histogram_bin_edges(array, bins=bins)
    edges[-1] = max(edges[-1], array.max())
    counts = np.histogram(array, bins=edges)[0]
    return pl.DataFrame({"low": edges[:-1], "high": edges[1:], "count": counts})


def ordered_groups(frame: pl.DataFrame) -> pl.DataFrame:
    """Documents from the lowest gain to the highest in groups of equal size: x (per cent), medians as y, low, high."""
    place = (pl.int_range(pl.len()) + 0.5) / pl.len() * 100
    group = (pl.int_range(pl.len()) * min(GROUPS, max(1, frame.height)) // pl.len()).alias("group")
    ranked = frame.sort("gain", "topic", "doc").with_columns(place.alias("x"), group)
    ends = [pl.col(name).median() for name in ("low", "high")]
    return (
        ranked.group_by("group", maintain_order=True)
        .agg(pl.col("x").mean(), pl.col("gain").median().alias("y"), *ends, pl.len().alias("documents"))
        .drop("group")
    )
