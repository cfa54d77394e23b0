"""Kappa equals scikit-learn and Fleiss' published example."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from judgewell.agreement.jackknife import jackknife_interval
from judgewell.agreement.kappa import WEIGHTS, cohen_kappa, fleiss_kappa, kappa_between, weighted_kappa
from judgewell.agreement.overlap import mean_over_pairs, shared_documents
from judgewell.errors import DataError, InputError, JudgewellWarning, collect_notes

# Fleiss' example as it is usually printed: 10 documents, 14 raters, 5 categories, kappa 0.210
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def panel(seed: int, assessors: int = 5, documents: int = 40, levels: int = 4, missing: float = 0.2) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, levels, documents)
    value = np.where(rng.random((assessors, documents)) < 0.6, truth, rng.integers(0, levels, (assessors, documents)))
    who, doc = np.nonzero(rng.random(value.shape) >= missing)
    return pl.DataFrame(
        {
            "topic": np.where(doc % 2 == 0, "even", "odd"),
            "doc": doc.astype(str),
            "assessor": who.astype(str),
            "value": value[who, doc].astype(float),
        }
    )


def kappa_of(x: np.ndarray, y: np.ndarray, weights: str) -> float:
    row = weighted_kappa(x, y, np.ones(len(x)), weights, 0, np.random.default_rng(0))
    return float(row["kappa"])


@given(st.integers(0, 100_000), st.integers(2, 5), st.sampled_from(WEIGHTS))
def test_equals_scikit_learn(seed: int, levels: int, weights: str) -> None:
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, levels, (2, 25))
    assume(len(np.unique([x, y])) == levels)  # scikit-learn weighs by place among the values used
    expected = cohen_kappa_score(x, y, weights=None if weights == "none" else weights)
    assert kappa_of(x, y, weights) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_every_pair_of_assessors_at_once_equals_one_by_one(weights: str) -> None:
    frame = panel(3)
    table = cohen_kappa(frame, weights, least_documents=5)
    assert table.height == 10
    wide = frame.pivot(on="assessor", index="doc", values="value")
    for row in table.iter_rows(named=True):
        both = wide.select(row["first"], row["second"]).drop_nulls()
        assert row["documents"] == both.height
        assert row["kappa"] == pytest.approx(kappa_of(*(both[c].to_numpy() for c in both.columns), weights), abs=1e-12)


def test_fleiss_example() -> None:
    rows = [(str(doc), float(c)) for doc, row in enumerate(FLEISS) for c, count in enumerate(row) for _ in range(count)]
    frame = {"topic": ["t"] * len(rows), "doc": [r[0] for r in rows], "value": [r[1] for r in rows]}
    row = fleiss_kappa(frame).row(0, named=True)
    assert round(row["kappa"], 3) == 0.210
    assert round(row["observed"], 3) == 0.378
    assert round(row["expected"], 3) == 0.213
    assert (row["low"], row["note"]) == (None, "no interval: assessors are not named")


@pytest.mark.long
def test_fleiss_interval_speaks_for_other_assessors() -> None:
    """The jackknife over assessors, documents and judgments, against leaving each out and computing anew."""
    frame = panel(6, assessors=6, documents=40).filter(pl.len().over("topic", "doc") > 1)
    row = fleiss_kappa(frame).row(0, named=True)
    without = [
        np.array([_fleiss(frame.filter(pl.col(name) != value)) for value in frame[name].unique(maintain_order=True)])
        for name in ("doc", "assessor")
    ]
    rows = frame.with_row_index("row")
    judgments = np.array([_fleiss(rows.filter(pl.col("row") != at).drop("row")) for at in range(rows.height)])
    expected = jackknife_interval(row["kappa"], without, judgments=judgments)
    plain = jackknife_interval(row["kappa"], without)
    assert plain["low"] < expected["low"]  # the noise of single judgments is counted once
    assert (row["low"], row["high"]) == pytest.approx((expected["low"], expected["high"]))
    assert row["speaks_for"] == "other assessors and documents"


def _fleiss(frame: pl.DataFrame) -> float:
    return float(fleiss_kappa(frame, interval=False)["kappa"][0])


def test_label_sets_and_words_for_what_is_undefined() -> None:
    first = {"topic": ["a", "a", "b", "b"], "doc": ["1", "2", "1", "2"], "gain": [0.0, 1, 1, 1]}
    same = {"topic": ["b", "b"], "doc": ["1", "2"], "gain": [1.0, 1]}
    table = kappa_between({"x": first, "y": first, "z": same}, replicates=20)
    assert table["kappa"].to_list() == [1.0, None, None]
    assert "both gave every document the value 1" in table["note"][1]
    other = {"topic": ["z"], "doc": ["9"], "gain": [1.0]}
    with pytest.raises(DataError, match="needs documents that both labelled"):
        kappa_between({"x": first, "z": other})
    with pytest.raises(InputError, match="no weights 'cubic'"):
        cohen_kappa(panel(0), "cubic")


def test_too_little_overlap_is_said() -> None:
    alone = {"topic": ["t", "t"], "doc": ["a", "b"], "assessor": ["x", "y"], "value": [1.0, 2.0]}
    with pytest.raises(DataError, match="needs two assessors per document; 2 documents have one"):
        cohen_kappa(alone)
    with pytest.raises(DataError, match="share 100 documents; of 10 pairs the best shares"):
        cohen_kappa(panel(0), least_documents=100)
    with pytest.raises(DataError, match="needs the column 'assessor'"):
        cohen_kappa({"topic": ["t"], "doc": ["a"], "value": [1.0]})
    twice = pl.concat([panel(1), panel(1).head(3).with_columns(value=pl.lit(9.0))])
    with pytest.warns(
        JudgewellWarning, match="3 judgments repeat an earlier one .* in comparisons of two assessors the first"
    ):
        again = shared_documents(twice, least_documents=1)
    np.testing.assert_array_equal(again.first, shared_documents(panel(1), least_documents=1).first)


def test_pairs_that_share_too_little_are_counted_in_their_analysis() -> None:
    lone = pl.DataFrame({"topic": ["v"] * 2, "doc": ["z"] * 2, "assessor": ["p", "q"], "value": [1.0, 1.0]})
    table = pl.concat([panel(1).select(lone.columns).cast(lone.schema), lone])
    with collect_notes() as notes:
        shared_documents(table, least_documents=2)
        shared_documents(table, by=["topic"], least_documents=2)
    assert notes[-2:] == [
        "1 pair of assessors shares fewer than 2 documents and is not compared",
        "1 pair of assessors, counted for each topic, shares fewer than 2 documents and is not compared",
    ]


def test_mean_over_pairs_weighs_by_documents_and_its_interval_covers() -> None:
    table = cohen_kappa(panel(4, assessors=8, documents=60))
    row = mean_over_pairs(table, "kappa").row(0, named=True)
    weights = table["documents"].to_numpy()
    assert row["mean"] == pytest.approx(np.average(table["kappa"].to_numpy(), weights=weights))
    assert row["low"] < row["mean"] < row["high"]
    assert row["assessors"] == 8
    first = mean_over_pairs(table.filter((pl.col("first") != "0") & (pl.col("second") != "0")), "kappa")["mean"][0]
    assert first == pytest.approx(_without_first(table, "kappa"))
    assert row["speaks_for"] == "other assessors, the same documents"
    two = mean_over_pairs(table.head(1), "kappa").row(0, named=True)
    assert two["low"] is None
    assert "2 assessors, at least 3" in two["note"]


def _without_first(table: pl.DataFrame, statistic: str) -> float:
    kept = table.filter(~((pl.col("first") == "0") | (pl.col("second") == "0")))
    return float(np.average(kept[statistic].to_numpy(), weights=kept["documents"].to_numpy()))


@pytest.mark.realdata
def test_nyt(nyt: tuple[pl.DataFrame, Any]) -> None:
    judgments, _ = nyt
    pilots = fleiss_kappa(judgments, by=["scale"])
    assert pilots.height == judgments["scale"].n_unique()
    assert pilots["kappa"].is_between(0, 1).all()
