"""Tables of judgments as people have them: separators, line ends, encodings, names; and what is wrong, by its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgewell.errors import InputError, JudgewellWarning
from judgewell.formats.frames import kind_of, read_frame
from judgewell.formats.gains import read_gains
from judgewell.formats.judgments import ALSO, read_judgments, read_pairs
from judgewell.formats.runs import open_runs
from judgewell.tables import OTHER_NAMES

HEADER = ["topic", "doc", "assessor", "value"]
ROWS = [["t", "d 1", "é", "10"], ["t", "文", "x", "0.5"]]


def text(separator: str = ",", end: str = "\n") -> str:
    return "".join(separator.join(row) + end for row in [HEADER, *ROWS])


SPELLINGS = {
    "tab": text("\t").encode(),
    "semicolon": text(";").encode(),
    "bar": text("|").encode(),
    "crlf": text(end="\r\n").encode(),
    "cr": text(end="\r").encode(),
    "bom": b"\xef\xbb\xbf" + text(";").encode(),
    "utf16": text().encode("utf-16"),
    "spaces": text().replace("topic,doc", "topic , doc").encode(),
    "quoted": '"topic","doc","assessor","value"\n"t","d 1","é","10"\nt,文,x,0.5\n'.encode(),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_is_the_same_table(tmp_path: Path, spelling: str) -> None:
    path = tmp_path / "judgments.csv"
    path.write_bytes(SPELLINGS[spelling])
    found = read_judgments(path)
    assert found.select("topic", "doc", "assessor").rows() == [("t", "d 1", "é"), ("t", "文", "x")]
    assert found["value"].to_list() == [10.0, 0.5]


def test_a_field_may_hold_line_ends_and_the_next_error_still_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text('topic;doc;value;comment\nt;a;1;"two\nlines; here"\nt;b;many;\n')
    with pytest.raises(InputError, match=r"judgments.csv:4: value 'many' is not a number"):
        read_judgments(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", r"the file is empty; its first line names the columns"),
        ("\n\n", r"the file is empty"),
        ("topic,doc,value,value\nt,a,1,2\n", r":1: two columns are called 'value'"),
        ("topic,doc,value\nt,a,1\nt,b,2,3\n", r":3: this line has 4 fields, the first line has 3; mend"),
        ('topic,doc,value\nt,a,1\nt,"b,2\n', r":3: the quotes of this line do not close"),
        ("topic,doc,value\nt,a\0,1\n", r":2: a NUL byte is not text"),
        ("topic,doc,value\nt,a,1\nt,a\n", r":3: this line has 2 fields, the first line has 3; mend the line"),
        ('topic,doc,value\nt,5" disk,1\n', r":2: a \" stands alone in this line.*written twice"),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=said):
        read_judgments(path)


def test_other_peoples_names_are_understood_and_told(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text("QueryID,DocID,WorkerId,Score\nt,a,x,1\n")
    with pytest.warns(JudgewellWarning) as told:
        assert read_judgments(path).row(0)[:3] == ("t", "a", "x")
    assert [str(one.message).partition(": ")[2] for one in told] == [
        "topic is read from the column QueryID",
        "doc is read from the column DocID",
        "assessor is read from the column WorkerId",
        "value is read from the column Score",
        "values are read as nominal, because they are 0 or 1; use --kind (kind= in Python) to say otherwise",
    ]
    path.write_text("qid;doc_a;doc_b;preference\nt;a;b;left\n")
    with pytest.warns(JudgewellWarning, match="left is read from the column doc_a"):
        assert read_pairs(path).select("left", "right", "preferred").row(0) == ("a", "b", "left")


def test_a_named_column_is_never_second_guessed(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text("topic,doc,score,grade\nt,a,1,7\n")
    assert read_judgments(path, {"value": "grade"})["value"].to_list() == [7.0]


def test_a_name_that_may_be_ours_is_not_one_that_always_is() -> None:
    for ours, others in ALSO.items():
        assert not set(others) & set(OTHER_NAMES.get(ours, ()))
        assert len(set(others)) == len(others)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_is_the_same_for_gains_and_runs_too(tmp_path: Path, spelling: str) -> None:
    data = SPELLINGS[spelling]
    wide = data.startswith(b"\xff\xfe")
    text = data.decode("utf-16" if wide else "utf-8").replace("value", "gain")
    path = tmp_path / "gains.txt"
    path.write_bytes(text.encode("utf-16" if wide else "utf-8"))
    assert kind_of(path.read_bytes(), path) == "csv"
    assert read_gains(path).select("topic", "doc", "gain").rows() == [("t", "d 1", 10.0), ("t", "文", 0.5)]
    path.write_bytes(text.replace("gain", "score").encode("utf-16" if wide else "utf-8"))
    run = open_runs(path)[0]
    assert run.frame()["doc"].to_list() == ["d 1", "文"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"topic;doc;gain\nt;a;1;2\n", r":2: this line has 4 fields"),
        (b"topic;doc;gain\nt;a;high\n", r":2: gain 'high' is not a number"),
        (b'{"topic": "t", "doc": "a", "gain": 1}\n\n{"topic": "t", "doc": "b", "gain": "x"}\n', r":3: gain 'x' is not"),
        (b'{"topic": "t", "doc": "a", "gain": 1}\n{"topic": "t", "doc" "b"}\n', r":2: this is not JSON: Expecting ':'"),
        (b'{"topic": "t", "doc": "a", "gain": 1}\n{"topic": "t", "doc": "b", "gain": NaN}\n', r":2: NaN is not JSON"),
        (b'{"topic": "t", "doc": "a", "gain": 1}\n[1, 2]\n', r":2: this line is not an object"),
        (b'[{"topic": "t", "doc": "a", "gain": 1},\n{"topic": "t" "doc": "b", "gain": 1}]\n', r":2: this is not JSON"),
        ("topic;doc;gain\nt;a;1\n".encode("utf-16")[:-1], r":2: the UTF-16 text breaks off"),
    ],
)
def test_gains_with_a_broken_line_name_it(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "gains.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_gains(path)


@pytest.mark.parametrize(
    "content",
    [
        b"topic;doc;gain\nt;a;1\nt;\xe9;1\n",
        b'{"topic": "t", "doc": "a", "gain": 1}\n\n{"topic": "t", "doc": "\xe9", "gain": 1}\n',
        b"t 0 a 1\n\nt 0 \xe9 1\n",
    ],
)
def test_gains_in_latin_1_are_read_with_a_note(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "gains.txt"
    path.write_bytes(content)
    with pytest.warns(JudgewellWarning, match=r"line 3 is not UTF-8; the file is read as Latin-1"):
        assert read_gains(path)["doc"].to_list() == ["a", "é"]


def test_latin1_comments_are_read_and_told_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    path.write_bytes(b"topic,doc,value,comment\nt,a,1,\nt,b,2,d\xe9j\xe0 vu\n")
    with pytest.warns(JudgewellWarning, match=r"line 3 is not UTF-8; the file is read as Latin-1"):
        assert read_judgments(path)["comment"].to_list() == [None, "déjà vu"]


def test_fields_may_be_empty_at_the_end_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text('topic,doc,value,comment\nt,a,1,"so, so"\nt,b,2,\n')
    assert read_frame(path)["comment"].to_list() == ["so, so", None]


def test_qrels_are_judgments_whose_assessor_is_not_known_and_that_is_told(tmp_path: Path) -> None:
    path = tmp_path / "human.qrels"
    path.write_text("1 0 a 2\n1 0 b 0\n")
    with pytest.warns(JudgewellWarning, match="read as judgments, one a line"):
        assert read_judgments(path).select("topic", "doc", "assessor", "value").row(0) == ("1", "a", None, 2.0)
    with pytest.raises(InputError, match="which holds judgments; use a method for judgments"):
        read_pairs(path)


def test_empty_lines_and_columns_without_a_name_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text('topic,doc,value,,\n\nt,a,1,,\n\n\nt,"b\n\nc",x,,\n\n')
    with pytest.raises(InputError, match=r"judgments.csv:6: value 'x' is not a number"):
        read_judgments(path)
    table = read_judgments(path, words={"x": "2"})
    assert table.select("doc", "value").rows() == [("a", 1), ("b\n\nc", 2)]
    assert table.columns[-2:] == ["column 4", "column 5"]


def test_a_title_above_the_names_is_refused_with_its_cure(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text("Export, of today\ntopic,doc,value\nt,a,1\n")
    with pytest.raises(InputError, match=r":2: .*or drop the first line if it does not name the columns"):
        read_judgments(path)


def test_names_between_spaces(tmp_path: Path) -> None:
    path = tmp_path / "a.qrels"
    path.write_text("qid iteration docno rel\n1 0 a 1\n1 0 b 0\n")
    assert read_gains(path).select("topic", "doc", "gain").rows() == [("1", "a", 1), ("1", "b", 0)]


def test_a_wide_file_without_our_columns_is_one_short_line(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"x{at}" for at in range(500)) + "\n")
    with pytest.raises(InputError, match=r"this one has x0, .*, x29 and 470 more; rename them") as refused:
        read_judgments(path)
    assert len(str(refused.value)) < 700


def test_the_first_line_that_excel_needs_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "gains.csv"
    path.write_bytes(b"\xef\xbb\xbfsep=;\r\ntopic;doc;gain\r\n1;a;0,5\r\n1;b;x\r\n")
    with pytest.raises(InputError, match=r"gains.csv:4: gain 'x' is not a number"):
        read_gains(path)
    with pytest.warns(JudgewellWarning, match="decimal commas"):
        assert read_gains(path, words={"x": "2"})["gain"].to_list() == [0.5, 2]
