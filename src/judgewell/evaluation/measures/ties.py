"""Documents with the same score share their ranks: the expected value over the orders the tie could be broken in."""

from __future__ import annotations

from typing import Any

import numpy as np

from judgewell.evaluation.measures.base import Measure
from judgewell.evaluation.measures.ranks import Array


def average_over_ties(values: Array, ties: Any) -> Array:
    """The values (…, depth), each replaced by the mean of its tie: the ranks around it with the same number in `ties`.

    Of a linear measure, `measure.total(average_over_ties(measure.credit(gains), ties), ideal)` is the exact expected
    value over all orders of the tied documents, also where the cutoff falls inside a tie, since it is applied after.
    """
    if not values.shape[-1]:
        return values
    ties = np.broadcast_to(ties, values.shape)
    first = np.ones(values.shape, dtype=bool)
    np.not_equal(ties[..., 1:], ties[..., :-1], out=first[..., 1:])
    starts = np.flatnonzero(first)
    if len(starts) == values.size:
        return values
    sizes = np.diff(starts, append=values.size)
    means = np.add.reduceat(values.ravel(), starts) / sizes
    return np.repeat(means, sizes).reshape(values.shape)


def expected_over_ties(measure: Measure, gains: Array, ideal: Array, ties: Any, lengths: Any = None) -> Array:
    """The expected value of a linear measure over all orders of the tied documents."""
    return _total(measure, average_over_ties(measure.credit(gains), ties), ideal, None, lengths)


def spread_over_ties(measure: Measure, gains: Array, ideal: Array, ties: Any, lengths: Any = None) -> Array:
    """A linear measure whose tied documents all get the mean weight of the tie's ranks, as rbp_eval computes it.

    It equals the expected value unless the cutoff falls inside a tie: there the ranks above the cutoff are given the
    mean weight of ranks above and below it.
    """
    weights = np.broadcast_to(measure.weights(gains.shape[-1]), gains.shape)
    credit = average_over_ties(measure.credit(gains), ties)
    return _total(measure, credit, ideal, average_over_ties(weights, ties), lengths)


def _total(measure: Measure, credit: Array, ideal: Array, weights: Array | None, lengths: Any) -> Array:
    more = {"lengths": lengths} if measure.needs_lengths else {}
    return measure.total(credit, ideal, weights, **more)
