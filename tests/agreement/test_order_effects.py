"""Order: equal to scipy, silent where there is no effect, loud where there is one."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from agreement_studies import made_study
from scipy.stats import friedmanchisquare, ks_2samp

from judgewell import agree
from judgewell.agreement.order_effects import (
    _any_effect,
    _residuals,
    assessor_drift,
    holm,
    position_effect,
    ratio_order_effects,
    score_by_position,
    with_templates,
)
from judgewell.agreement.sections.position import SECTION
from judgewell.errors import DataError, InputError, JudgewellWarning

NAMES = {0.0: "N", 1.0: "M", 2.0: "R", 3.0: "H"}


def templated(seed: int, shift: float, judges: int = 60) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Half the judges see NMRH, half HRMN; in the second order every step is wider by `shift` (in logs)."""
    rng = np.random.default_rng(seed)
    rows = []
    for judge in range(judges):
        order = [0, 1, 2, 3] if judge % 2 else [3, 2, 1, 0]
        step = 0.7 + (0 if judge % 2 else shift)
        for place, grade in enumerate(order, start=1):
            rows.append(("t", f"d{grade}", f"j{judge}", place, float(np.exp(step * grade + 0.6 * rng.normal()))))
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "position", "value"], orient="row")
    grades = pl.DataFrame({"topic": ["t"] * 4, "doc": ["d0", "d1", "d2", "d3"], "gain": [0.0, 1, 2, 3]})
    return frame, grades


def test_templates_and_kolmogorov_smirnov() -> None:
    frame, grades = templated(0, 0.0)
    named = with_templates(frame, grades, NAMES)
    assert named["template"].unique().sort().to_list() == ["HRMN", "NMRH"]
    table = ratio_order_effects(named, grades)
    assert table.height == 6
    wide = named.pivot(on="doc", index=["assessor", "template"], values="value").with_columns(
        ratio=pl.col("d1") / pl.col("d0")
    )
    parts = [wide.filter(pl.col("template") == name)["ratio"] for name in ("HRMN", "NMRH")]
    expected = ks_2samp(*parts)
    first = table.row(0, named=True)
    assert (first["order"], first["other"], first["count"]) == ("HRMN", "NMRH", 30)
    assert first["distance"] == pytest.approx(expected.statistic)
    assert first["p"] == pytest.approx(expected.pvalue)


@pytest.mark.long
def test_an_order_effect_between_templates_is_found_and_not_invented() -> None:
    alarms, found = [], []
    for seed in range(60):
        for shift, into in ((0.0, alarms), (0.5, found)):
            frame, grades = templated(seed, shift)
            table = ratio_order_effects(with_templates(frame, grades, NAMES), grades)
            into.append(table.filter((pl.col("lower") == 0) & (pl.col("upper") == 3))["p"][0] < 0.05)
    assert np.mean(alarms) <= 0.12  # 5 % in truth, 60 draws
    assert np.mean(found) >= 0.95


@pytest.mark.long
def test_position_effect_false_alarms_and_detection() -> None:
    trend, anything, found = [], [], []
    for seed in range(150):
        silent = position_effect(made_study(seed, units=50)[0]).row(0, named=True)
        trend.append(silent["p"] < 0.05)
        anything.append(silent["p_any"] < 0.05)
        if seed < 40:
            loud = position_effect(made_study(seed, units=50, drift=0.12)[0]).row(0, named=True)
            found.append(loud["p"] < 0.05 and loud["slope"] > 0)
    assert np.mean(trend) <= 0.10
    assert np.mean(anything) <= 0.10
    assert np.mean(found) >= 0.9


def test_any_effect_is_friedman_on_whole_blocks() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=(30, 5)) + np.arange(5) * 0.2
    frame = pl.DataFrame(
        {
            "topic": ["t"] * 150,
            "doc": [f"{u}-{p}" for u in range(30) for p in range(5)],  # each document once: plain ranks
            "assessor": np.repeat(np.arange(30), 5).astype(str),
            "position": np.tile(np.arange(1, 6), 30),
            "value": values.ravel(),
        }
    )
    row = _any_effect(_residuals(frame))
    expected = friedmanchisquare(*values.T)
    assert row["df"] == 4
    assert row["chi2"] == pytest.approx(expected.statistic)
    assert row["p_any"] == pytest.approx(expected.pvalue)


