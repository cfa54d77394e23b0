"""Alpha equals the textbook and the reference package, is invariant where it should be, and covers."""

from __future__ import annotations

from typing import Any

import krippendorff
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judgewell.agreement import alpha as alpha_module
from judgewell.agreement.alpha import METRICS, alpha_of, krippendorff_alpha
from judgewell.errors import DataError, InputError, JudgewellWarning

_ = np.nan
TEXTBOOK = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
)


def documents_of(table: np.ndarray) -> np.ndarray:
    return np.tile(np.arange(table.shape[1]), table.shape[0])


def judgments_of(table: np.ndarray) -> pl.DataFrame:
    assessor, doc = np.nonzero(~np.isnan(table))
    return pl.DataFrame(
        {
            "topic": ["t"] * len(doc),
            "doc": doc.astype(str),
            "assessor": assessor.astype(str),
            "value": table[assessor, doc],
        }
    )


@pytest.mark.parametrize(
    ("metric", "value"), [("nominal", 0.7434), ("ordinal", 0.8154), ("interval", 0.8491), ("ratio", 0.7974)]
)
def test_textbook_data(metric: str, value: float) -> None:
    assert round(alpha_of(documents_of(TEXTBOOK), TEXTBOOK.ravel(), metric), 4) == value
    with pytest.warns(JudgewellWarning, match="1 document with one judgment"):
        table = krippendorff_alpha(judgments_of(TEXTBOOK), metric, replicates=100)
    assert round(table["alpha"][0], 4) == value
    assert table["low"][0] < value < table["high"][0]
    assert table.row(0, named=True)["documents"] == 11
    assert table.row(0, named=True)["judgments"] == 40


tables_of_values = st.tuples(st.integers(2, 6), st.integers(2, 15), st.integers(2, 6), st.integers(0, 10_000))


@given(tables_of_values, st.sampled_from(METRICS))
def test_equals_the_krippendorff_package(shape: tuple[int, int, int, int], metric: str) -> None:
    assessors, documents, levels, seed = shape
    rng = np.random.default_rng(seed)
    table = rng.integers(0, levels, (assessors, documents)).astype(float) * rng.choice([1.0, 0.37])
    table[rng.random(table.shape) < 0.3] = np.nan
    pairable = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    assume(len(np.unique(pairable[~np.isnan(pairable)])) > 1)
    expected = krippendorff.alpha(table, level_of_measurement=metric)
    assert alpha_of(documents_of(table), table.ravel(), metric) == pytest.approx(expected, abs=1e-10)


