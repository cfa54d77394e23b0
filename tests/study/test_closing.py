"""The closing questionnaire in the study file, and what is taken as an answer."""

import pytest

from judgewell.study.closing import Choice, ClosingQuestion, LikedQuestion
from judgewell.study.file import parse, read_source
from judgewell.study.frozen import changes, freeze, study_hash
from judgewell.study.new import KINDS, new_study
from judgewell.study.typed_numbers import Refused

TWO = ["a", "b"]


def closing(kind, **settings):
    return ClosingQuestion(name="q", question="Q?", kind=kind, **settings)


def study_with(folder, questionnaire):
    path = new_study(folder)[0]
    head, _, rest = path.read_text().partition("[questionnaire]")
    path.write_text(head + questionnaire + "\n[work]" + rest.partition("[work]")[2])
    return path


def problems(folder, questionnaire):
    path = study_with(folder, questionnaire)
    study, found = parse(read_source(path))
    lines = path.read_text().splitlines()
    return study, [
        (problem.problem, problem.cure, lines[problem.line - 1] if problem.line else "") for problem in found
    ]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_new_study_has_a_questionnaire_of_its_own(tmp_path, kind):
    study, found = parse(read_source(new_study(tmp_path / "new", kind)[0]))
    assert not found
    assert study.questionnaire.when == "first"
    asked = study.questionnaire.questions
    assert [question.name for question in asked] == ["liked" if kind == "pairs" else "difficulty", "feedback"]


def test_a_scale_names_its_ends_and_a_list_may_be_empty(tmp_path):
    study, _ = problems(
        tmp_path,
        '[[questionnaire.questions]]\nname = "hard"\nquestion = "How hard?"\nkind = "scale"\nhigh = 3\n'
        'ends = ["easy", "hard"]',
    )
    assert [choice.label for choice in study.questionnaire.questions[0].options] == ["1 easy", "2", "3 hard"]
    study, _ = problems(tmp_path / "none", "[questionnaire]\nquestions = []")
    assert study.questionnaire.questions == []
    study, _ = problems(tmp_path / "left-out", "[questionnaire]")
    assert study.questionnaire.questions is None


QUESTION = '[[questionnaire.questions]]\nname = "q"\nquestion = "Q?"\n'


@pytest.mark.parametrize(
    ("written", "line", "said"),
    [
        ('[questionnaire]\nwhen = "never"', 'when = "never"', "is not one of 'first', 'each' or 'last'"),
        (QUESTION + 'kind = "menu"', 'kind = "menu"', "is not one of"),
        (QUESTION + 'kind = "choice"\nchoices = ["one"]', "[[questionnaire.questions]]", "1 choices"),
        (QUESTION + 'kind = "several"\nchoices = ["x", "x"]', "[[questionnaire.questions]]", "1 of them different"),
        (QUESTION + 'choices = ["x", "y"]', "[[questionnaire.questions]]", "a question of kind text has no choices"),
        (QUESTION + 'kind = "choice"\nlow = 1\nchoices = ["x", "y"]', "[[questionnaire.questions]]", "has no low"),
        (QUESTION + 'kind = "choice"\nhigh = 1\nchoices = ["x", "y"]', "[[questionnaire.questions]]", "has no high"),
        (QUESTION + "length = 100000", "length = 100000", "must be at most 5000"),
        (QUESTION + 'kind = "number"\nlow = 5\nhigh = 5', "[[questionnaire.questions]]", "low 5 is not below high 5"),
        (QUESTION + 'kind = "scale"\nhigh = 40', "[[questionnaire.questions]]", "a scale from 1 to 40"),
        (QUESTION + 'kind = "scale"\nends = ["x"]', "[[questionnaire.questions]]", "ends has 1 texts"),
        (QUESTION.replace('"q"', '"step"'), "[[questionnaire.questions]]", "'step' is taken"),
        (QUESTION.replace('"q"', '"a b"'), 'name = "a b"', "may hold letters"),
        (QUESTION + QUESTION, "[[questionnaire.questions]]", "two questions are called 'q'"),
        (QUESTION + "reqired = true", "reqired = true", "there is no setting"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path, written, line, said):
    _, found = problems(tmp_path, written)
    assert len(found) == 1, found
    problem, _, where = found[0]
    assert said in problem
    assert where == line or (line.startswith("[[") and where.startswith("[["))


@pytest.mark.parametrize(
    ("question", "typed", "stored"),
    [
        (closing("text", length=5), [" a b  "], ["a b"]),
        (closing("text"), ["", " "], []),
        (closing("several", choices=TWO), ["b", "a", "b"], ["a", "b"]),
        (closing("choice", choices=TWO), ["b", "a"], ["b"]),
        (closing("number", low=0), ["1½"], ["1.5"]),
        (closing("number", low=0, high=0.5), ["0,5"], ["0.5"]),
    ],
)
def test_answers_are_stored_as_they_were_meant(question, typed, stored):
    assert question.read(typed) == stored


@pytest.mark.parametrize(
    ("question", "typed", "key"),
    [
        (closing("text", required=True), ["  "], "answer_missing"),
        (closing("several", choices=TWO, required=True), [], "answer_missing"),
        (closing("text", length=5), ["sechs!"], "text_too_long"),
        (closing("several", choices=TWO), ["a", "c"], "unknown_choice"),
        (closing("number"), ["many"], "not_a_number"),
        (closing("number", low=0), ["-1"], "below"),
        (closing("number", high=9), ["10"], "above"),
    ],
)
def test_what_cannot_be_stored_is_refused(question, typed, key):
    with pytest.raises(Refused) as refused:
        question.read(typed)
    assert refused.value.key == f"refused.{key}"


def test_what_was_liked_is_stored_by_name_and_read_in_words():
    liked = LikedQuestion(name="liked", question="Q?", kind="several", choices=TWO, labels=["A", "B"])
    assert liked.options == (Choice("a", "A"), Choice("b", "B"))
    assert liked.read(["b"]) == ["b"]


def test_made_up_people_give_answers_that_are_taken():
    for question in (
        closing("text", required=True, length=3),
        closing("number", low=7),
        closing("number", high=-7),
        closing("choice", choices=TWO),
    ):
        assert all(question.read([example]) for example in question.examples)


def test_the_questionnaire_is_frozen_with_the_study(tmp_path):
    before = freeze(study_with(tmp_path / "a", QUESTION))
    after = freeze(study_with(tmp_path / "b", QUESTION + "required = true\n"))
    assert study_hash(before) != study_hash(after)
    assert "questionnaire.questions.1.required: false → true" in changes(before, after)
