"""Drawing the documents that people judge, with known probabilities, so that what was not drawn can be estimated."""

from __future__ import annotations

import numpy as np

from judgewell.stats.arrays import Floats, Ints

EVEN = 0.1  # the share of the probability that is spread evenly, so that every document can be drawn


def inclusion_probabilities(importance: Floats, size: int) -> Floats:
    """π_d ∝ .9 a_d / Σa + .1 / N, at most 1, rescaled so that they add up to `size`.

    >>> inclusion_probabilities(np.array([8.0, 1.0, 1.0, 0.0]), 2).round(3)
    array([1.   , 0.434, 0.434, 0.132])
    """
    count = len(importance)
    if size >= count:
        return np.ones(count)
    total = importance.sum()
    share = (1 - EVEN) * importance / total + EVEN / count if total > 0 else np.full(count, 1 / count)
    sure = np.zeros(count, dtype=bool)
    while True:
        rest = (size - sure.sum()) * share / share[~sure].sum()
        over = ~sure & (rest >= 1)
        if not over.any():
            return np.where(sure, 1.0, rest)
        sure |= over


def pareto_sample(inclusion: Floats, uniform: Floats, size: int) -> Ints:
    """The `size` documents with the smallest [u / (1 − u)] · [(1 − π) / π] (Rosén 1997); u uniform on ]0, 1[."""
    with np.errstate(divide="ignore"):
        order = uniform / (1 - uniform) * (1 - inclusion) / inclusion
    return np.sort(np.argsort(order, kind="stable")[:size])


def shared_out(total: int, sizes: Ints, least: int) -> Ints:
    """A whole number for each group, `total` together: at least `least` (or all of it), the rest in proportion to what
    is left of the groups, by largest remainders."""
    given = np.minimum(sizes, least)
    left = sizes - given
    exact = (total - given.sum()) * left / max(left.sum(), 1)
    whole: Ints = np.floor(exact).astype(np.int64)
    missing = total - int(given.sum() + whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:missing]] += 1
    return given + whole
