"""How large charts are, where their axes end and have ticks, and the numbers they are drawn from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import count
from typing import Any

import altair as alt
import polars as pl

WIDTH, HEIGHT = 640, 260
SQUARE = 340
HALF = 400  # what fits beside another figure
MOST_TICKS = 12
FEW_TICKS = 8  # of numbers that are not whole
BESIDE_NAMES = 6  # ticks that fit where names take half of a narrow chart
MOST_POWERS = 6  # of ten with a label on a narrow chart
DIGITS = 6  # significant digits that a chart needs

Chart = alt.Chart | alt.LayerChart


def log_axis(shown: Iterable[float | None]) -> dict[str, Any]:
    """Scale and axis of numbers above 0: ticks at 1, 2 and 5 times the powers of ten, closer where the axis is short,
    at the powers alone where they are many, at every second one where they are more; the axis ends where the numbers
    do."""
    numbers = [number for number in shown if number is not None and number > 0]
    low, high = 0.85 * min(numbers, default=1), 1.18 * max(numbers, default=10)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors: tuple[float, ...] = (1, 2, 5) if len(powers) <= 5 else (1,)
    if high / low < 6:
        factors = (1, 1.5, 2, 3, 4, 6, 8)
    apart = -(-len(powers) // MOST_POWERS)
    ticks = [float(f"{factor}e{power}") for power in powers if power % apart == 0 for factor in factors]
    scale = alt.Scale(type="log", nice=False, domain=[short(low), short(high)])
    shown_ticks = [tick for tick in ticks if low <= tick <= high]
    return {"scale": scale, "axis": alt.Axis(values=shown_ticks, format=",~r", labelOverlap="greedy")}


def round_axis(**more: Any) -> alt.Axis:
    """Ticks at round numbers, 0 among them, as many as have room for their labels."""
    return alt.Axis(tickCount=alt.ExprRef("max(4, floor(width / 70))"), **more)


def round_ends(low: float, high: float) -> tuple[float, float, float]:
    """The axis around two numbers: its ends, and the step between its ticks."""
    width = high - low or 1.0
    step = next(step for step in _steps(math.floor(math.log10(width)) - 2) if width / step <= FEW_TICKS)
    return math.floor(low / step) * step, math.ceil(high / step) * step, step


def _steps(first: int) -> Iterator[float]:
    return (float(f"{factor}e{power}") for power in count(first) for factor in (1, 2, 5))


def whole_axis(shown: Iterable[float], most: int = MOST_TICKS, **more: Any) -> alt.Axis:
    """Ticks at whole numbers, equally far apart: Vega's own smallest step does not hold for bins and short axes. Where
    numbers begin at 1, as ranks do, the first tick is at 1."""
    numbers = list(shown)
    low, high = min(numbers, default=0), max(numbers, default=1)
    step = int(next(step for step in _steps(0) if (high - low) / step <= most))
    values = list(range(math.ceil(low / step) * step, math.floor(high) + 1, step))
    if math.ceil(low) == 1 and step > 1:
        values = list(range(1, math.floor(high) + 1, step)) if step == 2 else [1, *values]
    return alt.Axis(values=values, format=",d", **more)


def counts_axis(counts: pl.Series) -> alt.Axis:
    """No ticks between whole numbers where counts are small; shares and densities keep theirs."""
    few = counts.dtype.is_integer() and all(count < FEW_TICKS for count in counts)
    return whole_axis([0, *counts]) if few else alt.Axis()


def sized(chart: Any, height: Any = HEIGHT, width: Any = WIDTH) -> Chart:
    sized: Chart = chart.properties(width=width, height=height)
    return sized


def squared(chart: Any) -> Chart:
    """A chart as a square that fits beside another figure."""
    return sized(chart, SQUARE, SQUARE)


def short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def data_of(frame: pl.DataFrame) -> Any:
    """The table inside the chart, its numbers with the digits that a picture can show."""
    rounded = frame.with_columns(pl.selectors.float().round_sig_figs(DIGITS))
    return alt.Data(
        values=[{key: value for key, value in row.items() if value is not None} for row in rounded.to_dicts()]
    )  # type: ignore[no-untyped-call]
