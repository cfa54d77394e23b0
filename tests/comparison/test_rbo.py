"""Rank-biased overlap: hand-worked cases with and without ties, and what must hold for all rankings."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.comparison.rbo import rbo
from judgewell.errors import DataError, InputError

NONE = float("nan")


def brute_force(first: list[str], second: list[str], p: float) -> float:
    """RBO of two long untied lists, straight from the definition."""
    shares = [len(set(first[:d]) & set(second[:d])) / d for d in range(1, len(first) + 1)]
    return (1 - p) * sum(share * p**d for d, share in enumerate(shares))


def test_two_orders_of_three_worked_by_hand() -> None:
    # agreement at depth 1: 0, 2: 1/2, 3: 1; p = 0.5: weights 1/2, 1/4, 1/8, and 1/8 for all that follows
    found = rbo([3, 2, 1], [1, 2, 3], p=0.5, variant="a")
    assert found.extrapolated == pytest.approx(0 / 2 + 0.5 / 4 + 1 / 8 + 1 / 8)
    # least: beyond depth 3 only the three known items agree: Σ_{d>3} 3/d · (1/2)^d
    rest = 3 * (np.log(2) - 1 / 2 - 1 / 8 - 1 / 24)
    assert found.least == pytest.approx(0.5 / 4 + 1 / 8 + rest)
    assert found.least + found.residual == pytest.approx(0.5 / 4 + 1 / 8 + 1 / 8)


def test_a_tie_worked_by_hand_in_each_variant() -> None:
    # first: a, then b = c; second: a, b, c; p = 0.5
    # shares of b and c at depth 2 in the first: 1/2 each
    # a: depth 1: 1, depth 2: (1 + 1/2)/2 = 3/4, depth 3: 1
    assert rbo([2, 1, 1], [3, 2, 1], 0.5, "a").extrapolated == pytest.approx(1 / 2 + 0.75 / 4 + 1 / 4)
    # b: depth 2: 1.5 / √(1.5 · 2)
    assert rbo([2, 1, 1], [3, 2, 1], 0.5, "b").extrapolated == pytest.approx(1 / 2 + 1.5 / np.sqrt(3) / 4 + 1 / 4)
    # w: b and c are both there at depth 2: 2 · 2 / (3 + 2)
    assert rbo([2, 1, 1], [3, 2, 1], 0.5, "w").extrapolated == pytest.approx(1 / 2 + 0.8 / 4 + 1 / 4)


def test_variant_a_is_the_mean_over_all_ways_to_break_the_ties() -> None:
    first, second = [5, 4, 4, 4, 1], [1, 2, 5, 4, 3]
    broken = []
    for order in permutations([4.0, 4.1, 4.2]):
        broken.append(rbo([5, *order, 1], second, 0.8, "a").extrapolated)
    assert rbo(first, second, 0.8, "a").extrapolated == pytest.approx(np.mean(broken))


def test_same_ties_agree_wholly_in_variant_b_and_w_but_not_in_a() -> None:
    tied = [3, 3, 2, 1, 1]
    assert rbo(tied, tied, variant="b").extrapolated == pytest.approx(1)
    assert rbo(tied, tied, variant="w").extrapolated == pytest.approx(1)
    assert rbo(tied, tied, variant="a").extrapolated < 1


def test_unranked_items_and_uneven_lists_worked_by_hand() -> None:
    # short: a b; long: a c b d; overlaps 1, 1, 2, 2; p = 0.5
    short, long = [2, 1, NONE, NONE], [4, 2, 3, 1]
    found = rbo(short, long, 0.5, "a")
    # extrapolated: depth 3: (2 + 1 · 1/2)/3, depth 4: (2 + 2 · 1/2)/4 and on
    expected = 1 / 2 + (1 / 2) / 4 + (2.5 / 3) / 8 + (3 / 4) / 16 + (3 / 4) / 16
    assert found.extrapolated == pytest.approx(expected)
    # Webber et al., eq. 32: (1 − p)/p (Σ X_d/d p^d + Σ_{d>s} X_s (d − s)/(s d) p^d) + ((X_l − X_s)/l + X_s/s) p^l
    overlaps = np.array([1, 1, 2, 2])
    depth = np.arange(1, 5)
    seen = (overlaps / depth * 0.5**depth).sum()
    assumed = sum(1 * (d - 2) / (2 * d) * 0.5**d for d in (3, 4))
    assert found.extrapolated == pytest.approx(seen + assumed + ((2 - 1) / 4 + 1 / 2) * 0.5**4)
    assert rbo(long, short, 0.5, "a") == found


def test_residual_is_webbers_for_untied_uneven_lists() -> None:
    """Webber, Moffat & Zobel, eq. 30, with the lengths s and t of the lists and f where they agree wholly."""
    p, s, t, overlap = 0.8, 2, 4, 2
    f = t + s - overlap

    def part(low: int, high: int) -> float:
        return sum(p**d / d for d in range(low, high + 1))

    inside = s * part(s + 1, f) + t * part(t + 1, f) + overlap * (np.log(1 / (1 - p)) - part(1, f))
    expected = p**s + p**t - p**f - (1 - p) / p * inside
    assert rbo([2, 1, NONE, NONE], [4, 2, 3, 1], p, "a").residual == pytest.approx(expected)


untied = st.permutations(range(6))


@given(untied, untied, st.floats(0.1, 0.95))
def test_laws(first: list[int], second: list[int], p: float) -> None:
    found = {variant: rbo(first, second, p, variant) for variant in ("a", "b", "w")}
    assert found["a"].extrapolated == pytest.approx(found["b"].extrapolated)
    assert found["a"].extrapolated == pytest.approx(found["w"].extrapolated)
    one = found["b"]
    assert 0 <= one.least <= one.extrapolated + 1e-12
    assert one.extrapolated <= one.least + one.residual + 1e-12 <= 1 + 2e-12
    assert rbo(second, first, p).extrapolated == pytest.approx(one.extrapolated)


def test_a_long_ranking_is_the_definition() -> None:
    rng = np.random.default_rng(1)
    items = [f"d{at}" for at in range(200)]
    other = list(np.array(items)[np.argsort(np.arange(200) + 8 * rng.random(200))])
    scores = [-items.index(item) for item in items], [-other.index(item) for item in items]
    found = rbo(*scores, 0.9)
    assert found.extrapolated == pytest.approx(brute_force(items, other, 0.9), abs=1e-8)
    assert found.residual < 1e-8


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        rbo([1, 2], [1, 2], 1.0)
    with pytest.raises(InputError, match="b, a, w"):
        rbo([1, 2], [1, 2], 0.9, "c")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="empty"):
        rbo([NONE, NONE], [1, 2])
    with pytest.raises(DataError, match="same items"):
        rbo([1, 2, 3], [1, 2])
