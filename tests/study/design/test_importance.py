"""The documents that people judge beside a machine's labels."""

import polars as pl
import pytest

from judgewell.errors import InputError
from judgewell.formats.runs import open_runs
from judgewell.study.design.importance import draw, population


def runs(rows):
    return open_runs(pl.DataFrame(rows, schema=["system", "topic", "doc", "score"], orient="row"))


def test_importance_is_the_root_mean_square_of_the_weights_over_systems():
    both = runs([("s1", "1", "a", 2.0), ("s1", "1", "b", 1.0), ("s2", "1", "a", 1.0), ("s2", "2", "x", 1.0)])
    labels = pl.DataFrame({"topic": ["1", "1"], "doc": ["a", "c"], "gain": [3.0, 0.0]})
    with pytest.warns(UserWarning, match="1 of 3 documents have no machine label"):
        whole = population(both, labels)
    assert whole.select("doc", "label", "systems").rows() == [("a", 3.0, 2), ("b", None, 1), ("c", 0.0, 0)]
    second = 1 / 1.584962500721156
    assert whole["importance"].to_list() == pytest.approx([1.0, (second**2 / 2) ** 0.5, 0.0])


def test_a_draw_is_the_same_again_and_other_topics_do_not_change_it():
    docs = pl.DataFrame({"topic": ["1"] * 30 + ["2"] * 30, "doc": [f"d{n:02d}" for n in range(60)]})
    docs = docs.with_columns(importance=1 / pl.int_range(1, 61).cast(pl.Float64))
    once = draw(docs, 20, seed=4)
    assert once.equals(draw(docs, 20, seed=4))
    assert not once.equals(draw(docs, 20, seed=5))
    assert once.filter(pl.col("topic") == "1").equals(draw(docs.filter(pl.col("topic") == "1"), 10, seed=4))
    with pytest.raises(InputError, match="from 6 to 60"):
        draw(docs, 5)
