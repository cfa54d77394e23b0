"""Gains from every source, with what is odd in them told."""

import warnings

import polars as pl
import pytest

from judgewell.errors import InputError, JudgewellWarning
from judgewell.formats.frames import kind_of, write_table
from judgewell.formats.gains import read_gains

ROWS = [("q1", "a", 0.7), ("q1", "b", 2.0)]


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_every_table_format_reads_back(tmp_path, ending):
    frame = pl.DataFrame(ROWS, schema=["topic", "doc", "gain"], orient="row")
    write_table(frame, tmp_path / f"g.{ending}")
    assert read_gains(tmp_path / f"g.{ending}").select("topic", "doc", "gain").rows() == ROWS


def test_beir_style_tsv_qrels_with_a_header(tmp_path):
    (tmp_path / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t0.7\nq1\tb\t2\n")
    assert read_gains(tmp_path / "test.tsv").select("topic", "doc", "gain").rows() == ROWS


def test_ratings_as_quepid_exports_them(tmp_path):
    (tmp_path / "case.csv").write_text("query,docid,rating\nq1,a,0.7\nq1,b,2\n")
    assert read_gains(tmp_path / "case.csv").select("topic", "doc", "gain").rows() == ROWS


def test_qrels_whatever_the_file_is_called(tmp_path):
    (tmp_path / "labels.clean.json").write_text("q1 0 a 0.7\nq1 0 b 2\n")
    assert read_gains(tmp_path / "labels.clean.json").select("topic", "doc", "gain").rows() == ROWS
    assert kind_of(b'{"topic": 1}', "x") == "json"


def test_nested_dicts_as_pytrec_eval_has_them():
    assert read_gains({"q1": {"a": 0.7, "b": 2}}).select("topic", "doc", "gain").rows() == ROWS


@pytest.mark.long  # importing ranx compiles
def test_ranx_qrels_and_runs_are_taken():
    ranx = pytest.importorskip("ranx")
    assert read_gains(ranx.Qrels({"q1": {"a": 1, "b": 2}})).height == 2


def test_negative_grades_are_unjudged_and_told(tmp_path):
    (tmp_path / "q").write_text("1 0 a 1\n1 0 b -1\n1 0 c -2\n")
    with pytest.warns(
        JudgewellWarning, match=r"2 of 3 gains are below 0 \(the first: topic 1, document b\); taken as unj"
    ):
        assert read_gains(tmp_path / "q")["doc"].to_list() == ["a"]
    with pytest.warns(JudgewellWarning, match="taken as 0"):
        assert read_gains(tmp_path / "q", negative="zero")["gain"].to_list() == [1, 0, 0]
    assert read_gains(tmp_path / "q", negative="keep")["gain"].to_list() == [1, -1, -2]
    with pytest.raises(InputError, match=r"2 of 3 gains are below 0 .* say what they mean"):
        read_gains(tmp_path / "q", negative="error")


def test_rows_twice_alike_count_once_and_contradictions_are_refused_with_both_lines(tmp_path):
    (tmp_path / "alike").write_text("1 0 a 1\n1 0 a 1\n1 0 b 0\n")
    with pytest.warns(JudgewellWarning, match="1 of 3 rows repeat another row exactly; each counts once"):
        assert len(read_gains(tmp_path / "alike")) == 2
    (tmp_path / "contrary").write_text("# grades\n1 0 a 1\n1 0 b 0\n\n1 0 a 2\n")
    with pytest.raises(InputError, match=r"contrary:5: topic 1, doc a appears twice \(first in line 2\)"):
        read_gains(tmp_path / "contrary")


def test_the_line_of_a_csv_is_named_even_behind_a_quoted_line_break(tmp_path):
    (tmp_path / "g.csv").write_text('topic,doc,gain,note\n1,a,1,"two\nlines"\n1,b,high,x\n')
    with pytest.raises(InputError, match=r"g\.csv:4: gain 'high' is not a number"):
        read_gains(tmp_path / "g.csv")


def test_columns_by_name(tmp_path):
    (tmp_path / "g.csv").write_text("frage,dok,wert\nq1,a,0.7\nq1,b,2\n")
    columns = {"topic": "frage", "doc": "dok", "gain": "wert"}
    assert read_gains(tmp_path / "g.csv", columns=columns).select("topic", "doc", "gain").rows() == ROWS
    with pytest.raises(InputError, match="needs the columns topic, doc, gain; this one has frage, dok, wert"):
        read_gains(tmp_path / "g.csv")


def test_broken_tables_are_one_line(tmp_path):
    (tmp_path / "g.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(InputError, match="this is not a readable parquet file"):
        read_gains(tmp_path / "g.parquet")
    (tmp_path / "g.jsonl").write_text('{"topic": 1, "doc"')
    with pytest.raises(InputError, match=r"g.jsonl:1: this is not JSON"):
        read_gains(tmp_path / "g.jsonl")
    (tmp_path / "g.csv").write_text("")
    with pytest.raises(InputError, match="the file is empty"):
        read_gains(tmp_path / "g.csv")


def test_an_ordinary_file_says_nothing(tmp_path):
    (tmp_path / "q").write_text("1 0 a 1\n1 0 b 0\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read_gains(tmp_path / "q")) == 2


def test_ir_datasets_ids_are_looked_up():
    pytest.importorskip("ir_datasets")
    with pytest.raises(InputError, match="ir_datasets has no 'no/such/set'"):
        read_gains("irds:no/such/set")


def test_qrels_of_subtopics_are_refused_with_what_their_second_field_may_mean(tmp_path):
    path = tmp_path / "diversity.qrels"
    path.write_text("51 1 a 1\n51 2 a 0\n51 2 b 1\n")
    with pytest.raises(
        InputError, match=r":2: topic 51, doc a appears twice.*second field .1, 2, ….* counts subtopics"
    ):
        read_gains(path)
    path.write_text("51 0 a 1\n51 0 a 0\n")
    with pytest.raises(
        InputError, match=r"keep one row for each topic and doc; if each line is a judgment by another person"
    ):
        read_gains(path)


def test_a_dataset_of_ir_datasets():
    ir_measures = pytest.importorskip("ir_measures")

    class Dataset:
        def qrels_iter(self):
            return iter([ir_measures.Qrel("q", "a", 2)])

    assert read_gains(Dataset()).select("topic", "doc", "gain").rows() == [("q", "a", 2)]


def test_parts_of_nested_json_hold_gains(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text('{"meta": {"q": "1"}, "labels": [{"d": "a", "g": 1}, {"d": "b", "g": 0.5}]}\n')
    columns = {"topic": "meta.q", "doc": "labels.d", "gain": "labels.g"}
    assert read_gains(path, columns=columns).select("topic", "doc", "gain").rows() == [("1", "a", 1), ("1", "b", 0.5)]
    path.write_text(path.read_text() + '{"meta": {"q": "1"}, "labels": [{"d": "a", "g": 3}]}\n')
    with pytest.raises(InputError, match=r"labels.jsonl:2: topic 1, doc a appears twice .*make gains of them first"):
        read_gains(path, columns=columns)
