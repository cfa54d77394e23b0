"""From a form to an answer: read by the scale, checked, timed and stored, every revision kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from judgewell.server.session.served import Served
from judgewell.server.session.state import State
from judgewell.server.store.prepared import Prepared
from judgewell.server.store.schema import answers, events
from judgewell.study.checks import Comment, PairAgrees, Verdict
from judgewell.study.questions import Absolute, Preference, Ratio, Scale, Side
from judgewell.study.typed_numbers import Refused

Form = Mapping[str, tuple[str, ...]]
LONGEST_IDLE = 6.0  # an open page without any step holds its unit for so many times the silence


class NotTaken(Exception):
    """An answer that is asked for again: the sentence for the assessor, the reason for the team, the form's field."""

    def __init__(self, sentence: str, reason: str, field: str = "") -> None:
        self.sentence, self.reason, self.field = sentence, reason, field
        super().__init__(reason)


@dataclass(frozen=True)
class Answer:
    """The columns of an answer, and the form's fields as they were typed."""

    columns: dict[str, Any]
    typed: dict[str, list[str]]
    comment: str | None = None


@dataclass(frozen=True)
class Visit:
    """One stay on a page: active and idle seconds, and whether words were marked."""

    active: float
    idle: float
    highlight: bool = False


def first(form: Form, name: str) -> str:
    """The first value of a field, empty where it was not sent."""
    return form.get(name, ("",))[0]


@contextmanager
def about(served: Served, name: str) -> Iterator[None]:
    """Report whatever is refused while this field is read as this field's problem."""
    try:
        yield
    except Refused as refused:
        raise NotTaken(refused.sentence(served.texts), refused.key, name) from None


def read_answer(served: Served, scale: Scale | None, form: Form) -> Answer:
    """The answer in a form, or :class:`NotTaken`."""
    names = ["value"] if scale else ["preferred", "absolute", "left_score", "right_score"]
    typed = {name: list(form[name]) for name in (*names, "comment") if name in form}
    if scale is not None:
        with about(served, "value"):
            columns: dict[str, Any] = {"value": scale.read(first(form, "value"))}
    else:
        columns = _read_pair(served, form)
    comment = first(form, "comment").strip() or None
    least = served.study.checks.comment
    if least:
        _pass(served, Comment(least)(comment), "comment")
    return Answer(columns, typed, comment)


def read_machine_answer(served: Served, scale: Scale | None, form: Form) -> Answer:
    """A machine's answer with what came beside it; where it gave none, why not."""
    why = first(form, "unrateable")
    if why:
        return Answer({"unrateable": why}, {})
    answer = read_answer(served, scale, form)
    numbers = {name: float(first(form, name)) for name in ("expected", "spread") if name in form}
    columns = answer.columns | numbers | {"swapped": first(form, "swapped") or None}
    return Answer(columns, answer.typed, answer.comment)


def _read_pair(served: Served, form: Form) -> dict[str, Any]:
    preferred: Side | None = None
    relevant: tuple[bool | None, bool | None] = (None, None)
    scores: tuple[float | None, float | None] = (None, None)
    for question in served.questions:
        if isinstance(question, Preference):
            with about(served, "preferred"):
                preferred = question.read(first(form, "preferred"))
        elif isinstance(question, Absolute):
            with about(served, "absolute"):
                relevant = question.read(first(form, "absolute"), preferred)
        else:
            scores = (
                _read_score(served, question, form, "left_score"),
                _read_score(served, question, form, "right_score"),
            )
    verdict = PairAgrees()(preferred, relevant, scores)
    side = next((value for name, value in verdict.values if name in ("side", "preferred")), "left")
    _pass(served, verdict, "right_score" if side == "right" else "left_score")
    return {
        "preferred": preferred,
        "left_relevant": relevant[0],
        "right_relevant": relevant[1],
        "left_score": scores[0],
        "right_score": scores[1],
    }


