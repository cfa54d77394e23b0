"""The sections of the agreement stage, one module each: a question, what it needs, and tables with their words.

A new section is a new module here with a :class:`~judgewell.agreement.section.Section` called ``SECTION``; the command
and the report find it by themselves.

    for section in all_sections():
        outcome = run_section(section, Evidence(judgments=judgments))
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from judgewell.agreement.evidence import Evidence
from judgewell.agreement.section import Need, Outcome, Result, Section, Table, run_section
from judgewell.executors import Executor

__all__ = [
    "Evidence",
    "Need",
    "Outcome",
    "Result",
    "Section",
    "Table",
    "all_sections",
    "run_section",
    "run_sections",
    "section_named",
]


@functools.cache
def all_sections() -> tuple[Section, ...]:
    """Every section there is, in order."""
    modules = [importlib.import_module(module.name) for module in pkgutil.iter_modules(__path__, f"{__name__}.")]
    return tuple(sorted((module.SECTION for module in modules), key=lambda section: (section.order, section.name)))


def section_named(name: str) -> Section | None:
    """The section of that name, or of that name in an earlier version."""
    return next((one for one in all_sections() if name == one.name or name in one.other_names), None)


def run_sections(
    evidence: Evidence,
    sections: Sequence[Section] | None = None,
    executor: Executor | None = None,
    *,
    files: bool = True,
) -> Iterator[Outcome]:
    """The outcome of every section in turn; an executor's workers make them side by side."""
    chosen = all_sections() if sections is None else sections
    if executor is None:
        yield from (run_section(section, evidence, files=files) for section in chosen)
        return
    shared = executor.share((replace(evidence, progress=None), files))
    packed = executor.map(_packed_outcome, [section.name for section in chosen], shared)
    for section, (results, not_analysed, notes) in zip(chosen, packed, strict=True):
        tables = {table.name: table for table in section.tables}
        own = [Result(replace(tables[name], columns=shown), frame, texts) for name, shown, frame, texts in results]
        yield Outcome(section, tuple(own), not_analysed, notes)


def _packed_outcome(name: str, shared: tuple[Evidence, bool]) -> tuple[Any, ...]:
    """A section's outcome without what cannot travel: the functions of its tables."""
    section = section_named(name)
    assert section is not None
    outcome = run_section(section, shared[0], files=shared[1])
    results = [(one.table.name, one.table.columns, one.frame, one.findings) for one in outcome.results]
    return results, dict(outcome.not_analysed), outcome.notes
