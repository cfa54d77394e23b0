"""Money: what the study has cost and will cost, how spending grew, and what assessors get for an hour."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import median
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from judgewell.server.queries.endings import COMPLETED, PAID, ending, endings_by, unit_endings
from judgewell.server.queries.slots import slot_length
from judgewell.server.session.budget import IS_PAID, budget
from judgewell.server.store.schema import MACHINE, answers, assessors, items, reservations, units
from judgewell.study.model import Pay, cents
from judgewell.text import counted

if TYPE_CHECKING:
    from judgewell.study.cost import Cost

MOST_POINTS = 200
MOST_BARS = 16
STEPS = (1, 2, 5)
LEAST_SECONDS = 60.0  # of work for which a pay per hour means anything

_BY_MACHINE = reservations.c.assessor.in_(sa.select(assessors.c.number).where(assessors.c.origin == MACHINE))
_PAID_FOR = reservations.c.assessor.in_(sa.select(assessors.c.number).where(IS_PAID))


@dataclass(frozen=True)
class Spent:
    """What the study had cost at the end of a stretch of time, with the fee."""

    start: float
    seconds: float
    amount: float


@dataclass(frozen=True)
class HourlyBar:
    """So many assessors got from `low` to below `high` for an hour of work."""

    low: float
    high: float
    assessors: int


@dataclass(frozen=True)
class Hourly:
    """Pay for an hour of work, over assessors, without the platform's fee.

    Work is the time from taking a unit to finishing it, without the time a page lay idle.
    """

    assessors: int
    median: float | None
    lowest: float | None
    highest: float | None
    bars: tuple[HourlyBar, ...]


@dataclass(frozen=True)
class Money:
    """What the study costs: paid and still to come within the budget, with the platform's fee."""

    currency: str
    paid: float
    paid_fee: float
    to_come: float
    to_come_fee: float
    budget: float | None
    budget_share: float | None  # of the budget that is spent
    budget_state: str  # near (80 % or more), reached (no further unit can be paid), or empty
    in_progress: float  # what units in progress will cost at most, with the fee
    units_to_come: int  # that are still needed and that the budget pays for
    units_beyond: int  # that are still needed and that the budget does not pay for

    @property
    def so_far(self) -> float:
        return cents(self.paid + self.paid_fee)

    @property
    def still_to_come(self) -> float:
        return cents(self.to_come + self.to_come_fee)

    @property
    def total(self) -> float:
        return cents(self.so_far + self.still_to_come)

    @property
    def within_budget(self) -> str:
        """A sentence about units that the budget does not pay for; "" where it pays for all of them."""
        if not self.units_beyond:
            return ""
        left = counted(self.units_to_come + self.units_beyond, "unit")
        if not self.units_to_come:
            return f"The budget does not pay for the {left} still needed: the study ends here"
        return f"The budget pays for {self.units_to_come:,} of the {left} still needed; then the study ends"

    @property
    def warning(self) -> str:
        """A sentence about a budget that is nearly or wholly spent; "" where there is nothing to say."""
        return budget_text(self.so_far, self.budget, self.budget_state, self.currency)


@dataclass(frozen=True)
class MoneyDetails:
    """The money with its history and what it buys."""

    money: Money
    documents: int  # with finished work
    planned_documents: int
    spending: tuple[Spent, ...]
    hourly: Hourly

    @property
    def per_document(self) -> float | None:
        """What a document with finished work has cost so far, with the fee."""
        return self.money.so_far / self.documents if self.documents else None

    @property
    def planned_per_document(self) -> float | None:
        return self.money.total / self.planned_documents if self.planned_documents else None


def money(connection: sa.Connection, pay: Pay, remaining: int) -> Money:
    """Spending so far, with so many completions still expected."""
    state = budget(connection, pay)
    units_to_come = int(min(remaining, state.affordable))
    to_come = cents(units_to_come * pay.amount)
    return Money(
        pay.currency,
        state.paid,
        pay.fee_on(state.paid),
        to_come,
        pay.fee_on(to_come),
        pay.budget,
        state.share,
        state.state,
        state.in_progress,
        units_to_come,
        remaining - units_to_come,
    )


def money_details(connection: sa.Connection, pay: Pay, spent: Money, now: float) -> MoneyDetails:
    """The money with what takes longer to count than all else of an overview."""
    some, all_documents = _finished_documents(connection, now), _count(connection, _PLANNED)
    return MoneyDetails(spent, some, all_documents, _spending(connection, pay, now), hourly(connection, pay))


def shares(total: float, parts: Sequence[int]) -> list[float]:
    """A sum of money divided in proportion to whole numbers, each share to the cent; the shares add up to the sum."""
    whole = max(1, sum(parts))
    ends = [cents(total * upto / whole) for upto in accumulate(parts, initial=0)]
    return [cents(end - start) for start, end in pairwise(ends)]


def completed_cost(connection: sa.Connection, pay: Pay, now: float) -> Cost:
    """The work and the money of completed units, at the time that the study expects of a judgment."""
    from judgewell.study.cost import cost_of_work

    ended = next(one for one in unit_endings(connection, now) if one.ending == COMPLETED)
    paid = budget(connection, pay).paid
    return cost_of_work(ended.units, ended.answers, _finished_documents(connection, now), ended.assessors, paid, pay)


def budget_text(spent: float, limit: float | None, state: str, currency: str) -> str:
    """A sentence about a budget that is nearly or wholly spent; "" where there is nothing to say."""
    if limit is None or not state:
        return ""
    used = f"{spent:,.2f} of the budget of {limit:,.2f} {currency} is spent ({100 * spent / limit:.0f} %)"
    return f"{used}; no new units are handed out" if state == "reached" else used


