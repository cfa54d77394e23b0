"""Intervals of means over topics: one for evaluate, compare and report, at their level, inside the measure's range."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from judgewell.errors import InputError
from judgewell.stats import means
from judgewell.stats.means import few_topics_note, mean_intervals, no_spread_note, student_reach, studentised
from judgewell.stats.resampling import bootstrap_weights


def test_the_reach_of_students_t_is_scipys() -> None:
    for freedom in (1, 2, 3, 4, 7, 8, 9, 24, 49, 200):
        for level in (0.5, 0.9, 0.95, 0.999):
            assert student_reach(freedom, level) == pytest.approx(stats.t.ppf((1 + level) / 2, freedom), rel=1e-9)


def test_a_studentised_resample_by_hand() -> None:
    row, weights = np.array([[0.0, 1.0, 2.0, 5.0]]), np.array([[2.0, 0.0, 1.0, 1.0]])
    drawn = np.array([0.0, 0.0, 2.0, 5.0])
    expected = abs(drawn.mean() - 2.0) / (drawn.std(ddof=1) / 2)
    assert studentised(row, weights)[0, 0] == pytest.approx(expected)
    assert studentised(row, np.array([[4.0, 0, 0, 0]]))[0, 0] == np.inf  # no spread, another mean


def test_the_interval_is_symmetric_unless_it_meets_the_measures_range() -> None:
    values = np.random.default_rng(0).beta(1, 12, 30)
    free, bounded = mean_intervals(values), mean_intervals(values / 3, limits=(0.02, 1))
    assert free.mean[0] - free.low[0] == pytest.approx(free.high[0] - free.mean[0])
    assert bounded.low[0] >= min(0.02, values.min() / 3)
    weights = bootstrap_weights(30, 1000, np.random.default_rng(0)).astype(float)
    replicates = np.sort(studentised(np.sort(values)[None], weights)[:, 0])
    half = replicates[950] * values.std(ddof=1) / np.sqrt(30)
    assert free.high[0] - free.mean[0] == pytest.approx(half)


def test_it_depends_on_the_scores_alone() -> None:
    """Not on the order of topics, on other rows, or on topics that do not count for a system."""
    rng = np.random.default_rng(1)
    values = rng.random((4, 25))
    alone = mean_intervals(values[2])
    mixed = mean_intervals(values[:, rng.permutation(25)])
    padded = mean_intervals(np.append(values[2], [np.nan] * 9))
    for other in (mixed.low[2], padded.low[0]):
        assert other == alone.low[0]
    assert padded.topics[0] == 25
    assert mean_intervals(values, seed=1).low[0] != mean_intervals(values, seed=2).low[0]


def test_the_number_of_topics_decides_how_it_is_made() -> None:
    rng = np.random.default_rng(2)
    kinds = {count: mean_intervals(rng.random(count)) for count in (1, 2, 9, 10, 2000, 2001)}
    assert [one.kind[0] for one in kinds.values()] == ["none", "t", "t", "bootstrap", "bootstrap", "normal"]
    assert np.isnan(kinds[1].low[0])
    assert "9 topics are too few for a bootstrap (10)" in few_topics_note(kinds[9])
    assert few_topics_note(kinds[10]) == ""
    nine = rng.random(9)
    low, high = stats.t.interval(0.95, 8, nine.mean(), stats.sem(nine))
    found = mean_intervals(nine)
    assert (found.low[0], found.high[0]) == pytest.approx((low, high))


def test_scores_that_are_nearly_all_alike_get_students_interval() -> None:
    """One topic of 12 scores 1: a third of the resamples have no spread, and their quantile is infinite."""
    found = mean_intervals(np.eye(12)[0], limits=(0, 2))
    assert found.kind == ("t",)
    assert (found.low[0], found.high[0]) == pytest.approx((0, 1 / 12 + student_reach(11, 0.95) / 12))


@pytest.mark.parametrize("topics", [2, 12, 2500])
def test_topics_with_the_same_score_allow_no_interval(topics: int) -> None:
    """P@2 = .5 on two topics says nothing about a third one; 0 or 1 on all is a share."""
    rows = np.stack([np.full(topics, 0.1), np.linspace(0.2, 0.4, topics), np.ones(topics)])
    found = mean_intervals(rows, limits=(0, 1))
    assert found.mean[0] == pytest.approx(0.1)
    assert np.isnan([found.low[0], found.high[0]]).all()
    assert found.kind[0] == "none"
    assert found.kind[2] == "exact"
    assert (found.low[1:] < found.mean[1:]).all()
    note = "no interval of P@2 of up, because all topics have the same score"
    assert no_spread_note(found, ["P@2 of up", "P@5 of up", "P@1 of up"]) == note
    assert no_spread_note(found, ["", "P@5 of up", "P@1 of up"]) == ""


def test_scores_at_the_ends_of_the_measure_are_a_share_with_its_exact_interval() -> None:
    """P@1 at 50 topics: the bootstrap covers .937 where half the topics score 1, the exact interval .967."""
    for hits, topics in ((18, 50), (0, 12), (12, 12), (1, 3), (900, 2500)):
        found = mean_intervals(np.arange(topics) < hits, limits=(0, 1))
        expected = stats.binomtest(hits, topics).proportion_ci()
        assert found.kind == ("exact",)
        assert (found.low[0], found.high[0]) == pytest.approx((expected.low, expected.high))
    wide = mean_intervals(np.where(np.arange(50) < 18, 3.0, -1.0), limits=(-1, 3))
    exact = stats.binomtest(18, 50).proportion_ci()
    assert (wide.low[0], wide.high[0]) == pytest.approx((4 * exact.low - 1, 4 * exact.high - 1))
    hits = stats.binom.pmf(np.arange(51), 50, 0.5)
    ends = [mean_intervals(np.arange(50) < number, limits=(0, 1)) for number in range(51)]
    assert sum(p for p, one in zip(hits, ends, strict=True) if one.low[0] <= 0.5 <= one.high[0]) >= 0.95
    assert mean_intervals(np.arange(50) < 18).kind == ("bootstrap",)  # a difference has no ends


def test_bad_requests_are_refused() -> None:
    with pytest.raises(InputError, match="the level 95 is not between 0 and 1"):
        mean_intervals([0.1, 0.2], level=95)
    with pytest.raises(InputError, match="the seed -1 is below 0"):
        mean_intervals([0.1, 0.2], seed=-1)


def covered(topics: int, studies: int, seed: int) -> float:
    """How often the interval holds the mean of a skewed population, like that of average precision."""
    rng = np.random.default_rng(seed)
    found = mean_intervals(rng.beta(0.6, 2, (studies, topics)), limits=(0, 1))
    return float(((found.low <= 0.6 / 2.6) & (found.high >= 0.6 / 2.6)).mean())


@pytest.mark.parametrize(("topics", "least"), [(10, 0.92), (25, 0.94), (50, 0.94)])
def test_it_holds_the_mean_as_often_as_it_says(topics: int, least: float) -> None:
    assert least <= covered(topics, 4000, topics) <= 0.975


def test_it_loads_neither_polars_nor_scipy() -> None:
    code = "import sys; from judgewell.stats.means import mean_intervals as m; m([0.1, 0.2, 0.3]); m([0.1] * 12);"
    code += "print(sorted({'polars', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("between", [0.0, 0.5, 0.9])
def test_the_exact_interval_holds_for_measures_that_are_no_shares(between: float) -> None:
    """A measure between 0 and 1 that is mostly 1: where all topics happen to score 1, the interval must still not lie
    above the true mean more often than in 2.5 % of studies; one from the spread, [1, 1], always would."""
    rng = np.random.default_rng(7)
    for share in (0.6, 0.8, 0.95, 0.99):
        true = share + (1 - share) * between
        scores = np.where(rng.random((2000, 12)) < share, 1.0, between)
        ends = scores[(scores == 1).all(axis=-1)]
        assert len(ends)
        found = mean_intervals(ends, limits=(0.0, 1.0))
        assert set(found.kind) == {"exact"}
        assert (found.low > true).sum() <= 0.025 * len(scores)
        assert (found.high == 1).all()
        assert (found.low < 1).all()


def test_intervals_do_not_depend_on_how_many_rows_are_sorted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    values = np.where(rng.random((7, 30)) < 0.1, np.nan, rng.random((7, 30)))
    limits = np.zeros(7), np.linspace(1, 2, 7)
    whole = mean_intervals(values, limits=limits)
    monkeypatch.setattr(means, "SORTED_CELLS", 60)
    parts = mean_intervals(values, limits=limits)
    for name in ("mean", "low", "high", "topics"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-12)
    assert parts.kind == whole.kind
