"""Notes are emitted one way and collected one way; a place names file and line."""

from __future__ import annotations

import contextlib
import warnings

import pytest

from judgewell.errors import (
    DataError,
    Information,
    InputError,
    JudgewellInformation,
    JudgewellWarning,
    Place,
    collect_notes,
    formerly,
    kept_notes,
    note,
)


def test_notes_are_collected_once_each_and_other_warnings_pass() -> None:
    with collect_notes() as collected:
        note("one", "a.csv")
        note("one", "a.csv")
        Place("b.csv").note("two")
        with pytest.warns(UserWarning, match="not ours"):
            warnings.warn("not ours", UserWarning, stacklevel=1)
    assert collected == ["a.csv: one", "b.csv: two"]


def test_strict_makes_a_note_an_error() -> None:
    with pytest.raises(DataError, match=r"one .refused because of --strict"), collect_notes(strict=True):
        note("one")


def test_a_note_names_the_line_that_called_the_package() -> None:
    with pytest.warns(JudgewellWarning) as shown:
        Place("a.csv").note("through the package")
    assert shown[0].filename == __file__


def test_a_note_of_a_former_name_names_the_line_that_used_it() -> None:
    with pytest.warns(JudgewellWarning, match="former name") as shown, contextlib.ExitStack() as stack:
        stack.callback(formerly(old="new")(lambda new: new), old=2)
    assert shown[0].filename != contextlib.__file__


def test_a_place_names_the_line_or_the_row() -> None:
    place = Place("a.csv", lambda row: row + 2)
    assert str(place.of_rows([4]).error("wrong", "correct it", 0)) == "a.csv:6: wrong; correct it"
    assert place.row(1) == "line 3"
    assert Place().row(1) == "row 2"
    assert str(Place().error("wrong", row=1)) == "row 2: wrong"


def test_an_option_may_have_its_former_name() -> None:
    @formerly(old="new")
    def double(new: int) -> int:
        return 2 * new

    with pytest.warns(JudgewellWarning, match="old is the former name of new"):
        assert double(old=3) == 6  # type: ignore[call-arg]
    assert double(new=3) == 6


def test_very_long_values_are_shortened_in_the_middle_and_file_names_are_not() -> None:
    name = "d" * 100 + "x" * 2800 + "e" * 100
    shown = "d" * 80 + "…" + "e" * 40 + " (3,000 characters)"
    assert str(InputError(f"topic 1, doc {name} is twice", cure="drop one", file="f" * 250, line=3)) == (
        f"{'f' * 250}:3: topic 1, doc {shown} is twice; drop one"
    )
    assert str(DataError(f"doc {name}")) == f"doc {shown}"
    with collect_notes() as collected:
        note(f"doc {name} is gone", "a.csv")
    assert collected == [f"a.csv: doc {shown} is gone"]


def test_information_is_collected_like_notes_and_never_refused() -> None:
    with pytest.warns(JudgewellInformation, match="by the rule"):
        note(Information("by the rule"))
    with collect_notes(strict=True) as collected:
        note(Information("by the rule"), "a.csv")
    assert collected == ["a.csv: by the rule"]
    assert isinstance(collected[0], Information)
    with kept_notes() as kept:
        note(Information("by the rule"))
    with collect_notes(strict=True) as again:
        note(kept[0])
    assert isinstance(again[0], Information)
