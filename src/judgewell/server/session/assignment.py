"""Handing out work: a reservation is a row with an expiry, made in the transaction that takes the unit's free place.

A reservation lives on signs of life. Without them it expires and its place is free; when nothing else is left, the unit
whose holder has been silent longest is handed out again even before that, soonest where the holder has answered nothing
yet. Whoever comes back late goes on at their own place if it is still free. If it is not, those who have answered go on
beyond the unit's need (state `late`), and those who have not take another unit, so that nobody is paid twice for one.

Nobody gets a unit with a document (or a pair) that they have had before in another unit of the topic, known documents
excepted: a redundancy of 3 is three people.

Locks are taken in one order (the assessor, a reservation, a unit), and a unit only one at a time, so that no two
transactions can wait for each other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from judgewell.server.session.answers import LONGEST_IDLE
from judgewell.server.session.budget import budget, lock_budget
from judgewell.server.session.served import Served
from judgewell.server.session.state import HOLDING, HOLDING_COLUMNS, OWN, PERSON, State, hold, log, log_event, state_of
from judgewell.server.store.prepared import Prepared
from judgewell.server.store.schema import answers, assessors, events, items, pauses, reservations, units

SILENT = 120.0  # seconds after which a holder counts as silent when nothing else is left
SILENT_UNANSWERED = 45.0  # the same for a holder who has answered nothing yet
ALIVE_EVERY = 20  # seconds between the signs of life of an open page
PAUSE_WAIT = 60.0  # seconds after which somebody who waits for a pause to end looks again
AT_ONCE = 500


def expire(connection: sa.Connection, now: float, silence: float) -> int:
    """Free the places of those who have been silent too long; how many. Always a transaction of its own."""
    ahead = now + silence + 1
    live = reservations.c.state == "live"
    connection.execute(  # made before the clock was put back: counted from now
        sa.update(reservations).where(live, reservations.c.expires > ahead).values(seen=now, expires=now + silence)
    )
    overdue = connection.execute(
        sa.select(reservations.c.number, reservations.c.assessor, reservations.c.unit)
        .where(live, reservations.c.expires <= now, _not_held(now))
        .order_by(reservations.c.unit)
        .limit(AT_ONCE)
        .with_for_update(skip_locked=True)
    ).all()
    if not overdue:
        return 0
    numbers = [row.number for row in overdue]
    connection.execute(sa.update(reservations).where(reservations.c.number.in_(numbers)).values(state="expired"))
    for unit, count in sorted(Counter(row.unit for row in overdue).items()):
        connection.execute(sa.update(units).where(units.c.number == unit).values(free=units.c.free + count))
    rows = [
        {"at": now, "kind": "expired", "assessor": row.assessor, "reservation": row.number, "data": {}}
        for row in overdue
    ]
    connection.execute(sa.insert(events), rows)
    return len(overdue)


def release(connection: sa.Connection, reservation: int, now: float, why: str) -> bool:
    """Free a live reservation's place at once, as when it expires; false where it is not live (any more).

    Its holder may still come back, as after any other expiry.
    """
    freed = connection.execute(
        sa.update(reservations)
        .where(reservations.c.number == reservation, reservations.c.state == "live")
        .values(state="expired", held_until=None)
        .returning(reservations.c.assessor, reservations.c.unit)
    ).one_or_none()
    if freed is None:
        return False
    connection.execute(sa.update(units).where(units.c.number == freed.unit).values(free=units.c.free + 1))
    event = {
        "at": now,
        "kind": "released",
        "assessor": freed.assessor,
        "reservation": reservation,
        "data": {"why": why},
    }
    connection.execute(sa.insert(events), event)
    return True


def _not_held(now: float) -> sa.ColumnElement[bool]:
    return sa.or_(reservations.c.held_until.is_(None), reservations.c.held_until <= now)


def reserve(connection: sa.Connection, served: Served, state: State, now: float) -> int | None:
    """A unit for the assessor: the reservation's number, or None where there is none just now."""
    limits = _limits(connection, served, state.assessor)
    if limits.used_up or limits.stopped or not _affordable(connection, served):
        return None
    unit = _free_unit(connection, limits)
    if unit is not None:
        _TAKE_PLACE.run(connection, of_unit=unit.number)
    else:
        unit = _silent_unit(connection, limits, now)
    if unit is None:
        return None
    own = _OWN.one(connection, person=state.assessor, of_unit=unit.number, of_topic=unit.topic)
    live = {"new_created": now, "new_seen": now, "new_expires": now + served.silence}
    if own.number is not None:  # given up before
        made = int(own.number)
        _RENEW.run(connection, reservation=made, **live)
    else:
        row = {"new_assessor": state.assessor, "new_unit": unit.number, "new_topic": unit.topic}
        made = int(_RESERVE.value(connection, new_round=(own.round or 0) + 1, **row, **live))
    log_event(connection, now, "reserved", state.assessor, made, None, {"unit": unit.unit})
    return made


