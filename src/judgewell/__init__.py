"""judgewell: relevance judgments on any scale, turned into real-valued gains, measured and compared.

The public API is what is named here; each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from judgewell._version import __version__
from judgewell.extras import how_to_install

if TYPE_CHECKING:
    from judgewell.analysis.agree import agree
    from judgewell.analysis.compare import compare
    from judgewell.assessors.simulate import simulate
    from judgewell.client import Client
    from judgewell.commands.reporting import report
    from judgewell.evaluation.evaluate import evaluate
    from judgewell.evaluation.measures import parse as parse_measure
    from judgewell.evaluation.summary import summarise
    from judgewell.formats.gains import read_gains
    from judgewell.scaling.scale import scale

_HOMES = {
    "agree": ("judgewell.analysis.agree", "agree"),
    "Client": ("judgewell.client", "Client"),
    "compare": ("judgewell.analysis.compare", "compare"),
    "evaluate": ("judgewell.evaluation.evaluate", "evaluate"),
    "parse_measure": ("judgewell.evaluation.measures", "parse"),
    "read_gains": ("judgewell.formats.gains", "read_gains"),
    "report": ("judgewell.commands.reporting", "report"),
    "scale": ("judgewell.scaling.scale", "scale"),
    "simulate": ("judgewell.assessors.simulate", "simulate"),
    "summarise": ("judgewell.evaluation.summary", "summarise"),
}

__all__ = [
    "Client",
    "__version__",
    "agree",
    "compare",
    "evaluate",
    "parse_measure",
    "read_gains",
    "report",
    "scale",
    "simulate",
    "summarise",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'judgewell' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    try:
        return getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        error.add_note(how_to_install(error) or "")
        raise
