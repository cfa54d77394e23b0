"""Ids as numbers, once per table: what groups and sums rows by arrays instead of by text.

Ids are distinguished by a 64-bit hash and every match is verified by the id itself. Two ids with one hash are hashed
again with another seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.stats.arrays import Floats, Ints

Hashes = NDArray[np.uint64]
BLOCK = 1 << 17


def numbered(ids: pl.Series) -> tuple[pl.Series, Ints]:
    """The distinct ids in their order (a missing one first), and the number of each row's id among them."""
    for seed in count():
        hashes = ids.hash(seed).to_numpy()
        distinct = _distinct(hashes)
        at = np.empty(len(hashes), dtype=np.int64)
        rows = np.empty(len(distinct), dtype=np.int64)
        first = _first_places(distinct)
        for start in range(0, len(hashes), BLOCK):  # blocks small enough to stay in a cache
            part = at[start : start + BLOCK] = _places(hashes[start : start + BLOCK], distinct, first)
            rows[part] = np.arange(start, start + len(part))
        names = ids.gather(rows)
        if all(
            names.gather(at[start : start + BLOCK]).eq_missing(ids[start : start + BLOCK]).all()
            for start in range(0, len(at), BLOCK)
        ):
            break
    order = names.arg_sort(nulls_last=False).to_numpy()
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    return names.gather(order), number[at]


def numbered_together(columns: Sequence[pl.Series]) -> tuple[pl.Series, list[Ints]]:
    """The distinct ids of several columns in order, and each column as numbers of them."""
    distinct, numbers = numbered(pl.concat([column.alias("id") for column in columns]))
    ends = np.cumsum([len(column) for column in columns])
    return distinct, list(np.split(numbers, ends[:-1]))


def distinct_keys(keys: Ints, space: int) -> tuple[Ints, Ints, Ints]:
    """The distinct keys in order, how many there are of each, and each key's place; without sorting where it can."""
    if space > 10 * len(keys):
        distinct, numbers, counts = np.unique(keys, return_inverse=True, return_counts=True)
        return distinct, counts, numbers
    counts = np.bincount(keys, minlength=space)
    distinct = np.flatnonzero(counts)
    places = np.cumsum(counts > 0) - 1
    return distinct, counts[distinct], places[keys]


def in_order(keys: Ints) -> tuple[Ints, Ints]:
    """The keys sorted, and the rows they come from, equal keys in the rows' order; with the row's number in its last
    bits a plain sort of numbers finds both faster."""
    bits = len(keys).bit_length()
    if int(keys.max(initial=0)).bit_length() + bits > 62:
        order = np.argsort(keys, kind="stable")
        return keys[order], order
    both = np.sort(keys << bits | np.arange(len(keys)))
    return both >> bits, both & ((1 << bits) - 1)


@dataclass(frozen=True)
class Documents:
    """A table's rows by document: `table` (topic, doc, judgments) in order, and `number`, each row's place in it."""

    table: pl.DataFrame
    number: Ints

    @property
    def counts(self) -> Ints:
        return self.table["judgments"].to_numpy()

    def means(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self.number, values, len(self.table)) / self.counts)

    def medians(self, values: Floats) -> Floats:
        """The median of each document's values, of an even count the middle of the two in the middle."""
        return np.asarray(self.ranked(values, lambda size: ((size - 1) // 2, size // 2)).mean(axis=1))

    def ranked(self, values: Floats, ranks: Callable[[int], tuple[int, int]]) -> Floats:
        """Two of each document's values, by their ranks (from 0) among all that it has; documents x 2.

        Documents with the same number of values are sorted together, as the rows of one array.
        """
        ordered = values[in_order(self.number)[1]]
        starts = np.cumsum(self.counts) - self.counts
        at_ranks = np.empty((len(self.table), 2))
        for size in np.unique(self.counts):
            mine = np.flatnonzero(self.counts == size)
            rows = np.sort(ordered[starts[mine][:, None] + np.arange(size)], axis=1)
            at_ranks[mine] = rows[:, list(ranks(int(size)))]
        return at_ranks


def documents_of(frame: pl.DataFrame) -> Documents:
    """The frame's documents in topic and id order, and the number of each row's."""
    topics, topic = numbered_runs(frame["topic"])
    ids, doc = numbered(frame["doc"])
    keys, counts, number = distinct_keys(topic * len(ids) + doc, len(topics) * len(ids))
    table = {"topic": topics.gather(keys // len(ids)), "doc": ids.gather(keys % len(ids)), "judgments": counts}
    return Documents(pl.DataFrame(table), number)


def runs_of(frame: pl.DataFrame) -> tuple[pl.DataFrame, Ints]:
    """The first row of each run of rows that are alike, and the number of each row's run."""
    changed = np.zeros(len(frame), dtype=np.bool_)
    changed[:1] = True
    for column in frame.iter_columns():
        changed[1:] |= column[1:].ne_missing(column[:-1]).to_numpy()
    return frame.filter(pl.Series(changed)), np.cumsum(changed) - 1


def numbered_runs(ids: pl.Series) -> tuple[pl.Series, Ints]:
    """Like :func:`numbered`, for ids that mostly repeat in consecutive rows."""
    first, run = runs_of(ids.to_frame("id"))
    distinct, number = numbered(first["id"])
    return distinct, number[run]


def groups_of(frame: pl.DataFrame, keys: Sequence[str]) -> tuple[pl.DataFrame, Ints]:
    """The groups that the rows fall into by their keys, in the order of their first rows, and each row's group.

    Rows of a group are mostly consecutive, so runs of equal keys are found first and only their keys looked up.
    """
    first, run = runs_of(frame.select(keys))
    if len(_distinct(first.hash_rows(1).to_numpy())) == len(first):  # the usual table: each group is one run
        return first, run
    groups = first.unique(maintain_order=True)
    numbers = first.join(groups.with_row_index("group"), on=list(keys), nulls_equal=True, maintain_order="left")
    return groups, numbers["group"].to_numpy().astype(np.int64)[run]


def _first_places(distinct: Hashes) -> Ints:
    """For each prefix of a hash, the position of the first hash that is not below it among the sorted distinct ones."""
    bits = min(22, max(1, len(distinct).bit_length() + 1))
    return np.searchsorted(distinct, np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits))


def _places(hashes: Hashes, distinct: Hashes, first: Ints) -> Ints:
    """The position of each hash among the sorted distinct ones; its first bits say nearly where."""
    at = first[hashes >> np.uint64(65 - len(first).bit_length())]
    wrong = np.flatnonzero(distinct[np.minimum(at, len(distinct) - 1)] != hashes)
    while len(wrong):
        at[wrong] += 1
        wrong = wrong[distinct[at[wrong]] != hashes[wrong]]
    return np.asarray(at, dtype=np.int64)


def _distinct(hashes: Hashes) -> Hashes:
    ordered = np.sort(hashes)
    return np.asarray(ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(ordered)]])
