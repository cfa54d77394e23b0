"""How far a study with a goal is: the last look at its answers, what more answers would do, and what that costs.

Looks are stored by `session.goal`; nothing is computed here but sums, so that pages and commands answer at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl
import sqlalchemy as sa

from judgewell.server.store.schema import batches, goals, pauses
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
    units_to_end: int | None
    money_to_end: float | None
    currency: str
    ended: float | None

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
            return [*text, "The first look is taken when the first batch is complete."]
        if self.contested and all(pair.probability == 0.5 for pair in self.contested):  # variance unknown
            return [*text, "It is too early to say which system is ahead: every topic needs judgments first."]
        ahead = all(round(pair.difference, 1) > 0 for pair in self.contested)
        lead = f"{self.leader} leads. " if ahead else "No system is ahead of all others yet. "
        lead = "" if self.decide == "order" else lead
        text.append(f"{lead}{self.reason[:1].upper()}{self.reason[1:]}.")
        more = (
            f"; about {self.next_contested} after the next {self.next_answers} judgments" if self.next_answers else ""
        )
        are = "is" if self.contested_pairs == 1 else "are"
        text.append(f"{counted(self.contested_pairs, 'pair')} of systems {are} still open{more}.")
        if not self.next_answers:
            return text
        end = "At these scores, the study will use all judgments its design allows without reaching its goal."
        if self.to_end is not None:
            end = f"About {self.to_end:,} more judgments are expected until the study can stop"
            end += f" ({self.money_to_end:,.2f} {self.currency})." if self.money_to_end else "."
        return [*text, end]


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
    to_end = expected.get("to_end")
    units = None if to_end is None else units_to_answer(study, row.known, to_end)
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
    )


def units_to_answer(study: Study, known: dict[str, Any], answers: int) -> int:
    """The units of so many answers; known documents or pairs take places and give none."""
    if study.groups:
        room = study.groups.pairs - any(len(one) == 2 for one in known.values())
    else:
        size = study.units.documents if study.units else 1
        room = size - max((len(one) for one in known.values()), default=0)
    return -(-answers // max(1, room))


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
