"""TREC files: each oddity that other tools trip over is read right, or is an error with file and line."""

import gzip
import math

import polars as pl
import pytest

from judgewell.errors import InputError, JudgewellWarning
from judgewell.formats.files import head, open_bytes, stem
from judgewell.formats.gains import read_gains
from judgewell.formats.trec import QRELS, RUN, read_fields, read_qrels, write_qrels

try:
    from compression import zstd
except ImportError:
    from backports import zstd

REGULAR = b"1 Q0 d1 1 2.5 tag\n1 Q0 d2 2 1.5 tag\n"
ROWS = [("1", "d1", "1", 2.5, "tag"), ("1", "d2", "2", 1.5, "tag")]


@pytest.mark.parametrize(
    "data",
    [
        REGULAR,
        REGULAR.replace(b" ", b"\t"),
        REGULAR.replace(b"\n", b"\r\n"),
        REGULAR.replace(b"1 2.5", b"1   2.5"),
        REGULAR.replace(b"Q0 d2", b"Q0  d2"),
        REGULAR.replace(b"1 Q0 d2", b"1  Q0 d2"),
        REGULAR.replace(b"1 Q0 d1", b"1\tQ0 d1"),
        b"  " + REGULAR,
        REGULAR.replace(b"tag\n1", b"tag \n\n \n 1"),
        b"# a comment\n" + REGULAR + b"# the end",
        REGULAR.rstrip(),
        b"\xef\xbb\xbf" + REGULAR,
        REGULAR.replace(b"tag", b"tag more junk"),
        REGULAR.replace(b"1.5 tag", b"1.5 tag more junk"),
        REGULAR.replace(b"2.5", b"25e-1"),
    ],
)
def test_every_way_to_write_the_same_run_is_read_the_same(data):
    assert read_fields(data, RUN, "a.run").rows() == ROWS


def test_a_run_of_five_columns_has_no_tag():
    five = REGULAR.replace(b" tag", b"")
    assert read_fields(five, RUN, "a.run").rows() == [(*row[:4], None) for row in ROWS]


def test_a_line_without_its_tag_among_lines_with_one():
    mixed = REGULAR.replace(b"1.5 tag", b"1.5")
    assert read_fields(mixed, RUN, "a.run")["tag"].to_list() == ["tag", None]


@pytest.mark.parametrize("more", [b"", b"1 Q0 d3 3 0.5 tag junk\n", b"1 Q0  d3 3 0.5 tag\n"])
def test_ranks_are_left_unread_where_nobody_asks_for_them(more):
    frame = read_fields(REGULAR + more, RUN, "a.run", unused=("Q0", "rank"))
    assert frame.columns == ["topic", "doc", "score", "tag"]
    assert frame["doc"].to_list() == ["d1", "d2", "d3"][: len(frame)]
    assert len(frame) == 2 + bool(more)


def test_quotes_and_hashes_inside_ids_are_just_characters():
    data = b'q"1 Q0 doc#2 1 2.5 "t\nq"1 Q0 "d 2 1.5 "t\n'
    assert read_fields(data, RUN, "a.run")["doc"].to_list() == ["doc#2", '"d']


def test_scores_are_read_to_the_last_bit():
    scores = [0.1 + 0.2, 1e-300, -1 / 3, 123456789.123456789, 5e-324]
    data = "\n".join(f"1 Q0 d{n} {n} {score!r} t" for n, score in enumerate(scores)).encode()
    assert read_fields(data, RUN, "a.run")["score"].to_list() == scores


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"1 Q0 d3 3 foo tag", r"a\.run:3: score 'foo' is not a number; write a decimal number"),
        (b"1 Q0 d3 3 nan tag", r"a\.run:3: score 'nan' is not a number"),
        (b"1 Q0 d3 3 1_000 tag", r"a\.run:3: score '1_000' is not a number"),
        (b"1  d3 3 1.5 tag", r"a\.run:3: score 'tag' is not a number"),
        (b"1 Q0 d3  1.5", r"a\.run:3: 4 fields in '1 Q0 d3  1.5'; a run's line is"),
        (b"1 Q0 d3", r"a\.run:3: 3 fields in '1 Q0 d3'; a run's line is"),
        (b"1 Q0 d\xff 3 1 tag", r"a\.run:3: this line is not UTF-8"),
    ],
)
def test_bad_lines_are_named(line, said):
    with pytest.raises(InputError, match=said):
        read_fields(REGULAR + line + b"\n", RUN, "a.run")


@pytest.mark.parametrize("data", [REGULAR.replace(b"d2", b"d\x002"), REGULAR.replace(b" Q0 d2", b"  Q0 d\x002")])
def test_a_byte_0_is_no_text(data):
    with pytest.raises(InputError, match=r"a\.run:2: a NUL byte is not text"):
        read_fields(data, RUN, "a.run")


@pytest.mark.parametrize("blank", [b"\x0b", b"\x0c"])
@pytest.mark.parametrize("sep", [b" ", b"  "])
def test_a_vertical_tab_and_a_form_feed_separate_fields_as_in_trec_eval(blank, sep):
    data = REGULAR + sep.join([b"1", b"Q0", b"d" + blank + b"3", b"1.5", b"tag\n"])
    assert read_fields(data, RUN, "a.run").rows()[2] == ("1", "d", "3", 1.5, "tag")


