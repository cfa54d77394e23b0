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
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa

from judgewell.server.session.answers import LONGEST_IDLE
from judgewell.server.session.served import Served
from judgewell.server.session.state import HOLDING, HOLDING_COLUMNS, OWN, PERSON, State, hold, log, state_of
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
    history = _history(connection, served, state.assessor)
    if history.done >= served.study.work.most_units:
        return None
    stopped = paused(connection)
    if "" in stopped or _is_excluded(connection, state.assessor):
        return None
    full = [*stopped, *history.full]
    unit = _free_unit(connection, full, history.closed)
    if unit is not None:
        connection.execute(sa.update(units).where(units.c.number == unit.number).values(free=units.c.free - 1))
    else:
        unit = _silent_unit(connection, state, now, full, history.closed)
    if unit is None:
        return None
    live = {"state": "live", "created": now, "seen": now, "expires": now + served.silence, "late": False}
    made = history.given_up.get(unit.number)
    if made is not None:
        connection.execute(sa.update(reservations).where(reservations.c.number == made).values(live))
    else:
        row = {"assessor": state.assessor, "unit": unit.number, "topic": unit.topic, "revisions": 0, "backs": 0}
        row["round"] = history.rounds.get(unit.topic, 0) + 1
        new = sa.insert(reservations).values(row | live).returning(reservations.c.number)
        made = int(connection.execute(new).scalar_one())
    event = {"at": now, "kind": "reserved", "assessor": state.assessor, "reservation": made}
    connection.execute(sa.insert(events), {**event, "data": {"unit": unit.unit}})
    return made


def outlook(connection: sa.Connection, served: Served, state: State, now: float) -> float | None:
    """Seconds until work may be free for the assessor (0: there is some now), or None where there is none for good."""
    history = _history(connection, served, state.assessor)
    if history.done >= served.study.work.most_units or _is_excluded(connection, state.assessor):
        return None
    stopped, full = paused(connection), history.full
    wait = None if "" in stopped else _when_free(connection, state, now, [*stopped, *full], history.closed)
    if wait is None and stopped and _when_free(connection, state, now, full, history.closed) is not None:
        return PAUSE_WAIT
    return wait


def waits_for_pause(connection: sa.Connection, served: Served, state: State, now: float) -> bool:
    """Whether the assessor would have work, or could hope for some, if nothing were paused."""
    stopped = paused(connection)
    if not stopped or outlook(connection, served, state, now) is None:
        return False
    history = _history(connection, served, state.assessor)
    return "" in stopped or _when_free(connection, state, now, [*stopped, *history.full], history.closed) is None


def _is_excluded(connection: sa.Connection, assessor: int) -> bool:
    """An assessor whose work is left out gets no more of it."""
    query = sa.select(assessors.c.excluded).where(assessors.c.number == assessor)
    return bool(connection.execute(query).scalar())


_ANSWERED = sa.exists().where(answers.c.reservation == reservations.c.number)
_SILENCE = sa.case((_ANSWERED, SILENT), else_=SILENT_UNANSWERED)


def _when_free(connection: sa.Connection, state: State, now: float, full: list[str], closed: list[int]) -> float | None:
    may = (units.c.topic.not_in(full), units.c.number.not_in(closed))
    if connection.execute(sa.select(units.c.number).where(units.c.free > 0, *may).limit(1)).scalar() is not None:
        return 0.0
    held = (
        sa.select(sa.func.min(reservations.c.seen + _SILENCE), sa.func.min(reservations.c.expires))
        .select_from(reservations)
        .join(units, units.c.number == reservations.c.unit)
        .where(reservations.c.state == "live", reservations.c.assessor != state.assessor, *may)
    )
    silent, expires = connection.execute(held).one()
    return None if silent is None else max(0.0, min(float(silent), float(expires)) - now)


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

    Their reservation lives on, comes back to life, goes on as late, or stays expired where the unit has gone to
    somebody else before its first answer. A step renews it fully; an open page alone holds it for some time after the
    last step only. The person is locked before the reservation is read, so that what is read
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


