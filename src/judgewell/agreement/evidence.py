"""What a section of the agreement report is: the evidence it looks at, what it needs, and what comes out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import polars as pl

from judgewell.agreement import common, stability
from judgewell.errors import DataError, JudgewellWarning

Tables = Mapping[str, pl.DataFrame]


@dataclass(frozen=True)
class Evidence:
    """What there is to look at; leave out what is not known.

    `labels` holds expert levels or other labels by name, `gains` the documents' scores (the plain medians of the
    judgments where none are given), `scores` systems' scores (for topic difficulty), `likes` answers to which question
    was liked, `lengths` documents' lengths, `score` the function that turns pairs into gains, and `metrics` the metrics
    of alpha that are wanted (all that the values allow where none are named).
    """

    judgments: pl.DataFrame | None = None
    pairs: pl.DataFrame | None = None
    labels: Tables = field(default_factory=dict)
    gains: pl.DataFrame | None = None
    scores: pl.DataFrame | None = None
    likes: pl.DataFrame | None = None
    lengths: pl.DataFrame | None = None
    score: stability.Score | None = None
    metrics: tuple[str, ...] = ()
    replicates: int = 1000
    seed: int = 0

    @property
    def has_gains(self) -> bool:
        return self.gains is not None or self.judgments is not None

    def document_gains(self) -> pl.DataFrame:
        if self.gains is not None:
            return self.gains
        common.tell("no gains are given: documents are scored by the plain median of their values")
        return common.document_medians(self.judgments)

    def offset(self) -> float:
        """1 where values of 0 would spoil ratios (a scale from 0 to 100), else 0."""
        if self.judgments is None or common.judgments_of(self.judgments)["value"].min() != 0:
            return 0.0
        common.tell("some values are 0: ratios are taken after adding 1 to all values")
        return 1.0

    def unknown_documents(self) -> pl.DataFrame:
        """The judgments without known documents: assessors must order those to pass, so they agree on them."""
        frame = given(self.judgments)
        if "known" not in frame.columns or frame["known"].null_count() == frame.height:
            return frame
        common.tell("known documents, which every assessor had to tell apart, are left out of comparisons of assessors")
        return frame.filter(pl.col("known").is_null())


@dataclass(frozen=True)
class Need:
    """Something a section cannot do without."""

    says: str
    met: Callable[[Evidence], bool]


Step = Callable[[Evidence, Tables], pl.DataFrame]


@dataclass(frozen=True)
class Section:
    """One question put to the data: its name, what it answers, what it needs, and how each of its tables is made.

    A step gets the evidence and the tables made before it.
    """

    name: str
    about: str
    needs: tuple[Need, ...]
    steps: Mapping[str, Step]

    def missing(self, evidence: Evidence) -> str | None:
        """What the evidence lacks for this section, or nothing."""
        lacking = [need.says for need in self.needs if not need.met(evidence)]
        return f"needs {' and '.join(lacking)}" if lacking else None


@dataclass(frozen=True)
class Outcome:
    """What a section gave: its tables, what was left out and why (by table, or "all"), and what it assumed."""

    name: str
    about: str
    tables: dict[str, pl.DataFrame]
    left_out: dict[str, str]
    notes: tuple[str, ...]


def run_section(section: Section, evidence: Evidence) -> Outcome:
    """The tables of one section; a table that the data do not allow is left out with its reason."""
    lacking = section.missing(evidence)
    if lacking:
        return Outcome(section.name, section.about, {}, {"all": lacking}, ())
    tables: dict[str, pl.DataFrame] = {}
    left_out: dict[str, str] = {}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", JudgewellWarning)
        for name, step in section.steps.items():
            try:
                tables[name] = step(evidence, tables)
            except DataError as reason:
                left_out[name] = str(reason)
    notes = tuple(dict.fromkeys(str(w.message) for w in heard if issubclass(w.category, JudgewellWarning)))
    for other in (w for w in heard if not issubclass(w.category, JudgewellWarning)):
        warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    return Outcome(section.name, section.about, tables, left_out, notes)


def given(frame: pl.DataFrame | None, name: str = "judgments") -> pl.DataFrame:
    """A table that is there, or the words that it is not."""
    if frame is None:
        raise DataError(f"needs {name}, which are not given")
    return frame


def made(tables: Tables, name: str) -> pl.DataFrame:
    """A table that an earlier step made."""
    if name not in tables:
        raise DataError(f"needs the table {name}, which was left out")
    return tables[name]


def has(frame: pl.DataFrame | None, column: str) -> bool:
    return frame is not None and column in frame.columns and frame[column].null_count() < frame.height
