"""An order for the pairs of a group in which only one document changes from one pair to the next.

Such an order is a Hamiltonian path in the group graph's line graph (Yang et al. 2018). The kept document keeps its
side. Not every set of pairs has one; otherwise the result has as few breaks as the search can reach, and says how many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgewell.errors import InputError

Pair = tuple[int, int]
EXACT_UP_TO = 14  # pairs; the exact search looks at 2 ** pairs subsets


@dataclass(frozen=True)
class PairSequence:
    """The pairs as (left, right) in order, and how often both documents change at once."""

    pairs: tuple[Pair, ...]
    breaks: int


def sequence(pairs: Sequence[Pair], rng: np.random.Generator) -> PairSequence:
    """The pairs in an order where consecutive pairs share one document, which keeps its side."""
    _check(pairs)
    neighbours = _line_graph(pairs)
    left_over = set(range(len(pairs)))
    paths: list[list[int]] = []
    while left_over:
        path = _longest_path(neighbours, left_over, rng)
        paths.append(path)
        left_over -= set(path)
    ordered: list[Pair] = []
    for path in paths:
        ordered += _with_sides([pairs[number] for number in path], bool(rng.integers(2)))
    return PairSequence(tuple(ordered), len(paths) - 1 if paths else 0)


def exact_path(neighbours: Sequence[Sequence[int]]) -> list[int] | None:
    """A Hamiltonian path by dynamic programming over subsets, or None where there is none.

    ends[S] holds, as bits, the vertices at which a path through exactly the vertices S can end.
    """
    count = len(neighbours)
    beside = [sum(1 << other for other in others) for others in neighbours]
    ends = [0] * (1 << count)
    for vertex in range(count):
        ends[1 << vertex] = 1 << vertex
    for chosen in range(1, 1 << count):
        here = ends[chosen]
        while here:
            vertex = (here & -here).bit_length() - 1
            here &= here - 1
            onward = beside[vertex] & ~chosen
            while onward:
                bit = onward & -onward
                onward ^= bit
                ends[chosen | bit] |= bit
    chosen = (1 << count) - 1
    if not count or not ends[chosen]:
        return None
    path: list[int] = []
    allowed = -1
    while chosen:
        bit = ends[chosen] & allowed
        vertex = (bit & -bit).bit_length() - 1
        path.append(vertex)
        chosen ^= 1 << vertex
        allowed = beside[vertex]
    return path


def _check(pairs: Sequence[Pair]) -> None:
    seen = set()
    for left, right in pairs:
        key = (min(left, right), max(left, right))
        if left == right or key in seen:
            raise InputError(f"the pair {left}, {right} is a document with itself or appears twice")
        seen.add(key)


def _line_graph(pairs: Sequence[Pair]) -> list[list[int]]:
    """For every pair the numbers of the pairs that share a document with it."""
    holders: dict[int, list[int]] = {}
    for number, pair in enumerate(pairs):
        for doc in pair:
            holders.setdefault(doc, []).append(number)
    return [[other for doc in pair for other in holders[doc] if other != number] for number, pair in enumerate(pairs)]


def _longest_path(neighbours: list[list[int]], within: set[int], rng: np.random.Generator) -> list[int]:
    """The longest path found among the given pairs: by rotations, and exactly where those fail and the set is small."""
    component = _component(neighbours, within)
    best: list[int] = []
    for _ in range(20):
        path = _by_rotations(neighbours, component, rng)
        if len(path) > len(best):
            best = path
        if len(best) == len(component):
            return best
    if len(component) <= EXACT_UP_TO:
        numbers = sorted(component)
        place = {number: at for at, number in enumerate(numbers)}
        inside = [[place[other] for other in neighbours[number] if other in place] for number in numbers]
        exact = exact_path(inside)
        if exact is not None:
            return [numbers[at] for at in exact]
    return best


def _component(neighbours: list[list[int]], within: set[int]) -> set[int]:
    """The pairs that can be reached from the first of the given ones."""
    reached, waiting = set(), [min(within)]
    while waiting:
        number = waiting.pop()
        if number not in reached:
            reached.add(number)
            waiting += [other for other in neighbours[number] if other in within and other not in reached]
    return reached


def _by_rotations(neighbours: list[list[int]], within: set[int], rng: np.random.Generator) -> list[int]:
    """A long path by extension and rotation (Pósa 1976): where the end cannot go on, the tail is turned around."""
    unused = set(within)
    path = [sorted(unused)[int(rng.integers(len(unused)))]]
    unused.discard(path[0])
    longest = list(path)
    stuck = 0
    while unused and stuck < 4 * len(within):
        beside = neighbours[path[-1]]
        onward = [other for other in beside if other in unused]
        if onward:
            path.append(onward[int(rng.integers(len(onward)))])
            unused.discard(path[-1])
            stuck = 0
            if len(path) > len(longest):
                longest = list(path)
            continue
        stuck += 1
        back = [other for other in beside if other in within and other != path[-2:][0]]
        if not back or stuck % 7 == 0:
            path.reverse()
            continue
        turn = path.index(back[int(rng.integers(len(back)))])
        path[turn + 1 :] = path[:turn:-1]
    return longest


def _with_sides(pairs: list[Pair], mirrored: bool) -> list[Pair]:
    """The pairs with their sides set: the document kept from the pair before stays where it was."""
    left, right = pairs[0][::-1] if mirrored else pairs[0]
    placed = [(left, right)]
    for pair in pairs[1:]:
        if left in pair:
            right = pair[0] if pair[1] == left else pair[1]
        else:
            left = pair[0] if pair[1] == right else pair[1]
        placed.append((left, right))
    return placed
