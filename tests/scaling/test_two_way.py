"""The two-way model recovers what was put in, equals its relatives where theory says so, and uses the design better."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgewell.errors import DataError, JudgewellWarning
from judgewell.scaling import magnitude
from judgewell.scaling.graph import component_numbers
from judgewell.scaling.ratio import log_ratio_fit
from judgewell.scaling.two_way import TwoWay, TwoWayModel, two_way


def judgments_of(log: np.ndarray, shown: np.ndarray) -> pl.DataFrame:
    """Judgments from an array units x documents of log scores, where shown."""
    unit, doc = np.nonzero(shown)
    return pl.DataFrame(
        {
            "topic": ["t"] * len(unit),
            "doc": [f"d{number:03d}" for number in doc],
            "unit": [f"u{number:03d}" for number in unit],
            "value": np.exp(log[unit, doc]),
        }
    )


def designed(seed: int, units: int = 12, documents: int = 9, size: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Random document values and which documents each unit holds; document 0 is in all, so they hang together."""
    rng = np.random.default_rng(seed)
    shown = np.zeros((units, documents), dtype=bool)
    for row in shown:
        row[0] = True
        row[rng.choice(np.arange(1, documents), size - 1, replace=False)] = True
    shown[0] = True
    return rng.normal(0, 1, documents), shown


@given(st.integers(0, 1000))
def test_scores_without_noise_are_recovered(seed: int) -> None:
    values, shown = designed(seed)
    offsets = np.random.default_rng(seed + 1).normal(0, 2, len(shown))
    fit = two_way(judgments_of(offsets[:, None] + values, shown))
    assert fit.d - fit.d.mean() == pytest.approx(values - values.mean(), abs=1e-9)
    assert fit.offsets - fit.offsets.mean() == pytest.approx(offsets - offsets.mean(), abs=1e-9)
    assert np.abs(fit.residuals).max() < 1e-9


@given(st.integers(0, 1000))
def test_equal_units_of_all_documents_are_geometric_averaging(seed: int) -> None:
    log = np.random.default_rng(seed).normal(0, 1, (6, 5))
    judgments = judgments_of(log, np.ones_like(log, dtype=bool))
    gains = magnitude.averaged(magnitude.normalised(judgments), "log-mean")
    assert np.exp(two_way(judgments).d) == pytest.approx(gains["gain"].to_numpy(), rel=1e-9)


@given(st.integers(0, 1000))
@settings(max_examples=10)
def test_equal_units_are_logarithmic_least_squares_with_complete_units(seed: int) -> None:
    values, shown = designed(seed)
    shown = shown[1:]
    log = values + np.random.default_rng(seed).normal(0, 1, shown.shape)
    judgments = judgments_of(log, shown)
    pairs = [
        (f"d{left:03d}", f"d{right:03d}", np.exp(log[unit, left]), np.exp(log[unit, right]))
        for unit in range(len(shown))
        for left, right in combinations(np.flatnonzero(shown[unit]), 2)
    ]
    frame = pl.DataFrame(pairs, schema=["left", "right", "left_score", "right_score"], orient="row")
    ratios = log_ratio_fit(frame.with_columns(topic=pl.lit("t")), epsilon=0, weighted=True, components="separate")
    fit = two_way(judgments, components="separate")
    assert fit.d - fit.d.mean() == pytest.approx(ratios.y - ratios.y.mean(), abs=1e-8)


def naive(fit: TwoWay) -> tuple[np.ndarray, np.ndarray]:
    """Document effects and their standard errors by ordinary least squares on dummy columns."""
    columns = np.zeros((len(fit.values), len(fit.units) + len(fit.documents)))
    columns[np.arange(len(fit.values)), fit.unit] = 1
    columns[np.arange(len(fit.values)), len(fit.units) + fit.doc] = 1
    inverse = np.linalg.pinv(columns.T @ columns)
    beta = inverse @ columns.T @ fit.values
    rank = np.linalg.matrix_rank(columns)
    sigma = np.sqrt(((fit.values - columns @ beta) ** 2).sum() / (len(fit.values) - rank))
    documents = slice(len(fit.units), None)
    centre = np.eye(len(fit.documents)) - 1 / len(fit.documents)
    return centre @ beta[documents], sigma * np.sqrt(np.diag(centre @ inverse[documents, documents] @ centre))


def test_values_and_errors_are_those_of_ordinary_least_squares() -> None:
    values, shown = designed(5)
    log = values + np.random.default_rng(5).normal(0, 0.5, shown.shape)
    fit = two_way(judgments_of(log, shown))
    expected, errors = naive(fit)
    assert fit.d - fit.d.mean() == pytest.approx(expected, abs=1e-9)
    assert fit.standard_errors == pytest.approx(errors, rel=1e-9)


def test_draws_have_the_spread_of_the_standard_errors() -> None:
    values, shown = designed(6)
    log = values + np.random.default_rng(6).normal(0, 0.5, shown.shape)
    fit = two_way(judgments_of(log, shown))
    drawn = fit.drawn(np.random.default_rng(1), 4000)
    assert drawn.std(axis=1) == pytest.approx(fit.standard_errors, rel=0.1)
    assert drawn.mean(axis=1) == pytest.approx(fit.d, abs=0.05)


def test_units_of_poor_documents_are_not_lifted() -> None:
    """Geometric averaging lifts a unit of poor documents to the topic's mean; the two-way model knows better."""
    rng = np.random.default_rng(3)
    values = rng.normal(0, 1.5, 60)
    shown = np.zeros((150, 60), dtype=bool)
    for row in shown:
        row[rng.choice(60, 6, replace=False)] = True
    log = rng.normal(0, 1, 150)[:, None] + values + rng.normal(0, 0.4, shown.shape)
    judgments = judgments_of(log, shown)
    averaged = magnitude.averaged(magnitude.normalised(judgments), "median")["gain"].log().to_numpy()
    fitted = two_way(judgments).d
    assert np.corrcoef(fitted, values)[0, 1] > np.corrcoef(averaged, values)[0, 1] > 0.9


def test_units_that_share_no_document_are_refused_or_scaled_alone() -> None:
    judgments = pl.DataFrame(
        {"topic": ["t"] * 4, "doc": list("abcd"), "unit": list("uuvv"), "value": [1.0, 2.0, 3.0, 12.0]}
    )
    with pytest.raises(
        DataError, match=r"topic t: its comparisons fall into 2 components.*2 documents with a.*separate"
    ):
        two_way(judgments)
    fit = two_way(judgments, components="separate")
    assert component_numbers(fit.documents, fit.labels).tolist() == [1, 1, 2, 2]
    assert np.exp(fit.d) == pytest.approx([1.0, 2.0, 3.0, 12.0])


def test_magnitudes_that_agree_exactly_have_no_interval() -> None:
    log = np.log([[1.0, 2.0, 4.0], [2.0, 4.0, 8.0], [3.0, 6.0, 12.0]])
    with pytest.warns(JudgewellWarning, match="or these agree exactly"):
        gains = TwoWayModel().interval(judgments_of(log, np.ones_like(log, dtype=bool)))
    assert gains["low"].null_count() == gains.height == 3
