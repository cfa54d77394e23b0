"""Resampling that the stages share: bootstrap draws over groups, percentile intervals, jackknife, permutations.

A draw is made over whole groups (topics, documents, assessors), because rows of one group are not independent.
Draws come as counts ("how often was each group drawn").
Every function takes the `numpy.random.Generator` that makes the choices; none has a state of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from judgewell.errors import DataError, InputError
from judgewell.stats.arrays import Floats, Ints

BLOCK_CELLS = 8_000_000  # the most cells of a draw held at once: 64 MB


def bootstrap_weights(size: int, replicates: int, rng: np.random.Generator) -> Ints:
    """How often each group was drawn in each replicate: replicates × size, every row sums to size."""
    _check_draw(size, replicates)
    return _counts_of_draws(size, replicates, rng)


def weight_blocks(size: int, replicates: int, rng: np.random.Generator) -> Iterator[Ints]:
    """The rows of :func:`bootstrap_weights` a block at a time, so that a million groups fit in memory."""
    _check_draw(size, replicates)
    rows = max(1, BLOCK_CELLS // size)
    for start in range(0, replicates, rows):
        yield _counts_of_draws(size, min(rows, replicates - start), rng)


def tasks(count: int, size: int) -> list[tuple[int, int]]:
    """`count` replicates in tasks of `size`: each task's number, which seeds it, and how many are its own."""
    return [(number, min(size, count - start)) for number, start in enumerate(range(0, count, size))]


def permutations(size: int, count: int, rng: np.random.Generator) -> Ints:
    """Random orders of 0 … size − 1: count × size."""
    _check_draw(size, count)
    return rng.permuted(np.broadcast_to(np.arange(size), (count, size)), axis=1)


def percentile_interval(replicates: ArrayLike, level: float = 0.95) -> tuple[Any, Any]:
    """The percentile interval of bootstrap replicates (along the first axis): the middle `level` of them.

    Replicates that are NaN (a statistic undefined in that one) are excluded; where none is left both ends are NaN.
    """
    check_level(level)
    values = np.asarray(replicates, dtype=np.float64)
    tails = [50 * (1 - level), 50 * (1 + level)]
    if not np.isnan(values).any():
        low, high = np.percentile(values, tails, axis=0)
        return low, high
    nothing = np.isnan(values).all(axis=0, keepdims=True)
    low, high = np.nanpercentile(np.where(nothing, 0.0, values), tails, axis=0)
    gone = np.squeeze(nothing, axis=0)
    return np.where(gone, np.nan, low)[()], np.where(gone, np.nan, high)[()]


def jackknife_variance(without: Floats) -> float:
    """(T − 1)/T · the sum of squared deviations of the estimates without each of T groups."""
    size = len(without)
    return float((size - 1) / size * ((without - without.mean()) ** 2).sum())


def check_level(level: float) -> None:
    """Refuse a confidence level that is not a share."""
    if not 0 < level < 1:
        raise InputError(f"the level {level} is not between 0 and 1", cure="give 0.95 for a 95 % interval")


def _check_draw(size: int, replicates: int) -> None:
    if size < 1:
        raise DataError("there is nothing to resample: the data hold no group")
    if replicates < 1:
        raise InputError(f"{replicates} replicates are too few", cure="ask for 1 or more, usually 1000")


def _counts_of_draws(size: int, replicates: int, rng: np.random.Generator) -> Ints:
    """Counts by drawing places and tallying them: faster than a multinomial with thousands of groups."""
    drawn = rng.integers(0, size, size=(replicates, size))
    drawn += (np.arange(replicates) * size)[:, None]
    return np.bincount(drawn.ravel(), minlength=replicates * size).reshape(replicates, size)