def outlook(connection: sa.Connection, served: Served, state: State, now: float) -> float | None:
    """Seconds until work may be free for the assessor (0: there is some now), or None where there is none for good."""
    limits = _limits(connection, served, state.assessor)
    pay = served.study.pay
    spent = budget(connection, pay) if pay.budget is not None else None
    if limits.used_up or (spent is not None and spent.state == "reached"):
        return None
    if spent is not None and not spent.room:  # until units in progress fail or are given up
        return None if _when_free(connection, limits, now, unpaused=True) is None else PAUSE_WAIT
    wait = None if limits.stopped else _when_free(connection, limits, now)
    if wait is None and limits.paused and _when_free(connection, limits, now, unpaused=True) is not None:
        return PAUSE_WAIT
    return wait


def waits_for_pause(connection: sa.Connection, served: Served, state: State, now: float) -> bool:
    """Whether the assessor would have work, or could hope for some, if nothing were paused."""
    limits = _limits(connection, served, state.assessor)
    if not limits.paused or outlook(connection, served, state, now) is None:
        return False
    return limits.stopped or _when_free(connection, limits, now) is None


def _affordable(connection: sa.Connection, served: Served) -> bool:
    """Whether the budget, where there is one, allows another unit; no two units are counted at the same time."""
    if served.study.pay.budget is None:
        return True
    lock_budget(connection)
    return budget(connection, served.study.pay).room


@dataclass(frozen=True)
class _Limits:
    """What an assessor may have: `most` units of a topic, nothing where it is all used up or the study is stopped."""

    person: int
    most: int
    used_up: bool
    paused: bool  # at least one topic
    stopped: bool  # all of them

    @property
    def bound(self) -> dict[str, Any]:
        return {"person": self.person, "most": self.most}


def _count(ending: str) -> sa.Label[int]:
    mine = sa.and_(reservations.c.assessor == assessors.c.number, reservations.c.ending == ending)
    return sa.select(sa.func.count()).where(mine).scalar_subquery().label(ending)


_FACTS = Prepared(
    sa.select(
        assessors.c.excluded,
        _count("completed"),
        _count("failed_quality"),
        sa.exists().select_from(pauses).label("paused"),
        sa.exists().where(pauses.c.topic == "").label("stopped"),
    ).where(assessors.c.number == sa.bindparam("person"))
)


def _limits(connection: sa.Connection, served: Served, assessor: int) -> _Limits:
    """Whoever has done enough, has failed too often, or whose work is excluded, gets no more of it."""
    row, work = _FACTS.one(connection, person=assessor), served.study.work
    used_up = row.completed + row.failed_quality >= work.most_units or bool(row.excluded)
    used_up = used_up or _too_many(served, row.failed_quality)
    return _Limits(assessor, work.units_per_topic, used_up, bool(row.paused), bool(row.stopped))


def has_failed_often(connection: sa.Connection, served: Served, assessor: int) -> bool:
    """Whether an assessor has failed so many units that they get no more."""
    return _too_many(served, _FACTS.one(connection, person=assessor).failed_quality)


def _too_many(served: Served, failed: int) -> bool:
    return 0 < served.study.checks.most_failed <= failed


_ANSWERED = sa.exists().where(answers.c.reservation == reservations.c.number)
_SILENCE = sa.case((_ANSWERED, SILENT), else_=SILENT_UNANSWERED)


