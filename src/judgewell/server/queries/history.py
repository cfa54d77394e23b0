"""Assessors: all of them in a table, and everything one of them did."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from judgewell.server.queries.endings import ending, endings_by, failed_check, of_units
from judgewell.server.queries.former_names import former
from judgewell.server.store.schema import (
    ANSWERED,
    ASSESSOR_KIND,
    LEFT,
    RIGHT,
    answers,
    assessors,
    closing,
    events,
    exclusions,
    items,
    reservations,
    units,
    verdicts,
)

MOST_EVENTS = 2_000


@dataclass(frozen=True)
class AssessorRow:
    """One assessor: what they took and what became of it."""

    number: int
    pseudonym: str
    origin: str
    kind: str  # person, synthetic or machine
    label: str
    stage: str
    locked_out: bool  # by a failed check: no more units
    created: float
    moved: float
    done: int
    in_progress: int
    failed: int
    abandoned: int
    excluded: int
    excluded_for: str | None  # the reason, where all of their work is excluded
    units_excluded: int  # units that are excluded one by one
    in_hand = former("in_progress", int)
    left_out = former("excluded_for", str | None)
    units_left_out = former("units_excluded", int)

    @property
    def unopened(self) -> bool:
        """Whether this is somebody invited whose link was never opened."""
        return self.origin == "invite" and self.stage == "consent" and self.moved == self.created


@dataclass(frozen=True)
class Given:
    """One answer, or an earlier revision of it."""

    topic: str
    unit: str
    reservation: int
    position: int
    revision: int
    current: bool
    doc: str
    other: str | None
    known: str | None
    answer: str
    comment: str
    seconds: float
    idle: float
    at: float


@dataclass(frozen=True)
class UnitOf:
    """One unit an assessor took."""

    reservation: int
    topic: str
    unit: str
    ending: str
    failed_check: str  # of a failed unit: the name of the check that ended it
    begun: float
    seen: float
    finished: float | None
    late: bool
    revisions: int
    backs: int
    excluded_for: str | None  # the reason
    left_out = former("excluded_for", str | None)


@dataclass(frozen=True)
class VerdictOf:
    """What a check said."""

    reservation: int | None
    name: str
    attempt: int
    passed: bool
    reason: str
    at: float


@dataclass(frozen=True)
class EventOf:
    """A line of the log."""

    at: float
    kind: str
    position: int | None
    data: dict[str, Any]


@dataclass(frozen=True)
class Trail:
    """Everything one assessor did."""

    who: AssessorRow
    units: tuple[UnitOf, ...]
    answers: tuple[Given, ...]
    verdicts: tuple[VerdictOf, ...]
    events: tuple[EventOf, ...]
    closing: tuple[tuple[str, str], ...]


def assessor_rows(connection: sa.Connection, now: float, only: int | None = None) -> list[AssessorRow]:
    """All assessors, or one, in the order in which they came."""
    mine = sa.true() if only is None else reservations.c.assessor == only
    counts = endings_by(connection, now, reservations.c.assessor, mine)
    whole, parts = exclusion_reasons(connection)
    own = (assessors.c[name] for name in ("number", "pseudonym", "origin", "stage", "scratch", "created", "moved"))
    label = sa.func.coalesce(assessors.c.label, "").label("label")
    people = sa.select(*own, label, ASSESSOR_KIND.label("kind")).order_by(assessors.c.number)
    rows = connection.execute(people if only is None else people.where(assessors.c.number == only))
    return [
        AssessorRow(
            **{name: value for name, value in row.items() if name != "scratch"},
            locked_out="keep_stopped" in row["scratch"],
            **of_units(counts.get(row["number"], {}), "done"),
            excluded_for=whole.get(row["number"]),
            units_excluded=len(parts.get(row["number"], {})),
        )
        for row in rows.mappings()
    ]


def exclusion_reasons(connection: sa.Connection) -> tuple[dict[int, str], dict[int, dict[int, str]]]:
    """Reasons by assessor where all of the work is excluded; and by assessor and reservation where a part of it is."""
    whole: dict[int, str] = {}
    parts: dict[int, dict[int, str]] = defaultdict(dict)
    for row in connection.execute(sa.select(exclusions).where(exclusions.c.undone.is_(None))):
        if row.reservation is None:
            whole[row.assessor] = row.reason
        else:
            parts[row.assessor][row.reservation] = row.reason
    return whole, dict(parts)


def find_assessor(connection: sa.Connection, pseudonym: str) -> int | None:
    """The number of an assessor by pseudonym."""
    return connection.execute(sa.select(assessors.c.number).where(assessors.c.pseudonym == pseudonym)).scalar()


def trail(connection: sa.Connection, assessor: int, now: float) -> Trail | None:
    """Everything the assessor did; None where there is no such assessor."""
    rows = assessor_rows(connection, now, assessor)
    if not rows:
        return None
    _, parts = exclusion_reasons(connection)
    checks = sa.select(verdicts).where(verdicts.c.assessor == assessor).order_by(verdicts.c.number)
    log = sa.select(events).where(events.c.assessor == assessor).order_by(events.c.number.desc()).limit(MOST_EVENTS)
    asked = sa.select(closing).where(closing.c.assessor == assessor).order_by(closing.c.number)
    return Trail(
        rows[0],
        tuple(_units(connection, assessor, now, parts.get(assessor, {}))),
        tuple(_answers(connection, assessor)),
        tuple(
            VerdictOf(row.reservation, row.name, row.attempt, row.passed, row.reason or "", row.at)
            for row in connection.execute(checks)
        ),
        tuple(reversed([EventOf(row.at, row.kind, row.position, row.data) for row in connection.execute(log)])),
        tuple((row.name, "; ".join(row.answer)) for row in connection.execute(asked)),
    )


def _units(connection: sa.Connection, assessor: int, now: float, reasons: dict[int, str]) -> list[UnitOf]:
    own = (reservations.c[name] for name in ("topic", "seen", "finished", "late", "revisions", "backs"))
    query = (
        sa.select(reservations.c.number.label("reservation"), *own, reservations.c.created.label("begun"), units.c.unit)
        .add_columns(ending(now).label("ending"), failed_check("").label("failed_check"))
        .join_from(reservations, units, units.c.number == reservations.c.unit)
        .where(reservations.c.assessor == assessor)
        .order_by(reservations.c.number)
    )
    rows = connection.execute(query).mappings()
    return [UnitOf(**row, excluded_for=reasons.get(row["reservation"])) for row in rows]


def _answers(connection: sa.Connection, assessor: int) -> list[Given]:
    query = (
        sa.select(answers, units.c.topic, units.c.unit.label("unit_name"), items.c.known)
        .add_columns(LEFT.c.doc, RIGHT.c.doc.label("other"))
        .join_from(answers, units, units.c.number == answers.c.unit)
        .join(items, ANSWERED)
        .join(LEFT, LEFT.c.number == items.c.doc)
        .outerjoin(RIGHT, RIGHT.c.number == items.c.other)
        .where(answers.c.assessor == assessor)
        .order_by(answers.c.reservation, answers.c.position, answers.c.revision)
    )
    own = ("topic", "reservation", "position", "revision", "current", "doc", "other", "known", "seconds", "idle", "at")
    return [
        Given(
            **{name: getattr(row, name) for name in own},
            unit=row.unit_name,
            answer=answer_text(row),
            comment=row.comment or "",
        )
        for row in connection.execute(query)
    ]


def answer_text(row: Any) -> str:
    """An answer in a few words: the number, or which side and what was said of both."""
    if row.unrateable is not None:
        return f"unrateable ({row.unrateable})"
    if row.value is not None:
        return f"{row.value:g}"
    parts = [row.preferred or ""]
    if row.left_relevant is not None:
        relevant = [side for side in ("left", "right") if getattr(row, f"{side}_relevant")]
        parts.append(f"relevant: {' and '.join(relevant) or 'neither'}")
    if row.left_score is not None:
        parts.append(f"{row.left_score:g} to {row.right_score:g}")
    return "; ".join(part for part in parts if part)
