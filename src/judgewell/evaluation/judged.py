"""A gains table prepared for looking documents up in it, millions at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from judgewell.errors import DataError
from judgewell.stats.arrays import Floats, Ints
from judgewell.values import dataclass

if TYPE_CHECKING:
    import polars as pl

    from judgewell.evaluation.intents import Intents
    from judgewell.evaluation.lookup import Lookup

SMALL_TABLE = 1_000_000  # gains: 8 MB


@dataclass(frozen=True)
class Texts:
    """Many ids: their bytes in a row, and where each ends."""

    data: bytes
    ends: Ints

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        data = "".join(texts).encode()
        lengths = map(len, texts) if data.isascii() else (len(text.encode()) for text in texts)
        return cls(data, np.cumsum(np.fromiter(lengths, np.int64, len(texts))))

    @classmethod
    def of_series(cls, texts: pl.Series) -> Texts:
        joined = texts.str.join("")[0] or ""
        return cls(joined.encode(), np.cumsum(texts.str.len_bytes().to_numpy().astype(np.int64)))

    def to_list(self) -> list[str]:
        ends = pairwise([0, *self.ends.tolist()])
        if self.data.isascii():  # places of bytes are places of characters
            text = self.data.decode()
            return [text[start:end] for start, end in ends]
        return [self.data[start:end].decode() for start, end in ends]


@dataclass(frozen=True)
class Judged:
    """The judged documents, row by row as the gains table has them, and each topic's gains in descending order."""

    topics: list[str]
    number: Ints  # of each row: its topic's number
    docs: Texts  # of each row: its document
    gains: Floats  # of each row
    sorted_gains: Floats  # topic by topic, descending
    ends: Ints  # where each topic's gains end
    counts: Ints  # how many documents of each topic are judged
    ideals: Floats | None  # what `ideal` gives for all topics, where that is small
    intents: Intents | None = None  # the gains by intent, where measures ask for them

    @cached_property
    def index(self) -> Any:
        """The documents as the compiled kernel looks them up."""
        from judgewell.evaluation.compiled import index_of

        return index_of(self)

    @cached_property
    def lookup(self) -> Lookup:
        """The documents as numpy looks them up, where there is no compiled kernel."""
        from judgewell.evaluation.lookup import lookup_of

        return lookup_of(self)

    def __getstate__(self) -> dict[str, Any]:
        """What goes to another process, which makes its own index."""
        return {name: value for name, value in self.__dict__.items() if name not in ("index", "lookup")}

    def ideal(self, topics: Ints) -> Floats:
        """The judged gains of each of these topics in descending order, NaN behind the last."""
        if self.ideals is not None:
            return self.ideals[topics]
        return side_by_side(self.sorted_gains, self.ends[topics], self.counts[topics])


def side_by_side(sorted_gains: Floats, ends: Ints, counts: Ints) -> Floats:
    """Runs of `counts` gains that end at `ends` as the rows of a table, NaN behind the last."""
    table = np.full((len(ends), int(counts.max(initial=0))), np.nan)
    row = np.repeat(np.arange(len(ends)), counts)
    rank = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    table[row, rank] = sorted_gains[np.repeat(ends - counts, counts) + rank]
    return table


def prepare(gains: pl.DataFrame) -> Judged:
    """A checked gains table, ready for runs to be measured with."""
    import polars as pl

    if gains.is_empty():
        raise DataError("the gains table is empty; there is nothing to measure against")
    names = gains["topic"].unique(maintain_order=True)
    number = gains["topic"].replace_strict(names, np.arange(len(names)), return_dtype=pl.Int64).to_numpy()
    return judged_of(names.to_list(), number, Texts.of_series(gains["doc"]), gains["gain"].to_numpy())


def judged_of(topics: list[str], number: Ints, docs: Texts, gains: Floats) -> Judged:
    """Judged documents from their columns: each row's topic (by its number), document and gain."""
    counts = np.bincount(number, minlength=len(topics))
    sorted_gains, ends = gains[np.lexsort((-gains, number))], np.cumsum(counts)
    small = len(counts) * int(counts.max(initial=0)) <= SMALL_TABLE
    ideals = side_by_side(sorted_gains, ends, counts) if small else None
    return Judged(topics, number, docs, gains, sorted_gains, ends, counts, ideals)
