"""The list of methods: each prints and parses back, says what it is, and refuses options it does not have."""

from __future__ import annotations

import dataclasses

import pytest

from judgewell.errors import InputError, JudgewellWarning
from judgewell.scaling.methods import listing, methods, named, parse


def test_every_method_is_there_once_and_says_what_it_is() -> None:
    assert set(methods()) == {
        *("magnitude", "log-magnitude", "known-ratio", "width", "sampled", "two-way", "grade-ratios"),
        *("mean", "median", "majority", "dawid-skene"),
        *("preference", "relevance", "bradley-terry", "ratio", "combined"),
        *("predicted", "udm"),
    }
    for method in methods().values():
        assert method.purpose
        assert method.source
        assert method.takes in ("judgments", "pairs")


def test_the_listing_has_two_lines_for_each_and_a_third_with_evidence() -> None:
    lines = listing().splitlines()
    assert len(lines) == 2 * len(methods()) + sum(bool(method.evidence) for method in methods().values())
    assert lines[0].startswith("magnitude: ")
    assert "takes judgments" in lines[1]
    assert "Turpin" in lines[1]


@pytest.mark.parametrize("name", list(methods()))
def test_a_method_prints_and_parses_back(name: str) -> None:
    method = named(name)
    assert str(method) == name
    assert parse(name) == method
    assert set(method.options()) == {field.name for field in dataclasses.fields(method)}


@pytest.mark.parametrize(
    "text",
    [
        "magnitude(offset=1)",
        "magnitude(offset=0.5,average=log-mean)",
        "mean(profile='0:0,1:0.3,2:1')",
        "mean(profile=binary,threshold=2)",
        "combined(of=preference;ratio)",
        "predicted(grades=0;1;2;3,threshold=1)",
        "width(side=wide,cut=none)",
        "ratio(weighted=true)",
        "bradley-terry(prior=0.1,gain=probability)",
        "dawid-skene(tolerance=1e-06)",
    ],
)
def test_options_print_and_parse_back(text: str) -> None:
    assert str(parse(text)) == text
    assert parse(str(parse(text))) == parse(text)


def test_options_may_be_text_from_a_command_line() -> None:
    assert named("magnitude", {"offset": "1", "average": "mean"}) == parse("magnitude(offset=1,average=mean)")
    assert named("ratio", {"weighted": "true"}).options() == {"epsilon": 1.0, "weighted": True, "components": "error"}
    assert named("predicted", {"grades": "0,1,2"}) == named("predicted", {"grades": (0.0, 1.0, 2.0)})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("magnitudes", r"no method 'magnitudes'; did you mean magnitude\?$"),
        ("zzz", r"no method 'zzz'; the methods are magnitude, "),
        ("magnitude(ofset=1)", r"has no option 'ofset'; did you mean offset\?$"),
        ("magnitude(zzz=1)", r"has no option 'zzz'; its options are: offset, bound"),
        ("magnitude(offset=much)", r"magnitude: offset=much is not a number"),
        ("magnitude(average=typical)", r"average=typical is not possible; average is one of median, log-median"),
        ("ratio(weighted=perhaps)", r"neither true nor false"),
        ("magnitude(offset)", r"'offset' is not an option"),
        ("magnitude(", r"is not a method"),
        ("predicted(wanted=1.5)", r"not a whole number"),
    ],
)
def test_what_cannot_be_read_is_said_with_the_cure(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse(text)


def test_former_names_of_methods_and_options_work_with_a_note() -> None:
    with pytest.warns(JudgewellWarning, match="level-ratios is the former name of grade-ratios"):
        assert named("level-ratios") == named("grade-ratios")
    with pytest.warns(JudgewellWarning, match="levels is the former name of grades"):
        assert parse("predicted(levels=0;1;2)") == parse("predicted(grades=0;1;2)")
