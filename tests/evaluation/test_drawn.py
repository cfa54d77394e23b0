"""Gains with inclusion probabilities: sums of gains are divided by them, other measures get a note."""

import numpy as np
import polars as pl
import pytest

from judgewell import compare, evaluate
from judgewell.errors import JudgewellWarning

RUN = pl.DataFrame(
    {"system": ["A"] * 3 + ["B"] * 3, "topic": ["1"] * 6, "doc": list("abc") + list("cab"), "score": [3.0, 2, 1] * 2}
)
TRUE = {"a": 3.0, "b": 2.0, "c": 1.0}
CHANCE = {"a": 1.0, "b": 0.5, "c": 0.25}


def drawn(docs):
    rows = [("1", doc, TRUE[doc], CHANCE[doc]) for doc in docs]
    return pl.DataFrame(rows, ["topic", "doc", "gain", "inclusion"], orient="row")


def dcg(docs, order):
    return sum(TRUE[doc] / CHANCE[doc] / np.log2(rank + 1) for rank, doc in enumerate(order, 1) if doc in docs)


def test_dcg_over_all_samples_is_the_true_one():
    mean = 0.0
    for b in (False, True):
        for c in (False, True):
            docs = "a" + "b" * b + "c" * c
            chance = 0.5 * (0.25 if c else 0.75)
            if docs == "a":
                score = 3.0
            else:
                with pytest.warns(JudgewellWarning, match="divided by the probability"):
                    score = evaluate(RUN, drawn(docs), "DCG@3").filter(pl.col("system") == "A")["value"].item()
            assert score == pytest.approx(dcg(docs, "abc"))
            mean += chance * score
    assert mean == pytest.approx(3 + 2 / np.log2(3) + 1 / 2)


def test_other_measures_take_gains_as_they_are_with_a_note():
    with pytest.warns(JudgewellWarning, match=r"2 documents were drawn .* and nDCG@3 is not a sum of gains"):
        scores = evaluate(RUN, drawn("abc"), "nDCG@3")
    plain = evaluate(RUN, drawn("abc").drop("inclusion"), "nDCG@3")
    assert scores["value"].to_list() == plain["value"].to_list()


def test_compare_divides_too():
    with pytest.warns(JudgewellWarning, match="divided by the probability"):
        systems = compare(runs=RUN, gains={"people": drawn("abc")}, measure="DCG@3")["systems"]
    means = dict(systems.select("system", "mean").iter_rows())
    assert means == pytest.approx({"A": dcg("abc", "abc"), "B": dcg("abc", "cab")})
