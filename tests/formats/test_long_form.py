"""Judgments that do not stand one to a row: columns side by side, and parts of nested JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judgewell.errors import InputError, JudgewellWarning, collect_notes
from judgewell.formats.judgments import read_judgments, read_pairs


def test_raters_side_by_side_are_assessors_where_the_user_says_so(tmp_path: Path) -> None:
    path = tmp_path / "raters.csv"
    path.write_text("topic,doc,r1,r2\nt,a,1,2\nt,b,0,\n")
    with collect_notes() as notes:
        table = read_judgments(path, {"value": "r*"}, kind="ordinal")
    assert table.select("doc", "assessor", "value").rows() == [("a", None, 1), ("a", None, 2), ("b", None, 0)]
    assert [one.partition(": ")[2] for one in notes] == [
        "value is read from r1, r2: 2 rows for each row of the file; "
        "if each column is an assessor: --columns assessor=*",
        "1 of 4 rows have no value and are excluded (the first: topic t, doc b)",
    ]
    with collect_notes():
        table = read_judgments(path, {"value": "r*", "assessor": "*"})
    assert table.select("doc", "assessor", "value").rows() == [("a", "1", 1), ("a", "2", 2), ("b", "1", 0)]


def test_lists_of_one_length_go_together(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_text(
        '{"topic": "t", "doc": "a", "votes": [1, 0], "workers": ["x", "y"]}\n'
        '{"topic": "t", "doc": "b", "votes": [2], "workers": ["x"]}\n'
    )
    table = read_judgments(path, {"value": "votes", "assessor": "workers"})
    rows = [("a", "x", 1), ("a", "y", 0), ("b", "x", 2)]
    assert table.select("doc", "assessor", "value").rows() == rows
    path.write_text('{"topic": "t", "doc": "a", "votes": [1, 0]}\n{"topic": "t", "doc": "b", "votes": [2, 3]}\n')
    assert read_judgments(path, {"value": "votes"})["doc"].to_list() == ["a", "a", "b", "b"]


@pytest.mark.filterwarnings("ignore::judgewell.errors.JudgewellWarning")
def test_a_page_of_several_documents(tmp_path: Path) -> None:
    path = tmp_path / "page.csv"
    path.write_text("q,who,doc1,rel1,doc2,rel2\nt,x,a,1,b,2\nt,y,b,3,a,oops\n")
    columns = {"topic": "q", "assessor": "who", "doc": "doc*", "value": "rel*"}
    with pytest.raises(InputError, match=r"page.csv:3: value 'oops' is not a number"):
        read_judgments(path, columns)
    table = read_judgments(path, columns, {"oops": "0"})
    assert table.select("doc", "assessor", "value").rows() == [
        ("a", "x", 1),
        ("b", "x", 2),
        ("b", "y", 3),
        ("a", "y", 0),
    ]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"value": "x*"}, r"no column is called x\*; the columns are q, doc1, rel1, rel2"),
        ({"doc": "doc*", "value": "rel*"}, r"doc\* and rel\* do not match the same columns: 1; 1, 2; a star"),
    ],
)
def test_stars_that_fit_nothing_are_refused(tmp_path: Path, columns: dict[str, str], said: str) -> None:
    path = tmp_path / "page.csv"
    path.write_text("q,doc1,rel1,rel2\nt,a,1,2\n")
    with pytest.raises(InputError, match=said):
        read_judgments(path, {"topic": "q", **columns})


def tasks(folder: Path, *annotations: list[dict[str, Any]]) -> Path:
    """An export with a list of annotations for each task, each with a list of results."""
    path = folder / "tasks.json"
    rows = [
        {"id": at, "data": {"query": "t", "docid": f"d{at}"}, "annotations": one, "tags": ["x", "y"]}
        for at, one in enumerate(annotations)
    ]
    path.write_text(json.dumps(rows))
    return path


def by(who: int, *choices: str) -> dict[str, Any]:
    return {"completed_by": who, "result": [{"type": "choices", "value": {"choices": list(choices)}}]}


CHOICES = {
    "topic": "data.query",
    "doc": "data.docid",
    "assessor": "annotations.completed_by",
    "value": "annotations.result.value.choices",
}


def test_parts_of_nested_json(tmp_path: Path) -> None:
    path = tasks(tmp_path, [by(1, "Yes"), by(2, "No")], [by(1, "No"), by(2)])
    with pytest.raises(
        InputError, match=r"needs the columns topic, doc, value; this one has id, data.query, data.docid"
    ):
        read_judgments(path)
    with pytest.warns(JudgewellWarning, match="1 of 4 rows have no value"):
        table = read_judgments(path, CHOICES, {"yes": "1", "no": "0"})
    assert table.select("doc", "assessor", "value").rows() == [("d0", "1", 1), ("d0", "2", 0), ("d1", "1", 0)]


def test_parts_that_are_not_there_and_lists_that_do_not_belong_together(tmp_path: Path) -> None:
    path = tasks(tmp_path, [by(1, "Yes"), by(2, "No")])
    with pytest.raises(InputError, match=r"there is no data.topic; data has data.query, data.docid"):
        read_judgments(path, {**CHOICES, "topic": "data.topic"})
    path.write_text(json.dumps([{"a": [{"v": 1}, {"v": 2}], "b": [{"d": "x"}, {"d": "y"}, {"d": "z"}], "topic": "t"}]))
    with pytest.raises(
        InputError, match="a holds 2 members and b 3; lists that are read together must have the same length"
    ):
        read_judgments(path, {"value": "a.v", "doc": "b.d"})


def test_a_column_of_lists_is_read_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text(
        '{"meta": {"topic": "t", "doc": "a"}, "accept": [2]}\n{"meta": {"topic": "t", "doc": "b"}, "accept": []}\n'
    )
    columns = {"topic": "meta.topic", "doc": "meta.doc", "value": "accept"}
    with pytest.warns(JudgewellWarning, match="1 of 2 rows have no value"):
        assert read_judgments(path, columns).select("doc", "value").rows() == [("a", 2)]
    with pytest.raises(InputError, match=r"there is no accept.0; accept has no parts; name accept itself"):
        read_judgments(path, {**columns, "value": "accept.0"})


def test_a_nested_column_is_refused_with_its_part(tmp_path: Path) -> None:
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps([{"topic": "t", "left": "a", "right": "b", "preference": {"selected": "left"}}]))
    with pytest.raises(InputError, match=r"--columns preferred=preference.selected"):
        read_pairs(path)
    assert read_pairs(path, {"preferred": "preference.selected"})["preferred"].to_list() == ["left"]
