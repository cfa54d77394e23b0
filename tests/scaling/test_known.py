"""Known documents: multiples of the known N document, and units by their width."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.scaling.known import KnownRatio, by_known, width_gains, widths
from judgewell.scaling.magnitude import normalised


def anchored(*units: tuple[float, float, float]) -> pl.DataFrame:
    """Units of the known H and N and one document x each: (H, N, x)."""
    rows = [
        ("t", doc, f"u{number}", value, flag)
        for number, scores in enumerate(units)
        for doc, flag, value in zip(("h", "n", "x"), ("H", "N", None), scores, strict=True)
    ]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "unit", "value", "known"], orient="row")
    return frame.with_columns(kind=pl.lit("ratio"))


def test_by_known_divides_by_the_units_n_and_leaves_n_out() -> None:
    judgments = anchored((8.0, 2.0, 4.0), (30.0, 10.0, 5.0))
    assert by_known(judgments)["normalised"].to_list() == pytest.approx([4.0, 2.0, 3.0, 0.5])
    kept = by_known(judgments, keep_known=True)
    assert kept.filter(pl.col("known") == "N")["normalised"].to_list() == pytest.approx([1.0, 1.0])


def test_a_unit_without_its_known_document_is_refused_or_skipped() -> None:
    judgments = anchored((8.0, 2.0, 4.0), (30.0, 10.0, 5.0)).filter((pl.col("unit") != "u1") | (pl.col("doc") != "n"))
    with pytest.raises(DataError, match=r"1 of 2 units hold no known N document .topic t, unit u1.*--missing skip"):
        by_known(judgments)
    with pytest.warns(JudgewellWarning, match=r"excluded"):
        assert by_known(judgments, missing="skip")["unit"].unique().to_list() == ["u0"]


def test_known_documents_need_their_column() -> None:
    with pytest.raises(InputError, match=r"needs the column known"):
        by_known(pl.DataFrame({"topic": ["t"], "doc": ["a"], "unit": ["u"], "value": [1.0]}))


def test_widths_are_ratios_of_the_known_documents() -> None:
    assert widths(anchored((8.0, 2.0, 4.0), (30.0, 5.0, 5.0)))["width"].to_list() == pytest.approx([4.0, 6.0])


def test_narrow_and_wide_units_with_the_fallback() -> None:
    judgments = anchored((8.0, 2.0, 4.0), (30.0, 5.0, 5.0))
    alone = pl.DataFrame({"topic": "t", "doc": "y", "unit": "u1", "value": 7.0, "known": None, "kind": "ratio"})
    judgments = pl.concat([judgments, alone], how="vertical_relaxed")
    scores, spread = normalised(judgments), widths(judgments)
    of_x = scores.filter(pl.col("doc") == "x").sort("unit")["normalised"]
    of_y = scores.filter(pl.col("doc") == "y")["normalised"]
    with pytest.warns(JudgewellWarning, match=r"1 document is in no narrow unit .cut 5.*smallest.*document y"):
        narrow = width_gains(scores, spread, side="narrow")
    wide = width_gains(scores, spread, side="wide")
    assert narrow.filter(pl.col("doc") == "x")["gain"][0] == pytest.approx(of_x[0])
    assert wide.filter(pl.col("doc") == "x")["gain"][0] == pytest.approx(of_x[1])
    assert narrow.filter(pl.col("doc") == "y")["gain"][0] == pytest.approx(of_y[0])


@given(st.integers(1, 1000), st.integers(2, 30))
def test_whole_ratios_are_exact(low: int, ratio: int) -> None:
    """A unit of 5:1 is wide and a ratio of 20 is not above 20, whatever the numbers are."""
    judgments = anchored((float(ratio * low), float(low), float(ratio * low)))
    assert widths(judgments)["width"].to_list() == [ratio]
    assert by_known(judgments)["normalised"].to_list() == [ratio, ratio]


def test_a_width_of_exactly_the_cut_is_wide() -> None:
    judgments = anchored((10.0, 2.0, 4.0))
    scores, spread = normalised(judgments), widths(judgments)
    assert len(width_gains(scores, spread, side="wide")) == 3
    with pytest.warns(JudgewellWarning, match=r"3 documents are in no narrow unit"):
        width_gains(scores, spread, side="narrow")


def test_the_known_document_is_1_for_certain_and_does_not_narrow_the_other_intervals() -> None:
    rng = np.random.default_rng(4)
    rows = [
        ("t", doc, f"u{unit}", float(np.exp(worth + 0.3 * rng.normal())), "N" if doc == "n" else None)
        for unit in range(3)
        for doc, worth in (("n", 0.0), ("a", 1.0), ("b", 2.0), ("c", 3.0))
    ]
    table = pl.DataFrame(rows, schema=["topic", "doc", "unit", "value", "known"], orient="row")
    gains = KnownRatio().interval(table.with_columns(kind=pl.lit("ratio"))).sort("doc")
    assert gains.filter(doc="n").select("low", "gain", "high").row(0) == (1.0, 1.0, 1.0)
    others = gains.filter(pl.col("doc") != "n")
    half = (others["high"] / others["gain"]).log().to_numpy()
    assert half.min() > 0.2
