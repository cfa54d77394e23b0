"""The ranks that matter: sums over ranks, and the few ranks of long rankings that hold a relevant document.

Values do not depend, to the last bit, on how far arrays are padded or on which rankings are measured together: equal
rankings have equal values, so that a difference of two systems is 0 exactly where they rank alike.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgewell.values import dataclass

Array = NDArray[np.float64]
Truth = NDArray[np.bool_]

BLOCK = 32
SHORT = 64  # cutoffs up to which it is quicker to look at every rank


def weighted_sum(values: Array, weights: Array, width: int | None = None) -> Array:
    """Σ value × weight over the last axis, added up as if zeros made it `width` long, or in blocks where it is long."""
    if width is not None and width <= SHORT:
        return _dot(_widened(values, width), _widened(weights, width))
    total: Any = np.zeros(np.broadcast_shapes(values.shape[:-1], weights.shape[:-1]))
    for start in range(0, values.shape[-1], BLOCK):
        part = slice(start, start + BLOCK)
        total += _dot(_widened(values[..., part], BLOCK), _widened(weights[..., part], BLOCK))
    return np.asarray(total)


def added_up(values: Array) -> Array:
    """Σ value over the last axis."""
    return weighted_sum(values, np.ones(values.shape[-1]))


def _dot(values: Array, weights: Array) -> Array:
    return np.asarray(np.vecdot(values, weights))


def _widened(values: Array, width: int) -> Array:
    missing = width - values.shape[-1]
    if not missing:
        return values
    out = np.zeros((*values.shape[:-1], width))
    out[..., : values.shape[-1]] = values
    return out


@dataclass(frozen=True)
class Kept:
    """The ranks of each ranking that were asked for, first to last, padded behind; or all ranks, the others blank."""

    there: Truth  # not blank
    number: NDArray[Any]  # how many there are down to each, itself included
    inverse_rank: Array  # 1 / rank, 0 where blank
    places: tuple[NDArray[np.intp], ...] | None  # row, rank and place of each; None where all ranks are kept

    def values(self, gains: Array, blank: float = 0.0) -> Array:
        """The gains at these ranks."""
        if self.places is None:
            return np.where(self.there, gains, blank)
        row, rank, place = self.places
        out = np.full((math.prod(gains.shape[:-1]), self.there.shape[-1]), blank)
        out[row, place] = gains.reshape(-1, gains.shape[-1])[row, rank] if len(row) else 0.0
        return out.reshape(self.there.shape)

    def ranks(self) -> NDArray[np.int64]:
        """The ranks, counted from 0; 0 where blank."""
        if self.places is None:
            return np.broadcast_to(np.arange(self.there.shape[-1]), self.there.shape)
        row, rank, place = self.places
        out = np.zeros((math.prod(self.there.shape[:-1]), self.there.shape[-1]), dtype=np.int64)
        out[row, place] = rank
        return out.reshape(self.there.shape)


def keep(asked: Truth, cutoff: int | None) -> Kept:
    """The ranks of each ranking that are asked for; all, with the others blank, where the cutoff makes rankings short.

    Which it is depends on the measure's cutoff alone, so that a ranking's value does not depend on its neighbours.
    """
    *lead, depth = asked.shape
    if cutoff is not None and cutoff <= SHORT:
        return Kept(asked, hits_so_far(asked), asked / np.arange(1.0, depth + 1), None)
    row, rank = np.divmod(np.flatnonzero(asked), max(depth, 1))
    rows = math.prod(lead)
    counts = np.bincount(row, minlength=rows)
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    width = int(counts.max(initial=0))
    inverse = np.zeros((rows, width))
    inverse[row, place] = 1 / (rank + 1)
    there = np.arange(width) < counts[:, None]
    shape = (*lead, width)
    return Kept(there.reshape(shape), np.arange(1.0, width + 1), inverse.reshape(shape), (row, rank, place))


def hits_so_far(hit: Truth) -> NDArray[np.int32]:
    """How many of the ranks down to each are true."""
    return np.cumsum(hit, axis=-1, dtype=np.int32)