def test_drifting_assessors_are_found() -> None:
    steady, _ = made_study(1, units=240, noise=0.4, positive=False)
    drifting, _ = made_study(1, units=240, noise=0.4, drift=0.25, positive=False)
    drifts = pl.col("unit").cast(pl.Int64) % 60 < 6  # 6 of 60 assessors, four units each
    judgments = pl.concat([steady.filter(~drifts), drifting.filter(drifts)]).with_columns(
        assessor=(pl.col("unit").cast(pl.Int64) % 60).cast(pl.String)
    )
    table = assessor_drift(judgments)
    assert table.height == 60
    drifter = table["assessor"].cast(pl.Int64) < 6
    assert ((table["p"] < 0.05) & drifter).sum() >= 5
    assert ((table["p"] < 0.05) & ~drifter).sum() <= 8  # 54 tests at 5 %
    assert ((table["p_holm"] < 0.05) & ~drifter).sum() == 0
    with pytest.raises(DataError, match="an assessor with 1000 judgments"):
        assessor_drift(judgments, least_judgments=1000)


def test_documents_that_never_moved_show_no_effect_of_position() -> None:
    rng = np.random.default_rng(0)
    rows = [
        (f"t{t}", f"d{d}", f"w{w}", f"w{w}/t{t}", d + 1, 10.0 * d + rng.normal())
        for t in range(3)
        for d in range(5)
        for w in range(6)
    ]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "unit", "position", "value"], orient="row")
    with pytest.raises(DataError, match="each of 15 stood at one"):
        position_effect(frame)
    swapped = pl.col("position").replace({1: 2, 2: 1})
    first_two = (pl.col("assessor") == "w0") & (pl.col("position") <= 2)
    some_moved = frame.with_columns(position=pl.when(first_two).then(swapped).otherwise("position"))
    with pytest.warns(JudgewellWarning, match="9 documents of 15 were shown at one position only"):
        assert position_effect(some_moved)["judgments"][0] == 6 * 6


def test_rounding_is_no_effect() -> None:
    """Documents that always come out at one rank leave nothing that a position could move."""
    rows = [
        (f"t{t}", f"d{d}", f"w{w}", f"w{w}/t{t}", (d + w) % 5 + 1, 10.0 * d)
        for t in range(3)
        for d in range(5)
        for w in range(6)
    ]
    frame = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "unit", "position", "value"], orient="row")
    row = position_effect(frame).row(0, named=True)
    assert (row["slope"], row["p"], row["df"], row["p_any"]) == (None, None, 0, None)
    assert "nothing varies" in row["note"]


def test_holm() -> None:
    assert holm(np.array([0.01, 0.04, 0.03])).tolist() == pytest.approx([0.03, 0.06, 0.06])


def test_score_by_position_and_refusals() -> None:
    judgments, grades = made_study(0, units=20)
    table = score_by_position(judgments)
    assert table["position"].to_list() == list(range(1, 9))
    assert (table["judgments"] == 20).all()
    with pytest.raises(DataError, match="needs the column 'position'"):
        position_effect(judgments.drop("position"))
    gap = judgments.with_columns(position=pl.when(pl.col("unit") != "0").then("position"))
    with pytest.raises(InputError, match="8 judgments have no position"):
        position_effect(gap)
    without = ratio_order_effects(judgments, grades)
    assert set(without["order"]) == {"lower first"}


@pytest.mark.realdata
def test_trec8(trec8: tuple[pl.DataFrame, Any]) -> None:
    row = position_effect(trec8[0]).row(0, named=True)
    assert row["df"] == 7
    assert abs(row["slope"]) < 0.01  # an effect that 56,472 judgments can see and nobody would


def test_known_documents_with_places_of_their_own_do_not_look_like_an_effect_of_position() -> None:
    """The known H is never last; without it every position has the same values."""
    rng = np.random.default_rng(1)
    rows = []
    for unit in range(60):
        docs = [(f"d{n}", 10.0 * n, None) for n in rng.permutation(5)]
        docs.insert(int(rng.integers(0, 5)), ("h", 100.0, "H"))
        rows += [
            ("t", doc, f"a{unit}", f"u{unit}", place, value, known) for place, (doc, value, known) in enumerate(docs, 1)
        ]
    names = ["topic", "doc", "assessor", "unit", "position", "value", "known"]
    table = pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)
    shown = agree(table, section=["position"], kind="interval")["score_by_position"]
    assert shown["judgments"].sum() == 300
    assert shown["mean"].max() < 35


def test_a_significant_effect_that_is_small_is_called_small() -> None:
    (table,) = [one for one in SECTION.tables if one.name == "position_effect"]
    assert table.finding is not None
    row = {"judgments": [56472], "slope": [0.0014], "p": [0.0001], "df": [7]}
    text = str(table.finding(pl.DataFrame(row)))
    assert text.startswith(
        "Position hardly matters: from the first to the last place in a unit, a document’s rank within it"
    )
    assert "changes by 1.0 % (p < 0.001, 56,472 judgments)" in text
    assert "got higher values" in str(table.finding(pl.DataFrame(row | {"slope": [0.05]})))
