"""Judgments and pairs as people keep them: what a file does not say is asked for, never invented."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgewell.errors import InputError, JudgewellWarning, collect_notes
from judgewell.formats.delimited import Layout
from judgewell.formats.gains import read_gains
from judgewell.formats.judgments import holds_pairs, read_judgments, read_pairs
from judgewell.formats.runs import open_runs


def written(folder: Path, text: str, name: str = "judgments.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "1 0 d1 0\n1 0 d2 0\n1 0 d3 1\n",  # grade and second field alike
        "1 0 5 0\n1 0 0 0\n2 0 7 2\n",
        "1 1 d1 1\n1 1 d2 1\n1 2 d1 0\n",  # subtopics
        "1 Q0 d1 0\n1 Q0 d2 1\n",
    ],
)
def test_qrels_that_repeat_a_field_are_no_list_of_winners(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text, "a.qrels")
    assert not holds_pairs(path)
    with collect_notes():
        assert len(read_judgments(path)) == text.count("\n")


@pytest.mark.parametrize("text", ["1 a b a\n1 a c c\n", "7 12 13 12\n7 13 12 12\n8 4 5 5\n"])
def test_a_list_of_winners_is_still_one(tmp_path: Path, text: str) -> None:
    assert holds_pairs(written(tmp_path, text, "winners.txt"))


def test_tabs_separate_a_tsv_file(tmp_path: Path) -> None:
    path = written(tmp_path, "topic\tdoc, url, title\tvalue, or none, or so\nt\ta,b\t1\n", "judgments.tsv")
    with collect_notes():
        table = read_judgments(path, {"doc": "doc, url, title", "value": "value, or none, or so"})
    assert table.select("doc", "value").rows() == [("a,b", 1)]
    names = written(tmp_path, "frage\tdok\tnote\nq\ta\t1\n", "gains.tsv")
    assert read_gains(names, columns={"topic": "frage", "doc": "dok", "gain": "note"})["gain"].to_list() == [1]
    marco = written(tmp_path, "1\t0\ta\t1\n", "qrels.dev.tsv")  # MS MARCO's qrels have no names
    assert read_gains(marco)["doc"].to_list() == ["a"]


def test_the_separator_and_columns_without_names_are_said(tmp_path: Path) -> None:
    path = written(tmp_path, "t:a:1\nt:b:x\n")
    layout = Layout(":", header=False)
    columns = {"topic": "1", "doc": "2", "value": "3"}
    with pytest.raises(InputError, match=r"judgments.csv:2: value 'x' is not a number"):
        read_judgments(path, columns, layout=layout)
    assert read_judgments(path, columns, {"x": "2"}, layout)["value"].to_list() == [1, 2]
    qrels = written(tmp_path, "t 0 a  1\nt 0  b 2\n", "a.qrels")
    by_number = {"topic": "1", "doc": "3", "gain": "4"}
    assert read_gains(qrels, columns=by_number, layout=Layout(" ", header=False))["gain"].to_list() == [1, 2]
    ragged = written(tmp_path, "t,a,1\nt,b\n")
    with pytest.raises(InputError, match=r"judgments.csv:2: this line has 2 fields, the first line has 3"):
        read_judgments(ragged, columns, layout=Layout(header=False))


def test_a_mapping_for_a_file_without_names_is_not_passed_over(tmp_path: Path) -> None:
    path = written(tmp_path, "t 0 a 1\n", "a.qrels")
    with pytest.warns(JudgewellWarning, match="whose columns have no names: --columns is not used"):
        read_gains(path, columns={"topic": "qid"})
    with pytest.raises(InputError, match=r"have no names; leave --columns out, or name them by number: --no-header"):
        read_judgments(path, {"value": "grade"})


def test_positions_that_count_from_0(tmp_path: Path) -> None:
    path = written(tmp_path, "topic,doc,unit,position,value\nt,a,u,0,1\nt,b,u,1,2\n")
    with pytest.warns(JudgewellWarning, match="positions count from 0; 1 is added to each"):
        assert read_judgments(path)["position"].to_list() == [1, 2]
    path.write_text("topic,doc,unit,position,value\nt,a,u,-1,1\nt,b,u,0,2\n")
    with pytest.raises(InputError, match="position -1 is below 1"):
        read_judgments(path)


def test_a_file_for_each_assessor(tmp_path: Path) -> None:
    written(tmp_path, "topic,doc,value\nt,a,1\n", "ada.csv")
    written(tmp_path, "topic,doc,value\nt,a,2\n", "ben.csv")
    written(tmp_path, "t 0 a 1\n", "x.qrels")
    written(tmp_path, "t 0 a 3\n", "y.qrels")
    with pytest.warns(JudgewellWarning, match="no assessor is named; if each file holds one.*assessor=@file"):
        assert read_judgments(tmp_path / "*.csv")["assessor"].to_list() == [None, None]
    assert read_judgments(tmp_path / "*.csv", {"assessor": "@file"})["assessor"].to_list() == ["ada", "ben"]
    with collect_notes():
        labels = read_judgments([tmp_path / "x.qrels", tmp_path / "y.qrels"], {"assessor": "@file"})
    assert labels.select("assessor", "value").rows() == [("x", 1), ("y", 3)]


def test_a_topic_named_by_the_file_leaves_words_and_empty_answers_as_they_are(tmp_path: Path) -> None:
    path = written(tmp_path, "time,who,a,b\n9:00,Ada,no,yes\n9:01,Ben,,yes\n", "t1.csv")
    columns = {"topic": "@file", "doc": "*", "value": "*", "assessor": "who", "unit": "time"}
    with pytest.warns(JudgewellWarning, match="1 of 4 rows have no value and are excluded"):
        table = read_judgments(path, columns, {"no": "0", "yes": "1"})
    rows = [("t1", "a", "Ada", 0), ("t1", "b", "Ada", 1), ("t1", "b", "Ben", 1)]
    assert table.select("topic", "doc", "assessor", "value").rows() == rows


def test_graded_preferences_keep_their_strength(tmp_path: Path) -> None:
    path = written(tmp_path, "topic,left,right,preferred\nt,a,b,-2\nt,a,c,0\nt,b,c,1\nt,c,d,\n")
    with pytest.raises(InputError, match=r"--words '-2=…,0=…,1=…'.*left:2 where a preference has a strength"):
        read_pairs(path)
    words = {"-2": "left:2", "0": "same", "1": "right:1"}
    with pytest.warns(JudgewellWarning, match="graded; their strengths are kept in the column strength"):
        pairs = read_pairs(path, words=words)
    assert pairs.select("preferred", "strength").rows() == [("left", 2), ("same", 0), ("right", 1), (None, None)]


def test_a_frame_is_read_like_a_file() -> None:
    rows = [{"qid": "t", "docno": "a", "grade": "good"}, {"qid": "t", "docno": "b", "grade": "bad"}]
    words = {"good": "1", "bad": "0"}
    with collect_notes() as notes:
        assert read_judgments(iter(rows), words=words, kind="nominal")["value"].to_list() == [1, 0]
    assert notes == ["value is read from the column grade"]
    pairs = [{"topic": "t", "left": "a", "right": "b", "answer": "A"}]
    assert holds_pairs(pairs)
    with collect_notes():
        assert read_pairs(pairs, {"preferred": "answer"}, {"A": "left"})["preferred"].to_list() == ["left"]
    with pytest.raises(InputError, match="assessor=@file is a file's name, and a frame has none"):
        read_judgments(rows, {"assessor": "@file", "value": "grade"}, words)


def test_an_id_is_taken_before_a_text_or_an_address(tmp_path: Path) -> None:
    text = "Input.query,Input.query_id,Input.url,Input.doc_id,Answer.rel\nwhat,7,http://a,a,1\n"
    with collect_notes() as notes:
        assert read_judgments(written(tmp_path, text)).select("topic", "doc").rows() == [("7", "a")]
    assert any(note.endswith("topic is read from the column Input.query_id") for note in notes)
    twice = text.replace("Input.url", "Input.passage_id")
    with pytest.raises(InputError, match=r"doc may be any of the columns Input.doc_id, Input.passage_id"):
        read_judgments(written(tmp_path, twice))


def test_a_table_with_a_column_for_each_document_gets_its_option(tmp_path: Path) -> None:
    path = written(tmp_path, "worker,rel_a,rel_b\nAda,1,2\n")
    with pytest.raises(InputError, match=r"begin alike: --columns 'topic=@file,doc=\*,value=START\*,assessor=NAME'"):
        read_judgments(path)
    with collect_notes():
        table = read_judgments(path, {"topic": "@file", "doc": "*", "value": "rel_*", "assessor": "worker"})
    assert table.select("topic", "doc", "assessor").rows() == [("judgments", "a", "Ada"), ("judgments", "b", "Ada")]
    nested = written(tmp_path, '{"data": {"q": "1"}, "votes": [1]}\n', "a.jsonl")
    with pytest.raises(InputError, match=r"this one has data.q, votes; .* columns= in Python\)$"):
        read_judgments(nested)


def test_what_pandas_calls_nan_is_missing_as_in_a_file() -> None:
    frame = pd.DataFrame({"topic": [1, 1, 1], "doc": [2**60, 2, 3], "value": [1.0, np.nan, 2.5]})
    with pytest.warns(JudgewellWarning, match="1 of 3 rows have no value and are excluded"):
        table = read_judgments(frame, kind="ratio")
    assert table.select("topic", "doc", "value").rows() == [("1", str(2**60), 1), ("1", "3", 2.5)]
    nullable = frame.assign(doc=pd.array([2**60 + 1, None, 3], dtype="Int64"))
    with pytest.raises(InputError, match="doc is missing"):
        read_judgments(nullable.assign(value=1.0), kind="ratio")
    kept = read_judgments(nullable[nullable["doc"].notna()], kind="ratio")
    assert kept["doc"].to_list() == [str(2**60 + 1), "3"]


def test_a_duration_is_read_in_seconds() -> None:
    frame = pd.DataFrame({"topic": ["1"], "doc": ["a"], "value": [1], "seconds": pd.to_timedelta([1500], "ms")})
    assert read_judgments(frame, kind="ordinal")["seconds"].to_list() == [1.5]


def test_a_second_column_that_may_hold_the_value_is_noted(tmp_path: Path) -> None:
    path = written(tmp_path, "topic,doc,rating,label\nt,a,1,5\n")
    with pytest.warns(JudgewellWarning, match="value is read from the column rating, not from label"):
        assert read_judgments(path)["value"].to_list() == [1]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("\n<!DOCTYPE html>\n<html></html>\n", "this is a web page, not data; download the file itself"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "this is a pointer of Git LFS.*git lfs pull"),
    ],
)
def test_what_servers_give_in_place_of_a_file(tmp_path: Path, text: str, problem: str) -> None:
    path = written(tmp_path, text, "a.txt")
    for read in (read_judgments, read_gains, open_runs):
        with pytest.raises(InputError, match=problem):
            read(path)
