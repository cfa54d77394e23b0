"""Where an assessor is: read in one query, moved in one update.

An assessor goes through stages: consent, waiting (for a unit), instructions, practice, topic, comprehension, quiz,
judge, revise, questionnaire, done; or ends at declined or stopped. `position` counts inside a stage. `turn` counts the
steps that were accepted: a request that was made for another turn changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from judgewell.server.session.served import Served
from judgewell.server.store.prepared import Prepared
from judgewell.server.store.schema import MACHINE, answers, assessors, events, reservations, verdicts
from judgewell.study.checks import Verdict


@dataclass(frozen=True)
class Holding:
    """The unit an assessor has in hand."""

    scale: str | None
    size: int
    number: int  # of the reservation
    unit: int
    topic: str
    state: str
    expires: float
    revisions: int
    backs: int
    excluded: bool  # excluded by the owner or a review


@dataclass(frozen=True)
class State:
    """Where an assessor is."""

    assessor: int
    pseudonym: str
    stage: str
    position: int
    turn: int
    scratch: Mapping[str, Any]
    moved: float
    origin: str
    holding: Holding | None

    @property
    def is_machine(self) -> bool:
        return self.origin == MACHINE

    @property
    def reached(self) -> int:
        """The last position of the unit that has an answer."""
        return int(self.scratch.get("reached", 0))

    @property
    def held(self) -> Holding:
        """The unit in hand, at stages that have one."""
        if self.holding is None:
            raise LookupError(f"assessor {self.assessor} is at {self.stage} without a unit")
        return self.holding


_STATE = ("number", "pseudonym", "stage", "position", "turn", "scratch", "moved", "origin")  # as State has them
PERSON = sa.select(*(assessors.c[name] for name in (*_STATE, "reservation"))).where(
    assessors.c.number == sa.bindparam("person"), assessors.c.forgotten.is_(None)
)
_HELD = ("number", "unit", "topic", "state", "expires", "revisions", "backs", "excluded")  # as Holding has them
HOLDING_COLUMNS: tuple[sa.ColumnElement[Any], ...] = tuple(reservations.c[name] for name in _HELD)
HOLDING: sa.Select[Any] = sa.select(*HOLDING_COLUMNS).where(reservations.c.number == sa.bindparam("reservation"))
_BOTH = Prepared(
    PERSON.add_columns(*(column.label(f"held_{column.name}") for column in HOLDING_COLUMNS)).select_from(
        assessors.outerjoin(reservations, reservations.c.number == assessors.c.reservation)
    )
)
OWN = len(PERSON.selected_columns)  # a row of both has the person's columns first


def load(connection: sa.Connection, served: Served, assessor: int) -> State | None:
    """Where the assessor is, to be shown; None where there is no such assessor."""
    row = _BOTH.one(connection, person=assessor)
    if row is None:
        return None
    holding = None if row.reservation is None else hold(connection, served, row[OWN:])
    return state_of(row, holding)


def state_of(row: Sequence[Any], holding: Holding | None) -> State:
    """A row that begins with the person's columns, and the unit in hand."""
    columns = (*row[: len(_STATE)], holding)
    return State(*columns)


def hold(connection: sa.Connection, served: Served, row: Sequence[Any]) -> Holding:
    """A reservation's columns together with what never changes of its unit."""
    scale, size = served.unit(connection, row[1])
    return Holding(scale, size, *row)


_MOVED = ("stage", "position", "turn", "scratch", "moved", "reservation")
_MOVE = (
    sa.update(assessors)
    .where(assessors.c.number == sa.bindparam("person"))
    .values({name: sa.bindparam(f"new_{name}") for name in _MOVED})
)
_ANSWER = [column.name for column in answers.c if column is not answers.c.number]
_STORE = sa.insert(answers).values({name: sa.bindparam(f"answer_{name}") for name in _ANSWER}).inline()
_STORE_ALONE, _MOVE_ALONE = Prepared(_STORE), Prepared(_MOVE)
_STORE_AND_MOVE = Prepared(_MOVE.add_cte(_STORE.cte("stored")))  # PostgreSQL takes both as one statement


def move(
    connection: sa.Connection,
    state: State,
    now: float,
    stage: str,
    position: int = 0,
    *,
    reservation: int | None = None,
    forget: bool = True,
    answer: Mapping[str, Any] | None = None,
    **values: Any,
) -> State:
    """Bring the assessor to a stage, with another unit where one is named; the step is used up, its `answer` stored.

    What the stage gathered is forgotten by default. Values named `keep_…` are remembered for good, all
    others until the next step. What it gives back has the unit in hand as it was.
    """
    scratch = {name: value for name, value in state.scratch.items() if not forget or name.startswith("keep_")}
    new = replace(state, stage=stage, position=position, turn=state.turn + 1, scratch=scratch | values, moved=now)
    if reservation is None and state.holding is not None:
        reservation = state.holding.number
    moved = {
        "person": state.assessor,
        "new_stage": stage,
        "new_position": position,
        "new_turn": new.turn,
        "new_scratch": new.scratch,
        "new_moved": now,
        "new_reservation": reservation,
    }
    if answer is not None and connection.dialect.name == "postgresql":
        _STORE_AND_MOVE.run(connection, **moved, **_bound(answer))
        return new
    if answer is not None:
        store(connection, answer)
    _MOVE_ALONE.run(connection, **moved)
    return new


def store(connection: sa.Connection, answer: Mapping[str, Any]) -> None:
    """Store an answer."""
    _STORE_ALONE.run(connection, **_bound(answer))


def _bound(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {f"answer_{name}": answer.get(name) for name in _ANSWER}


def _inserting(table: sa.Table) -> Prepared:
    names = [column.name for column in table.c if column.name != "number"]
    return Prepared(sa.insert(table).values({name: sa.bindparam(f"new_{name}") for name in names}).inline())


_LOG, _VERDICT = _inserting(events), _inserting(verdicts)


def log(
    connection: sa.Connection, state: State, now: float, kind: str, position: int | None = None, **data: Any
) -> None:
    """One line of the log."""
    reservation = state.holding.number if state.holding else None
    log_event(connection, now, kind, state.assessor, reservation, position, **data)


def log_event(
    connection: sa.Connection,
    now: float,
    kind: str,
    assessor: int | None = None,
    reservation: int | None = None,
    position: int | None = None,
    **data: Any,
) -> None:
    """One line of the log, about anybody or the whole study."""
    _LOG.run(
        connection,
        new_at=now,
        new_kind=kind,
        new_assessor=assessor,
        new_reservation=reservation,
        new_position=position,
        new_data=data,
    )


def judge(connection: sa.Connection, state: State, now: float, name: str, attempt: int, verdict: Verdict) -> None:
    """Keep the verdict of a check."""
    _VERDICT.run(
        connection,
        new_assessor=state.assessor,
        new_reservation=state.holding.number if state.holding else None,
        new_name=name,
        new_attempt=attempt,
        new_passed=verdict.passed,
        new_reason=verdict.reason or None,
        new_at=now,
    )
