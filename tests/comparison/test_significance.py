"""Paired tests: equal to scipy pair by pair, at their nominal level on null data, with intervals that cover."""

from __future__ import annotations

import csv
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgewell.comparison.scores import ScoreArray, score_array
from judgewell.comparison.signed_rank import tied_differences, wilcoxon_p
from judgewell.comparison.significance import (
    TESTS,
    compare_systems,
    corrected,
    paired_tests,
    pairs_of,
    randomisation_p,
    t_p,
)
from judgewell.comparison.top_sets import TopSet, joint_p, overlap, top_set
from judgewell.errors import DataError, InputError, JudgewellWarning

# steps of a millionth: further apart than differences that count as equal
smooth = st.lists(st.integers(-(10**6), 10**6).map(lambda n: n / 1e6), min_size=2, max_size=60)
few_with_ties = st.lists(st.integers(-4, 4).map(float), min_size=2, max_size=7)  # scipy is slow on 8 to 13
many_with_ties = st.lists(st.integers(-9, 9).map(float), min_size=14, max_size=60)


def untied(values: list[float]) -> bool:
    return len(values) > 13 or len({abs(value) for value in values} - {0.0}) == len(values)


def array_of(values: object, **names: tuple[str, ...]) -> ScoreArray:
    table = np.asarray(values, dtype=float)
    systems = names.get("systems") or tuple(f"s{at}" for at in range(len(table)))
    return ScoreArray(systems, tuple(f"t{at}" for at in range(table.shape[1])), table, "nDCG@10")


@given(
    st.one_of(smooth.filter(untied), few_with_ties, many_with_ties),
    st.sampled_from([("drop", "wilcox"), ("pratt", "pratt")]),
)
def test_wilcoxon_is_scipys_by_default(values: list[float], zeros: tuple[str, str]) -> None:
    differences = np.array(values)
    ours = wilcoxon_p(differences[None], zeros[0])[0]  # type: ignore[arg-type]
    if not differences.any():
        assert ours == 1.0
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = stats.wilcoxon(differences, zero_method=zeros[1]).pvalue
    assert ours == pytest.approx(theirs, abs=1e-12)


@given(st.one_of(smooth, few_with_ties, many_with_ties))
def test_t_is_scipys(values: list[float]) -> None:
    differences = np.array(values)
    if not differences.any():
        assert t_p(differences[None])[0] == 1.0
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = stats.ttest_rel(differences, np.zeros(len(differences)))
        interval = theirs.confidence_interval()
    assert t_p(differences[None])[0] == pytest.approx(theirs.pvalue, abs=1e-12)
    found = paired_tests(differences[None])
    expected = interval if np.ptp(differences) else [np.nan, np.nan]  # scipy: of width 0 where topics do not differ
    np.testing.assert_allclose([found.low[0], found.high[0]], expected, atol=1e-12)


def test_wilcoxon_changes_its_way_where_scipy_does() -> None:
    rng = np.random.default_rng(0)
    for topics in (13, 14, 50, 51):
        clean = rng.normal(0.2, 1, topics)
        rounded = np.round(clean, 1)
        for differences in (clean, rounded, np.append(clean[1:], 0.0)):
            ours = wilcoxon_p(differences[None])[0]
            assert ours == pytest.approx(stats.wilcoxon(differences).pvalue, abs=1e-12), topics


def test_rows_are_tested_each_as_alone() -> None:
    rng = np.random.default_rng(3)
    mixed = np.stack([rng.normal(size=12), rng.integers(-2, 3, 12).astype(float), np.zeros(12)])
    for test in TESTS:
        together = paired_tests(mixed, test, replicates=500).p
        alone = [paired_tests(row[None], test, replicates=500).p[0] for row in mixed]
        np.testing.assert_allclose(together, alone)
        assert together[2] == 1.0


def tenths(rng: np.random.Generator, pairs: int, topics: int) -> tuple[np.ndarray, np.ndarray]:
    """Differences of precision at 10 as floats, and the same as whole tenths, which are exact."""
    first, second = rng.binomial(10, 0.5, (2, pairs, topics))
    return first / 10 - second / 10, (first - second).astype(float)


@pytest.mark.parametrize("topics", [10, 25, 53])
@pytest.mark.parametrize("test", ["wilcoxon", "randomisation"])
def test_tied_floats_are_tested_as_the_exact_fractions_are(test: str, topics: int) -> None:
    """0.3 − 0.2 is 0.1 − 0: without a tolerance for ties p is off by up to 0.4."""
    floats, whole = tenths(np.random.default_rng(topics), 150, topics)
    found, exact = (paired_tests(one, test, replicates=500).p for one in (floats, whole))  # type: ignore[arg-type]
    np.testing.assert_allclose(found, exact, atol=1e-12)


