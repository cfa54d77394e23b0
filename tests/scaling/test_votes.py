"""P(relevant | all votes): p(R|grade) with one vote, the beta-binomial with two grades, a probability with many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit

from judgewell.errors import JudgewellWarning
from judgewell.formats.judgments import read_judgments
from judgewell.scaling.double_judgments import tallies
from judgewell.scaling.grade_probabilities import estimated
from judgewell.scaling.predicted import Predicted, grade_votes
from judgewell.scaling.votes import vote_model


def crowd(rng: np.random.Generator, votes: np.ndarray, cuts: tuple[float, ...] = (0.0, 0.8)) -> pl.DataFrame:
    """Documents in topics of ten; votes[d] assessors of document d each give a grade by its worth and chance."""
    worth = rng.normal(0, 1, len(votes))
    doc = np.repeat(np.arange(len(votes)), votes)
    grade = (worth[doc, None] + rng.normal(0, 1, len(doc))[:, None] > np.array(cuts)).sum(axis=1).astype(float)
    columns = {"number": doc, "value": grade, "worth": worth[doc]}
    return pl.DataFrame(columns).with_columns(topic=pl.format("t{}", pl.col("number") // 10), doc=pl.col("number"))


def test_one_vote_is_p_of_its_grade() -> None:
    rng = np.random.default_rng(0)
    judgments = crowd(rng, rng.choice([1, 2, 3], 200))
    p = estimated(tallies(judgments))["p"].to_list()
    alone = Predicted()(judgments).filter(pl.col("judgments") == 1)
    value = judgments.with_columns(pl.col("doc").cast(pl.String)).join(alone, on=["topic", "doc"])
    assert value["gain"].to_list() == pytest.approx([p[int(grade)] for grade in value["value"]])


def test_two_grades_are_the_beta_binomial() -> None:
    a, b = 2.0, 3.0
    mean, rho = a / (a + b), 1 / (a + b + 1)
    apart = mean * (1 - mean) * (1 - rho)
    joint = np.array([[1 - mean - apart, apart], [apart, mean - apart]])
    model = vote_model(1000 * joint, np.array([0.0, 1.0]))
    votes = np.array([[1.0, 0], [0, 1], [3, 2], [0, 10], [40, 4]])
    n, k = votes.sum(axis=1), votes[:, 1]
    assert model.chance(votes) == pytest.approx((a + k) / (a + b + n))
    assert model.precision(n) == pytest.approx(a + b + n)


def test_every_vote_counts_and_chance_stays_inside() -> None:
    rng = np.random.default_rng(1)
    judgments = crowd(rng, np.full(120, 15))
    gains = Predicted(threshold=2).interval(judgments)
    assert gains.filter((pl.col("low") > pl.col("gain")) | (pl.col("gain") > pl.col("high"))).is_empty()
    assert 0 <= gains["low"].min() <= gains["high"].max() <= 1  # type: ignore[operator]
    mean = Predicted(threshold=2, use="mean")(judgments)
    assert gains["gain"].std() > 2 * mean["gain"].std()  # type: ignore[operator]


@pytest.mark.parametrize("count", [1, 3, 8])
def test_the_interval_holds_the_documents_own_chance(count: int) -> None:
    from scipy.special import ndtr

    held = []
    for seed in range(6):
        rng = np.random.default_rng([2, seed])
        judgments = crowd(rng, np.where(np.arange(400) < 200, count, 2))
        gains = Predicted().interval(judgments)
        worth = judgments.group_by("topic", "doc").agg(pl.col("worth").first())
        joined = gains.join(worth.with_columns(pl.col("doc").cast(pl.String)), on=["topic", "doc"])
        own = joined.filter(pl.col("judgments") == count)
        truth = ndtr(own["worth"].to_numpy() - 0.8)
        held.append(((own["low"].to_numpy() <= truth) & (truth <= own["high"].to_numpy())).mean())
    assert np.mean(held) == pytest.approx(0.95, abs=0.025)


def test_few_double_judgments_fall_back_to_the_mean_and_say_so() -> None:
    judgments = crowd(np.random.default_rng(3), np.full(12, 3))
    with pytest.warns(JudgewellWarning, match=r"12 documents were judged by two assessors, fewer than the 20"):
        gains = Predicted(threshold=1)(judgments)
    assert gains["gain"].to_list() == Predicted(threshold=1, use="mean")(judgments)["gain"].to_list()


def test_draws_spread_as_the_interval_says_and_repeat() -> None:
    judgments = crowd(np.random.default_rng(4), np.full(150, 5))
    method = Predicted()
    array = method.draws(judgments, 300, seed=1).array()
    assert (array == method.draws(judgments, 300, seed=1).array()).all()
    gains = method.interval(judgments)
    assert array.mean(axis=0) == pytest.approx(gains["gain"].to_numpy(), abs=0.05)
    width = np.quantile(array, 0.975, axis=0) - np.quantile(array, 0.025, axis=0)
    assert (width / (gains["high"] - gains["low"]).to_numpy()).mean() == pytest.approx(1.05, abs=0.1)


def calibration(chance: np.ndarray, came: np.ndarray) -> float:
    """The slope of what came true on the log odds predicted: 1 for a probability."""
    x = logit(np.clip(chance, 1e-3, 1 - 1e-3))
    loss = lambda c: -np.log(np.where(came, expit(c[0] + c[1] * x), expit(-c[0] - c[1] * x))).sum()  # noqa: E731
    return float(minimize(loss, [0.0, 1.0]).x[1])


@pytest.mark.realdata
@pytest.mark.parametrize("pilot", ["2P-Doc-High", "2P-Doc-NoHigh", "3P-Doc-High", "3P-Doc-NoHigh"])
def test_each_vote_is_predicted_from_the_others_of_its_document(data: Path, pilot: str) -> None:
    judgments = read_judgments(data / "nyt-crowd" / "judgments.csv.gz").filter(pl.col("pilot") == f"Pilot_{pilot}")
    found = tallies(judgments)
    model, p = vote_model(found.joint.sum(axis=0), found.is_relevant), estimated(found)["p"].to_numpy()
    _, votes = grade_votes(judgments, found.grades, first=False)
    chance, mean, came = [], [], []
    for grade, relevant in enumerate(found.is_relevant):
        others = np.repeat(votes, votes[:, grade].astype(int), axis=0)
        others[:, grade] -= 1
        chance.append(model.chance(others))
        mean.append(others @ p / others.sum(axis=1))
        came.append(np.full(len(others), relevant))
    by_votes, by_grade, truth = (np.concatenate(part) for part in (chance, mean, came))
    assert 0.75 <= calibration(by_votes, truth) <= 1.1
    assert calibration(by_grade, truth) > 2.5
    assert ((by_votes - truth) ** 2).mean() < ((by_grade - truth) ** 2).mean()
