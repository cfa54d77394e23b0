"""Combination: a geometric mean of what all tables know."""

from __future__ import annotations

import polars as pl
import pytest

from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.scaling.combine import Combined, combine
from judgewell.scaling.preference import Preference, Relevance
from judgewell.scaling.ratio import Ratio


def gains(**worth: float) -> pl.DataFrame:
    return pl.DataFrame({"topic": ["t"] * len(worth), "doc": list(worth), "gain": list(worth.values())})


def test_each_is_divided_by_its_topics_maximum_first() -> None:
    both = combine([gains(a=8.0, b=2.0), gains(a=0.5, b=0.5)])
    assert both["gain"].to_list() == pytest.approx([1.0, 0.5])
    before = combine([gains(a=8.0, b=2.0), gains(a=0.25, b=0.5)], scaled=False)
    assert before["gain"].to_list() == pytest.approx([1.0, 0.5**0.5])


def test_a_zero_in_one_makes_zero() -> None:
    assert combine([gains(a=0.0, b=1.0), gains(a=1.0, b=1.0)])["gain"].to_list() == [0.0, 1.0]
    assert combine([gains(a=0.0), gains(a=1.0)])["gain"].to_list() == [0.0]


def test_documents_missing_from_a_table_are_left_out_and_told() -> None:
    with pytest.warns(JudgewellWarning, match=r"1 of 2 documents lack a gain.*topic t, document b"):
        assert combine([gains(a=1.0, b=1.0), gains(a=1.0)])["doc"].to_list() == ["a"]
    with pytest.raises(DataError, match=r"no document is in all"):
        combine([gains(a=1.0), gains(b=1.0)])


def test_one_table_or_negative_gains_are_refused() -> None:
    with pytest.raises(InputError, match=r"1 gains table cannot be combined"):
        combine([gains(a=1.0)])
    with pytest.raises(InputError, match=r"gain -1 is below 0 .topic t, document a"):
        combine([gains(a=-1.0), gains(a=1.0)])


PAIRS = pl.DataFrame(
    {
        "topic": ["t"] * 3,
        "left": ["a", "b", "a"],
        "right": ["b", "c", "c"],
        "preferred": ["left", "left", "right"],
        "left_relevant": [True, True, False],
        "right_relevant": [True, False, True],
        "left_score": [9.0, 4.0, 0.0],
        "right_score": [5.0, 0.0, 1.0],
    }
)


def test_the_method_combines_the_three_questions() -> None:
    parts = [method(PAIRS) for method in (Preference(), Relevance(), Ratio())]
    assert Combined()(PAIRS).equals(combine(parts))
    two = Combined(of=("preference", "ratio"))(PAIRS)
    assert two.equals(combine([parts[0], parts[2]]))


def test_what_is_combined_must_be_known_and_more_than_one() -> None:
    with pytest.raises(InputError, match=r"of=preference;taste is not possible"):
        Combined(of=("preference", "taste"))
    with pytest.raises(InputError, match=r"name two or more"):
        Combined(of=("preference",))
