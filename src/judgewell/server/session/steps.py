"""One step of an assessor: taken at its own turn, checked, stored, and the next page shown.

`take` is a job for the store. A step that was sent twice, from another tab or out of order changes nothing and shows
the page the assessor is on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from judgewell.server.session import pages
from judgewell.server.session.answers import (
    Form,
    NotTaken,
    about,
    first,
    read_answer,
    read_visit,
    standing_answers,
    to_keep,
)
from judgewell.server.session.assignment import close, come, outlook, reserve
from judgewell.server.session.served import Served
from judgewell.server.session.show import may_go_back, page_of, practice_lines, scale_of
from judgewell.server.session.state import State, judge, load, log, move, store
from judgewell.server.store.schema import assessors, closing, reservations, study, units
from judgewell.study.checks import KnownPairs, Verdict
from judgewell.study.questions import Magnitude


@dataclass(frozen=True)
class Taken:
    """What became of a step: the page to show, and the outcome: taken, waiting (for a unit), repeated or not taken."""

    page: pages.Page
    outcome: str


@dataclass(frozen=True)
class Step:
    """A step under way: everything its handler needs."""

    connection: sa.Connection
    served: Served
    state: State
    form: Form
    now: float

    @property
    def action(self) -> str:
        return first(self.form, "action") or "next"

    def go(self, stage: str, position: int = 0, **values: Any) -> State:
        return move(self.connection, self.state, self.now, stage, position, **values)

    def verdict(self, name: str, attempt: int, verdict: Verdict) -> None:
        judge(self.connection, self.state, self.now, name, attempt, verdict)


def take(connection: sa.Connection, served: Served, assessor: int, turn: int, form: Form) -> Taken | None:
    """Take a step of an assessor, made for a turn; None where there is no such assessor."""
    now = served.clock()
    state = come(connection, served, assessor, now, stepped=True)
    if state is None:
        return None
    if turn != state.turn:
        log(connection, state, now, "repeated", sent=turn, turn=state.turn)
        return Taken(page_of(connection, served, state), "repeated")
    step = Step(connection, served, state, form, now)
    try:
        new = _begin(step, served.say("trouble.gone")) if _is_gone(state) else _HANDLERS[state.stage](step)
    except NotTaken as problem:
        log(connection, state, now, "not taken", state.position or None, reason=problem.reason)
        page = page_of(connection, served, state, problem=problem.said, field=problem.field, typed=form)
        return Taken(page, "not taken")
    if new.stage != state.stage:  # the unit in hand may be another, or changed
        new = load(connection, served, assessor) or new
    return Taken(page_of(connection, served, new), "waiting" if new.stage == "waiting" else "taken")


def _is_gone(state: State) -> bool:
    """Whether the unit in hand went to somebody else before its first answer."""
    return state.stage != "waiting" and state.holding is not None and state.holding.state == "expired"


def _consent(step: Step) -> State:
    if step.action == "disagree":
        return step.go("declined")
    if step.action == "agree":
        who = assessors.c.number == step.state.assessor
        step.connection.execute(sa.update(assessors).where(who).values(consented=step.now))
        return _begin(step)
    raise NotTaken(step.served.say("refused.no_choice", choices=_consent_choices(step.served)), "no choice")


def _consent_choices(served: Served) -> str:
    return ", ".join((served.say("consent.agree"), served.say("consent.disagree")))


def _begin(step: Step, notice: str = "") -> State:
    """Take a unit, or wait for one."""
    reservation = reserve(step.connection, step.served, step.state, step.now)
    if reservation is None:
        return step.go("waiting", notice=notice)
    scale = _scale_name(step.connection, reservation)
    instructed = step.state.scratch.get("keep_instructed")
    if instructed != scale:
        return step.go("instructions", reservation=reservation, keep_instructed=scale, notice=notice)
    return step.go("topic", reservation=reservation, notice=notice)


def _scale_name(connection: sa.Connection, reservation: int) -> str:
    query = sa.select(units.c.scale).join_from(reservations, units, units.c.number == reservations.c.unit)
    return connection.execute(query.where(reservations.c.number == reservation)).scalar() or "pairs"


def _waiting(step: Step) -> State:
    return _begin(step)


def _instructions(step: Step) -> State:
    if step.served.study.checks.practice and "keep_practised" not in step.state.scratch:
        return step.go("practice", 1, numbers=[], tried=0)
    return step.go("topic")


def _practice(step: Step) -> State:
    section, scratch = step.served.study.checks.practice, step.state.scratch
    if section is None:
        return step.go("topic")
    with about(step.served, "value"):
        number = Magnitude().read(first(step.form, "value"))
    lines, numbers = practice_lines(step.served, step.state), [*scratch["numbers"], number]
    log(step.connection, step.state, step.now, "practice", step.state.position, number=number)
    if len(numbers) < len(lines):
        return step.go("practice", len(numbers) + 1, forget=False, numbers=numbers, notice="")
    tried = scratch["tried"] + 1
    verdict = section.check()(numbers, lines, tried)
    step.verdict("practice", tried, verdict)
    if verdict:
        return step.go("topic", keep_practised=True, notice=step.served.say("practice.passed"))
    if verdict.again:
        return step.go("practice", 1, numbers=[], tried=tried, notice=verdict.said(step.served.texts))
    return _stop(step, "failed_practice", verdict, last=True)


def _stop(step: Step, ending: str, verdict: Verdict, *, last: bool) -> State:
    """An end at the door: a request to return, never a rejection; another unit may be tried unless it is the last."""
    close(step.connection, step.state, step.now, ending)
    kept = {"keep_stopped": True} if last else {}
    return step.go("stopped", ending=ending, notice=verdict.said(step.served.texts), **kept)


def _topic(step: Step) -> State:
    if step.served.questions_about(step.state.held.topic):
        return step.go("comprehension", 1, chosen=[])
    return _after_comprehension(step)


def _after_comprehension(step: Step, notice: str = "") -> State:
    topic = step.state.held.topic
    pairs = step.served.quiz_pairs(topic)
    passed = step.state.scratch.get("keep_quiz", [])
    own = topic if any(pair.topic for pair in pairs) else ""
    if pairs and own not in passed:
        return step.go("quiz", 1, sides=[], notice=notice)
    return step.go("judge", 1, notice=notice)


def _comprehension(step: Step) -> State:
    asked = step.served.questions_about(step.state.held.topic)
    check = asked[step.state.position - 1].check()
    typed = first(step.form, "choice")
    if not (typed.isascii() and typed.isdigit() and len(typed) < 4 and 1 <= int(typed) <= len(check.answers)):
        raise NotTaken(step.served.say("refused.no_choice", choices=", ".join(check.answers)), "no choice", "choice")
    chosen = [*step.state.scratch["chosen"], int(typed)]
    verdict = check(chosen)
    step.verdict("comprehension", len(chosen), verdict)
    if verdict and step.state.position < len(asked):
        return step.go("comprehension", step.state.position + 1, chosen=[])
    if verdict:
        return _after_comprehension(step, step.served.say("comprehension.passed"))
    if verdict.again:
        told = {"problem": verdict.said(step.served.texts), "problem_field": "choice"}
        return step.go("comprehension", step.state.position, chosen=chosen, **told)
    return _stop(step, "failed_comprehension", verdict, last=False)


def _quiz(step: Step) -> State:
    section, topic = step.served.study.checks.quiz, step.state.held.topic
    side = first(step.form, "preferred")
    if section is None or side not in ("left", "right"):
        choices = ", ".join(step.served.say(f"side.{name}") for name in ("left", "right"))
        raise NotTaken(step.served.say("refused.no_choice", choices=choices), "no choice", "preferred")
    check, sides = section.check(topic), [*step.state.scratch["sides"], side]
    log(step.connection, step.state, step.now, "quiz", step.state.position, preferred=side)
    if len(sides) < len(check.right):
        return step.go("quiz", len(sides) + 1, sides=sides)
    verdict = check(sides)
    step.verdict("quiz", 1, verdict)
    own = topic if any(pair.topic == topic for pair in section.pair) else ""
    if verdict:
        passed = [*step.state.scratch.get("keep_quiz", []), own]
        return step.go("judge", 1, keep_quiz=passed, notice=verdict.said(step.served.texts))
    return _stop(step, "failed_quiz", verdict, last=not own)


def _judge(step: Step) -> State:
    state = step.state
    visit = read_visit(step.form, step.now - state.moved, step.served.silence)
    if step.action == "back" and state.position > 1 and may_go_back(step.served, state):
        log(step.connection, state, step.now, "back", state.position, active=visit.active, idle=visit.idle)
        mine = reservations.c.number == state.held.number
        step.connection.execute(sa.update(reservations).where(mine).values(backs=reservations.c.backs + 1))
        return step.go("judge", state.position - 1, reached=state.reached)
    answer = read_answer(step.served, scale_of(step.served, state), step.form)
    row = to_keep(step.connection, state, answer, visit, step.now)
    if state.position == 1:
        _freeze(step.connection, step.now)
    if state.position < state.held.size:
        return step.go("judge", state.position + 1, answer=row, reached=max(state.reached, state.position))
    store(step.connection, row)
    return _finish(step)


_FREEZE = sa.update(study).where(study.c.first_judgment.is_(None)).values(first_judgment=sa.bindparam("now"))


def _freeze(connection: sa.Connection, now: float) -> None:
    """From now on the study is frozen."""
    connection.execute(_FREEZE, {"now": now})


def _finish(step: Step) -> State:
    """The checks at the end of a unit: passed, to be revised, or failed."""
    state = step.state
    verdicts = _final_verdicts(step)
    attempt = state.held.revisions + 1
    for name, verdict in verdicts.items():
        step.verdict(name, attempt, verdict)
    failed = [name for name, verdict in verdicts.items() if not verdict]
    if failed and state.held.revisions < step.served.study.checks.revisions:
        mine = reservations.c.number == state.held.number
        step.connection.execute(sa.update(reservations).where(mine).values(revisions=state.held.revisions + 1))
        return step.go("revise")
    if [name for name in failed if name != "time"]:
        close(step.connection, state, step.now, "failed_quality")
        return step.go("stopped", ending="failed_quality", notice=step.served.say("check.revise_last"))
    # Too little time alone is never held against anybody; its verdict is kept.
    close(step.connection, state, step.now, "completed")
    count = int(state.scratch.get("keep_units", 0)) + 1
    return step.go("questionnaire" if _asks(step, count) else "done", keep_units=count)


def _asks(step: Step, units_done: int) -> bool:
    """Whether the closing questionnaire follows this unit."""
    questionnaire = step.served.study.questionnaire
    if questionnaire.questions == []:
        return False
    if questionnaire.when == "last":
        return outlook(step.connection, step.served, step.state, step.now) is None
    return units_done == 1 or questionnaire.when == "each"


def _final_verdicts(step: Step) -> dict[str, Verdict]:
    served, state = step.served, step.state
    items = served.items(step.connection, state.held.unit)
    given = standing_answers(step.connection, state)
    found: dict[str, Verdict] = {}
    if served.known_order is not None and scale_of(served, state) is not None:
        values = {item.name: row.value for item, row in zip(items, given, strict=True)}
        high, low = (next((item.name for item in items if item.known == kind), None) for kind in ("H", "N"))
        found["known"] = served.known_order(values, high, low)
    elif served.known_order is not None:
        pairs = [(row.preferred, item.known) for item, row in zip(items, given, strict=True) if item.known]
        if pairs and all(preferred for preferred, _ in pairs):
            found["known_pairs"] = KnownPairs()([chosen for chosen, _ in pairs], [side for _, side in pairs])
    if served.least_time is not None:
        found["time"] = served.least_time(
            {f"{item.position}: {item.name}": row.seconds for item, row in zip(items, given, strict=True)}
        )
    return found


def _revise(step: Step) -> State:
    return step.go("judge", 1, reached=step.state.held.size)


def _questionnaire(step: Step) -> State:
    given = {}
    for question in step.served.closing:
        with about(step.served, question.name):
            given[question.name] = question.read(step.form.get(question.name, ()))
    row = {"assessor": step.state.assessor, "reservation": step.state.held.number, "at": step.now}
    told = [{**row, "name": name, "answer": answer} for name, answer in given.items()]
    step.connection.execute(sa.insert(closing), told)
    return step.go("done")


def _more(step: Step) -> State:
    if step.action == "more" and "keep_stopped" not in step.state.scratch:
        return _begin(step)
    raise NotTaken("", "nothing to do here")


def _over(step: Step) -> State:
    raise NotTaken("", "nothing to do here")


_HANDLERS: dict[str, Callable[[Step], State]] = {
    "consent": _consent,
    "waiting": _waiting,
    "instructions": _instructions,
    "practice": _practice,
    "topic": _topic,
    "comprehension": _comprehension,
    "quiz": _quiz,
    "judge": _judge,
    "revise": _revise,
    "questionnaire": _questionnaire,
    "done": _more,
    "stopped": _more,
    "declined": _over,
}
