"""The budget: what completed units cost, what those in progress will cost, and whether another unit fits.

Everything counts with the platform's fee. A unit that was begun is finished and paid; only new units are refused. Work
that comes late, after its unit went to somebody else, is paid too and may go beyond the budget. Work that is excluded
later stays paid. Machines are not paid here: `judgewell judge` keeps their own budget. Nor are people with invite links
in a study on a platform, which pays those whom it sent.
"""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from judgewell.server.store.prepared import Prepared
from judgewell.server.store.schema import MACHINE, assessors, reservations, study
from judgewell.study.model import Pay, cents

NEAR = 0.8  # the share of the budget from which the owner is warned


@dataclass(frozen=True)
class Budget:
    """What was spent and what is still open, against the budget."""

    pay: Pay
    paid: float  # to assessors for completed units, excluded ones among them, without the fee
    in_progress: float  # if every unit in progress is completed

    @property
    def spent(self) -> float:
        """What was paid, with the fee."""
        return self.pay.with_fee(self.paid)

    @property
    def share(self) -> float | None:
        """The share of the budget that is spent."""
        return self.spent / self.pay.budget if self.pay.budget else None

    @property
    def state(self) -> str:
        """`reached` where no further unit can be paid, `near` from 80 % on, `` otherwise and without a budget."""
        if not self.affordable:
            return "reached"
        return "near" if self.share is not None and self.share >= NEAR else ""

    @property
    def affordable(self) -> float:
        """How many units the rest of the budget pays for, those in progress among them."""
        return self.pay.affordable(self.spent)

    @property
    def room(self) -> bool:
        """Whether another unit can be handed out."""
        return self.pay.affordable(self.spent + self.in_progress) > 0


# Settings that the study file omits have no place in the frozen ones: no platform means invite links.
_KIND = study.c.frozen["settings"]["platform"]["kind"].as_string()
_PLATFORM = sa.select(sa.func.coalesce(_KIND, "invite")).scalar_subquery()
# Who is paid: see Platform.pays. Machines never are.
IS_PAID = sa.and_(assessors.c.origin != MACHINE, sa.or_(assessors.c.origin != "invite", _PLATFORM == "invite"))

_BY_ASSESSOR = Prepared(
    sa.select(
        sa.func.sum(sa.case((reservations.c.state == "done", 1), else_=0)).label("done"),
        sa.func.sum(sa.case((reservations.c.state == "done", 0), else_=1)).label("open"),
    )
    .join_from(reservations, assessors, assessors.c.number == reservations.c.assessor)
    .where(reservations.c.state != "expired", reservations.c.state != "failed", IS_PAID)
    .group_by(reservations.c.assessor)
)


def budget(connection: sa.Connection, pay: Pay) -> Budget:
    """The current state of the budget."""
    rows = _BY_ASSESSOR.rows(connection)
    paid = cents(sum(pay.earned(row.done) for row in rows))
    return Budget(pay, paid, sum(row.open for row in rows) * pay.dearest)
