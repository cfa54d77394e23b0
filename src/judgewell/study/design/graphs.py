"""Which documents of a group meet: random connected graphs in which every document has the same number of partners.

A catalogue of such graphs, each with its sequence of pairs, is drawn once; a group is then a graph from the catalogue
with its documents written on it at random, so large designs cost no search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgewell.errors import InputError
from judgewell.stats.arrays import Ints
from judgewell.study.design.sequences import Pair, sequence


@dataclass(frozen=True)
class Graphs:
    """Graphs of one size: pair sequences as an array graph × pair × (left, right); vertices 0 and 1 always meet."""

    size: int
    partners: int
    pairs: Ints
    breaks: Ints


def check_group(size: int, partners: int) -> None:
    """Refuse sizes for which no connected graph exists."""
    if size < 2:
        raise InputError(f"a group of {size} has no pairs", cure="make groups of at least 2 documents")
    if not 1 <= partners < size:
        raise InputError(
            f"a document cannot meet {partners} others in a group of {size}", cure=f"choose 1 to {size - 1} partners"
        )
    if size * partners % 2:
        raise InputError(
            f"{size} documents cannot each meet {partners} others: {size} × {partners} is odd, and a pair has two",
            cure="make the group or the number of partners even",
        )
    if partners == 1 and size > 2:
        raise InputError(
            f"with one partner each, a group of {size} falls apart into pairs", cure="choose at least 2 partners"
        )


def random_graph(size: int, partners: int, rng: np.random.Generator) -> list[Pair]:
    """A random connected graph on 0..size-1 in which every vertex has `partners` neighbours and 0 meets 1.

    Any edge of a random graph is as good as another, so one is drawn and its ends are named 0 and 1.
    """
    check_group(size, partners)
    sparse = min(partners, size - 1 - partners)
    while True:
        edges = _regular(size, sparse, rng)
        if edges is None:
            continue
        if sparse < partners:
            present = set(edges)
            edges = [(a, b) for a in range(size) for b in range(a + 1, size) if (a, b) not in present]
        if _connected(size, edges):
            break
    first = edges[int(rng.integers(len(edges)))]
    names = rng.permutation(np.arange(2, size)).tolist()
    name = {first[0]: 0, first[1]: 1} | dict(zip([v for v in range(size) if v not in first], names, strict=True))
    return [(name[a], name[b]) for a, b in edges]


def make_graphs(size: int, partners: int, rng: np.random.Generator, count: int = 256) -> Graphs:
    """A catalogue of random graphs with their pair sequences."""
    check_group(size, partners)
    sequences = [sequence(random_graph(size, partners, rng), rng) for _ in range(count)]
    return Graphs(
        size,
        partners,
        np.array([one.pairs for one in sequences], dtype=np.int64),
        np.array([one.breaks for one in sequences], dtype=np.int64),
    )


def _regular(size: int, partners: int, rng: np.random.Generator) -> list[Pair] | None:
    """One attempt at a random regular graph by joining free ends (Steger & Wormald 1999); None if stuck."""
    free = [partners] * size
    edges: set[Pair] = set()
    while sum(free):
        open_pairs = [
            (a, b) for a in range(size) if free[a] for b in range(a + 1, size) if free[b] and (a, b) not in edges
        ]
        if not open_pairs:
            return None
        weights = np.cumsum([free[a] * free[b] for a, b in open_pairs])
        a, b = open_pairs[int(np.searchsorted(weights, rng.integers(weights[-1]), side="right"))]
        edges.add((a, b))
        free[a] -= 1
        free[b] -= 1
    return sorted(edges)


def _connected(size: int, edges: list[Pair]) -> bool:
    reached = {0}
    while True:
        more = {vertex for edge in edges if reached & set(edge) for vertex in edge} - reached
        if not more:
            return len(reached) == size
        reached |= more
