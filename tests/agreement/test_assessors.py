"""Assessors: tau equals scipy, spammers are found, known documents are counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from agreement_studies import made_study
from scipy.stats import kendalltau

from judgewell.agreement.assessors import (
    accuracy_summary,
    against_the_rest,
    assessor_tau,
    known_accuracy,
    known_pair_accuracy,
)
from judgewell.agreement.overlap import mean_over_pairs
from judgewell.errors import DataError, InputError, JudgewellWarning


def panel() -> pl.DataFrame:
    rng = np.random.default_rng(8)
    truth = rng.random(30)
    value = np.round(10 * (truth + 0.5 * rng.random((4, 30))))
    who, doc = np.nonzero(rng.random(value.shape) < 0.9)
    topic = np.where(doc < 14, "a", "b")
    return pl.DataFrame({"topic": topic, "doc": doc.astype(str), "assessor": who.astype(str), "value": value[who, doc]})


def test_tau_of_two_assessors_equals_scipy() -> None:
    frame = panel()
    table = assessor_tau(frame, by=["topic"], least_documents=5)
    assert table.height == 12
    for row in table.iter_rows(named=True):
        wide = frame.filter(pl.col("topic") == row["topic"]).pivot(on="assessor", index="doc", values="value")
        both = wide.select(row["first"], row["second"]).drop_nulls()
        assert row["tau_b"] == pytest.approx(kendalltau(both[:, 0], both[:, 1]).statistic)
    # over both topics, only pairs of documents of one topic count
    pooled = assessor_tau(frame, least_documents=5)
    assert pooled["pairs"].sum() == table["pairs"].sum()
    assert pooled["agree"].sum() == table["agree"].sum()
    mean = mean_over_pairs(pooled, "tau_b").row(0, named=True)
    assert mean["low"] <= mean["mean"] <= mean["high"]


def test_spammers_are_found() -> None:
    """From eight documents each, a tau of 0.35 with the rest finds 85 % of spammers with under 2 % false alarms."""
    found, false_alarms = [], []
    for seed in range(5):
        judgments, _ = made_study(seed, units=200, noise=0.4, spammers=0.2, positive=False)
        table = against_the_rest(judgments)
        spammer = table["assessor"].str.slice(1).cast(pl.Int64) < 40
        low = table["tau_b"] < 0.35
        found.append((low & spammer).sum() / 40)
        false_alarms.append((low & ~spammer).sum() / 160)
    assert np.mean(found) >= 0.85
    assert np.mean(false_alarms) <= 0.02


def test_against_the_rest_by_hand() -> None:
    frame = {
        "topic": ["t"] * 9,
        "doc": ["a", "b", "c"] * 3,
        "assessor": ["x"] * 3 + ["y"] * 3 + ["z"] * 3,
        "value": [1.0, 2, 3, 1, 2, 3, 9, 8, 7],
    }
    table = against_the_rest(frame, least_documents=3)
    assert table["assessor"].to_list()[0] == "z"
    assert table["tau_b"].to_list()[0] == -1
    x = table.filter(pl.col("assessor") == "x").row(0, named=True)
    assert x["bias"] == pytest.approx(np.mean([1 - 5, 2 - 5, 3 - 5]))
    constant = frame | {"value": [5.0, 5, 5, 1, 2, 3, 1, 2, 3]}
    row = against_the_rest(constant, least_documents=3).filter(pl.col("assessor") == "x").row(0, named=True)
    assert row["tau_b"] is None
    assert "ties every pair" in row["note"]


def test_too_few_are_said() -> None:
    frame = panel()
    with pytest.raises(DataError, match="no assessor shares 500 documents"):
        against_the_rest(frame, least_documents=500)
    with pytest.warns(JudgewellWarning, match="1 assessor sharing fewer than 5 documents"):
        against_the_rest(frame.filter((pl.col("assessor") != "0") | (pl.col("doc").cast(pl.Int64) < 3)))


def test_known_documents() -> None:
    frame = {
        "topic": ["t"] * 6,
        "doc": ["h", "n"] * 3,
        "assessor": ["x", "x", "x", "x", "y", "y"],
        "unit": ["1", "1", "2", "2", "1", "1"],
        "value": [5.0, 1, 1, 5, 2, 2],
        "known": ["H", "N"] * 3,
    }
    table = known_accuracy(frame)
    assert table.select("assessor", "checks", "passed", "tied", "accuracy").rows() == [
        ("x", 2, 1, 0, 0.5),
        ("y", 1, 0, 1, 0.0),
    ]
    assert accuracy_summary(table).row(0, named=True)["mean"] == 0.25
    with pytest.raises(InputError, match="known 'Q' is neither H nor N"):
        known_accuracy(frame | {"known": ["Q"] * 6})
    with pytest.raises(DataError, match="needs the column 'known'"):
        known_accuracy(panel())


def test_known_pairs() -> None:
    pairs = {
        "topic": ["t"] * 4,
        "left": ["h", "n", "h", "o"],
        "right": ["n", "h", "n", "n"],
        "assessor": ["x"] * 4,
        "preferred": ["left", "left", "same", "left"],
        "left_known": ["H", "N", "H", None],
        "right_known": ["N", "H", "N", "N"],
    }
    row = known_pair_accuracy(pairs).row(0, named=True)
    assert (row["checks"], row["passed"], row["tied"]) == (3, 1, 1)


@pytest.mark.realdata
def test_all_of_trec8_passed_the_check(trec8: tuple[pl.DataFrame, Any]) -> None:
    table = accuracy_summary(known_accuracy(trec8[0]))
    assert table["checks"].sum() == 7059
    assert (table["mean"] == 1).all()
