"""Predicted relevance re-done: what can be recomputed from the paper is."""

import polars as pl
import pytest

from judgewell.papers import paper
from judgewell.papers.data import Asked
from judgewell.papers.items import make
from judgewell.papers.prm15_printed import RUNS, TABLE_6, attainable


@pytest.fixture(scope="module")
def outcomes():
    one = paper("prm15")
    data = one.read(Asked())
    return {item.number: make(item, data) for item in one.items}


def printed(outcome):
    return {row[0]: row[1:] for row in outcome.made.printed.frame.iter_rows()}


def test_every_item_is_made_from_a_synthetic_study(outcomes):
    assert {number: one.reason for number, one in outcomes.items() if one.made is None} == {}
    for number, one in outcomes.items():
        assert all(text.startswith("a synthetic study") for text in one.made_from)
        assert one.made_from or number == "Table 1"


def test_table_1_is_the_papers_worked_example(outcomes):
    found = printed(outcomes["Table 1"])
    assert len(found) == 6
    for value in found.values():
        assert value[2] == pytest.approx(0, abs=1e-12)
    frame = outcomes["Table 1"].made.shown[0].frame
    top = frame.filter((pl.col("threshold") == 2) & (pl.col("equation") == "(4)"))
    assert top["sigma_printed"].to_list() == pytest.approx([0.2500, 0.1449, 0.1521], abs=5e-5)
    both = frame.filter((pl.col("threshold") == 2) & (pl.col("equation") == "(5)"))
    assert both["sigma_printed"].to_list() == pytest.approx([0.1549, 0.1105, 0.0739], abs=5e-5)
    marginal = frame.filter((pl.col("threshold") == 1) & (pl.col("equation") == "(5)"))
    assert marginal.select("relevant", "judged").rows() == [(9, 10), (13, 17), (5, 13)]


def test_table_5_settles_which_rows_and_which_tau(outcomes):
    found = printed(outcomes["Table 5"])
    ours = {what: value[1] for what, value in found.items() if what.startswith("printed columns")}
    assert ours["printed columns, without the oracle, top: τ-b"] == pytest.approx(0.9284, abs=5e-5)
    assert ours["printed columns, without the oracle, top: τ-a"] == pytest.approx(0.9211, abs=5e-5)
    assert ours["printed columns, without the oracle, marginal: τ-b"] == pytest.approx(0.8947, abs=5e-5)
    assert ours["printed columns, all 21 rows, top: τ-b"] == pytest.approx(0.9353, abs=5e-5)
    assert ours["printed columns, all 21 rows, marginal: τ-a"] == pytest.approx(0.9048, abs=5e-5)
    assert len(RUNS) == 21


def test_table_6_cannot_be_tau_a(outcomes):
    assert not attainable(0.84, 28)
    assert not attainable(0.43, 66)
    assert not attainable(0.72, 66)
    assert attainable(0.47, 66)
    assert attainable(TABLE_6["Japanese navigational"][0], 28)
    assert outcomes["Table 6"].made.notes[0].startswith("0.84, 0.43, 0.72 are no multiple")


def test_table_7_has_a_tie():
    assert not attainable(0.99, 105, ties=False)
    assert not attainable(0.93, 105, ties=False)
    assert attainable(0.96, 105, ties=False)


def test_thresholds_fall_and_p_rises(outcomes):
    frame = outcomes["Table 3"].made.shown[0].frame
    assert frame.columns == ["grade", "θ = 3", "θ = 2", "θ = 1"]
    for row in frame.iter_rows():
        assert row[1] <= row[2] <= row[3]


def test_sets_of_labels_are_assessors(tmp_path):
    for name, grades in (("one", (2, 2, 1, 0)), ("other", (2, 1, 1, 0))):
        (tmp_path / f"{name}.qrels").write_text("".join(f"q 0 d{n} {grade}\n" for n, grade in enumerate(grades)))
    labels = {name: str(tmp_path / f"{name}.qrels") for name in ("one", "other")}
    one = paper("prm15")
    data = one.read(Asked(labels=labels))
    frame = make(one.chosen(["table 3"])[0], data).made.shown[0].frame
    assert frame["θ = 2"].to_list() == pytest.approx([2 / 3, 1 / 3, 0])
    outcome = make(one.chosen(["table 5"])[0], data)
    assert "give --runs" in outcome.reason


def test_a_grade_without_double_judgments_is_told(tmp_path):
    (tmp_path / "judgments.csv").write_text(
        "topic,doc,assessor,value\nq,a,U1,1\nq,a,U2,1\nq,b,U1,0\nq,b,U2,1\nq,c,U1,2\n"
    )
    (tmp_path / "a.run").write_text("q Q0 a 1 3 a\nq Q0 b 2 2 a\nq Q0 c 3 1 a\n")
    (tmp_path / "b.run").write_text("q Q0 c 1 3 b\nq Q0 b 2 2 b\nq Q0 a 3 1 b\n")
    one = paper("prm15")
    runs = (str(tmp_path / "a.run"), str(tmp_path / "b.run"))
    data = one.read(Asked(judgments=str(tmp_path / "judgments.csv"), runs=runs))
    assert "undefined for grade 2" in make(one.chosen(["table 7"])[0], data).reason


@pytest.mark.realdata
def test_public_sets_are_found_by_name(data):
    one = paper("prm15")
    found = one.read(Asked(data=str(data)))
    outcome = make(one.chosen(["table 2"])[0], found)
    assert outcome.made_from[0].startswith("trec-dl21")
    assert outcome.made_from[1].startswith("llmjudge")
    values = [value[1] for what, value in printed(outcome).items() if what.startswith("snippets (5)")]
    assert values == sorted(values, reverse=True)
    assert values[0] > 0.2  # a judge that never gives the top grade would make this 0
    assert make(one.chosen(["table 4"])[0], found).made_from[0].startswith("nyt-crowd")
