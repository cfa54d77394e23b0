"""Edges of evaluate(): inputs that once gave a wrong number, a traceback or a silent drop."""

import itertools
import random
import warnings
from collections import namedtuple

import numpy as np
import polars as pl
import pytest
import pytrec_eval

from judgewell.errors import DataError, InputError, JudgewellError, JudgewellWarning
from judgewell.evaluation import part as engine
from judgewell.evaluation.evaluate import evaluate
from judgewell.evaluation.summary import summarise
from judgewell.formats.gains import read_gains
from judgewell.formats.runs import open_runs
from judgewell.formats.trec import QRELS, RUN, read_fields

pytestmark = pytest.mark.usefixtures("kernel")

LINEAR = ["nDCG@3", "DCG@2", "CG@4", "P(rel=0.5)@2", "R(rel=0.5)@3", "RBP(p=0.7)", "Judged@2"]


def test_a_sum_that_overflows_is_refused_not_dropped():
    gains = {"q1": {"a": 1e308, "b": 1.5e308}, "q2": {"a": 1.0}}
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}}
    with pytest.raises(DataError, match=r"nDCG@10 of topic q1 is too large for a number; .* divide them first"):
        evaluate(run, gains, "nDCG@10")


@pytest.mark.parametrize("rounds", [4, pytest.param(12, marks=pytest.mark.long)])
@pytest.mark.parametrize("unjudged", ["zero", "condense"])
def test_shared_ties_are_the_mean_over_all_orders(unjudged, rounds):
    """Brute force: every order of the tied documents, with and without unjudged ones."""
    rng = random.Random(5)
    for _ in range(rounds):
        docs = [f"d{n}" for n in range(5)]
        scores = {doc: rng.choice([1.0, 2.0]) for doc in docs}
        gains = {"q": {doc: rng.choice([0.0, 0.4, 1.0]) for doc in rng.sample(docs, 4)} | {"other": 1.0}}
        orders = {
            str(n): {"q": {doc: scores[doc] + place / 100 for place, doc in enumerate(order)}}
            for n, order in enumerate(itertools.permutations(docs))
        }
        expected = evaluate(orders, gains, LINEAR, unjudged=unjudged).group_by("measure").agg(pl.col("value").mean())
        shared = evaluate({"q": scores}, gains, LINEAR, unjudged=unjudged, ties="shared")
        both = shared.join(expected, on="measure")
        np.testing.assert_allclose(both["value"], both["value_right"], atol=1e-12)


@pytest.mark.parametrize("data", [b"q1 0 a 2\n#q1 0 b 5\nq1 0 c 1\n", b"#q1 0 b 5\nq1 0 a 2\nq1 0 c 1\n"])
def test_a_line_that_is_commented_out_does_not_count(data):
    assert read_fields(data, QRELS, "q")["doc"].to_list() == ["a", "c"]


def test_an_id_that_holds_a_space_between_tabs_is_refused_not_split(tmp_path):
    """Taken as two fields it would put the rank in the place of the score; a tag of several words is no such thing."""
    run = tmp_path / "a.run"
    run.write_text("q1\tQ0\ta\t1\t9.5\tmy run\nq1\tQ0\tb c\t2\t8.5\tmy run\n")
    with pytest.raises(InputError, match=r"a\.run:2: 'b c' holds a space, .*; write ids without spaces"):
        evaluate(run, {"q1": {"a": 1}}, "nDCG@3")
    run.write_text("q1\tQ0\ta\t1\t9.5\tmy run\nq1\tQ0\tb\t2\t8.5\tmy run\n")
    with pytest.warns(JudgewellWarning, match="2 lines have text after the tag"):
        assert evaluate(run, {"q1": {"a": 1}}, "nDCG@3")["value"].to_list() == [1.0]


def test_lines_ended_by_carriage_returns_alone_are_lines():
    data = b"q1 Q0 a 1 3 s\rq1 Q0 b 2 2 s\rq2 Q0 c 1 1 s\r"
    assert read_fields(data, RUN, "r")["doc"].to_list() == ["a", "b", "c"]