def _may(*, several: bool) -> sa.ColumnElement[bool]:
    """Whether a unit is for the assessor; `several` where the study lets one do several units of a topic.

    A unit that was given up before its first answer counts for nothing and may be taken again. Units that share a
    document, or a pair, with one they had are not for them; known documents do not count, except in templates, where
    every document's grade is known.
    """
    had = reservations.alias("had")
    answered = sa.exists().where(answers.c.reservation == had.c.number)
    mine = had.c.assessor == sa.bindparam("person", type_=sa.BigInteger)
    kept = sa.and_(mine, sa.or_(had.c.state != "expired", had.c.excluded, answered))
    full = sa.select(had.c.topic).where(kept).group_by(had.c.topic)
    conditions = [
        units.c.number.not_in(sa.select(had.c.unit).where(kept)),
        units.c.topic.not_in(full.having(sa.func.count() >= sa.bindparam("most", type_=sa.Integer))),
        sa.or_(sa.bindparam("unpaused", type_=sa.Boolean), units.c.topic.not_in(sa.select(pauses.c.topic))),
    ]
    if several:
        one, other = items.alias("one"), items.alias("other")
        same = sa.and_(one.c.doc == other.c.doc, one.c.other.is_not_distinct_from(other.c.other))
        turned = sa.and_(one.c.doc == other.c.other, one.c.other == other.c.doc)
        unknown = sa.and_(one.c.known.is_(None), other.c.known.is_(None))
        overlapping = (
            sa.select(had.c.number)
            .join_from(had, one, one.c.unit == had.c.unit)
            .join(other, sa.or_(same, turned))
            .where(kept, had.c.topic == units.c.topic, other.c.unit == units.c.number)
            .where(sa.or_(units.c.template.is_not(None), unknown))
        )
        conditions.append(~overlapping.exists())
    return sa.and_(*conditions)


def _both(make: Callable[[sa.ColumnElement[bool]], sa.Executable]) -> dict[bool, Prepared]:
    """A query about units that may be taken, for studies with one and with several units of a topic."""
    return {several: Prepared(make(_may(several=several))) for several in (False, True)}


_ANY_FREE = _both(lambda may: sa.select(units.c.number).where(units.c.free > 0, may).limit(1))
_NEXT_SILENT = _both(
    lambda may: (
        sa.select(
            sa.func.min(reservations.c.seen + _SILENCE).label("silent"),
            sa.func.min(reservations.c.expires).label("expires"),
        )
        .join_from(reservations, units, units.c.number == reservations.c.unit)
        .where(reservations.c.state == "live", reservations.c.assessor != sa.bindparam("person"), may)
    )
)


def _when_free(connection: sa.Connection, limits: _Limits, now: float, *, unpaused: bool = False) -> float | None:
    several, bound = limits.most > 1, limits.bound | {"unpaused": unpaused}
    if _ANY_FREE[several].one(connection, **bound) is not None:
        return 0.0
    silent, expires = _NEXT_SILENT[several].one(connection, **bound)
    return None if silent is None else max(0.0, min(float(silent), float(expires)) - now)


_TAKE_PLACE = Prepared(sa.update(units).where(units.c.number == sa.bindparam("of_unit")).values(free=units.c.free - 1))
_OWN = Prepared(
    sa.select(
        sa.func.max(sa.case((reservations.c.unit == sa.bindparam("of_unit"), reservations.c.number))).label("number"),
        sa.func.max(reservations.c.round).label("round"),
    ).where(reservations.c.assessor == sa.bindparam("person"), reservations.c.topic == sa.bindparam("of_topic"))
)
_TIMES: dict[str, Any] = {name: sa.bindparam(f"new_{name}") for name in ("created", "seen", "expires")}
_LIVE = {"state": "live", "late": False, **_TIMES}
_RENEW = Prepared(sa.update(reservations).where(reservations.c.number == sa.bindparam("reservation")).values(_LIVE))
_RESERVE = Prepared(
    sa.insert(reservations)
    .values(
        {name: sa.bindparam(f"new_{name}") for name in ("assessor", "unit", "topic", "round")}
        | {"revisions": 0, "backs": 0, "excluded": False}
        | _LIVE
    )
    .returning(reservations.c.number)
)


