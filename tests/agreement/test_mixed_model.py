"""The mixed model: its likelihood is Laplace's, close to the exact one, and its estimates are unbiased and cover."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from judgewell.agreement.mixed_model import (
    _design,
    laplace_log_likelihood,
    mixed_logistic,
    question_choice_model,
)
from judgewell.errors import DataError, InputError, JudgewellWarning


def answers(
    seed: int,
    workers: int = 60,
    topics: int = 9,
    each: int = 18,
    effect: float = 0.5,
    sds: tuple[float, float] = (0.8, 0.4),
) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    worker = np.repeat(np.arange(workers), each)
    topic = rng.integers(0, topics, len(worker))
    x = 5 + 3 * rng.normal(size=len(worker))
    eta = (
        0.2 + effect * (x - 5) / 3 + sds[0] * rng.normal(size=workers)[worker] + sds[1] * rng.normal(size=topics)[topic]
    )
    return pl.DataFrame(
        {"y": rng.random(len(worker)) < 1 / (1 + np.exp(-eta)), "x": x, "worker": worker, "topic": topic}
    )


def test_likelihood_is_laplace_by_brute_force() -> None:
    """The same value from a plain search for the mode and a dense determinant."""
    data = answers(0, workers=6, topics=3, each=7)
    design = _design(data, "y", ["x"], ["worker", "topic"])
    parameters = np.array([0.3, 0.6, 0.9, 0.5])
    z = np.zeros((len(data), 9))
    z[np.arange(len(data)), design.codes[0]] = 0.9
    z[np.arange(len(data)), 6 + design.codes[1]] = 0.5
    base = design.x @ parameters[:2]

    def loss(v: np.ndarray) -> float:
        eta = base + z @ v
        return float(-(design.y * eta - np.logaddexp(0, eta)).sum() + v @ v / 2)

    mode = minimize(loss, np.zeros(9), method="BFGS", options={"gtol": 1e-9}).x
    p = 1 / (1 + np.exp(-(base + z @ mode)))
    hessian = np.eye(9) + z.T @ (z * (p * (1 - p))[:, None])
    expected = -loss(mode) - np.linalg.slogdet(hessian)[1] / 2
    assert laplace_log_likelihood(design, parameters) == pytest.approx(expected, abs=1e-6)


def test_one_factor_is_close_to_exact_quadrature() -> None:
    """Maximum likelihood with the integral done by 61-point Gauss–Hermite quadrature."""
    data = answers(1, workers=50, each=20, sds=(0.8, 0.0))
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    y, x, worker = data["y"].to_numpy(), data["x"].to_numpy(), data["worker"].to_numpy()

    def loss(parameters: np.ndarray) -> float:
        eta = (parameters[0] + parameters[1] * (x - 5) / 3)[:, None] + parameters[2] * nodes[None, :]
        each = np.where(y[:, None], -np.logaddexp(0, -eta), -np.logaddexp(0, eta))
        by_worker = np.add.reduceat(each, np.flatnonzero(np.diff(worker, prepend=-1)))
        return float(-np.log(np.exp(by_worker) @ (weights / weights.sum())).sum())

    exact = minimize(loss, [0.0, 0.5, 0.7], method="BFGS").x
    fit = mixed_logistic(data, "y", ["x"], ["worker"], ratio_tests=False)
    assert fit.fixed["estimate"][1] * 3 == pytest.approx(exact[1], abs=0.01)
    assert fit.random["sd"][0] == pytest.approx(abs(exact[2]), abs=0.03)
    assert fit.log_likelihood == pytest.approx(-loss(exact), abs=0.5)


def test_without_variation_it_is_plain_logistic_regression() -> None:
    from sklearn.linear_model import LogisticRegression

    data = answers(3, sds=(0.0, 0.0), workers=30)
    fit = mixed_logistic(data, "y", ["x"], ["topic"])
    plain = LogisticRegression(C=np.inf, tol=1e-10).fit(data.select("x").to_numpy(), data["y"].to_numpy())
    if fit.random["sd"][0] < 1e-3:
        assert fit.fixed["estimate"][1] == pytest.approx(plain.coef_[0, 0], abs=1e-4)
    assert fit.fixed["estimate"][1] == pytest.approx(plain.coef_[0, 0], abs=0.01)
    assert fit.converged


def test_tests_agree_and_scale_with_the_column() -> None:
    data = answers(4)
    fit = mixed_logistic(data, "y", ["x"], ["worker", "topic"])
    row = fit.fixed.row(1, named=True)
    assert row["p_wald"] == pytest.approx(2 * norm.sf(abs(row["z"])))
    assert row["lr"] == pytest.approx(row["z"] ** 2, rel=0.15)
    rescaled = mixed_logistic(data.with_columns(x=pl.col("x") * 1000), "y", ["x"], ["worker", "topic"])
    assert rescaled.fixed["estimate"][1] * 1000 == pytest.approx(row["estimate"], rel=1e-3)
    assert rescaled.fixed["p_wald"][1] == pytest.approx(row["p_wald"], rel=0.02)
    turned = mixed_logistic(data, "y", ["x"], ["topic", "worker"], ratio_tests=False)
    assert turned.log_likelihood == pytest.approx(fit.log_likelihood, abs=1e-4)


def test_what_cannot_be_fitted_is_said() -> None:
    data = answers(5, workers=10)
    with pytest.raises(DataError, match="every y is 1"):
        mixed_logistic(data.with_columns(y=pl.lit(True)), "y", ["x"], ["worker"])
    with pytest.raises(DataError, match="x is the same in all"):
        mixed_logistic(data.with_columns(x=pl.lit(1.0)), "y", ["x"], ["worker"])
    with pytest.raises(DataError, match="determine each other"):
        mixed_logistic(data.with_columns(z=2 * pl.col("x")), "y", ["x", "z"], ["worker"])
    with pytest.raises(InputError, match="y holds 2"):
        mixed_logistic(data.with_columns(y=pl.lit(2.0)), "y", ["x"], ["worker"])
    with pytest.raises(InputError, match="1 rows have no x"):
        mixed_logistic(data.with_columns(x=pl.when(pl.int_range(pl.len()) > 0).then("x")), "y", ["x"], ["worker"])
    with pytest.raises(DataError, match="the factor topic has one level"):
        mixed_logistic(data.with_columns(topic=pl.lit(1)), "y", ["x"], ["topic"])
    split = data.with_columns(y=pl.col("x") > 5)
    with pytest.warns(JudgewellWarning, match="x splits the answers without error"):
        fit = mixed_logistic(split, "y", ["x"], ["worker"], ratio_tests=False)
    assert fit.note is not None


def test_question_choice() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for worker in range(80):
        for topic in range(6):
            done = int(rng.integers(1, 8))
            for unit in range(done):
                first = rng.random() < 1 / (1 + np.exp(0.3 * (done - 4)))
                rows += [
                    (str(topic), str(worker), str(unit), "Q1", first),
                    (str(topic), str(worker), str(unit), "Q2", not first),
                ]
    likes = pl.DataFrame(rows, schema=["topic", "assessor", "unit", "question", "liked"], orient="row")
    fit = question_choice_model(likes, "Q1", "Q2")
    groups = fit.fixed.row(1, named=True)
    assert groups["term"] == "groups"
    assert groups["estimate"] == pytest.approx(-0.3, abs=0.1)
    assert groups["p_lr"] < 0.001
    difficulty = pl.DataFrame({"topic": [str(t) for t in range(6)], "difficulty": np.linspace(0.1, 0.7, 6)})
    both = question_choice_model(likes, "Q1", "Q2", difficulty)
    assert both.fixed["p_lr"][2] > 0.01  # nothing was put there


@pytest.mark.long
def test_bias_coverage_and_false_alarms_on_simulated_studies() -> None:
    estimates, covered, alarms = [], [], []
    for seed in range(40):
        row = mixed_logistic(answers(seed), "y", ["x"], ["worker", "topic"], ratio_tests=False).fixed.row(1, named=True)
        estimates.append(3 * row["estimate"])
        covered.append(abs(3 * row["estimate"] - 0.5) < 1.96 * 3 * row["se"])
        nothing = mixed_logistic(answers(seed, effect=0.0), "y", ["x"], ["worker", "topic"]).fixed.row(1, named=True)
        alarms.append((nothing["p_wald"] < 0.05, nothing["p_lr"] < 0.05))
    assert np.mean(estimates) == pytest.approx(0.5, abs=0.03)
    assert 0.88 <= np.mean(covered) <= 1
    assert np.all(np.mean(alarms, axis=0) <= 0.12)
