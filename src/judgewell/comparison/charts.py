"""Pictures of comparisons: scores under two gains with error bars, rank intervals, distributions of tau.

Each is a frame first (`…_points`), so that what is drawn can be read and tested, and then an Altair chart of it.
Altair is loaded only here.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from judgewell.comparison.scores import ScoreArray, aligned
from judgewell.comparison.worlds import Worlds
from judgewell.errors import InputError

SIZE = 380
FORMATS = (".svg", ".pdf", ".png", ".html", ".json")


def score_points(sets: Mapping[str, ScoreArray], *, level: float = 0.95, seed: int = 0) -> pl.DataFrame:
    """Each system's mean in two sets of scores with its interval over topics: system, x, x_low, x_high, y, …"""
    if len(sets) != 2:
        raise InputError(f"{len(sets)} sets of scores", cure="give two to draw one against the other")
    tables = []
    for axis, one in zip("xy", aligned(sets).values(), strict=True):
        means = one.intervals(level, seed)
        ends = {axis: means.mean, f"{axis}_low": means.low, f"{axis}_high": means.high}
        tables.append(pl.DataFrame({"system": one.systems, **ends}).with_columns(pl.col(*ends).fill_nan(None)))
    return tables[0].join(tables[1], on="system", maintain_order="left")


def score_chart(sets: Mapping[str, ScoreArray], *, level: float = 0.95, seed: int = 0) -> Any:
    """A dot for each system: its score under one gains against its score under another, with intervals over topics; on
    the dashed line both are equal."""
    alt = _altair()
    points = score_points(sets, level=level, seed=seed)
    first, second = (f"{one.measure} under {name}" for name, one in sets.items())
    numbers = [number for column in points.drop("system") for number in column.drop_nulls()]
    low, high = min(numbers), max(numbers)
    scale = alt.Scale(domain=[low, high], nice=True, zero=False)
    base = alt.Chart(_data(alt, points)).encode(
        x=alt.X("x:Q", title=first, scale=scale), y=alt.Y("y:Q", title=second, scale=scale), tooltip="system:N"
    )
    across = base.mark_rule(opacity=0.3).encode(x=alt.X("x_low:Q", title=first), x2="x_high:Q")
    along = base.mark_rule(opacity=0.3).encode(y=alt.Y("y_low:Q", title=second), y2="y_high:Q")
    dots = base.mark_circle(size=40, opacity=0.9)
    ends = _data(alt, pl.DataFrame({"x": [low, high], "y": [low, high]}))
    equal = (
        alt.Chart(ends)
        .mark_line(strokeDash=[4, 3], strokeWidth=1, color="grey")
        .encode(x=alt.X("x:Q", title=first, scale=scale), y=alt.Y("y:Q", title=second, scale=scale))
    )
    return (equal + across + along + dots).properties(width=SIZE, height=SIZE)


def rank_points(worlds: Worlds, level: float = 0.95) -> pl.DataFrame:
    """Each system's rank with its interval over worlds, best mean first."""
    return worlds.table(level).select("system", "mean", "rank", "rank_low", "rank_high", "best")


def rank_chart(worlds: Worlds, level: float = 0.95) -> Any:
    """A line for each system over the ranks that the worlds give it, a dot at the middle one."""
    alt = _altair()
    points = rank_points(worlds, level)
    systems = alt.Y("system:N", sort=points["system"].to_list(), title=None)
    base = alt.Chart(_data(alt, points)).encode(y=systems, tooltip=["system:N", "rank_low:Q", "rank:Q", "rank_high:Q"])
    scale = alt.Scale(domain=[1, len(points)], nice=False)
    title = f"rank over {worlds.count:,} worlds ({worlds.over})"
    lines = base.mark_rule(strokeWidth=3, opacity=0.4).encode(
        x=alt.X("rank_low:Q", title=title, scale=scale), x2="rank_high:Q"
    )
    dots = base.mark_circle(size=40, opacity=1).encode(x=alt.X("rank:Q", title=title, scale=scale))
    return (lines + dots).properties(width=SIZE, height=alt.Step(14))


def tau_points(worlds: Mapping[str, Worlds], bins: int = 40) -> pl.DataFrame:
    """How often tau falls into each of equal bins: name, low, high, share."""
    values = {name: one.tau[~np.isnan(one.tau)] for name, one in worlds.items()}
    everything = np.concatenate(list(values.values()))
    if not len(everything):
        raise InputError("no world has a tau", cure="give systems that are not all tied")
    edges = np.histogram_bin_edges(everything, bins=bins)
    rows = []
    for name, taus in values.items():
        counts = np.histogram(taus, bins=edges)[0]
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True):
            rows.append(
                {"name": name, "low": float(low), "high": float(high), "share": float(count / max(1, len(taus)))}
            )
    return pl.DataFrame(rows)


def tau_chart(worlds: Mapping[str, Worlds], bins: int = 40) -> Any:
    """The distribution of tau over worlds, one band for each kind of world."""
    alt = _altair()
    return (
        alt.Chart(_data(alt, tau_points(worlds, bins)))
        .mark_bar(opacity=0.9)
        .encode(
            x=alt.X(
                "low:Q", title="tau-b with the order of the data", bin=alt.Bin(binned=True), scale=alt.Scale(zero=False)
            ),
            x2="high:Q",
            y=alt.Y("share:Q", title="share of worlds"),
            row=alt.Row("name:N", title=None, sort=list(worlds)),
        )
        .properties(width=SIZE, height=90)
    )


def save(chart: Any, path: str | Path) -> None:
    """Write a chart as .svg, .pdf, .png, .html or .json, by the path's ending."""
    if not str(path).endswith(FORMATS):
        raise InputError(f"{path} has no ending that says what to draw", cure=f"end it in {', '.join(FORMATS)}")
    _altair()
    chart.save(str(path))


def _altair() -> Any:
    try:
        importlib.import_module("vl_convert")
        return importlib.import_module("altair")
    except ImportError:
        raise InputError("charts need altair and vl-convert", cure="pip install 'judgewell[report]'") from None


def _data(alt: Any, frame: pl.DataFrame) -> Any:
    return alt.Data(values=frame.to_dicts())
