"""Do two sets of scores order the systems alike: Kendall's tau-a and tau-b, tau-AP, Spearman's rho.

All work on the last axis, so that one call serves one pair of rankings or a thousand. Higher scores are better. Two
scores whose relative difference is at most 1e-9 are tied: sums in another order must not make an order. (RBO is in
`rbo`.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from itertools import combinations
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from judgewell.errors import DataError, InputError
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.concordance import TIE, Concordance, count_concordance

Ties = Literal["b", "strict", "name"]


def tie_ranks(scores: ArrayLike) -> Ints:
    """Ranks from 0, lowest first, along the last axis; neighbours closer than the tolerance share a rank."""
    values = _numbers(scores)
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    low, high = ordered[..., :-1], ordered[..., 1:]
    steps = np.zeros(values.shape, dtype=np.int64)
    steps[..., 1:] = (high - low) > TIE * np.maximum(np.abs(low), np.abs(high))
    ranks = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.cumsum(steps, axis=-1), axis=-1)
    return ranks


def concordance(first: ArrayLike, second: ArrayLike) -> Concordance:
    """Count the pairs of systems (last axis) that two sets of scores order alike; leading axes broadcast."""
    x, y = _numbers(first), _numbers(second)
    count = _same_count(x, y)
    x, y = np.broadcast_arrays(x, y)
    groups = np.repeat(np.arange(x.size // count), count)
    counted = count_concordance(x.ravel(), y.ravel(), groups)
    return Concordance(*(getattr(counted, field.name).reshape(x.shape[:-1]) for field in fields(counted)))


def tau_b(first: ArrayLike, second: ArrayLike) -> Any:
    """Kendall's tau-b; NaN where all systems of a set are tied."""
    return concordance(first, second).tau_b[()]


def tau_a(first: ArrayLike, second: ArrayLike) -> Any:
    """Kendall's tau-a: concordant minus discordant, over all pairs."""
    return concordance(first, second).tau_a[()]


def tau_p_value(tau: float, systems: int) -> float:
    """The two-sided p of tau = 0 without ties: z = tau · √(9n(n − 1) / (2(2n + 5))), normal."""
    from scipy.special import ndtr

    z = abs(tau) * np.sqrt(9 * systems * (systems - 1) / (2 * (2 * systems + 5)))
    return float(2 * ndtr(-z))


def spearman(first: ArrayLike, second: ArrayLike) -> Any:
    """Spearman's rho: the correlation of ranks, tied systems sharing their mean rank."""
    x, y = _mean_ranks(first), _mean_ranks(second)
    _same_count(x, y)
    x, y = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    scale = np.sqrt(np.asarray((x * x).sum(axis=-1) * (y * y).sum(axis=-1)))
    return np.divide((x * y).sum(axis=-1), scale, out=np.full(scale.shape, np.nan), where=scale > 0)[()]


def tau_ap(first: ArrayLike, second: ArrayLike, ties: Ties = "b") -> Any:
    """AP correlation: like tau, but a swap near the top costs more.

    2 / (n − 1) · Σ_i C(i) / (i − 1) − 1 over the ranks i > 1 of `second`, C(i) the systems above rank i that `first`
    puts above it too (Yilmaz, Aslam & Robertson, SIGIR 2008). It is not symmetric: `first` is the truth.

    ties="b" (default; Urbano & Marrero, ICTIR 2017): above a system are those strictly above it, the systems tied at
    the top are excluded from the mean, a pair tied in either set is not concordant, and the result is the mean of both
    directions. "strict" is the original and refuses ties; "name" breaks them in the order the systems are given.
    """
    x, y = tie_ranks(first), tie_ranks(second)
    if _same_count(x, y) < 2:
        raise DataError("tau-AP needs two systems or more, and there is one")
    if ties == "b":
        return (_ap_half(x, y) + _ap_half(y, x)) / 2
    if ties == "name":
        return _ap_half(_broken(x), _broken(y))
    if ties != "strict":
        raise InputError(f"ties {ties!r} is not one of b, strict, name")
    for ranks, which in ((x, "first"), (y, "second")):
        if (ranks.max(axis=-1) + 1 < ranks.shape[-1]).any():
            raise DataError(f"systems are tied in the {which} set, and strict tau-AP has no value then; use ties=b")
    return _ap_half(x, y)


def concordance_table(sets: Mapping[str, ArrayLike]) -> pl.DataFrame:
    """For every pair of sets of scores: how many pairs of systems are concordant, discordant and tied, as counts and
    shares, with tau-a and tau-b."""
    rows = []
    for (first, x), (second, y) in combinations(sets.items(), 2):
        counts = concordance(x, y)
        pairs = int(counts.pairs)
        falls = {"concordant": counts.agree, "discordant": counts.disagree, "tied": counts.unknown}
        rows.append(
            {
                "first": first,
                "second": second,
                "pairs": pairs,
                **{name: int(count) for name, count in falls.items()},
                **{f"{name}_share": int(count) / pairs for name, count in falls.items()},
                "tau_a": float(counts.tau_a),
                "tau_b": float(counts.tau_b),
            }
        )
    return pl.DataFrame(rows)


def _numbers(scores: ArrayLike) -> Floats:
    values = np.asarray(scores, dtype=np.float64)
    if np.isnan(values).any():
        raise DataError("a score is NaN, so the systems cannot be ordered; leave it out or give it a value")
    return values


def _same_count(x: NDArray[Any], y: NDArray[Any]) -> int:
    if x.shape[-1] != y.shape[-1]:
        raise DataError(f"one set scores {x.shape[-1]} systems and the other {y.shape[-1]}; give both the same systems")
    if x.shape[-1] < 2:
        raise DataError("there is one system, and an order needs two or more")
    return int(x.shape[-1])


def _mean_ranks(scores: ArrayLike) -> Floats:
    """Ranks from 1, tied systems sharing their mean rank."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(tie_ranks(scores), axis=-1), dtype=np.float64)


def _broken(ranks: Ints) -> Ints:
    """The ranks with ties broken: of tied systems the one given first is higher."""
    count = ranks.shape[-1]
    order = np.argsort(ranks * count + np.arange(count)[::-1], axis=-1)
    broken = np.empty(order.shape, dtype=np.int64)
    np.put_along_axis(broken, order, np.broadcast_to(np.arange(count), order.shape), axis=-1)
    return broken


def _ap_half(truth: Ints, ranks: Ints) -> Any:
    """One direction: the mean share of the systems above each that `truth` puts above it too, from −1 to 1."""
    count = ranks.shape[-1]
    above = np.zeros(np.broadcast_shapes(truth.shape, ranks.shape), dtype=np.int64)
    right = np.zeros_like(above)
    for other in range(count):
        higher = ranks[..., other : other + 1] > ranks
        above += higher
        right += higher & (truth[..., other : other + 1] > truth)
    share = np.divide(right, above, out=np.zeros(above.shape), where=above > 0)
    counted = (above > 0).sum(axis=-1)
    mean = np.divide(share.sum(axis=-1), counted, out=np.full(counted.shape, np.nan), where=counted > 0)
    return (2 * mean - 1)[()]
