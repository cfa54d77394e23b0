"""Judged documents as numpy finds them: by a 64-bit key of topic and document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.evaluation.judged import Judged
from judgewell.stats.arrays import Bools, Ints

Keys = NDArray[np.uint64]
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: neighbouring topics get distant keys


@dataclass(frozen=True)
class Lookup:
    """Judged documents by their keys; a key only suggests a match, and comparing the ids decides."""

    topics: dict[str, int]  # their numbers
    seed: int
    keys: Keys  # ascending
    item: Ints  # of each key: its row in the gains table
    docs: pl.Series  # the judged documents, row by row of the gains table
    present: Bools  # whether any key begins with these bits: turns most unjudged documents away at once
    first: NDArray[np.int32]  # the place of the first key that begins with these bits, or with higher ones
    fullest: int  # the most keys that begin with the same bits
    shift: np.uint64

    def key(self, docs: pl.Series, topics: Ints) -> Keys:
        """The keys of documents, each of the topic with this number."""
        return keys_of(docs, topics, self.seed)

    def find(self, docs: pl.Series, keys: Keys) -> tuple[Ints, Ints]:
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
        item = self.item.take(at)
        same = (docs.gather(rows) == self.docs.gather(item)).to_numpy()
        return rows[same], item[same]


def lookup_of(judged: Judged) -> Lookup:
    """The judged documents with their keys."""
    docs = pl.Series(judged.docs.to_list(), dtype=pl.String)
    seed = 0
    while True:
        keys = keys_of(docs, judged.number, seed)
        order = np.argsort(keys)
        if (np.diff(keys[order]) > 0).all():
            break
        seed += 1  # never seen: two judged documents with one key
    bits = int(np.clip(np.ceil(np.log2(len(keys) + 1)) + 2, 8, 24))
    shift = np.uint64(64 - bits)
    counts = np.bincount((keys >> shift).view(np.int64), minlength=1 << bits)
    return Lookup(
        topics={topic: at for at, topic in enumerate(judged.topics)},
        seed=seed,
        keys=keys[order],
        item=order,
        docs=docs,
        present=counts > 0,
        first=(np.cumsum(counts) - counts).astype(np.int32),
        fullest=int(counts.max(initial=0)),
        shift=shift,
    )


def keys_of(docs: pl.Series, topics: Ints, seed: int) -> Keys:
    """One 64-bit key for each document of a numbered topic."""
    keys: Keys = docs.hash(seed).to_numpy() ^ ((topics.astype(np.uint64) + np.uint64(1)) * SPREAD)
    return keys
