"""Words around numbers."""

import polars as pl
import pytest

from judgewell.agreement.sections.pairs import SECTION as PAIRS
from judgewell.agreement.sections.unusual import SECTION as UNUSUAL
from judgewell.text import agrees, counted, work_time


@pytest.mark.parametrize(("number", "text"), [(0, "no units are"), (1, "1 unit is"), (2, "2 units are")])
def test_a_verb_fits_its_number(number, text):
    assert f"{counted(number, 'unit')} {agrees(number, 'is', 'are')}" == text


def sentence(section, name, **columns):
    table = next(one for one in section.tables if one.name == name)
    found = table.finding(pl.DataFrame({key: [value] for key, value in columns.items()}))
    return found if isinstance(found, str) else found[0]


def test_sentences_about_one_have_the_singular():
    one = sentence(UNUSUAL, "unusual_assessors", assessor="x", reasons=1, why="too fast")
    assert one.startswith("1 of 1 assessor deserves a second look: x (too fast). ")
    one = sentence(PAIRS, "repeated_pairs", answered_again_by="anybody", contradicting=1, repeated=4, share=0.25)
    assert one == "1 of 4 pairs answered more than once has contradicting answers (25.0 %)."


@pytest.mark.parametrize(("hours", "words"), [(2.34, "2.3 hours"), (0.2, "12 minutes"), (0.001, "1 minute")])
def test_short_work_is_told_in_minutes(hours, words):
    assert work_time(hours) == words