_PLANNED = sa.select(units.c.topic, items.c.doc).join_from(items, units, units.c.number == items.c.unit)


def _finished_documents(connection: sa.Connection, now: float) -> int:
    """Documents with finished work."""
    finished = sa.select(reservations.c.unit).where(ending(now).in_(PAID)).distinct()
    return _count(connection, _PLANNED.where(units.c.number.in_(finished)))


def _count(connection: sa.Connection, documents: sa.Select[Any]) -> int:
    """Different documents by topic; of pairs those on the left and those on the right."""
    right = documents.with_only_columns(units.c.topic, items.c.other).where(items.c.other.is_not(None))
    both = sa.union(documents, right).subquery()
    return int(connection.execute(sa.select(sa.func.count()).select_from(both)).scalar() or 0)


def _spending(connection: sa.Connection, pay: Pay, now: float) -> tuple[Spent, ...]:
    """What the study had cost at the end of each stretch of time."""
    query = sa.select(reservations.c.assessor, reservations.c.finished).where(ending(now).in_(PAID), _PAID_FOR)
    rows = connection.execute(query.order_by(reservations.c.finished, reservations.c.number)).all()
    if not rows:
        return ()
    length = slot_length(rows[-1].finished - rows[0].finished)
    done: Counter[int] = Counter()
    paid, at_end = 0.0, {}
    for assessor, at in rows:
        paid += pay.earned(done[assessor] + 1) - pay.earned(done[assessor])
        done[assessor] += 1
        at_end[int(at // length)] = pay.with_fee(paid)
    points: list[Spent] = []
    for slot in range(min(at_end), max(at_end) + 1):
        amount = at_end.get(slot, points[-1].amount if points else 0.0)
        points.append(Spent(slot * length, length, amount))
    return tuple(points[-MOST_POINTS:])


def paid_units(connection: sa.Connection, now: float) -> dict[str, int]:
    """The units that were paid, by topic; excluded ones are among them."""
    counts = endings_by(connection, now, reservations.c.topic, _PAID_FOR)
    return {topic: sum(units.get(name, 0) for name in PAID) for topic, units in counts.items()}


def worked(connection: sa.Connection, *where: sa.ColumnElement[bool]) -> list[tuple[int, float]]:
    """The completed units and working seconds of each assessor, people only: from taking a unit to finishing it,
    without the time a page lay idle. `where` chooses among the units; excluded ones are among them."""
    idle = (
        sa.select(answers.c.reservation, sa.func.sum(answers.c.idle).label("idle"))
        .where(answers.c.current)
        .group_by(answers.c.reservation)
        .subquery()
    )
    seconds = reservations.c.finished - reservations.c.created - sa.func.coalesce(idle.c.idle, 0.0)
    query = (
        sa.select(sa.func.count(), sa.func.sum(seconds))
        .select_from(reservations.outerjoin(idle, idle.c.reservation == reservations.c.number))
        .where(reservations.c.state == "done", ~_BY_MACHINE, *where)
        .group_by(reservations.c.assessor)
    )
    return [(done, spent) for done, spent in connection.execute(query)]


@dataclass(frozen=True)
class Used:
    """The working hours and the cost, with the fee, of completed units; and of those that were excluded later."""

    hours: float
    spent: float
    excluded_units: int
    excluded_hours: float
    excluded_spent: float


def used(connection: sa.Connection, pay: Pay) -> Used:
    """What the units that count took and cost, and what was paid for others: excluded units stay paid."""
    kept, excluded = ~reservations.c.excluded, reservations.c.excluded
    query = (
        sa.select(sa.func.sum(sa.case((kept, 1), else_=0)))
        .where(reservations.c.state == "done", _PAID_FOR)
        .group_by(reservations.c.assessor)
    )
    spent = pay.with_fee(sum(pay.earned(units) for units in connection.execute(query).scalars()))
    outside = worked(connection, excluded)
    return Used(
        sum(seconds for _, seconds in worked(connection, kept)) / 3600,
        spent,
        sum(units for units, _ in outside),
        sum(seconds for _, seconds in outside) / 3600,
        cents(budget(connection, pay).spent - spent),
    )


def hourly(connection: sa.Connection, pay: Pay) -> Hourly:
    """What assessors with completed units got for an hour of work."""
    enough = [(done, spent) for done, spent in worked(connection, _PAID_FOR) if spent >= LEAST_SECONDS]
    rates = sorted(pay.earned(done) / spent * 3600 for done, spent in enough)
    if not rates or not rates[-1]:
        return Hourly(0, None, None, None, ())
    return Hourly(len(rates), median(rates), rates[0], rates[-1], _bars(rates))


def _bars(rates: list[float]) -> tuple[HourlyBar, ...]:
    """The rates in bars of a round width; the few far above the others share the last one."""
    usual = rates[min(len(rates) - 1, int(0.95 * len(rates)))]
    power = 10.0 ** math.floor(math.log10(usual))
    width = next(power * step / 10 for step in (*STEPS, 10, 20) if usual / (power * step / 10) <= MOST_BARS - 1)
    last = int(usual / width)
    counts = [0] * (last + 1)
    for rate in rates:
        counts[min(int(rate / width), last)] += 1
    first = next(place for place, count in enumerate(counts) if count)
    highs = [(place + 1) * width for place in range(last)] + [max((last + 1) * width, rates[-1])]
    return tuple(HourlyBar(place * width, highs[place], counts[place]) for place in range(first, last + 1))
