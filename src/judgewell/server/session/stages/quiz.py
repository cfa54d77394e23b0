"""Quiz: pairs of short texts with a clear answer, and a pass mark (Yang et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup

from judgewell.server.session.pages import Choice, Document, Page, Progress, Topic
from judgewell.server.session.questions import digits, progress, side_choices, with_keys
from judgewell.server.session.stage import Look, Stage, Step
from judgewell.server.session.stages.stopped import stop
from judgewell.server.session.state import State, log

SIDES = ("left", "right")


@dataclass(frozen=True, kw_only=True)
class QuizPair(Page):
    """Two short texts with a clear answer."""

    kind: ClassVar[str] = "quiz"
    topic: Topic
    text: Markup
    left: Document
    right: Document
    question: str
    choices: tuple[Choice, ...]
    progress: Progress


def _own(step: Step) -> str:
    """The topic where the quiz is about it, and nothing where it is the same for all."""
    topic = step.state.held.topic
    return topic if any(pair.topic for pair in step.served.quiz_pairs(topic)) else ""


def _wanted(step: Step) -> bool:
    pairs = step.served.quiz_pairs(step.state.held.topic)
    return bool(pairs) and _own(step) not in step.state.scratch.get("keep_quiz", [])


def _step(step: Step) -> State:
    section = step.served.study.checks.quiz
    side = step.chosen("preferred", {side: step.served.say(f"side.{side}") for side in SIDES})
    if section is None:
        return step.advance()
    topic, sides = step.state.held.topic, [*step.state.scratch.get("sides", []), side]
    log(step.connection, step.state, step.now, "quiz", step.state.position, preferred=side)
    if len(sides) < len(section.pairs(topic)):
        return step.go("quiz", len(sides) + 1, sides=sides)
    verdict = section(sides, topic)
    step.verdict("quiz", 1, verdict)
    if verdict:
        passed = [*step.state.scratch.get("keep_quiz", []), _own(step)]
        return step.advance(keep_quiz=passed, notice=verdict.sentence(step.served.texts))
    return stop(step, "failed_quiz", verdict, last=not _own(step))


def _page(look: Look) -> Page:
    served, topic, position = look.served, look.state.held.topic, look.state.position
    section, pairs = served.study.checks.quiz, served.quiz_pairs(topic)
    pair = pairs[position - 1]
    return QuizPair(
        **look.common,
        title=served.say("quiz.title"),
        topic=served.topic(look.connection, topic),
        text=served.show("quiz.text", total=len(pairs), needed=section.needed(topic) if section else 0),
        left=Document(served.say("page.document_left"), "", pair.left),
        right=Document(served.say("page.document_right"), "", pair.right),
        question=served.say("pair.preference.question"),
        choices=with_keys(side_choices(served, SIDES), digits()),
        progress=progress(served, position, len(pairs)),
    )


STAGE = Stage(_step, _page, 50, _wanted)
