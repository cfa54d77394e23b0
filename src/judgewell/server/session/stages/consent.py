"""Consent: who asks and what for, to agree or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import sqlalchemy as sa
from markupsafe import Markup

from judgewell.server.session.assignment import outlook, waits_for_pause
from judgewell.server.session.pages import Page
from judgewell.server.session.stage import Look, Stage, Step
from judgewell.server.session.stages import waiting
from judgewell.server.session.state import State
from judgewell.server.store.schema import assessors


@dataclass(frozen=True, kw_only=True)
class Consent(Page):
    """Who asks and what for; to agree or not."""

    kind: ClassVar[str] = "consent"
    text: Markup
    agree: str
    disagree: str


def _step(step: Step) -> State:
    choices = {action: step.served.say(f"consent.{action}") for action in ("agree", "disagree")}
    if step.chosen("action", choices) == "disagree":
        return step.go("declined")
    who = assessors.c.number == step.state.assessor
    step.connection.execute(sa.update(assessors).where(who).values(consented=step.now))
    return waiting.begin(step)


def _page(look: Look) -> Page:
    served, now = look.served, look.served.clock()
    wait = outlook(look.connection, served, look.state, now)
    if wait is None or waits_for_pause(look.connection, served, look.state, now):
        return waiting.STAGE.page(look)
    return Consent(
        **look.common,
        title=served.say("consent.title"),
        text=served.show("consent.text", details=served.study.study.consent),
        agree=served.say("consent.agree"),
        disagree=served.say("consent.disagree"),
    )


STAGE = Stage(_step, _page)
