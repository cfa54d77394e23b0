"""How far a study is: by topic and unit, what the checks found, and what it has cost so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from judgewell.server.queries.endings import (
    COMPLETED,
    IN_PROGRESS,
    UnitEnding,
    ending,
    endings_by,
    of_units,
    unit_endings,
)
from judgewell.server.queries.goal import GoalProgress, goal_progress
from judgewell.server.queries.machines import MachineRow, machine_rows
from judgewell.server.queries.money import Hourly, hourly, money
from judgewell.server.session.served import study_row
from judgewell.server.store.schema import answers, assessors, pauses, reservations, units, verdicts
from judgewell.study.checks import check_words
from judgewell.study.model import Study
from judgewell.terminal import text_table
from judgewell.text import counted


@dataclass(frozen=True)
class TopicProgress:
    """One topic: its units, the completions they need, and how the units that assessors took ended."""

    topic: str
    units: int
    complete: int  # units that have all they need
    needed: int
    completed: int
    in_progress: int
    late: int  # of those in progress: their place had gone to somebody else
    failed: int
    abandoned: int
    excluded: int
    done: int = 0  # earlier names that scripts may still read: completed,
    live: int = 0  # in progress and not late,
    expired: int = 0  # abandoned

    def __post_init__(self) -> None:
        object.__setattr__(self, "done", self.completed)
        object.__setattr__(self, "live", self.in_progress - self.late)
        object.__setattr__(self, "expired", self.abandoned)


@dataclass(frozen=True)
class CheckResult:
    """One check: how often it was passed and not, over all attempts."""

    name: str
    passed: int
    failed: int


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What was collected so far, and how far that is."""

    study: str
    endings: tuple[UnitEnding, ...]
    assessors: int
    consented: int
    answers: int  # with every revision
    revised: int
    topics: tuple[TopicProgress, ...]
    checks: tuple[CheckResult, ...]
    goal: GoalProgress | None = None


@dataclass(frozen=True, kw_only=True)
class Status(Counts):
    """A study's progress."""

    hash: str
    frozen: bool
    paid: float
    fee: float
    currency: str
    budget: float | None
    budget_share: float | None  # of the budget that is spent, with the fee
    budget_state: str  # near (80 % or more), reached (no further unit can be paid), or empty
    within_budget: str  # a sentence about units that the budget does not pay for, or empty
    hourly: Hourly
    paused: tuple[str, ...] = ()  # topics; "" is the whole study
    machines: tuple[MachineRow, ...] = ()  # they are among the assessors, and not paid

    @property
    def needed(self) -> int:
        return sum(topic.needed for topic in self.topics)

    @property
    def completed(self) -> int:
        return sum(topic.completed for topic in self.topics)


def status(connection: sa.Connection, now: float) -> Status:
    """The study's progress now; a reservation that is overdue counts as abandoned."""
    row = study_row(connection)
    settings = Study.model_validate(row.frozen["settings"])
    people = connection.execute(
        sa.select(sa.func.count(), sa.func.count(assessors.c.consented)).select_from(assessors)
    ).one()
    given = connection.execute(
        sa.select(sa.func.count(), sa.func.sum(sa.case((answers.c.current, 0), else_=1))).select_from(answers)
    ).one()
    goal = goal_progress(connection, settings)
    spent = money(connection, settings.pay, units_to_come(connection, goal, now))
    return Status(
        study=row.name,
        hash=row.hash,
        frozen=row.first_judgment is not None,
        topics=topic_progress(connection, now),
        checks=tuple(check_results(connection)),
        endings=unit_endings(connection, now),
        assessors=people[0],
        consented=people[1],
        answers=given[0],
        revised=int(given[1] or 0),
        paid=spent.paid,
        fee=spent.paid_fee,
        currency=spent.currency,
        budget=spent.budget,
        budget_share=spent.budget_share,
        budget_state=spent.budget_state,
        within_budget=spent.within_budget,
        hourly=hourly(connection, settings.pay),
        paused=tuple(sorted(connection.execute(sa.select(pauses.c.topic)).scalars())),
        goal=goal,
        machines=tuple(machine_rows(connection, now)),
    )


