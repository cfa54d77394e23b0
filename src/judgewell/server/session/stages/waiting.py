"""Waiting: taking a unit, or saying when to come back, or that there is no work left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import ClassVar

from markupsafe import Markup

from judgewell.server.platforms.endings import best_ending, ending, farewell, own_words
from judgewell.server.session.assignment import outlook, reserve, waits_for_pause
from judgewell.server.session.pages import Ended, Ending, Page
from judgewell.server.session.stage import Look, Stage, Step
from judgewell.server.session.state import State


@dataclass(frozen=True, kw_only=True)
class ComeBack(Page):
    """No work is free just now; `minutes` says when to look again, `ending` is what was earned before."""

    kind: ClassVar[str] = "come_back"
    template: ClassVar[str] = "waiting"
    text: Markup
    minutes: int
    ending: Ending


@dataclass(frozen=True, kw_only=True)
class NoWork(Ended):
    """There is truly nothing left for this assessor."""

    kind: ClassVar[str] = "no_work"


def begin(step: Step, notice: str = "") -> State:
    """Take a unit, or wait for one."""
    holding = reserve(step.connection, step.served, step.state, step.now)
    if holding is None:
        return step.go("waiting", notice=notice)
    state = replace(step.state, stage="waiting", holding=holding)
    return replace(step, state=state).advance(notice=notice)


def _page(look: Look) -> Page:
    """Says that no work is left, or when to come back. Assessors who have completed work keep its code."""
    connection, served, state = look.connection, look.served, look.state
    wait = outlook(connection, served, state, served.clock())
    reached = best_ending(connection, state.assessor)
    if wait is None:
        earned = ending(connection, served, state, reached)
        text = farewell(connection, served, state, reached, last=not earned.link)
        return NoWork(**look.common, title=served.say("end.thanks"), text=text, ending=earned)
    minutes = max(1, ceil(wait / 60))
    paused = waits_for_pause(connection, served, state, served.clock())
    new = reached == "no_work"
    key = "end.come_back_one" if minutes == 1 else "end.come_back"
    if paused:
        key = own_words(served, state, "trouble.paused_new") if new else "trouble.paused"
    return ComeBack(
        **look.common,
        title=served.say("end.later"),
        text=served.show(key, minutes=minutes),
        minutes=minutes,
        ending=Ending() if new and not paused else ending(connection, served, state, reached),
    )


STAGE = Stage(begin, _page)
