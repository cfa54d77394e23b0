"""Draws keep their groups whole, are seeded, and cover as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgewell.errors import DataError, InputError
from judgewell.stats import resampling


def test_weights_count_the_draws() -> None:
    rng = np.random.default_rng(1)
    weights = resampling.bootstrap_weights(7, 2000, rng)
    assert weights.shape == (2000, 7)
    assert (weights.sum(axis=1) == 7).all()
    # the count of one group among 7 draws is binomial(7, 1/7)
    observed = np.bincount(weights[:, 0], minlength=8)[:4] / 2000
    np.testing.assert_allclose(observed, stats.binom.pmf(range(4), 7, 1 / 7), atol=0.04)


def test_the_same_seed_gives_the_same_draw_and_blocks_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = resampling.bootstrap_weights(5, 9, np.random.default_rng(3))
    monkeypatch.setattr(resampling, "BLOCK_CELLS", 10)
    blocks = list(resampling.weight_blocks(5, 9, np.random.default_rng(3)))
    assert len(blocks) == 5
    np.testing.assert_array_equal(np.concatenate(blocks), whole)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(0, 1000))
def test_permutations_are_orders(groups: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    orders = resampling.permutations(len(groups), 4, rng)
    assert (np.sort(orders, axis=1) == np.arange(len(groups))).all()


def test_percentile_interval_leaves_out_what_is_undefined() -> None:
    values = np.array([[0.0, np.nan], [1.0, np.nan], [np.nan, np.nan], [2.0, np.nan]])
    low, high = resampling.percentile_interval(values, 0.5)
    np.testing.assert_allclose(low, [0.5, np.nan])
    np.testing.assert_allclose(high, [1.5, np.nan])
    assert resampling.percentile_interval(np.arange(101.0), 0.9) == pytest.approx((5.0, 95.0))


def test_bootstrap_of_a_mean_covers_it() -> None:
    rng = np.random.default_rng(11)
    covered = 0
    for _ in range(300):
        sample = rng.normal(size=40)
        means = resampling.bootstrap_weights(40, 400, rng) @ sample / 40
        low, high = resampling.percentile_interval(means)
        covered += low <= 0 <= high
    assert 0.90 <= covered / 300 <= 0.98


def test_what_cannot_be_drawn_is_said() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match="nothing to resample"):
        resampling.bootstrap_weights(0, 10, rng)
    with pytest.raises(InputError, match="0 replicates are too few"):
        resampling.bootstrap_weights(3, 0, rng)
    with pytest.raises(InputError, match="level 95 is not between 0 and 1"):
        resampling.percentile_interval([1.0], 95)
