"""Handing out work: a reservation is a row with an expiry, made in the transaction that takes the unit's free place.

A reservation is extended by signals from the holder's page. Without them it expires and its place is free; when nothing
else is left, the unit whose holder has been silent longest is handed out again even before that, sooner if the holder
has not answered anything. Holders who return late continue at their own place if it is still free. If it is not, those
who have answered continue beyond the unit's need (state `late`), and the others take another unit, so that no unit is
paid twice.

No assessor gets a unit with a document (or a pair) that they have seen in another unit of the topic, known documents
excepted: a redundancy of 3 means three people.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from judgewell.server.session.answers import LONGEST_IDLE
from judgewell.server.session.budget import budget
from judgewell.server.session.limits import RULES, Limits, limits_of, may_take, more_to_come, under_each
from judgewell.server.session.served import Served
from judgewell.server.session.state import (
    HOLDING,
    HOLDING_COLUMNS,
    OWN,
    PERSON,
    Holding,
    State,
    hold,
    log,
    log_event,
    state_of,
)
from judgewell.server.store.prepared import Prepared
from judgewell.server.store.schema import answers, events, replies, reservations, units
from judgewell.server.store.transactions import NeedsTurn, is_together, need_turn

SILENT = 120.0  # seconds after which a holder counts as silent when nothing else is left
SILENT_UNANSWERED = 45.0  # the same for a holder who has answered nothing yet
ALIVE_EVERY = 20  # seconds between the signs of life of an open page
COMING_WAIT = 30.0  # seconds after which somebody who waits for a new batch of units looks again
PAUSE_WAIT = 60.0  # seconds after which somebody who waits for a pause to end looks again
AT_ONCE = 500


_IN_HAND = sa.or_(reservations.c.state == "live", reservations.c.state == "late")


def _not_held(now: Any) -> sa.ColumnElement[bool]:
    return sa.or_(reservations.c.held_until.is_(None), reservations.c.held_until <= now)


_TOO_FAR = reservations.c.expires > sa.bindparam("ahead")  # made before the clock was put back
_SILENT_TOO_LONG = sa.and_(reservations.c.expires <= sa.bindparam("now"), _not_held(sa.bindparam("now")))
_TO_EXPIRE = Prepared(sa.select(reservations.c.number).where(_IN_HAND, sa.or_(_TOO_FAR, _SILENT_TOO_LONG)).limit(1))
_COUNT_FROM_NOW = Prepared(
    sa.update(reservations)
    .where(_IN_HAND, _TOO_FAR)
    .values(seen=sa.bindparam("new_seen"), expires=sa.bindparam("new_expires"))
)
_OVERDUE = Prepared(
    sa.select(reservations.c.number, reservations.c.assessor, reservations.c.unit, reservations.c.state)
    .where(_IN_HAND, _SILENT_TOO_LONG)
    .order_by(reservations.c.unit)
    .limit(AT_ONCE)
)


def some_to_expire(connection: sa.Connection, now: float, silence: float) -> bool:
    """Whether `expire` would change anything."""
    return _TO_EXPIRE.one(connection, now=now, ahead=now + silence + 1) is not None


def expire(connection: sa.Connection, now: float, silence: float) -> int:
    """Free the places of those who have been silent too long; how many. Always a transaction of its own.

    Late work holds no place; it ends all the same, so that it is not in progress for ever.
    """
    _COUNT_FROM_NOW.run(connection, ahead=now + silence + 1, new_seen=now, new_expires=now + silence)
    overdue = _OVERDUE.rows(connection, now=now)
    if not overdue:
        return 0
    numbers = [row.number for row in overdue]
    connection.execute(sa.update(reservations).where(reservations.c.number.in_(numbers)).values(state="expired"))
    for unit, count in sorted(Counter(row.unit for row in overdue if row.state == "live").items()):
        _free(connection, unit, count)
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
    _free(connection, freed.unit, 1)
    log_event(connection, now, "released", freed.assessor, reservation, why=why)
    return True


def release_all(connection: sa.Connection, assessor: int, now: float, why: str) -> int:
    """Free the places of all units that an assessor has in progress; how many."""
    live = sa.select(reservations.c.number).where(reservations.c.assessor == assessor, reservations.c.state == "live")
    return sum(release(connection, number, now, why) for number in connection.execute(live).scalars().all())


def _free(connection: sa.Connection, unit: int, places: int) -> None:
    connection.execute(sa.update(units).where(units.c.number == unit).values(free=units.c.free + places))


def reserve(connection: sa.Connection, served: Served, state: State, now: float) -> Holding | None:
    """A unit for the assessor, or None where there is none just now."""
    limits = limits_of(connection, served, state.assessor)
    held = _AHEAD.one(connection, person=state.assessor) if limits.machine else None
    held = held or _reserve(connection, served, limits, now)
    return None if held is None else hold(connection, served, held)


def reserve_ahead(connection: sa.Connection, served: Served, machine: int, most: int, now: float) -> list[int]:
    """The units that a machine holds, oldest first; up to `most`, newly reserved ones included.

    A person holds one unit. A machine is asked about several at a time, so it holds them all, and no one else takes
    what is being paid for. Each of these reservations is extended.
    """
    limits = limits_of(connection, served, machine)
    _ALL_ALIVE.run(connection, person=machine, new_seen=now, new_expires=now + served.silence)
    while len(held := [int(row.unit) for row in _ALL_AHEAD.rows(connection, person=machine)]) < most:
        if _reserve(connection, served, limits, now) is None:
            break
    return held


def reclaim(connection: sa.Connection, served: Served, machines: Sequence[int], now: float) -> None:
    """Take up again the units that machines gave up with replies paid for, where their places are still free."""
    paid = sa.exists().where(replies.c.assessor == reservations.c.assessor, replies.c.unit == reservations.c.unit)
    gone = sa.and_(reservations.c.assessor.in_(machines), reservations.c.state == "expired", ~reservations.c.excluded)
    query = sa.select(reservations.c.number, reservations.c.unit).where(gone, paid).order_by(reservations.c.number)
    for number, unit in connection.execute(query).all():
        if _take_back(connection, unit):
            live = {"state": "live", "seen": now, "expires": now + served.silence}
            connection.execute(sa.update(reservations).where(reservations.c.number == number).values(live))


def _reserve(connection: sa.Connection, served: Served, limits: Limits, now: float) -> Any:
    """The columns of a new reservation, or None."""
    affordable = not limits.paid or served.study.pay.budget is None or budget(connection, served.study.pay).room
    if limits.used_up or limits.stopped or not affordable:
        return None
    unit = _free_unit(connection, served, limits)
    if unit is not None:
        _TAKE_PLACE.run(connection, of_unit=unit.number)
    else:
        unit = _silent_unit(connection, limits, now)
    if unit is None:
        return None
    live = {"new_created": now, "new_seen": now, "new_expires": now + served.silence}
    if unit.own is not None:  # given up before
        made = _RENEW.one(connection, reservation=unit.own, **live)
    else:
        row = {"new_assessor": limits.person, "new_unit": unit.number, "new_topic": unit.topic}
        made = _RESERVE.one(connection, new_round=(unit.rounds or 0) + 1, **row, **live)
    log_event(connection, now, "reserved", limits.person, made.number, unit=unit.unit)
    return made


def outlook(connection: sa.Connection, served: Served, state: State, now: float) -> float | None:
    """Seconds until work may be free for the assessor (0: there is some now), or None where there is none for good."""
    limits = limits_of(connection, served, state.assessor)
    pay = served.study.pay
    if limits.machine and _AHEAD.one(connection, person=state.assessor) is not None:
        return 0.0
    spent = budget(connection, pay) if pay.budget is not None and limits.paid else None
    if limits.used_up or (spent is not None and spent.state == "reached"):
        return None
    if spent is not None and not spent.room:  # until units in progress fail or are given up
        return None if _when_free(connection, limits, now, unpaused=True) is None else PAUSE_WAIT
    wait = None if limits.stopped else _when_free(connection, limits, now)
    if wait is None and limits.paused and _when_free(connection, limits, now, unpaused=True) is not None:
        return PAUSE_WAIT
    return COMING_WAIT if wait is None and more_to_come(connection, served, limits) else wait


def waits_for_pause(connection: sa.Connection, served: Served, state: State, now: float) -> bool:
    """Whether the assessor would have work, or could hope for some, if nothing were paused."""
    limits = limits_of(connection, served, state.assessor)
    if not limits.paused or outlook(connection, served, state, now) is None:
        return False
    return limits.stopped or _when_free(connection, limits, now) is None


_MINE = sa.and_(reservations.c.assessor == sa.bindparam("person"), reservations.c.state == "live")
_RESERVED = sa.select(*HOLDING_COLUMNS).where(_MINE).order_by(reservations.c.number)
_ALL_AHEAD, _AHEAD = Prepared(_RESERVED), Prepared(_RESERVED.limit(1))
_ALL_ALIVE = Prepared(
    sa.update(reservations).where(_MINE).values(seen=sa.bindparam("new_seen"), expires=sa.bindparam("new_expires"))
)
_ANSWERED = sa.exists().where(answers.c.reservation == reservations.c.number)
_SILENCE = sa.case((_ANSWERED, SILENT), else_=SILENT_UNANSWERED)


_ANY_FREE = under_each(lambda may: sa.select(units.c.number).where(units.c.free > 0, may).limit(1))
_NEXT_SILENT = under_each(
    lambda may: (
        sa.select(
            sa.func.min(reservations.c.seen + _SILENCE).label("silent"),
            sa.func.min(reservations.c.expires).label("expires"),
        )
        .join_from(reservations, units, units.c.number == reservations.c.unit)
        .where(reservations.c.state == "live", reservations.c.assessor != sa.bindparam("person"), may)
    )
)


def _when_free(connection: sa.Connection, limits: Limits, now: float, *, unpaused: bool = False) -> float | None:
    rule, bound = limits.rule, limits.bound | {"unpaused": unpaused}
    if _ANY_FREE[rule].one(connection, **bound) is not None:
        return 0.0
    silent, expires = _NEXT_SILENT[rule].one(connection, **bound)
    return None if silent is None else max(0.0, min(float(silent), float(expires)) - now)


_TAKE_PLACE = Prepared(sa.update(units).where(units.c.number == sa.bindparam("of_unit")).values(free=units.c.free - 1))
_TIMES: dict[str, Any] = {name: sa.bindparam(f"new_{name}") for name in ("created", "seen", "expires")}
_LIVE = {"state": "live", "late": False, **_TIMES}
_RENEW = Prepared(
    sa.update(reservations)
    .where(reservations.c.number == sa.bindparam("reservation"))
    .values(_LIVE)
    .returning(*HOLDING_COLUMNS)
)
_RESERVE = Prepared(
    sa.insert(reservations)
    .values(
        {name: sa.bindparam(f"new_{name}") for name in ("assessor", "unit", "topic", "round")}
        | {"revisions": 0, "backs": 0, "excluded": False}
        | _LIVE
    )
    .returning(*HOLDING_COLUMNS)
)


_PERSON, _HOLDING = Prepared(PERSON), Prepared(HOLDING)
_ALIVE = Prepared(
    sa.update(reservations)
    .where(reservations.c.number == sa.bindparam("reservation"), _IN_HAND)
    .values(seen=sa.bindparam("new_seen"), expires=sa.bindparam("new_expires"))
    .returning(*HOLDING_COLUMNS)
)


def _person_and_alive() -> sa.Select[Any]:
    """Both in one statement, for PostgreSQL: the reservation is renewed through the person."""
    person = PERSON.with_for_update(key_share=True).cte("person")  # as it is once nobody else is at it
    held = (
        sa.update(reservations)
        .where(reservations.c.number == person.c.reservation, _IN_HAND)
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
    """The assessor's state, after a signal from their page.

    Their reservation is extended, restored, or continued as late; it stays expired if the unit went to somebody else
    before its first answer. A step extends it fully; an open page alone does so for some time after the last step.
    """
    renewed, idle = {"new_seen": now, "new_expires": now + served.silence}, LONGEST_IDLE * served.silence
    if connection.dialect.name == "postgresql":
        row = _PERSON_AND_ALIVE.one(connection, person=assessor, idle=math.inf if stepped else idle, **renewed)
    else:
        row = _PERSON.one(connection, person=assessor)
    if row is None:
        return None
    state = state_of(row, None)
    if row.reservation is None:
        return state
    columns: Sequence[Any] = row[OWN:]
    if not stepped:
        renewed["new_expires"] = min(renewed["new_expires"], max(state.moved, 0.0) + idle)
    if not columns or columns[0] is None:  # not renewed yet
        alive: Sequence[Any] | None = _ALIVE.one(connection, reservation=row.reservation, **renewed)
        columns = alive or _HOLDING.one(connection, reservation=row.reservation)
    state = replace(state, holding=hold(connection, served, columns))
    return _back_to_life(connection, state, now, renewed["new_expires"]) if state.held.state == "expired" else state


def _back_to_life(connection: sa.Connection, state: State, now: float, until: float) -> State:
    """An expired reservation whose holder came back: on its own place if that is still free, else as late.

    Where nothing was answered yet and the place is taken, it stays expired.
    """
    need_turn(connection)
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
        need_turn(connection)
        _free(connection, state.held.unit, change)
    log(connection, state, now, "closed", ending=ending, late=held == "late")


def _last(column: str, same: str, of: sa.Column[Any]) -> sa.ScalarSelect[Any]:
    """The largest value of a column in the assessor's reservations for the same unit or topic."""
    mine = reservations.alias("mine")
    here = sa.and_(mine.c.assessor == sa.bindparam("person", type_=sa.BigInteger), mine.c[same] == of)
    return sa.select(sa.func.max(mine.c[column])).where(here).correlate(units).scalar_subquery()


