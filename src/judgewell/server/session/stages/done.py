"""Done: thanks, with what was earned, the code or the link, and more work where there is some."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgewell.server.platforms.endings import ending, farewell
from judgewell.server.session.answers import NotTaken
from judgewell.server.session.assignment import outlook
from judgewell.server.session.pages import Ended, Page
from judgewell.server.session.stage import Look, Stage, Step
from judgewell.server.session.stages.waiting import begin
from judgewell.server.session.state import State


@dataclass(frozen=True, kw_only=True)
class Done(Ended):
    """Thanks, with the code or the link; `more` is the button's text where there is more work."""

    kind: ClassVar[str] = "done"


def take_more(step: Step) -> State:
    """Take another unit, unless this is the end."""
    if step.action == "more" and "keep_stopped" not in step.state.scratch:
        return begin(step)
    raise NotTaken("", "nothing to do here")


def _page(look: Look) -> Page:
    served, state = look.served, look.state
    more = outlook(look.connection, served, state, served.clock()) is not None
    takes = ending(look.connection, served, state.assessor, "completed")
    key, last = "completed_more" if more else "completed", not (more or takes.link)
    return Done(
        **look.common,
        text=farewell(look.connection, served, state.assessor, key, last=last),
        ending=takes,
        more=served.say("page.continue") if more else "",
    )


STAGE = Stage(take_more, _page)
