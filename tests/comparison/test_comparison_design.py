"""How many topics and judges: against the known power of the t-test, and against what more judges must do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from judgewell.comparison.design import judgments_needed, topics_needed
from judgewell.comparison.scores import ScoreArray
from judgewell.errors import DataError, InputError


def two_systems(effect: float, topics: int = 200, seed: int = 0) -> ScoreArray:
    """Differences with mean `effect` and standard deviation 1, exactly."""
    noise = np.random.default_rng(seed).normal(size=topics)
    noise = (noise - noise.mean()) / noise.std()
    base = np.random.default_rng(1).random(topics)
    return ScoreArray(("a", "b"), tuple(map(str, range(topics))), np.stack([base + effect + noise, base]))


def power_of_t(effect: float, topics: int) -> float:
    """Two-sided, alpha 0.05, by the noncentral t distribution."""
    edge = stats.t.ppf(0.975, topics - 1)
    return float(stats.nct.sf(edge, topics - 1, effect * np.sqrt(topics)))


@pytest.mark.parametrize("effect", [0.3, 0.6])
def test_topics_needed_is_the_textbooks(effect: float) -> None:
    found = topics_needed(two_systems(effect), "a", "b", simulations=2000)
    expected = next(n for n in range(2, 1000) if power_of_t(effect, n) >= 0.8)
    assert abs(found.filter("enough")["topics"].min() - expected) <= 0.08 * expected + 1
    for size, share in found.select("topics", "found").iter_rows():
        assert share == pytest.approx(power_of_t(effect, size), abs=0.05)


def test_the_answer_depends_on_the_seed_alone() -> None:
    scores = two_systems(0.5)
    first, again = (topics_needed(scores, "a", "b", sizes=[10, 30], simulations=500, seed=3) for _ in range(2))
    assert first.equals(again)
    assert first["topics"].to_list() == [10, 30]
    other = topics_needed(scores, "b", "a", sizes=[10, 30], simulations=500, seed=3)
    assert other.equals(first)


def test_other_tests_and_hopeless_cases() -> None:
    found = topics_needed(two_systems(0.8), "a", "b", test="wilcoxon", sizes=[5, 20], simulations=300)
    assert found.filter("enough")["topics"].to_list() == [20]
    assert found["wrong"].max() < 0.05
    hopeless = topics_needed(two_systems(0.001), "a", "b", simulations=40)
    assert not hopeless["enough"].any()
    with pytest.raises(DataError, match="differ by 0 on every topic"):
        topics_needed(ScoreArray(("a", "b"), tuple("123"), np.ones((2, 3))), "a", "b")
    with pytest.raises(DataError, match="2 topics"):
        topics_needed(ScoreArray(("a", "b"), tuple("12"), np.random.default_rng(0).random((2, 2))), "a", "b")
    with pytest.raises(InputError, match="power"):
        topics_needed(two_systems(0.5), "a", "b", power=80)


def test_more_judges_make_the_order_surer() -> None:
    """System a finds documents worth 1.2 on average, b those worth 1; single judgments vary by 1."""
    rng = np.random.default_rng(0)
    worth = np.repeat([1.2, 1.0], 10)
    judgments = [value + rng.normal(0, 1, 40) for value in worth]
    judgments = [one - one.mean() + value for one, value in zip(judgments, worth, strict=True)]

    def score(gains: np.ndarray) -> np.ndarray:
        return gains.reshape(-1, 2, 10)

    found = judgments_needed(score, judgments, ["a", "b"], "a", "b", counts=(1, 4, 16), pool="mean", simulations=2000)
    assert found["judgments"].to_list() == [1, 4, 16]
    assert (found["above"].diff().drop_nulls() > 0).all()
    spread = np.sqrt(np.mean([one.var() for one in judgments]) * 2 / 10)
    np.testing.assert_allclose(found["sd"].to_numpy(), spread / np.sqrt([1, 4, 16]), rtol=0.06)
    np.testing.assert_allclose(found["above"].to_numpy(), stats.norm.cdf(0.2 / found["sd"].to_numpy()), atol=0.03)
    medians = judgments_needed(score, judgments, ["a", "b"], "a", "b", counts=(3,), simulations=100, seed=5)
    assert medians.equals(
        judgments_needed(score, judgments, ["a", "b"], "a", "b", counts=(3,), simulations=100, seed=5)
    )


def test_documents_without_judgments_are_refused() -> None:
    with pytest.raises(DataError, match="1 of 2 documents"):
        judgments_needed(lambda g: g[:, :, None], [np.ones(2), np.ones(0)], ["a", "b"], "a", "b")
    with pytest.raises(InputError, match="no system 'c'"):
        judgments_needed(lambda g: g[:, :, None], [np.ones(2), np.ones(2)], ["a", "b"], "a", "c")
