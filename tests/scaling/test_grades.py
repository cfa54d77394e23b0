"""Grades: averages of mapped grades, profiles that refuse gaps, and the chain of median ratios."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.scaling import grades
from judgewell.scaling.grades import Majority, Mean, Median


def judged(**documents: list[float]) -> pl.DataFrame:
    """Judgments of topic t, each by an assessor of its own."""
    rows = [("t", doc, f"w{n}", value) for doc, values in documents.items() for n, value in enumerate(values)]
    return pl.DataFrame(rows, schema=["topic", "doc", "assessor", "value"], orient="row")


@given(st.lists(st.integers(0, 3), min_size=1, max_size=9))
def test_mean_median_and_majority_of_one_document(grades: list[int]) -> None:
    judgments = judged(a=[float(grade) for grade in grades])
    assert Mean()(judgments)["gain"][0] == pytest.approx(np.mean(grades))
    assert Median()(judgments)["gain"][0] == pytest.approx(np.median(grades))
    counts = np.bincount(grades)
    with pytest.warns(JudgewellWarning) if (counts == counts.max()).sum() > 1 else no_warning():
        assert Majority()(judgments)["gain"][0] == pytest.approx(np.flatnonzero(counts == counts.max()).mean())


class no_warning:
    """Stands where a warning is not expected."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


@pytest.mark.parametrize(("ties", "gain"), [("mean", 1.5), ("lowest", 0.0), ("highest", 3.0)])
def test_a_tied_majority_is_settled_as_asked_and_told(ties: grades.Tied, gain: float) -> None:
    with pytest.warns(JudgewellWarning, match=r"1 of 2 documents have no majority.*document a"):
        assert Majority(ties=ties)(judged(a=[0, 3], b=[1]))["gain"].to_list() == [gain, 1.0]
    with pytest.raises(DataError, match=r"1 documents have no majority"):
        Majority(ties="error")(judged(a=[0, 3], b=[1]))


@pytest.mark.parametrize(
    ("profile", "threshold", "expected"),
    [
        ("linear", None, {0: 0, 1: 1, 3: 3}),
        ("exp2", None, {0: 0, 1: 1, 3: 7}),
        ("binary", 2, {0: 0, 1: 0, 3: 1}),
        ("0:0,1:0.3,2:.6,3:1", None, {0: 0, 1: 0.3, 3: 1}),
        ({0: 2, 1: 4, 3: 16}, None, {0: 2, 1: 4, 3: 16}),
    ],
)
def test_profiles(profile: str, threshold: float | None, expected: dict[float, float]) -> None:
    assert grades.profile_table(profile, [0, 1, 3], threshold=threshold) == expected


@pytest.mark.parametrize("profile", ["cubic", "0=1", "0:1:2"])
def test_an_unknown_profile_says_what_can_be_written(profile: str) -> None:
    with pytest.raises(InputError, match=r"linear, exp2, binary nor a table.*0:0,1:0.3,2:1"):
        grades.profile_table(profile, [0, 1])


def test_a_grade_missing_from_the_table_or_without_gain_is_refused() -> None:
    with pytest.raises(InputError, match=r"no gain for the grade 2; it has 0, 1"):
        grades.profile_table("0:0,1:1", [0, 2])
    with pytest.raises(InputError, match=r"gain of the grade 1 is undefined"):
        grades.profile_table({0: 0, 1: float("nan")}, [0])


@pytest.mark.parametrize(("profile", "threshold"), [("binary", None), ("linear", 1.0)])
def test_a_threshold_goes_with_binary_only(profile: str, threshold: float | None) -> None:
    with pytest.raises(InputError, match=r"profile=binary with threshold=1"):
        grades.profile_table(profile, [0, 1], threshold=threshold)


def test_grades_are_mapped_before_they_are_averaged() -> None:
    assert Mean(profile="exp2")(judged(a=[0, 3]))["gain"].to_list() == [3.5]
    assert Majority(profile="binary", threshold=1)(judged(a=[0, 1, 2, 0, 3]))["gain"].to_list() == [1.0]


def test_intervals_of_mean_and_median() -> None:
    judgments = judged(a=[1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    mean = Mean().interval(judgments.with_columns(kind=pl.lit("interval"))).row(0)
    assert mean[3:5] == (pytest.approx(5.5 - 2.1658506, abs=1e-6), pytest.approx(5.5 + 2.1658506, abs=1e-6))
    assert Median().interval(judgments).row(0)[3:5] == (2.0, 9.0)  # 97.9 %, the first above 95 %


def test_too_few_judgments_have_no_interval_and_it_is_told() -> None:
    with pytest.warns(JudgewellWarning, match=r"1 of 2 documents have too few judgments for a 95% interval"):
        found = Median().interval(judged(a=[1, 2, 3, 4, 5], b=[1, 2, 3, 4, 5, 6]))
    assert found["low"].to_list() == [None, 1.0]
    assert Mean().interval(judged(a=[1]))["low"].to_list() == [None]
