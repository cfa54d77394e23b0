"""Every figure as SVG, PDF and PNG, every grid as CSV and LaTeX, in a folder beside the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from judgewell.charts.drawing import draw, specification
from judgewell.reports.latex import latex
from judgewell.reports.parts import Grid, Report


def files_folder(page: Path) -> Path:
    """The folder of a page's files: report_files beside report.html."""
    return page.with_name(f"{page.stem}_files")


def write_files(report: Report, folder: Path, progress: Callable[[int, int], None] | None = None) -> list[Path]:
    """Write them all and say which; files of a report before that has more stay as they are."""
    written: list[Path] = []
    figures, tables = folder / "figures", folder / "tables"
    step = progress or (lambda done, total: None)
    total = len(report.figures) + len(report.grids)
    for place in (figures, tables):
        place.mkdir(parents=True, exist_ok=True)
    for done, figure in enumerate(report.figures, 1):
        spec = specification(figure.chart)
        for ending in ("svg", "pdf", "png"):
            written.append(figures / f"{figure.name}.{ending}")
            draw(spec, written[-1])
        step(done, total)
    for done, grid in enumerate(report.grids, len(report.figures) + 1):
        written += _write(grid, tables / grid.name)
        step(done, total)
    return written


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
