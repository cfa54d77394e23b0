"""Many values as a few counts, so that a chart of a hundred thousand judgments stays small."""

from __future__ import annotations

import numpy as np
import polars as pl

from judgewell.stats.arrays import Floats

BINS = 40  # at most
GROUPS, IN_A_GROUP = 60, 15  # groups at most, and documents of a group at least
SINGLE = 120  # whole values up to this range get a bar each, where they are many
FEW_VALUES = 20  # and up to this range always
IN_A_BAR = 5  # values for each such bar that make them many
PARTS_OF_TEN = (20, 10, 8, 5, 4, 3, 2, 1)  # equal bins of a power of ten on a logarithmic axis


def on_a_log_axis(values: pl.Series, ratio: bool = False) -> bool:
    """Ratio scales have a logarithmic axis, and so have other values above 0 that span three powers of ten."""
    least, greatest = values.min(), values.max()
    return bool(least is not None and least > 0 and (ratio or greatest / least >= 1000))  # type: ignore[operator]


def binned(values: pl.Series, *, log: bool = False) -> pl.DataFrame:
    """Counts in equal bins of a round width (equal on a log scale if asked), as many as the data allow: low, high,
    count; whole values get one each where these are few or the values many."""
    array = values.drop_nulls().to_numpy().astype(np.float64)
    if not len(array):
        return pl.DataFrame(schema={"low": pl.Float64, "high": pl.Float64, "count": pl.Int64})
    whole = bool((array == np.round(array)).all())
    if log:
        edges = _log_edges(np.log10(array))
    else:
        width = 1.0 if whole and _one_bar_each(array) else round_width(array, whole=whole)
        middle = 0.5 if whole and width == 1 else 0.0  # a bar of one number lies around it
        edges = _multiples(array + middle, width) - middle
    edges[0], edges[-1] = min(edges[0], array.min()), max(edges[-1], array.max())
    counts = np.histogram(array, bins=edges)[0]
    return pl.DataFrame({"low": edges[:-1], "high": edges[1:], "count": counts}).with_columns(
        pl.col("low", "high").round_sig_figs(12)
    )


def _multiples(array: Floats, width: float) -> Floats:
    """The multiples of a width around the data; what equals the last of them belongs to the bin below it."""
    low, high = np.floor(array.min() / width + 1e-9), np.ceil(array.max() / width - 1e-9)
    return np.arange(low, max(low + 1, high) + 1) * width


def round_width(array: Floats, *, whole: bool = False) -> float:
    """1, 2 or 5 times a power of ten, nearest to the width of the data's bins, and not so small that bins are too many.
    Whole numbers have no smaller bins than 1."""
    wanted = max(_width(array), np.ptp(array) / BINS, 1.0 if whole else 0.0) or 1.0
    powers = range(int(np.floor(np.log10(wanted))) - 1, int(np.ceil(np.log10(wanted))) + 2)
    widths = [float(f"{factor}e{power}") for power in powers for factor in (1, 2, 5)]
    allowed = [width for width in widths if np.ptp(array) / width <= BINS and (width >= 1 or not whole)]
    return min(allowed, key=lambda width: abs(np.log(width / wanted)))


def _width(array: Floats) -> float:
    """Freedman and Diaconis' 2 · IQR / n^(1/3), or that of 2 n^(1/3) bins where the data have no tails to speak of or
    the middle half is a single value."""
    q1, q3 = np.quantile(array, [0.25, 0.75])
    spread = 2 * (q3 - q1)
    return float(min(spread or np.inf, np.ptp(array) / 2) / np.cbrt(len(array)))


def _log_edges(powers: Floats) -> Floats:
    """Edges that divide powers of ten equally."""
    wanted = max(_width(powers), np.ptp(powers) / BINS)
    parts = next((parts for parts in PARTS_OF_TEN if wanted * parts <= 1.2), 1)
    return np.asarray(10.0 ** _multiples(powers, 1 / parts))


def _one_bar_each(array: Floats) -> bool:
    return bool(np.ptp(array) <= FEW_VALUES or (np.ptp(array) <= SINGLE and len(array) >= IN_A_BAR * np.ptp(array)))


def ordered_groups(frame: pl.DataFrame) -> pl.DataFrame:
    """Documents from the lowest gain to the highest in groups of equal size: x (per cent), medians as y, low, high."""
    place = (pl.int_range(pl.len()) + 0.5) / pl.len() * 100
    groups = min(GROUPS, max(1, frame.height // IN_A_GROUP))
    group = (pl.int_range(pl.len()) * groups // pl.len()).alias("group")
    ranked = frame.sort("gain", "topic", "doc").with_columns(place.alias("x"), group)
    ends = [pl.col(name).median() for name in ("low", "high")]
    return (
        ranked.group_by("group", maintain_order=True)
        .agg(pl.col("x").mean(), pl.col("gain").median().alias("y"), *ends, pl.len().alias("documents"))
        .drop("group")
    )
