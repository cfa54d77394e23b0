"""The five tables take what people have, and refuse what is wrong with the row, the value, the rule and the cure."""

import subprocess
import sys

import polars as pl
import pyarrow
import pytest

from judgewell import tables
from judgewell.errors import InputError
from judgewell.tables import GAINS, JUDGMENTS, PAIRS, RUNS, SCORES, check, named


def test_each_table_has_its_columns_in_order_and_nothing_else_said_twice():
    assert tables.TABLES == {"judgments": JUDGMENTS, "pairs": PAIRS, "gains": GAINS, "runs": RUNS, "scores": SCORES}
    assert SCORES.names == ["system", "topic", "measure", "value"]
    own = ["topic", "doc", "assessor", "unit", "position", "scale", "kind", "value", "seconds", "comment"]
    assert JUDGMENTS.names == own
    for table in tables.TABLES.values():
        assert len(set(table.names)) == len(table.names)
        assert set(table.key) <= set(table.required)


def test_a_dict_becomes_a_checked_table_with_missing_columns_filled_and_others_kept():
    frame = check({"doc": ["d1"], "topic": [7], "gain": [0.7], "source": ["nist"]}, GAINS)
    assert frame.columns == ["topic", "doc", "gain", "low", "high", "judgments", "source"]
    assert frame.schema["topic"] == pl.String
    assert frame.row(0) == ("7", "d1", 0.7, None, None, None, "nist")


def test_ids_stay_text():
    frame = check({"topic": ["001", "1"], "doc": ["0x1", "1e3"], "gain": ["1", "0"]}, GAINS)
    assert frame["topic"].to_list() == ["001", "1"]
    assert frame["doc"].to_list() == ["0x1", "1e3"]


def test_pandas_frames_come_in_with_pyterriers_names():
    pandas = pytest.importorskip("pandas")
    data = pandas.DataFrame({"qid": ["q1", "q1"], "docno": ["a", "b"], "label": [1, 0], "iteration": ["0", "0"]})
    frame = check(data, GAINS)
    assert frame.select("topic", "doc", "gain").rows() == [("q1", "a", 1.0), ("q1", "b", 0.0)]


def test_whole_ids_that_pandas_made_floats_lose_their_decimal_point():
    pandas = pytest.importorskip("pandas")
    data = pandas.DataFrame({"topic": [401.0, 402.0], "doc": ["a", "b"], "gain": [1, 0]})
    assert check(data, GAINS)["topic"].to_list() == ["401", "402"]


def test_columns_can_be_named_explicitly_and_win_over_guesses():
    data = {"qid": ["wrong"], "query": ["q1"], "doc": ["d"], "gain": [1]}
    assert check(data, GAINS, rename={"topic": "query"})["topic"].to_list() == ["q1"]
    with pytest.raises(InputError, match="no column 'nope' to read topic from"):
        check(data, GAINS, rename={"topic": "nope"})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"topic": ["1"], "doc": ["d"], "gain": ["abc"]}, r"row 1: gain 'abc' is not a number"),
        ({"topic": ["1"], "doc": ["d"], "gain": [float("nan")]}, r"row 1: gain nan is not a finite number .*topic 1"),
        ({"topic": ["1"], "doc": ["d"], "gain": [float("inf")]}, r"is not a finite number"),
        ({"topic": ["1", None], "doc": ["d", "e"], "gain": [1, 1]}, r"row 2: topic is missing"),
        ({"topic": ["1"], "doc": [""], "gain": [1]}, r"row 1: doc '' is empty"),
        ({"topic": ["1", "1"], "doc": [" a", "  "], "gain": [1, 1]}, r"row 2: doc '' is empty"),
        ({"topic": ["1"], "doc": ["d"]}, r"needs the column gain; this one has topic, doc"),
        (
            {"topic": ["1", "1"], "doc": ["d", "d"], "gain": [1, 2]},
            r"row 2: topic 1, doc d appears twice \(first in row 1",
        ),
        ({"topic": ["1"], "doc": ["d"], "gain": [1], "judgments": [-1]}, r"judgments -1 is below 0"),
        ({"topic": ["1"], "doc": ["d"], "gain": [1], "judgments": [1.5]}, r"judgments 1.5 is not a whole number"),
    ],
)
def test_bad_gains_are_refused_in_words(data, said):
    with pytest.raises(InputError, match=said):
        check(data, GAINS)