_UNIT_AND_OWN: tuple[sa.ColumnElement[Any], ...] = (
    *(units.c[name] for name in ("number", "unit", "topic")),
    _last("number", "unit", units.c.number).label("own"),  # a reservation that was given up
    _last("round", "topic", units.c.topic).label("rounds"),
)
# The design's own order puts every document once into a topic's first units: what a machine needs.
_ORDER = {"one": units.c.place, "several": units.c.place, "machine": units.c.number}
_FREE_UNITS = sa.select(*_UNIT_AND_OWN).where(units.c.free > 0)
_FREE_UNIT = {rule: _FREE_UNITS.where(may_take(rule)).order_by(_ORDER[rule]).limit(1) for rule in RULES}
_FREE = {rule: Prepared(query) for rule, query in _FREE_UNIT.items()}
_UNLOCKED = {  # its free places cannot change until the transaction ends
    rule: Prepared(query.with_for_update(key_share=True, skip_locked=True, of=units))
    for rule, query in _FREE_UNIT.items()
}


def _free_unit(connection: sa.Connection, served: Served, limits: Limits) -> Any:
    bound = limits.bound | {"unpaused": False}
    if not is_together(connection):
        return _FREE[limits.rule].one(connection, **bound)
    unit = _UNLOCKED[limits.rule].one(connection, **bound)
    others = served.study.pay.budget is not None or (unit is None and _ANY_FREE[limits.rule].one(connection, **bound))
    if others:  # who take units, and with them the budget
        raise NeedsTurn
    return unit


_SILENT = under_each(
    lambda may: (
        sa.select(*_UNIT_AND_OWN, reservations.c.number.label("held"), reservations.c.assessor)
        .join_from(reservations, units, units.c.number == reservations.c.unit)
        .where(
            reservations.c.state == "live",
            reservations.c.seen + _SILENCE <= sa.bindparam("now"),
            reservations.c.assessor != sa.bindparam("person"),
            _not_held(sa.bindparam("now")),
            may,
        )
        .order_by(reservations.c.seen)
        .limit(1)
    )
)
_EXPIRE = Prepared(
    sa.update(reservations).where(reservations.c.number == sa.bindparam("reservation")).values(state="expired")
)


def _silent_unit(connection: sa.Connection, limits: Limits, now: float) -> Any:
    """The unit whose holder has been silent longest; that reservation expires, so its place changes hands."""
    unit = _SILENT[limits.rule].one(connection, **limits.bound, unpaused=False, now=now)
    if unit is not None:
        need_turn(connection)
        _EXPIRE.run(connection, reservation=unit.held)
        log_event(connection, now, "handed on", unit.assessor, unit.held)
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
