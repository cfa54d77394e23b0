"""Excluding work, with a reason: kept, marked, and reversible.

Excluded work holds no place: the unit's place is free at once, so that somebody else judges it. An assessor whose work
is excluded as a whole gets no more units; what they have in progress they may finish, and it is excluded too. Work that
is included again takes its place if that is still free, and otherwise counts beyond the unit's need, as late work does.
"""

from __future__ import annotations

from typing import Any, Literal

import sqlalchemy as sa

from judgewell.errors import InputError
from judgewell.server.queries.history import find_assessor
from judgewell.server.session.assignment import release
from judgewell.server.session.state import log_event
from judgewell.server.store.schema import assessors, exclusions, identities, reservations, units

Source = Literal["owner", "review"]
PSEUDONYMS = "the Assessors page and the units.csv of an export show the pseudonyms"


def assessor_called(connection: sa.Connection, pseudonym: str) -> int:
    """The number of an assessor by pseudonym; an error where there is none."""
    number = find_assessor(connection, pseudonym)
    if number is None:
        raise InputError(f"there is no assessor {pseudonym!r}", cure=PSEUDONYMS)
    return number


def pseudonym_of(connection: sa.Connection, name: str) -> str:
    """The pseudonym of an assessor by what an owner knows: the pseudonym, the platform's id, the invited name."""
    ids = sa.select(identities.c.assessor).where(identities.c.outside == name)
    for known in (assessors.c.pseudonym == name, assessors.c.number.in_(ids), assessors.c.label == name):
        called = list(connection.execute(sa.select(assessors.c.pseudonym).where(known).limit(2)).scalars())
        if len(called) > 1:
            raise InputError(f"{name!r} is the name of several assessors", cure="give the pseudonym of one")
        if called:
            return str(called[0])
    raise InputError(f"there is no assessor {name!r}", cure=PSEUDONYMS)


def find_reservation(connection: sa.Connection, assessor: int, unit: str) -> int:
    """The reservation of an assessor's unit."""
    query = (
        sa.select(reservations.c.number)
        .join(units, units.c.number == reservations.c.unit)
        .where(reservations.c.assessor == assessor, units.c.unit == unit)
    )
    number = connection.execute(query).scalar()
    if number is None:
        raise InputError(
            f"this assessor had no unit {unit!r}",
            cure="the assessor's page and the units.csv of an export show their units",
        )
    return int(number)


def exclude(
    connection: sa.Connection, now: float, assessor: int, reservation: int | None, reason: str, source: Source
) -> int:
    """Exclude one unit of an assessor, or all of their work; how many units that changed."""
    row = {"assessor": assessor, "reservation": reservation, "source": source, "reason": reason, "at": now}
    connection.execute(sa.insert(exclusions), row)
    return _mark(connection, now, assessor, "excluded", reason)


def include(connection: sa.Connection, now: float, assessor: int, reservation: int | None) -> int:
    """Include excluded work again, whoever excluded it; how many units that changed."""
    undo = (
        sa.update(exclusions)
        .where(exclusions.c.assessor == assessor, exclusions.c.undone.is_(None))
        .where(exclusions.c.reservation == reservation if reservation else exclusions.c.reservation.is_(None))
        .values(undone=now)
    )
    if connection.execute(undo).rowcount == 0:
        raise InputError("nothing is excluded here", cure="see units.csv of an export for what is")
    return _mark(connection, now, assessor, "included", "")


def _mark(connection: sa.Connection, now: float, assessor: int, kind: str, reason: str) -> int:
    """Bring the marks in line with the exclusions in force; returns how many units changed."""
    standing = connection.execute(
        sa.select(exclusions.c.reservation).where(exclusions.c.assessor == assessor, exclusions.c.undone.is_(None))
    ).scalars()
    excluded = set(standing)
    everything = None in excluded
    connection.execute(sa.update(assessors).where(assessors.c.number == assessor).values(excluded=everything))
    mine = sa.select(reservations).where(reservations.c.assessor == assessor).order_by(reservations.c.unit)
    changed = [row for row in connection.execute(mine).all() if row.excluded != (everything or row.number in excluded)]
    data: dict[str, Any] = {"reason": reason} if reason else {}
    for row in changed:
        if not row.excluded and row.state == "live":
            release(connection, row.number, now, "excluded")
        values = {"excluded": not row.excluded}
        if row.state == "done":
            values["late"] = row.late if not row.excluded else _takes_place_late(connection, row.unit)
            change = 1 if not row.excluded else -1
            connection.execute(sa.update(units).where(units.c.number == row.unit).values(free=units.c.free + change))
        connection.execute(sa.update(reservations).where(reservations.c.number == row.number).values(values))
        log_event(connection, now, kind, assessor, row.number, **data)
    return len(changed)


def _takes_place_late(connection: sa.Connection, unit: int) -> bool:
    """Whether work that is taken in again goes beyond its unit's need."""
    query = sa.select(units.c.free).where(units.c.number == unit)
    return int(connection.execute(query).scalar_one()) <= 0