def test_distances_in_place_of_scores_are_told(tmp_path):
    path = tmp_path / "near.run"
    path.write_text("".join(f"q1 Q0 d{rank} {rank} {rank / 10} near\n" for rank in range(1, 8)))
    with pytest.warns(JudgewellWarning, match=r"the run has scores that rise with the ranks.*--order rank"):
        assert evaluate(path, {"q1": {"d1": 1}}, "RR")["value"].to_list() == [1 / 7]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate(path, {"q1": {"d1": 1}}, "RR", order="rank")["value"].to_list() == [1.0]
    path.write_text("\n# made by hand\nq1 Q0 d1 1 2 near\nq1 Q0 d2 2 3 near\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(path, {"q1": {"d1": 1}}, "RR")  # two documents say too little


def test_distances_are_seen_in_short_rankings_too(tmp_path):
    path = tmp_path / "near.run"
    path.write_text("".join(f"q{topic} Q0 d{rank} {rank} {rank} near\n" for topic in range(3) for rank in (1, 2)))
    with pytest.warns(JudgewellWarning, match="the run has scores that rise with the ranks"):
        evaluate(path, {"q0": {"d1": 1}, "q1": {"d1": 1}, "q2": {"d2": 1}}, "RR")


def test_only_ascii_white_space_separates_fields():
    data = "q1 Q0 a\u3000b 1 3 s\nq1 Q0 c 2 2\n".encode()
    assert read_fields(data, RUN, "r").select("doc", "score").rows() == [("a\u3000b", 3.0), ("c", 2.0)]


def test_whole_float_ids_with_a_gap_are_whole_and_the_gap_is_missing():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"qid": [1.0, 2.0, None], "docno": [*"abc"], "label": [1, 1, 1]})
    with pytest.raises(InputError, match="row 3: topic is missing"):
        read_gains(frame)
    assert read_gains(frame.head(2))["topic"].to_list() == ["1", "2"]
    assert read_gains(frame.assign(qid=1e19).head(1))["topic"].to_list() == ["1e+19"]


def test_infap_is_pytrec_evals_where_grades_below_0_are_pooled_documents():
    run = {"q": {"b": 3.0, "a": 2.0, "x": 1.5, "c": 1.0}, "r": {"a": 1.0}}
    grades = {"r": {"a": 1}, "q": {"a": 1, "b": -1, "c": 1, "d": 0}}
    theirs = pytrec_eval.RelevanceEvaluator(grades, {"infAP", "map"}).evaluate(run)
    with pytest.warns(JudgewellWarning, match="taken as unjudged"):
        ours = evaluate(run, grades, ["infAP", "AP"])
    values = {(row["topic"], row["measure"]): row["value"] for row in ours.iter_rows(named=True)}
    for topic in run:
        assert values[topic, "infAP"] == pytest.approx(theirs[topic]["infAP"], abs=1e-12)
        assert values[topic, "AP"] == pytest.approx(theirs[topic]["map"], abs=1e-12)


def test_topics_left_without_judgments_are_told():
    with pytest.warns(JudgewellWarning, match=r"1 topic has no other and does not count \(the first: q2\)"):
        read_gains({"q1": {"a": 1, "b": -1}, "q2": {"x": -1, "y": -2}})


def test_tiny_gains_do_not_cancel():
    gains, run = {"q": {"a": 1e-17, "b": 1e-18}}, {"q": {"b": 2.0, "a": 1.0}}
    linear = evaluate(run, gains, "nDCG@10")["value"].item()
    assert evaluate(run, gains, "nDCG(gain='exp2')@10")["value"].item() == pytest.approx(linear)
    assert evaluate(run, gains, "nERR(gmax='topic')@10")["value"].item() > 0.5


def test_a_measure_asked_for_twice_is_measured_once():
    scores = evaluate({"q": {"a": 1.0}}, {"q": {"a": 1}}, ["AP", "map", "AP"])
    assert scores["measure"].to_list() == ["AP"]
    with pytest.raises(JudgewellError, match="gives rel twice"):
        evaluate({"q": {"a": 1.0}}, {"q": {"a": 1}}, "AP(rel=2,rel=3)")


@pytest.mark.parametrize("measures", [None, [], "P@3000000000", "nDCG@100000000000"])
def test_what_is_no_measure_is_said(measures):
    with pytest.raises(JudgewellError):
        evaluate({"q": {"a": 1.0}}, {"q": {"a": 1}}, measures)


def test_measures_of_ir_measures_are_read_by_their_names():
    ir_measures = pytest.importorskip("ir_measures")
    asked = [ir_measures.nDCG @ 10, ir_measures.AP(rel=2), ir_measures.RR]
    scores = evaluate({"q": {"a": 1.0}}, {"q": {"a": 2}}, asked)
    assert scores["measure"].to_list() == ["nDCG@10", "AP(rel=2)", "RR"]


@pytest.mark.parametrize(
    ("gains", "said"),
    [
        ({"q": {"a": "foo"}}, "gain 'foo' is not a number"),
        ({"q": {"a": None}}, "no row has a gain"),
        ({"topic": ["q"], "doc": ["a"], "gain": [[1]]}, "the column gain holds List"),
        ({"topic": [["q"]], "doc": ["a"], "gain": [1]}, "the column topic holds List"),
        ([], "there is no judgment|needs the columns"),
    ],
)
def test_strange_gains_are_one_line(gains, said):
    with pytest.raises(JudgewellError, match=said):
        read_gains(gains)


def test_dates_are_no_gains():
    frame = pl.DataFrame({"topic": ["q"], "doc": ["a"], "gain": ["2020-01-01"]}).with_columns(
        pl.col("gain").str.to_date()
    )
    with pytest.raises(InputError, match="the column gain holds Date"):
        read_gains(frame)


