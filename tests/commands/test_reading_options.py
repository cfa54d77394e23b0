"""The options that say how tables are read, the same in every command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAIRS = "topic,left,right,assessor,answer\n" + "".join(
    f"t,{left},{right},{who},{answer}\n"
    for who in ("x", "y")
    for left, right, answer in (("a", "b", "A"), ("b", "c", "A"), ("a", "c", "A"), ("c", "d", "tie"), ("b", "d", "B"))
)
JUDGED = "topic,doc,assessor,pilot,value\nt,a,x,1,1\nt,b,x,2,2\nt,a,y,,3\nt,b,y,2.5,4\n"


def test_words_for_sides_beside_a_file_of_labels(judgewell):
    Path("pairs.csv").write_text(PAIRS)
    Path("labels.qrels").write_text("t 0 a L2\nt 0 b L1\nt 0 c L0\nt 0 d L0\n")
    words = "A=left,B=right,tie=same,L0=0,L1=1,L2=2"
    code, out, err = judgewell("agree", "pairs.csv", "labels.qrels", "--words", words, "--replicates", "10")
    assert (code, "analyses need other data" in out) == (0, True), err
    Path("labels.qrels").write_text("t 0 a 2\nt 0 b 1\nt 0 c 0\nt 0 d 0\n")
    code, _, err = judgewell("agree", "pairs.csv", "labels.qrels", "--words", "A=left,B=right,tie=same")
    assert code == 0, err
    code, _, err = judgewell("agree", "pairs.csv", "--words", "A=left,B=2,tie=same")
    assert (code, "'b' cannot mean '2'" in err) == (2, True)


@pytest.mark.parametrize(
    ("where", "documents"),
    [
        (("pilot=1,2",), 2),
        (("pilot=",), 1),
        (("pilot=1,",), 1),
        (("pilot=2", "value=2.0"), 1),
        (("pilot=2.5,assessor=y",), 1),
    ],
)
def test_rows_by_several_values_and_by_none(judgewell, where, documents):
    Path("j.csv").write_text(JUDGED)
    options = [word for one in where for word in ("--where", one)]
    code, out, err = judgewell("scale", "j.csv", "--method", "mean", "--interval", "none", "-o", "-", *options)
    assert (code, len(out.splitlines()) - 1) == (0, documents), err
    assert re.search(r"^info: \d of \d rows are used: those with pilot=", err, re.M)


def test_rows_that_no_one_can_choose(judgewell):
    Path("j.csv").write_text(JUDGED)
    for where, problem in (("pilot", "does not choose rows"), ("pilot=9", "no row has pilot=9; there are")):
        code, _, err = judgewell("scale", "j.csv", "--method", "mean", "--where", where)
        assert (code, problem in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ("scale", "j.csv", "--method", "mean", "--columns", "valu=value"),
            "no column valu in the judgments; did you mean",
        ),
        (
            ("evaluate", "a.qrels", "r.run", "--columns", "qid=topic"),
            "no column qid in the gains or runs; columns are named",
        ),
        (("compare", "s.csv", "--columns", "score=x"), "no column score in the scores"),
        (
            ("scale", "j.csv", "--method", "mean", "--separator", "::"),
            "the separator '::' is not one character; say comma",
        ),
    ],
)
def test_names_that_no_table_has_are_refused(judgewell, arguments, problem):
    Path("j.csv").write_text(JUDGED)
    Path("a.qrels").write_text("t 0 a 1\n")
    Path("r.run").write_text("t Q0 a 1 1 r\n")
    Path("s.csv").write_text("system,topic,measure,value\na,1,AP,1\n")
    code, _, err = judgewell(*arguments)
    assert (code, problem in err, err.count("\n")) == (2, True, 1), err


def test_tables_without_names_and_with_another_separator(judgewell):
    Path("j.txt").write_text("t:a:x:1\nt:b:x:2\n")
    columns = "topic=1,doc=2,assessor=3,value=4"
    options = ("--separator", ":", "--no-header", "--columns", columns, "--interval", "none", "-o", "-")
    code, out, err = judgewell("scale", "j.txt", "--method", "mean", *options)
    assert (code, [line.split(",")[:3] for line in out.splitlines()[1:]]) == (
        0,
        [["t", "a", "1.0"], ["t", "b", "2.0"]],
    ), err
    Path("g.csv").write_text("t;a;1\nt;b;0\n")
    Path("r.csv").write_text("t;a;9\nt;b;8\n")
    Path("r.run").write_text("t Q0 a 1 9 r\nt Q0 b 2 8 r\n")
    for run in ("r.csv", "r.run"):
        columns = "topic=1,doc=2,gain=3,score=3"
        code, out, err = judgewell("evaluate", "g.csv", run, "--no-header", "--columns", columns, "-m", "RR", "-o", "-")
        assert (code, out.splitlines()[1]) == (0, "r,t,RR,1.0"), err


def test_two_files_of_labels_for_predicted_relevance(judgewell):
    grades = [(doc, (doc * 7) % 3, (doc * 7 + (doc % 4 == 0)) % 3) for doc in range(30)]
    for name, at in (("nist.qrels", 1), ("crowd.qrels", 2)):
        Path(name).write_text("".join(f"t{one[0] % 5} 0 d{one[0]} {one[at]}\n" for one in grades))
    options = ("--method", "predicted", "--threshold", "1", "--interval", "none")
    code, out, err = judgewell("scale", "nist.qrels", "crowd.qrels", *options, "--columns", "assessor=@file", "-o", "-")
    assert (code, len(out.splitlines())) == (0, 31), err


def test_wide_tables_of_scores(judgewell):
    shapes = (
        "system,1,2,3\na,0.5,0.25,0.75\nb,1,0,0.5\n",
        "topic,a,b\n1,0.5,1\n2,0.25,0\n3,0.75,0.5\n",
        "system,topic,AP,P@5\na,1,0.5,0\na,2,0.25,0\na,3,0.75,0\nb,1,1,1\nb,2,0,1\nb,3,0.5,1\n",
    )
    outputs = set()
    for shape in shapes:
        Path("scores.csv").write_text(shape)
        code, out, err = judgewell("compare", "scores.csv", "-m", "AP", "-o", "-", "--worlds", "20")
        assert code == 0, err
        outputs.add(out)
    assert len(outputs) == 1


def test_the_kind_of_the_values_is_said(judgewell):
    Path("j.csv").write_text(JUDGED)
    options = ("--method", "mean", "--interval", "none")
    code, _, err = judgewell("scale", "j.csv", *options, "--kind", "interval:0..10")
    assert (code, "kind" in err) == (0, False), err
    code, _, err = judgewell("scale", "j.csv", *options, "--kind", "cardinal")
    assert (code, "'cardinal' is not a kind of number" in err) == (2, True)


def test_the_report_takes_the_kind_too(judgewell):
    Path("j.csv").write_text(JUDGED)
    options = ("--judgments", "j.csv", "-o", "r.html", "--draws", "5", "--replicates", "5", "--worlds", "5")
    code, _, err = judgewell("report", *options, "--kind", "cardinal")
    assert (code, "'cardinal' is not a kind of number" in err) == (2, True)
