"""A study with a goal while it runs: looks at complete batches, new batches of units, and the stop when it is sure.

`advance` runs beside the requests: it reads, computes in its own thread, and writes a few rows. What it decides follows
from the database alone (answers, batches so far, the study's seed), so several server processes make the same units,
and the log gives them again. Answers of a batch count once the whole batch is complete; the next batch is made before
that, so that nobody waits.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import sqlalchemy as sa

from judgewell.analysis.goals.batch import Batch, expect, next_batch
from judgewell.analysis.goals.look import OVERSTATED, Look, look
from judgewell.analysis.goals.plan import Plan
from judgewell.analysis.goals.state import State
from judgewell.server.process import Server
from judgewell.server.queries.endings import STANDS
from judgewell.server.queries.status import missing_completions
from judgewell.server.session.assignment import hand_on, silent_holders
from judgewell.server.session.served import Served
from judgewell.server.store.schema import (
    MACHINE,
    answers,
    assessors,
    batches,
    documents,
    events,
    goals,
    items,
    pauses,
    reservations,
    units,
)
from judgewell.server.store.transactions import Store, Unavailable, lock
from judgewell.study.design.batches import batch_units
from judgewell.study.design.chance import generator
from judgewell.study.design.plan import Design
from judgewell.study.model import Study

EVERY = 1.0  # seconds between two rounds
WAITED = 300.0  # seconds for which somebody who found no unit counts as waiting
AHEAD = 2  # units kept free for each one taken in the last round
NEXT = 100  # answers for which the expected effect is shown

Known = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Demand:
    """How many units are free, how many are wanted, and which batches are complete and not looked at."""

    free: int
    wanted: int
    complete: tuple[int, ...]
    left: tuple[int, ...] = ()  # reservations of the oldest open batch whose holders are silent
    ended: bool = False


def first_batch(plan: Plan, known: Known, study: Study) -> tuple[Batch, Design]:
    """The batch with which a study begins, and its units."""
    state = plan.first()
    batch = next_batch(state, look(state, plan.rule, plan.systems), plan.rule, None, room_of(study, known))
    return batch, units_of(plan, known, study, 1, batch)


def room_of(study: Study, known: Known) -> int:
    """Documents of a unit that are not known ones."""
    size = study.units.documents if study.units else 1
    return size - max((len(grades) for grades in known.values()), default=0)


def units_of(plan: Plan, known: Known, study: Study, number: int, batch: Batch) -> Design:
    """The units of a batch; the same batch of the same study gives the same units."""
    rng = generator(study.study.seed, "batch", str(number))
    size = study.units.documents if study.units else 1
    return batch_units(number, plan.pool[batch.documents.tolist()], known, size, next(iter(study.scales)), rng)


def advance(store: Store, served: Served) -> bool:
    """One round: look at complete batches, make a batch where units run short; whether anything changed."""
    now = served.clock()
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


@dataclass(frozen=True)
class _Collected:
    """What the database holds for looks and batches."""

    plan: Plan
    known: Known
    answers: pl.DataFrame  # topic, doc, value of completed units, with `known` and when the unit was finished
    batches: Sequence[Any]

    def state(self, after: int) -> State:
        """The state after the complete batches up to `after`, with everything that was asked since."""
        rows = {row.number: row for row in self.batches}
        zero = np.zeros(len(self.plan.pool))
        asked = np.bincount([at for row in self.batches for at in row.documents], minlength=len(self.plan.pool)).astype(
            np.int64
        )
        pi = np.array(rows[after].inclusion) if after else zero
        asked_pi = np.array(self.batches[-1].inclusion) if self.batches else zero
        state = self.plan.state(self._own_sake(asked), pi)
        return replace(state, asked=asked, asked_pi=asked_pi)

    def _own_sake(self, asked: Any) -> pl.DataFrame:
        """Answers about documents for their own sake: of a known document, which is in every unit, as many as asked."""
        pool = self.plan.pool.with_columns(asked=pl.Series(asked))
        rows = self.answers.sort("finished").join(pool, on=["topic", "doc"], how="inner", maintain_order="left")
        turn = pl.int_range(pl.len()).over("topic", "doc")
        kept = rows.filter(pl.col("known").is_null() | (turn < pl.col("asked")))
        return kept.select("topic", "doc", "value")


def _collected(connection: sa.Connection, served: Served, until: float) -> _Collected:
    """What was there at a moment."""
    plan, known = served.once("goal", lambda: _plan(connection))
    query = (
        sa.select(units.c.topic, documents.c.doc, answers.c.value, items.c.known, reservations.c.finished)
        .join_from(answers, reservations, reservations.c.number == answers.c.reservation)
        .join(units, units.c.number == answers.c.unit)
        .join(items, sa.and_(items.c.unit == answers.c.unit, items.c.position == answers.c.position))
        .join(documents, documents.c.number == items.c.doc)
        .join(assessors, assessors.c.number == answers.c.assessor)
        .where(STANDS, reservations.c.state == "done", ~reservations.c.excluded, assessors.c.origin != MACHINE)
        .where(reservations.c.finished <= until)
        .order_by(answers.c.number)
    )
    made = sa.select(batches).order_by(batches.c.number)
    schema = {"topic": pl.String, "doc": pl.String, "value": pl.Float64, "known": pl.String, "finished": pl.Float64}
    rows = [tuple(row) for row in connection.execute(query)]
    return _Collected(plan, known, pl.DataFrame(rows, schema, orient="row"), connection.execute(made).all())


def _plan(connection: sa.Connection) -> tuple[Plan, Known]:
    row = connection.execute(sa.select(goals)).one()
    return Plan.load(row.plan), row.known


def _looked(store: Store, served: Served, number: int, now: float) -> bool:
    """Look at the answers now that a batch is complete; whether the study has ended by that."""
    collected = store.read(lambda connection: _collected(connection, served, now)).result()
    plan, state = collected.plan, collected.state(number)
    seen = look(state, plan.rule, plan.systems)
    coming = expect(state, seen, plan.rule, plan.systems, NEXT)
    expected = {"answers": coming.answers, "contested": coming.contested, "to_end": coming.to_end}
    entry = seen.entry(plan.systems.names) | {"next": expected}

    def put(connection: sa.Connection) -> bool:
        lock(connection)
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
    low, high = OVERSTATED[rule.mode]
    stated = f"Differences at such a stop were overstated by {low} to {high} % in our tests."
    if rule.decide == "order":
        return f"The order of the systems is decided after {seen.answers:,} answers. {stated}"
    within = f", or within {rule.within:g} points of the best," if rule.within else ""
    best = f"{names[seen.leader]} is the best system{within} by {plan.measure} after {seen.answers:,} answers."
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
    collected = store.read(lambda connection: _collected(connection, served, now)).result()
    plan, known, study = collected.plan, collected.known, served.study
    room, number = room_of(study, known), len(collected.batches) + 1
    after = max((row.number for row in collected.batches if row.completed is not None), default=0)
    state = collected.state(after)
    size = units_wanted * room
    batch = _next(plan, state, size, room)
    if not len(batch.documents):
        return 0 if after < number - 1 else _nothing_left(store, plan, state, now)
    design = units_of(plan, known, study, number, batch)
    row = batch_row(number, size, after, batch) | {"made": now}

    def put(connection: sa.Connection) -> int:
        lock(connection)
        newest = connection.execute(sa.select(sa.func.max(batches.c.number))).scalar()
        ended = connection.execute(sa.select(goals.c.ended)).scalar()
        if newest != number - 1 or ended is not None:  # another process was quicker
            return 0
        connection.execute(sa.insert(batches), row)
        _insert_units(connection, number, design)
        _log(connection, now, "goal batch", {"batch": number, "after": after, "size": size, **batch.entry()})
        return len(design.units)

    return store.write(put).result()


def _next(plan: Plan, state: State, size: int | None, room: int) -> Batch:
    """The recipe's batch, or a larger one where more people wait than it would keep busy."""
    seen = look(state, plan.rule, plan.systems)
    batch = next_batch(state, seen, plan.rule, None, room)
    return batch if size is None or len(batch.documents) >= size else next_batch(state, seen, plan.rule, size, room)


