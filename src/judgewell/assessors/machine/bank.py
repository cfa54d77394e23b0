"""What machines replied, kept before anything is done with it: a reply that was paid for is never asked for again."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import sqlalchemy as sa

from judgewell.assessors.machine.asks import Prompts
from judgewell.assessors.machine.chat import json_text
from judgewell.server.judging.invitations import new_assessor
from judgewell.server.session.assignment import release
from judgewell.server.session.served import Served
from judgewell.server.store.schema import MACHINE, assessors, items, machines, replies, reservations, units
from judgewell.study.machine import Machine

# Settings that change what a model replies; with other ones it is another assessor.
OF_REPLIES = ("temperature", "seed", "max_tokens", "structured", "both_orders", "longest")


@dataclass(frozen=True)
class Identity:
    """A model with its settings: one assessor, however often the command is run."""

    model: str
    sample: int
    prompts: dict[str, str]
    settings: dict[str, Any]

    @property
    def fingerprint(self) -> str:
        content = [self.model, self.sample, self.prompts, self.settings]
        return hashlib.sha256(json_text(content).encode()).hexdigest()

    @property
    def label(self) -> str:
        return self.model if self.sample == 1 else f"{self.model}, sample {self.sample}"


def identities(served: Served, settings: Machine, prompts: Prompts) -> list[Identity]:
    """The assessors that the settings name: every model as often as there are samples."""
    checks = served.study.checks
    names = [*(scale.kind for scale in served.scales.values()), *(["pair"] if served.questions else [])]
    doors = {"practice": checks.practice, "comprehension": checks.question, "quiz": checks.quiz}
    names += [name for name, check in doors.items() if check]
    hashes = {name: prompts.of(name).hash for name in dict.fromkeys(names)}
    chosen = {name: getattr(settings, name) for name in OF_REPLIES}
    return [
        Identity(model, sample, hashes, chosen)
        for model in dict.fromkeys(settings.model)
        for sample in range(1, settings.samples + 1)
    ]


def find_machine(connection: sa.Connection, identity: Identity) -> int | None:
    """The number of the assessor, where it judged before."""
    query = sa.select(machines.c.assessor).where(machines.c.fingerprint == identity.fingerprint)
    return connection.execute(query).scalar()


def enter(connection: sa.Connection, served: Served, settings: Machine, identity: Identity) -> int:
    """The assessor with this identity: the one there is, or a new one under a name that says which model it is."""
    number = find_machine(connection, identity)
    if number is None:
        number = new_assessor(connection, MACHINE, served.clock(), identity.label)
        slug = re.sub(r"[^A-Za-z0-9._]+", "-", identity.model).strip("-") or "model"
        name = f"m-{slug}-{number}"
        connection.execute(sa.update(assessors).where(assessors.c.number == number).values(pseudonym=name))
        row = {"model": identity.model, "sample": identity.sample, "prompts": identity.prompts}
        row |= {"settings": identity.settings, "endpoint": settings.endpoint, "currency": settings.currency}
        connection.execute(sa.insert(machines).values(assessor=number, fingerprint=identity.fingerprint, **row))
    return int(number)


def stored(connection: sa.Connection, machine: int, unit: int, revision: int) -> dict[tuple[Any, ...], list[Any]]:
    """The replies about a unit, by purpose, position and order, each list in order of attempts."""
    query = (
        sa.select(replies)
        .where(replies.c.assessor == machine, replies.c.unit == unit, replies.c.revision == revision)
        .order_by(replies.c.attempt)
    )
    held = defaultdict(list)
    for row in connection.execute(query):
        held[row.purpose, row.position, row.swapped].append(row)
    return dict(held)


def keep(connection: sa.Connection, row: dict[str, Any]) -> Any:
    """Keep a reply; the row as it is stored."""
    return connection.execute(sa.insert(replies).values(row).returning(*replies.c)).one()


def spent(connection: sa.Connection) -> tuple[int, float]:
    """Tokens and money of all replies in the study."""
    tokens = sa.func.sum(replies.c.tokens_in + replies.c.tokens_out)
    row = connection.execute(sa.select(tokens, sa.func.sum(replies.c.cost))).one()
    return int(row[0] or 0), float(row[1] or 0.0)


def any_read(connection: sa.Connection, machine: int) -> bool:
    """Whether any reply of the machine could be read."""
    query = sa.select(replies.c.number).where(replies.c.assessor == machine, replies.c.outcome == "read").limit(1)
    return connection.execute(query).scalar() is not None


def let_go(connection: sa.Connection, machine: int, now: float) -> None:
    """Free the units that a machine holds, so that nobody waits for them; it takes them up again if they are free."""
    live = sa.and_(reservations.c.assessor == machine, reservations.c.state == "live")
    for number in connection.execute(sa.select(reservations.c.number).where(live)).scalars().all():
        release(connection, number, now, "the machine stopped")


@dataclass(frozen=True)
class Planned:
    """A unit that a machine will judge; `missing` are the places (with their order) that no reply was read for."""

    unit: int
    missing: tuple[tuple[int, bool], ...]


def plan(connection: sa.Connection, settings: Machine, who: Sequence[Identity]) -> list[Planned]:
    """The work that is left for these machines, if nobody else takes any: what `reserve` will hand out."""
    rows = connection.execute(sa.select(units).order_by(units.c.number)).all()
    places = defaultdict(list)
    for item in connection.execute(sa.select(items).order_by(items.c.unit, items.c.position)):
        places[item.unit].append(item)
    free = {row.number: row.free for row in rows}
    orders = (False, True) if settings.both_orders else (False,)

    def units_of(identity: Identity) -> Iterator[Planned]:
        number = find_machine(connection, identity)
        mine, ended = _had(connection, number)
        seen: set[Any] = set()
        for row in rows:  # what it holds comes first
            if row.number in mine:
                seen |= {_key(row, item) for item in places[row.number]}
        for row in rows:
            new = {_key(row, item) for item in places[row.number] if row.template or item.known is None} - seen
            if row.number in ended or not (row.number in mine or (free[row.number] > 0 and new)):
                continue
            free[row.number] -= row.number not in mine
            seen |= {_key(row, item) for item in places[row.number]}
            done = _read_places(connection, number, row.number)
            every = [
                (item.position, order) for item in places[row.number] for order in (orders if item.other else (False,))
            ]
            yield Planned(row.number, tuple(place for place in every if place not in done))

    turns = zip_longest(*map(units_of, who))  # machines judge at the same time: each takes a unit in turn
    return [one for turn in turns for one in turn if one is not None]


def _key(unit: Any, item: Any) -> tuple[Any, ...]:
    """What is judged at a place: a document or a pair of a topic, on a scale."""
    return unit.topic, unit.scale, frozenset((item.doc, item.other))


def _had(connection: sa.Connection, number: int | None) -> tuple[set[int], set[int]]:
    """The units that a machine has taken, and those of them that ended."""
    query = sa.select(reservations.c.unit, reservations.c.state).where(reservations.c.assessor == number)
    taken = connection.execute(query).all() if number is not None else []
    return {row.unit for row in taken}, {row.unit for row in taken if row.state in ("done", "failed")}


def _read_places(connection: sa.Connection, number: int | None, unit: int) -> set[tuple[int, bool]]:
    if number is None:
        return set()
    query = sa.select(replies.c.position, replies.c.swapped).where(
        replies.c.assessor == number, replies.c.unit == unit, replies.c.purpose.in_(("document", "pair"))
    )
    return {(row.position, row.swapped) for row in connection.execute(query.where(replies.c.outcome == "read"))}
