"""Judgments or pairs to gains: one call for every method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

from judgewell.errors import InputError, note
from judgewell.executors import Executor, executor_of
from judgewell.formats.frames import read_frame
from judgewell.formats.judgments import holds_pairs, read_judgments, read_pairs
from judgewell.formats.options import kept_where, reading
from judgewell.scaling.inputs import with_inclusions
from judgewell.scaling.intents import each_intent, expanded, top_intents
from judgewell.scaling.method import Method
from judgewell.scaling.methods import method_for, named, parse

Interval = Literal["auto", "formula", "bootstrap", "none"]


def scale(
    judgments: Any,
    *,
    method: str | Method | None = None,
    interval: Interval = "auto",
    level: float = 0.95,
    draws: int = 200,
    seed: int = 0,
    columns: str | Mapping[str, str] | None = None,
    words: str | Mapping[str, str] | None = None,
    separator: str | None = None,
    no_header: bool = False,
    where: str | Iterable[str] = (),
    kind: str | None = None,
    intents: Any = None,
    intent: Literal["top", "each"] = "top",
    executor: Any = None,
    **options: Any,
) -> pl.DataFrame:
    """The gains table: topic, doc, gain, low, high and judgments, a row for each document.

    `judgments` is a table of judgments or pairs (a data frame, or one or several files); `method` names the method (by
    default the one for the kind of the values), and `options` are its own, as in `judgewell scale --list`. `interval`
    says how low and high are made: by formula where there is one and from so many `draws` otherwise (auto), by one of
    these alone, or not at all (none). The other options mean what they mean in `judgewell scale`; `executor` makes
    the draws (Threads, Processes, a Dask client).

    >>> grades = pl.DataFrame({"topic": "1", "doc": list("aabb"), "value": [3, 2, 0, 1], "kind": "ordinal:0..3"})
    >>> scale(grades, method="mean", interval="none", profile="exp2").rows()
    [('1', 'a', 5.0, None, None, 2), ('1', 'b', 0.5, None, None, 2)]
    """
    chosen, table = method_and_table(
        method,
        options,
        judgments,
        reading={"columns": columns, "words": words, "separator": separator, "no_header": no_header},
        where=where,
        kind=kind,
        intents=intents,
        intent=intent,
        seed=seed,
    )
    workers = None if executor is None else executor_of(executor)
    return gains_of(chosen, table, interval=interval, level=level, draws=draws, seed=seed, executor=workers)


def method_and_table(
    method: str | Method | None,
    options: Mapping[str, Any],
    judgments: Any,
    *,
    reading: Mapping[str, Any],
    where: str | Iterable[str] = (),
    kind: str | None = None,
    intents: Any = None,
    intent: Literal["top", "each"] = "top",
    seed: int = 0,
) -> tuple[Method, pl.DataFrame]:
    """The method with its options, and the checked table that it takes: read, its rows chosen, of one intent of each
    topic or of each. Without a method, the one for the kind of the values, with a note."""
    chosen = None if method is None else _named(method, options, seed)
    takes = chosen.takes if chosen else _holds(judgments, reading)
    table = kept_where(_read(takes, judgments, reading, kind), where)
    if chosen is None:
        both = (table, None) if takes == "judgments" else (None, table)
        fitting = method_for(*both, group=options.get("group"))
        own = parse(fitting)
        chosen = _named(own.name, {**own.options(), **options}, seed)
        note(f"no method is given: gains are made by {chosen}; judgewell scale --list shows the others")
    if intents is None:
        return chosen, table
    known = read_frame(intents) if isinstance(intents, str | Path) else intents
    spread = expanded(table, known)
    return chosen, each_intent(spread) if intent == "each" else top_intents(spread, known)


def _named(method: str | Method, options: Mapping[str, Any], seed: int = 0) -> Method:
    """The method that is named, with its options; one that draws by itself gets the seed unless it has one."""
    if isinstance(method, Method):
        if options:
            raise InputError(f"{method} has its options already", cure="name the method to give it others")
        return method
    chosen = named(method, options) if options else parse(method)
    if "seed" in chosen.options() and "seed" not in options and "seed" not in method:
        chosen = replace(chosen, **{"seed": seed})
    return chosen


def _holds(judgments: Any, how: Mapping[str, Any]) -> str:
    """What the data are, pairs or judgments; standard input can be read only once and is taken for judgments."""
    files = [judgments] if isinstance(judgments, str | Path) else judgments
    if isinstance(files, list | tuple) and "-" in map(str, files):
        return "judgments"
    read = reading(how, "judgments", "pairs")
    return "pairs" if holds_pairs(judgments, read["columns"], read["layout"]) else "judgments"


def _read(takes: str, judgments: Any, how: Mapping[str, Any], kind: str | None) -> pl.DataFrame:
    if takes == "pairs":
        return read_pairs(judgments, **reading(how, "pairs"))
    return read_judgments(judgments, **reading(how, "judgments"), kind=kind)


def gains_of(
    method: Method,
    table: pl.DataFrame,
    *,
    interval: Interval,
    level: float,
    draws: int,
    seed: int,
    executor: Executor | None = None,
) -> pl.DataFrame:
    """The gains of a checked table, with low and high as `interval` says."""
    if interval == "none":
        return with_inclusions(method(table), table)
    way = None if interval == "auto" else interval
    gains = method.interval(table, level=level, kind=way, draws=draws, seed=seed, executor=executor)
    return with_inclusions(gains, table)
