"""Pools, templates and double judging."""

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.study.design.chance import generator
from judgewell.study.design.pools import pool_list, pool_runs
from judgewell.study.design.second_judgments import plan_doubles
from judgewell.study.design.templates import documents_needed, fill_templates

GRADES = {grade: [f"{grade}{number}" for number in range(9)] for grade in "NMRH"}
PUBLISHED = ["NMRH", "HRMN", "NNNN", "MRMR"]


def runs(*rows):
    return pl.DataFrame(rows, schema=["system", "topic", "doc", "score"], orient="row")


def test_a_pool_is_what_some_system_ranks_high():
    frame = runs(
        ("s1", "t", "a", 3.0),
        ("s1", "t", "b", 2.0),
        ("s1", "t", "c", 1.0),
        ("s2", "t", "c", 9.0),
        ("s2", "t", "d", 9.0),
    )
    assert pool_runs(frame, 1).rows() == [("t", "a", 1, 1), ("t", "d", 1, 1)]  # ties go to the larger id
    assert pool_runs(frame, 2)["doc"].to_list() == ["a", "b", "c", "d"]
    assert pool_runs(frame, 3).filter(doc="c").rows() == [("t", "c", 2, 2)]
    with pytest.raises(InputError):
        pool_runs(frame, 0)


def test_a_ready_list_holds_each_document_once():
    listed = pl.DataFrame({"topic": [2, 1], "doc": ["a", "b"]})
    assert pool_list(listed).rows() == [("1", "b"), ("2", "a")]
    with pytest.raises(DataError, match="topic 2: document a is in the list twice"):
        pool_list(pl.concat([listed, listed[:1]]))


def test_the_published_pattern_of_documents_comes_out():
    filled = fill_templates(PUBLISHED, GRADES, generator(1), documents={"H": 1, "R": 3, "M": 3, "N": 4})
    used = {doc for docs in filled.values() for doc in docs}
    assert Counter(doc[0] for doc in used) == {"H": 1, "R": 3, "M": 3, "N": 4}
    assert filled["NMRH"] == filled["HRMN"][::-1]
    assert not set(filled["MRMR"]) & set(filled["NMRH"])
    assert filled["NMRH"][0] in filled["NNNN"]


@given(st.lists(st.text("NMRH", min_size=1, max_size=6), min_size=1, max_size=5, unique=True), st.integers(0, 999))
def test_every_slot_has_its_grade_and_the_fewest_documents_are_used(templates, seed):
    filled = fill_templates(templates, GRADES, generator(seed))
    for template, docs in filled.items():
        assert "".join(doc[0] for doc in docs) == template
        assert len(set(docs)) == len(docs)
    used = Counter(doc[0] for doc in {doc for docs in filled.values() for doc in docs})
    assert dict(used) == documents_needed(templates)


def test_templates_that_cannot_be_filled_are_refused():
    with pytest.raises(DataError, match="topic 7: 1 documents are known at grade H, 2 are needed"):
        fill_templates(["HH"], {"H": ["x"]}, generator(1), topic="7")
    for templates, documents in (([], {}), (["NM", "NM"], {}), (["NM"], {"H": 1}), (["NN"], {"N": 1})):
        with pytest.raises(InputError):
            fill_templates(templates, GRADES, generator(1), documents=documents)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.floats(0.01, 1), st.integers(0, 99))
def test_a_share_of_every_topic_is_judged_twice(sizes, share, seed):
    pool = pl.DataFrame(
        [(f"t{topic}", f"d{doc}") for topic, size in enumerate(sizes) for doc in range(size)],
        schema=["topic", "doc"],
        orient="row",
    )
    chosen = plan_doubles(pool, share=share, seed=seed)
    assert not chosen.is_duplicated().any()
    assert chosen.join(pool, on=["topic", "doc"], how="anti").is_empty()
    for topic, size in enumerate(sizes):
        count = len(chosen.filter(topic=f"t{topic}"))
        assert size * share <= count + 1e-6 < size * share + 1 + 1e-5
    assert chosen.equals(plan_doubles(pool, share=share, seed=seed))


def test_the_doubled_sample_looks_like_what_is_evaluated():
    pool = pl.DataFrame(
        {"topic": ["t"] * 40, "doc": [f"d{i}" for i in range(40)], "rank": range(1, 41), "grade": [0, 1] * 20}
    )
    shallow = plan_doubles(pool, share=1, seed=1, depth=10)
    assert set(shallow["doc"]) == {f"d{i}" for i in range(10)}
    with pytest.warns(JudgewellWarning, match=r"eq\. 4"):
        graded = plan_doubles(pool, share=1, seed=1, least_grade=1)
    assert set(graded["doc"]) == {f"d{i}" for i in range(1, 40, 2)}
    with pytest.raises(DataError, match="no document is left"), pytest.warns(JudgewellWarning):
        plan_doubles(pool, share=1, seed=1, least_grade=5)
    with pytest.raises(InputError):
        plan_doubles(pool, share=0, seed=1)
    with pytest.raises(InputError, match="depth needs a column rank"):
        plan_doubles(pool.drop("rank"), share=1, seed=1, depth=3)


def test_adding_a_topic_changes_nothing_for_the_others():
    pool = pl.DataFrame({"topic": ["a"] * 30 + ["b"] * 30, "doc": [str(i) for i in range(30)] * 2})
    alone = plan_doubles(pool.filter(topic="b"), share=0.3, seed=4)
    assert plan_doubles(pool, share=0.3, seed=4).filter(topic="b").equals(alone)
