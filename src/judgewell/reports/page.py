"""Parts as one HTML page that opens offline: everything it needs is inside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from judgewell.charts import axes
from judgewell.charts.themes import theme
from judgewell.reports.latex import latex
from judgewell.reports.parts import Figure, Grid, Report
from judgewell.reports.terms import Explained
from judgewell.text import count, head, table_cells

TEMPLATES = Path(__file__).parent / "templates"
MOST_ROWS = 200  # of a table on the page; files hold all
BIN_COLUMNS = ["low", "high", "count"]
FOLDED_ROWS = 12  # a table with more shows ten until it is asked for the rest
MOST_SAID = 6  # files of an option that are named; the inputs hold all
TALL, TALLER = 480, 1000  # pixels of a chart's height
LONG_WORDS = 28  # letters of a cell from which on a column may break its lines


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, and the number to sort by where the text does not tell it."""

    text: str
    sort: str = ""


@dataclass(frozen=True)
class Sheet:
    """A table ready for the page."""

    heads: list[str]
    kinds: list[str]  # of each column: number, word or prose
    rows: list[list[Cell]]
    height: int

    @property
    def folds(self) -> bool:
        return len(self.rows) > FOLDED_ROWS

    @property
    def cut_note(self) -> str:
        """What part of the table is shown, where it is not all."""
        return "" if len(self.rows) == self.height else f"First {count(len(self.rows))} of {count(self.height)} rows."


def render(report: Report, files: str = "") -> str:
    """The page; `files` is the folder with all figures and tables, where there is one."""
    labels, record = dict(_labels(report)), list(_record(report.record))
    values = {"report": report, "parts": report.parts, "labels": labels, "files": files, "record": record}
    return fill_template(TEMPLATES / "page.html", report.figures, values)


def fill_template(template: Path, figures: Sequence[Figure], values: Mapping[str, Any]) -> str:
    """A page of a report's looks and scripts, with these figures and values."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader([template.parent, TEMPLATES])
    environment = Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    explained = Explained()
    environment.filters |= {"tight": tight, "sentence": sentence, "explained": explained}
    shown = environment.get_template(template.name).render(
        **values,
        sheet=sheet,
        latex=_first_rows_as_latex,
        data_of=lambda figure: Grid(figure.name, figure.title, figure.caption, figure.data),
        terms=lambda: explained.listed,
        looks=looks,
        is_figure=lambda item: isinstance(item, Figure),
        style=Markup((TEMPLATES / "report.css").read_text(encoding="utf-8")),
        script=Markup((TEMPLATES / "report.js").read_text(encoding="utf-8")),
        specs=_json({figure.name: specification(figure.chart) for figure in figures}),
        themes=_json({"light": theme(), "dark": theme(dark=True)}),
        libraries=Markup(libraries()) if figures else "",
    )
    return shown.rstrip() + "\n"


@cache
def libraries() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that can be put inside a page."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle()  # type: ignore[call-arg]
    return bundle.replace("</script", r"<\/script")


def specification(chart: Any) -> dict[str, Any]:
    """The chart as Vega-Lite, as wide as the page leaves room for; its theme is added when it is drawn."""
    drawing: dict[str, Any] = chart.to_dict(validate=False)
    drawing.pop("config", None)
    if drawing.get("width") == axes.WIDTH:  # others have a size of their own
        drawing |= {"width": "container", "autosize": {"type": "fit-x", "contains": "padding"}}  # heights are fixed
    return drawing


def looks(items: Sequence[Figure | Grid]) -> dict[str, str]:
    """The classes of each figure of a section, by name.

    wide: takes the whole column; these are small multiples, matrices of many names, and one figure of a row of an odd
    number, so that no figure is alone beside an empty half. small: keeps its own size, beside its caption in a whole
    column. tall, taller: a printed page gives it more room.
    """
    drawings = {item.name: specification(item.chart) for item in items if isinstance(item, Figure)}
    wide = {name for name, drawing in drawings.items() if _is_wide(drawing)}
    row: list[str] = []
    for item in [*items, None]:
        if isinstance(item, Figure) and item.name not in wide:
            row.append(item.name)
            continue
        if len(row) % 2:
            growing = [name for name in row[::2] if drawings[name].get("width") == "container"]
            wide.add(growing[0] if growing else row[-1])
        row = []
    return {
        name: " ".join(
            word
            for word, holds in (
                ("wide", name in wide),
                ("small", _is_small(drawing)),
                ("tall", _height(drawing) > TALL),
                ("taller", _height(drawing) > TALLER),
            )
            if holds
        )
        for name, drawing in drawings.items()
    }


def _is_wide(drawing: Mapping[str, Any]) -> bool:
    width = drawing.get("width")
    return "facet" in drawing or (isinstance(width, int) and width > axes.HALF)


def _height(drawing: Mapping[str, Any]) -> float:
    height = drawing.get("height")
    return height if isinstance(height, int | float) else 0


def _is_small(drawing: Mapping[str, Any]) -> bool:
    width = drawing.get("width")
    return isinstance(width, int) and width <= axes.HALF


def sheet(frame: pl.DataFrame, heads: Mapping[str, str] | None = None) -> Sheet:
    """A frame's first rows as text, with what a click on a heading sorts by."""
    if frame.columns == BIN_COLUMNS:
        heads = {"low": "from", "high": "to"}  # the ends of a bin, not of an interval
    shown = frame.head(MOST_ROWS)
    columns = [_column(shown[name], texts) for name, texts in zip(shown.columns, table_cells(shown), strict=True)]
    return Sheet(
        heads=[(heads or {}).get(name, head(name)) for name in shown.columns],
        kinds=[_kind(shown[name]) for name in shown.columns],
        rows=[list(row) for row in zip(*columns, strict=True)],
        height=frame.height,
    )


