"""Bonuses for units beyond those that the platform's own reward pays for, each written once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

import sqlalchemy as sa

from judgewell.errors import InputError
from judgewell.server.queries.endings import PAID, endings_by
from judgewell.server.session.served import Served
from judgewell.server.store.schema import MACHINE, assessors, audit, identities, reservations
from judgewell.server.store.transactions import Store
from judgewell.study.model import Pay
from judgewell.text import agrees, counted

CENT = Decimal("0.01")
_SAFE = re.compile(r"[A-Za-z0-9_-]+")  # without a signed link anybody can bring an id, a comma and a sum in it


@dataclass(frozen=True)
class Bonuses:
    """What is to be paid now: (the platform's id, amount) in order, and what is skipped with the reason."""

    lines: tuple[tuple[str, Decimal], ...]
    notes: tuple[str, ...]

    @property
    def total(self) -> Decimal:
        return sum((amount for _, amount in self.lines), Decimal(0))


def take_bonuses(store: Store, served: Served, *, again: bool = False) -> Bonuses:
    """What is due beyond what was written before, recorded as written; `again` gives all of it once more.

    An assessor's due is (completed units − pay.covered) × pay.bonus. Units that were excluded later stay paid; those
    that failed, were abandoned or are still in progress are not paid.
    """
    if served.study.platform.kind == "invite":
        raise InputError("people with invite links have no platform that pays bonuses", cure="see judgewell status")
    return store.write(lambda connection: _take(connection, served, again)).result()


def _take(connection: sa.Connection, served: Served, again: bool) -> Bonuses:
    pay = served.study.pay
    before = {} if again else _written(connection)
    completed, notes = _completed(connection, served.clock())
    due = {assessor: _bonus(pay, units) - before.get(assessor, Decimal(0)) for assessor, units in completed.items()}
    names = _names(connection)
    paid = {number: amount for number, amount in due.items() if amount > 0 and _SAFE.fullmatch(names.get(number, ""))}
    nameless = sum(amount > 0 for amount in due.values()) - len(paid)
    if nameless:
        who = f"{counted(nameless, 'assessor')} with a bonus {agrees(nameless, 'has', 'have')}"
        notes.append(f"{who} no id that can be paid: deleted, or not of the platform")
    if before:
        notes.append(
            f"{sum(before.values())} {pay.currency} was written in earlier files and is not repeated; see --again"
        )
    if paid:
        _record(connection, served, paid, again)
    return Bonuses(tuple((names[number], amount) for number, amount in sorted(paid.items())), tuple(notes))


def due_bonus(connection: sa.Connection, served: Served, assessor: int) -> Decimal:
    """What is due to one assessor beyond what was written before."""
    if served.study.platform.kind == "invite":
        return Decimal(0)
    completed, _ = _completed(connection, served.clock())
    return _bonus(served.study.pay, completed[assessor]) - _written(connection).get(assessor, Decimal(0))


def _bonus(pay: Pay, units: int) -> Decimal:
    each = Decimal(str(pay.amount if pay.bonus is None else pay.bonus))
    return (each * max(0, units - pay.covered)).quantize(CENT, ROUND_HALF_UP)


def _completed(connection: sa.Connection, now: float) -> tuple[Counter[int], list[str]]:
    """Completed units of each assessor a platform sent, and how many other units are not paid."""
    sent = sa.select(assessors.c.number).where(assessors.c.origin.not_in(("invite", MACHINE)))
    completed: Counter[int] = Counter()
    others: Counter[str] = Counter()
    of_sent = reservations.c.assessor.in_(sent)
    for assessor, units in endings_by(connection, now, reservations.c.assessor, of_sent).items():
        completed[assessor] = sum(units.pop(ending, 0) for ending in PAID)
        others.update(units)
    notes = [
        f"{counted(count, 'unit')} {agrees(count, 'is', 'are')} not paid: {ending}"
        for ending, count in sorted(others.items())
    ]
    return completed, notes


def _names(connection: sa.Connection) -> dict[int, str]:
    return {row.assessor: row.outside for row in connection.execute(sa.select(identities))}


def _written(connection: sa.Connection) -> dict[int, Decimal]:
    """What was written for each assessor so far: since the last file that held everything."""
    query = sa.select(audit.c.data).where(audit.c.action == "bonus").order_by(audit.c.number)
    amounts: dict[int, Decimal] = {}
    for (data,) in connection.execute(query):
        if data["again"]:
            amounts = {}
        for number, amount in data["amounts"].items():
            amounts[int(number)] = amounts.get(int(number), Decimal(0)) + Decimal(amount)
    return amounts


def _record(connection: sa.Connection, served: Served, paid: Mapping[int, Decimal], again: bool) -> None:
    amounts = {str(number): str(amount) for number, amount in paid.items()}
    row = {"at": served.clock(), "action": "bonus", "target": counted(len(paid), "assessor")}
    connection.execute(sa.insert(audit).values(**row, data={"again": again, "amounts": amounts}))
