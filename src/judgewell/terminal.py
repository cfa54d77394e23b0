"""What a terminal shows: plain tables, notes, and a progress bar for what takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from judgewell.errors import collect_notes

if TYPE_CHECKING:
    import polars as pl


WIDEST = 40  # characters of a cell; files hold the whole


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Aligned columns, the first `left` of them to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if at < left else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(padded).rstrip()

    return "\n".join([line(header), line(["─" * width for width in widths]), *map(line, rows)])


def frame_text(frame: pl.DataFrame, most: int | None = None) -> str:
    """A frame as aligned columns, words to the left; only the first `most` rows, saying how many there are."""
    shown = frame if most is None else frame.head(most)
    numbers = [dtype.is_numeric() for dtype in frame.dtypes]
    left = numbers.index(True) if True in numbers else len(numbers)
    columns = [_cells(column.to_list()) for column in shown.get_columns()]
    text = text_table(frame.columns, list(zip(*columns, strict=True)), left)
    return text if len(shown) == len(frame) else f"{text}\n… {len(frame) - len(shown)} more rows"


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
    """Collect a command's notes and print them on standard error at the end; `strict` refuses them."""
    with collect_notes(strict=strict) as collected:
        try:
            yield collected
        finally:
            for text in collected:
                print(f"note: {text}", file=sys.stderr)


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A callback (done, total) that draws a bar with rate and time left, on a terminal, when it takes over a second."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    began = time.monotonic()
    bar: Any = None
    task: Any = None

    def show(done: int, total: int) -> None:
        nonlocal bar, task
        if bar is None and time.monotonic() - began > 1:
            bar = _bar()
            bar.start()
            task = bar.add_task(what, total=total)
        if bar is not None:
            bar.update(task, completed=done, total=total)

    try:
        yield show
    finally:
        if bar is not None:
            bar.stop()


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(f"{task.speed:.1f}/s" if task.speed else "")

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
