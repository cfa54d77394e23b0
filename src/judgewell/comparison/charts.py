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
    marks = _marks()
    points = score_points(sets, level=level, seed=seed).rename({"system": "name"})
    return marks.scatter(points, *(f"{one.measure} under {name}" for name, one in sets.items()), "system")


def rank_chart(worlds: Worlds, level: float = 0.95) -> Any:
    """A line for each system over the ranks that the worlds give it, a dot at the middle one."""
    marks = _marks()
    points = worlds.table(level).select(name="system", value="rank", low="rank_low", high="rank_high")
    title = f"rank over {worlds.count:,} worlds ({worlds.over})"
    return marks.dots(points, "", title, domain=(1, len(points)), whole=True)


def tau_points(worlds: Mapping[str, Worlds], bins: int = 40) -> pl.DataFrame:
    """How often tau falls into each of equal bins: name, low, high, share."""
    values = {name: one.tau[~np.isnan(one.tau)] for name, one in worlds.items()}
    everything = np.concatenate(list(values.values()))
    if not len(everything):
        raise InputError("no world has a tau", cure="give systems that are not all tied")
    edges = np.histogram_bin_edges(everything, bins=bins)
    return pl.concat(
        pl.DataFrame(
            {"low": edges[:-1], "high": edges[1:], "share": np.histogram(taus, edges)[0] / max(1, len(taus))}
        ).select(pl.lit(name).alias("name"), pl.all())
        for name, taus in values.items()
    )


def tau_chart(worlds: Mapping[str, Worlds]) -> Any:
    """The distribution of tau over worlds, a line for each kind of world."""
    marks = _marks()
    middle = (pl.col("low") + pl.col("high")) / 2
    points = tau_points(worlds).select(x=middle, y="share", kind="name")
    return marks.curves(points, "tau-b with the order of the data", "share of worlds", list(worlds))


def save(chart: Any, path: str | Path) -> None:
    """Write a chart as .svg, .pdf, .png, .html or .json, by the path's ending."""
    if not str(path).endswith(FORMATS):
        raise InputError(f"{path} has no ending that says what to draw", cure=f"end it in {', '.join(FORMATS)}")
    altair()
    if str(path).endswith((".html", ".json")):
        chart.save(str(path))
        return
    from judgewell.charts.drawing import draw, specification

    draw(specification(chart), Path(path))


def themed(chart: Any) -> Any:
    """A chart in the look of all charts, wherever it is shown."""
    from judgewell.charts.themes import theme

    chart.config = {**theme(), "background": "white"}
    return chart


def _marks() -> Any:
    altair()
    return importlib.import_module("judgewell.charts.marks")


def altair() -> Any:
    """The package that draws, or an error that says how to install it."""
    try:
        importlib.import_module("vl_convert")
        return importlib.import_module("altair")
    except ImportError:
        raise InputError("charts need altair and vl-convert", cure="pip install 'judgewell[report]'") from None
