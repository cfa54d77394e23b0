"""Answers as people write them: what is clear is read and told, what is not is refused with a cure that works."""

from __future__ import annotations

from pathlib import Path

import pytest

from judgewell.errors import InputError, JudgewellWarning
from judgewell.formats.gains import read_gains
from judgewell.formats.judgments import holds_pairs, read_judgments, read_pairs
from judgewell.formats.words import parse_words


def values(folder: Path, *answers: str, words: dict[str, str] | None = None) -> list[float]:
    path = folder / "judgments.csv"
    rows = "".join(f'"t";"d{at}";"{answer}"\n' for at, answer in enumerate(answers))
    path.write_text("topic;doc;value\n" + rows, encoding="utf-8")
    return read_judgments(path, words=words)["value"].to_list()


def preferred(folder: Path, *answers: str, words: dict[str, str] | None = None) -> list[str | None]:
    path = folder / "pairs.csv"
    path.write_text("topic,left,right,preferred\n" + "".join(f"t,a,b,{answer}\n" for answer in answers))
    return read_pairs(path, words=words)["preferred"].to_list()


def test_words_are_parsed_with_their_commas_and_signs() -> None:
    assert parse_words("Not relevant=0,Highly relevant=2,N/A=") == {
        "not relevant": "0",
        "highly relevant": "2",
        "n/a": "",
    }
    assert parse_words("yes, very=2,a=b=1") == {"yes, very": "2", "a=b": "1"}
    assert parse_words(None) is None


@pytest.mark.parametrize("text", ["relevant", "relevant=1,other", "=1", "a=1,A=2"])
def test_words_that_say_nothing_are_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"does not say what words mean|two meanings"):
        parse_words(text)


def test_words_mean_what_is_said_whatever_their_capitals(tmp_path: Path) -> None:
    words = {"not relevant": "0", "Highly Relevant": "2", "junk": "", "9": "1"}
    with pytest.warns(
        JudgewellWarning, match=r"1 of 5 rows have no value and are excluded .the first: topic t, doc d3"
    ):
        assert values(tmp_path, "Not relevant", " HIGHLY RELEVANT", "0.5", "junk", "9", words=words) == [0, 2, 0.5, 1]
    with pytest.warns(JudgewellWarning, match="answers that do not occur: 'relevent'"):
        values(tmp_path, "1", words={"relevent": "2"})
    with pytest.raises(InputError, match="'no' cannot mean 'nothing'; a word means a number or nothing"):
        values(tmp_path, "no", words={"no": "nothing"})


@pytest.mark.parametrize(
    ("answers", "cure"),
    [
        (("Relevant", "Not relevant"), "--words 'Not relevant=…,Relevant=…', with a number in place of …"),
        (("L0", "L3"), "--words 'L0=…,L3=…', with"),
        (("True", "False", "NA"), "--words 'False=…,NA=…,True=…', with"),
        (("1/2", "1"), "--words '1/2=…', with"),
        (("1,250", "1,000"), "write numbers as 1234.5"),
        (("1.100,5",), "write numbers as 1234.5"),
        (("50%", "1"), "write numbers as 1234.5"),
        (tuple(f"word {chr(65 + at)}{chr(65 + at)}" for at in range(26)) + tuple("abcdefgh"), "is it another column?"),
    ],
)
def test_what_is_no_number_is_refused_with_its_line_and_cure(
    tmp_path: Path, answers: tuple[str, ...], cure: str
) -> None:
    with pytest.raises(InputError, match="is not a number") as refused:
        values(tmp_path, *answers)
    assert cure in str(refused.value)
    assert f"judgments.csv:{2}: value" in str(refused.value)


def test_decimal_commas_and_per_cent_are_read_and_told(tmp_path: Path) -> None:
    with pytest.warns(JudgewellWarning, match="value has decimal commas, read as points .0,5"):
        assert values(tmp_path, "1", "0,5", "1,250") == [1, 0.5, 1.25]
    with pytest.raises(InputError, match=r"'k. A.' is not a number; .*--words 'k. A.=…'"):  # the word, not the commas
        values(tmp_path, "0,5", "k. A.")
    with pytest.warns(JudgewellWarning, match="value is in per cent, read as numbers from 0 to 100"):
        assert values(tmp_path, "33%", "12.5 %", "0%") == [33, 12.5, 0]
    with pytest.raises(InputError, match="'0,5' is not a number"):  # points and commas: one of them is no decimal sign
        values(tmp_path, "0,5", "1.250")


