"""What a method is: a value that prints and parses back, called on a table, giving gains.

A subclass adds its options as fields and its work as `gains`; the command line, `--list` and a result's record read
it all from the class.
"""

from __future__ import annotations

import dataclasses
import difflib
import re
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

import polars as pl

from judgewell.errors import InputError, note
from judgewell.executors import Executor
from judgewell.scaling.inputs import judgments_of, pairs_of
from judgewell.scaling.uncertainty import Draws, Over, bootstrap, draws_on, with_grounds, with_interval

Kind = Literal["formula", "bootstrap"]


@dataclass(frozen=True, kw_only=True)
class Method:
    """The base of all methods."""

    name: ClassVar[str]  # as printed and given on the command line
    purpose: ClassVar[str]  # one line: when to use it
    source: ClassVar[str]  # the paper it comes from
    takes: ClassVar[Literal["judgments", "pairs"]]
    evidence: ClassVar[str] = ""  # what public data show of it (docs/evidence)
    draws_over: ClassVar[Over] = "unit"  # what its bootstrap draws
    no_interval: ClassVar[str] = ""  # why there is none unless draws are asked for
    own_spread: ClassVar[bool] = False  # an interval comes from the spread of the document's own judgments

    def __post_init__(self) -> None:
        for name, hint in _hints(type(self)).items():
            choices = get_args(hint) if get_origin(hint) is Literal else ()
            if choices and getattr(self, name) not in choices:
                raise InputError(
                    f"{self.name}: {name}={getattr(self, name)} is not possible",
                    cure=f"{name} is one of {', '.join(map(str, choices))}",
                )

    def __call__(self, table: Any) -> pl.DataFrame:
        """The gains table: topic, doc, gain, low and high (empty here), judgments."""
        return self.gains(table)

    def checked(self, table: Any) -> pl.DataFrame:
        return judgments_of(table) if self.takes == "judgments" else pairs_of(table)

    def gains(self, table: Any) -> pl.DataFrame:
        raise NotImplementedError

    def by_formula(self, table: Any, level: float) -> pl.DataFrame | None:
        """The gains with low and high where there is a formula for them; None where there is none."""
        return None

    def interval(
        self,
        table: Any,
        *,
        level: float = 0.95,
        kind: Kind | None = None,
        draws: int = 200,
        seed: int = 0,
        executor: Executor | None = None,
    ) -> pl.DataFrame:
        """The gains table with low and high: by formula where there is one, else from so many `draws`."""
        if kind is None and self.no_interval:
            note(f"{self.name} has no interval, because {self.no_interval} (--interval bootstrap gives one)")
            return self.gains(table)
        gains = self.by_formula(table, level) if kind != "bootstrap" else None
        if gains is None and kind == "formula":
            raise InputError(f"{self.name} has no formula for its interval", cure="resample (--interval bootstrap)")
        if gains is not None:
            return gains
        return self.from_draws(table, draws_on(executor, self, table, draws, seed), level)

    def from_draws(self, table: Any, drawn: Draws, level: float) -> pl.DataFrame:
        """The gains table with low and high from draws of it."""
        return with_grounds(with_interval(self.gains(table), *drawn.interval(level)), self.own_spread)

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        """`size` whole gain tables for later resampling, reproducible by seed."""
        return bootstrap(self.gains, self.checked(table), size, seed, self.draws_over)

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        """What else the method finds out: tables by name, such as p(R|grade) or each assessor's quality."""
        return {}

    def options(self) -> dict[str, Any]:
        """Every option with its value, defaults filled in."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __str__(self) -> str:
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        given = [f"{name}={spelled(value)}" for name, value in self.options().items() if value != defaults[name]]
        return self.name + (f"({','.join(given)})" if given else "")


def _hints(method: type[Method]) -> dict[str, Any]:
    fields = {field.name for field in dataclasses.fields(method)}
    return {name: hint for name, hint in get_type_hints(method).items() if name in fields}


def choices(method: type[Method], option: str) -> tuple[str, ...]:
    """The words an option takes, where it takes words only."""
    hint = _hints(method)[option]
    return get_args(hint) if get_origin(hint) is Literal else ("true", "false") if hint is bool else ()


def form(method: type[Method], option: str) -> str:
    """What an option takes, as help writes it: `median|mean`, `NUMBER`, `NUMBER|auto`, `TEXT`."""
    hint = _hints(method)[option]
    union = get_origin(hint) in (Union, types.UnionType)
    parts = [part for part in get_args(hint) if part is not types.NoneType] if union else []
    return "|".join(choices(method, option) or [word for part in parts or [hint] for word in _words(part)])


def _words(hint: Any) -> tuple[str, ...]:
    if get_origin(hint) is Literal:
        return get_args(hint)
    return ("NUMBER",) if hint in (int, float) else ("TEXT",) if hint is str else ("LIST",)


def flags(method: type[Method]) -> frozenset[str]:
    """The options that are true or false."""
    return frozenset(name for name, hint in _hints(method).items() if hint is bool)


def spelled(value: Any) -> str:
    """An option's value as it is written in a name."""
    if isinstance(value, tuple):
        return ";".join(map(spelled, value))
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() else repr(value)
    text = str(value).lower() if isinstance(value, bool) or value is None else str(value)
    return f"'{text}'" if re.search(r"[,()]", text) else text


def build(method: type[Method], options: Mapping[str, Any]) -> Method:
    """The method with its options, which may be text (from a command line or a name)."""
    hints = _hints(method)
    for name in options:
        if name not in hints:
            near = difflib.get_close_matches(name, hints, n=1)
            cure = f"did you mean {near[0]}?" if near else f"its options are: {', '.join(hints) or 'none'}"
            raise InputError(f"{method.name} has no option {name!r}", cure=cure)
    read = {name: _read(value, hints[name], f"{method.name}: {name}") for name, value in options.items()}
    return method(**read)


def _read(value: Any, hint: Any, where: str) -> Any:
    """The value in its option's type."""
    if get_origin(hint) in (Union, types.UnionType):
        if value is None or (isinstance(value, str) and value.lower() == "none"):
            return None
        words = [word for part in get_args(hint) if get_origin(part) is Literal for word in get_args(part)]
        if value in words:
            return value
        hint = next(part for part in get_args(hint) if part is not type(None) and get_origin(part) is not Literal)
    if get_origin(hint) is tuple:
        parts = re.split(r"[;,\s]+", value.strip()) if isinstance(value, str) else list(value)
        return tuple(_read(part, get_args(hint)[0], where) for part in parts)
    if hint is bool and isinstance(value, str):
        if value.lower() not in ("true", "false"):
            raise InputError(f"{where}={value} is neither true nor false", cure="write true or false")
        return value.lower() == "true"
    if hint in (int, float):
        try:
            return hint(value)
        except (TypeError, ValueError):
            kind = "a whole number" if hint is int else "a number"
            raise InputError(f"{where}={value} is not {kind}", cure=f"write {kind}") from None
    return value
