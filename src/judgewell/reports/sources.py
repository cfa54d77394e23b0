"""What a report is made from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from judgewell.text import count, counted, listing

if TYPE_CHECKING:
    from judgewell.evaluation.measures import Measure
    from judgewell.executors import Executor
    from judgewell.formats.runs import Run
    from judgewell.scaling.method import Method


@dataclass(frozen=True)
class GoalEnd:
    """How far a study's goal is, in words, and what an even design would have needed ("" where that is not known)."""

    decide: str  # best, order, or "A or B"
    sentences: tuple[str, ...]
    cost: str = ""
    ended: bool = True


@dataclass(frozen=True)
class CollectedStudy:
    """A study's database in a few tables; only answers of completed units are judgments or pairs."""

    name: str
    hash: str
    judgments: pl.DataFrame | None
    pairs: pl.DataFrame | None
    settings: pl.DataFrame  # setting, value: the frozen study in words
    endings: pl.DataFrame  # ended, units, assessors, answers
    checks: pl.DataFrame  # check, verdicts, failed, share
    topics: pl.DataFrame  # topic, title, needed, completed
    needed: int  # completions of units that the study asks for
    completed: int
    machines: pl.DataFrame = field(default_factory=pl.DataFrame)  # assessors that are models: what they did and took
    spent: float = 0.0  # what was paid for completed units, with the fee
    currency: str = ""
    hours: float = 0.0  # of work in completed units, from taking a unit to finishing it without idle time
    excluded_units: int = 0  # completed and then excluded: they stay paid
    excluded_hours: float = 0.0
    excluded_spent: float = 0.0
    goal: GoalEnd | None = None


@dataclass(frozen=True)
class Sources:
    """The data of a report; everything may be missing.

    `labels` are grades of the same documents by experts or others; runs are scored under the gains first, then under
    every set of labels. `method` makes the gains where none are given. `machine` are label sets by machines. `study`
    describes the study, where the judgments come from its database.
    """

    judgments: pl.DataFrame | None = None
    pairs: pl.DataFrame | None = None
    gains: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    labels: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    machine: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    runs: Sequence[Run] = ()
    measures: Sequence[Measure] = ()
    method: Method | None = None
    draws: int = 200
    worlds: int = 1000
    replicates: int = 1000
    level: float = 0.95
    alpha: float = 0.05
    seed: int = 0
    baseline: str | None = None  # compare all systems with this one, not every pair
    study: CollectedStudy | None = None
    executor: Executor | None = None


def preliminary(study: CollectedStudy | None) -> str:
    """A sentence where a study goes on; empty where all its units are complete, or its goal has ended it."""
    if study is None:
        return ""
    if study.goal is not None:
        return "" if study.goal.ended else "The study has not stopped by its goal yet; results are preliminary."
    if study.completed >= study.needed:
        return ""
    units = f"{count(study.completed)} of {counted(study.needed, 'unit')}"
    return f"{units} are complete; results are preliminary."


def not_people(judgments: pl.DataFrame | None, pairs: pl.DataFrame | None) -> str:
    """A sentence where not all assessors are people; empty where they are, or where nothing is known about them."""
    counts: dict[str, list[str]] = {"synthetic": [], "machine": []}
    for table, one in ((judgments, "judgment"), (pairs, "pairwise judgment")):
        if table is None or "assessor_kind" not in table.columns:
            continue
        for kind, given in counts.items():
            number = table.filter(assessor_kind=kind).height
            whole = "all " if number == table.height else ""
            of = "" if whole else f" of {count(table.height)}"
            if number:
                given.append(f"{whole}{count(number)}{of} {one}{'' if table.height == 1 else 's'}")
    texts = []
    if counts["synthetic"]:
        who = f"{listing(counts['synthetic'])} come from synthetic assessors, not from people"
        texts.append(f"This is a rehearsal: {who}. It shows how the study works, not how relevant the documents are.")
    if counts["machine"]:
        who = listing(counts["machine"])
        texts.append(f"{who[0].upper()}{who[1:]} come from machine assessors (language models), not from people.")
    return " ".join(texts)


def with_codes(judgments: pl.DataFrame | None, pairs: pl.DataFrame | None) -> tuple[pl.DataFrame | None, ...]:
    """The same tables with assessors as A1, A2, …: a page that is passed on should not name people."""
    codes = codes_of(judgments, pairs)
    coded = pl.col("assessor").replace_strict(list(codes), list(codes.values()), default=None, return_dtype=pl.String)
    return tuple(table if table is None else table.with_columns(coded) for table in (judgments, pairs))


def codes_of(*tables: pl.DataFrame | None) -> dict[str, str]:
    """The code of each assessor."""
    given = [table["assessor"].unique() for table in tables if table is not None]
    names = sorted({name for column in given for name in column if name is not None})
    width = len(str(len(names)))
    return {name: f"A{number:0{width}}" for number, name in enumerate(names, 1)}


def note_with_codes(text: str, codes: Mapping[str, str]) -> str:
    """A note with codes in place of assessors' ids, but for those of one or two characters and short numbers, which may
    be anything else."""
    for name in sorted(codes, key=len, reverse=True):
        if len(name) > (5 if name.isdigit() else 2) and name in text:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", codes[name], text)
    return text
