"""The topic alone, before its documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sqlalchemy as sa

from judgewell.server.session.pages import Page, Progress, Topic
from judgewell.server.session.stage import Look, Stage, Step
from judgewell.server.session.stages.instructions import ready
from judgewell.server.session.state import State
from judgewell.server.store.schema import topics


@dataclass(frozen=True, kw_only=True)
class TopicPage(Page):
    """The topic alone, before its documents."""

    kind: ClassVar[str] = "topic"
    topic: Topic
    ready: str
    unit_progress: Progress | None = None


def _step(step: Step) -> State:
    return step.advance()


def _page(look: Look) -> Page:
    served, state = look.served, look.state
    return TopicPage(
        **look.common,
        title=served.say("page.topic"),
        topic=served.topic(look.connection, state.held.topic),
        ready=ready(served, state),
        unit_progress=unit_progress(look),
    )


_COUNT = sa.select(sa.func.count()).select_from(topics)


def unit_progress(look: Look) -> Progress | None:
    """Which of an assessor's units this is, of as many as the study's topics let one person do."""
    served, work = look.served, look.served.study.work
    there = served.once("topics", lambda: int(look.connection.execute(_COUNT).scalar_one()))
    number, most = int(look.state.scratch.get("keep_units", 0)) + 1, min(work.most_units, there * work.units_per_topic)
    if most == 1:
        return None
    return Progress(number, most, served.say("page.unit_progress", position=number, total=most))


STAGE = Stage(_step, _page, 30)
