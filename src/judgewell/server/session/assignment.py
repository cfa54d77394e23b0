"""Handing out work: a reservation is a row with an expiry, made in the transaction that takes the unit's free place.

A reservation lives on signs of life. Without them it expires and its place is free; when nothing else is left, the unit
whose holder has been silent longest is handed out again even before that. Whoever comes back late goes on all the same:
on their own place if it is still free, and beyond the unit's need (state `late`) if not.

Locks are taken in one order (the assessor, a reservation, a unit), and a unit only one at a time, so that no two
transactions can wait for each other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from judgewell.server.session.served import Served
from judgewell.server.session.state import HOLDING, HOLDING_COLUMNS, OWN, PERSON, State, hold, log, state_of
from judgewell.server.store.schema import assessors, events, pauses, reservations, units

SILENT = 120.0  # seconds after which a holder counts as silent when nothing else is left
ALIVE_EVERY = 20  # seconds between the signs of life of an open page
LONGEST_IDLE = 6.0  # an open page without any step holds its unit for so many times the silence
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
    told = [
        {"at": now, "kind": "expired", "assessor": row.assessor, "reservation": row.number, "data": {}}
        for row in overdue
    ]
    connection.execute(sa.insert(events), told)
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
    told = {"at": now, "kind": "released", "assessor": freed.assessor, "reservation": reservation, "data": {"why": why}}
    connection.execute(sa.insert(events), told)
    return True


def _not_held(now: float) -> sa.ColumnElement[bool]:
    return sa.or_(reservations.c.held_until.is_(None), reservations.c.held_until <= now)


def paused(connection: sa.Connection) -> list[str]:
    """The topics that are paused; "" stands for the whole study."""
    return list(connection.execute(sa.select(pauses.c.topic)).scalars())


def reserve(connection: sa.Connection, served: Served, state: State, now: float) -> int | None:
    """A unit for the assessor: the reservation's number, or None where there is none just now."""
    done, rounds, own = _so_far(connection, state.assessor)
    if done >= served.study.work.most_units:
        return None
    stopped = paused(connection)
    if "" in stopped or _is_excluded(connection, state.assessor):
        return None
    full = [*stopped, *_full(served, rounds)]
    unit = _free_unit(connection, full, own)
    if unit is not None:
        connection.execute(sa.update(units).where(units.c.number == unit.number).values(free=units.c.free - 1))
    else:
        unit = _silent_unit(connection, state, now, full, own)
    if unit is None:
        return None
    row = {
        "assessor": state.assessor,
        "unit": unit.number,
        "topic": unit.topic,
        "round": rounds[unit.topic] + 1,
        "state": "live",
        "created": now,
        "seen": now,
        "expires": now + served.silence,
        "late": False,
        "revisions": 0,
        "backs": 0,
    }
    made = connection.execute(sa.insert(reservations).values(row).returning(reservations.c.number)).scalar_one()
    told = {"at": now, "kind": "reserved", "assessor": state.assessor, "reservation": made, "data": {"unit": unit.unit}}
    connection.execute(sa.insert(events), told)
    return int(made)


def outlook(connection: sa.Connection, served: Served, state: State, now: float) -> float | None:
    """Seconds until work may be free for the assessor (0: there is some now), or None where there is none for good."""
    done, rounds, own = _so_far(connection, state.assessor)
    if done >= served.study.work.most_units or _is_excluded(connection, state.assessor):
        return None
    stopped, full = paused(connection), _full(served, rounds)
    found = None if "" in stopped else _when_free(connection, state, now, [*stopped, *full], own)
    if found is None and stopped and _when_free(connection, state, now, full, own) is not None:
        return PAUSE_WAIT
    return found


def waits_for_pause(connection: sa.Connection, served: Served, state: State, now: float) -> bool:
    """Whether the assessor would have work, or could hope for some, if nothing were paused."""
    stopped = paused(connection)
    if not stopped or outlook(connection, served, state, now) is None:
        return False
    _, rounds, own = _so_far(connection, state.assessor)
    return "" in stopped or _when_free(connection, state, now, [*stopped, *_full(served, rounds)], own) is None


def _full(served: Served, rounds: Counter[str]) -> list[str]:
    """Topics of which the assessor has had as many units as one may."""
    return [topic for topic, count in rounds.items() if count >= served.study.work.units_per_topic]


def _is_excluded(connection: sa.Connection, assessor: int) -> bool:
    """An assessor whose work is left out gets no more of it."""
    query = sa.select(assessors.c.excluded).where(assessors.c.number == assessor)
    return bool(connection.execute(query).scalar())


def _when_free(connection: sa.Connection, state: State, now: float, full: list[str], own: list[int]) -> float | None:
    may = (units.c.topic.not_in(full), units.c.number.not_in(own))
    if connection.execute(sa.select(units.c.number).where(units.c.free > 0, *may).limit(1)).scalar() is not None:
        return 0.0
    held = (
        sa.select(sa.func.min(reservations.c.seen), sa.func.min(reservations.c.expires))
        .select_from(reservations)
        .join(units, units.c.number == reservations.c.unit)
        .where(reservations.c.state == "live", reservations.c.assessor != state.assessor, *may)
    )
    seen, expires = connection.execute(held).one()
    if seen is None:
        return None
    return max(0.0, min(float(seen) + SILENT, float(expires)) - now)


