"""Scores tables in every shape are the same table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judgewell.errors import InputError, collect_notes
from judgewell.formats.scores import read_scores

ROWS = [("a", "1", "AP", 0.5), ("a", "2", "AP", 0.25), ("b", "1", "AP", 1.0), ("b", "2", "AP", 0.0)]
SHAPES = {
    "long": "run,qid,measure,value\na,1,AP,0.5\na,2,AP,0.25\nb,1,AP,1\nb,2,AP,0\n",
    "pyterrier": "name,qid,measure,value\na,1,AP,0.5\na,2,AP,0.25\nb,1,AP,1\nb,2,AP,0\n",
    "system x topic": "system,1,2\na,0.5,0.25\nb,1,0\n",
    "topic x system": "qid;a;b\n1;0.5;1\n2;0.25;0\n",
    "a column per measure": "system,topic,AP\na,1,0.5\na,2,0.25\nb,1,1\nb,2,0\n",
    "no measure": "system\ttopic\tvalue\na\t1\t0.5\na\t2\t0.25\nb\t1\t1\nb\t2\t0\n",
    "decimal commas": "system;1;2\na;0,5;0,25\nb;1;0\n",
    "with means": "system,1,2,all\na,0.5,0.25,0.375\nb,1,0,0.5\n",
    "with texts": "topic,text,a,b\n1,tea,0.5,1\n2,milk,0.25,0\n",
}


def written(folder: Path, text: str) -> Path:
    path = folder / "scores.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_the_same_table(tmp_path: Path, shape: str) -> None:
    with collect_notes():
        scores = read_scores(written(tmp_path, SHAPES[shape]), measure="AP")
    assert sorted(scores.rows()) == ROWS


def test_what_is_assumed_of_a_wide_table_is_noted(tmp_path: Path) -> None:
    with collect_notes() as notes:
        scores = read_scores(written(tmp_path, "system,group,1,2,mean\na,x,0.5,,0.5\nb,y,1,0,0.5\n"))
    assert scores["measure"].unique().to_list() == ["score"]
    assert len(scores) == 3
    assert [text.partition(": ")[2] for text in notes] == [
        "the columns group hold no numbers and are excluded",
        "each of the 3 columns 1, 2, mean is one topic",
        "1 of 6 cells are empty: these scores are missing",
        "the measure is not named; it is called score (-m gives it a name)",
        "2 scores of the topic 'mean' are means over topics and are excluded",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x,1,2\na,0.5,1\n", "the scores need the columns system, topic, .* name the first column system"),
        (",1,2\na,0.5,1\n", "name the first column system where each row is a system"),
        ("system,1,2\na,0.5,bad\nb,1,2\n", r"scores.csv:2: value 'bad' is not a number"),
        ("system,1,2\na,0.5,1\na,1,2\n", r"scores.csv:3: system a, topic 1, measure score appears twice"),
        ("system,topic,text\na,1,x\n", "the scores need the columns"),
    ],
)
def test_what_is_no_scores_table_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem), collect_notes():
        read_scores(written(tmp_path, text))


def test_a_wide_pandas_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"1": [0.5, 1], "2": [0.25, 0]}, index=pandas.Index(["a", "b"], name="system"))
    with collect_notes():
        assert sorted(read_scores(frame, measure="AP").rows()) == ROWS


@pytest.mark.parametrize(
    ("line", "cure"),
    [
        ("q1 Q0 a 1 3.2 bm25\n", "this looks like a run, not scores of systems; write --runs {} … --gains QRELS"),
        ("q1 0 a 2\n", "this looks like qrels, not scores of systems; write --runs RUNS … --gains {}"),
    ],
)
def test_runs_and_qrels_are_no_scores(tmp_path, line, cure):
    file = tmp_path / "file.txt"
    file.write_text(line)
    with pytest.raises(InputError, match=re.escape(cure.format(file))):
        read_scores(file)