@dataclass(frozen=True)
class _History:
    """What an assessor has had: units done, topics that are used up, and units that are not for them (any more).

    A unit that was passed on before its first answer counts for nothing and may be taken again (`given_up`, with its
    reservation). `rounds` is the last one of each topic.
    """

    done: int
    full: list[str]
    closed: list[int]
    rounds: dict[str, int]
    given_up: dict[int, int]


def _history(connection: sa.Connection, served: Served, assessor: int) -> _History:
    answered = _ANSWERED.label("answered")
    names = ("number", "unit", "topic", "round", "state", "ending", "excluded")
    query = sa.select(*(reservations.c[name] for name in names), answered).where(reservations.c.assessor == assessor)
    rows = connection.execute(query).all()
    given_up = {row.unit: row.number for row in rows if row.state == "expired" and not (row.answered or row.excluded)}
    had = [row for row in rows if row.unit not in given_up]
    counts = Counter(row.topic for row in had)
    most = served.study.work.units_per_topic
    full = [topic for topic, count in counts.items() if count >= most]
    closed = [row.unit for row in had]
    more = [row.unit for row in had if row.topic not in full]
    return _History(
        done=sum(row.ending in ("completed", "failed_quality") for row in rows),
        full=full,
        closed=[*closed, *_overlapping(connection, more)] if more else closed,
        rounds={row.topic: row.round for row in sorted(rows, key=lambda row: row.round)},
        given_up=given_up,
    )


def _overlapping(connection: sa.Connection, own: list[int]) -> list[int]:
    """Other units of the same topics that hold a document, or a pair, of these.

    Known documents do not count, except in templates, where every document's grade is known.
    """
    mine, others = items.alias("mine"), items.alias("others")
    topic, their_topic = units.alias("topic"), units.alias("their_topic")
    same = sa.and_(mine.c.doc == others.c.doc, mine.c.other.is_not_distinct_from(others.c.other))
    turned = sa.and_(mine.c.doc == others.c.other, mine.c.other == others.c.doc)
    query = (
        sa.select(others.c.unit)
        .distinct()
        .select_from(mine)
        .join(topic, topic.c.number == mine.c.unit)
        .join(their_topic, their_topic.c.topic == topic.c.topic)
        .join(others, others.c.unit == their_topic.c.number)
        .where(
            mine.c.unit.in_(own),
            sa.or_(topic.c.template.is_not(None), sa.and_(mine.c.known.is_(None), others.c.known.is_(None))),
            sa.or_(same, turned),
        )
    )
    return list(connection.execute(query).scalars())


def _free_unit(connection: sa.Connection, full: list[str], closed: list[int]) -> Any:
    """A unit with a free place, locked; those that others are just taking are passed over while there are more."""
    query = (
        sa.select(units.c.number, units.c.unit, units.c.topic)
        .where(units.c.free > 0, units.c.topic.not_in(full), units.c.number.not_in(closed))
        .order_by(units.c.place)
        .limit(1)
    )
    found = connection.execute(query.with_for_update(skip_locked=True)).one_or_none()
    if found is None and connection.dialect.name == "postgresql":
        found = connection.execute(query.with_for_update()).one_or_none()
    return found


def _silent_unit(connection: sa.Connection, state: State, now: float, full: list[str], closed: list[int]) -> Any:
    """The unit whose holder has been silent longest; that reservation expires, so its place changes hands."""
    query = (
        sa.select(
            units.c.number, units.c.unit, units.c.topic, reservations.c.number.label("held"), reservations.c.assessor
        )
        .join_from(reservations, units, units.c.number == reservations.c.unit)
        .where(
            reservations.c.state == "live",
            reservations.c.seen + _SILENCE <= now,
            reservations.c.assessor != state.assessor,
            _not_held(now),
            units.c.topic.not_in(full),
            units.c.number.not_in(closed),
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
