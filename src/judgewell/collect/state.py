"""Where an assessor is: read in one query, moved in one update.

An assessor goes through stages: consent, waiting (for a unit), instructions, practice, topic, comprehension, quiz,
judge, revise, questionnaire, done; or ends at declined or stopped. `position` counts inside a stage. `turn` counts the
steps that were accepted: a request that was made for another turn changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from judgewell.collect.schema import assessors, events, reservations, verdicts
from judgewell.collect.served import Served
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
    excluded: bool  # left out by the owner or a review


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
    holding: Holding | None

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


PERSON = sa.select(
    assessors.c.number,
    assessors.c.pseudonym,
    assessors.c.stage,
    assessors.c.position,
    assessors.c.turn,
    assessors.c.scratch,
    assessors.c.moved,
    assessors.c.reservation,
).where(assessors.c.number == sa.bindparam("assessor"), assessors.c.forgotten.is_(None))
HOLDING_COLUMNS: tuple[sa.ColumnElement[Any], ...] = (
    reservations.c.number,
    reservations.c.unit,
    reservations.c.topic,
    reservations.c.state,
    reservations.c.expires,
    reservations.c.revisions,
    reservations.c.backs,
    reservations.c.excluded,
)
HOLDING: sa.Select[Any] = sa.select(*HOLDING_COLUMNS).where(reservations.c.number == sa.bindparam("reservation"))


def load(connection: sa.Connection, served: Served, assessor: int) -> State | None:
    """Where the assessor is, to be shown; None where there is no such assessor."""
    person = connection.execute(PERSON, {"assessor": assessor}).one_or_none()
    if person is None:
        return None
    holding = None
    if person.reservation is not None:
        holding = hold(connection, served, connection.execute(HOLDING, {"reservation": person.reservation}).one())
    return State(*person[:7], holding)


def hold(connection: sa.Connection, served: Served, row: Any) -> Holding:
    """A reservation's row together with what never changes of its unit."""
    scale, size = served.unit(connection, row.unit)
    return Holding(scale, size, *row)


_MOVED = ("stage", "position", "turn", "scratch", "moved", "reservation")
_MOVE = (
    sa.update(assessors)
    .where(assessors.c.number == sa.bindparam("assessor"))
    .values({name: sa.bindparam(f"new_{name}") for name in _MOVED})
)


def move(
    connection: sa.Connection,
    state: State,
    now: float,
    stage: str,
    position: int = 0,
    *,
    reservation: int | None = None,
    forget: bool = True,
    **values: Any,
) -> State:
    """Bring the assessor to a stage, with another unit where one is named; the step is used up.

    What the stage gathered is forgotten unless told otherwise. Values named `keep_…` are remembered for good, all
    others until the next step. What it gives back has the unit in hand as it was.
    """
    scratch = {name: value for name, value in state.scratch.items() if not forget or name.startswith("keep_")}
    new = replace(state, stage=stage, position=position, turn=state.turn + 1, scratch=scratch | values, moved=now)
    if reservation is None and state.holding is not None:
        reservation = state.holding.number
    connection.execute(
        _MOVE,
        {
            "assessor": state.assessor,
            "new_stage": stage,
            "new_position": position,
            "new_turn": new.turn,
            "new_scratch": new.scratch,
            "new_moved": now,
            "new_reservation": reservation,
        },
    )
    return new


def log(
    connection: sa.Connection, state: State, now: float, kind: str, position: int | None = None, **data: Any
) -> None:
    """One line of the log."""
    reservation = state.holding.number if state.holding else None
    row = {"at": now, "kind": kind, "assessor": state.assessor, "reservation": reservation, "position": position}
    connection.execute(sa.insert(events), {**row, "data": data})


def judge(connection: sa.Connection, state: State, now: float, name: str, attempt: int, verdict: Verdict) -> None:
    """Keep the verdict of a check."""
    row = {"assessor": state.assessor, "reservation": state.holding.number if state.holding else None}
    told = {"name": name, "attempt": attempt, "passed": verdict.passed, "reason": verdict.reason or None, "at": now}
    connection.execute(sa.insert(verdicts), row | told)
