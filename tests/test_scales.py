"""Kinds of numbers: what they allow, how they are written, and how a table without one gets it."""

from __future__ import annotations

import warnings

import polars as pl
import pytest

from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.formats.judgments import read_judgments
from judgewell.scales import BY_SCALE, MEANINGS, Kind, infer, kind_of, odd_value
from judgewell.scaling.methods import methods
from judgewell.study.questions import SCALES
from judgewell.tables import JUDGMENTS, check


@pytest.mark.parametrize("text", ["ratio", "interval", "ordinal", "nominal", "interval:0..100", "ratio:0..7.5"])
def test_a_kind_prints_and_parses_back(text: str) -> None:
    assert str(Kind.parse(text)) == text
    assert Kind.parse(f" {text.upper()} ") == Kind.parse(text)


@pytest.mark.parametrize(
    "text", ["", "rational", "ratio:", "interval:1..", "interval:5..5", "ratio:-1..3", "interval:a..b"]
)
def test_what_is_no_kind_is_refused_with_what_can_be_written(text: str) -> None:
    with pytest.raises(InputError, match=r"write ratio, interval|low end of at least 0"):
        Kind.parse(text)


def test_ends_belong_to_every_scale_but_a_ratio_scale() -> None:
    assert Kind("interval", 0, 100).holds(0)
    assert not Kind("ratio", 0, 100).holds(0)
    assert not Kind("ratio", 0, 100).holds(100)
    assert not Kind("ratio").holds(0)
    assert Kind("interval").holds(-3)
    assert not Kind("interval").holds(float("nan"))


def test_every_kind_has_a_method_that_is_there() -> None:
    assert {meaning.method for meaning in MEANINGS.values()} <= set(methods())


def test_every_question_scale_says_what_its_numbers_mean() -> None:
    assert {name: make().numbers for name, make in SCALES.items()} == {
        name: kind for name, kind in BY_SCALE.items() if name in SCALES
    }


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 1, 1], "nominal"),
        ([0, 1, 3], "ordinal"),
        ([-1, 0, 2], "ordinal"),
        ([0, 0.5, 1], "interval:0..1"),
        ([0, 37, 80], "interval:0..100"),
        ([5, 37, 100], "interval:0..100"),
        ([0, 1.67, 2], "interval"),
        ([1, 1.33, 1.67, 2, 2.33, 2.67, 3] * 2, "interval"),  # means of three grades
        ([1, 1.33, 1.67, 2, 2.33, 2.67, 3], "ratio"),
        ([0.5, 2.5, 11] * 2, "ratio"),
        ([0.5, 37, 1000], "ratio"),
        ([5, 30, 250], "ratio"),
        ([-0.5, 37, 1000], "interval"),
        ([], "interval"),
    ],
)
def test_values_suggest_a_kind(values: list[float], kind: str) -> None:
    assert str(infer(pl.Series(values, dtype=pl.Float64))[0]) == kind


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ([-2, 0, 1, 2], "--words '-2='"),  # -2 for a page that did not load
        ([-2, -1, 0, 1], "--words '-2=,-1='"),
        ([-1, 30, 150, 7.5], "--words '-1='"),
        ([-2, -1, 0, 1, 2], None),  # a scale from dislike to like
        ([-0.5, 0.3], None),
        ([0, 1, 2], None),
    ],
)
def test_values_below_0_that_look_like_codes_are_named(values, rule):
    reason = infer(pl.Series(values, dtype=pl.Float64))[1]
    assert rule in reason if rule else "--words" not in reason


@pytest.mark.parametrize(
    ("values", "odd"),
    [
        ([*[0, 1, 2] * 20, 99], (60, "60 of 61 are 0 to 2")),
        ([*[0, 1, 2] * 20, -999], (60, "60 of 61 are 0 to 2")),
        ([-9.5, *[1, 2, 3, 4, 5] * 10], (0, "50 of 51 are 1 to 5")),
        ([*range(0, 101, 2), 1000], (51, "51 of 52 are 0 to 100")),
        ([*[0, 1, 2] * 20, -1], None),  # still grades
        ([*range(1, 21), 24, 30], None),  # too near to be odd
        ([*[1, 2, 5, 10] * 10, 50, 100], None),  # two of 42: magnitudes
        ([0, 1, 99], None),  # too few to say what the others are
    ],
)
def test_one_value_off_the_scale_of_the_others_is_found(values: list[float], odd: tuple[int, str] | None) -> None:
    assert odd_value(pl.Series(values, dtype=pl.Float64)) == odd


def test_a_scale_of_ours_decides_by_its_name_without_a_note() -> None:
    rows = {"topic": ["t"] * 2, "doc": ["a", "b"], "value": [1.0, 3.0], "scale": ["magnitude"] * 2}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kind_of(check(rows, JUDGMENTS)) == Kind("ratio")


def test_a_foreign_table_gets_a_kind_once_with_a_note_and_keeps_it() -> None:
    rows = {"topic": ["t"] * 2, "doc": ["a", "b"], "value": [1.0, 3.0]}
    with pytest.warns(JudgewellWarning, match=r"read as ordinal, because they are few whole numbers \(1 to 3\)"):
        table = check(rows, JUDGMENTS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check(table, JUDGMENTS)["kind"].to_list() == ["ordinal", "ordinal"]


def test_a_named_scale_means_what_the_column_kind_says() -> None:
    """The name of a scale changes nothing."""
    rows = {"topic": ["t"] * 2, "doc": ["a", "b"], "value": [1.0, 3.0], "kind": ["ratio"] * 2}
    for scale in ("usefulness", "s100", None):
        assert kind_of(check({**rows, "scale": [scale] * 2}, JUDGMENTS)) == Kind("ratio")


def test_two_kinds_on_one_scale_are_refused_and_two_scales_are_not() -> None:
    rows = {"topic": ["t"] * 2, "doc": ["a", "b"], "value": [1.0, 3.0], "kind": ["ratio", "ordinal"]}
    with pytest.raises(InputError, match="the scale one holds values of the kinds ordinal and ratio"):
        check({**rows, "scale": ["one", "one"]}, JUDGMENTS)
    table = check({**rows, "scale": ["one", "two"]}, JUDGMENTS)
    with pytest.raises(DataError, match=r"mix the scales one \(ratio\), two \(ordinal\).*--where scale=one"):
        kind_of(table)


def test_several_files_get_one_kind_and_a_reader_can_be_told(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "b1.csv").write_text("topic,doc,assessor,value\nt,a,x,0\nt,b,x,1\n")
    (tmp_path / "b2.csv").write_text("topic,doc,assessor,value\nt,a,y,3\nt,b,y,1\n")
    with pytest.warns(JudgewellWarning, match="read as ordinal"):
        table = read_judgments(tmp_path / "b*.csv")
    assert table["kind"].unique().to_list() == ["ordinal"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kind_of(read_judgments(tmp_path / "b2.csv", kind="interval:0..3")) == Kind("interval", 0, 3)


def test_a_column_kind_that_holds_something_else_is_refused_with_the_cure() -> None:
    rows = {"topic": ["t"], "doc": ["a"], "value": [1.0], "kind": ["navigational"]}
    with pytest.raises(InputError, match=r"column kind says what values mean.*'navigational'.*rename the column"):
        check(rows, JUDGMENTS)