def test_a_preference_is_left_right_or_same():
    good = {"topic": ["1"], "left": ["a"], "right": ["b"], "preferred": ["same"], "left_relevant": ["yes"]}
    assert check(good, PAIRS)["left_relevant"].to_list() == [True]
    with pytest.raises(InputError, match=r"preferred 'a' is not one of left, right, same"):
        check({**good, "preferred": ["a"]}, PAIRS)
    with pytest.raises(InputError, match=r"left_relevant 'maybe' is not true or false"):
        check({**good, "left_relevant": ["maybe"]}, PAIRS)


def test_a_run_may_score_infinity_but_never_nan():
    run = {"system": ["s"], "topic": ["1"], "doc": ["d"], "score": [float("-inf")]}
    assert check(run, RUNS)["score"][0] == float("-inf")
    with pytest.raises(InputError, match="score nan is not a number"):
        check({**run, "score": [float("nan")]}, RUNS)


def test_what_is_no_table_is_refused():
    with pytest.raises(InputError, match="a table cannot be made from int"):
        check(3, GAINS)


def test_a_column_may_be_read_twice_and_a_turned_mapping_is_told():
    frame = {"topic": ["t"], "winner": ["a"], "loser": ["b"]}
    table = named(frame, PAIRS, {"left": "winner", "right": "loser", "unit": "winner"})
    assert table.select("left", "right", "unit").row(0) == ("a", "b", "a")
    with pytest.raises(InputError, match="no column qid in the gains; columns are named ours=theirs: topic=qid"):
        check({"topic": ["t"], "doc": ["a"], "gain": [1]}, GAINS, rename={"qid": "topic"})


def test_a_name_that_no_table_has_is_refused_with_the_one_it_resembles():
    with pytest.raises(InputError, match=r"there is no column valeu in the judgments; did you mean value=score\?"):
        named({"topic": ["t"], "doc": ["a"], "score": [1]}, JUDGMENTS, {"valeu": "score"})
    with pytest.raises(InputError, match="there is no column xyz in the gains; the columns are topic, doc, gain"):
        check({"topic": ["t"], "doc": ["a"], "gain": [1]}, GAINS, rename={"xyz": "score"})


def test_rows_of_ir_measures_and_ir_datasets_in_a_list_or_a_generator():
    ir_measures = pytest.importorskip("ir_measures")
    rows = [ir_measures.Qrel("q", "a", 2), ir_measures.Qrel("q", "b", 0)]
    for data in (rows, iter(rows), (row for row in rows)):
        assert check(data, GAINS).select("topic", "doc", "gain").rows() == [("q", "a", 2), ("q", "b", 0)]
    docs = (ir_measures.ScoredDoc("q", doc, score) for doc, score in (("a", 1.5), ("b", 0.5)))
    assert check(docs, RUNS, defaults={"system": "s"})["score"].to_list() == [1.5, 0.5]
    with pytest.raises(InputError, match="a table cannot be made from tuple; give a frame"):
        check([("q", "a", 1)], GAINS)


def test_anything_that_speaks_arrow_is_a_frame():
    columns = {"qid": ["q"], "docno": ["a"], "label": [1]}
    table = pyarrow.table(columns)
    frame = pl.DataFrame(columns)

    class Dataset:  # as Hugging Face has them
        def to_polars(self):
            return frame

    for data in (table, table.to_reader(), pyarrow.RecordBatch.from_pydict(columns), Dataset()):
        assert check(data, GAINS).select("topic", "doc", "gain").rows() == [("q", "a", 1)]


def test_duckdbs_relations_are_frames():
    """In a process of its own: DuckDB complains at the end of a process that a test has held it in."""
    code = """
import duckdb
from judgewell import evaluate
gains = duckdb.sql("select 'q' as qid, 'a' as docno, 1 as label")
runs = {"s": duckdb.sql("select 'q' as qid, unnest(['b', 'a']) as docno, unnest([2.0, 1.0]) as score")}
assert evaluate(runs, gains, "RR").rows() == [("s", "q", "RR", 0.5)]
"""
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr


def test_pyterriers_result_frames_have_names_for_systems():
    frame = {"name": ["BM25"], "qid": ["1"], "measure": ["map"], "value": [0.5]}
    assert check(frame, SCORES).row(0) == ("BM25", "1", "map", 0.5)


@pytest.mark.parametrize("wrong", ["0", "-0.1", "1.01", "many"])
def test_an_inclusion_probability_is_above_0_and_at_most_1(wrong):
    rows = {"topic": ["1", "1"], "doc": ["a", "b"], "gain": [1, 0], "inclusion": ["0.25", wrong]}
    with pytest.raises(InputError, match="inclusion"):
        check(rows, GAINS)
    fine = check(rows | {"inclusion": ["0.25", None]}, GAINS)
    assert fine["inclusion"].to_list() == [0.25, None]
