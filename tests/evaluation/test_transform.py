"""Gains transformed before measuring."""

import polars as pl
import pytest

from judgewell.errors import DataError, InputError
from judgewell.evaluation.transform import parse_transform

GAINS = pl.DataFrame({"topic": ["1", "1", "2"], "doc": ["a", "b", "a"], "gain": [0.0, 3.0, 2.0]})


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("exp2", [0, 7, 3]),
        ("binary(2)", [0, 1, 1]),
        ("binary(2.5)", [0, 1, 0]),
        ("unit", [0, 1, 2 / 3]),
        ("unit(topic)", [0, 1, 1]),
        ("unit('topic')", [0, 1, 1]),
        ("unit(4)", [0, 0.75, 0.5]),
        ("0=0,2=0.3,3=1", [0, 1, 0.3]),
    ],
)
def test_each_transform(text, result):
    assert parse_transform(text)(GAINS)["gain"].to_list() == pytest.approx(result)


@pytest.mark.parametrize("text", ["", "exp3", "exp2(3)", "binary", "binary(x)", "unit(x)", "0=a", "1=2,1=3", "=1"])
def test_what_is_no_transform_is_said(text):
    with pytest.raises(InputError):
        parse_transform(text)


def test_a_level_that_the_table_does_not_name_is_refused_not_zeroed():
    with pytest.raises(DataError, match="topic 2, document a: grade 2 is not in the table"):
        parse_transform("0=0,3=1")(GAINS)


def test_dividing_by_less_than_the_largest_is_refused():
    with pytest.raises(DataError, match=r"the gain 3 is above 2"):
        parse_transform("unit(2)")(GAINS)


def test_a_topic_of_zeros_stays_at_zero():
    frame = pl.DataFrame({"topic": ["1"], "doc": ["a"], "gain": [0.0]})
    assert parse_transform("unit(topic)")(frame)["gain"].to_list() == [0.0]