_PERSON = PERSON.with_for_update()
_PERSON_ALONE, _HOLDING = Prepared(_PERSON), Prepared(HOLDING.with_for_update())
_ALIVE = Prepared(
    sa.update(reservations)
    .where(reservations.c.number == sa.bindparam("reservation"), reservations.c.state == "live")
    .values(seen=sa.bindparam("new_seen"), expires=sa.bindparam("new_expires"))
    .returning(*HOLDING_COLUMNS)
)


def _person_and_alive() -> sa.Select[Any]:
    """Both in one statement, for PostgreSQL: the reservation is renewed through the person who was locked before."""
    person = _PERSON.cte("person")
    held = (
        sa.update(reservations)
        .where(reservations.c.number == person.c.reservation, reservations.c.state == "live")
        .values(
            seen=sa.bindparam("new_seen"),
            expires=sa.func.least(
                sa.bindparam("new_expires", type_=sa.Float),
                sa.func.greatest(person.c.moved, 0.0) + sa.bindparam("idle", type_=sa.Float),
            ),
        )
        .returning(*HOLDING_COLUMNS)
        .cte("held")
    )
    columns = (column.label(f"held_{column.name}") for column in held.c)
    return sa.select(person, *columns).select_from(person.outerjoin(held, sa.true()))


_PERSON_AND_ALIVE = Prepared(_person_and_alive())


def come(connection: sa.Connection, served: Served, assessor: int, now: float, *, stepped: bool) -> State | None:
    """A sign of life: where the assessor is, locked against others who would change the same.

    Their reservation lives on, comes back to life, goes on as late, or stays expired where the unit has gone to
    somebody else before its first answer. A step renews it fully; an open page alone holds it for some time after the
    last step only. The person is locked before the reservation is read, so that what is read
    after a wait is as the other left it.
    """
    until, idle = now + served.silence, math.inf if stepped else LONGEST_IDLE * served.silence
    renewed = {"new_seen": now, "new_expires": until}
    if connection.dialect.name == "postgresql":
        row = _PERSON_AND_ALIVE.one(connection, person=assessor, idle=idle, **renewed)
    else:
        row = _PERSON_ALONE.one(connection, person=assessor)
    if row is None:
        return None
    state = state_of(row, None)
    if row.reservation is None:
        return state
    columns: Sequence[Any] = row[OWN:]
    if not columns or columns[0] is None:  # not renewed yet, or made while we waited for the person
        renewed["new_expires"] = until = min(until, max(state.moved, 0.0) + idle)
        columns = _renew(connection, row.reservation, renewed)
    state = replace(state, holding=hold(connection, served, columns))
    return _back_to_life(connection, state, now, until) if state.held.state == "expired" else state


def _renew(connection: sa.Connection, reservation: int, renewed: dict[str, float]) -> Sequence[Any]:
    """The columns of a reservation, which lives on where it is live."""
    columns: Sequence[Any] | None = _ALIVE.one(connection, reservation=reservation, **renewed)
    return columns or _HOLDING.one(connection, reservation=reservation)


def _back_to_life(connection: sa.Connection, state: State, now: float, until: float) -> State:
    """An expired reservation whose holder came back: on its own place if that is still free, else as late.

    Where nothing was answered yet and the place is taken, it stays expired.
    """
    new = "live" if not state.held.excluded and _take_back(connection, state.held.unit) else "late"
    answered = sa.select(reservations.c.number).where(reservations.c.number == state.held.number, _ANSWERED)
    if new == "late" and not state.held.excluded and connection.execute(answered).scalar() is None:
        return state
    values = {"state": new, "late": new == "late", "seen": now, "expires": until}
    connection.execute(sa.update(reservations).where(reservations.c.number == state.held.number).values(values))
    log(connection, state, now, "came back", late=new == "late")
    return replace(state, holding=replace(state.held, state=new, expires=until))


