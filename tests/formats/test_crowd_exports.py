"""Crowd exports: each is told by its header and read whole; what is odd in it is told, what is wrong is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from judgewell.errors import InputError, JudgewellWarning, collect_notes
from judgewell.formats.gains import read_gains
from judgewell.formats.judgments import read_judgments, read_pairs
from judgewell.formats.runs import open_runs

TREC8 = "topic_id,unit_id,document_id,gold,doc_pos,worker_id,relevance_score,cumulative_time,comment,trec,sormunen\n"


def written(folder: Path, text: str, name: str = "export.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode(encoding)) if name.endswith(".gz") else text.encode(encoding))
    return path


@pytest.mark.parametrize("name", ["export.csv", "export.csv.gz"])
def test_the_trec8_export(tmp_path: Path, name: str) -> None:
    first_row = '445,0,FT1,null,0,w1,100.0,49.1,"good, really",1.0,2.0\n'
    rows = first_row + "445,0,FT2,N,1,w1,0,3,null,,\n446,0,FT1,H,0,w2,5,3,,1,3\n"
    path = written(tmp_path, TREC8 + rows, name)
    with pytest.warns(JudgewellWarning, match=r"1 known documents have no Sormunen grade: topic 445 FT2 .N."):
        table = read_judgments(path)
    first = table.row(0, named=True)
    assert (first["topic"], first["doc"], first["assessor"], first["unit"]) == ("445", "FT1", "w1", "445/0")
    assert (first["position"], first["value"], first["seconds"]) == (1, 100.0, 49.1)
    assert (first["scale"], first["known"], first["comment"]) == ("s100", None, "good, really")
    assert table["known"].to_list() == [None, "N", "H"]
    assert table["unit"].to_list() == ["445/0", "445/0", "446/0"]
    assert table["trec"].to_list() == [1.0, None, 1.0]
    assert table["sormunen"].to_list() == [2.0, None, 3.0]
    assert table["comment"].to_list()[1:] == [None, None]


def test_negative_times_are_told_and_kept(tmp_path: Path) -> None:
    path = written(tmp_path, TREC8 + "445,7,FT1,null,0,w1,1,-4.5,x,1,2\n")
    with pytest.warns(JudgewellWarning, match=r"1 time is below 0 .topic 445, unit 445/7"):
        assert read_judgments(path)["seconds"].to_list() == [-4.5]


def test_the_magnitude_export(tmp_path: Path) -> None:
    alone = TREC8.replace("relevance_score", "relevance_scale") + "445,0,FT1,null,0,w1,3500,9,x,1,2\n"
    table = read_judgments(written(tmp_path, alone))
    assert table.select("scale", "value").row(0) == ("magnitude", 3500.0)
    beside = TREC8.replace("relevance_score", "relevance_score,relevance_scale") + "445,0,FT1,null,0,w1,7,ME,9,x,1,2\n"
    assert read_judgments(written(tmp_path, beside)).select("scale", "value").row(0) == ("magnitude", 7.0)
    both = beside.replace("ME", "8")
    with pytest.raises(InputError, match=r"both hold numbers"):
        read_judgments(written(tmp_path, both))


def test_what_is_no_number_or_no_flag_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"export.csv:2: relevance_score 'much' is not a number"):
        read_judgments(written(tmp_path, TREC8 + "445,0,FT1,null,0,w1,much,9,x,1,2\n"))
    with pytest.raises(InputError, match=r"gold 'X' is neither H nor N"):
        read_judgments(written(tmp_path, TREC8 + "445,0,FT1,X,0,w1,1,9,x,1,2\n"))


def test_judgments_without_a_value_are_left_out_and_told(tmp_path: Path) -> None:
    rows = "445,0,FT1,null,0,w1,,9,x,1,2\n445,0,FT2,null,1,w1,4,9,x,1,2\n"
    with pytest.warns(JudgewellWarning, match=r"1 of 2 rows have no value.*topic 445, doc FT1"):
        assert read_judgments(written(tmp_path, TREC8 + rows))["doc"].to_list() == ["FT2"]


MUSIC = (
    '"HITId","WorkerId","WorkTimeInSeconds","Input.query","Input.docA","Input.docB","Answer.comment","Answer.radio"\n'
)


def test_the_music_export_in_latin_1(tmp_path: Path) -> None:
    rows = (
        '1,7,23,"q","x","y","trÃ¨s","a"\n1,8,9,"q","x","y","","b"\n2,8,9,"q","y","z","","s"\n2,9,9,"q","y","z","",""\n'
    )
    path = written(tmp_path, MUSIC + rows.replace("Ã¨", "è"), encoding="latin-1")
    with pytest.warns(JudgewellWarning, match=r"line 2 is not UTF-8; the file is read as Latin-1"):
        table = read_pairs(path)
    assert table["preferred"].to_list() == ["left", "right", "same", None]
    assert table.select("topic", "left", "right", "assessor", "unit", "seconds").row(0) == (
        "q",
        "x",
        "y",
        "7",
        "1",
        23.0,
    )
    assert table["comment"][0] == "très"


def test_an_unknown_answer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r":2: the answer 'maybe' is not a, b or same"):
        read_pairs(written(tmp_path, MUSIC + '1,7,23,"q","x","y","","maybe"\n'))


def test_a_list_of_winners(tmp_path: Path) -> None:
    path = written(tmp_path, "1 a b a\n1 c b b\n2\ta\tc  c\n", "judgments.txt")
    assert read_pairs(path)["preferred"].to_list() == ["left", "right", "right"]
    with pytest.raises(InputError, match=r"holds pairs; use a method for pairs"):
        read_judgments(path)


def test_a_winner_that_was_not_shown_is_refused_with_its_line(tmp_path: Path) -> None:
    path = written(tmp_path, "1 a b a\n" * 30 + "1 a b c\n", "judgments.txt")
    with pytest.raises(InputError, match=r"judgments.txt:31: preferred 'c' is not one of left, right, same"):
        read_pairs(path)


def test_a_list_of_winners_with_ties(tmp_path: Path) -> None:
    path = written(tmp_path, "1 a b a\n1 a c tie\n1 b c c\n", "judgments.txt")
    with pytest.raises(InputError, match=r"judgments.txt:2: preferred 'tie' .*--words 'tie=…'"):
        read_pairs(path)
    assert read_pairs(path, words={"tie": "same"})["preferred"].to_list() == ["left", "same", "right"]
    short = written(tmp_path, "1 a b a\n" * 30 + "1 a b\n", "judgments.txt")
    with pytest.raises(InputError, match=r"judgments.txt:31: '1 a b' is not a topic, two documents and the preferred"):
        read_pairs(short)


PLAIN = "_created_at,_worker_id,quality,mr,mr_id,ref,team\n"


def test_rankme_plain_and_likert(tmp_path: Path) -> None:
    plain = read_judgments(written(tmp_path, PLAIN + "x,w1,150,words,4,text,slug\n"))
    assert plain.select("topic", "doc", "assessor", "scale", "value").row(0) == ("4", "slug", "w1", "magnitude", 150.0)
    likert = read_judgments(written(tmp_path, PLAIN + "x,w1,6,words,4,text,slug\nx,w2,1,words,4,text,slug\n"))
    assert likert["scale"].to_list() == ["ordinal", "ordinal"]


def test_rankme_relative_becomes_long(tmp_path: Path) -> None:
    header = "_worker_id,quality1,quality2,quality3,nat1,nat2,nat3,mr,mr_id,ref1,ref2,ref3,team1,team2,team3\n"
    path = written(tmp_path, header + "w1,100,50,200,1,2,3,words,4,x,y,z,a,b,c\nw2,10,5,20,1,2,3,words,4,x,y,z,b,c,a\n")
    with pytest.raises(InputError, match=r"several ratings; it has nat, quality; say which is the value"):
        read_judgments(path)
    table = read_judgments(path, {"value": "quality"}).sort("unit", "position")
    assert table["doc"].to_list() == ["a", "b", "c", "b", "c", "a"]
    assert table["value"].to_list() == [100, 50, 200, 10, 5, 20]
    assert table["unit"].to_list() == ["row 1"] * 3 + ["row 2"] * 3
    assert table["position"].to_list() == [1, 2, 3] * 2
    assert read_judgments(path, {"value": "nat"})["criterion"][0] == "naturalness"


def test_the_nyt_export_drops_repeated_pilots_and_tells(tmp_path: Path) -> None:
    header = "pilot,_unit_id,_worker_id,relevance,rel,topic,document_id\n"
    rows = "P_2P,1,w,relevant,1,325,9\nP_3P,1,w,highly_relevant,2,325,9\nP_3P_merged,1,w,relevant,2,325,9\n"
    with collect_notes() as notes:
        table = read_judgments(written(tmp_path, header + rows))
    assert any("1 rows of merged pilots repeat others" in one for one in notes)
    assert any("2 pilots count together (P_2P, P_3P); --where pilot=NAME takes one" in one for one in notes)
    assert table.select("scale", "value", "label", "pilot").rows() == [
        ("binary", 1.0, 1.0, "P_2P"),
        ("ordinal", 2.0, 2.0, "P_3P"),
    ]
    with pytest.raises(InputError, match=r":2: relevance 'splendid' is none of"):
        read_judgments(written(tmp_path, header + "P_2P,1,w,splendid,1,325,9\n"))


NYT = "_unit_id,_worker_id,_started_at,_created_at,relevance,rel,topic,document_id\n"


def test_a_recognised_export_says_how_it_is_read_and_that_is_no_reason_to_refuse(tmp_path: Path) -> None:
    path = written(tmp_path, NYT + "1,w,11/9/2017 00:58:30,11/9/2017 00:59:00,relevant,1,325,9\n")
    with collect_notes(strict=True) as notes:
        read_judgments(path, kind="ordinal")
    read = "topic = topic, doc = document_id, assessor = _worker_id, value = relevance "
    read += "(not_relevant is 0, relevant is 1, highly_relevant is 2)"
    assert f"read as the NYT topical relevance export: {read}; --columns topic=NAME" in notes[0]
    with pytest.raises(InputError, match=r"no column 'relevanse' to read value from; the columns are _unit_id, _w"):
        read_judgments(path, {"value": "relevanse"})


@pytest.mark.parametrize("names", [NYT, NYT.replace("_unit_id,", "").replace("document_id", "doc")])
def test_two_times_of_a_page_are_a_duration_shared_by_its_answers(tmp_path: Path, names: str) -> None:
    page = "w,11/9/2017 23:59:30,11/10/2017 00:00:30,1,1,325"
    other = "v,11/9/2017 00:58:30,11/9/2017 00:59:00,1,1,325"
    rows = [f"{page},a", f"{page},b", f"{other},a"]
    if names == NYT:
        rows = [f"1,{row.replace(',1,1,', ',relevant,1,')}" for row in rows]
    columns = None if names == NYT else {"value": "relevance", "assessor": "_worker_id"}
    table = read_judgments(written(tmp_path, names + "\n".join(rows)), columns)
    assert table["seconds"].to_list() == [30.0, 30.0, 30.0]
    unread = written(tmp_path, names + rows[0].replace("11/9/2017 23:59:30", "9 November"))
    with pytest.warns(JudgewellWarning, match="_started_at and _created_at are not used as times"):
        assert read_judgments(unread, columns)["seconds"].to_list() == [None]


def test_decimal_commas_of_a_recognised_export_are_read(tmp_path: Path) -> None:
    header = "topic_id;unit_id;document_id;gold;doc_pos;worker_id;relevance_score;cumulative_time\n"
    rows = "445;7;FT1;;0;w;2,5;3,25\n445;7;FT2;;1;w;10;4\n"
    with pytest.warns(JudgewellWarning, match=r"relevance_score has decimal commas, read as points \(2,5\)"):
        table = read_judgments(written(tmp_path, header + rows))
    assert table.select("value", "seconds").rows() == [(2.5, 3.25), (10.0, 4.0)]
    with pytest.raises(InputError, match=r"relevance_score '2,500' is not a number"):
        read_judgments(written(tmp_path, header + rows.replace("2,5;", "2,500;")))


def test_columns_that_are_missing_are_listed_as_the_file_names_them(tmp_path: Path) -> None:
    path = written(tmp_path, "qid,docno,val,who\n1,a,2,x\n")
    for read, missing in (read_judgments, "value"), (read_gains, "gain"), (open_runs, "score"):
        with pytest.raises(InputError, match=f"needs the column {missing}; this one has qid, docno, val, who;"):
            list(read(path))


def test_tables_of_ours_with_a_column_mapping(tmp_path: Path) -> None:
    path = written(tmp_path, "q,d,who,score\n007,x,w,2.5\n")
    table = read_judgments(path, {"topic": "q", "doc": "d", "assessor": "who", "value": "score"})
    assert table.select("topic", "doc", "assessor", "value").row(0) == ("007", "x", "w", 2.5)
    frame = pl.DataFrame({"topic": ["1"], "doc": ["x"], "value": [1.0]})
    frame.write_parquet(tmp_path / "ours.parquet")
    frame.write_ndjson(tmp_path / "ours.jsonl")
    for name in ("ours.parquet", "ours.jsonl"):
        assert read_judgments(tmp_path / name)["value"].to_list() == [1.0]


def test_a_wrong_value_in_a_table_of_ours_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"export.csv:3: .*value 'x' is not a number"):
        read_judgments(written(tmp_path, "topic,doc,value\n1,a,2\n1,b,x\n"))


@pytest.mark.realdata
def test_the_real_exports(data: Path) -> None:
    with pytest.warns(JudgewellWarning) as told:
        s100 = read_judgments(data / "trec8-s100" / "judgments.csv.gz")
    texts = " ".join(str(warning.message) for warning in told)
    assert "3 times are below 0" in texts
    assert "2 known documents have no Sormunen grade" in texts
    assert (len(s100), s100["unit"].n_unique(), s100["assessor"].n_unique()) == (56472, 7059, 1340)
    assert s100.select("topic", "doc").n_unique() == 4269
    assert (s100["value"] == 0).mean() == pytest.approx(0.31, abs=0.005)
    with pytest.warns(JudgewellWarning, match=r"Latin-1"):
        music = read_pairs(data / "music-preferences" / "judgments.csv")
    assert (len(music), music["assessor"].n_unique(), music["unit"].n_unique()) == (2810, 79, 281)
    assert music["preferred"].null_count() == 5
    winners = read_pairs(data / "dl21-preferences" / "judgments.txt")
    assert len(winners) == 11681
    pairs = winners.select("topic", a=pl.min_horizontal("left", "right"), b=pl.max_horizontal("left", "right"))
    assert pairs.n_unique() == 8685
    with pytest.warns(JudgewellWarning, match=r"7 of 7200 rows have no value|merged"):
        nyt = read_judgments(data / "nyt-crowd" / "judgments.csv.gz")
    assert (len(nyt), nyt["seconds"].median()) == (7193, 37.0)
    assert len(read_judgments(data / "nyt-crowd" / "reviewers.csv")) == 360
    for file in sorted((data / "rankme").glob("stp2_*.csv")):
        assert len(read_judgments(file)) == 900


def test_a_misspelt_column_of_a_known_export_is_refused(tmp_path: Path) -> None:
    nyt = written(tmp_path, "_unit_id,_worker_id,relevence,rel,topic,document_id\n1,w,relevant,1,t,a\n")
    with pytest.raises(
        InputError, match=r"NYT topical relevance export, but has no column relevance \(is it relevence"
    ):
        read_judgments(nyt)
    music = "Input.query,Input.docA,Input.docB,Answer.rado,WorkerId\nq,a,b,a,w\n"
    with pytest.raises(InputError, match=r"no column Answer.radio \(is it Answer.rado\?\); name it Answer.radio"):
        read_pairs(written(tmp_path, music))
    named = {"topic": "Input.query", "left": "Input.docA", "right": "Input.docB", "preferred": "Answer.rado"}
    assert read_pairs(written(tmp_path, music), named, {"a": "left"})["preferred"].to_list() == ["left"]


def test_pairs_without_an_answer_are_refused_with_the_columns(tmp_path: Path) -> None:
    pairs = "Input.query,Input.docA,Input.docB,Verdict,WorkerId\nq,a,b,a,w\n"
    rule = "preferred; the columns are Input.query, Input.docA, Input.docB, Verdict, WorkerId; say which"
    with pytest.raises(InputError, match=rule), collect_notes():
        read_pairs(written(tmp_path, pairs))