def _first_rows_as_latex(grid: Grid) -> str:
    """The rows that the page shows; files hold all."""
    return latex(replace(grid, frame=grid.frame.head(MOST_ROWS)))


def _column(values: pl.Series, texts: list[str]) -> list[Cell]:
    if not values.dtype.is_numeric():
        return [Cell(text) for text in texts]
    unclear = {"·", "<", ">"}
    return [
        Cell(text, f"{value:.6g}" if value is not None and unclear & set(text) else "")
        for text, value in zip(texts, values.to_list(), strict=True)
    ]


def _kind(values: pl.Series) -> str:
    if values.dtype.is_numeric():
        return "number"
    longest = values.cast(pl.String, strict=False).str.len_chars().max() if not values.dtype.is_nested() else 0
    return "prose" if isinstance(longest, int) and longest > LONG_WORDS else "word"


def sentence(text: str) -> str:
    """A note as a sentence: with a capital, unless it begins with the name of a file, and a full stop."""
    of_file = re.match(r"(\S*[./]\S*|[^:]*\.[A-Za-z]\w{0,7}): ", text)
    opening = text if of_file else text[:1].upper() + text[1:]
    return opening + ("" if text.endswith((".", "!", "?")) else ".")


def tight(text: str) -> str:
    """Text whose signs and units stay on the line of their numbers."""
    text = re.sub(r"τ-(?=[abA])", "τ\u2011", text)
    held = re.sub(r" ([=<>≥]) (?=[\d−.])", "\u00a0\\1\u00a0", text)
    return re.sub(r"(?<=[\d]) (?=[%s]\b|%)", "\u00a0", held)


def _labels(report: Report) -> Iterator[tuple[str, str]]:
    """`Figure 3` and `Table 2` by name, numbered through the report."""
    figures = tables = 0
    for part in report.each():
        for item in part.items:
            if isinstance(item, Figure):
                figures += 1
                yield item.name, f"Figure {figures}"
            elif isinstance(item, Grid):
                tables += 1
                yield item.name, f"Table {tables}"


def _record(record: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """How it was made, group by group: name, lines of key and value."""
    settings = [(key, str(value)) for key, value in record.items() if isinstance(value, str | int | float)]
    if settings:
        yield "Command", settings
    for key in ("options", "inputs"):
        lines = [(str(name), _setting_text(value)) for name, value in record.get(key, {}).items()]
        if lines:
            yield {"options": "Options", "inputs": "Inputs (SHA-256)"}[key], lines


def _setting_text(value: Any) -> str:
    if isinstance(value, list | tuple):
        more = f", … ({len(value)} in all)" if len(value) > MOST_SAID else ""
        return ", ".join(map(str, value[:MOST_SAID])) + more or "none"
    return "none" if value is None else "yes" if value is True else "no" if value is False else str(value)


def _json(value: Any) -> Markup:
    """JSON that can be put inside a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return Markup(text.replace("<", r"\u003c").replace("\u2028", r"\u2028").replace("\u2029", r"\u2029"))
