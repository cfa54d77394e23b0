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
from judgewell.agreement.alpha_without import alphas_without
from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.stats.footing import footing_of
from judgewell.tables import JUDGMENTS, check

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
        table = krippendorff_alpha(judgments_of(TEXTBOOK), metric)
    assert round(table["alpha"][0], 4) == value
    assert table["low"][0] is None
    assert table["note"][0] == "no interval: 11 documents, at least 20 are needed"
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


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("distinct", [5, 0])
def test_leaving_groups_out_is_computing_anew(metric: str, distinct: int) -> None:
    """Without each assessor, and without each document; documents that keep one value drop out."""
    rng = np.random.default_rng(3)
    docs, who = rng.integers(0, 25, 120), rng.integers(0, 6, 120)
    values = rng.integers(1, distinct + 1, 120).astype(float) if distinct else rng.random(120)
    for groups in (docs, who):
        whole = alphas_without(docs, values, groups, metric)
        for group in np.unique(groups):
            kept = groups != group
            assert whole[group] == pytest.approx(alpha_of(docs[kept], values[kept], metric), abs=1e-9)


def crossed_study(rng: np.random.Generator, documents: int, assessors: int) -> pl.DataFrame:
    """value = document + assessor + noise, every assessor judging every document."""
    truth, lenience = rng.normal(size=(documents, 1)), 0.5 * rng.normal(size=assessors)
    values = truth + lenience + 0.8 * rng.normal(size=(documents, assessors))
    return pl.DataFrame(
        {
            "topic": "t",
            "doc": np.repeat(np.arange(documents), assessors).astype(str),
            "assessor": np.tile(np.arange(assessors), documents).astype(str),
            "value": values.ravel(),
            "kind": "interval",
        }
    )


def test_the_interval_speaks_for_other_assessors() -> None:
    """Three assessors: resampling documents alone covers 0.6 of what other three would find; the jackknife 0.92 on."""
    rng = np.random.default_rng(5)
    truth = 1 / (1 + 0.25 + 0.64)
    rows = pl.concat(krippendorff_alpha(crossed_study(rng, 60, 3)) for _ in range(120))
    assert rows["speaks_for"].unique().to_list() == ["other assessors and documents"]
    assert 0.9 <= rows.select(pl.lit(truth).is_between("low", "high").mean()).item() <= 1
    assert (rows["high"] <= 1).all()


def test_no_interval_without_assessors() -> None:
    frame = crossed_study(np.random.default_rng(0), 30, 3)
    refused = {
        "no interval: assessors are not named": frame.drop("assessor"),
        "no interval: 2 assessors, at least 3 are needed": frame.filter(pl.col("assessor") != "2"),
        "no interval: 19 documents, at least 20 are needed": frame.head(57),
    }
    for reason, table in refused.items():
        row = krippendorff_alpha(table).row(0, named=True)
        assert row["alpha"] is not None
        assert (row["low"], row["high"], row["note"]) == (None, None, reason)


@pytest.mark.parametrize("size", [4, 8])
def test_offsets_removed_from_units_do_not_raise_alpha(size: int) -> None:
    """Each unit's fitted offset takes spread away; observed disagreement is multiplied back."""
    rng = np.random.default_rng(size)
    corrected, plain = [], []
    for _ in range(20):
        judgments = _magnitudes(rng, size)
        footing = footing_of(judgments)
        corrected.append(krippendorff_alpha(footing.judgments, removed=footing.removed, interval=False)["alpha"][0])
        plain.append(krippendorff_alpha(footing.judgments, interval=False)["alpha"][0])
    assert np.mean(corrected) == pytest.approx(0.5, abs=0.03)
    assert np.mean(plain) > np.mean(corrected) + 0.25 / size


def _magnitudes(rng: np.random.Generator, size: int) -> pl.DataFrame:
    """ln value = modulus of the unit + document + noise, the last two of variance 1: alpha is 1/2."""
    documents, units = 60, 600 // size
    shown = np.stack([rng.permutation(documents)[:size] for _ in range(units)])
    logs = 2 * rng.normal(size=(units, 1)) + rng.normal(size=documents)[shown] + rng.normal(size=shown.shape)
    unit = np.repeat(np.arange(units), size).astype(str)
    return check(
        {"topic": ["t"] * shown.size, "doc": shown.ravel().astype(str), "assessor": unit, "unit": unit,
         "value": np.exp(logs).ravel(), "kind": ["ratio"] * shown.size}, JUDGMENTS)  # fmt: skip


def test_by_topic_says_why_where_alpha_is_undefined() -> None:
    frame = {
        "topic": ["a"] * 4 + ["b"] * 2 + ["c"] * 2,
        "doc": ["x", "x", "y", "y", "x", "y", "x", "x"],
        "value": [1.0, 1, 2, 2, 1, 2, 3, 3],
    }
    with pytest.warns(JudgewellWarning, match="2 documents with one judgment"):
        table = krippendorff_alpha(frame, by=["topic"])
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
    with pytest.warns(JudgewellWarning, match="6 judgments repeat a document .* for α all count"):
        table = krippendorff_alpha(judgments, "interval", by=["topic"])
    assert table.height == 18
    assert table["note"].null_count() == 18
    assert ((table["low"] < table["alpha"]) & (table["alpha"] < table["high"])).all()
    one = judgments.filter(pl.col("topic") == "402")
    matrix = np.full((one.group_by("doc").len()["len"].max(), one["doc"].n_unique()), np.nan)
    for column, (_doc, part) in enumerate(one.group_by("doc", maintain_order=True)):
        matrix[: part.height, column] = part["value"].to_numpy()
    expected = krippendorff.alpha(matrix, level_of_measurement="interval")
    assert table.filter(pl.col("topic") == "402")["alpha"][0] == pytest.approx(expected, abs=1e-9)


def test_chance_is_0_and_not_a_rounding_error() -> None:
    docs, values = ["a", "a", "b", "b", "c", "c"], [1.0, 3.0, 1.0, 1.0, 1.0, 1.0]
    table = pl.DataFrame({"topic": "t", "doc": docs, "value": values, "kind": "interval"})
    assert krippendorff_alpha(table, metric="interval")["alpha"].to_list() == [0.0]
