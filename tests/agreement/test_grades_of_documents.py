"""Grades: box plots, tests equal to scipy, exceptions and order agreement counted by hand, failures found."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from agreement_studies import made_study
from scipy import stats

from judgewell.agreement.common import document_medians
from judgewell.agreement.failures import failure_judgments, failures
from judgewell.agreement.grades import (
    adjacent_grade_tests,
    exception_counts,
    exceptions,
    grade_distributions,
    order_agreement,
    order_agreement_summary,
)
from judgewell.agreement.unit_grades import grade_value_tests, inferred_ranks, unit_order_agreement
from judgewell.errors import DataError, JudgewellWarning

GAINS = {
    "topic": ["a"] * 6 + ["b"] * 3,
    "doc": list("uvwxyz") + list("uvw"),
    "gain": [1.0, 2, 2, 5, 4, 9, 3, 3, 1],
}
LEVELS = {
    "topic": ["a"] * 5 + ["b"] * 3,
    "doc": list("uvwxy") + list("uvw"),
    "gain": [0.0, 0, 1, 1, 3, 0, 1, 3],
}


def test_distributions_are_box_plots() -> None:
    gains = {"topic": ["t"] * 8, "doc": list("abcdefgh"), "gain": [1.0, 2, 3, 4, 5, 6, 100, 7]}
    grades = {"topic": ["t"] * 7, "doc": list("abcdefg"), "gain": [2.0] * 7}
    boxed, unlabelled = grade_distributions(gains, grades).to_dicts()
    q1, median, q3 = np.percentile([1, 2, 3, 4, 5, 6, 100], [25, 50, 75])
    assert (boxed["label"], boxed["q1"], boxed["median"], boxed["q3"]) == ("2", q1, median, q3)
    assert (boxed["whisker_low"], boxed["whisker_high"], boxed["beyond"]) == (1, 6, 1)
    assert (unlabelled["label"], unlabelled["documents"]) == ("U", 1)


def test_order_agreement_by_hand() -> None:
    table = order_agreement(GAINS, LEVELS)
    rows = {(r["topic"], r["lower"], r["upper"]): (r["pairs"], r["in_order"], r["tied"]) for r in table.to_dicts()}
    assert rows == {
        ("a", 0, 1): (4, 3, 1),
        ("a", 0, 3): (2, 2, 0),
        ("a", 1, 3): (2, 1, 0),
        ("b", 0, 1): (1, 0, 1),
        ("b", 0, 3): (1, 0, 0),
        ("b", 1, 3): (1, 0, 0),
    }
    first = table.row(0, named=True)
    assert (first["strict"], first["half"], first["lenient"]) == (0.75, 0.875, 1.0)
    summary = {r["figure"]: r for r in order_agreement_summary(GAINS, LEVELS).to_dicts()}
    assert summary["0<1"]["half"] == pytest.approx((0.875 + 0.5) / 2)
    assert summary["mean"]["half"] == pytest.approx(np.mean([summary[k]["half"] for k in ("0<1", "0<3", "1<3")]))
    assert summary["pooled"]["half"] == pytest.approx((6 + 2 / 2) / 11)


def test_exceptions_by_hand() -> None:
    table = exceptions(GAINS, LEVELS)
    out = table.filter("exception").select("topic", "lower", "upper").rows()
    assert out == [("b", 0.0, 3.0), ("b", 1.0, 3.0)]
    counts = exception_counts(GAINS, LEVELS)
    assert counts.select("grades", "cases", "exceptions").rows() == [("adjacent", 4, 1), ("all", 6, 2)]


def test_tests_equal_scipy() -> None:
    judgments, grades = made_study(1)
    gains = document_medians(judgments)
    row = adjacent_grade_tests(gains, grades).row(0, named=True)
    joined = gains.join(grades.rename({"gain": "grade"}), on=["topic", "doc"])
    low, high = (joined.filter(pl.col("grade") == k)["gain"].to_numpy() for k in (0, 1))
    assert row["p_student"] == pytest.approx(stats.ttest_ind(low, high).pvalue)
    assert row["p_welch"] == pytest.approx(stats.ttest_ind(low, high, equal_var=False).pvalue)
    assert row["p_welch_log"] == pytest.approx(stats.ttest_ind(np.log(low), np.log(high), equal_var=False).pvalue)
    assert row["p_rank_sum"] == pytest.approx(stats.mannwhitneyu(low, high).pvalue)
    single = grade_value_tests(judgments, grades).row(0, named=True)
    values = judgments.join(grades.rename({"gain": "grade"}), on=["topic", "doc"])
    low, high = (values.filter(pl.col("grade") == k)["value"].to_numpy() for k in (0, 1))
    assert single["p_rank_sum"] == pytest.approx(stats.mannwhitneyu(low, high).pvalue)
    within = values.group_by("assessor", "grade").agg(pl.col("value").mean()).pivot(on="grade", index="assessor")
    both = within.select("0.0", "1.0").drop_nulls()
    assert single["assessors"] == both.height
    assert single["p_signed_rank"] == pytest.approx(stats.wilcoxon(both["1.0"] - both["0.0"]).pvalue)


def test_words_for_what_cannot_be_tested() -> None:
    notes = adjacent_grade_tests(pl.DataFrame(GAINS).filter(topic="b"), LEVELS)["note"].to_list()
    assert notes == ["no test: all values of both grades are 3", "needs 2 or more of both grades; there are 1 and 1"]
    with pytest.raises(DataError, match="all that are labelled have grade 1"):
        order_agreement(GAINS, LEVELS | {"gain": [1.0] * 8})
    with pytest.raises(DataError, match="no document has a grade"):
        order_agreement(GAINS, LEVELS | {"topic": ["y"] * 5 + ["z"] * 3})


def test_unit_order_agreement_and_ranks() -> None:
    judgments = {
        "topic": ["t"] * 4,
        "doc": ["n", "m", "n", "m"],
        "assessor": ["x", "x", "y", "y"],
        "value": [1.0, 2, 3, 3],
    }
    grades = {"topic": ["t", "t"], "doc": ["n", "m"], "gain": [0.0, 1.0]}
    row = unit_order_agreement(judgments, grades).row(0, named=True)
    assert (row["pairs"], row["strict"], row["half"], row["lenient"]) == (2, 0.5, 0.75, 1.0)
    ranks = inferred_ranks(judgments, grades)
    assert ranks["rank"].to_list() == [1, 2, 1.5, 1.5]
    assert ranks["nominal"].to_list() == [1, 2, 1, 2]


def test_planted_failures_are_found_first() -> None:
    judgments, grades = made_study(3, documents=80, noise=0.3, positive=False)
    swapped = grades["doc"].to_list()[:4]
    wrong = grades.with_columns(gain=pl.when(pl.col("doc").is_in(swapped)).then(3 - pl.col("gain")).otherwise("gain"))
    flipped = [doc for doc, gain in zip(swapped, grades["gain"][:4].to_list(), strict=True) if abs(3 - 2 * gain) == 3]
    listed = failures(document_medians(judgments), wrong)
    assert flipped
    assert set(listed["doc"][: len(flipped)]) == set(flipped)
    behind = failure_judgments(listed.head(1), judgments)
    assert behind["doc"].unique().to_list() == [listed["doc"][0]]
    assert behind.height == judgments.filter(pl.col("doc") == listed["doc"][0]).height


def test_a_document_alone_in_its_grade_is_not_placed() -> None:
    with pytest.warns(JudgewellWarning, match="4 documents alone in their grade"):
        failures(GAINS, LEVELS)


@pytest.mark.realdata
def test_trec8(trec8: tuple[pl.DataFrame, Any]) -> None:
    judgments, labels = trec8
    unknown = document_medians(judgments.filter(pl.col("known").is_null()))
    boxes = grade_distributions(unknown, labels["sormunen"])
    assert boxes["median"][:4].to_list() == [20, 75, 88.75, 90]
    gains = document_medians(judgments)
    assert gains.height == 4269
    # the papers' 77 % between magnitudes and Sormunen, and 65 % between Sormunen and TREC with ties as half
    crowd = order_agreement_summary(gains, labels["sormunen"]).filter(pl.col("figure") == "mean")
    assert crowd["half"][0] == pytest.approx(0.77, abs=0.005)
    experts = order_agreement_summary(labels["trec"], labels["sormunen"]).filter(pl.col("figure") == "mean")
    assert experts["half"][0] == pytest.approx(0.65, abs=0.03)
    assert exception_counts(gains, labels["sormunen"])["cases"].to_list() == [54, 108]
    assert exception_counts(gains, labels["trec"])["exceptions"].to_list() == [0, 0]
