"""Runs in parts: names of systems, whole topics in each part, and every kind of source."""

import gzip
import itertools
import random

import ir_datasets
import ir_measures
import polars as pl
import pyarrow
import pytest
from ir_datasets.formats import TrecScoredDocs
from ir_datasets.util import LocalDownload

from judgewell.errors import InputError, JudgewellWarning
from judgewell.formats import runs as module
from judgewell.formats.runs import next_topic, open_runs
from judgewell.formats.trec import RUN, read_fields


def lines(topics, depth, tag="t", sep=" "):
    rows = [f"{topic} Q0 d{rank} {rank} {depth - rank} {tag}" for topic in topics for rank in range(depth)]
    return "\n".join(row.replace(" ", sep) for row in rows) + "\n"


def test_a_system_is_named_by_its_tag_and_by_its_file_where_tags_clash_or_lack(tmp_path):
    (tmp_path / "one.run").write_text(lines("a", 2, "bm25"))
    (tmp_path / "two.run").write_text(lines("a", 2, "rm3"))
    (tmp_path / "three.run").write_text(lines("a", 2, "rm3"))
    (tmp_path / "four.txt").write_text(lines("a", 2, "").replace(" \n", "\n"))
    found = open_runs([tmp_path / "one.run", tmp_path / "two.run", tmp_path / "three.run", tmp_path / "four.txt"])
    assert [run.system for run in found] == ["bm25", "two", "three", "four"]


def test_files_of_one_name_in_two_folders_keep_apart(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "s.run").write_text(lines("a", 2, "same"))
    names = [run.system for run in open_runs(str(tmp_path / "*" / "s.run"))]
    assert names == [f"{tmp_path}/x/s.run", f"{tmp_path}/y/s.run"]


def test_globs_are_expanded_and_must_match(tmp_path):
    (tmp_path / "a.run").write_text(lines("a", 2, "a"))
    (tmp_path / "b.run").write_text(lines("a", 2, "b"))
    assert [run.system for run in open_runs(f"{tmp_path}/*.run")] == ["a", "b"]
    with pytest.raises(InputError, match="no file matches"):
        open_runs(f"{tmp_path}/*.none")


def test_a_large_file_is_cut_between_topics_and_nothing_is_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PART_BYTES", 500)
    text = lines([f"q{n}" for n in range(40)], 13)
    (tmp_path / "a.run").write_text(text)
    (tmp_path / "a.run.gz").write_bytes(gzip.compress(text.encode()))
    (run,), (packed,) = open_runs(tmp_path / "a.run"), open_runs(tmp_path / "a.run.gz")
    for one in (run, packed):
        pieces = [piece.frame() for part in one.parts for piece in part.pieces()]
        assert len(pieces) > 5
        topics = [topic for piece in pieces for topic in piece["topic"].unique()]
        assert len(topics) == len(set(topics)) == 40
        assert one.frame().rows() == read_fields(text.encode(), RUN, "a.run").rows()
        assert one.whole().frame().equals(one.frame())
        assert len(list(one.whole().parts[0].pieces())) == 1


def test_an_error_in_a_later_part_names_the_line_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PART_BYTES", 500)
    text = lines([f"q{n}" for n in range(40)], 13).splitlines()
    text[300] = text[300].replace(" t", " t").replace(text[300].split()[4] + " t", "foo t")
    (tmp_path / "a.run").write_text("\n".join(text))
    (run,) = open_runs(tmp_path / "a.run")
    with pytest.raises(InputError, match=r"a\.run:301: score 'foo' is not a number"):
        run.frame()


