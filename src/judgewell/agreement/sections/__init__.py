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

from judgewell.agreement.evidence import Evidence
from judgewell.agreement.section import Need, Outcome, Result, Section, Table, run_section

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


def run_sections(evidence: Evidence, sections: Sequence[Section] | None = None) -> Iterator[Outcome]:
    """The outcome of every section in turn, so that a progress bar can follow."""
    for section in all_sections() if sections is None else sections:
        yield run_section(section, evidence)
