"""Scores as arrays: what is missing is said with counts, and nothing is intersected silently."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

from judgewell.comparison.scores import aligned, identical_systems, note_identical, score_array, system_number
from judgewell.errors import DataError, InputError, JudgewellWarning


def table(cells: dict[tuple[str, str], float], measure: str = "nDCG@10") -> pl.DataFrame:
    rows = [(system, topic, measure, value) for (system, topic), value in cells.items()]
    return pl.DataFrame(rows, schema=["system", "topic", "measure", "value"], orient="row")


FULL = {("b", "1"): 0.1, ("b", "2"): 0.2, ("a", "2"): 0.4, ("a", "1"): 0.3}


def test_systems_and_topics_in_the_order_of_their_names() -> None:
    found = score_array(table(FULL))
    assert (found.systems, found.topics, found.measure) == (("a", "b"), ("1", "2"), "nDCG@10")
    assert found.values.tolist() == [[0.3, 0.4], [0.1, 0.2]]
    assert found.of("b").tolist() == [0.1, 0.2]
    np.testing.assert_allclose(found.means, [0.35, 0.15])


def test_a_missing_score_is_an_error_with_counts_unless_told_what_to_do() -> None:
    gap = {key: value for key, value in FULL.items() if key != ("a", "2")}
    with pytest.raises(DataError, match=r"1 of 2 systems miss scores on 1 of 2 topics .*system a, topic 2"):
        score_array(table(gap))
    with pytest.warns(JudgewellWarning, match="count as 0"):
        assert score_array(table(gap), missing="zero").of("a").tolist() == [0.3, 0.0]
    with pytest.warns(JudgewellWarning, match="excluded"):
        assert score_array(table(gap), missing="drop").topics == ("1",)
    with pytest.raises(InputError, match="error, zero, drop"):
        score_array(table(gap), missing="skip")  # type: ignore[arg-type]


def test_one_measure_is_chosen() -> None:
    both = pl.concat([table(FULL), table(FULL, "ERR@10")])
    with pytest.raises(InputError, match="2 measures; name one or several with -m: nDCG@10, ERR@10"):
        score_array(both)
    assert score_array(both, "ERR@10").measure == "ERR@10"
    with pytest.raises(InputError, match="no scores of AP"):
        score_array(both, "AP")


def test_empty_scores() -> None:
    with pytest.raises(DataError, match="empty"):
        score_array(table(FULL).head(0))


def test_different_topics_are_an_error_or_a_warning_never_silent() -> None:
    one = score_array(table(FULL))
    other = score_array(table({**FULL, ("a", "3"): 0.5, ("b", "3"): 0.6}))
    with pytest.raises(DataError, match=r"same topics: one has 2, other has 3, 2 are in all \(not in all: 3\)"):
        aligned({"one": one, "other": other})
    with pytest.warns(JudgewellWarning, match="only the 2 shared topics count"):
        both = aligned({"one": one, "other": other}, common=True)
    assert both["other"].topics == ("1", "2")
    np.testing.assert_array_equal(both["one"].values, both["other"].values)


def test_different_systems_are_an_error_too() -> None:
    one, other = score_array(table(FULL)), score_array(table({("c", "1"): 0.1, ("c", "2"): 0.2}))
    with pytest.raises(DataError, match="no system is in all sets: one has a, other has c; check that all sets name"):
        aligned({"one": one, "other": other})
    with pytest.raises(DataError, match="no system is in all sets"):  # nothing in common is an error even so
        aligned({"one": one, "other": other}, common=True)


def test_same_sets_pass_without_a_word() -> None:
    one = score_array(table(FULL))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert aligned({"one": one, "other": one})["other"] is one


def test_identical_systems_are_told() -> None:
    found = score_array(table({("a", "1"): 0.1, ("b", "1"): 0.1, ("c", "1"): 0.2}))
    assert identical_systems(found) == [("a", "b")]
    with pytest.warns(JudgewellWarning, match="2 systems score the same as another on every topic"):
        note_identical(found)
    with pytest.raises(InputError, match="did you mean p_bm25\\? the systems are p_bm25, p_bm25rm3, colbert"):
        system_number(["colbert", "p_bm25", "p_bm25rm3"], "BM25")
    with pytest.raises(InputError, match="the systems are a, b, c"):
        found.of("d")
