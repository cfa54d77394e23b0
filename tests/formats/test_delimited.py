"""Tables of judgments as people have them: separators, line ends, encodings, names; and what is wrong, by its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgewell.errors import InputError, JudgewellWarning
from judgewell.formats.crowd import read_judgments, read_pairs

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
        ("topic,doc,value\nt,a,1\nt,b,2,3\n", r":3: this line has 4 fields, the first line names 3 columns; mend"),
        ('topic,doc,value\nt,a,1\nt,"b,2\n', r":3: the quotes of this line do not close"),
        ("topic,doc,value\nt,a\0,1\n", r":2: a byte 0 is no text"),
        ("topic,doc,value\nt,a\n", r":2: value None is missing"),
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
    ]
    path.write_text("qid;doc_a;doc_b;preference\nt;a;b;left\n")
    with pytest.warns(JudgewellWarning, match="left is read from the column doc_a"):
        assert read_pairs(path).select("left", "right", "preferred").row(0) == ("a", "b", "left")


def test_a_named_column_is_never_second_guessed(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text("topic,doc,score,grade\nt,a,1,7\n")
    assert read_judgments(path, {"value": "grade"})["value"].to_list() == [7.0]
