"""Machines among the assessors: what each one did, what it took, and every reply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from judgewell.server.queries.endings import COMPLETED, FAILED, endings_by
from judgewell.server.store.schema import LEFT, RIGHT, answers, assessors, items, machines, replies, reservations, units
from judgewell.text import counted


@dataclass(frozen=True)
class MachineRow:
    """One machine: its units, the answers that count and those it could not give, and what its replies took."""

    number: int
    pseudonym: str
    model: str
    sample: int
    endpoint: str
    prompts: dict[str, str]
    settings: dict[str, Any]
    completed: int  # units
    failed: int
    answers: int
    unrateable: int
    replies: int
    failed_replies: int  # refused, unreadable, cut or rejected
    tokens_in: int
    tokens_out: int
    cost: float
    currency: str
    both_orders: int  # pairs that were answered in both orders
    same_in_both: int  # of them, those whose preferred document is the same

    @property
    def text(self) -> str:
        """The row as a sentence."""
        name = self.model if self.sample == 1 else f"{self.model}, sample {self.sample}"
        parts = [
            f"machine {self.pseudonym} ({name}): {counted(self.completed, 'unit')} completed, {self.failed:,} failed",
            f"{counted(self.answers, 'answer')}, {self.unrateable:,} unrateable",
            f"{counted(self.replies, 'reply', 'replies')}, {self.failed_replies:,} of them not readable",
            f"{self.tokens_in:,} tokens sent, {self.tokens_out:,} received"
            + (f", {self.cost:,.4f} {self.currency}" if self.cost else ""),
        ]
        if self.both_orders:
            parts.append(f"{self.same_in_both:,} of {self.both_orders:,} pairs have the same preference in both orders")
        return "; ".join(parts)


def machine_rows(connection: sa.Connection, now: float) -> list[MachineRow]:
    """All machines in the order in which they came."""
    query = sa.select(machines, assessors.c.pseudonym).join_from(
        machines, assessors, assessors.c.number == machines.c.assessor
    )
    rows = connection.execute(query.order_by(machines.c.assessor)).all()
    if not rows:
        return []
    of_machines = reservations.c.assessor.in_(sa.select(machines.c.assessor))
    ended = endings_by(connection, now, reservations.c.assessor, of_machines)
    given, replied = _answers(connection), _replies(connection)
    own = ("pseudonym", "model", "sample", "endpoint", "prompts", "settings", "currency")
    return [
        MachineRow(
            number=row.assessor,
            **{name: getattr(row, name) for name in own},
            completed=ended.get(row.assessor, {}).get(COMPLETED, 0),
            failed=ended.get(row.assessor, {}).get(FAILED, 0),
            **given.get(row.assessor, {"answers": 0, "unrateable": 0, "both_orders": 0, "same_in_both": 0}),
            **replied.get(
                row.assessor, {"replies": 0, "failed_replies": 0, "tokens_in": 0, "tokens_out": 0, "cost": 0.0}
            ),
        )
        for row in rows
    ]


def _how_many(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.coalesce(sa.func.sum(sa.case((condition, 1), else_=0)), 0)


def _answers(connection: sa.Connection) -> dict[int, dict[str, Any]]:
    """Standing answers of each machine."""
    both = answers.c.swapped.is_not(None)
    query = (
        sa.select(
            answers.c.assessor,
            _how_many(answers.c.unrateable.is_(None)).label("answers"),
            _how_many(answers.c.unrateable.is_not(None)).label("unrateable"),
            _how_many(both).label("both_orders"),
            _how_many(sa.and_(both, answers.c.swapped == answers.c.preferred)).label("same_in_both"),
        )
        .join_from(answers, machines, machines.c.assessor == answers.c.assessor)
        .where(answers.c.current)
        .group_by(answers.c.assessor)
    )
    return _by_assessor(connection, query)


def _replies(connection: sa.Connection) -> dict[int, dict[str, Any]]:
    sums = {name: sa.func.sum(replies.c[name]).label(name) for name in ("tokens_in", "tokens_out", "cost")}
    query = sa.select(
        replies.c.assessor,
        sa.func.count().label("replies"),
        _how_many(replies.c.outcome != "read").label("failed_replies"),
        *sums.values(),
    ).group_by(replies.c.assessor)
    return _by_assessor(connection, query)


def _by_assessor(connection: sa.Connection, query: sa.Select[Any]) -> dict[int, dict[str, Any]]:
    rows = {}
    for row in connection.execute(query).mappings():
        rest = {name: value for name, value in row.items() if name != "assessor"}
        rows[row["assessor"]] = {name: value if name == "cost" else int(value) for name, value in rest.items()}
    return rows


def replies_query() -> sa.Select[Any]:
    """Every reply with what it is about; `doc` and `other` are the documents in the order that people see."""
    judged = replies.c.purpose.in_(("document", "pair"))
    place = sa.and_(items.c.unit == replies.c.unit, items.c.position == replies.c.position, judged)
    names = ("purpose", "position", "revision", "swapped", "attempt", "outcome", "expected", "spread")
    taken = ("prompt", "tokens_in", "tokens_out", "estimated", "cost", "seconds", "at")
    return (
        sa.select(
            units.c.topic,
            units.c.unit,
            LEFT.c.doc,
            RIGHT.c.doc.label("other"),
            assessors.c.pseudonym.label("assessor"),
            replies.c.model,
            machines.c.sample,
            *(replies.c[name] for name in names),
            sa.cast(machines.c.settings, sa.Text).label("settings"),
            *(replies.c[name] for name in taken),
            machines.c.currency,
            replies.c.text.label("reply"),
        )
        .join_from(replies, machines, machines.c.assessor == replies.c.assessor)
        .join(assessors, assessors.c.number == replies.c.assessor)
        .join(units, units.c.number == replies.c.unit)
        .outerjoin(items, place)
        .outerjoin(LEFT, LEFT.c.number == items.c.doc)
        .outerjoin(RIGHT, RIGHT.c.number == items.c.other)
        .order_by(replies.c.number)
    )
