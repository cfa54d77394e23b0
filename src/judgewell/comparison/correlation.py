"""Do two sets of scores order the systems alike: Kendall's tau-a and tau-b, tau-AP, Spearman's rho.

All work on the last axis, so that one call serves one pair of rankings or a thousand. Higher scores are better. Two
scores whose relative difference is at most 1e-9 are tied: sums in another order must not make an order. (RBO is in
`rbo`.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from judgewell.errors import DataError, InputError
from judgewell.stats.arrays import Floats, Ints

Ties = Literal["b", "strict", "name"]

TIE = 1e-9
BLOCK_CELLS = 1_000_000  # pairs held at once: few enough to stay in the processor's cache


@dataclass(frozen=True)
class Concordance:
    """How the pairs of systems fall: the same strict order in both sets, opposite orders, or tied."""

    pairs: int
    concordant: Any
    discordant: Any
    tied_first: Any  # in the first set, whatever the second says
    tied_second: Any

    @property
    def tied(self) -> Any:
        """Pairs tied in either set."""
        return self.pairs - self.concordant - self.discordant

    @property
    def tau_a(self) -> Any:
        """(concordant − discordant) / pairs."""
        return (self.concordant - self.discordant) / self.pairs

    @property
    def tau_b(self) -> Any:
        """(concordant − discordant) / √(pairs untied in the first × untied in the second); NaN where one is 0."""
        untied = np.sqrt((self.pairs - self.tied_first).astype(np.float64) * (self.pairs - self.tied_second))
        gap = np.asarray(self.concordant - self.discordant, dtype=np.float64)
        return np.divide(gap, untied, out=np.full(untied.shape, np.nan), where=untied > 0)[()]


def tie_ranks(scores: ArrayLike) -> Ints:
    """Ranks from 0, lowest first, along the last axis; neighbours closer than the tolerance share a rank."""
    values = np.asarray(scores, dtype=np.float64)
    if np.isnan(values).any():
        raise DataError("a score is NaN, so the systems cannot be ordered; leave it out or give it a value")
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
    x, y = tie_ranks(first), tie_ranks(second)
    count = _same_count(x, y)
    lead = np.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    flat_x, flat_y = (np.broadcast_to(ranks, (*lead, count)).reshape(-1, count) for ranks in (x, y))
    same_x, same_y = x.size == count, y.size == count  # one ranking beside many: its pairs are made once
    totals = np.empty((4, len(flat_x)), dtype=np.int64)
    block = max(1, BLOCK_CELLS // (count * count))
    for start in range(0, len(flat_x), block):
        part = slice(start, start + block)
        signs_x = pair_signs(flat_x[:1] if same_x else flat_x[part])
        signs_y = pair_signs(flat_y[:1] if same_y else flat_y[part])
        for total, counts in zip(totals, _totals(signs_x, signs_y), strict=True):
            total[part] = counts
    gap, both, tied_x, tied_y = (total.reshape(lead) for total in totals)
    pairs = count * (count - 1) // 2
    return Concordance(pairs, (both + gap) // 2, (both - gap) // 2, tied_x, tied_y)


def pair_signs(values: NDArray[Any]) -> NDArray[np.float32]:
    """1, 0 or −1 for each pair of systems (i < j, row by row): is the first of the pair higher, tied or lower."""
    first, second = np.triu_indices(values.shape[-1], 1)
    return np.asarray(np.sign(values[..., first] - values[..., second]), dtype=np.float32)


def tau_b(first: ArrayLike, second: ArrayLike) -> Any:
    """Kendall's tau-b; NaN where all systems of a set are tied."""
    return concordance(first, second).tau_b


def tau_a(first: ArrayLike, second: ArrayLike) -> Any:
    """Kendall's tau-a: concordant minus discordant, over all pairs."""
    return concordance(first, second).tau_a


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
        shares = {
            f"{name}_share": float(getattr(counts, name)) / counts.pairs
            for name in ("concordant", "discordant", "tied")
        }
        rows.append(
            {
                "first": first,
                "second": second,
                "pairs": counts.pairs,
                "concordant": int(counts.concordant),
                "discordant": int(counts.discordant),
                "tied": int(counts.tied),
                **shares,
                "tau_a": float(counts.tau_a),
                "tau_b": float(counts.tau_b),
            }
        )
    return pl.DataFrame(rows)


def _same_count(x: NDArray[Any], y: NDArray[Any]) -> int:
    if x.shape[-1] != y.shape[-1]:
        raise DataError(f"one set scores {x.shape[-1]} systems and the other {y.shape[-1]}; give both the same systems")
    if x.shape[-1] < 2:
        raise DataError("there is one system, and an order needs two or more")
    return int(x.shape[-1])


def _totals(x: NDArray[np.float32], y: NDArray[np.float32]) -> tuple[Any, Any, Any, Any]:
    """Σ sign·sign, pairs untied in both, pairs tied in each; exact in single precision below 2^24 pairs."""
    pairs = x.shape[-1]
    gap = x @ y[0] if len(y) == 1 else np.vecdot(x, y)
    tied_x, tied_y = (pairs - np.count_nonzero(signs, axis=-1) for signs in (x, y))
    neither = pairs - tied_x - tied_y
    if tied_x.any() and tied_y.any():
        neither = neither + ((x == 0) & (y == 0)).sum(axis=-1)
    return np.rint(gap), neither, tied_x, tied_y


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
