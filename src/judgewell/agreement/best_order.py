"""The order that contradicts the fewest preferences, exactly, and how few random answers would contradict.

Finding it is the minimum feedback arc set: for a set S of documents ranked on top, the least number of contradicted
preferences is f(S ∪ v) = min_v f(S) + (preferences of v over members of S); 2ⁿ sets, so n is at most 12. Documents in
different strongly connected components never share a cycle, so larger groups work as long as no component is larger.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgewell.errors import InputError
from judgewell.stats.arrays import Ints

MOST_DOCUMENTS = 12
MOST_FLIPS = 14  # up to this many comparisons all orientations are tried, beyond it they are sampled
BLOCK_CELLS = 16_000_000


@dataclass(frozen=True)
class Chance:
    """What answers by the toss of a coin give on one comparison graph."""

    discords: float  # expected number of contradicted preferences
    perfect: float  # probability that none is
    exact: bool


def best_orders(wins: Ints) -> tuple[Ints, Ints]:
    """The fewest discords of each group and an order (best first) that has them.

    `wins` is groups × documents × documents: how often the first was preferred to the second.
    """
    groups, size, _ = wins.shape
    if size > MOST_DOCUMENTS:
        raise InputError(
            f"an exact best order of {size} documents takes too long", cure=f"give groups of {MOST_DOCUMENTS} or fewer"
        )
    rows = max(1, BLOCK_CELLS // ((1 << size) * max(size, 1)))
    parts = [_best_block(wins[start : start + rows]) for start in range(0, groups, rows)]
    if not parts:
        return np.zeros(0, dtype=np.int64), np.zeros((0, size), dtype=np.int64)
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def best_order_by_parts(wins: Ints) -> tuple[int, Ints] | None:
    """The same for one group of any size, component by component; None where a component is too large."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    _, labels = connected_components(csr_array((wins > 0).astype(np.int8)), directed=True, connection="strong")
    component = np.asarray(labels, dtype=np.int64)
    sizes = np.bincount(component)
    if sizes.max() > MOST_DOCUMENTS:
        return None
    discords, pieces = 0, {}
    for number in range(len(sizes)):
        members = np.flatnonzero(component == number)
        fewest, order = best_orders(wins[np.ix_(members, members)][None])
        discords += int(fewest[0])
        pieces[number] = members[order[0]]
    return discords, np.concatenate([pieces[number] for number in _winners_first(wins, component, len(sizes))])


class ChanceByShape:
    """What random answers leave on a graph of comparisons (documents × documents counts, symmetric).

    A cycle stays inside one biconnected part of the graph, so parts are taken one by one: discords add, and none is
    contradicted when no part is. Up to 14 comparisons all orientations of a part are tried, beyond it `samples` are
    drawn. Values are remembered by shape: the groups of a study share a handful of shapes.
    """

    def __init__(self, samples: int, rng: np.random.Generator) -> None:
        self._samples = samples
        self._rng = rng
        self._known: dict[bytes, list[tuple[Ints, Chance | None]]] = {}

    def __call__(self, comparisons: Ints) -> Chance | None:
        """The chance values of the graph; None where a cycle of random answers can be too large to resolve."""
        parts = [self._of_part(comparisons[np.ix_(part, part)]) for part in biconnected_parts(comparisons)]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        perfect = float(np.prod([part.perfect for part in known]))
        return Chance(sum(part.discords for part in known), perfect, all(part.exact for part in known))

    def _of_part(self, part: Ints) -> Chance | None:
        same_look = self._known.setdefault(np.sort(_looks(part)).tobytes(), [])
        for shape, chance in same_look:
            if isomorphic(shape, part):
                return chance
        chance = _chance_of(part, self._samples, self._rng)
        same_look.append((part, chance))
        return chance


def biconnected_parts(graph: Ints) -> list[list[int]]:
    """The vertices of every part of a graph that holds a cycle and does not fall apart without any one vertex.

    A pair compared twice is a cycle of its own. Found by depth-first search (Hopcroft & Tarjan 1973).
    """
    depth: dict[int, int] = {}
    low: dict[int, int] = {}
    parts: list[list[int]] = []
    edges: list[tuple[int, int]] = []
    for root in range(len(graph)):
        if root in depth:
            continue
        depth[root] = low[root] = 0
        path = [(root, iter(np.flatnonzero(graph[root]).tolist()))]
        while path:
            vertex, neighbours = path[-1]
            parent = path[-2][0] if len(path) > 1 else None
            ahead = next((other for other in neighbours if other != parent), None)
            if ahead is None:
                path.pop()
                if parent is not None:
                    low[parent] = min(low[parent], low[vertex])
                    if low[vertex] >= depth[parent]:
                        cut = edges.index((parent, vertex))
                        parts.append(sorted({end for edge in edges[cut:] for end in edge}))
                        del edges[cut:]
            elif ahead not in depth:
                depth[ahead] = low[ahead] = len(path)
                edges.append((vertex, ahead))
                path.append((ahead, iter(np.flatnonzero(graph[ahead]).tolist())))
            elif depth[ahead] < depth[vertex]:
                edges.append((vertex, ahead))
                low[vertex] = min(low[vertex], depth[ahead])
    return [part for part in parts if len(part) > 2 or graph[part[0], part[1]] > 1]


