"""Do grades differ? The test holds its size where documents and topics vary, and finds what is there."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_ind

from judgewell.agreement.grade_tests import combined, finding, grade_differences
from judgewell.errors import DataError


def study(rng: np.random.Generator, topics: int, difference: float = 0.0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Gains of 5 to 14 documents of each of two grades; the difference varies between topics with s.d. 0.3."""
    rows = []
    for topic in range(topics):
        gap = difference + 0.3 * rng.normal()
        for grade in (0, 1):
            spread = (1.0, 1.6)[grade]
            for number in range(int(rng.integers(5, 15))):
                rows.append((str(topic), f"{grade}-{number}", gap * grade + spread * rng.normal(), float(grade)))
    frame = pl.DataFrame(rows, schema=["topic", "doc", "gain", "grade"], orient="row")
    return frame.drop("grade"), frame.select("topic", "doc", gain="grade")


def test_one_topic_is_welch() -> None:
    gains, grades = study(np.random.default_rng(0), 1, 0.5)
    row = grade_differences(gains, grades).row(0, named=True)
    low, high = (gains.join(grades.filter(gain=g), on="doc", how="semi")["gain"].to_numpy() for g in (0.0, 1.0))
    expected = ttest_ind(high, low, equal_var=False)
    assert (row["test"], row["topics"]) == ("Welch", 1)
    assert row["p"] == pytest.approx(expected.pvalue)
    interval = expected.confidence_interval()
    assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))


@pytest.mark.long
def test_size_and_power_over_topics() -> None:
    rng = np.random.default_rng(1)
    silent = [grade_differences(*study(rng, 12))["p"][0] < 0.05 for _ in range(300)]
    loud = [grade_differences(*study(rng, 12, 0.8))["p"][0] < 0.05 for _ in range(40)]
    assert 0.02 <= np.mean(silent) <= 0.09  # 300 draws; scripts/grade_tests.py has the long run
    assert np.mean(loud) >= 0.9


def test_equal_variances_without_heterogeneity_give_the_plain_mean() -> None:
    mean, variance = combined(np.array([1.0, 1.1, 0.9]), np.full(3, 4.0))
    assert mean == pytest.approx(1.0)
    assert variance == pytest.approx(0.01 / 3)  # Hartung–Knapp: the differences' own spread


def test_refusals_and_logs() -> None:
    gains = pl.DataFrame({"topic": ["t"] * 3, "doc": list("abc"), "gain": [1.0, 2.0, 4.0]})
    grades = gains.with_columns(gain=pl.Series([0.0, 0.0, 1.0]))
    row = grade_differences(gains, grades).row(0, named=True)
    assert (row["p"], row["note"]) == (None, "no topic has 2 documents of both grades")
    with pytest.raises(DataError, match="logs need gains above 0; the lowest is 0"):
        grade_differences(gains.with_columns(pl.col("gain") - 1), grades, log=True)
    both, of_both = study(np.random.default_rng(2), 5, 2.0)
    logs = grade_differences(both.with_columns(pl.col("gain").exp()), of_both, log=True)
    plain = grade_differences(both, of_both)
    assert logs["difference"][0] == pytest.approx(plain["difference"][0])
    assert logs["unit"][0] == "ln gain"
    [text] = finding(plain.with_columns(labels=pl.lit("experts")))
    assert text.startswith("All neighbouring grades of the label set experts differ significantly in gain (0 and 1, p")


def test_grades_that_could_not_be_tested_are_not_said_to_differ() -> None:
    rows = {"labels": "groups", "lower": [1.0, 2.0, 3.0, 4.0], "upper": [2.0, 3.0, 4.0, 5.0]}
    table = pl.DataFrame(rows | {"difference": [-3.0, 1.0, None, None], "p": [0.01, 0.4, None, None]})
    [text] = finding(table)
    assert text == (
        "Of 4 pairs of neighbouring grades of the label set groups, 1 differs significantly in gain (1 and 2, "
        "p = 0.010, the lower grade having the higher gain); 1 does not (2 and 3, p = 0.400); 2 could not be tested, "
        "with too few documents of both grades in a topic."
    )
    [text] = finding(table.filter(pl.col("p").is_null() | (pl.col("p") > 0.05)))
    assert ", 1 does not differ significantly in gain (2 and 3, p = 0.400); 2 could not be tested" in text
