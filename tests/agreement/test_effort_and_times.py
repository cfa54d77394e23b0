"""Workers and times: the published table of likes, gamma fits equal to scipy, histograms of area 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from judgewell.agreement.effort import (
    assessor_statistics,
    assessors_per_document,
    units_per_assessor,
)
from judgewell.agreement.likes import (
    likes_against_difficulty,
    likes_over_topics,
    question_likes,
    topic_difficulty,
)
from judgewell.agreement.scale_use import scale_descriptives
from judgewell.agreement.times import (
    gamma_fit,
    time_against_length,
    time_and_length,
    time_by_position,
    time_distribution,
    time_histogram,
)
from judgewell.errors import DataError, InputError, JudgewellWarning

# Yang, Moffat & Turpin 2018, Table 3: topic, the three questions, workers, mean average precision
PUBLISHED = [
    ("402", 0.397, 0.635, 0.217, 152, 0.204),
    ("403", 0.716, 0.423, 0.245, 47, 0.708),
    ("405", 0.493, 0.584, 0.210, 126, 0.182),
    ("407", 0.530, 0.573, 0.324, 103, 0.279),
    ("408", 0.569, 0.531, 0.188, 125, 0.198),
    ("415", 0.456, 0.529, 0.223, 72, 0.400),
    ("416", 0.482, 0.466, 0.294, 74, 0.295),
    ("431", 0.513, 0.549, 0.240, 79, 0.329),
    ("440", 0.408, 0.642, 0.328, 133, 0.154),
]


def published_likes() -> pl.DataFrame:
    rows = [(r[0], f"Q{q}", r[q], r[4]) for r in PUBLISHED for q in (1, 2, 3)]
    return pl.DataFrame(rows, schema=["topic", "question", "share", "assessors"], orient="row")


def test_published_likes() -> None:
    table = likes_over_topics(published_likes())
    assert table["mean"].round(3).to_list() == [0.507, 0.548, 0.252]
    assert table["weighted"].round(3).to_list() == [0.489, 0.567, 0.251]
    difficulty = pl.DataFrame({"topic": [r[0] for r in PUBLISHED], "difficulty": [r[5] for r in PUBLISHED]})
    row = likes_against_difficulty(published_likes(), difficulty, "Q1", "Q2").row(0, named=True)
    assert round(row["pearson"], 3) == 0.824
    assert round(row["p_pearson"], 3) == 0.006
    assert round(row["tau"], 2) == 0.39
    assert round(row["p_tau"], 2) == 0.18


def test_every_worker_counts_once() -> None:
    likes = pl.DataFrame(
        {
            "topic": ["t"] * 4,
            "assessor": ["x", "x", "x", "y"],
            "question": ["Q1"] * 4,
            "liked": [True, True, False, False],
        }
    )
    row = question_likes(likes).row(0, named=True)
    assert row["assessors"] == 2
    assert row["share"] == pytest.approx((2 / 3 + 0) / 2)
    with pytest.raises(InputError, match="lacks liked"):
        question_likes(likes.drop("liked"))


def test_worker_counts() -> None:
    frame = {
        "topic": ["t"] * 5,
        "doc": ["a", "b", "a", "b", "a"],
        "assessor": ["x", "x", "y", "y", "z"],
        "unit": ["1", "2", "1", "1", "1"],
        "value": [1.0, 1, 2, 3, 3],
    }
    assert assessors_per_document(frame).select("assessors", "documents").rows() == [(2, 1), (3, 1)]
    assert units_per_assessor(frame).rows() == [(1, 2), (2, 1)]
    first = assessor_statistics(frame).row(0, named=True)
    assert (first["assessor"], first["judgments"], first["most_used"], first["most_used_share"]) == ("x", 2, 1, 1)
    pairs = {"topic": ["t"] * 2, "left": ["a", "b"], "right": ["b", "c"], "assessor": ["x", "y"], "unit": ["1", "1"]}
    assert assessors_per_document(pairs).select("assessors", "documents").rows() == [(1, 2), (2, 1)]
    assert units_per_assessor(pairs).rows() == [(1, 2)]


def test_topics_of_an_assessor_are_no_units() -> None:
    frame = {"topic": ["t", "t", "s"], "doc": ["a", "b", "a"], "assessor": ["x", "y", "x"], "value": [1.0, 2, 3]}
    assert assessor_statistics(frame)["units"].to_list() == [None, None]
    assert scale_descriptives(frame)["units"].to_list() == [None]
    with pytest.raises(DataError, match="counting units per assessor needs the column 'unit'"):
        units_per_assessor(frame)
    named = {**frame, "unit": ["1", "1", None]}
    assert assessor_statistics(named)["units"].to_list() == [1, 1]
    assert scale_descriptives(named)["units"].to_list() == [2]
    assert units_per_assessor(named).rows() == [(1, 2)]


def test_topic_difficulty() -> None:
    scores = {
        "system": ["s", "r", "s", "r"],
        "topic": ["1", "1", "2", "2"],
        "measure": ["AP"] * 4,
        "value": [0.2, 0.4, 0.1, 0.1],
    }
    assert topic_difficulty(scores).select("topic", "difficulty").rows() == [("2", 0.1), ("1", pytest.approx(0.3))]
    with pytest.raises(DataError, match="no scores of P@10; the measures are AP"):
        topic_difficulty(scores, "P@10")


@pytest.mark.parametrize(("shape", "scale"), [(0.3, 100), (1.8, 45), (25.0, 2)])
def test_gamma_fit_equals_scipy(shape: float, scale: float) -> None:
    values = stats.gamma.rvs(shape, scale=scale, size=3000, random_state=1)
    fitted = gamma_fit(values)
    expected = stats.gamma.fit(values, floc=0)
    assert fitted == pytest.approx((expected[0], expected[2]), rel=1e-6)
    assert fitted == pytest.approx((shape, scale), rel=0.15)


def timed(seconds: list[float]) -> pl.DataFrame:
    size = len(seconds)
    docs = [f"d{n}" for n in range(size)]
    return pl.DataFrame({"topic": ["t"] * size, "doc": docs, "value": [1.0] * size, "seconds": seconds})


def test_times_that_are_none_are_told() -> None:
    with pytest.warns(JudgewellWarning, match="2 times of 0 seconds or below are excluded"):
        row = time_distribution(timed([-3.0, 0, 10, 20, 40])).row(0, named=True)
    assert (row["count"], row["median"]) == (3, 20)
    with pytest.warns(JudgewellWarning, match="1 time above 30 seconds"):
        assert time_distribution(timed([10.0, 20, 40]), longest=30)["count"][0] == 2
    same = time_distribution(timed([10.0, 10, 10])).row(0, named=True)
    assert same["shape"] is None
    assert same["note"] == "a gamma needs two different times"
    with pytest.raises(DataError, match="no time is above 0"), pytest.warns(JudgewellWarning):
        time_distribution(timed([-1.0, 0]))
    with pytest.raises(DataError, match="needs the column 'seconds'"):
        time_distribution({"topic": ["t"], "doc": ["d"], "value": [1.0]})


def test_histogram_has_area_one() -> None:
    values = stats.gamma.rvs(2, scale=30, size=4000, random_state=0)
    bars = time_histogram(timed(values.tolist()), width=5)
    assert bars["density"].sum() * 5 == pytest.approx(1)
    assert bars["count"].sum() == 4000
    np.testing.assert_allclose(bars["density"], bars["gamma"], atol=0.002)


def test_time_against_length() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "topic": ["t"] * 400,
            "doc": [f"d{n}" for n in rng.integers(0, 50, 400)],
            "assessor": [f"a{n}" for n in rng.integers(0, 40, 400)],
            "value": [1.0] * 400,
            "seconds": rng.gamma(2, 30, 400),
        }
    )
    lengths = pl.DataFrame({"doc": [f"d{n}" for n in range(50)], "length": rng.integers(100, 900, 50)})
    dots = time_and_length(frame, lengths)
    row = time_against_length(dots).row(0, named=True)
    assert row["points"] == dots.height == 40
    assert row["tau"] == pytest.approx(kendall(dots))
    longer = frame.join(lengths, on="doc").with_columns(seconds=pl.col("length") / 10.0)
    assert time_against_length(time_and_length(longer, lengths))["tau"][0] == pytest.approx(1)
    pairs = pl.DataFrame(
        {"topic": ["t"], "left": ["d1"], "right": ["d2"], "assessor": ["x"], "seconds": [5.0], "preferred": ["left"]}
    )
    mean = lengths.filter(pl.col("doc").is_in(["d1", "d2"]))["length"].mean()
    assert time_and_length(pairs, lengths)["length"][0] == mean


def kendall(dots: pl.DataFrame) -> float:
    return float(stats.kendalltau(dots["length"], dots["seconds"]).statistic)


@pytest.mark.realdata
def test_trec8_times(trec8: tuple[pl.DataFrame, Any]) -> None:
    with pytest.warns(JudgewellWarning, match="3 times of 0 seconds or below"):
        table = time_distribution(trec8[0], by=["topic"])
    assert table["note"].null_count() == 18
    with pytest.warns(JudgewellWarning):
        places = time_by_position(trec8[0])
    assert places["median"][0] > places["median"][7]  # the first document takes longest
    workers = units_per_assessor(trec8[0])
    assert (workers["units"] * workers["assessors"]).sum() == 7059
    assert workers["assessors"].sum() == 1340
