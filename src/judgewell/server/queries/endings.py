"""How units ended: the one definition, in SQL, and the counts that every page, command and report shows.

completed     all places answered and every check passed
excluded      completed, and excluded afterwards by the owner or by reviewers
failed        ended by a check
abandoned     the assessor fell silent, gave the unit back, or the owner released it
in progress   an assessor holds it
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from judgewell.server.store.schema import answers, exclusions, reservations, verdicts
from judgewell.study.checks import LeastTime

COMPLETED, EXCLUDED, FAILED, ABANDONED, IN_PROGRESS = "completed", "excluded", "failed", "abandoned", "in progress"
ENDINGS = (COMPLETED, EXCLUDED, FAILED, ABANDONED, IN_PROGRESS)
PAID = (COMPLETED, EXCLUDED)  # work that is excluded later stays paid


# An answer counts unless it was revised; one that a machine could not give is none.
STANDS = sa.and_(answers.c.current, answers.c.unrateable.is_(None))


# An exclusion that is in force for a reservation: of that unit, or of all the assessor's work.
EXCLUDING = sa.and_(
    exclusions.c.assessor == reservations.c.assessor,
    sa.or_(exclusions.c.reservation.is_(None), exclusions.c.reservation == reservations.c.number),
    exclusions.c.undone.is_(None),
)


@dataclass(frozen=True)
class UnitEnding:
    """Units that ended in one way: how many, by how many assessors, and how many standing answers they hold."""

    ending: str
    units: int
    assessors: int
    answers: int


def ending(now: float) -> sa.ColumnElement[str]:
    """How the unit of a reservation ended, as of a moment."""
    state = reservations.c.state
    return sa.case(
        (sa.and_(state == "done", reservations.c.excluded), EXCLUDED),
        (state == "done", COMPLETED),
        (state == "failed", FAILED),
        (sa.or_(state == "expired", sa.and_(state.in_(("live", "late")), ~held(now))), ABANDONED),
        else_=IN_PROGRESS,
    )


def failed_check(otherwise: str | None) -> sa.ColumnElement[Any]:
    """The check that ended a failed unit, by its name in the verdicts, or what stands for none."""
    at_end = (
        sa.select(sa.func.min(verdicts.c.name))
        .where(verdicts.c.reservation == reservations.c.number, sa.not_(verdicts.c.passed))
        .where(verdicts.c.attempt == reservations.c.revisions + 1, verdicts.c.name != LeastTime.name)  # fails no unit
        .correlate(reservations)
        .scalar_subquery()
    )
    ended = reservations.c.ending
    door = sa.func.replace(ended, "failed_", "")
    name = sa.case((ended == "failed_quality", sa.func.coalesce(at_end, "quality")), else_=door)
    return sa.case((reservations.c.state == "failed", name), else_=otherwise)


def failed_units(connection: sa.Connection) -> dict[int, list[tuple[str, int]]]:
    """The checks that ended units of each assessor, and how many units."""
    check = failed_check(None).label("check")
    query = sa.select(reservations.c.assessor, check, sa.func.count()).where(reservations.c.state == "failed")
    failed: dict[int, list[tuple[str, int]]] = {}
    for assessor, name, count in connection.execute(query.group_by(reservations.c.assessor, check).order_by(check)):
        failed.setdefault(assessor, []).append((name, count))
    return failed


def held(now: float) -> sa.ColumnElement[bool]:
    """Whether a reservation's time is not over yet, by signs of life or by the owner's word."""
    return sa.or_(reservations.c.expires > now, sa.func.coalesce(reservations.c.held_until, 0.0) > now)


def endings_by(
    connection: sa.Connection, now: float, column: sa.ColumnElement[Any], *where: sa.ColumnElement[bool]
) -> dict[Any, dict[str, int]]:
    """Units of each ending by a column of the reservations (topic, unit or assessor)."""
    how = ending(now).label("how")
    counts: dict[Any, dict[str, int]] = {}
    query = sa.select(column, how, sa.func.count()).where(*where).group_by(column, how)
    for key, name, count in connection.execute(query):
        counts.setdefault(key, {})[name] = count
    return counts


def of_units(counts: dict[str, int], completed: str = "completed") -> dict[str, Any]:
    """Units of each ending by the names of fields: completed (or another name), excluded, failed, in_progress, …"""
    fields = {name: name.replace(" ", "_") for name in ENDINGS} | {COMPLETED: completed}
    return {field: counts.get(name, 0) for name, field in fields.items()}


def unit_endings(connection: sa.Connection, now: float) -> tuple[UnitEnding, ...]:
    """Every ending with its units, assessors and standing answers, in the order of `ENDINGS`."""
    how = ending(now).label("how")
    taken = sa.select(how, sa.func.count(), sa.func.count(reservations.c.assessor.distinct())).group_by(how)
    counts: dict[str, tuple[int, int]] = {name: (units, who) for name, units, who in connection.execute(taken)}
    given = (
        sa.select(how, sa.func.count())
        .join_from(answers, reservations, reservations.c.number == answers.c.reservation)
        .where(STANDS)
        .group_by(how)
    )
    standing: dict[str, int] = dict(connection.execute(given).all())
    return tuple(UnitEnding(name, *counts.get(name, (0, 0)), standing.get(name, 0)) for name in ENDINGS)
