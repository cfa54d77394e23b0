"""Comprehension: questions about the topic, each with several tries (Turpin et al. 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgewell.server.session.pages import Page, Question
from judgewell.server.session.questions import numbered_choices
from judgewell.server.session.stage import Look, Stage, Step, tried_again
from judgewell.server.session.stages.stopped import stop
from judgewell.server.session.state import State


@dataclass(frozen=True, kw_only=True)
class Comprehension(Question):
    """A question about the topic."""

    kind: ClassVar[str] = "comprehension"


def _wanted(step: Step) -> bool:
    return bool(step.served.questions_about(step.state.held.topic))


def _step(step: Step) -> State:
    asked = step.served.questions_about(step.state.held.topic)
    check = asked[step.state.position - 1]
    choice = step.chosen("choice", {one.value: one.label for one in numbered_choices(check.answers)})
    chosen = [*step.state.scratch.get("chosen", []), int(choice)]
    verdict = check(chosen)
    step.verdict("comprehension", len(chosen), verdict)
    if verdict and step.state.position < len(asked):
        return step.go("comprehension", step.state.position + 1)
    if verdict:
        return step.advance(notice=step.served.say("comprehension.passed"))
    if verdict.again:
        sentence = tried_again(step.served, verdict, check.tries - len(chosen))
        problem = {"problem": sentence, "problem_field": "choice"}
        return step.go("comprehension", step.state.position, chosen=chosen, **problem)
    return stop(step, "failed_comprehension", verdict, last=False)


def _page(look: Look) -> Page:
    served, topic = look.served, look.state.held.topic
    question = served.questions_about(topic)[look.state.position - 1]
    return Comprehension(
        **look.common,
        title=served.say("comprehension.title"),
        topic=served.topic(look.connection, topic),
        text=served.show("comprehension.text"),
        question=question.question,
        choices=numbered_choices(question.answers),
    )


STAGE = Stage(_step, _page, 40, _wanted)
