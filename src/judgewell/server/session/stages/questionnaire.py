"""Questionnaire: a few questions when the work is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sqlalchemy as sa

from judgewell.server.session.answers import about
from judgewell.server.session.pages import ClosingQuestion, Page
from judgewell.server.session.questions import closing_questions
from judgewell.server.session.stage import Look, Stage, Step
from judgewell.server.session.stages.done import thank
from judgewell.server.session.state import State
from judgewell.server.store.schema import closing


@dataclass(frozen=True, kw_only=True)
class Questionnaire(Page):
    """A few questions at the end."""

    kind: ClassVar[str] = "questionnaire"
    questions: tuple[ClosingQuestion, ...]


def _step(step: Step) -> State:
    given = {}
    for question in step.served.closing:
        with about(step.served, question.name):
            given[question.name] = question.read(step.form.get(question.name, ()))
    row = {"assessor": step.state.assessor, "reservation": step.state.held.number, "at": step.now}
    rows = [{**row, "name": name, "answer": answer} for name, answer in given.items()]
    step.connection.execute(sa.insert(closing), rows)
    return thank(step)


def _page(look: Look) -> Page:
    served = look.served
    questions = served.once("closing", lambda: closing_questions(served))
    return Questionnaire(**look.common, title=served.say("end.questionnaire"), questions=questions)


STAGE = Stage(_step, _page)