def _nothing_left(store: Store, plan: Plan, state: State, now: float) -> int:
    seen = replace(look(state, plan.rule, plan.systems), status="not separable", reason="there is nothing left to ask")

    def put(connection: sa.Connection) -> int:
        lock(connection)
        if connection.execute(sa.select(goals.c.ended)).scalar() is None:
            _end(connection, now, sentence(plan, seen))
        return 0

    return store.write(put).result()


def batch_row(number: int, size: int | None, after: int, batch: Batch) -> dict[str, Any]:
    """A batch as it is stored, but for when it was made."""
    documents = {"documents": batch.documents.tolist(), "inclusion": batch.pi.tolist()}
    return {"number": number, "size": size, "after": after, **documents}


def _insert_units(connection: sa.Connection, number: int, design: Design) -> None:
    """The units of a batch behind all others."""
    last = connection.execute(sa.select(sa.func.max(units.c.number), sa.func.max(units.c.place))).one()
    names = design.documents["doc"].unique().to_list()
    numbers = dict(
        connection.execute(sa.select(documents.c.doc, documents.c.number).where(documents.c.doc.in_(names))).all()
    )
    of_unit: dict[str, int] = {}
    rows = []
    for step, unit in enumerate(design.units.iter_rows(named=True), start=1):
        of_unit[unit["unit"]] = last[0] + step
        row = {"number": last[0] + step, "place": last[1] + step, "batch": number, "need": 1, "free": 1}
        rows.append(row | {name: unit[name] for name in ("unit", "topic", "scale", "size")})
    places = [
        {"unit": of_unit[row["unit"]], "position": row["position"], "doc": numbers[row["doc"]], "known": row["known"]}
        for row in design.documents.iter_rows(named=True)
    ]
    if rows:
        connection.execute(sa.insert(units), rows)
        connection.execute(sa.insert(items), places)


def _log(connection: sa.Connection, now: float, kind: str, data: dict[str, Any]) -> None:
    connection.execute(sa.insert(events), {"at": now, "kind": kind, "data": data})


def recomputed(store: Store, served: Served) -> list[tuple[list[int], list[int]]]:
    """Every batch as it is stored and as it comes out again from what was there when it was made."""

    def work(connection: sa.Connection) -> list[tuple[list[int], list[int]]]:
        compared = []
        for row in connection.execute(sa.select(batches).order_by(batches.c.number)).all():
            then = _collected(connection, served, until=row.made)
            then = replace(then, batches=[one for one in then.batches if one.number < row.number])
            again = _next(then.plan, then.state(row.after), row.size, room_of(served.study, then.known))
            compared.append((row.documents, again.documents.tolist()))
        return compared

    return store.read(work).result()


async def watch(server: Server) -> None:
    """Advance a study with a goal for as long as its server runs."""
    while True:
        with contextlib.suppress(Unavailable):  # the database is away; the next round finds the same
            await asyncio.to_thread(advance, server.store, server.served)
        await asyncio.sleep(EVERY)