def test_frames_dicts_and_tables_are_runs_too(tmp_path):
    pandas = pytest.importorskip("pandas")
    terrier = pandas.DataFrame({"qid": ["1"], "docno": ["d"], "score": [1.5], "rank": [0], "query": ["words"]})
    named = pl.DataFrame({"system": ["a", "b"], "topic": ["1", "1"], "doc": ["d", "d"], "score": [1, 2]})
    named.write_csv(tmp_path / "runs.csv")
    assert [run.system for run in open_runs(terrier)] == ["run"]
    assert open_runs(terrier)[0].frame()["topic"].to_list() == ["1"]
    assert [run.system for run in open_runs(named)] == ["a", "b"]
    assert [run.system for run in open_runs(tmp_path / "runs.csv")] == ["a", "b"]
    assert [run.system for run in open_runs({"1": {"d": 1.0}})] == ["run"]
    assert [run.system for run in open_runs({"s": {"1": {"d": 1.0}}, "t": {"1": {"d": 1.0}}})] == ["s", "t"]
    assert [run.system for run in open_runs([{"topic": "1", "doc": "d", "score": 1.0}])] == ["run"]


def test_two_systems_of_one_name_are_refused():
    with pytest.raises(InputError, match="two runs are called 'run'"):
        open_runs([{"1": {"d": 1.0}}, {"1": {"d": 2.0}}])


def test_no_run_is_refused():
    with pytest.raises(InputError, match="there is no run"):
        open_runs([])


def test_lines_of_topic_document_and_rank(tmp_path):
    path = tmp_path / "ms.tsv"
    path.write_text("7\ta\t1\n7\tb\t2\n8\tc\t1\n")
    with pytest.warns(JudgewellWarning, match="read as topic, document and rank"):
        (run,) = open_runs(str(path))
    assert run.system == "ms"
    assert run.frame().select("topic", "doc", "score").rows() == [
        ("7", "a", -1),
        ("7", "b", -2),
        ("8", "c", -1),
    ]
    path.write_text("7\ta\t5.5\n7\tb\t2\n")
    with pytest.raises(InputError, match=r"ms.tsv:1: .*the third does not count.*names them: topic doc score"):
        open_runs(str(path))
    path.write_text("topic doc score\n7 a 5.5\n7 b 2\n")  # the cure
    assert open_runs(str(path))[0].frame()["score"].to_list() == [5.5, 2]


def test_a_table_with_ranks_alone_and_text_in_utf16(tmp_path):
    path = tmp_path / "ranks.csv"
    path.write_text("qid,docno,rank\n7,a,2\n7,b,1\n")
    with pytest.warns(JudgewellWarning, match="there are no scores; documents are ranked by the column rank"):
        assert open_runs(str(path))[0].frame()["score"].to_list() == [-2, -1]
    path.write_bytes("7 Q0 a 1 2.5 bm25\n".encode("utf-16"))
    assert open_runs(str(path.rename(tmp_path / "a.run")))[0].system == "bm25"


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (b"7z\xbc\xaf", "a 7-Zip archive; unpack it first"),
        (b"\xd0\xcf\x11\xe0", "an Excel workbook; save it as CSV"),
    ],
)
def test_what_other_programs_packed_is_named(tmp_path, start, said):
    path = tmp_path / "a.run"
    path.write_bytes(start + b"\x00" * 20)
    with pytest.raises(InputError, match=f"a.run: this is {said}"):
        open_runs(str(path))


def test_a_cut_is_always_between_two_topics_and_the_same_whoever_asks():
    rng = random.Random(3)
    topics = [f"q{n}" for n in range(30) for _ in range(rng.choice([1, 2, 50, 400]))]
    rows = [f"{topic} Q0 {'d' * rng.randint(1, 30)} 1 1 t\n" for topic in topics]
    rows[10:10] = ["# a comment\n", "\n"]
    data = "".join(rows).encode()
    starts = [0, *itertools.accumulate(map(len, rows))]
    changes = {starts[at] for at in range(1, len(rows)) if rows[at].split()[:1] != rows[at - 1].split()[:1]}
    for at in range(0, len(data), 37):
        cut = next_topic(data, at)
        assert cut > at
        assert cut == len(data) or cut in changes
    assert next_topic(b"1 Q0 a 1 1 t\r1 Q0 b 2 1 t\r2 Q0 c 1 1 t\r", 5) == 39  # no line feed, no cut


