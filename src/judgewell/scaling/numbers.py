"""Ids as numbers, once per table: what groups and sums rows by arrays instead of by text.

Ids are told apart by a 64-bit hash and every match is verified by the id itself; two ids of one hash, should they ever
meet, are hashed again with another seed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.scaling.laplacian import Index

Hashes = NDArray[np.uint64]
BLOCK = 1 << 17


def numbered(ids: pl.Series) -> tuple[pl.Series, Index]:
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
        found = ids.gather(rows)
        if all(
            found.gather(at[start : start + BLOCK]).eq_missing(ids[start : start + BLOCK]).all()
            for start in range(0, len(at), BLOCK)
        ):
            break
    order = found.arg_sort(nulls_last=False).to_numpy()
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    return found.gather(order), number[at]


def numbered_together(columns: Sequence[pl.Series]) -> tuple[pl.Series, list[Index]]:
    """The distinct ids of several columns in order, and each column as numbers of them."""
    distinct, numbers = numbered(pl.concat([column.alias("id") for column in columns]))
    ends = np.cumsum([len(column) for column in columns])
    return distinct, list(np.split(numbers, ends[:-1]))


def _first_places(distinct: Hashes) -> Index:
    """For each beginning of a hash, where the first hash that is not below it stands among the sorted distinct ones."""
    bits = min(22, max(1, len(distinct).bit_length() + 1))
    return np.searchsorted(distinct, np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits))


def _places(hashes: Hashes, distinct: Hashes, first: Index) -> Index:
    """Where each hash stands among the sorted distinct ones: its first bits say nearly where."""
    at = first[hashes >> np.uint64(65 - len(first).bit_length())]
    wrong = np.flatnonzero(distinct[np.minimum(at, len(distinct) - 1)] != hashes)
    while len(wrong):
        at[wrong] += 1
        wrong = wrong[distinct[at[wrong]] != hashes[wrong]]
    return np.asarray(at, dtype=np.int64)


def _distinct(hashes: Hashes) -> Hashes:
    ordered = np.sort(hashes)
    return np.asarray(ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(ordered)]])