_PERSON = PERSON.with_for_update()
_HOLDING = HOLDING.with_for_update()
_ALIVE = (
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


_PERSON_AND_ALIVE = _person_and_alive()


def come(connection: sa.Connection, served: Served, assessor: int, now: float, *, stepped: bool) -> State | None:
    """A sign of life: where the assessor is, locked against others who would change the same.

    Their reservation lives on, comes back to life, or goes on as late. A step renews it fully; an open page alone holds
    it for some time after the last step only. The person is locked before the reservation is read, so that what is read
    after a wait is as the other left it.
    """
    until, idle = now + served.silence, math.inf if stepped else LONGEST_IDLE * served.silence
    renewed = {"new_seen": now, "new_expires": until}
    if connection.dialect.name == "postgresql":
        row = connection.execute(_PERSON_AND_ALIVE, {"person": assessor, "idle": idle, **renewed}).one_or_none()
    else:
        row = connection.execute(_PERSON, {"person": assessor}).one_or_none()
    if row is None:
        return None
    state = state_of(row, None)
    if row.reservation is None:
        return state
    found: Sequence[Any] = row[OWN:]
    if not found or found[0] is None:  # not renewed yet, or made while we waited for the person
        renewed["new_expires"] = until = min(until, max(state.moved, 0.0) + idle)
        found = _renew(connection, row.reservation, renewed)
    state = replace(state, holding=hold(connection, served, found))
    return _back_to_life(connection, state, now, until) if state.held.state == "expired" else state


def _renew(connection: sa.Connection, reservation: int, renewed: dict[str, float]) -> Sequence[Any]:
    """The columns of a reservation, which lives on where it is live."""
    found = connection.execute(_ALIVE, {"reservation": reservation, **renewed}).one_or_none()
    return found or connection.execute(_HOLDING, {"reservation": reservation}).one()


def _back_to_life(connection: sa.Connection, state: State, now: float, until: float) -> State:
    """An expired reservation whose holder came back: on its own place if that is still free, else as late."""
    new = "live" if not state.held.excluded and _take_back(connection, state.held.unit) else "late"
    values = {"state": new, "late": new == "late", "seen": now, "expires": until}
    connection.execute(sa.update(reservations).where(reservations.c.number == state.held.number).values(values))
    log(connection, state, now, "came back", late=new == "late")
    return replace(state, holding=replace(state.held, state=new, expires=until))


def close(connection: sa.Connection, state: State, now: float, ending: str) -> None:
    """The end of a unit: its place is used for good where it was completed, and free again where not."""
    held = state.held.state
    completed = ending == "completed"
    values = {"state": "done" if completed else "failed", "ending": ending, "finished": now}
    connection.execute(sa.update(reservations).where(reservations.c.number == state.held.number).values(values))
    change = -1 if completed and held == "late" else 1 if not completed and held == "live" else 0
    if state.held.excluded:  # it holds no place, whatever becomes of it
        change = 1 if held == "live" else 0
    if change:
        place = sa.update(units).where(units.c.number == state.held.unit)
        connection.execute(place.values(free=units.c.free + change))
    log(connection, state, now, "closed", ending=ending, late=held == "late")


def _so_far(connection: sa.Connection, assessor: int) -> tuple[int, Counter[str], list[int]]:
    """Units the assessor has done, units taken by topic, and the units themselves."""
    query = sa.select(reservations.c.topic, reservations.c.unit, reservations.c.ending).where(
        reservations.c.assessor == assessor
    )
    rows = connection.execute(query).all()
    done = sum(row.ending in ("completed", "failed_quality") for row in rows)
    return done, Counter(row.topic for row in rows), [row.unit for row in rows]


def _free_unit(connection: sa.Connection, full: list[str], own: list[int]) -> Any:
    """A unit with a free place, locked; those that others are just taking are passed over while there are more."""
    query = (
        sa.select(units.c.number, units.c.unit, units.c.topic)
        .where(units.c.free > 0, units.c.topic.not_in(full), units.c.number.not_in(own))
        .order_by(units.c.place)
        .limit(1)
    )
    found = connection.execute(query.with_for_update(skip_locked=True)).one_or_none()
    if found is None and connection.dialect.name == "postgresql":
        found = connection.execute(query.with_for_update()).one_or_none()
    return found


def _silent_unit(connection: sa.Connection, state: State, now: float, full: list[str], own: list[int]) -> Any:
    """The unit whose holder has been silent longest; that reservation expires, so its place changes hands."""
    query = (
        sa.select(
            units.c.number, units.c.unit, units.c.topic, reservations.c.number.label("held"), reservations.c.assessor
        )
        .join_from(reservations, units, units.c.number == reservations.c.unit)
        .where(
            reservations.c.state == "live",
            reservations.c.seen <= now - SILENT,
            reservations.c.assessor != state.assessor,
            _not_held(now),
            units.c.topic.not_in(full),
            units.c.number.not_in(own),
        )
        .order_by(reservations.c.seen)
        .limit(1)
        .with_for_update(of=reservations, skip_locked=True)
    )
    found = connection.execute(query).one_or_none()
    if found is not None:
        connection.execute(sa.update(reservations).where(reservations.c.number == found.held).values(state="expired"))
        told = {"at": now, "kind": "handed on", "assessor": found.assessor, "reservation": found.held, "data": {}}
        connection.execute(sa.insert(events), told)
    return found


def _take_back(connection: sa.Connection, unit: int) -> bool:
    """The place that was lost, if it is still free."""
    place = sa.update(units).where(units.c.number == unit, units.c.free > 0).values(free=units.c.free - 1)
    return connection.execute(place).rowcount == 1
