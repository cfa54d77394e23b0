"""Predicted relevance: the paper's worked example to the last digit, its identities, and what is undefined stays so."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.scaling import double_judgments, grade_probabilities, predicted
from judgewell.scaling.predicted import Predicted, UserDisagreement

U1 = [2, 2, 1, 0, 1, 1, 0, 1, 2, 1, 1, 1, 2, 0, 1, 0, 1, 1, 0, 0]
U2 = [1, 2, 1, 1, 2, 0, 0, 1, 2, 2, 0, 2, 1, 0, 1, 2, 0, 1, 0, 0]


def parameters(
    judgments: pl.DataFrame, smoothing: float = 0.0, prior: grade_probabilities.Prior = "marginal", **options: Any
) -> pl.DataFrame:
    tally = double_judgments.tallies(judgments, **options)
    return grade_probabilities.estimated(tally, smoothing=smoothing, prior=prior)


def doubly(first: list[int], second: list[int], topics: int = 1) -> pl.DataFrame:
    """Documents judged by U1 and U2, in that order."""
    rows = [
        (f"t{n % topics}", f"d{n:03d}", assessor, float(grade))
        for assessor, grades in (("U1", first), ("U2", second))
        for n, grade in enumerate(grades)
    ]
    return pl.DataFrame(rows, schema=["topic", "doc", "assessor", "value"], orient="row")


TABLE1 = doubly(U1, U2)

WORKED = [
    ("first", 2, ["1/6", "3/10", "2/4"]),
    ("both", 2, ["1/13", "5/17", "4/10"]),
    ("first", 1, ["2/6", "7/10", "4/4"]),
    ("both", 1, ["5/13", "13/17", "9/10"]),
]


@pytest.mark.parametrize(("estimate", "threshold", "expected"), WORKED)
def test_the_worked_example(estimate: double_judgments.Estimate, threshold: int, expected: list[str]) -> None:
    table = parameters(TABLE1, estimate=estimate, threshold=threshold)
    found = list(zip(table["relevant"], table["judged"], strict=True))
    assert [f"{a:g}/{b:g}" for a, b in found] == expected
    assert table["p"].to_list() == pytest.approx([float(Fraction(text)) for text in expected])


@pytest.mark.parametrize(
    ("estimate", "sigmas"), [("first", [0.1521, 0.1449, 0.2500]), ("both", [0.0739, 0.1105, 0.1549])]
)
def test_the_printed_sigmas(estimate: double_judgments.Estimate, sigmas: list[float]) -> None:
    printed = parameters(TABLE1, estimate=estimate)["sigma_printed"].to_list()
    assert printed == pytest.approx(sigmas, abs=5e-5)


def test_the_corrected_sigma_is_the_pair_formula() -> None:
    table = parameters(TABLE1, threshold=2)
    for grade, p, sigma in table.select("grade", "p", "sigma_pairs").rows():
        a = np.array([(x == 2) * (y == grade) + (y == 2) * (x == grade) for x, y in zip(U1, U2, strict=True)])
        b = np.array([(x == grade) + (y == grade) for x, y in zip(U1, U2, strict=True)], dtype=float)
        assert sigma == pytest.approx(np.sqrt(((a - p * b) ** 2).sum()) / b.sum())
    one_sided = parameters(TABLE1, estimate="first")
    assert one_sided["sigma_pairs"].to_list() == pytest.approx(one_sided["sigma_printed"].to_list())


@pytest.mark.long
def test_the_printed_sigma_is_too_small_where_grades_repeat() -> None:
    """Over many simulated sets of double judgments the corrected sigma is the actual spread, the printed one is not."""
    rng = np.random.default_rng(1)
    joint = np.array([[0.7, 0.1], [0.1, 0.1]])
    found = []
    for _ in range(400):
        cells = rng.choice(4, 200, p=joint.ravel())
        table = parameters(doubly(list(cells // 2), list(cells % 2)))
        found.append(table.filter(pl.col("grade") == 1).select("p", "sigma_pairs", "sigma_printed").row(0))
    p, sigma, printed = np.array(found).T
    assert sigma.mean() == pytest.approx(p.std(), rel=0.12)
    assert printed.mean() < 0.85 * sigma.mean()


PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


@given(PAIRS, st.integers(1, 3))
def test_expected_and_actual_counts_agree_on_the_doubly_judged_set(pairs: list[tuple[int, int]], theta: int) -> None:
    """Sum over grades of N(grade) p(R|grade) is the number of relevant judgments, exactly (eq. 5)."""
    judgments = doubly([x for x, _ in pairs], [y for _, y in pairs])
    table = parameters(judgments, threshold=theta, grades=[0, 1, 2, 3])
    counted = predicted.count_relevant(judgments.rename({"value": "gain"}), table.drop_nulls("p"), by=["topic"])
    assert counted["expected"][0] == pytest.approx(counted["binary"][0], abs=1e-9)
    assert counted["results"][0] == 2 * len(pairs)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30), st.integers(1, 3))
def test_without_disagreement_it_is_binary(grades: list[int], theta: int) -> None:
    table = parameters(doubly(grades, grades), threshold=theta, grades=[0, 1, 2, 3]).drop_nulls("p")
    assert table["p"].to_list() == [float(grade >= theta) for grade in table["grade"]]


@given(st.lists(st.integers(1, 6), min_size=3, max_size=3), st.integers(1, 2))
def test_random_labels_make_all_grades_worth_the_same(counts: list[int], theta: int) -> None:
    """Every combination as often as independence says: the second grade tells nothing of the first."""
    pairs = [(i, j) for i in range(3) for j in range(3) for _ in range(counts[i] * counts[j])]
    table = parameters(doubly([x for x, _ in pairs], [y for _, y in pairs]), threshold=theta)
    assert table["p"].to_list() == pytest.approx([sum(counts[theta:]) / sum(counts)] * 3)


@given(PAIRS)
def test_thresholds_are_monotone_and_balance_is_detailed(pairs: list[tuple[int, int]]) -> None:
    judgments = doubly([x for x, _ in pairs], [y for _, y in pairs])
    table = grade_probabilities.conditional(double_judgments.tallies(judgments, threshold=1, grades=[0, 1, 2, 3]))
    p = table["p"].fill_null(float("nan")).to_numpy().reshape(4, 4)
    used = np.bincount([grade for pair in pairs for grade in pair], minlength=4)
    assert np.isnan(p).all(axis=1).tolist() == (used == 0).tolist()
    flow = np.nan_to_num(p) * used[:, None]
    assert flow == pytest.approx(flow.T, abs=1e-9)
    assert np.nan_to_num(p).min() >= -1e-12


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("xyzw"), st.integers(0, 2)), min_size=1, max_size=6), min_size=1, max_size=6
    )
)
def test_more_than_two_judgments_are_all_ordered_pairs_of_distinct_assessors(
    documents: list[list[tuple[str, int]]],
) -> None:
    rows = [("t", f"d{n}", who, float(grade)) for n, given_ in enumerate(documents) for who, grade in given_]
    judgments = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "value"], orient="row")
    pairs = [(one[1], other[1]) for given_ in documents for one, other in permutations(given_, 2) if one[0] != other[0]]
    assume(pairs)
    table = parameters(judgments, threshold=1, grades=[0, 1, 2])
    assert table["judged"].to_list() == [sum(x == grade for x, _ in pairs) for grade in range(3)]
    assert table["relevant"].to_list() == [sum(x == grade and y >= 1 for x, y in pairs) for grade in range(3)]


def test_documents_can_weigh_the_same_however_often_they_were_judged() -> None:
    rows = [("t", "a", f"w{n}", 1.0) for n in range(10)] + [("t", "b", "w0", 1.0), ("t", "b", "w1", 0.0)]
    judgments = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "value"], orient="row")
    by_pair = parameters(judgments).filter(pl.col("grade") == 1)["p"][0]
    by_document = parameters(judgments, weight="document").filter(pl.col("grade") == 1)["p"][0]
    assert (by_pair, by_document) == (pytest.approx(90 / 91), pytest.approx(2 / 3))


def test_a_grade_never_used_is_undefined_and_not_zero() -> None:
    table = parameters(TABLE1, grades=[0, 1, 2, 3], threshold=2)
    assert table.row(3, named=True)["p"] is None
    assert table.row(3, named=True)["judged"] == 0
    once = pl.concat([TABLE1, pl.DataFrame({"topic": "t0", "doc": "new", "assessor": "U1", "value": 3.0})])
    with (
        pytest.warns(JudgewellWarning, match=r"rests on the 20 of 21 documents"),
        pytest.raises(
            DataError, match=r"the grade 3 was never used in double.*1 documents have it .topic t0, document new"
        ),
    ):
        Predicted(threshold=2)(once)
    with pytest.warns(JudgewellWarning):
        smoothed = Predicted(threshold=2, smoothing=1)(once)
    assert smoothed.filter(pl.col("doc") == "new")["gain"][0] == pytest.approx(10 / 40)


def test_dirichlet_smoothing_adds_the_overall_share() -> None:
    table = parameters(TABLE1, threshold=2, smoothing=4)
    assert table["p"].to_list() == pytest.approx([(n + 4 * 10 / 40) / (d + 4) for n, d in ((1, 13), (5, 17), (4, 10))])
    uniform = parameters(TABLE1, threshold=2, smoothing=4, prior="uniform")
    assert uniform["p"][0] == pytest.approx(3 / 17)


def test_grades_outside_the_scale_are_refused() -> None:
    with pytest.raises(InputError, match=r"the grade 2 is not one of 0, 1 .topic t0, document d000, assessor U1"):
        parameters(TABLE1, grades=[0, 1])


@pytest.mark.parametrize("threshold", [0, 3])
def test_a_threshold_that_decides_nothing_is_refused(threshold: float) -> None:
    with pytest.raises(InputError, match=rf"the threshold {threshold} must lie above the lowest grade 0"):
        parameters(TABLE1, threshold=threshold)


def test_single_judgments_alone_teach_nothing() -> None:
    single = TABLE1.filter(pl.col("assessor") == "U1")
    with pytest.raises(DataError, match=r"no document was judged by two assessors"):
        Predicted()(single)


def test_at_least_two_of_three_users() -> None:
    assert predicted.at_least(np.array([0.53, np.nan]), 2, 3)[0] == pytest.approx(0.5449, abs=5e-5)
    assert np.isnan(predicted.at_least(np.array([np.nan]), 1, 2)[0])
    gains = Predicted(wanted=2, users=3, use="mean")(TABLE1)
    p = parameters(TABLE1)["p"].to_numpy()
    both_zero = gains.filter(pl.col("doc") == "d006")["gain"][0]
    assert both_zero == pytest.approx(3 * p[0] ** 2 * (1 - p[0]) + p[0] ** 3)
    with pytest.raises(InputError, match=r"4 of 3 users is not possible"):
        predicted.at_least(p, 4, 3)


def test_udm_gives_one_to_the_top_and_zero_to_the_bottom() -> None:
    p, grades = np.array([0.1, 0.3, 0.5]), np.array([0.0, 1.0, 2.0])
    assert predicted.udm_weights(p, grades).tolist() == pytest.approx([0, 0.3, 1])
    assert predicted.udm_weights(p, grades, 2, 3).tolist() == pytest.approx([0, 0.09, 0.75])
    assert predicted.udm_weights(p, grades, 2, 2).tolist() == pytest.approx([0, 0, 0.5])
    gains = UserDisagreement()(TABLE1)
    assert gains.filter(pl.col("doc") == "d001")["gain"][0] == 1.0


def test_gains_are_the_mean_over_a_documents_judgments_or_the_first() -> None:
    p = parameters(TABLE1)["p"].to_list()
    gains = dict(Predicted(use="mean")(TABLE1).select("doc", "gain").rows())
    assert gains["d000"] == pytest.approx((p[2] + p[1]) / 2)
    first = dict(Predicted(use="first")(TABLE1).select("doc", "gain").rows())
    assert first["d000"] == pytest.approx(p[2])


def test_a_split_learns_each_kind_of_topic_alone() -> None:
    kinds = pl.concat(
        [
            doubly(U1, U1).with_columns(topic=pl.lit("n"), intent=pl.lit("navigational")),
            TABLE1.with_columns(intent=pl.lit("informational")),
        ]
    )
    table = Predicted(split="intent").tables(kinds)["parameters"]
    assert table.filter(pl.col("intent") == "navigational")["p"].to_list() == [0.0, 0.0, 1.0]
    assert table.filter(pl.col("intent") == "informational")["p"].to_list() == pytest.approx([1 / 13, 5 / 17, 4 / 10])
    gains = Predicted(split="intent")(kinds)
    assert gains.filter((pl.col("topic") == "n") & (pl.col("doc") == "d000"))["gain"][0] == pytest.approx(1)
    assert set(table["intent"]) == {"navigational", "informational"}


def test_a_split_must_be_a_property_of_the_topic() -> None:
    mixed = TABLE1.with_columns(intent=pl.Series(["a", "b"] * 20))
    with pytest.raises(InputError, match=r"topic t0 has more than one intent"):
        Predicted(split="intent").tables(mixed)


def test_counts_for_each_list_of_results() -> None:
    results = pl.DataFrame({"system": ["a", "a", "b"], "gain": [2, 0, 1]})
    table = parameters(TABLE1, threshold=1)
    counted = predicted.count_relevant(results, table, by=["system"])
    p, sigma = table["p"].to_list(), table["sigma_pairs"].to_list()
    assert counted["binary"].to_list() == [1, 1]
    assert counted["expected"].to_list() == pytest.approx([p[2] + p[0], p[1]])
    assert counted["sigma"].to_list() == pytest.approx([np.hypot(sigma[2], sigma[0]), sigma[1]])
    with pytest.raises(DataError, match=r"the grade 7 has no p"):
        predicted.count_relevant(results.with_columns(gain=pl.lit(7)), table, by=["system"])


TABLE3 = {"Key": (0.53, 0.93), "HRel": (0.27, 0.88), "Rel": (0.04, 0.46), "Non": (0.01, 0.08)}  # top, marginal
TABLE5 = [  # run, Key results, results from Rel on, expected: top and marginal, the length that follows
    ("StanfordEIG10", 0.14, 0.66, 0.19, 0.85, 5.6, 0.1),
    ("RS_clueweb", 2.66, 9.26, 2.51, 8.52, 30, 4),  # two printed digits allow this much
    ("oracle", 12.98, 25.92, 9.02, 21.40, 30, 4),
]


@pytest.mark.parametrize(("run", "key", "marginal", "top_expected", "expected", "length", "off"), TABLE5)
def test_published_counts_follow_from_published_parameters(
    run: str, key: float, marginal: float, top_expected: float, expected: float, length: float, off: float
) -> None:
    """Eq. 2 inverted for the two unknown counts of a run gives a list of at most 30 results; eq. 2 gives them back."""
    p_top, p_marginal = (np.array([TABLE3[grade][n] for grade in ("Key", "HRel", "Rel", "Non")]) for n in (0, 1))
    matrix = np.array([[p[1] - p[2], p[3]] for p in (p_top, p_marginal)])
    known = [top_expected - key * p_top[0] - (marginal - key) * p_top[2]]
    known += [expected - key * p_marginal[0] - (marginal - key) * p_marginal[2]]
    high, non = np.linalg.solve(matrix, known)
    counts = np.array([key, high, marginal - key - high, non])
    assert counts.sum() == pytest.approx(length, abs=off)
    thousands = np.repeat([3.0, 2.0, 1.0, 0.0], np.maximum(counts * 1000, 0).round().astype(int))
    for p, threshold, published in ((p_top, 3.0, top_expected), (p_marginal, 1.0, expected)):
        table = pl.DataFrame({"grade": [3.0, 2.0, 1.0, 0.0], "threshold": threshold, "p": p, "sigma_pairs": 0.01})
        counted = predicted.count_relevant(pl.DataFrame({"topic": "t", "gain": thousands}), table, by=["topic"])
        assert counted["expected"][0] / 1000 == pytest.approx(published, abs=0.01)


def test_intervals_hold_the_gain() -> None:
    found = Predicted().interval(TABLE1)
    assert ((found["low"] < found["gain"]) & (found["gain"] < found["high"])).all()