def topic_progress(connection: sa.Connection, now: float) -> tuple[TopicProgress, ...]:
    """Every topic, in order."""
    counts = endings_by(connection, now, reservations.c.topic)
    late = endings_by(connection, now, reservations.c.topic, reservations.c.state == "late")
    missing = missing_completions(now).subquery()
    query = sa.select(
        missing.c.topic,
        sa.func.count(),
        sa.func.sum(missing.c.need),
        sa.func.sum(sa.case((missing.c.missing > 0, 0), else_=1)),
    ).group_by(missing.c.topic)
    rows = []
    for topic, count, needed, complete in connection.execute(query.order_by(missing.c.topic)):
        ended = of_units(counts.get(topic, {})) | {"late": late.get(topic, {}).get(IN_PROGRESS, 0)}
        rows.append(TopicProgress(topic, units=count, complete=int(complete), needed=int(needed), **ended))
    return tuple(rows)


def missing_completions(now: float) -> sa.Select[Any]:
    """Every unit with its topic, its need, and the completions it still misses: those beyond its need help no other."""
    done = (
        sa.select(reservations.c.unit, sa.func.count().label("completed"))
        .where(ending(now) == COMPLETED)
        .group_by(reservations.c.unit)
        .subquery()
    )
    missing = units.c.need - sa.func.coalesce(done.c.completed, 0)
    return sa.select(
        units.c.number, units.c.topic, units.c.need, sa.case((missing > 0, missing), else_=0).label("missing")
    ).outerjoin(done, done.c.unit == units.c.number)


def remaining_completions(connection: sa.Connection, now: float) -> int:
    """Completions that are still missing."""
    missing = missing_completions(now).subquery()
    return int(connection.execute(sa.select(sa.func.sum(missing.c.missing))).scalar() or 0)


def units_to_come(connection: sa.Connection, goal: GoalProgress | None, now: float) -> int:
    """Completions that the study still expects: of an open goal those until it stops, also of units not made yet."""
    if goal is None or goal.ended is not None or goal.units_to_end is None:
        return remaining_completions(connection, now)
    return goal.units_to_end


def check_results(connection: sa.Connection) -> list[CheckResult]:
    """Every check with how often it was passed and failed."""
    passed = sa.func.sum(sa.case((verdicts.c.passed, 1), else_=0))
    query = sa.select(verdicts.c.name, passed, sa.func.count()).group_by(verdicts.c.name).order_by(verdicts.c.name)
    return [CheckResult(name, int(good), count - int(good)) for name, good, count in connection.execute(query)]


COLUMNS = ("topic", "units", "needed", "completed", "in progress", "late", "failed", "abandoned", "excluded")


def status_text(state: Status) -> str:
    """The status as a table in plain text."""
    rows = [tuple(getattr(topic, name.replace(" ", "_")) for name in COLUMNS) for topic in state.topics]
    if len(rows) > 1:
        rows.append(("all", *(sum(column) for column in list(zip(*rows, strict=True))[1:])))
    lines = [text_table(COLUMNS, [tuple(map(str, row)) for row in rows])]
    given = f"{counted(state.answers - state.revised, 'answer')}, {counted(state.revised, 'revision')}"
    lines += ["", f"{given}; {counted(state.assessors, 'assessor')}"]
    lines += [
        f"{one.ending}: {counted(one.units, 'unit')} by {counted(one.assessors, 'assessor')}, "
        + counted(one.answers, "standing answer")
        for one in state.endings
        if one.units
    ]
    lines += [f"check {check_words(one.name)}: {one.passed:,} passed, {one.failed:,} failed" for one in state.checks]
    lines += [one.text for one in state.machines]
    if state.goal is not None and state.goal.ended is not None:
        lines.append(f"ended: the goal is {'reached' if state.goal.status == 'decided' else 'not reached'}")
    elif state.paused:
        stopped = [f"topic {topic}" if topic else "the whole study" for topic in state.paused]
        lines.append(f"paused: {', '.join(stopped)}")
    if state.goal is not None:
        lines += ["", *state.goal.sentences]
    if state.paid:
        lines.append(f"cost so far: {state.paid:,.2f} {state.currency} and {state.fee:,.2f} in fees")
    if state.budget is not None and state.budget_share is not None:
        lines.append(f"budget: {100 * state.budget_share:.0f} % of {state.budget:,.2f} {state.currency} is spent")
    if state.within_budget:
        lines.append(state.within_budget)
    if state.hourly.median is not None:
        rate, who = state.hourly, counted(state.hourly.assessors, "assessor")
        lines.append(f"pay for an hour of work: {rate.median:,.2f} {state.currency}")
        if rate.assessors > 1:
            lines[-1] += f" in the median of {who}, from {rate.lowest:,.2f} to {rate.highest:,.2f}"
    return "\n".join(lines) + "\n"
