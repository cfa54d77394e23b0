"""Colouring the edges of a bipartite graph, so that no two edges at a vertex share a colour.

König (1916): as many colours as the largest degree suffice. Units and documents are the two sides, positions the
colours.
"""

from __future__ import annotations

import numpy as np


def edge_colours(left: list[int], right: list[int], colours: int, rng: np.random.Generator) -> list[int]:
    """A colour for every edge; no vertex may have more edges than there are colours.

    Edges are coloured one by one. Where its two ends have no free colour in common, one chain of two alternating
    colours is exchanged, which frees one; in a bipartite graph the chain never comes back to the edge's other end.
    """
    at_left = [[-1] * colours for _ in range(max(left, default=-1) + 1)]
    at_right = [[-1] * colours for _ in range(max(right, default=-1) + 1)]
    colour_of = [-1] * len(left)
    starts = rng.integers(colours, size=len(left)).tolist()
    for edge in rng.permutation(len(left)).tolist():
        here, there = at_left[left[edge]], at_right[right[edge]]
        turn = [(starts[edge] + step) % colours for step in range(colours)]
        free = next((colour for colour in turn if here[colour] < 0 and there[colour] < 0), None)
        if free is None:
            free = next(colour for colour in turn if here[colour] < 0)
            other = next(colour for colour in turn if there[colour] < 0)
            _exchange(edge, free, other, (left, right), (at_left, at_right), colour_of)
        here[free] = there[free] = edge
        colour_of[edge] = free
    return colour_of


def _exchange(
    edge: int,
    free: int,
    other: int,
    ends: tuple[list[int], list[int]],
    at: tuple[list[list[int]], list[list[int]]],
    colour_of: list[int],
) -> None:
    """Swap the colours `free` and `other` along the chain that starts at the edge's right end with `free`."""
    chain, side, vertex, colour = [], 1, ends[1][edge], free
    while (edge := at[side][vertex][colour]) >= 0:
        chain.append(edge)
        side, colour = 1 - side, other if colour == free else free
        vertex = ends[side][edge]
    for edge in chain:
        for side in (0, 1):
            at[side][ends[side][edge]][colour_of[edge]] = -1
    for edge in chain:
        colour_of[edge] = other if colour_of[edge] == free else free
        for side in (0, 1):
            at[side][ends[side][edge]][colour_of[edge]] = edge
