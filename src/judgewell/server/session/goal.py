"""A study with a goal while it runs: looks at complete batches, new batches of units, and the stop when it is sure.

`advance` runs beside the requests: it reads, computes in its own thread, and writes a few rows. What it decides follows
from the database alone (answers, batches so far, the study's seed), so several server processes make the same units,
and the log gives them again. Answers of a batch count once the whole batch is complete; the next batch is made before
that, so that nobody waits.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import sqlalchemy as sa

from judgewell.analysis.goals.look import OVERSTATED, OVERSTATED_PAIRS, Look
from judgewell.analysis.goals.plan import Plan
from judgewell.server.process import Server
from judgewell.server.queries.status import missing_completions
from judgewell.server.session.assignment import hand_on, silent_holders
from judgewell.server.session.goal_evidence import Evidence, collected
from judgewell.server.session.served import Served
from judgewell.server.store.filling import add_batch
from judgewell.server.store.schema import (
    assessors,
    batches,
    documents,
    events,
    goals,
    pauses,
    reservations,
    units,
)
from judgewell.server.store.transactions import Store, Unavailable

EVERY = 1.0  # seconds between two rounds
WAITED = 300.0  # seconds for which somebody who found no unit counts as waiting
AHEAD = 4  # units kept free for each one taken in the last round


@dataclass(frozen=True)
class Demand:
    """How many units are free, how many are wanted, and which batches are complete and not looked at."""

    free: int
    wanted: int
    complete: tuple[int, ...]
    left: tuple[int, ...] = ()  # reservations of the oldest open batch whose holders are silent
    ended: bool = False


def advance(store: Store, served: Served) -> bool:
    """One round: look at complete batches, make a batch where units run short; whether anything changed."""
    now = store.write(lambda _: served.clock()).result()  # at a turn: whatever was finished by then is on disk
    demand = store.read(lambda connection: _demand(connection, now)).result()
    if demand.ended:
        if demand.free:  # of units that were in progress at the end and did not pass
            store.write(close_free_places).result()
        return False
    if demand.left:  # else a batch would wait for somebody who has gone
        store.write(lambda connection: hand_on(connection, demand.left, now)).result()
    changed = False
    for number in demand.complete:
        changed = True
        if _looked(store, served, number, now):
            return True
    while demand.free < demand.wanted:
        made = _made(store, served, demand.wanted - demand.free, now)
        if not made:
            break
        changed, demand = True, replace(demand, free=demand.free + made)
    return changed


def _demand(connection: sa.Connection, now: float) -> Demand:
    def count(table: sa.Table, *where: sa.ColumnElement[bool]) -> int:
        return int(connection.execute(sa.select(sa.func.count()).select_from(table).where(*where)).scalar() or 0)

    free = count(units, units.c.free > 0)
    if connection.execute(sa.select(goals.c.ended)).scalar() is not None:
        return Demand(free, 0, (), ended=True)
    missing = missing_completions(now).subquery()
    each = (
        sa.select(batches.c.number, sa.func.coalesce(sa.func.sum(missing.c.missing), 0))
        .select_from(batches)
        .outerjoin(units, units.c.batch == batches.c.number)
        .outerjoin(missing, missing.c.number == units.c.number)
        .where(batches.c.completed.is_(None))
        .group_by(batches.c.number)
        .order_by(batches.c.number)
    )
    complete: list[int] = []
    oldest = None
    for number, lacking in connection.execute(each):
        if lacking:
            oldest = number
            break
        complete.append(number)
    waiting = count(assessors, assessors.c.stage == "waiting", assessors.c.moved > now - WAITED)
    taken = count(reservations, reservations.c.created > now - EVERY)
    wanted = 1 + waiting + AHEAD * taken
    return Demand(free, wanted, tuple(complete), silent_holders(connection, oldest, now))


def _looked(store: Store, served: Served, number: int, now: float) -> bool:
    """Look at the answers now that a batch is complete; whether the study has ended by that."""
    gathered = store.read(lambda connection: collected(connection, served, now)).result()
    plan, (seen, coming) = gathered.plan, gathered.look(number)
    entry = seen.entry(plan.systems.names) | {"needed": plan.rule.needed, "next": coming}

    def put(connection: sa.Connection) -> bool:
        mine = sa.and_(batches.c.number == number, batches.c.completed.is_(None))
        written = connection.execute(sa.update(batches).where(mine).values(completed=now, look=entry)).rowcount
        if not written:  # another process was quicker
            return bool(connection.execute(sa.select(goals.c.ended)).scalar())
        _log(connection, now, "goal look", {"batch": number, **entry})
        if seen.status != "collecting":
            _end(connection, now, sentence(plan, seen))
        return seen.status != "collecting"

    return store.write(put).result()


def sentence(plan: Plan, seen: Look) -> str:
    """What a study that ended may say: the conclusion, or that there is none."""
    names, rule = plan.systems.names, plan.rule
    if seen.status == "not separable":
        return f"The goal was not reached: {seen.reason}. The systems are not separable at this cost."
    after = f"after {seen.answers:,} judgments, not counting known documents shown only as checks"
    low, high = OVERSTATED[rule.mode]
    stated = f"Differences at such a stop were overstated by {low} to {high} % in our tests."
    if plan.low is None:
        low, high = OVERSTATED_PAIRS
        stated = (
            f"This rests on the Bradley–Terry model: in our tests, differences at such a stop were off by {low:+} to "
        )
        stated += f"{high:+} %."
    if rule.decide == "order":
        return f"The order of the systems is decided {after}. {stated}"
    if len(names) == 2:
        within = f", or within {rule.within:g} points of it," if rule.within else ""
        better = f"{names[seen.leader]} is better than {names[1 - seen.leader]}{within}"
        return f"{better} by {plan.measure} {after}. {stated}"
    within = f", or within {rule.within:g} points of the best," if rule.within else ""
    best = f"{names[seen.leader]} is the best system{within} by {plan.measure} {after}."
    return f"{best} Nothing is concluded about other pairs of systems. {stated}"


def _end(connection: sa.Connection, now: float, reason: str) -> None:
    """No more units: free places are closed, the study is paused with the reason, and what was begun is finished."""
    connection.execute(sa.update(goals).values(ended=now))
    close_free_places(connection)
    if connection.execute(sa.select(pauses.c.at).where(pauses.c.topic == "")).scalar() is None:
        connection.execute(sa.insert(pauses), {"topic": "", "at": now, "reason": reason})
    _log(connection, now, "goal ended", {"reason": reason})


def close_free_places(connection: sa.Connection) -> None:
    """Need no more completions than there are, or are under way."""
    connection.execute(sa.update(units).where(units.c.free > 0).values(need=units.c.need - units.c.free, free=0))


def _made(store: Store, served: Served, units_wanted: int, now: float) -> int:
    """Make the next batch; how many units it has. Where there is nothing left to ask, the goal is not reached."""
    gathered = store.read(lambda connection: collected(connection, served, now)).result()
    number, after = len(gathered.batches) + 1, gathered.complete
    size = units_wanted * gathered.room
    chosen = gathered.next(after, size)
    if not chosen.rows:
        return 0 if after < number - 1 else _nothing_left(store, gathered, now)
    design = gathered.units(number, chosen)
    row = chosen.row(number, size, after) | {"made": now}

    def put(connection: sa.Connection) -> int:
        newest = connection.execute(sa.select(sa.func.max(batches.c.number))).scalar()
        ended = connection.execute(sa.select(goals.c.ended)).scalar()
        if newest != number - 1 or ended is not None:  # another process was quicker
            return 0
        connection.execute(sa.insert(batches), row)
        add_batch(connection, number, design, served.once("documents", lambda: _document_numbers(connection)))
        _log(connection, now, "goal batch", {name: row[name] for name in ("number", "after", "size", "documents")})
        return len(design.units)

    return store.write(put).result()


def _nothing_left(store: Store, gathered: Evidence, now: float) -> int:
    plan, made = gathered.plan, gathered.made()
    used = plan.rule.most_units is not None and made >= plan.rule.most_units
    reason = f"all {made:,} units of the whole design were used" if used else "there is nothing left to ask"
    seen = replace(gathered.look(gathered.complete)[0], status="not separable", reason=reason)

    def put(connection: sa.Connection) -> int:
        if connection.execute(sa.select(goals.c.ended)).scalar() is None:
            _end(connection, now, sentence(plan, seen))
        return 0

    return store.write(put).result()


def _document_numbers(connection: sa.Connection) -> pl.DataFrame:
    rows = connection.execute(sa.select(documents.c.doc, documents.c.number)).all()
    return pl.DataFrame(rows, {"doc": pl.String, "number": pl.Int64}, orient="row")


def _log(connection: sa.Connection, now: float, kind: str, data: dict[str, Any]) -> None:
    connection.execute(sa.insert(events), {"at": now, "kind": kind, "data": data})


async def watch(server: Server) -> None:
    """Advance a study with a goal for as long as its server runs."""
    while True:
        with contextlib.suppress(Unavailable):  # the database is away; the next round finds the same
            await asyncio.to_thread(advance, server.store, server.served)
        await asyncio.sleep(EVERY)
