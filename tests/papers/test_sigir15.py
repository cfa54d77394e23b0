"""SIGIR 2015 re-done: from a made-up export in the format of the full crowd data, from public scores, from nothing."""

import gzip
import re

import numpy as np
import polars as pl
import pytest

from judgewell.errors import DataError
from judgewell.papers import paper
from judgewell.papers.data import Asked
from judgewell.papers.items import Outcome, make
from judgewell.papers.page import _subtitle
from judgewell.papers.sigir15_figures import _median
from judgewell.papers.sigir15_order import agreement_within_grades, overall
from judgewell.reports.parts import Figure

HEADER = "topic_id,unit_id,document_id,gold,doc_pos,worker_id,relevance_scale,cumulative_time,comment,trec,sormunen"
TOPICS, DOCUMENTS = ("401", "402", "403"), 20


def export_lines(topics=TOPICS, documents=DOCUMENTS):
    """Magnitudes of a made-up crowd whose every assessor doubles from grade to grade, times a number of their own."""
    rng = np.random.default_rng(5)
    yield HEADER
    for topic in topics:
        grades = {f"{topic}-{number:02}": number % 4 for number in range(documents)}
        high, low = (next(doc for doc, grade in grades.items() if grade == wanted) for wanted in (3, 0))
        others = [doc for doc in grades if doc not in (high, low)]
        deck = np.array(others * 10).reshape(-1, 6)
        for unit, shown in enumerate(deck):
            own = float(rng.choice([1.0, 5.0, 20.0]))
            for place, doc in enumerate(rng.permutation([high, low, *shown])):
                gold = {high: "H", low: "N"}.get(doc, "null")
                grade = grades[doc]
                score = own * 2.0**grade
                trec, sormunen = float(grade > 1), float(grade)
                yield f"{topic},{unit},{doc},{gold},{place},w{unit % 7},{score},31.5,because,{trec},{sormunen}"


def run_lines(name, sign, topics=TOPICS, documents=DOCUMENTS):
    for topic in topics:
        for number in range(documents):
            yield f"{topic} Q0 {topic}-{number:02} 1 {sign * (number % 4) + 0.01 * number:.2f} {name}"


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    (folder / "magnitudes.csv.gz").write_bytes(gzip.compress("\n".join(export_lines()).encode() + b"\n"))
    for name, sign in (("good", 1.0), ("middling", 0.02), ("bad", -1.0)):
        (folder / f"{name}.run").write_text("\n".join(run_lines(name, sign)) + "\n")
    runs = tuple(str(folder / f"{name}.run") for name in ("good", "middling", "bad"))
    return Asked(judgments=str(folder / "magnitudes.csv.gz"), runs=runs, draws=20)


@pytest.fixture(scope="module")
def outcomes(asked):
    one = paper("sigir15")
    data = one.read(asked)
    return {item.number: make(item, data) for item in one.items}


def printed(outcome):
    return {row[0]: row[1:] for row in outcome.made.printed.frame.iter_rows()}


def test_the_full_export_and_runs_give_every_item(outcomes):
    assert {number: one.reason for number, one in outcomes.items() if one.made is None} == {}
    said = {text for one in outcomes.values() for text in one.made_from}
    assert len(said) == 1
    assert "magnitudes.csv.gz and the runs given" in said.pop()


def test_values_are_magnitudes_not_scores_from_0_to_100(outcomes):
    frame = outcomes["Figure 7"].made.shown[0].data
    assert frame.rows() == [(10.0, 90)]  # H is 8 times N in every unit; 8 rounds to 10


def test_table_1_counts_units_and_known_documents(outcomes):
    frame = outcomes["Table 1"].made.shown[0].frame
    assert frame.select("topic", "documents", "units", "needed", "judgments").row(0) == ("401", 20, 30, 30, 240)
    assert frame["known H"].to_list() == ["401-03", "402-03", "403-03"]
    assert printed(outcomes["Table 1"])["units"] == (7059.0, 90.0)  # other data: no difference is shown


def test_table_1_counts_back_clicks_and_revisions_of_an_exports_units(asked, tmp_path):
    rows = ["topic,unit,assessor,ending,backs,revisions", "401,401/0,w9,abandoned,5,0", "401,401/0,w0,completed,1,0"]
    rows += ["401,401/1,w1,completed,0,2", *(f"401,401/{unit},w,completed,0,0" for unit in range(2, 30))]
    (tmp_path / "units.csv").write_text("\n".join(rows) + "\n")
    one = paper("sigir15")
    data = one.read(Asked(judgments=asked.judgments, units=str(tmp_path / "units.csv")))
    table = make(one.chosen(["table 1"])[0], data)
    counts = table.made.shown[0].frame.select("^back.*$", "^revised.*$")
    assert counts.row(0, named=True) == {"back 1": 1, "back 2+": 0, "revised 1": 0, "revised 2+": 1}
    assert counts.row(1) == (None,) * 4
    assert table.notes == ("60 of 90 units are not in the table of units",)
    assert printed(table)["units in which the assessor went back, share (printed: fewer than)"][1] == 1 / 30
    (tmp_path / "units.csv").write_text("topic,unit\n")
    with pytest.raises(DataError, match="has no column backs; give the units"):
        one.read(Asked(judgments=asked.judgments, units=str(tmp_path / "units.csv")))


def test_grades_that_double_are_worth_twice_the_one_below(outcomes):
    figure = next(it for it in outcomes["Figure 8"].made.shown if isinstance(it, Figure))
    assert figure.data["median"].to_list() == pytest.approx([1, 2, 4, 8])
    assert figure.data["linear"].to_list() == [1, 2, 3, 4]
    assert figure.data["exponential"].to_list() == [2, 4, 8, 16]


