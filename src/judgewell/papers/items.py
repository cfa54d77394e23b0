"""What a paper is here: items by their number, each with the function that makes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from judgewell import papers
from judgewell.errors import InputError, JudgewellError, collect_notes
from judgewell.executors import Executor
from judgewell.papers.data import Asked
from judgewell.reports.parts import Figure, Grid


@dataclass(frozen=True)
class Made:
    """What an item's function gives: charts and tables, the numbers the paper prints beside ours, footnotes."""

    shown: tuple[Figure | Grid, ...]
    printed: Grid | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper: its number there, what it shows, the fields of the data it uses, its function."""

    number: str
    about: str
    uses: tuple[str, ...]
    make: Callable[[Any], Made]

    @property
    def name(self) -> str:
        """The number as the name of files: table-3."""
        return self.number.lower().replace(" ", "-").replace(".", "")


@dataclass(frozen=True)
class Paper:
    """A paper: its short name, where it was published, its items in order, and how its data are put together."""

    name: str
    title: str
    source: str
    items: tuple[Item, ...]
    read: Callable[[Asked], Any]

    def chosen(self, numbers: Sequence[str]) -> tuple[Item, ...]:
        """The items asked for by number ("table 3", "figure-5"), or all."""
        items = {item.name: item for item in self.items}
        names = [number.strip().lower().replace(" ", "-").replace(".", "") for number in numbers]
        for name, number in zip(names, numbers, strict=True):
            if name not in items:
                there = ", ".join(item.number for item in self.items)
                raise InputError(f"{self.name} has no {number!r}", cure=f"it has {there}")
        return tuple(items[name] for name in names) or self.items


@dataclass(frozen=True)
class Outcome:
    """An item as it came out: what it was made from, what it shows, or why it could not be made."""

    item: Item
    made_from: tuple[str, ...]
    made: Made | None
    reason: str = ""
    notes: tuple[str, ...] = ()


def make(item: Item, data: Any) -> Outcome:
    """Make one item; data that do not allow it are a reason, not a failure."""
    notes: list[str] = []
    made_from: tuple[str, ...] = ()
    try:
        with collect_notes() as notes:
            made_from = tuple(dict.fromkeys(getattr(data, name).source for name in item.uses))
            made = item.make(data)
    except JudgewellError as error:
        return Outcome(item, made_from, None, str(error), tuple(notes))
    return Outcome(item, made_from, made, "", tuple(notes))


def made_items(
    paper: Paper, items: Sequence[Item], asked: Asked, executor: Executor | None = None
) -> Iterator[Outcome]:
    """Make the items in turn; an executor's workers read the data themselves and make them side by side."""
    if executor is None:
        data = paper.read(asked)
        yield from (make(item, data) for item in items)
        return
    shared = executor.share(_Reader(paper.name, asked))
    for item, (outcome, used) in zip(items, executor.map(_made, [item.number for item in items], shared), strict=True):
        asked.used.extend(used)
        yield replace(outcome, item=item)


@dataclass(frozen=True)
class _Reader:
    """A paper's data, read once in each process."""

    paper: str
    asked: Asked

    @cached_property
    def data(self) -> Any:
        return papers.paper(self.paper).read(self.asked)


def _made(number: str, reader: _Reader) -> tuple[Outcome, list[str]]:
    """An item by its number without its function, and the files that were read so far."""
    item = papers.paper(reader.paper).chosen([number])[0]
    outcome = make(item, reader.data)
    return replace(outcome, item=replace(item, make=unmade)), list(reader.asked.used)


def unmade(data: Any) -> Made:
    """In the place of a function that stays where it is."""
    raise NotImplementedError


def beside(
    name: str, rows: Sequence[tuple[str, float | None, float | None]], caption: str = "", *, same: bool = False
) -> Grid:
    """The numbers that a paper prints and ours: rows of what, printed, ours. Their difference is shown for the `same`
    collection and for numbers worked out again; beside other data it would say nothing."""
    frame = pl.DataFrame(
        {
            "what": [row[0] for row in rows],
            "printed": pl.Series([row[1] for row in rows], dtype=pl.Float64, strict=False),
            "ours": pl.Series([row[2] for row in rows], dtype=pl.Float64, strict=False),
        }
    )
    if same or caption == SAME_NUMBERS:
        frame = frame.with_columns(difference=pl.col("ours") - pl.col("printed"))
    return Grid(f"{name}-printed", "Printed and ours", caption or OTHER_DATA, frame)


OTHER_DATA = "Numbers that the paper prints beside the same numbers from the data named above."
SAME_NUMBERS = "Worked out again from the numbers that the paper itself prints."


def unmakable(reason: str) -> Callable[[Any], Made]:
    """The function of an item that no data can give."""

    def refuse(data: Any) -> Made:
        raise InputError(reason)

    return refuse
