"""Orders of systems: equal to scipy, to hand-worked cases with ties, and to the figures of the papers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgewell.comparison.correlation import (
    concordance,
    concordance_table,
    spearman,
    tau_a,
    tau_ap,
    tau_b,
    tau_p_value,
    tie_ranks,
)
from judgewell.errors import DataError

few_values = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=30)


@given(few_values)
def test_tau_b_and_spearman_are_scipys_with_ties(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs).T
    expected = stats.kendalltau(x, y).statistic
    np.testing.assert_allclose(tau_b(x, y), expected, atol=1e-12)
    if not np.isnan(expected):
        np.testing.assert_allclose(spearman(x, y), stats.spearmanr(x, y).statistic, atol=1e-12)
    else:
        assert np.isnan(spearman(x, y))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=20), st.integers(1, 5))
def test_many_rankings_at_once_are_each_as_alone(pairs: list[tuple[float, float]], copies: int) -> None:
    x, y = np.array(pairs).T
    rng = np.random.default_rng(copies)
    many = np.stack([rng.permutation(x) for _ in range(copies)])
    for measure in (tau_a, tau_b, spearman, tau_ap):
        together = measure(many, y)
        assert together.shape == (copies,)
        np.testing.assert_allclose(together, [measure(one, y) for one in many], atol=1e-12)


def test_counts_of_a_hand_worked_case() -> None:
    found = concordance([1, 2, 2, 3], [1, 3, 2, 2])
    # pairs: 12 ++, 13 ++, 14 ++, 23 tied in the first, 24 +-, 34 tied in the second
    assert (int(found.agree), int(found.disagree), int(found.unknown)) == (3, 1, 2)
    assert (int(found.tied_first), int(found.tied_second)) == (1, 1)
    assert found.tau_a == pytest.approx(2 / 6)
    assert found.tau_b == pytest.approx(2 / 5)


def test_a_tie_is_a_relative_difference_of_a_billionth() -> None:
    assert tie_ranks([1.0, 1.0 + 5e-10, 1.0 + 1e-8]).tolist() == [0, 0, 1]
    assert tie_ranks([1e-12, 2e-12]).tolist() == [0, 1]  # relative: small scores are not all tied
    total = sum([0.1] * 10) / 10
    assert tau_a([total, 0.1], [1, 2]) == 0.0  # 0.09999999999999999 and 0.1 are the same mean


# A worked example of the authors of the tie rule: x and y without ties, then both rounded to fifths.
X = np.array([0.06, 0.2, 0.27, 0.37, 0.57, 0.63, 0.66, 0.9, 0.91, 0.94])
Y = np.array([0.37, 0.06, 0.2, 0.27, 0.57, 0.66, 0.63, 0.91, 0.9, 0.94])


def test_tau_ap_of_published_examples() -> None:
    assert tau_ap(X, Y, "strict") == pytest.approx(0.7491182, abs=5e-8)
    x, y = np.round(X * 5) / 5, np.round(Y * 5) / 5
    assert tau_b(x, y) == pytest.approx(0.75)
    assert tau_ap(x, y) == pytest.approx(0.6269841, abs=5e-8)
    assert tau_ap(y, x) == pytest.approx(tau_ap(x, y))


def test_tau_ap_worked_by_hand_with_ties() -> None:
    # first: a > b > c; second: a = b > c.
    # ranks of second: only c has systems above it, both rightly: share 1 -> 1
    # ranks of first: below a stands b (a above it: tied in second, not concordant: 0), c (a, b: 1) -> 2 · 1/2 − 1 = 0
    assert tau_ap([3, 2, 1], [2, 2, 1]) == pytest.approx(0.5)
    # without ties, order c a b against truth a b c: a has c above (wrong), b has c, a above (a right): mean 1/4
    assert tau_ap([3, 2, 1], [2, 1, 3], "strict") == pytest.approx(2 * 0.25 - 1)
    # a swap at the top costs more than one at the bottom
    assert tau_ap([4, 3, 2, 1], [3, 4, 2, 1]) < tau_ap([4, 3, 2, 1], [4, 3, 1, 2]) < 1


def test_tau_ap_strict_refuses_ties_and_by_name_breaks_them() -> None:
    with pytest.raises(DataError, match="ties=b"):
        tau_ap([3, 2, 1], [2, 2, 1], "strict")
    assert tau_ap([3, 2, 1], [2, 2, 1], "name") == 1.0
    assert tau_ap([2, 3, 1], [2, 2, 1], "name") == pytest.approx(2 * (0 + 1) / 2 - 1)


def test_one_system_or_different_systems_are_refused() -> None:
    with pytest.raises(DataError, match="one system"):
        tau_b([1.0], [2.0])
    with pytest.raises(DataError, match="3 systems and the other 2"):
        tau_b([1, 2, 3], [1, 2])
    with pytest.raises(DataError, match="NaN"):
        tau_b([1, np.nan], [1, 2])


def test_all_systems_tied_have_no_tau_b() -> None:
    assert np.isnan(tau_b([1, 1, 1], [1, 2, 3]))
    assert tau_a([1, 1, 1], [1, 2, 3]) == 0


# Demeester et al. 2015, Table 5: predicted relevance and binary, top and marginal relevance; the oracle comes first.
TABLE_5 = np.array(
    [
        (9.02, 12.98, 21.40, 25.92),
        (2.51, 2.66, 8.52, 9.26),
        (2.41, 2.58, 7.78, 8.76),
        (2.27, 2.52, 7.22, 8.00),
        (2.05, 2.20, 6.65, 7.24),
        (1.94, 2.06, 6.32, 6.74),
        (1.66, 1.64, 5.84, 5.98),
        (1.63, 1.68, 5.64, 6.00),
        (1.63, 1.62, 5.78, 6.14),
        (1.54, 1.52, 5.18, 5.36),
        (1.46, 1.52, 5.24, 5.76),
        (1.46, 1.46, 5.17, 5.48),
        (1.43, 1.12, 5.28, 5.38),
        (1.25, 1.06, 5.33, 6.18),
        (1.17, 0.92, 4.48, 4.52),
        (0.91, 1.16, 3.04, 2.62),
        (0.66, 0.42, 2.88, 2.94),
        (0.61, 0.78, 2.28, 1.94),
        (0.55, 0.48, 2.17, 2.08),
        (0.35, 0.30, 1.46, 1.38),
        (0.19, 0.14, 0.85, 0.66),
    ]
)
OFFICIAL = [at for at in range(21) if at not in (0, 1, 13)]  # without the oracle and the two baselines


@pytest.mark.parametrize(
    ("rows", "top_b", "top_a", "marginal"),
    [
        (list(range(21)), 0.9353, 0.9286, 0.9048),
        (list(range(1, 21)), 0.9284, 0.9211, 0.8947),
        (OFFICIAL, 0.9241, 0.9150, 0.9085),
    ],
)
def test_taus_of_the_predicted_relevance_table(rows: list[int], top_b: float, top_a: float, marginal: float) -> None:
    top_prm, top_binary, low_prm, low_binary = TABLE_5[rows].T
    assert tau_b(top_prm, top_binary) == pytest.approx(top_b, abs=5e-5)
    assert tau_a(top_prm, top_binary) == pytest.approx(top_a, abs=5e-5)
    assert tau_b(low_prm, low_binary) == pytest.approx(marginal, abs=5e-5)
    assert tau_a(low_prm, low_binary) == pytest.approx(marginal, abs=5e-5)


def test_printed_taus_come_from_the_rows_without_the_oracle() -> None:
    top_prm, top_binary, low_prm, low_binary = TABLE_5[1:].T
    found = concordance(top_prm, top_binary)
    assert (int(found.agree), int(found.disagree), int(found.unknown)) == (181, 6, 3)
    assert (round(float(found.tau_b), 2), round(float(tau_b(low_prm, low_binary)), 2)) == (0.93, 0.89)


@pytest.mark.parametrize(
    ("printed", "systems", "by_tau_a"),
    [(0.84, 8, False), (0.43, 12, False), (0.72, 12, False), (0.47, 12, True), (0.86, 8, True), (0.93, 8, True)],
)
def test_which_printed_robustness_figures_tau_a_can_give(printed: float, systems: int, by_tau_a: bool) -> None:
    """Table 6 has 8 or 12 runs: .84, .43 and .72 are no k / pairs, so they are tau-b with ties."""
    pairs = systems * (systems - 1) // 2
    possible = {round(gap / pairs, 2) for gap in range(-pairs, pairs + 1)}
    assert (printed in possible) is by_tau_a
    # a tied pair in one of the sets makes tau-b reach it
    reached = {
        round(gap / np.sqrt((pairs - tied) * (pairs - other)), 2)
        for tied in range(3)
        for other in range(3)
        for gap in range(pairs + 1 - max(tied, other))
    }
    assert printed in reached


def test_tau_b_with_one_tie_gives_a_figure_of_table_6() -> None:
    """8 runs of which two tie in one set: 25 concordant and 2 discordant pairs give .84 … as no tau-a can."""
    first = [8, 7, 6, 5, 4, 3, 2, 1]
    second = [8, 7, 6, 5, 3, 4, 2, 2]
    found = concordance(first, second)
    assert (int(found.agree), int(found.disagree), int(found.unknown)) == (26, 1, 1)
    assert round(float(tau_b(first, [7, 8, 6, 5, 3, 4, 2, 2])), 2) == 0.84


# Yang, Moffat & Turpin 2018, Table 2, lower half: shares of concordant and discordant pairs of 123 systems.
TABLE_2 = {
    ("Sormunen", "Binary"): (0.938, 0.062, 0.876),
    ("ME", "Binary"): (0.898, 0.102, 0.796),
    ("ME", "Sormunen"): (0.873, 0.127, 0.746),
    ("Pref", "Binary"): (0.874, 0.126, 0.748),
    ("Pref", "Sormunen"): (0.858, 0.142, 0.716),
    ("Pref", "ME"): (0.945, 0.055, 0.890),
    ("Rele", "Binary"): (0.886, 0.114, 0.772),
    ("Rele", "Sormunen"): (0.858, 0.142, 0.716),
    ("Rele", "ME"): (0.951, 0.049, 0.902),
    ("Rele", "Pref"): (0.955, 0.045, 0.910),
    ("Ratio", "Binary"): (0.887, 0.113, 0.774),
    ("Ratio", "Sormunen"): (0.863, 0.137, 0.726),
    ("Ratio", "ME"): (0.942, 0.058, 0.884),
    ("Ratio", "Pref"): (0.956, 0.044, 0.912),
    ("Ratio", "Rele"): (0.970, 0.030, 0.940),
}


def order_with_discords(systems: int, discords: int) -> np.ndarray:
    """An order of the systems that disagrees with 0, 1, 2 … on exactly so many pairs: the last ones moved forward."""
    left, order = list(range(systems)), []
    for _ in range(systems):
        step = min(discords, len(left) - 1)
        order.append(left.pop(step))
        discords -= step
        if not discords:
            order += left
            break
    return np.argsort(order).astype(float)


@pytest.mark.parametrize(("sets", "printed"), TABLE_2.items())
def test_taus_of_the_pairwise_judgments_table(sets: tuple[str, str], printed: tuple[float, float, float]) -> None:
    """Two orders of 123 systems with the printed share of discordant pairs have the printed shares and tau."""
    agree, disagree, tau = printed
    order = order_with_discords(123, round(disagree * 7503))
    table = concordance_table({sets[0]: np.arange(123.0), sets[1]: order})
    row = table.row(0, named=True)
    assert row["pairs"] == 7503
    assert (round(row["concordant_share"], 3), round(row["discordant_share"], 3)) == (agree, disagree)
    assert row["tied"] == 0
    assert row["tau_a"] == pytest.approx(tau, abs=2e-4)


def test_table_holds_every_pair_of_sets() -> None:
    table = concordance_table({name: np.random.default_rng(at).random(9) for at, name in enumerate("abcd")})
    assert len(table) == 6
    assert (table["concordant"] + table["discordant"] + table["tied"] == 36).all()


def test_p_of_tau_as_printed() -> None:
    assert tau_p_value(0.029, 911) == pytest.approx(0.190, abs=5e-4)
    assert tau_p_value(0.0295, 911) < 0.188 < tau_p_value(0.0285, 911)  # the printed p, within tau's rounding
    assert tau_p_value(-0.047, 911) < 0.05