def test_rounding_is_no_difference_and_makes_no_order() -> None:
    rows, shared = tied_differences(np.array([[0.3 - 0.2, -0.1, 1e-17, 0.5], [0.1, 0.2, 0.3, -0.4]]))
    assert rows[0, 0] == -rows[0, 1]
    assert rows[0, 2] == 0
    assert shared.tolist() == [True, False]
    values = np.array([[0.1 + 0.2, 0.7], [0.3, 0.1 * 7]])
    assert (values[0] != values[1]).all()
    found = compare_systems(array_of(values)).row(0, named=True)
    assert (found["difference"], found["p"], found["wins"], found["losses"]) == (0, 1, 0, 0)


@pytest.mark.realdata
@pytest.mark.parametrize("topics", [53, 25, 10])
def test_no_decision_on_dl21_depends_on_rounding(data: Path, topics: int) -> None:
    counts = dl21_hits(data)[:, :topics]
    first, second = pairs_of(len(counts))
    assert len(first) == 1953
    for test in ("wilcoxon", "randomisation"):
        floats = paired_tests(counts[first] / 10 - counts[second] / 10, test, replicates=2000).p  # type: ignore[arg-type]
        exact = paired_tests((counts[first] - counts[second]).astype(float), test, replicates=2000).p  # type: ignore[arg-type]
        assert ((floats < 0.05) != (exact < 0.05)).sum() == 0


def dl21_hits(data: Path) -> np.ndarray:
    """How many of the first ten documents of each run are relevant, topic by topic."""
    from judgewell import evaluate

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs = sorted(map(str, (data / "trec-dl21" / "runs").iterdir()))
        scores = evaluate(runs, str(data / "trec-dl21" / "qrels.nist.txt"), "P(rel=2)@10")
    return np.rint(10 * score_array(scores).values).astype(int)


