"""Units of work: a few documents of one topic for one assessor, with the topic's known documents in every unit.

Every document is judged at least as often as asked, none is in a unit twice, and there are as few units as possible.
Documents are numbered 0..n-1 here; names are the design's business.
"""

from __future__ import annotations

from math import ceil
from typing import Literal

import numpy as np

from judgewell.errors import DataError, InputError
from judgewell.stats.arrays import Ints
from judgewell.study.design.colouring import edge_colours

Order = Literal["random", "balanced"]


def units_needed(documents: int, size: int, redundancy: int, known: int = 2) -> int:
    """How many units a topic takes: ceil(r·(n − known) / (size − known)) (Turpin et al. 2015).

    A topic with fewer documents than a unit puts all of them into each of its r units.
    """
    others, room = documents - known, size - known
    return redundancy if others <= room else ceil(redundancy * others / room)


def make_units(
    documents: int,
    size: int,
    need: int | Ints,
    rng: np.random.Generator,
    *,
    known: tuple[int, ...] = (),
    order: Order = "random",
) -> Ints:
    """Units as rows of document numbers in the order of presentation.

    `need` is the least number of judgments, for all documents or for each; `known` documents are in every unit
    whatever their need. Units are max(ceil(Σ need / room), largest need), where room = size − known.
    """
    others = np.setdiff1d(np.arange(documents), np.array(known, dtype=np.int64))
    _check(documents, size, known)
    needs = np.broadcast_to(np.asarray(need, dtype=np.int64), documents)[others]
    room = min(size - len(known), len(others))
    filled = others[_fill(needs, room, rng)] if len(others) else np.empty((int(np.max(need)), 0), dtype=np.int64)
    everywhere = np.tile(np.array(known, dtype=np.int64), (len(filled), 1))
    units = np.concatenate([everywhere, filled], axis=1)
    if order == "balanced":
        return _balanced(units, rng)
    return rng.permuted(units, axis=1)


def _check(documents: int, size: int, known: tuple[int, ...]) -> None:
    if documents < 1:
        raise DataError("a topic without documents has nothing to judge; add documents or leave the topic out")
    if len(set(known)) < len(known) or any(not 0 <= doc < documents for doc in known):
        raise InputError(f"the known documents {known} are not {len(known)} different documents of the topic")
    if size <= len(known) and documents > len(known):
        raise InputError(
            f"a unit of {size} has no room beside {len(known)} known documents",
            cure=f"make units of at least {len(known) + 1}",
        )


def _fill(needs: Ints, room: int, rng: np.random.Generator) -> Ints:
    """Rows of `room` different documents until every need is met.

    Each unit takes the documents with the largest open need, ties by lot. Largest first never wastes a place before
    the last units, so it reaches the least number of units; places left there go to documents by lot.
    """
    open_needs = needs.copy()
    rows = []
    while open_needs.max() > 0:
        lot = rng.random(len(needs))
        chosen = np.sort(np.argpartition(-(open_needs + lot), room - 1)[:room])
        open_needs[chosen] = np.maximum(open_needs[chosen] - 1, 0)
        rows.append(chosen)
    return np.array(rows, dtype=np.int64).reshape(-1, room)


def _balanced(units: Ints, rng: np.random.Generator) -> Ints:
    """The units ordered so that each document is in every position equally often (±1).

    Positions are colours of a bipartite graph of units and documents. A document is split into parts of at most
    `size` units; a bipartite graph whose degrees are at most `size` has a proper colouring with `size` colours
    (König 1916), and a proper colouring gives each part every position at most once.
    """
    count, size = units.shape
    units = units[rng.permutation(count)]
    docs = units.ravel()
    by_doc = np.argsort(docs, kind="stable")
    first = np.searchsorted(docs[by_doc], docs[by_doc])
    turn = np.empty(len(docs), dtype=np.int64)
    turn[by_doc] = np.arange(len(docs)) - first
    _, part = np.unique(docs * (count + 1) + turn // size, return_inverse=True)
    unit = np.repeat(np.arange(count), size)
    position = np.array(edge_colours(unit.tolist(), part.tolist(), size, rng), dtype=np.int64)
    ordered = np.empty_like(units)
    ordered[unit, position] = docs
    return ordered
