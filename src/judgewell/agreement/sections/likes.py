"""Which question did assessors like?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import likes, mixed_model
from judgewell.agreement.evidence import Evidence, given, has
from judgewell.agreement.section import Need, Section, Table
from judgewell.errors import DataError


def _two_questions(evidence: Evidence) -> list[str]:
    questions: list[str] = given(evidence.likes, "likes")["question"].unique().sort().to_list()
    if len(questions) < 2:
        raise DataError(f"a choice between questions needs two; there is {len(questions)}")
    return questions[:2]


def _difficulty(evidence: Evidence) -> pl.DataFrame:
    return likes.topic_difficulty(given(evidence.scores, "systems' scores"))


def _choice(evidence: Evidence) -> pl.DataFrame:
    answers = given(evidence.likes, "likes")
    if not has(answers, "unit"):
        raise DataError("a model of the choice needs the unit of each answer")
    first, second = _two_questions(evidence)
    hard = None if evidence.scores is None else _difficulty(evidence)
    return mixed_model.question_choice_model(answers, first, second, hard).fixed


SECTION = Section(
    name="likes",
    about="which question assessors liked",
    part="quality",
    order=80,
    needs=(Need("answers to which question was liked", lambda e: e.likes is not None),),
    tables=(
        Table(
            name="question_likes",
            title="Which question assessors liked, by topic",
            caption="The share of assessors who liked each question; several may be liked.",
            compute=lambda e, get: likes.question_likes(given(e.likes, "likes")),
            across_scales=True,
        ),
        Table(
            name="likes_over_topics",
            title="Which question assessors liked",
            caption="Mean over topics, plain and weighted by the number of assessors.",
            compute=lambda e, get: likes.likes_over_topics(get("question_likes")),
            across_scales=True,
        ),
        Table(
            name="likes_against_difficulty",
            title="Liked questions and topic difficulty",
            caption="Correlation over topics between liking one question more than another and the topic’s mean score.",
            compute=lambda e, get: likes.likes_against_difficulty(
                get("question_likes"), _difficulty(e), *_two_questions(e)
            ),
            across_scales=True,
        ),
        Table(
            name="question_choice",
            title="What makes assessors like one question",
            caption="Logistic model with random effects of assessor and topic.",
            compute=lambda e, get: _choice(e),
            across_scales=True,
        ),
    ),
)
