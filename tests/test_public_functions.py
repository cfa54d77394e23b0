"""The public functions: one list, the commands' names and defaults, and examples that run."""

from __future__ import annotations

import doctest
import importlib
import inspect
import warnings
from typing import Any

import click
import pytest

import judgewell
from judgewell.cli import app

STAGES = ("agree", "compare", "evaluate", "report", "scale", "simulate")
# What a command needs to print and write, and what a function takes in its place.
PRINTED = {"chart", "draws_to", "files", "format", "level", "list", "no_summary", "output", "pairs", "per_topic"}
PRINTED |= {"quiet", "seed", "strict", "verbose"}
ELSEWHERE = {"measure": "measures", "separator": "layout", "no_header": "layout"}
ELSEWHERE |= {"cluster": "executor", "processes": "executor"}
# evaluate's own: trec_eval's flags, and gains that the function takes as they are.
TREC_EVAL = {"complete", "gains_as", "judged_only", "most", "rel", "trec_version", "words", "separator", "no_header"}


def options_of(name: str) -> dict[str, click.Parameter]:
    command = app.get_command(click.Context(app), name)
    assert command is not None
    return {str(option.name): option for option in command.params if not getattr(option, "hidden", False)}


def empty(value: Any) -> bool:
    return value is None or value == () or "UNSET" in repr(value)


def test_the_public_names_are_these() -> None:
    assert sorted(judgewell.__all__) == sorted(
        [*STAGES, "Client", "__version__", "parse_measure", "read_gains", "summarise"]
    )
    for name in judgewell.__all__:
        assert getattr(judgewell, name) is not None


@pytest.mark.parametrize("name", STAGES)
def test_a_command_is_its_function_plus_printing(name: str) -> None:
    parameters = inspect.signature(getattr(judgewell, name)).parameters
    own = PRINTED | (TREC_EVAL if name == "evaluate" else set())
    missing = {option for option in options_of(name) if ELSEWHERE.get(option, option) not in parameters}
    assert missing - set(parameters) <= own


@pytest.mark.parametrize("name", STAGES)
def test_function_and_command_have_the_same_defaults(name: str) -> None:
    context = click.Context(app)
    parameters = inspect.signature(getattr(judgewell, name)).parameters
    for option, known in options_of(name).items():
        if option not in parameters or parameters[option].default is inspect.Parameter.empty:
            continue
        default, ours = known.get_default(context), parameters[option].default
        if name == "evaluate" and option in ("topics", "precision"):
            continue  # the command reads a file of topics, and its precision follows the format
        assert default == ours or (empty(default) and empty(ours)), (option, default, ours)


@pytest.mark.parametrize("module", ["judgewell.scales", *(f"judgewell.{home}" for home in (
    "analysis.agree", "analysis.compare", "assessors.simulate", "commands.reporting", "evaluation.evaluate",
    "scaling.scale"))])  # fmt: skip
def test_the_examples_in_docstrings_run(module: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert outcome.attempted > 0
    assert outcome.failed == 0
