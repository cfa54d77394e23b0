"""Notes are emitted one way and collected one way; a place names file and line."""

from __future__ import annotations

import warnings

import pytest

from judgewell.errors import DataError, JudgewellWarning, Place, collect_notes, note


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


def test_a_place_names_the_line_or_the_row() -> None:
    place = Place("a.csv", lambda row: row + 2)
    assert str(place.of_rows([4]).error("wrong", "mend it", 0)) == "a.csv:6: wrong; mend it"
    assert place.row(1) == "line 3"
    assert Place().row(1) == "row 2"
    assert str(Place().error("wrong", row=1)) == "row 2: wrong"
