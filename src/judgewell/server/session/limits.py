"""Which units an assessor may take: the study's limits for people, and every document once for a machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from judgewell.server.session.budget import IS_PAID
from judgewell.server.session.served import Served
from judgewell.server.store.prepared import Prepared
from judgewell.server.store.schema import MACHINE, answers, assessors, goals, items, pauses, reservations, topics, units

ALL = 1_000_000_000  # units of a topic: no limit
RULES = ("one", "several", "machine")


@dataclass(frozen=True)
class Limits:
    """What an assessor may have: `most` units of a topic, nothing where it is all used up or the study is stopped."""

    person: int
    most: int
    used_up: bool
    paused: bool  # at least one topic
    stopped: bool  # all of them
    machine: bool
    paid: bool  # by the study: units of others do not use its budget

    @property
    def rule(self) -> str:
        """Which units are for the assessor: see `may_take`."""
        return "machine" if self.machine else "several" if self.most > 1 else "one"

    @property
    def bound(self) -> dict[str, Any]:
        return {"person": self.person, "most": self.most}


def _count(ending: str) -> sa.Label[int]:
    mine = sa.and_(reservations.c.assessor == assessors.c.number, reservations.c.ending == ending)
    return sa.select(sa.func.count()).where(mine).scalar_subquery().label(ending)


_FACTS = Prepared(
    sa.select(
        assessors.c.excluded,
        (assessors.c.origin == MACHINE).label("machine"),
        IS_PAID.label("paid"),
        _count("completed"),
        _count("failed_quality"),
        sa.exists().select_from(pauses).label("paused"),
        sa.exists().where(pauses.c.topic == "").label("stopped"),
    ).where(assessors.c.number == sa.bindparam("person"))
)


def limits_of(connection: sa.Connection, served: Served, assessor: int) -> Limits:
    """Assessors who have done enough, have failed too often, or whose work is excluded, get no more units.

    A machine may do every unit: it does not tire, and units it fails are counted and not used.
    """
    row, work = _FACTS.one(connection, person=assessor), served.study.work
    if row.machine:
        return Limits(assessor, ALL, bool(row.excluded), bool(row.paused), bool(row.stopped), True, False)
    used_up = row.completed + row.failed_quality >= work.most_units or bool(row.excluded)
    used_up = used_up or _too_many(served, row.failed_quality)
    return Limits(assessor, work.units_per_topic, used_up, bool(row.paused), bool(row.stopped), False, bool(row.paid))


_HAD = reservations.alias("had")
_KEPT = sa.and_(  # a unit that was given up before its first answer counts for nothing
    _HAD.c.assessor == sa.bindparam("person", type_=sa.BigInteger),
    sa.or_(_HAD.c.state != "expired", _HAD.c.excluded, sa.exists().where(answers.c.reservation == _HAD.c.number)),
)
_FULL = (  # topics of which the assessor may do no more units
    sa.select(_HAD.c.topic)
    .where(_KEPT)
    .group_by(_HAD.c.topic)
    .having(sa.func.count() >= sa.bindparam("most", type_=sa.Integer))
)
_WITH_ROOM = Prepared(  # a topic of which they may, while the study's goal is open
    sa.select(topics.c.topic).where(sa.exists().where(goals.c.ended.is_(None)), topics.c.topic.not_in(_FULL)).limit(1)
)


def more_to_come(connection: sa.Connection, served: Served, limits: Limits) -> bool:
    """Whether a study with a goal may still make units for the assessor."""
    return served.study.goal is not None and _WITH_ROOM.one(connection, **limits.bound) is not None


def has_failed_often(connection: sa.Connection, served: Served, assessor: int) -> bool:
    """Whether an assessor has failed so many units that they get no more."""
    return _too_many(served, _FACTS.one(connection, person=assessor).failed_quality)


def _too_many(served: Served, failed: int) -> bool:
    return 0 < served.study.checks.most_failed <= failed


def may_take(rule: str) -> sa.ColumnElement[bool]:
    """Whether a unit is for the assessor: `one` unit of a topic or `several`, as the study lets a person do, or those
    of a `machine`.

    A unit that was given up before its first answer may be taken again. Units that share a document, or a pair, with
    one they had are not for them; known documents do not count, except in templates, where every document's grade is
    known. A machine judges every document of the study: a unit with one that it has not had is for it.
    """
    conditions = [
        units.c.number.not_in(sa.select(_HAD.c.unit).where(_KEPT)),
        units.c.topic.not_in(_FULL),
        sa.or_(sa.bindparam("unpaused", type_=sa.Boolean), units.c.topic.not_in(sa.select(pauses.c.topic))),
    ]
    if rule == "one":
        return sa.and_(*conditions)
    one, other = items.alias("one"), items.alias("other")
    same = sa.and_(one.c.doc == other.c.doc, one.c.other.is_not_distinct_from(other.c.other))
    turned = sa.and_(one.c.doc == other.c.other, one.c.other == other.c.doc)
    had_before = (
        sa.select(_HAD.c.number)
        .join_from(_HAD, one, one.c.unit == _HAD.c.unit)
        .where(_KEPT, _HAD.c.topic == units.c.topic, sa.or_(same, turned))
    )
    template, of_unit = units.c.template.is_not(None), other.c.unit == units.c.number
    if rule == "machine":
        unit = units.alias("had_unit")  # of the same scale: on another one it judges the document again
        scale = unit.c.scale.is_not_distinct_from(units.c.scale)
        before = had_before.join(unit, unit.c.number == _HAD.c.unit).where(scale).correlate(units, other).exists()
        return sa.and_(*conditions, sa.exists().where(of_unit, sa.or_(template, other.c.known.is_(None)), ~before))
    unknown = sa.and_(one.c.known.is_(None), other.c.known.is_(None))
    return sa.and_(*conditions, ~had_before.where(of_unit, sa.or_(template, unknown)).exists())


def under_each(make: Callable[[sa.ColumnElement[bool]], sa.Executable]) -> dict[str, Prepared]:
    """A query about units that may be taken, under each rule."""
    return {rule: Prepared(make(may_take(rule))) for rule in RULES}
