"""Distinguished pairs: directions, and every figure that follows from the printed table of nine sets of labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judgewell.comparison.discrimination import (
    Confusion,
    chi_square,
    confusion,
    discrimination_table,
    distinguished,
    mcnemar,
)
from judgewell.comparison.scores import ScoreArray
from judgewell.errors import DataError, InputError

# Yang, Moffat & Turpin 2018, Table 4: TP, FP, FN, TN against the binary judgments; then what must come out.
TABLE_4 = {
    "Sormunen": (2734, 490, 492, 3787, 3224, 0.733),
    "Q1, Q2 and Q3": (2773, 828, 453, 3449, 3601, 0.657),
    "Q1 and Q3": (2783, 851, 443, 3426, 3634, 0.654),
    "Q2 and Q3": (2767, 822, 459, 3455, 3589, 0.656),
    "Q1 and Q2": (2743, 843, 483, 3434, 3586, 0.644),
    "Q1": (2744, 906, 482, 3371, 3650, 0.629),
    "Q2": (2735, 826, 491, 3451, 3561, 0.646),
    "Q3": (2763, 824, 463, 3453, 3587, 0.655),
    "Random": (206, 245, 3020, 4032, 451, 0.007),
}


def signs_of(tp: int, fp: int, fn: int, tn: int) -> tuple[np.ndarray, np.ndarray]:
    """Signs of pairs that differ under both sets, under one of them, or under neither."""
    reference = np.repeat([1, 0, 1, 0], [tp, fp, fn, tn])
    other = np.repeat([1, 1, 0, 0], [tp, fp, fn, tn])
    return reference, other


@pytest.mark.parametrize("row", TABLE_4.values(), ids=list(TABLE_4))
def test_figures_of_the_printed_table(row: tuple[int, int, int, int, int, float]) -> None:
    tp, fp, fn, tn, claimed, kappa = row
    found = confusion(*signs_of(tp, fp, fn, tn))
    assert (found.both, found.only_other, found.only_reference, found.neither) == (tp, fp, fn, tn)
    assert found.pairs == 7503
    assert (found.both + found.only_reference, found.only_other + found.neither) == (3226, 4277)
    assert found.both + found.only_other == claimed
    assert found.kappa == pytest.approx(kappa, abs=5e-4)


def test_sormunen_agrees_most() -> None:
    found = confusion(*signs_of(*TABLE_4["Sormunen"][:4]))
    assert found.both + found.neither == 6521
    assert round(100 * found.agreement, 1) == 86.9


def test_chi_square_and_mcnemar_of_the_paper() -> None:
    two = chi_square([3650, 3226], 7503)
    assert two.statistic == pytest.approx(48.03, abs=5e-3)
    assert two.p == pytest.approx(4e-12, rel=0.1)
    theirs = stats.chi2_contingency([[3650, 3853], [3226, 4277]])
    assert (two.statistic, two.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    three = chi_square([3650, 3226, 3224], 7503)
    assert (three.statistic, three.freedom) == (pytest.approx(64.9, abs=0.05), 2)
    assert mcnemar(906, 482).statistic == pytest.approx(129.5, abs=0.05)
    assert mcnemar(490, 492).p > 0.9
    assert pytest.approx(0.06, abs=5e-4) == 451 / 7503


def test_edges_of_the_tests() -> None:
    assert mcnemar(0, 0).p == 1.0
    assert chi_square([0, 0], 10).p == 1.0
    with pytest.raises(InputError, match="one"):
        chi_square([3], 10)
    with pytest.raises(InputError, match="10 pairs"):
        chi_square([3, 11], 10)


def test_opposite_directions_are_true_positives_counted_apart() -> None:
    found = confusion([1, 1, -1, 0, 0, 1], [1, -1, -1, 0, 1, 0])
    assert found == Confusion(same=2, opposite=1, only_other=1, only_reference=1, neither=1)
    assert found.both == 3
    with pytest.raises(DataError, match="same systems"):
        confusion([1, 0], [1])


def test_distinguished_is_scipys_t_test_with_direction() -> None:
    rng = np.random.default_rng(0)
    values = rng.random((6, 9)) + np.linspace(0, 0.6, 6)[:, None]
    values[3] = values[2]
    scores = ScoreArray(tuple("abcdef"), tuple(map(str, range(9))), values)
    signs = distinguished(scores)
    pairs = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    for sign, (i, j) in zip(signs, pairs, strict=True):
        if (i, j) == (2, 3):
            assert sign == 0  # identical vectors are tied
            continue
        test = stats.ttest_rel(values[i], values[j])
        assert sign == (np.sign(test.statistic) if test.pvalue < 0.05 else 0)
    assert set(signs) == {0, -1}
    assert (distinguished(scores, correction="holm") != 0).sum() <= (signs != 0).sum()


def test_table_against_a_reference() -> None:
    rng = np.random.default_rng(1)
    truth = rng.random((8, 12)) + np.linspace(0, 0.5, 8)[:, None]
    names = tuple("abcdefgh"), tuple(map(str, range(12)))
    sets = {"nist": ScoreArray(*names, truth), "other": ScoreArray(*names, truth + rng.normal(0, 0.2, truth.shape))}
    table = discrimination_table(sets)
    itself, other = table.iter_rows(named=True)
    assert (itself["only_this_set"], itself["only_reference"], itself["opposite"], itself["agreement"]) == (
        0,
        0,
        0,
        1.0,
    )
    assert other["significant_both"] + other["only_this_set"] + other["only_reference"] + other["neither"] == 28
    assert other["mcnemar"] == pytest.approx(mcnemar(other["only_this_set"], other["only_reference"]).statistic)
    with pytest.raises(InputError, match="nist, other"):
        discrimination_table(sets, "expert")


def test_random_scores_distinguish_the_nominal_share() -> None:
    values = np.random.default_rng(0).random((123, 9))
    signs = distinguished(ScoreArray(tuple(map(str, range(123))), tuple(map(str, range(9))), values))
    assert 0.03 < (signs != 0).mean() < 0.08
