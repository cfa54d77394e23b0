"""How far to trust p(R|grade): topic bootstrap, growth, result quality, and the rule of enough."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from judgewell.errors import DataError
from judgewell.scaling import double_judgments, grade_probabilities, predicted_curves
from judgewell.scaling.predicted import Predicted


def judged(rows: list[tuple[str, str, int, int]]) -> pl.DataFrame:
    """Doubly judged documents from (topic, doc, first grade, second grade)."""
    flat = [(topic, doc, who, float(grade)) for topic, doc, x, y in rows for who, grade in (("U1", x), ("U2", y))]
    return pl.DataFrame(flat, schema=["topic", "doc", "assessor", "value"], orient="row")


def random_topics(topics: int = 30, size: int = 20, seed: int = 0, clustered: bool = True) -> pl.DataFrame:
    """Topics whose assessors agree more or less: documents of one topic are alike."""
    rng = np.random.default_rng(seed)
    rows = []
    for topic in range(topics):
        agree = rng.choice([0.2, 0.9]) if clustered else 0.55
        for doc in range(size):
            first = int(rng.integers(0, 2))
            rows.append((f"t{topic}", f"d{doc}", first, first if rng.random() < agree else 1 - first))
    return judged(rows)


def test_the_topic_bootstrap_sees_what_the_sigmas_ignore() -> None:
    found = double_judgments.tallies(random_topics())
    sigma = grade_probabilities.estimated(found)["sigma_pairs"].to_numpy()
    spread = predicted_curves.topic_spread(found, np.random.default_rng(0))
    assert (spread["sigma_topics"].to_numpy() > 1.8 * sigma).all()
    independent = double_judgments.tallies(random_topics(clustered=False))
    alike = predicted_curves.topic_spread(independent, np.random.default_rng(0))["sigma_topics"].to_numpy()
    assert alike == pytest.approx(grade_probabilities.estimated(independent)["sigma_pairs"].to_numpy(), rel=0.35)


def test_the_topic_bootstrap_counts_a_topic_as_often_as_it_is_drawn() -> None:
    """With two topics of p 0 and 1 and equal size, a draw can only give 0, a half or 1."""
    judgments = judged([("s", f"d{n}", 1, 0) for n in range(4)] + [("t", f"d{n}", 1, 1) for n in range(4)])
    found = double_judgments.tallies(judgments, estimate="first")
    drawn = predicted_curves.topic_bootstrap(found, np.random.default_rng(0), 500)[:, 1]
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == [0.0, 0.5, 1.0]
    assert counts / 500 == pytest.approx([0.25, 0.5, 0.25], abs=0.07)


def test_one_topic_cannot_be_resampled() -> None:
    with pytest.raises(DataError, match=r"1 topic cannot be resampled"):
        predicted_curves.topic_bootstrap(double_judgments.tallies(judged([("t", "a", 0, 1)])), np.random.default_rng(0))


def test_gains_of_one_topic_are_drawn_over_its_documents() -> None:
    judgments = random_topics(topics=1, size=60)
    array = Predicted().draws(judgments, 50, seed=0).array()
    assert array.std(axis=0).min() > 0


def test_growth_settles_on_the_whole() -> None:
    found = double_judgments.tallies(random_topics(clustered=False))
    curve = predicted_curves.growth(found, np.random.default_rng(0), sizes=[5, 50, 600])
    p = grade_probabilities.estimated(found)
    last = curve.filter(pl.col("documents") == 600)
    assert last["p"].to_list() == pytest.approx(p["p"].to_list(), abs=0.02)
    assert last["sd"].to_list() == pytest.approx(p["sigma_pairs"].to_list(), rel=0.4)
    for grade in (0.0, 1.0):
        spread = curve.filter(pl.col("grade") == grade)["sd"].to_list()
        assert spread == sorted(spread, reverse=True)
    again = predicted_curves.growth(found, np.random.default_rng(0), sizes=[5, 50, 600])
    assert again.equals(curve)


def test_growth_leaves_a_grade_out_until_it_is_seen() -> None:
    found = double_judgments.tallies(judged([("t", f"d{n}", 0, 0) for n in range(30)] + [("t", "x", 1, 1)]))
    first = predicted_curves.growth(found, np.random.default_rng(0), sizes=[1]).filter(pl.col("grade") == 1)
    assert first["rounds"][0] < 50


def test_quality_goes_from_the_best_system_to_all() -> None:
    judgments = judged([("t", "a", 1, 1), ("t", "b", 1, 1), ("t", "c", 1, 0), ("t", "d", 0, 0)])
    runs = pl.DataFrame(
        {
            "system": ["good", "good", "poor", "poor"],
            "topic": ["t"] * 4,
            "doc": ["a", "b", "c", "d"],
            "score": [2.0, 1.0, 2.0, 1.0],
        }
    )
    found = double_judgments.tallies(judgments, estimate="first")
    curve = predicted_curves.quality(judgments, runs, found, good=1)
    tops = curve.filter(pl.col("grade") == 1)
    assert tops["p"].to_list() == pytest.approx([1.0, 2 / 3])
    assert curve.filter(pl.col("grade") == 0)["p"].to_list() == [None, 0.0]
    assert tops["p"][-1] == pytest.approx(grade_probabilities.estimated(found)["p"][1])


def test_runs_of_other_documents_are_refused() -> None:
    judgments = judged([("t", "a", 1, 0)])
    runs = pl.DataFrame({"system": ["s"], "topic": ["t"], "doc": ["z"], "score": [1.0]})
    with pytest.raises(DataError, match=r"no doubly judged document is in the runs"):
        predicted_curves.quality(judgments, runs, double_judgments.tallies(judgments), good=1)


def test_draws_of_gains_resample_topics_and_repeat() -> None:
    judgments = random_topics(topics=12)
    method = Predicted(use="mean")
    draws = method.draws(judgments, 70, seed=3)
    array = draws.array()
    assert array.shape == (70, 240)
    assert (array == method.draws(judgments, 70, seed=3).array()).all()
    gains = method(judgments)
    assert draws.documents.rows() == gains.select("topic", "doc").rows()
    assert array.mean(axis=0) == pytest.approx(gains["gain"].to_numpy(), abs=0.06)
