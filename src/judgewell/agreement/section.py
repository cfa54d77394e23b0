"""What a section of the agreement stage is: a question, what it needs, and tables that carry their own words.

A section is a module of :mod:`judgewell.agreement.sections` with a :class:`Section` called ``SECTION``. Each of its
tables is a function, which says how it is computed and everything a reader sees of it: title, caption, columns, and the
sentences that follow from it. The command and the report show every table of every section and word nothing themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import polars as pl

from judgewell.agreement.evidence import Evidence, has
from judgewell.errors import DataError, collect_notes, note

Get = Callable[[str], pl.DataFrame]
Compute = Callable[[Evidence, Get], pl.DataFrame]
Finding = Callable[[pl.DataFrame], "list[str] | str | None"]

OPEN, FOLDED, FILE = "open", "folded", "file"
PARTS = ("quality", "agreement", "machines", "use", "relevance")  # of a report


@dataclass(frozen=True)
class Table:
    """One table of a section and its words.

    `compute` gets the evidence and a function that gives another table of the section by name. `finding` turns the
    table into sentences. `columns` are shown (all where none are named), under `heads` where the usual heading does not
    do. An OPEN table is in the summary and in the report's body, a FOLDED one in the appendix, a FILE is only written.
    `across_scales` tables look at all scales together; others are made for each scale alone.
    """

    name: str
    title: str
    caption: str
    compute: Compute
    finding: Finding | None = None
    columns: tuple[str, ...] = ()
    heads: Mapping[str, str] = field(default_factory=dict)
    shown: str = FOLDED
    across_scales: bool = False


@dataclass(frozen=True)
class Need:
    """Something a section cannot do without."""

    words: str
    met: Callable[[Evidence], bool]


@dataclass(frozen=True)
class Section:
    """One question put to the data: its name, what it answers, its place, what it needs, and its tables.

    `part` is the part of a report that shows it; `order` its place there and in the command's output.
    """

    name: str
    about: str
    part: str
    order: int
    needs: tuple[Need, ...]
    other_names: tuple[str, ...] = ()  # what it was called in earlier versions
    tables: list[Table] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.part not in PARTS:
            raise ValueError(f"no part of a report is called {self.part!r}; choose {', '.join(PARTS)}")

    def table(
        self,
        title: str,
        *,
        finding: Finding | None = None,
        columns: str = "",
        heads: Mapping[str, str] | None = None,
        shown: str = FOLDED,
        across_scales: bool = False,
    ) -> Callable[[Compute], Compute]:
        """Make a function a table of this section: it computes the table, its name is the table's name, and its
        docstring the caption. `columns` are names with spaces between them."""

        def add(compute: Compute) -> Compute:
            name, caption = compute.__name__.strip("_"), " ".join((compute.__doc__ or "").split())
            names = tuple(columns.split())
            self.tables.append(Table(name, title, caption, compute, finding, names, heads or {}, shown, across_scales))
            return compute

        return add

    def missing(self, evidence: Evidence) -> str | None:
        """What the evidence lacks for this section, or nothing."""
        lacking = [need.words for need in self.needs if not need.met(evidence)]
        return f"needs {' and '.join(lacking)}" if lacking else None


@dataclass(frozen=True)
class Result:
    """A table that was made, with the sentences that follow from it."""

    table: Table
    frame: pl.DataFrame
    findings: tuple[str, ...] = ()

    @property
    def visible(self) -> pl.DataFrame:
        """The columns that are shown; those that hold nothing are not."""
        names = [name for name in self.table.columns if name in self.frame.columns] or self.frame.columns
        filled = [name for name in names if self.frame[name].null_count() < max(1, self.frame.height)]
        return self.frame.select(filled)


@dataclass(frozen=True)
class Outcome:
    """What a section gave: its tables, what could not be analysed and why (by table, or "all"), and its notes."""

    section: Section
    results: tuple[Result, ...] = ()
    not_analysed: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.section.name

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        return {result.table.name: result.frame for result in self.results}


def run_section(section: Section, evidence: Evidence, *, files: bool = True) -> Outcome:
    """The tables of one section; a table that the data do not allow is excluded with its reason.

    `files=False` skips the tables that are only written to files, unless another table needs them.
    """
    lacking = section.missing(evidence)
    if lacking:
        return Outcome(section, not_analysed={"all": lacking})
    results, not_analysed = [], {}
    with collect_notes() as notes:
        run = _Run(section, evidence)
        for table in section.tables:
            if table.shown == FILE and not files:
                continue
            try:
                results.append(run.result(table))
            except DataError as reason:
                not_analysed[table.name] = str(reason)
    return Outcome(section, tuple(results), not_analysed, tuple(notes))


class _Run:
    """The tables of a section, each made once, for the whole or for each scale alone."""

    def __init__(self, section: Section, evidence: Evidence) -> None:
        self.tables = {table.name: table for table in section.tables}
        self.evidence = evidence
        self.made: dict[str, pl.DataFrame | DataError] = {}
        scales = evidence.by_scale()
        self.scales = {scale: _Run(section, part) for scale, part in scales.items()} if len(scales) > 1 else {}

    def result(self, table: Table) -> Result:
        if not self.scales or table.across_scales:
            frame = self.get(table.name)
            return Result(table, frame, _sentences(table, frame))
        frames, reasons = {}, {}
        for scale, run in self.scales.items():
            try:
                frames[scale] = run.get(table.name)
            except DataError as reason:
                reasons[scale] = str(reason)
        if not frames:
            raise DataError("; ".join(dict.fromkeys(reasons.values())))
        for scale, reason_text in reasons.items():
            note(f"{table.title} was not computed on the scale {scale}: {reason_text}")
        texts = [[f"Scale {scale}: {text}" for text in _sentences(table, frame)] for scale, frame in frames.items()]
        findings = [text for turn in zip_longest(*texts) for text in turn if text]  # the first of every scale first
        named = [
            frame.drop("scale", strict=False).select(pl.lit(scale).alias("scale"), pl.all())
            for scale, frame in frames.items()
        ]
        shown = replace(table, columns=("scale", *table.columns) if table.columns else ())
        return Result(shown, pl.concat(named, how="diagonal_relaxed"), tuple(findings))

    def get(self, name: str) -> pl.DataFrame:
        if name not in self.made:
            try:
                self.made[name] = self.tables[name].compute(self.evidence, self._needed)
            except DataError as reason:
                self.made[name] = reason
        made = self.made[name]
        if isinstance(made, DataError):
            raise made
        return made

    def _needed(self, name: str) -> pl.DataFrame:
        try:
            return self.get(name)
        except DataError as reason:
            raise DataError(f"needs the table {name}: {reason}") from None


def _sentences(table: Table, frame: pl.DataFrame) -> tuple[str, ...]:
    if table.finding is None or frame.is_empty():
        return ()
    text = table.finding(frame)
    return () if not text else (text,) if isinstance(text, str) else tuple(text)


# What sections need ---------------------------------------------------------------------------------------------------

JUDGED = Need("judgments", lambda e: e.judgments is not None)
PAIRED = Need("pairs with a preference", lambda e: has(e.pairs, "preferred"))
LABELLED_PAIRS = Need("pairs with relevant or not", lambda e: has(e.pairs, "left_relevant"))
WORK = Need("judgments or pairs", lambda e: e.judgments is not None or e.pairs is not None)
NAMED = Need("assessors' names", lambda e: has(e.judgments, "assessor") or has(e.pairs, "assessor"))
SCORED = Need("judgments or gains", lambda e: e.has_gains)
LABELS = Need("labels to compare with", lambda e: bool(e.labels))
POSITIONS = Need("positions in the unit", lambda e: has(e.judgments, "position"))
KNOWN = Need("known documents (H and N)", lambda e: has(e.judgments, "known") or has(e.pairs, "left_known"))
TIMED = Need("times", lambda e: has(e.judgments, "seconds") or has(e.pairs, "seconds"))