def test_scores_in_the_experts_order_agree_with_them_in_full(outcomes):
    found = printed(outcomes["Figure 3"])
    assert found["ME–S, mean, ties half"][1] == 1
    assert found["S–T, pooled, ties half"][1] < 1  # two values tie where four do not


def test_table_2_multiplying_gains_leaves_ndcg_as_it_is(outcomes):
    frame = outcomes["Table 2"].made.shown[0].frame
    assert frame.filter(pl.col("gain") == "10·C")["nDCG@10"][0] == 1


def test_a_draw_without_tau_leaves_the_others(outcomes):
    assert _median(np.array([np.nan, 0.1, 0.3])) == 0.2
    assert _median(np.array([np.nan])) is None
    for ours in printed(outcomes["Figure 6"]).values():
        assert ours[1] is None or not np.isnan(ours[1])


def _values(part):
    """Every list of data in a chart's specification."""
    if isinstance(part, dict):
        own = [part["values"]] if isinstance(part.get("values"), list) and part["values"] else []
        return own + [rows for value in part.values() for rows in _values(value)]
    return [rows for value in part for rows in _values(value)] if isinstance(part, list) else []


def test_figure_9_is_drawn_up_to_three_and_a_half(outcomes):
    figure = outcomes["Figure 9"].made.shown[0]
    drawn = [row for rows in _values(figure.chart.to_dict()) for row in rows if "whisker_high" in row]
    assert drawn
    assert max(row["whisker_high"] for row in drawn) <= 3.5
    assert figure.data["whisker_high"].max() == 4  # H is 4 times M
    assert figure.data["beyond"].sum() > 0


def test_the_header_counts_items_by_what_they_were_made_from(outcomes):
    subtitle = _subtitle(list(outcomes.values()))
    assert re.fullmatch(r"12 items made: 12 from the judgments in .*magnitudes\.csv\.gz and the runs given\.", subtitle)
    mixed = [
        Outcome(one.item, made_from, one.made)
        for one, made_from in zip(list(outcomes.values())[:3], (("a: b",), ("a: c",), ()), strict=True)
    ]
    assert _subtitle(mixed) == "3 items made: 2 from a, 1 from the paper's own numbers."


def test_without_runs_the_system_items_say_so(asked):
    one = paper("sigir15")
    data = one.read(Asked(judgments=asked.judgments))
    for number in ("table 2", "table 3", "figure 4", "figure 5", "figure 6"):
        (item,) = one.chosen([number])
        outcome = make(item, data)
        assert outcome.made is None
        assert "give --runs" in outcome.reason


def test_without_labels_grade_items_say_so(tmp_path):
    path = tmp_path / "plain.csv"
    path.write_text("topic,doc,assessor,value\n" + "".join(f"a,d{n},w{n % 3},{n + 1}\n" for n in range(12)))
    (tmp_path / "trec8-s100").mkdir()
    (tmp_path / "trec8-s100" / "judgments.csv.gz").touch()
    one, asked = paper("sigir15"), Asked(judgments=str(path), data=str(tmp_path))
    data = one.read(asked)
    assert asked.files == [str(path)]  # public scores that are not used are not in the record
    outcome = make(one.chosen(["figure 1"])[0], data)
    assert "there are no expert grades" in outcome.reason
    assert make(one.chosen(["table 1"])[0], data).made is not None


@pytest.mark.realdata
def test_public_scores_give_the_papers_counts(data):
    one = paper("sigir15")
    found = one.read(Asked(data=str(data)))
    table = printed(make(one.chosen(["table 1"])[0], found))
    for what in ("documents (with their topic)", "units", "units that the rule asks for", "judgments"):
        assert table[what][2] == 0
    assert table["judged by NIST, share of documents"][2] == pytest.approx(0)
    assert table["judged by Sormunen, share of documents"][2] == pytest.approx(0)
    cases = printed(make(one.chosen(["figure 2"])[0], found))
    assert cases["cases, adjacent grades"][1] == 72
    assert cases["cases, all pairs of grades"][1] == 126


@pytest.mark.realdata
def test_public_scores_order_documents_as_the_paper_says(data):
    one = paper("sigir15")
    found = printed(make(one.chosen(["figure 3"])[0], one.read(Asked(data=str(data)))))
    assert found["ME–S, mean, ties half"][1] == pytest.approx(0.77, abs=0.005)  # magnitudes there, 0-100 here
    assert found["ME–T, pooled, ties half"][1] == pytest.approx(0.64, abs=0.005)
    assert found["S–T, pooled, ties half"][1] == pytest.approx(0.66, abs=0.0005)  # the same labels; printed 0.65
    assert found["S–T, mean, ties half"][1] == pytest.approx(0.67, abs=0.001)


@pytest.mark.realdata
def test_ratios_of_exactly_twenty_are_not_above_it(data):
    one = paper("sigir15")
    figure = make(one.chosen(["figure 8"])[0], one.read(Asked(data=str(data)))).made.shown[0]
    assert figure.data["above"].to_list() == [430, 700, 1101, 3586]


def test_agreement_within_grades_by_hand():
    def gains(values):
        return pl.DataFrame({"topic": "q", "doc": list("abcd"), "gain": values})

    table = agreement_within_grades(
        gains([1.0, 4.0, 3.0, 5.0]), gains([0.0, 1.0, 1.0, 0.0]), gains([0.0, 0.0, 1.0, 1.0])
    )
    # pairs ac (alike), ad (tie in the second), bc (tie), bd (opposite)
    assert table.row(0, named=True) == {"topic": "q", "lower": 0.0, "upper": 1.0, "pairs": 4, "half": 0.5}
    assert overall(table) == {"mean": 0.5, "pooled": 0.5}