def test_a_file_without_any_answer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no row has a value; is value in another column\? \(--columns value=NAME"):
        values(tmp_path, "", " ")


def test_lines_are_still_right_behind_rows_that_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "gains.csv"
    path.write_text("topic,doc,gain\nt,a,\nt,b,1\nt,b,2\n")
    with (
        pytest.warns(JudgewellWarning, match="1 of 3 rows have no gain"),
        pytest.raises(InputError, match=r"gains.csv:4: "),
    ):
        read_gains(path)


def test_grades_in_words(tmp_path: Path) -> None:
    path = tmp_path / "a.qrels"
    path.write_text("1 0 a L2\n1 0 b L0\n2 0 a L3\n")
    with pytest.raises(InputError, match=r"a.qrels:1: gain 'L2' is not a number.*--words 'L0=…,L2=…,L3=…'"):
        read_gains(path)
    words = {"L0": "0", "L2": "2", "L3": "3"}
    assert read_gains(path, words=words)["gain"].to_list() == [2, 0, 3]
    with pytest.warns(JudgewellWarning, match="the qrels are read as judgments"):
        assert read_judgments(path, words=words)["value"].to_list() == [2, 0, 3]


def test_numbers_that_stand_for_something_else(tmp_path: Path) -> None:
    path = tmp_path / "a.qrels"
    path.write_text("1 0 a 9\n1 0 b 0.5\n1 0 c 2\n")
    with pytest.warns(JudgewellWarning, match="1 of 3 rows have no gain"):
        assert read_gains(path, words={"9": "", "2": "1"})["gain"].to_list() == [0.5, 1]


def test_grades_below_0_are_no_judgments(tmp_path: Path) -> None:
    path = tmp_path / "a.qrels"
    path.write_text("1 0 a -2\n1 0 b 0\n")
    with pytest.warns(JudgewellWarning, match="1 of 2 gains are below 0"):
        assert read_judgments(path)["value"].to_list() == [0]


def test_sides_by_words(tmp_path: Path) -> None:
    assert preferred(tmp_path, "LEFT", "right ", "", "Same") == ["left", "right", None, "same"]
    with pytest.raises(InputError, match=r":2: preferred 'A' is not one of .*--words 'A=…,B=…,tie=…'"):
        preferred(tmp_path, "A", "B", "tie")
    words = {"A": "left", "B": "right", "tie": "same", "skip": ""}
    assert preferred(tmp_path, "A", "B", "tie", "skip", words=words) == ["left", "right", "same", None]
    with pytest.raises(InputError, match="--words '-1=…,0=…,1=…'"):
        preferred(tmp_path, "-1", "0", "1")
    with pytest.raises(InputError, match="--words '0=…,1=…,2=…'"):
        preferred(tmp_path, "1", "2", "0")
    with pytest.raises(InputError, match="'x' cannot mean '3'; a word means left, right, same, a side"):
        preferred(tmp_path, "x", words={"x": "3"})


def test_the_preferred_document_named_by_its_id(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("qid,doc1,doc2,winner\nt,a,b,b\nt,c,a,c\nt,c,b,\n")
    with pytest.warns(JudgewellWarning, match="preferred names documents, read as left or right"):
        assert read_pairs(path)["preferred"].to_list() == ["right", "left", None]
    path.write_text("qid,doc1,doc2,winner\nt,a,b,b\nt,c,a,b\n")
    with pytest.raises(InputError, match=r"pairs.csv:2: preferred 'b' is not one of"):  # b was not shown in line 3
        read_pairs(path)


def test_winner_and_loser(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("qid,winner,loser\nt,a,b\nt,c,a\n")
    assert holds_pairs(path)
    with pytest.warns(JudgewellWarning, match="on which side it was shown is not known"):
        table = read_pairs(path)
    assert table.select("left", "right", "preferred").rows() == [("a", "b", "left"), ("c", "a", "left")]


@pytest.mark.parametrize(
    ("header", "pairs"),
    [
        ("topic,left,right", True),
        ("qid\tdoc_a\tdoc_b\tpreference", True),
        ("topic,doc,value", False),
        ("topic,doc,doc1,doc2,value", False),
    ],
)
def test_pairs_are_told_by_their_columns(tmp_path: Path, header: str, pairs: bool) -> None:
    path = tmp_path / "table.csv"
    path.write_text(header + "\n")
    assert holds_pairs(path) is pairs
    assert holds_pairs(path, {"left": "x"})
    assert not holds_pairs(path, {"doc": "x"})


def test_several_columns_that_may_hold_the_value_are_not_guessed_between(tmp_path: Path) -> None:
    path = tmp_path / "judgments.csv"
    path.write_text("topic,doc,relevance,score\nt,a,1,10\n")
    with pytest.raises(
        InputError, match="value may be any of the columns score, relevance; say which: --columns value=score"
    ):
        read_judgments(path)
    assert read_judgments(path, {"value": "relevance"})["value"].to_list() == [1]


def test_a_task_for_each_document_is_no_unit_of_work(tmp_path: Path) -> None:
    path = tmp_path / "batch.csv"
    path.write_text("HITId,WorkerId,topic,doc,value\nh1,x,t,a,1\nh1,y,t,a,2\nh2,x,t,b,3\n")
    with pytest.warns(JudgewellWarning, match="HITId holds one judgment of each assessor: it is not read as the unit"):
        assert read_judgments(path)["unit"].null_count() == 3
    path.write_text("HITId,WorkerId,topic,doc,value\nh1,x,t,a,1\nh1,x,t,b,2\n")
    with pytest.warns(JudgewellWarning, match="unit is read from the column HITId"):
        assert read_judgments(path)["unit"].to_list() == ["h1", "h1"]


def test_sides_as_numbers_in_json_and_text_as_windows_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"topic": "t", "left": 7, "right": 8, "preferred": 2}\n')
    with pytest.raises(InputError, match=r"pairs.jsonl:1: preferred '2' is not one of left, right, same.*--words '2="):
        read_pairs(path)
    assert read_pairs(path, words={"2": "right"})["preferred"].to_list() == ["right"]
    path.write_text('{"topic": "t", "left": 7, "right": 8, "winner": 8}\n')
    with pytest.warns(JudgewellWarning, match="preferred names documents"):
        assert read_pairs(path)["preferred"].to_list() == ["right"]
    windows = tmp_path / "judgments.csv"
    windows.write_bytes("topic,doc,value,comment\nt,a,1,it’s “good” – €5\n".encode("cp1252"))
    with pytest.warns(JudgewellWarning, match="line 2 is not UTF-8; the file is read as Windows-1252"):
        assert read_judgments(windows)["comment"].to_list() == ["it’s “good” – €5"]