@given(st.integers(0, 1000), st.floats(0.01, 100), st.floats(-50, 50))
def test_invariances(seed: int, factor: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    table = rng.random((3, 8)) + 0.1
    docs = documents_of(table)

    def same(metric: str, changed: np.ndarray) -> bool:
        return alpha_of(docs, changed.ravel(), metric) == pytest.approx(alpha_of(docs, table.ravel(), metric), abs=1e-6)

    assert same("interval", table * factor + shift)
    assert same("ratio", table * factor)
    assert same("ordinal", np.exp(table))
    assert same("nominal", np.argsort(np.argsort(table.ravel())).reshape(table.shape).astype(float))


def test_perfect_and_absent_agreement() -> None:
    docs = np.repeat(np.arange(500), 4)
    truth = np.repeat(np.random.default_rng(0).random(500), 4)
    noise = np.random.default_rng(1).random(2000)
    for metric in METRICS:
        assert alpha_of(docs, truth, metric) == 1
        assert abs(alpha_of(docs, noise, metric)) < 0.06


def test_known_reliability_and_coverage_of_the_interval() -> None:
    """With value = document + noise of equal variance, interval alpha is 1/2, and 95 % intervals mostly hold it."""
    rng = np.random.default_rng(5)
    covered = []
    for seed in range(60):
        value = np.repeat(rng.normal(size=80), 3) + rng.normal(size=240)
        frame = pl.DataFrame({"topic": ["t"] * 240, "doc": np.repeat(np.arange(80), 3).astype(str), "value": value})
        row = krippendorff_alpha(frame, replicates=200, seed=seed).row(0, named=True)
        covered.append(row["low"] <= 0.5 <= row["high"])
    assert 0.85 <= np.mean(covered) <= 1


def test_by_topic_says_why_where_alpha_is_undefined() -> None:
    frame = {
        "topic": ["a"] * 4 + ["b"] * 2 + ["c"] * 2,
        "doc": ["x", "x", "y", "y", "x", "y", "x", "x"],
        "value": [1.0, 1, 2, 2, 1, 2, 3, 3],
    }
    with pytest.warns(JudgewellWarning, match="2 documents with one judgment"):
        table = krippendorff_alpha(frame, by=["topic"], replicates=50)
    assert table["alpha"].to_list() == [1.0, None, None]
    assert table["note"][1] == "needs two judgments per document; 2 documents have one"
    assert table["note"][2] == "is undefined where all values are equal; all 2 are 3"


def test_refusals() -> None:
    one = {"topic": ["t", "t"], "doc": ["a", "b"], "value": [1.0, 2.0]}
    with pytest.raises(DataError, match="needs two judgments per document; 2 documents have one"):
        krippendorff_alpha(one)
    with pytest.raises(DataError, match="ratio scale needs values of 0 or more; -1 is below 0"):
        alpha_of([0, 0, 1, 1], [-1.0, 2, 3, 3], "ratio")
    with pytest.raises(InputError, match="no metric 'cubic'"):
        krippendorff_alpha(one, "cubic")


def test_ratio_in_blocks_is_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    docs, values = rng.integers(0, 40, 300), rng.random(300)
    whole = alpha_of(docs, values, "ratio")
    monkeypatch.setattr(alpha_module, "BLOCK_CELLS", 700)
    assert alpha_of(docs, values, "ratio") == pytest.approx(whole, abs=1e-12)


@given(st.integers(0, 1000), st.floats(0.01, 30), st.booleans())
def test_ratio_by_waves_is_ratio(seed: int, spread: float, zeros: bool) -> None:
    rng = np.random.default_rng(seed)
    docs, values = rng.integers(0, 20, 120), np.exp(spread * rng.normal(size=120))
    if zeros:
        values[rng.random(120) < 0.2] = 0
    direct = alpha_of(docs, values, "ratio")
    limit = alpha_module.DIRECT_VALUES
    alpha_module.DIRECT_VALUES = 0
    try:
        assert alpha_of(docs, values, "ratio") == pytest.approx(direct, abs=1e-9)
    finally:
        alpha_module.DIRECT_VALUES = limit


def test_nearly_equal_values_keep_their_digits() -> None:
    rng = np.random.default_rng(0)
    docs, values = rng.integers(0, 300, 3000), 1 + 1e-7 * rng.random(3000)
    assert alpha_of(docs, values, "ratio") == pytest.approx(alpha_of(docs, (values - 1) * 1e7, "interval"), abs=1e-4)


def test_a_million_random_judgments_agree_by_chance_alone() -> None:
    rng = np.random.default_rng(0)
    docs, values = rng.integers(0, 100_000, 1_000_000), rng.random(1_000_000)
    assert alpha_of(docs, values, "interval") == pytest.approx(0, abs=0.005)


@pytest.mark.realdata
def test_trec8(trec8: tuple[pl.DataFrame, Any]) -> None:
    judgments, _ = trec8
    with pytest.warns(JudgewellWarning, match="6 judgments repeat a document"):
        table = krippendorff_alpha(judgments, "interval", by=["topic"], replicates=100)
    assert table.height == 18
    assert table["note"].null_count() == 18
    assert ((table["low"] < table["alpha"]) & (table["alpha"] < table["high"])).all()
    one = judgments.filter(pl.col("topic") == "402")
    matrix = np.full((one.group_by("doc").len()["len"].max(), one["doc"].n_unique()), np.nan)
    for column, (_doc, part) in enumerate(one.group_by("doc", maintain_order=True)):
        matrix[: part.height, column] = part["value"].to_numpy()
    expected = krippendorff.alpha(matrix, level_of_measurement="interval")
    assert table.filter(pl.col("topic") == "402")["alpha"][0] == pytest.approx(expected, abs=1e-9)
