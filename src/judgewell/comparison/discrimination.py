"""Which pairs of systems differ significantly under one set of labels, and whether another set agrees.

A pair differs significantly where a paired test gives p < alpha (Yang, Moffat & Turpin, ADCS 2018: two-tailed paired
t-test over all pairs). Against a reference it differs under both sets (a true positive), only under the other set (a
false positive), only under the reference (a false negative) or under neither. Pairs that differ under both sets in
opposite directions are also counted on their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from judgewell.comparison.scores import ScoreArray, check_systems
from judgewell.comparison.significance import (
    Correction,
    Decision,
    Test,
    TestOptions,
    check_alpha,
    corrected,
    paired_differences,
    paired_tests,
    pairs_of,
)
from judgewell.errors import DataError, InputError

Signs = NDArray[np.int8]

DISCRIMINATION = ("significant", "significant_both", "opposite", "only_this_set", "only_reference", "neither")  # counts


@dataclass(frozen=True)
class Confusion:
    """How many pairs of systems differ significantly under a reference, under another set of labels, or under both."""

    same: int  # under both, with the same system better
    opposite: int  # under both, with the other system better
    only_other: int
    only_reference: int
    neither: int

    @property
    def both(self) -> int:
        """Pairs that differ significantly under both sets, in either direction."""
        return self.same + self.opposite

    @property
    def pairs(self) -> int:
        return self.both + self.only_other + self.only_reference + self.neither

    @property
    def agreement(self) -> float:
        """The share of pairs on which the two sets agree: (both + neither) / pairs."""
        return (self.both + self.neither) / self.pairs

    @property
    def kappa(self) -> float:
        """Cohen's kappa: agreement beyond chance; NaN where chance alone agrees on every pair."""
        reference = (self.both + self.only_reference) / self.pairs
        other = (self.both + self.only_other) / self.pairs
        chance = reference * other + (1 - reference) * (1 - other)
        return (self.agreement - chance) / (1 - chance) if chance < 1 else float("nan")


@dataclass(frozen=True)
class ChiSquare:
    """A χ² statistic with its degrees of freedom and p."""

    statistic: float
    freedom: int
    p: float


def distinguished(
    scores: ScoreArray,
    test: Test = "t",
    *,
    alpha: float = 0.05,
    correction: Correction = "none",
    **how: Unpack[TestOptions],
) -> Signs:
    """For each pair of systems (i < j, row by row): 1 or −1 where they differ significantly, by direction, else 0."""
    check_systems(scores)
    check_alpha(alpha)
    first, second = pairs_of(len(scores.systems))
    differences = paired_differences(scores.values, first, second)
    tested = paired_tests(differences, test, **how)
    signs = np.where(corrected(tested.p, correction) < alpha, np.sign(tested.difference), 0.0)
    return signs.astype(np.int8)


def confusion(reference: ArrayLike, other: ArrayLike) -> Confusion:
    """Count the pairs (1, −1 or 0 each, see `distinguished`) on which two sets of labels agree."""
    one, two = np.asarray(reference), np.asarray(other)
    if one.shape != two.shape:
        raise DataError(f"{one.size} and {two.size} pairs; give both sets the same systems")
    known, claimed = one != 0, two != 0
    return Confusion(
        same=int((known & (one == two)).sum()),
        opposite=int((known & (one == -two)).sum()),
        only_other=int((~known & claimed).sum()),
        only_reference=int((known & ~claimed).sum()),
        neither=int((~known & ~claimed).sum()),
    )


def chi_square(counts: Sequence[int], pairs: int) -> ChiSquare:
    """Do sets that distinguish `counts` of the same number of pairs differ: χ² of homogeneity, with Yates' correction
    where there are two sets.

    It takes the sets' pairs for different ones and for independent; `mcnemar` at least knows that they are the same.
    """
    from scipy.special import chdtrc

    if len(counts) < 2:
        raise InputError("χ² compares two counts or more, and there is one")
    if any(count < 0 or count > pairs for count in counts):
        raise InputError(f"a count is not between 0 and the {pairs} pairs", cure="give counts of distinguished pairs")
    observed = np.array([[count, pairs - count] for count in counts], dtype=np.float64)
    expected = np.broadcast_to(observed.mean(axis=0), observed.shape)
    freedom = len(counts) - 1
    if (expected == 0).any():
        return ChiSquare(0.0, freedom, 1.0)
    gap = np.abs(observed - expected)
    if freedom == 1:
        gap = gap - np.minimum(0.5, gap)
    statistic = float((gap**2 / expected).sum())
    return ChiSquare(statistic, freedom, float(chdtrc(freedom, statistic)))


def mcnemar(only_first: int, only_second: int) -> ChiSquare:
    """Do two sets differ in how many of the same pairs they distinguish: (b − c)² / (b + c) over the pairs only one of
    them does (McNemar 1947), χ² with one degree of freedom. The pairs still share systems, so p is a guide."""
    from scipy.special import chdtrc

    if min(only_first, only_second) < 0:
        raise InputError("a count of pairs is below 0", cure="give the pairs that only one set distinguishes")
    both = only_first + only_second
    statistic = (only_first - only_second) ** 2 / both if both else 0.0
    return ChiSquare(statistic, 1, float(chdtrc(1, statistic)))


def discrimination_table(
    sets: Mapping[str, ScoreArray], reference: str | None = None, test: Test = "t", **how: Unpack[Decision]
) -> pl.DataFrame:
    """Every set of scores against the reference (the first unless named): how many pairs differ significantly under it,
    under both, under only one of them and under neither; agreement, kappa, χ² and McNemar."""
    name = next(iter(sets)) if reference is None else reference
    if name not in sets:
        raise InputError(f"there is no set {name!r} to refer to", cure=f"the sets are {', '.join(sets)}")
    signs = {key: distinguished(one, test, **how) for key, one in sets.items()}
    return pl.DataFrame([_row(key, name, signs[name], own) for key, own in signs.items()])


def _row(name: str, reference: str, truth: Signs, other: Signs) -> dict[str, object]:
    counts = confusion(truth, other)
    claimed, known = counts.both + counts.only_other, counts.both + counts.only_reference
    homogeneity = chi_square([claimed, known], counts.pairs)
    paired = mcnemar(counts.only_other, counts.only_reference)
    return {
        "set": name,
        "reference": reference,
        "pairs": counts.pairs,
        "significant": claimed,
        "significant_both": counts.both,
        "opposite": counts.opposite,
        "only_this_set": counts.only_other,
        "only_reference": counts.only_reference,
        "neither": counts.neither,
        "agreement": counts.agreement,
        "kappa": counts.kappa,
        "chi_square": homogeneity.statistic,
        "chi_square_p": homogeneity.p,
        "mcnemar": paired.statistic,
        "mcnemar_p": paired.p,
    }
