"""One step of an assessor: taken at its own turn, checked, stored, and the next page shown.

`take` is a job for the store. A step that was sent twice, from another tab or out of order changes nothing and shows
the page the assessor is on.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

import sqlalchemy as sa

from judgewell.server.session.answers import Form, NotTaken
from judgewell.server.session.assignment import ALIVE_EVERY, come
from judgewell.server.session.pages import Page, Trouble
from judgewell.server.session.served import Served
from judgewell.server.session.stage import Look, Step, stages
from judgewell.server.session.stages.waiting import begin
from judgewell.server.session.state import State, load, log
from judgewell.server.store.transactions import NeedsTurn, is_together
from judgewell.server.tokens import step_token


@dataclass(frozen=True)
class Taken:
    """What became of a step: the page to show, and the outcome: taken, waiting (for a unit), repeated or not taken."""

    page: Page
    outcome: str


def take(connection: sa.Connection, served: Served, assessor: int, turn: int, form: Form) -> Taken | None:
    """Take a step of an assessor, made for a turn; None where there is no such assessor.

    Beside other processes it needs a turn unless it may be one that changes nothing but the assessor's own rows and a
    free unit. Only at a unit's end and where a unit is taken can it turn out to change more; then it is undone.
    """
    now = served.clock()
    state = come(connection, served, assessor, now, stepped=True)
    if state is None:
        return None
    if not is_together(connection):
        return _take(connection, served, state, turn, form, now)
    if turn != state.turn or not _may_be_own(connection, served, state):
        raise NeedsTurn
    judging = state.stage == "judge" and state.position < state.held.size
    with nullcontext() if judging or state.stage in _READING else connection.begin_nested():
        return _take(connection, served, state, turn, form, now)


_READING, _TAKING = ("instructions", "topic"), ("consent", "waiting", "questionnaire", "done")


def _may_be_own(connection: sa.Connection, served: Served, state: State) -> bool:
    """Whether this is an answer, a page to read before the first one, or a step after which a unit is taken.

    The study's first answer of all freezes the study, which is everybody's.
    """
    if state.stage in _TAKING or state.stage in _READING:
        return True
    return state.stage == "judge" and (state.position > 1 or served.is_frozen(connection))


def _take(connection: sa.Connection, served: Served, state: State, turn: int, form: Form, now: float) -> Taken:
    if turn != state.turn:
        log(connection, state, now, "repeated", sent=turn, turn=state.turn)
        return Taken(page_of(connection, served, state), "repeated")
    step = Step(connection, served, state, form, now)
    try:
        new = begin(step, served.say("trouble.gone")) if _is_gone(state) else stages()[state.stage].step(step)
    except NotTaken as problem:
        log(connection, state, now, "not taken", state.position or None, reason=problem.reason)
        page = page_of(connection, served, state, problem=problem.sentence, field=problem.field, typed=form)
        return Taken(page, "not taken")
    if new.stage != state.stage and new.holding is state.holding:  # the unit in hand may have changed
        new = load(connection, served, state.assessor) or new
    return Taken(page_of(connection, served, new), "waiting" if new.stage == "waiting" else "taken")


def _is_gone(state: State) -> bool:
    """Whether the unit in hand went to somebody else before its first answer."""
    return state.stage != "waiting" and state.holding is not None and state.holding.state == "expired"


def page_of(
    connection: sa.Connection,
    served: Served,
    state: State,
    *,
    problem: str = "",
    field: str = "",
    typed: Form | None = None,
) -> Page:
    """The page an assessor is on; `problem`, the `field` it is about and `typed` where an answer was not taken.

    A problem of the step before (a wrong answer that counted as a try) and a notice are in the scratch.
    """
    common = {
        **served.marks,
        "step": step_token(served.secret, state.assessor, state.turn),
        "problem": problem or state.scratch.get("problem", ""),
        "problem_field": field or state.scratch.get("problem_field", ""),
        "notice": state.scratch.get("notice") or "",
        "alive_every": ALIVE_EVERY if state.holding and state.holding.state in ("live", "expired", "late") else 0,
    }
    if typed is not None:
        common["typed"] = typed
    return stages()[state.stage].page(Look(connection, served, state, common))


def trouble(served: Served, key: str) -> Trouble:
    """A page for somebody we do not know, or cannot serve just now."""
    again = key == "server"
    title = served.say("trouble.try_later" if again or key == "arrival_later" else "trouble.bad_link")
    text = served.show(f"trouble.{key}", name=served.study.platform.assessor)
    return Trouble(**served.marks, step="", title=title, text=text, again=again)