def test_a_first_line_of_any_length_is_read(tmp_path):
    long = "d" * 100_000
    text = f"1 Q0 {long} 1 3 tag\n1 Q0 b 2 2 tag\n"
    for name, data in {"a.run": text.encode(), "a.run.gz": gzip.compress(text.encode())}.items():
        (tmp_path / name).write_bytes(data)
        (run,) = open_runs(tmp_path / name)
        assert run.system == "tag"
        assert run.frame()["doc"].to_list() == [long, "b"]
    (tmp_path / "b.run").write_text("#" * 70_000 + f"\n\n1 Q0 {long} 1 3 other\n")
    assert open_runs(tmp_path / "b.run")[0].system == "other"


def test_a_run_whose_rank_and_score_are_swapped_is_refused(tmp_path):
    path = tmp_path / "a.run"
    path.write_text("1 Q0 a 9.5 1 x\n1 Q0 b 8.25 2 x\n1 Q0 c 7 3 x\n")
    with pytest.raises(InputError, match=r"a.run: rank and score are swapped: ranks fall from 9.5"):
        open_runs(path)
    path.write_text("1 Q0 a 1 1 x\n1 Q0 b 2 2 x\n1 Q0 c 3 3 x\n")
    assert len(open_runs(path)) == 1


def test_scores_that_count_like_ranks_are_noted(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("qid,docno,score\n1,a,1\n1,b,2\n2,a,1\n")
    with pytest.warns(JudgewellWarning, match="the scores count 1, 2, 3, … as ranks do"):
        open_runs(path)
    with pytest.warns(JudgewellWarning, match="there are no scores; documents are ranked by the column rank"):
        run = open_runs(path, {"rank": "score"})[0]
    assert run.frame()["score"].to_list() == [-1, -2, -1]


def test_rows_and_streams_of_other_tools(tmp_path):
    rows = [ir_measures.ScoredDoc("q", "a", 2.0), ir_measures.ScoredDoc("q", "b", 1.0)]
    terrier = [{"qid": "q", "docno": "a", "score": 2.0}, {"qid": "q", "docno": "b", "score": 1.0}]

    (tmp_path / "a.run").write_text("q Q0 a 1 2.0 s\nq Q0 b 2 1.0 s\n")
    dataset = ir_datasets.Dataset(TrecScoredDocs(LocalDownload(tmp_path / "a.run")))
    table = pyarrow.table({"qid": ["q", "q"], "docno": ["a", "b"], "score": [2.0, 1.0]})
    for data in (
        rows,
        iter(rows),
        terrier,
        dataset,
        table,
        {"s": rows},
        {"s": iter(rows)},
        {"s": dataset},
        {"s": table},
    ):
        run = open_runs(data)[0]
        assert run.frame().select("topic", "doc", "score").rows() == [("q", "a", 2.0), ("q", "b", 1.0)]
    assert [run.system for run in open_runs({"s": rows, "t": rows})] == ["s", "t"]


def test_a_run_without_q0_is_read_with_a_note(tmp_path):
    path = tmp_path / "a.run"
    path.write_text("1 d1 1 2.5e0 mine\n1 d2 2 1.5e0 mine\n2 d1 1 0.5 mine\n")
    with pytest.warns(JudgewellWarning, match="five fields are read as topic, document, rank, score and tag"):
        (run,) = open_runs(path)
    assert run.system == "mine"
    assert run.frame().select("topic", "doc", "score").rows() == [("1", "d1", 2.5), ("1", "d2", 1.5), ("2", "d1", 0.5)]
    path.write_text("1 Q0 d1 1 2.5\n")
    assert open_runs(path)[0].frame().select("doc", "score").rows() == [("d1", 2.5)]
    path.write_text("1 d1 7 2.5 mine\n1 d2 9 2.5 mine\n")
    with pytest.raises(InputError, match="five fields, and the third does not count"):
        open_runs(path)


def test_parts_of_nested_json_hold_a_run(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text('{"qid": "1", "hits": [{"id": "a", "s": 2.5}, {"id": "b", "s": 1}]}\n')
    (run,) = open_runs(path, {"doc": "hits.id", "score": "hits.s"})
    assert run.frame().select("topic", "doc", "score").rows() == [("1", "a", 2.5), ("1", "b", 1)]