def test_an_infinite_score_is_a_number():
    assert read_fields(REGULAR + b"1 Q0 d3 3 -inf tag\n", RUN, "a.run")["score"][2] == -math.inf


def test_qrels_take_real_gains_and_refuse_a_fifth_column(tmp_path):
    path = tmp_path / "a.qrels"
    path.write_bytes(b"1 0 d1 0.7\n1 0 d2 1.333\n")
    assert read_qrels(path).rows() == [("1", "d1", 0.7), ("1", "d2", 1.333)]
    with pytest.raises(InputError, match=r":2: 5 fields in '1 0 d2 2 3'; a qrels line is: topic 0 document grade"):
        read_fields(b"1 0 d1 1\n1 0 d2 2 3\n", QRELS, "a.qrels")
    path.write_bytes(b"1 0 d1 1\n1 0 d2 abc\n")
    with pytest.raises(InputError, match=r":2: gain 'abc' is not a number"):
        read_gains(path)


def test_lines_of_three_fields_are_read_and_told(tmp_path):
    path = tmp_path / "a.qrels"
    path.write_bytes(b"1 d1 2\n1 d2 0\n")
    with pytest.warns(JudgewellWarning, match="read as topic, document and grade"):
        assert read_qrels(path).rows() == [("1", "d1", 2.0), ("1", "d2", 0.0)]
    for text in (b"1 0 1234\n", b"1 A doc-1\n"):  # no grade, or not where it belongs
        path.write_bytes(text)
        with pytest.raises(InputError, match=":1: 3 fields in"):
            read_qrels(path)


def test_runs_and_qrels_in_each_others_place_are_told():
    with pytest.raises(InputError, match="looks like a run: name gains first"):
        read_fields(b"1 Q0 d1 1 9.5 bm25\n", QRELS, "a.run")
    with pytest.raises(InputError, match="looks like qrels: name gains first"):
        read_fields(b"1 0 d1 1\n", RUN, "a.qrels")


def test_compressed_files_are_told_by_their_first_bytes(tmp_path):
    for name, data in {
        "a.gz": gzip.compress(REGULAR[:18]) + gzip.compress(REGULAR[18:]),
        "a.zst": zstd.compress(REGULAR),
        "wrongly.named": gzip.compress(REGULAR),
    }.items():
        (tmp_path / name).write_bytes(data)
        assert open_bytes(tmp_path / name) == REGULAR
        assert head(tmp_path / name, 5).startswith(REGULAR[:5])
    (tmp_path / "short.gz").write_bytes(gzip.compress(REGULAR)[:-9])
    with pytest.raises(InputError, match=r"short\.gz: the compressed file is broken or cut short"):
        open_bytes(tmp_path / "short.gz")
    (tmp_path / "short.zst").write_bytes(zstd.compress(REGULAR * 50)[:-3])
    with pytest.raises(InputError, match=r"short\.zst: the compressed file is broken or cut short"):
        open_bytes(tmp_path / "short.zst")


def test_what_cannot_be_opened_is_said(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        open_bytes(tmp_path / "none")
    with pytest.raises(InputError, match=r"this is a folder; name the files in it"):
        open_bytes(tmp_path)


def test_stems():
    assert stem("runs/bm25.run.gz") == "bm25"
    assert stem("input.p_bm25.gz") == "input.p_bm25"
    assert stem("x/rm3.v2.txt") == "rm3.v2"


def test_written_qrels_read_back(tmp_path):
    gains = pl.DataFrame({"topic": ["1", "1"], "doc": ["a", "b"], "gain": [0.1 + 0.2, 2.0]})
    write_qrels(gains, tmp_path / "g.qrels")
    assert read_qrels(tmp_path / "g.qrels").rows() == gains.rows()
    write_qrels(gains.with_columns(gain=pl.lit(2.0)), tmp_path / "whole.qrels")
    assert (tmp_path / "whole.qrels").read_text() == "1 0 a 2\n1 0 b 2\n"
    with pytest.raises(InputError, match=r"doc 'a b' has a space in it; write \.csv or \.parquet"):
        write_qrels(gains.with_columns(doc=pl.lit("a b")), tmp_path / "bad.qrels")


def test_pairs_are_not_read_as_qrels(tmp_path):
    path = tmp_path / "duo.txt"
    path.write_text("1 da db 0.7\n1 db dc 0.2\n1 dc da 0.9\n")
    with pytest.raises(InputError, match=r"hold the same ids, as in pairs.*topic=1,left=2,right=3,preferred=4"):
        read_gains(path)
    path.write_text("1 s12a d1 1\n1 s12b d2 0\n")  # a second field of its own
    assert read_gains(path)["gain"].to_list() == [1, 0]


def test_topics_in_the_second_field_are_not_lost(tmp_path):
    path = tmp_path / "groups.qrel"
    path.write_text("MTurk\tq1\td1\t1\nMTurk\tq1\td2\t2\nMTurk\tq2\td1\t1\nMTurk\tq2\tq1\t3\n")
    with pytest.raises(InputError, match=r"'MTurk' in every line and the second holds 2 ids.*print \$2, 0, \$3, \$4"):
        read_gains(path)


def test_a_line_of_features_is_named_as_one(tmp_path):
    path = tmp_path / "letor.txt"
    path.write_text("2 qid:10 1:0.5 2:0.1 #docid = d1\n")
    with pytest.raises(InputError, match=r"letor.txt:1: 7 fields.*features for learning to rank: write its qid"):
        read_gains(path)
