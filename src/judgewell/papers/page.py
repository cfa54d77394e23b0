"""A paper's items as a folder: an offline page, every table as csv and LaTeX, every figure as SVG, PDF and PNG."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from judgewell.formats.provenance import write_record
from judgewell.papers.items import Outcome, Paper
from judgewell.reports.files import write_files
from judgewell.reports.page import Cell, Sheet, fill_template
from judgewell.reports.parts import Figure, Grid, Part, Report
from judgewell.text import counted, plain

HERE = Path(__file__).parent / "templates"


def write(
    paper: Paper,
    outcomes: Sequence[Outcome],
    folder: Path,
    record: Mapping[str, Any],
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write the folder and say where its page is; files of items that are not asked for stay as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    write_files(as_report(paper, outcomes), folder, progress)
    page = folder / "index.html"
    page.write_text(render(paper, outcomes, record), encoding="utf-8")
    write_record(page, record)
    return page


def as_report(paper: Paper, outcomes: Sequence[Outcome]) -> Report:
    """All figures and tables, and the data of every figure as a table of the same name, for their files."""
    parts = []
    for one in outcomes:
        if one.made is None:
            continue
        items: list[Figure | Grid] = list(one.made.shown)
        items += [Grid(it.name, it.title, it.caption, it.data) for it in one.made.shown if isinstance(it, Figure)]
        items += [one.made.printed] if one.made.printed else []
        parts.append(Part(one.item.name, one.item.number, items=tuple(items)))
    return Report(paper.title, paper.source, tuple(parts))


def render(paper: Paper, outcomes: Sequence[Outcome], record: Mapping[str, Any]) -> str:
    """The page; its looks and scripts are those of reports, its numbers of tables and figures are the paper's."""
    figures = [it for one in outcomes if one.made for it in one.made.shown if isinstance(it, Figure)]
    values = {"paper": paper, "outcomes": outcomes, "subtitle": _subtitle(outcomes), "record": record}
    return fill_template(HERE / "paper.html", figures, {**values, "printed_sheet": printed_sheet})


def printed_sheet(frame: pl.DataFrame) -> Sheet:
    """The printed numbers beside ours, each with decimals of its own: one column mixes shares and thousands."""
    rows = [
        [Cell(what), *(Cell(plain(value), "" if value is None else f"{value:.6g}") for value in numbers)]
        for what, *numbers in frame.iter_rows()
    ]
    return Sheet(list(frame.columns), ["prose", *["number"] * (frame.width - 1)], rows, frame.height)


def _subtitle(outcomes: Sequence[Outcome]) -> str:
    """How many items were made from what, and which were not made."""
    lost = [one.item.number for one in outcomes if one.made is None]
    sources = Counter(_source(one) for one in outcomes if one.made is not None)
    made = f"{counted(len(outcomes) - len(lost), 'item')} made"
    if sources:
        made += ": " + ", ".join(f"{count} from {source}" for source, count in sources.most_common())
    return f"{made}; not made: {', '.join(lost)}." if lost else f"{made}."


def _source(outcome: Outcome) -> str:
    """What an item was made from, in a few words."""
    names = (text.partition(":")[0] for text in outcome.made_from)
    return " and ".join(dict.fromkeys(names)) or "the paper's own numbers"
