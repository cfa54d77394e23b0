"""Checks: pure functions of answers, with the fate of diligent, random, reversed and hurried assessors known."""

import gzip
import io

import polars as pl
import pytest
from pydantic import ValidationError

from judgewell import tables
from judgewell.errors import InputError
from judgewell.study.checks import (
    Comment,
    CommentReview,
    Comprehension,
    KnownOrder,
    KnownPairs,
    LeastTime,
    PairAgrees,
    PracticeLines,
    Quiz,
    QuizPair,
)
from judgewell.study.texts import catalogue, english


def said(verdict):
    """The assessor's text, which must exist and be filled by the verdict's own values."""
    return verdict.sentence(english())


def test_practice_follows_the_lengths_in_whatever_order_they_were_shown():
    practice = PracticeLines()
    assert practice([1, 2.5, 7])
    assert practice([7, 1, 2.5], lengths=[260, 40, 120])
    assert not practice([1, 2, 2])
    first, last = practice([3, 2, 1], used=1), practice([3, 2, 1], used=2)
    assert (first.again, last.again) == (True, False)
    assert said(first) != said(last)
    for lengths in ((), (1.0,), (2.0, 2.0), (-1.0, 2.0)):
        with pytest.raises(ValidationError, match="cannot be used for practice"):
            PracticeLines(lengths=list(lengths))
    with pytest.raises(InputError, match="2 numbers were given for 3 lines"):
        practice([1, 2])


def test_comprehension_gives_at_least_two_tries():
    question = Comprehension(topic="t", question="What is wanted?", answers=["a", "b", "c", "d"], right=3)
    assert question([3])
    assert question([1, 3])
    assert question([1]).again
    assert said(question([1])).startswith("That is not")
    assert not question([1, 2]).again
    assert not question([1, 2, 3])  # a third try does not count
    for wrong in ({"tries": 1}, {"right": 5}, {"right": 0}, {"answers": ["a", "a"]}):
        with pytest.raises(ValidationError, match=next(iter(wrong))):
            Comprehension(**{"topic": "t", "question": "?", "answers": ["a", "b"], "right": 1, **wrong})


def test_a_quiz_of_twelve_needs_eleven():
    pairs = [QuizPair(left="good", right="bad", better="left")] * 12
    quiz = Quiz(pair=[*pairs, QuizPair(left="bad", right="good", better="right", topic="t2")])
    assert quiz.needed("t1") == 11
    assert quiz.needed("t2") == 11
    assert quiz(["left"] * 11 + ["right", "right"], "t2")
    assert quiz(["left"] * 11 + ["right"])
    assert said(quiz(["left"] * 12)) == "12 of 12 right. You can start."
    failed = quiz(["left"] * 10 + ["right"] * 2)
    assert not failed
    assert "11" in said(failed)
    assert not quiz(["left"] * 10)
    assert Quiz(pair=pairs * 2 + pairs[:1], pass_mark=0.84).needed(None) == 21  # 0.84 · 25 is a hair above 21 in binary


def test_a_comment_has_letters():
    assert Comment()("ok")
    assert not Comment()(" . ")
    assert not Comment()(None)
    assert said(Comment(10)("short")) == "Please write a little more: at least 10 characters."


@pytest.mark.parametrize(
    ("preferred", "relevant", "scores", "passed"),
    [
        ("left", (True, True), (2.0, 1.0), True),
        ("left", (True, True), (1.0, 2.0), False),
        ("left", (True, True), (1.0, 1.0), False),
        ("left", (False, False), (0.0, 0.0), True),
        ("right", (False, True), (0.0, 5.0), True),
        ("right", (True, True), (0.0, 5.0), False),
        ("right", (False, True), (1.0, 5.0), False),
        ("same", (True, True), (5.0, 5.0), True),
        ("same", (True, True), (5.0, 4.0), False),
        ("left", (None, None), (3.0, 4.0), False),
        (None, (True, False), (3.0, 0.0), True),
        (None, (True, False), (3.0, 1.0), False),
        ("left", (True, False), (None, None), True),
    ],
)
def test_the_answers_about_a_pair_must_fit(preferred, relevant, scores, passed):
    verdict = PairAgrees()(preferred, relevant, scores)
    assert bool(verdict) == passed
    assert bool(said(verdict)) != passed


def test_sides_are_told_in_the_study_s_language():
    german = catalogue('[side]\nleft = "linken"\n[check]\nratio_against_preference = "im {preferred} Text"\n')
    assert PairAgrees()("left", scores=(1.0, 2.0)).sentence(german) == "im linken Text"


def test_the_known_documents_keep_their_order():
    known = KnownOrder()
    assert known({"h": 2.0, "n": 1.0, "x": 9.0}, "h", "n")
    assert not known({"h": 1.0, "n": 1.0}, "h", "n")
    assert KnownOrder(ties=True)({"h": 1.0, "n": 1.0}, "h", "n")
    assert known({"x": 9.0}, "h", "n")
    assert known({"x": 9.0}, None, None)
    failed = known({"h": 1.0, "n": 5.0}, "h", "n")
    assert failed.reason == "h, known to be highly relevant, was scored 1; n, known not to be relevant, was scored 5"
    assert not any(word in said(failed).split() for word in ("h", "n", "1", "5"))
    assert KnownPairs()(["left", "right"], ["left", "right"])
    assert not KnownPairs()(["left", "left"], ["left", "right"])
    assert KnownPairs(share=0.5)(["left", "left"], ["left", "right"])


def test_time_asks_to_revise_and_names_nobody_to_the_assessor():
    assert LeastTime()({"a": 20.0, "b": 35.0})
    failed = LeastTime()({"a": 3.0, "b": 35.0, "c": 19.9})
    assert failed.again
    assert failed.reason == "2 of 3 read for less than 20 s; a for 3.0 s"
    assert "3.0" not in said(failed)


def test_two_of_three_reviewers_decide_as_soon_as_they_can():
    review = CommentReview()
    assert review([True, True])  # the third vote cannot change it
    assert review([True, True, False])
    assert not review([False, False])
    assert not review([False, False]).again
    assert review([False]).again
    assert review([]).again
    assert not review([False, True]).passed
    with pytest.raises(InputError):
        review([True] * 4)
    with pytest.raises(ValidationError, match="4 of 3 reviewers cannot decide; ask for 1 up to all of them"):
        CommentReview(reviewers=3, against=4)


@pytest.mark.realdata
def test_the_units_of_the_real_study_passed_the_checks_they_were_collected_with(data):
    source = gzip.decompress((data / "trec8-s100" / "judgments.csv.gz").read_bytes())
    raw = pl.read_csv(io.BytesIO(source), infer_schema_length=None)
    names = {"topic_id": "topic", "document_id": "doc", "worker_id": "assessor", "unit_id": "unit"}
    frame = tables.check(
        raw.rename(names | {"relevance_score": "value", "cumulative_time": "seconds"}), tables.JUDGMENTS
    )
    gold = raw.filter(pl.col("gold").is_not_null()).select("topic_id", "gold", "document_id").unique()
    known = {
        str(topic): (
            gold.filter(topic_id=topic, gold="H")["document_id"].item(),
            gold.filter(topic_id=topic, gold="N")["document_id"].item(),
        )
        for topic in gold["topic_id"].unique()
    }
    passed = [
        bool(KnownOrder()(dict(unit.select("doc", "value").iter_rows()), *known[str(topic)]))
        for (topic, _, _), unit in frame.group_by("topic", "unit", "assessor")
    ]
    assert len(passed) == 7059
    assert sum(passed) / len(passed) > 0.99
