"""The measures: one frozen dataclass each, called on arrays of gains whose last axis is the rank.

`parse("nDCG@10")` gives a measure; `from judgewell.evaluation.measures import nDCG` gives its class; `all_measures()`
gives all classes by name. Adding one is adding its class to a module of this package; `base` says how they are called.
"""

from __future__ import annotations

from typing import Any

from judgewell.evaluation.measures.base import JudgedOnly, Measure, Residual, residual_of
from judgewell.evaluation.measures.names import (
    all_measures,
    describe_all,
    find_measure,
    measure_text,
    measures_in,
    module_names,
    parse,
    parse_all,
    parsed_or_none,
    with_rel,
)
from judgewell.evaluation.measures.ranks import Array
from judgewell.evaluation.measures.ties import average_over_ties, expected_over_ties, spread_over_ties

__all__ = [
    "Array",
    "JudgedOnly",
    "Measure",
    "Residual",
    "all_measures",
    "average_over_ties",
    "describe_all",
    "expected_over_ties",
    "find_measure",
    "measure_text",
    "parse",
    "parse_all",
    "parsed_or_none",
    "residual_of",
    "spread_over_ties",
    "with_rel",
]


def __getattr__(name: str) -> Any:
    """A measure's class by the name of the class or of the measure, so that none has to be listed here."""
    for cls in (cls for module in module_names() for cls in measures_in(module)):
        if name in (cls.__name__, cls.name, *cls.other_names):
            return cls
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
