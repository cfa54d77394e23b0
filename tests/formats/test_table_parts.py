"""CSV and Parquet runs are read in parts: the same rows, whole topics, the same errors."""

import gzip
import pickle
import sys
import tempfile

import polars as pl
import pytest

from judgewell.errors import InputError
from judgewell.evaluation.evaluate import evaluate
from judgewell.formats import table_parts
from judgewell.formats.frames import are_json_lines
from judgewell.formats.runs import open_runs
from judgewell.formats.table_parts import ParquetRows, TablePart, TextRows

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(table_parts, "SMALL", 0)
    monkeypatch.setattr(TextRows, "size", 400)
    monkeypatch.setattr(ParquetRows, "size", 50)


def table(systems, topics=20, depth=7):
    rows = [
        {"system": system, "topic": f"q{topic}", "doc": f"d{(doc * 7 + len(system)) % 50}", "score": 9.5 - doc}
        for system in systems
        for topic in range(topics)
        for doc in range(depth)
    ]
    return pl.DataFrame(rows)


def written(frame, path):
    kind, packed = (path.suffixes[0], path.suffixes[1:])
    if kind == ".parquet":
        frame.write_parquet(path, row_group_size=60)
        return path
    if kind == ".jsonl":
        data = frame.write_ndjson().encode()
    else:
        data = frame.write_csv(separator="\t" if kind == ".tsv" else ",").encode()
    if packed:
        pack = {".gz": gzip.compress, ".zst": zstd.compress}[packed[0]]
        data = pack(data[:500]) + pack(data[500:])  # two members
    path.write_bytes(data)
    return path


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.parquet", "a.jsonl", "a.csv.gz", "a.tsv.zst", "a.jsonl.gz"])
@pytest.mark.parametrize("systems", [["s1"], ["s1", "system2", "third"]])
def test_parts_hold_whole_topics_and_all_rows(tmp_path, name, systems):
    frame = table(systems)
    runs = open_runs(written(frame, tmp_path / name))
    assert [run.system for run in runs] == systems
    for run in runs:
        assert len(run.parts) > 1
        assert all(isinstance(part, TablePart) for part in run.parts)
        pieces = [part.frame()["topic"].unique().to_list() for part in run.parts]
        assert sorted(topic for piece in pieces for topic in piece) == sorted(f"q{topic}" for topic in range(20))
        mine = frame.filter(pl.col("system") == run.system)
        assert run.frame().select("system", "topic", "doc", "score").equals(mine)
        assert run.whole().frame().equals(run.frame())
        assert pickle.loads(pickle.dumps(run)).frame().equals(run.frame())


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl", "a.csv.gz"])
@pytest.mark.parametrize("shape", ["by system", "by topic", "shuffled"])
def test_scores_are_those_of_the_whole_table_whatever_its_order(tmp_path, monkeypatch, name, shape):
    frame = table(["s1", "system2"])
    frame = {"by system": frame, "by topic": frame.sort("topic", maintain_order=True)}.get(
        shape, frame.sample(fraction=1, shuffle=True, seed=3)
    )
    gains = {f"q{topic}": {"d2": 1.0, "d9": 0.5, "d30": 0.7} for topic in range(20)}
    path = written(frame, tmp_path / name)
    found = evaluate(path, gains, ["nDCG@5", "RBP(p=0.8)"])
    expected = evaluate(frame, gains, ["nDCG@5", "RBP(p=0.8)"])
    assert found.sort("system", "topic", "measure").equals(expected.sort("system", "topic", "measure"))


@pytest.mark.usefixtures("small_parts")
def test_other_names_no_newline_at_the_end_and_a_byte_order_mark(tmp_path):
    path = tmp_path / "mine.csv"
    text = table(["x"]).drop("system").rename({"topic": "qid", "doc": "docno"}).write_csv()
    path.write_bytes(b"\xef\xbb\xbf" + text.rstrip("\n").encode())
    (run,) = open_runs(path)
    assert run.system == "mine"
    assert isinstance(run.parts[0], TablePart)
    assert run.frame().height == 140


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("s1,q3,d1,high", r"a\.csv:102: score 'high' is not a number"),
        ("s1,q3,d1", r"a\.csv:102: this line has 3 fields"),
        ("s1,q3,d1,nan", r"a\.csv:102: score nan is not a number"),
        ('s1,"q3,d1,1', r"a\.csv:102: the quotes of this line do not close"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, line, said):
    lines = table(["s1"]).write_csv().splitlines()
    lines[101] = line
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=said):
        open_runs(tmp_path / "a.csv")


@pytest.mark.usefixtures("small_parts")
def test_a_document_twice_in_a_topic_is_said_with_its_line(tmp_path):
    lines = table(["s1"]).write_csv().splitlines()
    lines.insert(104, lines[103])
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=r"a\.csv:105: .* appears twice"):
        open_runs(tmp_path / "a.csv")[0].frame()


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_quotes_that_hold_separators_quotes_and_line_ends_are_read_in_parts(tmp_path, name):
    frame = table(["s1"]).with_columns(doc=pl.col("doc") + ',\n"x"\n')
    run = open_runs(written(frame, tmp_path / name))[0]
    assert len(run.parts) == 7
    assert max(len(part.frame()) for part in run.parts) < len(frame) / 5
    assert run.frame().select("system", "topic", "doc", "score").equals(frame)


@pytest.mark.usefixtures("small_parts")
def test_a_quote_that_does_not_close_is_reported_with_its_line(tmp_path):
    lines = table(["s1"]).write_csv().splitlines()
    lines[70] = lines[70].replace(",d", ',"d')
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=r"a\.csv:71: "):
        open_runs(tmp_path / "a.csv")


@pytest.mark.usefixtures("small_parts")
def test_an_error_in_a_compressed_file_names_that_file_and_its_line(tmp_path):
    frame = table(["s1"]).with_columns(score=pl.col("score").cast(pl.String))
    frame = frame.with_columns(score=pl.when(pl.int_range(pl.len()) == 99).then(pl.lit("high")).otherwise("score"))
    with pytest.raises(InputError, match=r"a\.csv\.gz:101: .*high"):
        open_runs(written(frame, tmp_path / "a.csv.gz"))[0].frame()


@pytest.mark.usefixtures("small_parts")
def test_the_copy_of_a_compressed_file_is_removed_after_use(tmp_path, monkeypatch):
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(copies))
    runs = open_runs(written(table(["s1", "s2"]), tmp_path / "a.csv.gz"))
    assert len(list(copies.iterdir())) == 1
    assert len(runs[1].frame()) == 140
    del runs
    assert not list(copies.iterdir())


@pytest.mark.parametrize(
    "text",
    ['{"q1": {"a": 1.5}}\n', '{\n"q1": {"a": 1.5}}\n', '[{"topic": "q1", "doc": "a", "score": 1.5}]\n'],
)
def test_json_that_is_one_value_is_no_json_lines(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    assert not are_json_lines(text.encode())
    assert open_runs(tmp_path / "a.json")[0].frame().select("topic", "doc", "score").rows() == [("q1", "a", 1.5)]