_CLOSE = Prepared(
    sa.update(reservations)
    .where(reservations.c.number == sa.bindparam("reservation"))
    .values({name: sa.bindparam(f"new_{name}") for name in ("state", "ending", "finished")})
)


def close(connection: sa.Connection, state: State, now: float, ending: str) -> None:
    """The end of a unit: its place is used for good where it was completed, and free again where not."""
    held = state.held.state
    completed = ending == "completed"
    new = "done" if completed else "failed"
    _CLOSE.run(connection, reservation=state.held.number, new_state=new, new_ending=ending, new_finished=now)
    change = -1 if completed and held == "late" else 1 if not completed and held == "live" else 0
    if state.held.excluded:  # it holds no place, whatever becomes of it
        change = 1 if held == "live" else 0
    if change:
        place = sa.update(units).where(units.c.number == state.held.unit)
        connection.execute(place.values(free=units.c.free + change))
    log(connection, state, now, "closed", ending=ending, late=held == "late")


_FREE = _both(
    lambda may: (
        sa.select(units.c.number, units.c.unit, units.c.topic)
        .where(units.c.free > 0, may)
        .order_by(units.c.place)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
)
_FREE_LOCKED = _both(
    lambda may: (
        sa.select(units.c.number, units.c.unit, units.c.topic)
        .where(units.c.free > 0, may)
        .order_by(units.c.place)
        .limit(1)
        .with_for_update()
    )
)


def _free_unit(connection: sa.Connection, limits: _Limits) -> Any:
    """A unit with a free place, locked; those that others are just taking are passed over while there are more."""
    several, bound = limits.most > 1, limits.bound | {"unpaused": False}
    unit = _FREE[several].one(connection, **bound)
    if unit is None and connection.dialect.name == "postgresql":
        unit = _FREE_LOCKED[several].one(connection, **bound)
    return unit


_SILENT = _both(
    lambda may: (
        sa.select(
            units.c.number, units.c.unit, units.c.topic, reservations.c.number.label("held"), reservations.c.assessor
        )
        .join_from(reservations, units, units.c.number == reservations.c.unit)
        .where(
            reservations.c.state == "live",
            reservations.c.seen + _SILENCE <= sa.bindparam("now"),
            reservations.c.assessor != sa.bindparam("person"),
            sa.or_(reservations.c.held_until.is_(None), reservations.c.held_until <= sa.bindparam("now")),
            may,
        )
        .order_by(reservations.c.seen)
        .limit(1)
        .with_for_update(of=reservations, skip_locked=True)
    )
)
_EXPIRE = Prepared(
    sa.update(reservations).where(reservations.c.number == sa.bindparam("reservation")).values(state="expired")
)


def _silent_unit(connection: sa.Connection, limits: _Limits, now: float) -> Any:
    """The unit whose holder has been silent longest; that reservation expires, so its place changes hands."""
    unit = _SILENT[limits.most > 1].one(connection, **limits.bound, unpaused=False, now=now)
    if unit is not None:
        _EXPIRE.run(connection, reservation=unit.held)
        log_event(connection, now, "handed on", unit.assessor, unit.held, None, {})
    return unit


def silent_holders(connection: sa.Connection, batch: int | None, now: float) -> tuple[int, ...]:
    """The reservations of a batch whose holders are silent: the batch could not be completed with them."""
    query = (
        sa.select(reservations.c.number)
        .join_from(reservations, units, units.c.number == reservations.c.unit)
        .where(units.c.batch == batch, reservations.c.state == "live", reservations.c.seen + _SILENCE <= now)
        .where(_not_held(now))
        .order_by(reservations.c.number)
    )
    return tuple(connection.execute(query).scalars()) if batch is not None else ()


def hand_on(connection: sa.Connection, silent: Sequence[int], now: float) -> None:
    """Free the places of silent holders; they may still come back, as after any other expiry."""
    for number in silent:
        release(connection, number, now, "silent")


def _take_back(connection: sa.Connection, unit: int) -> bool:
    """The place that was lost, if it is still free."""
    place = sa.update(units).where(units.c.number == unit, units.c.free > 0).values(free=units.c.free - 1)
    return connection.execute(place).rowcount == 1
