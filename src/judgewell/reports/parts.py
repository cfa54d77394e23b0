"""What a report is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import polars as pl

Place = Literal["body", "details", "appendix"]  # where a report shows something


@dataclass(frozen=True)
class Finding:
    """A sentence worked out from the data, and the figure or grid that it can be checked against."""

    text: str
    source: str = ""  # the name of a figure or grid; empty where the sentence needs none


@dataclass(frozen=True)
class Figure:
    """A chart with its caption; `chart` is an Altair chart, `data` the small table it shows."""

    name: str  # a file's name without ending
    title: str
    caption: str
    chart: Any
    data: pl.DataFrame
    place: Place = "details"


@dataclass(frozen=True)
class Grid:
    """A table with its caption: the whole frame goes to files, `columns` of it (all unless named) on the page.

    `heads` gives columns other headings.
    """

    name: str
    title: str
    caption: str
    frame: pl.DataFrame
    columns: tuple[str, ...] = ()
    heads: Mapping[str, str] = field(default_factory=dict)
    place: Place = "appendix"

    @property
    def shown(self) -> pl.DataFrame:
        """The columns that the page shows; those that hold nothing are left out."""
        frame = self.frame.select([name for name in self.columns if name in self.frame.columns] or pl.all())
        return frame.select([name for name in frame.columns if frame[name].null_count() < max(1, frame.height)])


@dataclass(frozen=True)
class Part:
    """A section of the report: what was found, what shows it, what it rests on, and sections inside it.

    The first `lead` findings belong to the answer to which the section contributes, the others to the details.
    """

    name: str
    title: str
    findings: tuple[Finding, ...] = ()
    items: tuple[Figure | Grid, ...] = ()
    notes: tuple[str, ...] = ()
    groups: tuple[Part, ...] = ()
    lead: int = 1

    @property
    def empty(self) -> bool:
        return not (self.findings or self.items or self.notes or self.groups)

    def at(self, place: Place) -> tuple[Figure | Grid, ...]:
        """The items that belong to one place of the report."""
        return tuple(item for item in self.items if item.place == place)

    def each(self) -> Iterator[Part]:
        """This section and those inside it."""
        yield self
        for group in self.groups:
            yield from group.each()


@dataclass(frozen=True)
class NotAnalysed:
    """An analysis that the data do not allow, and why."""

    section: str
    analysis: str
    reason: str


@dataclass(frozen=True, repr=False)
class Report:
    """The whole: its title, its parts in order, and how it was made."""

    title: str
    subtitle: str
    parts: tuple[Part, ...]
    record: Mapping[str, Any] = field(default_factory=dict)
    notice: str = ""  # what a reader must know before anything else

    def save(self, page: str | Path, *, files: bool = False, progress: Any = None) -> None:
        """Write the page; with `files` also every figure and table into a folder beside it."""
        from judgewell.reports.files import files_folder, write_files
        from judgewell.reports.page import render

        folder = files_folder(Path(page))
        if files:
            write_files(self, folder, progress)
        Path(page).write_text(render(self, folder.name if files else ""), encoding="utf-8")

    def __repr__(self) -> str:
        lines = [f"{part.title}: {finding.text}" for part in self.each() for finding in part.findings]
        return "\n".join([self.title, self.subtitle, *filter(None, [self.notice]), *lines])

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre style='white-space: pre-wrap'>{escape(repr(self))}</pre>"

    def each(self) -> Iterator[Part]:
        """Every section, and those inside it, in order."""
        for part in self.parts:
            yield from part.each()

    @property
    def figures(self) -> list[Figure]:
        return [item for part in self.each() for item in part.items if isinstance(item, Figure)]

    @property
    def grids(self) -> list[Grid]:
        return [item for part in self.each() for item in part.items if isinstance(item, Grid)]