def test_a_topic_with_very_many_judgments_does_not_widen_the_others(monkeypatch):
    """Rows are measured in blocks of like width; the values are those of one block."""
    gains = {"wide": {f"d{n}": n % 3 for n in range(500)}} | {f"t{n}": {"a": 1, "b": 2} for n in range(40)}
    run = {topic: {doc: -float(n) for n, doc in enumerate(docs)} for topic, docs in gains.items()}
    asked = ["nDCG@10", "AP", "R@5"]
    whole = evaluate(run, gains, asked)
    monkeypatch.setattr(engine, "BLOCK_CELLS", 600)
    sizes = [len(rows) for rows in engine.blocks(np.array([2] * 40 + [500]))]
    assert max(sizes) * 2 <= 600
    assert sum(sizes) == 41
    assert evaluate(run, gains, asked).equals(whole)


def test_runs_by_name_and_rows_of_named_tuples(tmp_path):
    row = namedtuple("ScoredDoc", "query_id doc_id score")  # as ir_measures has them
    assert open_runs([row("q", "a", 1.0), row("q", "b", 2.0)])[0].frame().height == 2
    (tmp_path / "x.run").write_text("q Q0 a 1 1 same\n")
    frame = pl.DataFrame({"qid": ["q"], "docno": ["a"], "score": [1.0]})
    named = open_runs({"bm25": tmp_path / "x.run", "rm3": frame})
    assert [run.system for run in named] == ["bm25", "rm3"]


def test_a_runs_table_without_systems_is_named_by_its_file(tmp_path):
    (tmp_path / "bm25.csv").write_text("qid,docno,score\nq,a,1\n")
    (tmp_path / "deep.json").write_text('{"q": {"a": 1.0}}')
    assert [run.system for run in open_runs([tmp_path / "bm25.csv", tmp_path / "deep.json"])] == ["bm25", "deep"]
    scores = evaluate([tmp_path / "bm25.csv"], {"q": {"a": 1}}, "RR")
    assert scores["value"].to_list() == [1.0]


def test_names_that_clash_in_every_way_still_tell_systems_apart(tmp_path):
    text = "q Q0 a 1 1 t\n"
    for name in ("x.run", "x.txt", "t.run", "two.csv", "three.csv"):
        (tmp_path / name).write_text("system,topic,doc,score\na,q,d,1\nb,q,d,2\n" if name.endswith("csv") else text)
    names = [
        run.system for run in open_runs([tmp_path / n for n in ("x.run", "x.txt", "t.run", "two.csv", "three.csv")])
    ]
    assert len(set(names)) == 7
    assert names[-1] == "three:b"


def test_header_names_in_capitals_and_json_with_a_byte_order_mark(tmp_path):
    (tmp_path / "g.csv").write_text("Topic,Doc,Gain\nq,a,0.5\n")
    (tmp_path / "g.jsonl").write_bytes(b'\xef\xbb\xbf{"topic": "q", "doc": "a", "gain": 0.5}\n')
    (tmp_path / "g.json").write_text('{"q": {"a": 0.5}}')
    (tmp_path / "g.qrels").write_text("[1] 0 a 2\n")
    for name in ("g.csv", "g.jsonl", "g.json"):
        assert read_gains(tmp_path / name).select("topic", "doc", "gain").rows() == [("q", "a", 0.5)]
    assert read_gains(tmp_path / "g.qrels")["topic"].to_list() == ["[1]"]


def test_a_column_mapping_serves_gains_and_runs_and_leaves_trec_files_alone(tmp_path):
    (tmp_path / "g.txt").write_text("frage,dok,wert\nq,a,1\n")
    (tmp_path / "r.csv").write_text("frage,dok,punkte\nq,a,1\n")
    (tmp_path / "g.qrels").write_text("q 0 a 1\n")
    columns = {"topic": "frage", "doc": "dok", "gain": "wert", "score": "punkte"}
    for gains in ("g.txt", "g.qrels"):
        scores = evaluate(tmp_path / "r.csv", tmp_path / gains, "RR", columns=columns)
        assert scores["value"].to_list() == [1.0]


def test_ranks_must_be_numbers():
    frame = pl.DataFrame({"topic": ["q", "q"], "doc": ["a", "b"], "score": [1.0, 2.0], "rank": ["1", "nan"]})
    with pytest.raises(InputError, match="rank 'nan' of document b is not a number"):
        evaluate(frame, {"q": {"a": 1}}, "RR", order="rank")


def test_intervals_of_many_topics_stay_within_the_values():
    rows = {"system": "s", "topic": [str(n) for n in range(5000)], "measure": "P@1", "value": [1.0] * 4999 + [0.9]}
    summary = summarise(pl.DataFrame(rows)).row(0, named=True)
    assert summary["high"] <= 1.0
    with pytest.raises(InputError, match="the seed -1 is below 0"):
        summarise(pl.DataFrame(rows), seed=-1)
    with pytest.raises(InputError, match="needs the columns"):
        summarise(pl.DataFrame({"a": [1]}))