def isomorphic(one: Ints, other: Ints) -> bool:
    """Are two small graphs (with counts on their edges) the same up to the names of documents?"""
    if one.shape != other.shape:
        return False
    looks, other_looks = _looks(one), _looks(other)
    if not np.array_equal(np.sort(looks), np.sort(other_looks)):
        return False
    candidates = [np.flatnonzero(other_looks == look) for look in looks]
    return _match(one, other, candidates, [])


def _best_block(wins: Ints) -> tuple[Ints, Ints]:
    groups, size, _ = wins.shape
    every = 1 << size
    over = np.zeros((every, groups, size), dtype=np.int32)  # over[S][:, v]: preferences of v over members of S
    fewest = np.zeros((every, groups), dtype=np.int32)
    last = np.zeros((every, groups), dtype=np.int8)
    for members in range(1, every):
        lowest = members & -members
        over[members] = over[members ^ lowest] + wins[:, :, lowest.bit_length() - 1]
        inside = [place for place in range(size) if members >> place & 1]
        options = np.stack([fewest[members ^ 1 << place] + over[members ^ 1 << place, :, place] for place in inside])
        chosen = options.argmin(axis=0)
        fewest[members] = np.take_along_axis(options, chosen[None], axis=0)[0]
        last[members] = np.asarray(inside, dtype=np.int8)[chosen]
    order = np.zeros((groups, size), dtype=np.int64)
    left = np.full(groups, every - 1)
    for place in range(size - 1, -1, -1):
        order[:, place] = last[left, np.arange(groups)]
        left ^= 1 << order[:, place]
    return fewest[every - 1].astype(np.int64), order


def _discords(wins: Ints) -> Ints | None:
    """The fewest discords of each group, whatever its size; None where one has a component that is too large."""
    if wins.shape[1] <= MOST_DOCUMENTS:
        return best_orders(wins)[0]
    orders = [best_order_by_parts(group) for group in wins]
    counts = [best[0] for best in orders if best is not None]
    return np.array(counts, dtype=np.int64) if len(counts) == len(orders) else None


def _chance_of(comparisons: Ints, samples: int, rng: np.random.Generator) -> Chance | None:
    first, second = _edges(comparisons)
    exact = len(first) <= MOST_FLIPS
    flips = _all_flips(len(first)) if exact else rng.integers(0, 2, size=(samples, len(first))).astype(bool)
    wins = np.zeros((len(flips), *comparisons.shape), dtype=np.int64)
    row = np.arange(len(flips))[:, None]
    np.add.at(wins, (row, np.where(flips, second, first), np.where(flips, first, second)), 1)
    fewest = _discords(wins)
    return None if fewest is None else Chance(float(fewest.mean()), float((fewest == 0).mean()), exact)


def _winners_first(wins: Ints, component: Ints, count: int) -> list[int]:
    """Components so that no preference points upwards."""
    beats = np.zeros((count, count), dtype=bool)
    winner, loser = np.nonzero(wins)
    beats[component[winner], component[loser]] = True
    np.fill_diagonal(beats, False)
    order: list[int] = []
    while len(order) < count:
        free = [number for number in range(count) if number not in order and not beats[:, number].any()]
        order += free
        beats[free] = False
    return order


def _edges(comparisons: Ints) -> tuple[Ints, Ints]:
    """The two ends of every comparison, a pair compared twice twice."""
    first, second = np.nonzero(np.triu(comparisons, 1))
    times = comparisons[first, second]
    return np.repeat(first, times), np.repeat(second, times)


def _all_flips(edges: int) -> NDArray[np.bool_]:
    """All ways to turn the comparisons but the last: turning every one of them changes no count."""
    return (np.arange(1 << (edges - 1))[:, None] >> np.arange(edges)[None, :] & 1).astype(bool)


def _looks(graph: Ints) -> Ints:
    """A number for each vertex that no renaming changes: how many walks of each length return, and its neighbours'."""
    powers = [graph]
    for _ in range(3):
        powers.append(powers[-1] @ graph)
    returns = np.stack([np.diagonal(power) for power in powers] + [graph.sum(axis=1)], axis=1)
    around = [np.sort(power, axis=1) for power in powers[:3]]
    rows = np.concatenate([returns, *around], axis=1)
    return np.array([hash(row.tobytes()) for row in np.ascontiguousarray(rows)], dtype=np.int64)


def _match(one: Ints, other: Ints, candidates: list[Ints], chosen: list[int]) -> bool:
    """Extend a mapping vertex by vertex, going back where an edge does not fit."""
    place = len(chosen)
    if place == len(candidates):
        return True
    for vertex in candidates[place]:
        fits = vertex not in chosen and np.array_equal(one[place, :place], other[vertex, chosen])
        if fits and _match(one, other, candidates, [*chosen, int(vertex)]):
            return True
    return False
