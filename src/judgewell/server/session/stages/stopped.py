"""Stopped: an end before the work was done, by a check; another unit may be tried where that is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from judgewell.server.platforms.endings import best_ending, ending, farewell, more_text
from judgewell.server.session.assignment import close, outlook
from judgewell.server.session.limits import has_failed_often
from judgewell.server.session.pages import Ended, Page
from judgewell.server.session.stage import Look, Stage, Step
from judgewell.server.session.stages.done import take_more
from judgewell.server.session.state import State
from judgewell.study.checks import Verdict


@dataclass(frozen=True, kw_only=True)
class Stopped(Ended):
    """An end before the work was done: no consent, or a check; `more` where another unit may be tried."""

    kind: ClassVar[str] = "stopped"


def stop(step: Step, ending: str, verdict: Verdict, *, last: bool) -> State:
    """An end at the door: a request to return, never a rejection; another unit may be tried unless it is the last."""
    close(step.connection, step.state, step.now, ending)
    kept = {"keep_stopped": True} if last else {}
    return step.go("stopped", ending=ending, notice=verdict.sentence(step.served.texts), **kept)


def _page(look: Look) -> Page:
    served, state = look.served, look.state
    last = "keep_stopped" in state.scratch
    more = not last and outlook(look.connection, served, state, served.clock()) is not None
    # an earlier unit's code is not lost by a later one
    earned = best_ending(look.connection, state.assessor) == "completed"
    quality = state.scratch.get("ending", "failed_quality") == "failed_quality"
    key = "failed_quality" if quality else "failed_comprehension"
    takes = ending(look.connection, served, state, "completed" if earned else key)
    often = quality and has_failed_often(look.connection, served, state.assessor)
    words = "failed_often" if often else "failed_topic" if more and not quality else key
    other = "topic" if served.study.work.units_per_topic == 1 and not quality else "task"
    return Stopped(
        **look.common,
        title=served.say("end.task_ended" if more else "end.part_ended"),
        text=farewell(look.connection, served, state, words, last=not (more or takes.link)),
        ending=takes,
        more=more_text(look.connection, served, state, f"end.another_{other}") if more else "",
    )


STAGE = Stage(take_more, _page)
