"""Done: thanks, with what was earned, the code or the link, and more work where there is some."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from judgewell.server.platforms.endings import earned_text, ending, farewell, more_text
from judgewell.server.session.answers import NotTaken
from judgewell.server.session.assignment import outlook, reserve
from judgewell.server.session.pages import Ended, Page
from judgewell.server.session.stage import Look, Stage, Step
from judgewell.server.session.stages.waiting import begin
from judgewell.server.session.state import State


@dataclass(frozen=True, kw_only=True)
class Done(Ended):
    """Thanks, with the code or the link; `more` is the button's text where there is more work."""

    kind: ClassVar[str] = "done"


def thank(step: Step, **values: Any) -> State:
    """The end of a unit: thanks, or where the study says so the next topic at once, with thanks above it."""
    served, study = step.served, step.served.study
    straight_on = study.work.straight_on and study.platform.invites(step.state.origin)
    holding = reserve(step.connection, served, step.state, step.now) if straight_on else None
    if holding is None:
        return step.go("done", **values)
    thanks = (served.say("end.completed_on"), earned_text(step.connection, served, step.state))
    state = replace(step.state, stage="waiting", holding=holding)
    return replace(step, state=state).advance(notice=" ".join(part for part in thanks if part), **values)


def take_more(step: Step) -> State:
    """Take another unit, unless this is the end."""
    if step.action == "more" and "keep_stopped" not in step.state.scratch:
        return begin(step)
    raise NotTaken("", "nothing to do here")


def _page(look: Look) -> Page:
    served, state = look.served, look.state
    more = outlook(look.connection, served, state, served.clock()) is not None
    takes = ending(look.connection, served, state, "completed")
    key, last = "completed_more" if more else "completed", not (more or takes.link)
    return Done(
        **look.common,
        title=served.say("end.thanks"),
        text=farewell(look.connection, served, state, key, last=last),
        ending=takes,
        more=more_text(look.connection, served, state, "page.continue") if more else "",
    )


STAGE = Stage(take_more, _page)
