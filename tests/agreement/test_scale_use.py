"""Use of the scale: counted by hand, ratios recovered from made-up magnitudes."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from agreement_studies import made_study

from judgewell.agreement.scale_use import (
    compare_scales,
    document_ratios,
    gain_profile,
    grade_ratios,
    scale_descriptives,
    width_distribution,
    widths,
)
from judgewell.errors import DataError, JudgewellWarning

UNITS = {
    "topic": ["t"] * 6,
    "doc": ["h", "n", "r"] * 2,
    "assessor": ["x"] * 3 + ["y"] * 3,
    "value": [15.0, 2, 8, 100, 5, 10],
    "known": ["H", "N", None] * 2,
}
LEVELS = {"topic": ["t"] * 3, "doc": ["h", "n", "r"], "gain": [3.0, 0, 2]}


def test_descriptives() -> None:
    frame = UNITS | {"scale": ["free"] * 3 + ["bounded"] * 3, "value": [0.0, 7, 10, 1, 10, 100]}
    bounded, free = scale_descriptives(frame).to_dicts()
    assert (bounded["scale"], bounded["least"], bounded["median"], bounded["greatest"]) == ("bounded", 1, 10, 100)
    assert bounded["geometric_mean"] == pytest.approx(10)
    assert (free["zeros"], free["tens"]) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert free["geometric_mean"] is None
    assert free["note"] == "no geometric mean: some values are not above 0"


def test_widths_round_halves_upward() -> None:
    table = widths(UNITS)
    assert table["width"].to_list() == [7.5, 20]
    assert width_distribution(table).rows() == [(10, 1), (20, 1)]
    assert width_distribution(pl.DataFrame({"width": [2.49, 2.5, 7.4, 12.5]})).rows() == [(0, 1), (5, 2), (15, 1)]


def test_zeros_are_told_or_shifted() -> None:
    zero = UNITS | {"value": [15.0, 0, 8, 100, 5, 10]}
    with pytest.warns(JudgewellWarning, match="1 unit of 2 with a value of 0"):
        assert widths(zero).height == 1
    assert widths(zero, offset=1)["width"].to_list() == [16, pytest.approx(101 / 6)]
    with pytest.raises(DataError, match="give an offset"):
        widths(UNITS | {"value": [0.0] * 6})


def test_gain_profile() -> None:
    table = gain_profile(UNITS, LEVELS)
    assert table.select("grade", "median", "linear", "exponential").rows() == [(2, 3, 1, 2), (3, 13.75, 2, 4)]
    with pytest.raises(DataError, match="needs the column 'known'"):
        gain_profile({k: v for k, v in UNITS.items() if k != "known"}, LEVELS)


def test_ratios_recover_the_truth() -> None:
    judgments, grades = made_study(0, units=400, noise=0.3)
    table = grade_ratios(judgments, grades)
    for row in table.iter_rows(named=True):
        assert row["median"] == pytest.approx(np.exp(row["upper"] - row["lower"]), rel=0.08)
    medians = judgments.group_by("topic", "doc").agg(gain=pl.col("value").median())
    for row in document_ratios(medians, grades).iter_rows(named=True):
        assert row["median"] == pytest.approx(np.exp(row["upper"] - row["lower"]), rel=0.08)


def test_compare_scales() -> None:
    free, _ = made_study(0, units=100)
    bounded = free.with_columns(scale=pl.lit("bounded"), value=100 * pl.col("value") / (pl.col("value") + 5))
    both = pl.concat([free.with_columns(scale=pl.lit("free")).select(bounded.columns), bounded])
    row = compare_scales(both).row(0, named=True)
    assert (row["first"], row["second"]) == ("bounded", "free")
    assert row["tau_b"] > 0.99
    with pytest.raises(DataError, match="all judgments are on 'bounded'"):
        compare_scales(bounded)


@pytest.mark.realdata
def test_trec8(trec8: tuple[pl.DataFrame, Any]) -> None:
    judgments, labels = trec8
    row = scale_descriptives(judgments).row(0, named=True)
    assert (row["judgments"], row["units"], row["assessors"]) == (56_472, 7_059, 1_340)
    assert row["zeros"] == pytest.approx(0.31, abs=0.005)
    assert widths(judgments, offset=1).height == 7_059
    profile = gain_profile(judgments, labels["sormunen"], offset=1)
    assert profile["median"].is_sorted()