def test_randomisation_of_few_topics_is_exact() -> None:
    differences = np.array([[1.0, 2.0, 3.0]])
    # of the 8 sign patterns only +++ and −−− reach 6
    assert randomisation_p(differences, 10)[0] == 2 / 8
    assert randomisation_p(np.array([[0.1, 0.2, -0.3]]), 10)[0] == 1.0
    rng = np.random.default_rng(5)
    row = rng.normal(0.3, 1, 11)
    exact = stats.permutation_test((row,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
    assert randomisation_p(row[None], 1)[0] == pytest.approx(exact)


def test_randomisation_of_many_topics_is_seeded_and_near_t() -> None:
    differences = np.random.default_rng(2).normal(0.3, 1, (20, 40))
    first = paired_tests(differences, "randomisation", seed=7).p
    assert (first == paired_tests(differences, "randomisation", seed=7).p).all()
    assert (first != paired_tests(differences, "randomisation", seed=8).p).any()
    np.testing.assert_allclose(first, t_p(differences), atol=0.03)
    np.testing.assert_allclose(paired_tests(differences, "bootstrap").p, t_p(differences), atol=0.05)


def test_holm_and_benjamini_hochberg() -> None:
    p = np.array([0.01, 0.04, 0.03, 0.005])
    np.testing.assert_allclose(corrected(p, "holm"), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(corrected(p, "bh"), stats.false_discovery_control(p))
    some = np.random.default_rng(0).random(200) ** 3
    np.testing.assert_allclose(corrected(some, "bh"), stats.false_discovery_control(some))
    assert (corrected(some, "holm") >= corrected(some, "bh")).all()
    assert corrected(some) is some


def test_all_pairs_or_against_a_baseline() -> None:
    scores = array_of([[0.1, 0.2, 0.3], [0.4, 0.5, 0.7], [0.1, 0.2, 0.3]], systems=("a", "b", "c"))
    found = compare_systems(scores)
    assert found.select("first", "second").rows() == [("b", "a"), ("a", "c"), ("b", "c")]
    same = found.row(1, named=True)
    assert (same["difference"], same["p"], same["effect"], same["significant"]) == (0, 1, 0, False)
    assert found["wins"].to_list() == [3, 0, 3]
    against = compare_systems(scores, baseline="b", correction="holm")
    assert against["first"].to_list() == ["a", "c"]
    assert (against["difference"] < 0).all()
    assert (against["p_corrected"] >= against["p"]).all()
    differences = np.array([0.3, 0.3, 0.4])
    assert found["effect"][0] == pytest.approx(differences.mean() / differences.std(ddof=1))


def test_what_cannot_be_tested_is_said() -> None:
    with pytest.raises(DataError, match="one topic"):
        compare_systems(array_of([[0.1], [0.2]]))
    with pytest.raises(DataError, match="one system"):
        compare_systems(array_of([[0.1, 0.2]]))
    with pytest.raises(InputError, match="no system 'z'"):
        compare_systems(array_of([[0.1, 0.2], [0.3, 0.4]]), baseline="z")
    with pytest.raises(InputError, match="t, wilcoxon"):
        paired_tests(np.ones((1, 3)), "sign")  # type: ignore[arg-type]


def test_top_set_and_overlap() -> None:
    rng = np.random.default_rng(0)
    base = rng.random(30)
    values = [base, base, base - 0.3 - 0.01 * rng.random(30), base + rng.normal(-0.1, 0.3, 30)]
    found = top_set(array_of(values, systems=("b", "a", "worse", "noisy")), "wilcoxon")
    assert found.best == "a"  # a and b tie for best: the first by name
    assert set(found.members) == {"a", "b", "noisy"}
    assert found.p["b"] == 1.0
    assert found.p["worse"] < 0.05
    shared = overlap(found, TopSet("a", ("a", "worse"), {}))
    assert (shared.shared, shared.union) == (1, 4)
    assert shared.jaccard == 1 / 4
    assert shared.share_of_first == 1 / 3


def test_the_joint_test_by_hand() -> None:
    """Five topics, two systems: of 32 sign patterns only the one of the data reaches its t, so p is 1/32."""
    values = np.array([[0.1, 0.2, 0.3, 0.4, 0.5], [0.2, 0.4, 0.5, 0.5, 0.7]])
    np.testing.assert_allclose(joint_p(values), [1 / 32, 1.0])
    assert top_set(array_of(values)).members == ("s1",)
    np.testing.assert_allclose(joint_p(np.tile(values[:1], (3, 1))), 1.0)  # identical systems


def test_the_joint_test_is_of_the_largest_t_of_all_others() -> None:
    """Against the definition: flip whole topics, take t of every other system's differences, keep the largest."""
    values = np.random.default_rng(4).random((4, 7))
    for system, p in enumerate(joint_p(values)):
        gaps = np.delete(values, system, axis=0) - values[system]

        def largest(rows: np.ndarray) -> float:
            return float((rows.mean(axis=1) / rows.std(axis=1, ddof=1)).max())

        flips = [largest(gaps * signs) for signs in product([-1, 1], repeat=7)]
        assert p == pytest.approx(np.mean(np.array(flips) >= largest(gaps) - 1e-9))


def test_the_system_that_rules_another_out_is_the_one_of_the_largest_t() -> None:
    rng = np.random.default_rng(1)
    base = rng.random(20)
    steady, best, varied = base - 0.1, base + rng.normal(0.05, 0.3, 20), base - 0.2 + rng.normal(0, 0.6, 20)
    found = top_set(array_of([base, steady, best, varied], systems=("base", "steady", "best", "varied")))
    assert found.best == "best"
    assert found.ruled_out_by["steady"] == "base"  # the difference from it never varies
    assert not set(found.members) & set(found.ruled_out_by)
    wilcoxon = top_set(array_of([base, steady, best, varied], systems=("base", "steady", "best", "varied")), "wilcoxon")
    assert set(wilcoxon.ruled_out_by.values()) <= {"best"}


def test_too_few_topics_for_a_top_set_are_said() -> None:
    values = np.random.default_rng(0).random((22, 8)) + np.linspace(0, 3, 22)[:, None]
    with pytest.raises(DataError, match="4 topics cannot show that a system is not the best"):
        top_set(array_of(values[:, :4]))
    with pytest.warns(JudgewellWarning, match=r"no p of the wilcoxon test can be below 0.05 \(smallest 0.16\)"):
        assert len(top_set(array_of(values), "wilcoxon", correction="holm").members) == 22
    assert len(top_set(array_of(values)).members) < 5  # one joint test needs no correction
    assert len(top_set(array_of(values), "wilcoxon").members) < 5


def sets_with_the_best(test: str, topics: int, collections: int) -> float:
    """How often the top set holds one given system of ten equally good ones."""
    rng = np.random.default_rng(topics)
    held = 0
    for number in range(collections):
        values = null_collection(10, topics, rng)
        held += "s3" in top_set(array_of(values), test, replicates=400, seed=number).members  # type: ignore[arg-type]
    return held / collections


def test_the_top_set_contains_the_best_system() -> None:
    assert sets_with_the_best("joint", 8, 250) >= 0.92
    assert sets_with_the_best("wilcoxon", 8, 250) < 0.93  # the paper's set does not promise it


@pytest.mark.long
@pytest.mark.parametrize("topics", [8, 18, 50])
def test_the_top_set_contains_the_best_system_as_often_as_it_says(topics: int) -> None:
    assert sets_with_the_best("joint", topics, 1000) >= 0.93


def null_collection(systems: int, topics: int, rng: np.random.Generator) -> np.ndarray:
    """Systems that differ by chance alone: hard and easy topics, skewed scores, each topic's scores dealt out anew."""
    difficulty = rng.beta(1.2, 2.0, topics)
    scores = np.clip(rng.beta(2, 3, (systems, topics)) * 0.6 + difficulty * 0.4, 0, 1)
    return rng.permuted(scores, axis=0)


def false_alarms(test: str, topics: int, seed: int, collections: int = 60) -> float:
    """The share of significant pairs among independent pairs of systems that do not differ."""
    rng = np.random.default_rng(seed)
    alarms = []
    for number in range(collections):
        values = null_collection(40, topics, rng)
        differences = values[0::2] - values[1::2]
        alarms.append((paired_tests(differences, test, replicates=1000, seed=number).p < 0.05).mean())  # type: ignore[arg-type]
    return float(np.mean(alarms))


@pytest.mark.long
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("topics", [10, 25, 50])
def test_false_alarms_at_the_nominal_level(test: str, topics: int) -> None:
    rate = false_alarms(test, topics, seed=1)
    # 1,200 independent tests: the standard error of a rate of 5 % is 0.6 points
    assert 0.03 < rate < 0.07, rate


@pytest.mark.realdata
def test_false_alarms_on_shuffled_real_systems(data: Path) -> None:
    """Average precision of 128 real systems, each topic's scores dealt out anew: 5 % of pairs are told apart."""
    values = read_ap(data).values[:128]
    rng = np.random.default_rng(0)
    rates = {test: [] for test in ("t", "wilcoxon", "randomisation")}
    for _ in range(20):
        dealt = rng.permuted(values, axis=0)
        for test, found in rates.items():
            found.append((paired_tests(dealt[0::2] - dealt[1::2], test, replicates=1000).p < 0.05).mean())
    for test, found in rates.items():
        assert 0.03 < np.mean(found) < 0.07, (test, np.mean(found))


@pytest.mark.long
@pytest.mark.parametrize("test", ["t", "bootstrap"])
@pytest.mark.parametrize("topics", [10, 50])
def test_intervals_cover_the_true_difference(test: str, topics: int) -> None:
    """Topics drawn from a large population with a known mean difference."""
    rng = np.random.default_rng(4)
    population = rng.beta(2, 3, 100_000) * rng.choice([0.0, 1.0], 100_000, p=[0.2, 0.8]) - rng.beta(2, 4, 100_000)
    drawn = population[rng.integers(0, len(population), (1500, topics))]
    found = paired_tests(drawn, test, replicates=1000)  # type: ignore[arg-type]
    covered = ((found.low <= population.mean()) & (population.mean() <= found.high)).mean()
    assert 0.93 < covered < 0.975, covered


def read_ap(data: Path) -> ScoreArray:
    with (data / "trec8" / "ap.129-systems.csv").open() as file:
        header, *rows = list(csv.reader(file))
    values = np.array([[float(cell) for cell in row[1:]] for row in rows])
    return ScoreArray(tuple(row[0] for row in rows), tuple(header[1:]), values, "AP")


@pytest.mark.realdata
def test_trec8_systems(data: Path) -> None:
    scores = read_ap(data)
    assert scores.values.shape == (129, 50)
    assert scores.of("READWARE2").mean() == pytest.approx(0.4692, abs=5e-5)
    found = compare_systems(scores, "wilcoxon", correction="bh")
    assert len(found) == 129 * 128 // 2
    best = top_set(scores, "wilcoxon")
    assert best.best == "READWARE2"
    assert best.members[0] == "READWARE2"
    pairs = found.filter((pl.col("first") == "READWARE2") | (pl.col("second") == "READWARE2"))
    told = set(pairs.filter(pl.col("p") < 0.05)["second"])
    assert set(best.members) == set(scores.systems) - told
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row in found.sample(40, seed=0).iter_rows(named=True):
            tenthousandths = np.rint(1e4 * scores.of(row["first"])) - np.rint(1e4 * scores.of(row["second"]))
            theirs = stats.wilcoxon(tenthousandths).pvalue
            assert row["p"] == pytest.approx(theirs, abs=1e-12)
    assert top_set(scores, "wilcoxon", correction="holm").members[: len(best.members)] != ()
    assert set(best.members) <= set(top_set(scores, "wilcoxon", correction="holm").members)


@pytest.mark.parametrize("test", TESTS)
def test_a_difference_that_is_the_same_on_every_topic_has_no_interval(test: str) -> None:
    scores = array_of([[0.5, 0.6, 0.8], [0.25, 0.35, 0.55], [0.1, 0.9, 0.2], [0.1, 0.9, 0.2]])
    table = compare_systems(scores, test)  # type: ignore[arg-type]
    known = {(row["first"], row["second"]): row["low"] is not None for row in table.iter_rows(named=True)}
    assert not known.pop(("s2", "s3"))
    assert (table["low"].is_null() == table["high"].is_null()).all()
    assert known["s0", "s2"]
