"""Every figure as SVG, PDF and PNG, every grid as CSV and LaTeX, in a folder beside the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from judgewell.reports.latex import latex
from judgewell.reports.parts import Grid, Report
from judgewell.reports.themes import theme


def files_folder(page: Path) -> Path:
    """The folder of a page's files: report_files beside report.html."""
    return page.with_name(f"{page.stem}_files")


def write_files(report: Report, folder: Path, progress: Callable[[int, int], None] | None = None) -> list[Path]:
    """Write them all and say which; files of a report before that has more stay as they are."""
    written: list[Path] = []
    figures, tables = folder / "figures", folder / "tables"
    done, total = 0, len(report.figures) + len(report.grids)
    for place in (figures, tables):
        place.mkdir(parents=True, exist_ok=True)
    for figure in report.figures:
        written += _draw(specification(figure.chart), figures / figure.name)
        done += 1
        _step(progress, done, total)
    for grid in report.grids:
        written += _write(grid, tables / grid.name)
        done += 1
        _step(progress, done, total)
    return written


def specification(chart: Any) -> dict[str, Any]:
    """The chart as Vega-Lite, in the light theme."""
    drawing: dict[str, Any] = chart.to_dict(validate=False)
    return {**drawing, "config": {**theme(), "background": "white"}}


def svg(spec: dict[str, Any]) -> str:
    """The chart drawn; what it names inside (gradients, clips) is numbered from 0, not from what was drawn before."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(spec)
    names = dict.fromkeys(re.findall(r"\b(?:gradient_|clip)\d+\b", drawn))
    numbers = {name: f"{name.rstrip('0123456789')}{place}" for place, name in enumerate(names)}
    return re.sub(r"\b(?:gradient_|clip)\d+\b", lambda match: numbers[match[0]], drawn)


def pdf(spec: dict[str, Any]) -> bytes:
    """The chart as PDF; lists of what a page uses, which are written in any order, are sorted."""
    import vl_convert

    drawn: bytes = vl_convert.vegalite_to_pdf(spec)
    return re.sub(
        rb"(?<= <<\n)(?:\s+/\w+ \d+ 0 R\n){2,}", lambda match: b"".join(sorted(match[0].splitlines(True))), drawn
    )


def _draw(spec: dict[str, Any], path: Path) -> list[Path]:
    import vl_convert

    drawing, print_out, picture = (path.with_name(f"{path.name}.{ending}") for ending in ("svg", "pdf", "png"))
    drawing.write_text(svg(spec), encoding="utf-8")
    print_out.write_bytes(pdf(spec))
    picture.write_bytes(vl_convert.vegalite_to_png(spec, scale=2))
    return [drawing, print_out, picture]


def _write(grid: Grid, path: Path) -> list[Path]:
    csv, tex = path.with_name(f"{path.name}.csv"), path.with_name(f"{path.name}.tex")
    _flat(grid.frame).write_csv(csv)
    tex.write_text(latex(grid), encoding="utf-8")
    return [csv, tex]


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Lists as words, which is all that CSV holds."""
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    return (
        frame.with_columns(pl.col(nested).list.eval(pl.element().cast(pl.String)).list.join(" ")) if nested else frame
    )


def _step(progress: Callable[[int, int], None] | None, done: int, total: int) -> None:
    if progress:
        progress(done, total)
