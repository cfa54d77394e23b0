"""Which question did assessors like?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import likes, mixed_model
from judgewell.agreement.evidence import Evidence, given, has
from judgewell.agreement.section import Get, Need, Section
from judgewell.errors import DataError


def _two_questions(evidence: Evidence) -> list[str]:
    questions: list[str] = given(evidence.likes, "likes")["question"].unique().sort().to_list()
    if len(questions) < 2:
        raise DataError(f"a choice between questions needs two; there is {len(questions)}")
    return questions[:2]


def _difficulty(evidence: Evidence) -> pl.DataFrame:
    return likes.topic_difficulty(given(evidence.scores, "systems' scores"))


SECTION = Section(
    "likes",
    "which question assessors liked",
    "quality",
    order=80,
    needs=(Need("answers to which question was liked", lambda e: e.likes is not None),),
)


@SECTION.table("Which question assessors liked, by topic", across_scales=True)
def question_likes(evidence: Evidence, get: Get) -> pl.DataFrame:
    """The share of assessors who liked each question; several may be liked."""
    return likes.question_likes(given(evidence.likes, "likes"))


@SECTION.table("Which question assessors liked", across_scales=True)
def likes_over_topics(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Mean over topics, plain and weighted by the number of assessors."""
    return likes.likes_over_topics(get("question_likes"))


@SECTION.table("Liked questions and topic difficulty", across_scales=True)
def likes_against_difficulty(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Correlation over topics between liking one question more than another and the topic’s mean score."""
    return likes.likes_against_difficulty(get("question_likes"), _difficulty(evidence), *_two_questions(evidence))


@SECTION.table("What makes assessors like one question", across_scales=True)
def question_choice(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Logistic model with random effects of assessor and topic."""
    answers = given(evidence.likes, "likes")
    if not has(answers, "unit"):
        raise DataError("a model of the choice needs the unit of each answer")
    first, second = _two_questions(evidence)
    hard = None if evidence.scores is None else _difficulty(evidence)
    return mixed_model.question_choice_model(answers, first, second, hard).fixed
