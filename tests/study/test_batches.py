"""Units of batches: known documents in each, pairs that share a document in a row."""

import numpy as np
import polars as pl

from judgewell.study.design.batches import batch_pairs, batch_units

KNOWN = {"t": {"h": "H", "n": "N"}}


def test_every_unit_holds_the_known_documents_and_each_document_once():
    docs = pl.DataFrame({"topic": ["t"] * 7 + ["s"], "doc": [*"abcdefh", "z"]})
    made = batch_units(3, docs, KNOWN, 5, "s100", np.random.default_rng(1))
    assert made.units.select("unit", "topic", "size").rows() == [
        ("t-3.1", "t", 5),
        ("t-3.2", "t", 5),
        ("s-3.1", "s", 1),
    ]
    asked = made.documents.filter(pl.col("known").is_null())["doc"].to_list()
    assert sorted(asked) == [*"abcdef", "z"]
    known = made.documents.filter(pl.col("known").is_not_null()).group_by("unit").len()
    assert sorted(known.rows()) == [("t-3.1", 2), ("t-3.2", 2)]


def test_pairs_follow_each_other_by_a_document_that_keeps_its_side():
    pairs = [("t", "a", "b"), ("t", "b", "c"), ("t", "c", "d"), ("t", "d", "a")]
    made = batch_pairs(2, pairs, KNOWN, 6, np.random.default_rng(5)).pairs
    assert {frozenset(pair) for pair in made.select("left", "right").rows()} == {
        *(frozenset(pair[1:]) for pair in pairs),
        frozenset("hn"),
    }
    for before, after in zip(made.rows(named=True), made.rows(named=True)[1:], strict=False):
        shared = {before["left"], before["right"]} & {after["left"], after["right"]}
        for doc in shared:
            assert (before["left"] == doc) == (after["left"] == doc)
        changed = (after["left"] != before["left"]) + 2 * (after["right"] != before["right"])
        assert after["new"] == ("none", "left", "right", "both")[changed]
    (anchor,) = made.filter(pl.col("known").is_not_null()).rows(named=True)
    assert anchor[anchor["known"]] == "h"


def test_the_same_batch_gives_the_same_units():
    pairs = [("t", "a", "b"), ("t", "c", "d"), ("t", "a", "c")]
    one, other = (batch_pairs(1, pairs, KNOWN, 3, np.random.default_rng(9)).pairs for _ in range(2))
    assert one.equals(other)