def _read_score(served: Served, question: Ratio, form: Form, name: str) -> float:
    with about(served, name):
        return question.read(first(form, name))


def _pass(served: Served, verdict: Verdict, name: str) -> None:
    if not verdict:
        raise NotTaken(verdict.sentence(served.texts), verdict.reason, name)


def read_visit(form: Form, elapsed: float, silence: float) -> Visit:
    """The times a page reports, held to the server's clock: no more active seconds than have passed.

    A page without scripts reports none; then the time counts as active up to the `silence` after which a unit expires,
    and what is beyond is idle. No visit is longer than an open page can hold its unit: what a clock that jumped
    ahead says beyond that is nobody's work.
    """
    elapsed = min(max(0.0, elapsed), LONGEST_IDLE * silence)
    highlight = first(form, "highlight") == "1"
    active, idle = _seconds(first(form, "active")), _seconds(first(form, "idle"))
    if active is None:
        active, idle = min(elapsed, silence), elapsed
    active = min(active, elapsed)
    return Visit(active, min(idle or 0.0, elapsed - active), highlight)


def _seconds(text: str) -> float | None:
    """A plain decimal, or None; what a page claims in another form is not taken."""
    whole, _, rest = text.partition(".")
    return (
        float(text) if len(text) < 20 and text.isascii() and whole.isdigit() and (rest.isdigit() or not rest) else None
    )


_STANDING = sa.select(answers).where(
    answers.c.assessor == sa.bindparam("person"), answers.c.unit == sa.bindparam("in_unit"), answers.c.current
)
_ALL_STANDING = Prepared(_STANDING.order_by(answers.c.position))
_CURRENT = Prepared(_STANDING.where(answers.c.position == sa.bindparam("place")))


def current_answer(connection: sa.Connection, state: State, position: int) -> Any:
    """The current answer at a position of the unit in progress, or None."""
    return _CURRENT.one(connection, person=state.assessor, in_unit=state.held.unit, place=position)


def standing_answers(connection: sa.Connection, state: State) -> list[Any]:
    """The current answers of the unit in progress, in order."""
    return _ALL_STANDING.rows(connection, person=state.assessor, in_unit=state.held.unit)


def to_keep(connection: sa.Connection, state: State, answer: Answer, visit: Visit, now: float) -> dict[str, Any]:
    """The row of an answer at the assessor's position; one that stood there stays as an earlier revision."""
    before = current_answer(connection, state, state.position) if state.position <= state.reached else None
    away_active, away_idle = _visits_without_answer(connection, state)
    if before is not None:
        connection.execute(sa.update(answers).where(answers.c.number == before.number).values(current=False))
    active = visit.active + away_active + (before.seconds if before else 0.0)
    idle = visit.idle + away_idle + (before.idle if before else 0.0)
    return {
        "reservation": state.held.number,
        "assessor": state.assessor,
        "unit": state.held.unit,
        "position": state.position,
        "revision": before.revision + 1 if before else 1,
        "current": True,
        "typed": answer.typed,
        "comment": answer.comment,
        "seconds": active,
        "idle": idle,
        "visit": visit.active,
        "highlight": visit.highlight,
        "at": now,
        **answer.columns,
    }


def _visits_without_answer(connection: sa.Connection, state: State) -> tuple[float, float]:
    """Seconds spent at this place before going back from it, since its last answer; times refused are in the visit."""
    if not state.held.backs:
        return 0.0, 0.0
    last = sa.select(sa.func.max(answers.c.at)).where(
        answers.c.reservation == state.held.number, answers.c.position == state.position
    )
    since = connection.execute(last).scalar()
    query = sa.select(events.c.data).where(
        events.c.reservation == state.held.number,
        events.c.kind == "back",
        events.c.position == state.position,
        events.c.at > (since if since is not None else -1.0),
    )
    visits = [data for (data,) in connection.execute(query)]
    return sum(data["active"] for data in visits), sum(data["idle"] for data in visits)
