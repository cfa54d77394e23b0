"""Declined: somebody chose not to take part."""

from __future__ import annotations

from judgewell.server.platforms.endings import ending, farewell
from judgewell.server.session.answers import NotTaken
from judgewell.server.session.pages import Page
from judgewell.server.session.stage import Look, Stage, Step
from judgewell.server.session.stages.stopped import Stopped
from judgewell.server.session.state import State


def _step(step: Step) -> State:
    raise NotTaken("", "nothing to do here")


def _page(look: Look) -> Page:
    ended = ending(look.connection, look.served, look.state, "no_consent")
    text = farewell(look.connection, look.served, look.state, "no_consent", last=not ended.link)
    return Stopped(**look.common, title=look.served.say("end.part_ended"), text=text, ending=ended)


STAGE = Stage(_step, _page)
