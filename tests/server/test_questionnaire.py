"""The closing questionnaire at the server: when it is asked, what is stored, and what the export says."""

import csv

import pytest
import sqlalchemy as sa

from judgewell.server.queries.export import export
from judgewell.server.store.schema import closing

OWN = """[questionnaire]
when = "{when}"
[[questionnaire.questions]]
name = "hard"
question = "How hard was it?"
kind = "scale"
ends = ["easy", "hard"]
required = true
[[questionnaire.questions]]
name = "used"
question = "What did you use?"
kind = "several"
choices = ["the title", "the text"]
[[questionnaire.questions]]
name = "years"
question = "Years of searching?"
kind = "number"
low = 0
"""


def finished(study, when, units):
    """Do so many units; for each, whether the questionnaire came after it."""
    person = study.person()
    asked = []
    for number in range(units):
        page = person.until("questionnaire", "done")
        asked.append(page.kind == "questionnaire")
        if asked[-1]:
            page = person.send(hard="4", used=["the text"], years="12")
        assert page.kind == "done"
        if number + 1 < units:
            person.send(action="more")
    return asked


@pytest.mark.parametrize(
    ("when", "asked"),
    [("first", [True, False, False]), ("each", [True, True, True]), ("last", [False, False, True])],
)
def test_it_is_asked_when_the_study_says(begin, when, asked):
    study = begin(topics=3, more=OWN.format(when=when))
    assert finished(study, when, 3) == asked
    assert len(study.rows(sa.select(closing))) == 3 * sum(asked)


def test_an_empty_list_switches_it_off(begin):
    study = begin(more="[questionnaire]\nquestions = []\n")
    assert finished(study, "first", 1) == [False]


def test_answers_are_checked_stored_and_exported(begin, tmp_path):
    study = begin(more=OWN.format(when="first"))
    person = study.person()
    page = person.until("questionnaire")
    keys = [choice.key for question in page.questions for choice in question.choices]
    assert keys == ["1", "2", "3", "4", "5", "A", "B"]
    assert [question.key for question in page.questions] == ["", "", "C"]
    page = person.send(used="the text", years="3")
    assert (page.kind, page.problem_field) == ("questionnaire", "hard")
    assert "How hard was it?" in page.problem
    page = person.send(hard="4", used="the picture", years="3")
    assert page.problem_field == "used"
    page = person.send(hard="4", used="the text", years="-3")
    assert (page.problem_field, page.typed["hard"]) == ("years", ("4",))
    assert not study.rows(sa.select(closing))
    assert person.send(hard="4", used=["the text", "the title"], years="").kind == "done"
    stored = {row.name: row.answer for row in study.rows(sa.select(closing))}
    assert stored == {"hard": ["4"], "used": ["the title", "the text"], "years": []}
    export(study.store, tmp_path / "out")
    with (tmp_path / "out" / "questionnaire.csv").open() as file:
        told = {row["question"]: row["answer"] for row in csv.DictReader(file)}
    assert told == {"hard": "4", "used": "the title; the text", "years": ""}
