"""What a terminal shows: plain tables, notes, and a progress bar for what takes long."""

from __future__ import annotations

import codecs
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from judgewell.errors import Information, collect_notes

if TYPE_CHECKING:
    import polars as pl


WIDEST = 40  # characters of a cell; files hold the whole
LONGEST = 100  # characters of a line of prose
GAP = "  "  # between columns
BAR = 30  # characters of a progress bar
SECONDS_BETWEEN = 0.1  # two drawings of it
PLAIN = {
    "─": "-",
    "—": "-",
    "–": "-",
    "−": "-",
    "’": "'",
    "…": "...",
    "×": "x",
    "≥": ">=",
    "α": "alpha",
    "τ": "tau",
    "█": "#",
    "░": ".",
}


def write_everywhere() -> None:
    """Let what is printed reach every terminal and pipe: pipes and files get UTF-8 whatever the locale is; a terminal
    that cannot show a character gets a plain one."""
    codecs.register_error("plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is None or codecs.lookup(stream.encoding).name == "utf-8":
            continue
        if stream.isatty():
            reconfigure(errors="plain")
        else:
            reconfigure(encoding="utf-8")


def _plain(error: UnicodeError) -> tuple[str, int]:
    """The characters in place of one that the terminal lacks."""
    assert isinstance(error, UnicodeEncodeError)
    return "".join(PLAIN.get(one, "?") for one in error.object[error.start : error.end]), error.end


def prose(text: str, first: str = "", other: str = "") -> str:
    """A sentence in lines as long as the terminal, and at most LONGEST; `first` and `other` begin its lines."""
    import shutil  # these two take time to load, and most commands print no prose
    import textwrap

    width = min(LONGEST, shutil.get_terminal_size((LONGEST, 24)).columns)
    whole = text.replace(" %", "\N{NO-BREAK SPACE}%")  # no line begins with the sign
    lines = textwrap.fill(whole, width, initial_indent=first, subsequent_indent=other, break_on_hyphens=False)
    return lines.replace("\N{NO-BREAK SPACE}%", " %")


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Aligned columns, the first `left` of them to the left, the others to the right.

    A table wider than the terminal is printed in parts, each with the first column; files and pipes get it whole.
    """
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def lines(shown: Sequence[int]) -> str:
        def line(cells: Sequence[str]) -> str:
            padded = [cells[at].ljust(widths[at]) if at < left else cells[at].rjust(widths[at]) for at in shown]
            return GAP.join(padded).rstrip()

        return "\n".join([line(header), line(["─" * width for width in widths]), *map(line, rows)])

    return "\n\n".join(lines(part) for part in _parts(widths))


def _parts(widths: Sequence[int]) -> list[list[int]]:
    """The columns of each part of a table, so that it fits the terminal; all in one where there is no terminal."""
    if not sys.stdout.isatty():
        return [list(range(len(widths)))]
    import shutil

    room = shutil.get_terminal_size().columns
    parts: list[list[int]] = [[]]
    for at, width in enumerate(widths):
        used = sum(widths[other] + len(GAP) for other in parts[-1])
        if len(parts[-1]) > 1 and used + width > room:
            parts.append([0])
        parts[-1].append(at)
    return parts


def frame_text(frame: pl.DataFrame, most: int | None = None) -> str:
    """A frame as aligned columns, words to the left; only the first `most` rows, saying how many there are."""
    shown = frame if most is None else frame.head(most)
    numbers = [dtype.is_numeric() for dtype in frame.dtypes]
    left = numbers.index(True) if True in numbers else len(numbers)
    columns = [_cells(column.to_list()) for column in shown.get_columns()]
    text = text_table(frame.columns, list(zip(*columns, strict=True)), left)
    left_over = len(frame) - len(shown)
    return f"{text}\n… {left_over} more row{'s' * (left_over > 1)}" if left_over else text


def number(value: float) -> str:
    """A number with four decimals, or in powers of ten where those would not show it."""
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e6 or value == 0 else f"{value:.4g}"


def _cells(values: Sequence[Any]) -> list[str]:
    """A column's values as text: whole numbers without decimals, others with four, long words cut."""
    whole = all(value.is_integer() for value in values if isinstance(value, float))

    def cell(value: Any) -> str:
        if value is None:
            return "—"
        if isinstance(value, float):
            return f"{value:.0f}" if whole and abs(value) < 1e15 else number(value)
        text = str(value)
        return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"

    return [cell(value) for value in values]


@contextmanager
def notes(strict: bool = False) -> Iterator[list[str]]:
    """Collect a command's notes and print them on standard error at the end; `strict` refuses all but information."""
    with collect_notes(strict=strict) as collected:
        try:
            yield collected
        finally:
            for text in collected:
                print(f"{'info' if isinstance(text, Information) else 'note'}: {text}", file=sys.stderr)


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A callback (done, total) that draws a bar with rate and time left, on a terminal, when it takes over a second."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    began = time.monotonic()
    drawn = 0.0

    def show(done: int, total: int) -> None:
        nonlocal drawn
        now = time.monotonic()
        if now - began > 1 and now - drawn > SECONDS_BETWEEN:
            drawn = now
            print(f"\r{_bar(what, done, total, now - began)}\x1b[K", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _bar(what: str, done: int, total: int, seconds: float) -> str:
    """How far the work is, how much of it is done a second, and the time left."""
    share = min(done / total, 1.0) if total else 0.0
    minutes, rest = divmod(round(seconds * (total / done - 1)) if done else 0, 60)
    left = f"  {minutes}:{rest:02} left" if done else ""
    return f"{what} {'█' * round(BAR * share):░<{BAR}} {done}/{total}  {done / seconds:.1f}/s{left}"
