"""A gains table prepared for looking documents up in it, millions at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: neighbouring topics get distant keys
CHECK = 0x5DEECE66D  # the seed of the second hash
SMALL_TABLE = 1_000_000  # gains: 8 MB


@dataclass(frozen=True)
class Judged:
    """Judged documents by a 64-bit key of topic and document.

    A key only suggests a match, and a second hash of the document's id decides: ids that agree in all 128 bits are
    taken for one, which among a billion judged documents and a billion ranked ones has a chance of 3 in 10^21.
    """

    topics: list[str]
    index: dict[str, int]
    seed: int
    gains: NDArray[np.float64]  # in the gains table's order
    keys: Keys  # ascending
    item: NDArray[np.int64]  # of each key: its row in the gains table
    checks: Keys  # the second hash, in the keys' order
    present: NDArray[np.bool_]  # whether any key begins with these bits: turns most unjudged documents away at once
    first: NDArray[np.int32]  # the place of the first key that begins with these bits, or with higher ones
    fullest: int  # the most keys that begin with the same bits
    shift: np.uint64
    sorted_gains: NDArray[np.float64]  # topic by topic, descending
    ends: NDArray[np.int64]  # where each topic's gains end
    counts: NDArray[np.int64]  # how many documents of each topic are judged
    ideals: NDArray[np.float64] | None  # what `ideal` gives for all topics, where that is small

    def key(self, docs: pl.Series, topics: NDArray[np.int64]) -> Keys:
        """The keys of documents, each of the topic with this number."""
        return keys_of(docs, topics, self.seed)

    def find(self, docs: pl.Series, keys: Keys) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows that are judged, and for each the row of the gains table that judges it."""
        bits = (keys >> self.shift).view(np.int64)
        rows = np.flatnonzero(self.present.take(bits))
        at, wanted = self.first.take(bits.take(rows)), keys.take(rows)
        match = self.keys.take(at) == wanted
        for _ in range(1, self.fullest):
            behind = np.flatnonzero(~match)
            at[behind] = np.minimum(at[behind] + 1, len(self.keys) - 1)
            match[behind] = self.keys[at[behind]] == wanted[behind]
        rows, at = rows[match], at[match]
        same = docs.hash(CHECK).to_numpy().take(rows) == self.checks.take(at)
        return (rows, self.item.take(at)) if same.all() else (rows[same], self.item[at[same]])

    def ideal(self, topics: NDArray[np.int64]) -> NDArray[np.float64]:
        """The judged gains of each of these topics in descending order, NaN behind the last."""
        if self.ideals is not None:
            return self.ideals[topics]
        return side_by_side(self.sorted_gains, self.ends[topics], self.counts[topics])


def side_by_side(
    sorted_gains: NDArray[np.float64], ends: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Runs of `counts` gains that end at `ends` as the rows of a table, NaN behind the last."""
    table = np.full((len(ends), int(counts.max(initial=0))), np.nan)
    row = np.repeat(np.arange(len(ends)), counts)
    rank = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    table[row, rank] = sorted_gains[np.repeat(ends - counts, counts) + rank]
    return table


def prepare(gains: pl.DataFrame) -> Judged:
    """A checked gains table, ready for `find`."""
    names = gains["topic"].unique(maintain_order=True)
    topics = names.to_list()
    number = gains["topic"].replace_strict(names, np.arange(len(topics)), return_dtype=pl.Int64).to_numpy()
    values = gains["gain"].to_numpy()
    seed = 0
    while True:
        keys = keys_of(gains["doc"], number, seed)
        order = np.argsort(keys)
        if (np.diff(keys[order]) > 0).all():
            break
        seed += 1  # never seen: two judged documents with one key
    bits = int(np.clip(np.ceil(np.log2(len(keys) + 1)) + 2, 8, 24))
    shift = np.uint64(64 - bits)
    counts = np.bincount((keys >> shift).view(np.int64), minlength=1 << bits)
    judged = np.bincount(number, minlength=len(topics))
    sorted_gains, ends = values[np.lexsort((-values, number))], np.cumsum(judged)
    small = len(judged) * int(judged.max(initial=0)) <= SMALL_TABLE
    return Judged(
        topics=topics,
        index={topic: at for at, topic in enumerate(topics)},
        seed=seed,
        gains=values,
        keys=keys[order],
        item=order,
        checks=gains["doc"].hash(CHECK).to_numpy()[order],
        present=counts > 0,
        first=(np.cumsum(counts) - counts).astype(np.int32),
        fullest=int(counts.max(initial=0)),
        shift=shift,
        sorted_gains=sorted_gains,
        ends=ends,
        counts=judged,
        ideals=side_by_side(sorted_gains, ends, judged) if small else None,
    )


def keys_of(docs: pl.Series, topics: NDArray[np.int64], seed: int) -> Keys:
    """One 64-bit key for each document of a numbered topic."""
    keys: Keys = docs.hash(seed).to_numpy() ^ ((topics.astype(np.uint64) + np.uint64(1)) * SPREAD)
    return keys
