"""What was typed becomes a number in one place, or is refused in words an assessor understands."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.errors import InputError
from judgewell.scales import Kind
from judgewell.study.questions import (
    PAIR_QUESTIONS,
    S100,
    SCALES,
    Absolute,
    Binary,
    Bounded,
    Grade,
    Magnitude,
    Ordinal,
    Preference,
    Ratio,
    Scale,
    pair_questions,
)
from judgewell.study.texts import catalogue, english
from judgewell.study.typed_numbers import Refused, read_number, shown


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("12", 12),
        (" 12 ", 12),
        ("\u00a012\t", 12),
        ("1e3", 1000),
        ("2.5E-2", 0.025),
        ("0,5", 0.5),
        ("0.5", 0.5),
        (".5", 0.5),
        (",5", 0.5),
        ("5.", 5),
        ("+7", 7),
        ("-7", -7),
        ("−7", -7),
        ("½", 0.5),
        ("1½", 1.5),
        ("2 ¾", 2.75),
        ("3/4", 0.75),
        ("3 / 4", 0.75),
        ("1 1/2", 1.5),
        ("0.125", 0.125),
        ("0,125", 0.125),
        ("1.1250", 1.125),
        ("1000", 1000),
        ("1234.5", 1234.5),
        ("1,234,567", 1234567),
        ("1.234.567", 1234567),
        ("1,234.5", 1234.5),
        ("1.234,5", 1234.5),
        ("1.234.567,8", 1234567.8),
        ("١٢", 12),
        ("１２", 12),
        ("-0", 0),
    ],
)
def test_a_number_that_can_be_read_in_one_way_is_read(typed, value):
    assert read_number(typed) == value
    assert math.copysign(1, read_number(typed)) == math.copysign(1, value)


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("", "refused.empty"),
        ("   ", "refused.empty"),
        ("abc", "refused.not_a_number"),
        ("12abc", "refused.not_a_number"),
        ("1_000", "refused.not_a_number"),
        ("0x10", "refused.not_a_number"),
        ("5²", "refused.not_a_number"),
        ("1.2.3", "refused.not_a_number"),
        ("1,2,3", "refused.not_a_number"),
        ("1,000.000.000", "refused.not_a_number"),
        ("--5", "refused.not_a_number"),
        ("1/2/3", "refused.not_a_number"),
        ("=1+1", "refused.not_a_number"),
        ("10 20", "refused.several_numbers"),
        ("1 000", "refused.several_numbers"),
        ("1,000", "refused.unclear_separator"),
        ("1.000", "refused.unclear_separator"),
        ("12,125", "refused.unclear_separator"),
        ("50%", "refused.percent"),
        ("1/0", "refused.division_by_zero"),
        ("inf", "refused.not_finite"),
        ("-Infinity", "refused.not_finite"),
        ("NaN", "refused.not_finite"),
        ("∞", "refused.not_finite"),
        ("1e400", "refused.too_large"),
        ("1e-400", "refused.too_small"),
        ("9" * 20_000_000, "refused.too_long"),
    ],
)
def test_what_is_unclear_is_refused_with_the_reason(typed, key):
    with pytest.raises(Refused) as refusal:
        read_number(typed)
    assert refusal.value.key == key
    assert len(str(refusal.value)) < 250


def test_the_unclear_separator_is_answered_with_two_ways_out_that_work():
    for typed, decimal, thousands in (("1,000", 1, 1000), ("1.125", 1.125, 1125), ("2,500", 2.5, 2500)):
        with pytest.raises(Refused) as refusal:
            read_number(typed)
        assert read_number(str(refusal.value.values["as_thousands"])) == thousands
        assert read_number(str(refusal.value.values["longer"])) == decimal


def outcome(scale, typed):
    """The number read, or the key of the refusal."""
    try:
        return scale.read(typed)
    except Refused as refusal:
        return refusal.key


@given(st.floats(min_value=0, exclude_min=True, allow_infinity=False))
def test_any_finite_number_in_full_precision_comes_back_or_is_asked_back(value):
    assert outcome(Magnitude(), repr(value)) in (value, "refused.unclear_separator")
    assert Magnitude().allow(value) == value


@given(st.text(max_size=50))
def test_any_text_is_read_or_refused_never_anything_else(typed):
    for scale in (Magnitude(), Bounded(), S100(), Binary(), Ordinal()):
        result = outcome(scale, typed)
        assert result in english().texts if isinstance(result, str) else math.isfinite(result)


@pytest.mark.parametrize(
    ("scale", "good", "bad"),
    [
        (Magnitude(), ["0.0001", "1e300"], {"0": "not_positive", "-1": "not_positive"}),
        (Bounded(), ["0.0001", "99.9999"], {"0": "outside", "100": "outside", "-3": "outside"}),
        (S100(), ["0", "100", "57", "57.0"], {"-1": "outside_closed", "101": "outside_closed", "5,5": "not_whole"}),
        (Binary(), ["0", "1", "Relevant", " not relevant "], {"2": "unknown_choice", "": "no_choice"}),
        (Ordinal(), ["N", "h", "highly relevant", "2"], {"4": "unknown_choice", "x": "unknown_choice"}),
    ],
)
def test_each_scale_takes_its_own_numbers_only(scale, good, bad):
    for typed in good:
        assert scale.allow(scale.read(typed)) == scale.read(typed)
    for typed, key in bad.items():
        with pytest.raises(Refused) as refusal:
            scale.read(typed)
        assert refusal.value.key == f"refused.{key}"


@pytest.mark.parametrize("scale", [cls() for cls in SCALES.values()])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -1.0])
def test_no_scale_allows_a_number_that_is_none(scale, value):
    with pytest.raises(Refused):
        scale.allow(value)


@pytest.mark.parametrize("scale", [cls() for cls in SCALES.values()] + [Magnitude(relative=False)])
def test_every_scale_knows_its_kind_widget_and_words(scale: Scale):
    texts = english()
    assert Kind.parse(str(scale.numbers)) == scale.numbers
    assert scale.widget in ("choice", "number", "slider")
    assert (scale.widget == "choice") == bool(scale.choices)
    for key in (scale.question, scale.instructions):
        assert texts.text(key, **scale.wording)


@pytest.mark.parametrize("question", [cls() for cls in PAIR_QUESTIONS.values()] + [Preference(ties=True)])
def test_every_pair_question_has_its_words(question):
    texts = english()
    assert texts.text(question.question)
    assert texts.text(question.instructions)
    for choice in question.choices:
        assert texts.text(f"pair.{question.kind}.{choice}")


def grade(key: str, value: float, name: str) -> Grade:
    return Grade(key=key, value=value, name=name)


@pytest.mark.parametrize(
    ("grades", "problem"),
    [
        ((grade("A", 1.0, "a"),), "1 grade does not make a scale"),
        ((grade("A", 1.0, "a"), grade("B", 1.0, "b")), "values 1, 1 do not rise"),
        ((grade("A", 2.0, "a"), grade("B", 1.0, "b")), "values 2, 1 do not rise"),
        ((grade("A", 1.0, "a"), grade("B", 2.0, "A")), "the grade 'a' appears twice"),
    ],
)
def test_grades_must_rise_and_differ(grades: tuple[Grade, ...], problem: str):
    with pytest.raises(ValueError, match=problem):
        Ordinal(grades=grades)


def test_ends_must_lie_apart():
    with pytest.raises(ValueError, match="cannot lie between 10 and 10"):
        Bounded(low=10.0, high=10.0)


def test_a_preference_is_forced_unless_ties_are_allowed():
    assert Preference().read(" Left ") == "left"
    with pytest.raises(Refused):
        Preference().read("same")
    assert Preference(ties=True).read("same") == "same"
    with pytest.raises(Refused):
        Preference().read("")


def test_three_buttons_cover_four_cases_with_the_preference():
    absolute = Absolute()
    assert absolute.read("none", "left") == (False, False)
    assert absolute.read("both") == (True, True)
    assert absolute.read("one", "left") == (True, False)
    assert absolute.read("one", "right") == (False, True)
    assert absolute.read("right") == (False, True)
    with pytest.raises(Refused) as refusal:
        absolute.read("one")
    assert refusal.value.key == "refused.needs_preference"
    with pytest.raises(Refused):
        absolute.read("perhaps", "left")


def test_a_ratio_takes_zero_and_no_less():
    assert Ratio().read("0") == 0
    assert Ratio().read("½") == 0.5
    with pytest.raises(Refused):
        Ratio().read("-1")


def test_questions_are_asked_once_each():
    assert [type(question) for question in pair_questions(["ratio", "preference"])] == [Ratio, Preference]
    with pytest.raises(InputError):
        pair_questions(["ratio", "ratio"])
    with pytest.raises(InputError):
        pair_questions([])


def test_a_refusal_speaks_the_study_s_language():
    german = catalogue('[refused]\nempty = "Bitte eine Zahl eingeben."\n')
    with pytest.raises(Refused) as refusal:
        read_number("")
    assert refusal.value.sentence(german) == "Bitte eine Zahl eingeben."


def test_shown_numbers_have_no_needless_decimals():
    assert [shown(value) for value in (3.0, 0.5, 1e300, -2.0)] == ["3", "0.5", "1e+300", "-2"]
