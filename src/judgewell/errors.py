"""Errors and notes.

An error says the value, the rule it breaks and the cure, with file and line where there is a file. The command line
prints a :class:`JudgewellError` as one line and exits with code 2 (1 for a :class:`ClusterError`).

A note reports something that a result assumes or leaves out. :func:`note` emits one, as a Python warning;
:func:`collect_notes` collects them, or refuses them. A note that only reports which rule of the documentation was
applied is :class:`Information`, and is never refused.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from judgewell.values import dataclass

P = ParamSpec("P")
R = TypeVar("R")


LONGEST = 200  # characters of a word in a message: an id, a value


def shortened(text: str) -> str:
    """The text with the middle of every very long word left out."""
    return " ".join(
        word if len(word) <= LONGEST else f"{word[:80]}…{word[-40:]} ({len(word):,} characters)"
        for word in text.split(" ")
    )


class JudgewellError(Exception):
    """The root: something the user can mend; its text is one complete line."""

    exit_code = 2

    def __init__(self, text: str, place: str = "") -> None:
        super().__init__(place + shortened(text))


class InputError(JudgewellError):
    """A file, table or argument breaks a rule."""

    def __init__(
        self,
        problem: str,
        *,
        cure: str | None = None,
        file: str | Path | None = None,
        line: int | None = None,
        row: tuple[str, str] | None = None,
    ) -> None:
        self.problem = problem
        self.cure = cure
        self.file = None if file is None else str(file)
        self.line = line
        self.row = row  # topic and document, where the line is not known yet
        place = "" if self.file is None else f"{self.file}:{line}: " if line else f"{self.file}: "
        super().__init__(problem + (f"; {cure}" if cure else ""), place)


class MeasureError(JudgewellError):
    """A measure's name cannot be read, or the measure does not allow the gains it was given."""


class DataError(JudgewellError):
    """The data are well formed but cannot answer the question."""


class ClusterError(JudgewellError):
    """The machines that work was sent to do not answer, or do not fit."""

    exit_code = 1


class JudgewellWarning(UserWarning):
    """A note: something that the result assumes or leaves out."""


class JudgewellInformation(JudgewellWarning):
    """Information: which rule of the documentation was applied."""


class Information(str):
    """The text of a note that assumes nothing: it reports which rule or option was applied."""


_PASSED_OVER = (__package__, "contextlib", "functools")  # never the line that a reader of a note wants to see
_kept: ContextVar[list[str] | None] = ContextVar("kept notes", default=None)


def note(text: str, file: str | Path | None = None) -> None:
    """Emit a note; the warning names the line outside this package that led to it."""
    as_given = Information if isinstance(text, Information) else str
    text = as_given(f"{file}: {shortened(text)}" if file else shortened(text))
    kept = _kept.get()
    if kept is not None:
        kept.append(text)
        return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _PASSED_OVER:
        level, frame = level + 1, frame.f_back
    category = JudgewellInformation if isinstance(text, Information) else JudgewellWarning
    warnings.warn(text, category, stacklevel=level)


def formerly(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function's options be given by their former names too, with a note: former=now."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **options: P.kwargs) -> R:
            for former, now in names.items():
                if former in options:
                    note(f"{former} is the former name of {now}; it works in this version")
                    options[now] = options.pop(former)
            return function(*args, **options)

        return call

    return decorate


@contextmanager
def kept_notes() -> Iterator[list[str]]:
    """The notes of this thread alone, kept instead of emitted, so that the caller can emit them."""
    notes: list[str] = []
    token = _kept.set(notes)
    try:
        yield notes
    finally:
        _kept.reset(token)


@contextmanager
def collect_notes(*, strict: bool = False) -> Iterator[list[str]]:
    """Collect the notes emitted inside, each once, instead of showing them; `strict` makes the first one an error.

    Information is collected too and never an error. Other warnings are shown as always.
    """
    collected: list[str] = []

    def collect(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
        if not issubclass(category, JudgewellWarning):
            show(message, category, *rest, **more)
        elif strict and category is not JudgewellInformation:
            raise DataError(f"{message} (refused because of --strict)")
        elif (text := message if isinstance(message, str) else message.args[0]) not in collected:
            collected.append(text)

    token = _kept.set(None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", JudgewellWarning)
            show, warnings.showwarning = warnings.showwarning, collect
            yield collected
    finally:
        _kept.reset(token)


@dataclass(frozen=True)
class Place:
    """Where the rows of a table come from, for messages: a file, and the line on which each row (from 0) begins."""

    file: str | None = None
    lines: Callable[[int], int] | None = None

    def error(self, problem: str, cure: str | None = None, row: int | None = None) -> InputError:
        if row is None or self.lines is None:
            return InputError(problem if row is None else f"row {row + 1}: {problem}", cure=cure, file=self.file)
        return InputError(problem, cure=cure, file=self.file, line=self.lines(row))

    def note(self, text: str) -> None:
        note(text, self.file)

    def row(self, row: int) -> str:
        """A row in words."""
        return f"line {self.lines(row)}" if self.lines else f"row {row + 1}"

    def of_rows(self, rows: Any) -> Place:
        """The place of a table that keeps only these rows, a sequence or series of numbers."""
        lines = self.lines
        return Place(self.file, None if lines is None else lambda row: lines(int(rows[row])))
