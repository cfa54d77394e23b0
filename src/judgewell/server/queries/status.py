"""How far a study is: by topic and unit, what the checks found, and what it has cost so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from judgewell.server.store.schema import answers, assessors, pauses, reservations, study, units, verdicts
from judgewell.study.model import Study


@dataclass(frozen=True)
class TopicProgress:
    """One topic: its units, the assessors they need, and how many have it in hand or done."""

    topic: str
    units: int
    needed: int
    done: int
    live: int
    late: int
    failed: int
    expired: int
    complete: int  # units that have all they need
    excluded: int = 0  # finished, and left out; not among the done


@dataclass(frozen=True)
class CheckResult:
    """One check: how often it was passed and not, over all attempts."""

    name: str
    passed: int
    failed: int


@dataclass(frozen=True)
class Status:
    """A study's progress."""

    study: str
    hash: str
    frozen: bool
    topics: tuple[TopicProgress, ...]
    checks: tuple[CheckResult, ...]
    assessors: int
    consented: int
    answers: int
    revised: int
    paid: float
    fee: float
    currency: str
    paused: tuple[str, ...] = ()  # topics; "" is the whole study

    @property
    def needed(self) -> int:
        return sum(topic.needed for topic in self.topics)

    @property
    def done(self) -> int:
        return sum(topic.done for topic in self.topics)


def status(connection: sa.Connection, now: float) -> Status:
    """The study's progress now; a reservation that is overdue counts as expired."""
    row = connection.execute(sa.select(study)).one()
    settings = Study.model_validate(row.frozen["settings"])
    counted = connection.execute(
        sa.select(sa.func.count(), sa.func.count(assessors.c.consented)).select_from(assessors)
    ).one()
    given = connection.execute(
        sa.select(sa.func.count(), sa.func.sum(sa.case((answers.c.current, 0), else_=1))).select_from(answers)
    ).one()
    found = tuple(_topics(connection, now))
    paid = sum(topic.done + topic.excluded for topic in found) * settings.pay.amount  # work left out is paid too
    return Status(
        study=row.name,
        hash=row.hash,
        frozen=row.first_judgment is not None,
        topics=found,
        checks=tuple(_checks(connection)),
        assessors=counted[0],
        consented=counted[1],
        answers=given[0],
        revised=int(given[1] or 0),
        paid=paid,
        fee=paid * settings.pay.fee,
        currency=settings.pay.currency,
        paused=tuple(sorted(connection.execute(sa.select(pauses.c.topic)).scalars())),
    )


def _topics(connection: sa.Connection, now: float) -> list[TopicProgress]:
    need = sa.select(
        units.c.topic, sa.func.count(), sa.func.sum(units.c.need), sa.func.sum(sa.case((units.c.free <= 0, 1), else_=0))
    ).group_by(units.c.topic)
    held = sa.func.coalesce(reservations.c.held_until, 0)
    overdue = sa.and_(reservations.c.state == "live", reservations.c.expires <= now, held <= now)
    left_out = sa.and_(reservations.c.state == "done", reservations.c.excluded)
    state = sa.case((overdue, "expired"), (left_out, "excluded"), else_=reservations.c.state).label("state")
    by_state = sa.select(reservations.c.topic, state, sa.func.count()).group_by(reservations.c.topic, state)
    counts: dict[tuple[str, str], int] = {(topic, name): count for topic, name, count in connection.execute(by_state)}
    open_units = _unfinished(connection)
    return [
        TopicProgress(
            topic,
            count,
            int(needed),
            complete=count - open_units.get(topic, 0),
            **{
                name: counts.get((topic, name), 0) for name in ("done", "live", "late", "failed", "expired", "excluded")
            },
        )
        for topic, count, needed, _ in connection.execute(need.order_by(units.c.topic))
    ]


def _unfinished(connection: sa.Connection) -> dict[str, int]:
    """Units of each topic that still miss finished work."""
    done = (
        sa.select(reservations.c.unit, sa.func.count().label("done"))
        .where(reservations.c.state == "done", ~reservations.c.excluded)
        .group_by(reservations.c.unit)
        .subquery()
    )
    query = (
        sa.select(units.c.topic, sa.func.count())
        .outerjoin(done, done.c.unit == units.c.number)
        .where(sa.func.coalesce(done.c.done, 0) < units.c.need)
        .group_by(units.c.topic)
    )
    return dict(connection.execute(query).all())


def _checks(connection: sa.Connection) -> list[CheckResult]:
    passed = sa.func.sum(sa.case((verdicts.c.passed, 1), else_=0))
    query = sa.select(verdicts.c.name, passed, sa.func.count()).group_by(verdicts.c.name).order_by(verdicts.c.name)
    return [CheckResult(name, int(good), count - int(good)) for name, good, count in connection.execute(query)]


def status_text(found: Status) -> str:
    """The status as a table in plain text."""
    head = ("topic", "units", "complete", "needed", "done", "in hand", "late", "failed", "expired", "left out")
    rows: list[tuple[Any, ...]] = [
        (one.topic, one.units, one.complete, one.needed, one.done, *_rest(one)) for one in found.topics
    ]
    if len(rows) > 1:
        rows.append(("all", *(sum(row[column] for row in rows) for column in range(1, len(head)))))
    table = [head, *((str(cell) for cell in row) for row in rows)]
    lines = _aligned([tuple(map(str, row)) for row in table])
    lines += ["", f"{found.answers:,} answers, {found.revised:,} of them revised later; {found.assessors:,} assessors"]
    lines += [f"check {one.name}: {one.passed:,} passed, {one.failed:,} not" for one in found.checks]
    if found.paused:
        stopped = [f"topic {topic}" if topic else "the whole study" for topic in found.paused]
        lines.append(f"paused: {', '.join(stopped)}")
    if found.paid:
        lines.append(f"cost so far: {found.paid:,.2f} {found.currency} and {found.fee:,.2f} in fees")
    return "\n".join(lines) + "\n"


def _rest(one: TopicProgress) -> tuple[int, ...]:
    return one.live, one.late, one.failed, one.expired, one.excluded


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
