"""How far a study with a goal is: the last look at its answers, what more answers would do, and what that costs.

Looks are stored by `session.goal`; nothing is computed here but sums, so that pages and commands answer at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl
import sqlalchemy as sa

from judgewell.server.store.schema import batches, goals, pauses, reservations, units
from judgewell.study.model import Study
from judgewell.tables import INCLUSION
from judgewell.text import counted


@dataclass(frozen=True)
class ContestedPair:
    """Two systems that the goal compares, with the chance that the first is no worse than the goal allows."""

    first: str
    second: str
    difference: float  # in points of 100
    probability: float


@dataclass(frozen=True)
class GoalProgress:
    """How far a goal is. Before the first complete batch there is no leader and nothing is expected."""

    decide: str
    measure: str
    status: str  # collecting, decided or not separable
    reason: str
    answers: int  # in complete batches and beyond, at the last look
    batches: int
    complete: int
    leader: str | None
    contested: tuple[ContestedPair, ...]  # the least sure, at most 20; at the end of all pairs that the goal needs
    contested_pairs: int
    next_answers: int  # for which `next_contested` holds
    next_contested: int | None
    to_end: int | None  # answers that are expected until the study stops; None: not within its cap, or not known yet
    units_to_end: int | None  # that are still expected, until the stop or the cap; None: not known yet
    money_to_end: float | None  # of these units, with the fee
    currency: str
    ended: float | None
    needed: float | None = None  # the probability that every pair needs at a test
    confidence: float = 0.95  # of all tests together

    @property
    def sentences(self) -> list[str]:
        """The progress in words."""
        if self.status != "collecting":
            return [self.reason]
        aims = {"best": "find the best system", "order": "find the order of the systems"}
        aim = aims.get(self.decide, f"decide between {self.decide.replace(' or ', ' and ')}")
        done = f"{self.complete} of {counted(self.batches, 'batch', 'batches')} of documents complete"
        text = [f"Goal: {aim} by {self.measure}. {done}."]
        if self.leader is None:
            return [*text, "The systems are compared for the first time when the first batch is complete."]
        if self.contested and all(pair.probability == 0.5 for pair in self.contested):  # variance unknown
            return [*text, "It is too early to say which system is ahead: every topic needs judgments first."]
        ahead = all(round(pair.difference, 1) > 0 for pair in self.contested)
        lead = f"{self.leader} leads. " if ahead else "No system is ahead of all others yet. "
        lead = "" if self.decide == "order" else lead
        text.append(f"{lead}{self.reason[:1].upper()}{self.reason[1:]}.")
        if self.needed is not None:
            text.append(
                f"The study tests after every batch. Each test needs a probability of {chance(self.needed)} for every "
                f"pair, so that all tests together are right with {100 * self.confidence:g} % confidence."
            )
        are = "is" if self.contested_pairs == 1 else "are"
        text.append(f"{counted(self.contested_pairs, 'pair')} of systems {are} still open.")
        return [*text, *self._end]

    @property
    def _end(self) -> list[str]:
        """When the study is expected to stop, and what that costs."""
        if self.units_to_end is None:
            return []
        units = counted(self.units_to_end, "unit")
        amount = f"{self.money_to_end:,.2f} {self.currency}" if self.money_to_end else ""
        if self.to_end is None:
            more = f"{units} more" + (f", {amount}" if amount else "")
            return [f"At these scores, the study will use all units of its design ({more}) without reaching its goal."]
        money = f" ({amount})" if amount else ""
        return [
            f"About {counted(self.to_end, 'more judgment')} in {units} are expected until the study can stop{money}; "
            "known documents shown only as checks are not counted."
        ]


def chance(probability: float) -> str:
    """A probability near 1 in per cent."""
    return "> 99.99 %" if probability >= 0.99995 else f"{100 * probability:.2f} %"


def goal_progress(connection: sa.Connection, study: Study) -> GoalProgress | None:
    """How far the goal is; None where the study has none."""
    row = connection.execute(sa.select(goals)).one_or_none() if study.goal else None
    if row is None or study.goal is None:
        return None
    made = connection.execute(sa.select(batches.c.number, batches.c.completed, batches.c.look)).all()
    looks = [one.look for one in sorted(made, key=lambda one: one.number) if one.look]
    last: dict[str, Any] = looks[-1] if looks else {}
    paused = connection.execute(sa.select(pauses.c.reason).where(pauses.c.topic == "")).scalar()
    expected = last.get("next", {})
    units = _units_to_end(connection, expected)
    to_end = expected.get("to_end")
    if to_end and units is not None and units < expected["units"]:  # some were completed since the look
        to_end = round(to_end * units / expected["units"])
    status = "collecting" if row.ended is None else last.get("status", "not separable")
    decide = study.goal.decide
    return GoalProgress(
        decide=decide if isinstance(decide, str) else " or ".join(decide),
        measure=row.plan["measure"],
        status="not separable" if row.ended is not None and status == "collecting" else status,
        reason=(paused or last.get("reason", "")) if row.ended is not None else last.get("reason", ""),
        answers=last.get("answers", 0),
        batches=len(made),
        complete=len(looks),
        leader=last.get("leader"),
        contested=tuple(ContestedPair(**pair) for pair in last.get("contested", [])),
        contested_pairs=last.get("contested_pairs", 0),
        next_answers=expected.get("answers", 0),
        next_contested=expected.get("contested"),
        to_end=to_end,
        units_to_end=units,
        money_to_end=None if units is None else study.pay.with_fee(units * study.pay.amount),
        currency=study.pay.currency,
        ended=row.ended,
        needed=last.get("needed"),
        confidence=study.goal.confidence,
    )


def completed_units(connection: sa.Connection) -> dict[int, int]:
    """The completed units of each batch."""
    done = sa.and_(reservations.c.state == "done", ~reservations.c.excluded)
    query = (
        sa.select(units.c.batch, sa.func.count(sa.distinct(units.c.number)))
        .join_from(units, reservations, reservations.c.unit == units.c.number)
        .where(done, units.c.batch.is_not(None))
        .group_by(units.c.batch)
    )
    return dict(connection.execute(query).all())


def _units_to_end(connection: sa.Connection, expected: dict[str, Any]) -> int | None:
    """Units that are still expected: those of the last look without those completed since.

    At least those that assessors hold, and those that the next test waits for.
    """
    if "units" not in expected:
        return None
    done = completed_units(connection)
    oldest = sa.select(sa.func.min(batches.c.number)).where(batches.c.completed.is_(None)).scalar_subquery()
    waits = sa.select(sa.func.count(), sa.func.min(units.c.batch)).where(units.c.batch == oldest)
    made, batch = connection.execute(waits).one()
    held = sa.select(sa.func.count()).select_from(reservations).where(reservations.c.state == "live")
    in_hand = int(connection.execute(held).scalar() or 0)
    left: int = expected["units"] - (sum(done.values()) - expected["completed"])
    return max(left, in_hand, int(made) - done.get(batch, 0), 0)


def goal_inclusion(connection: sa.Connection) -> pl.DataFrame | None:
    """The probability with which each document of the pool was asked about, after the complete batches: topic, doc,
    inclusion. Documents that were not drawn by then have none. None where the study has no goal."""
    row = connection.execute(sa.select(goals.c.plan)).one_or_none()
    if row is None or row.plan["ends"][0] is None:  # no goal, or one about pairs
        return None
    pool = pl.DataFrame(row.plan["pool"], schema={"topic": pl.String(), "doc": pl.String()})
    last = connection.execute(
        sa.select(batches.c.inclusion)
        .where(batches.c.completed.is_not(None))
        .order_by(batches.c.number.desc())
        .limit(1)
    ).scalar()
    complete = sa.select(batches.c.documents).where(batches.c.completed.is_not(None))
    asked = {at for rows in connection.execute(complete).scalars() for at in rows}
    share = [last[at] if last is not None and at in asked else None for at in range(len(pool))]
    return pool.with_columns(pl.Series(INCLUSION.name, share, INCLUSION.dtype))
