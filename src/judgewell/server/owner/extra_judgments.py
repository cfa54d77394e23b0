"""More judgments of chosen documents, beside the design that was frozen.

In a design of units, a unit of which every document is asked for is simply needed more often. The other documents go
into extra units, named more-1, more-2, …, of the study's own size and with the topic's known documents; places that are
left over go to other documents of the topic by lot. In designs of pairs and of templates what a document is judged
beside is part of the design, so there existing units are needed more often: as few as hold all that is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from judgewell.errors import InputError
from judgewell.server.session.served import Served
from judgewell.server.store.schema import documents, items, units
from judgewell.study.design.chance import generator
from judgewell.study.design.units import make_units


@dataclass(frozen=True)
class Unit:
    """A unit as it is asked: its documents in order, with the grade of those that are known."""

    number: int
    unit: str
    docs: dict[int, str | None]

    @property
    def open(self) -> frozenset[int]:
        """The documents that are asked for their own sake."""
        return frozenset(doc for doc, known in self.docs.items() if not known)


def ask_more(
    connection: sa.Connection, served: Served, topic: str, docs: Sequence[str], more: int, scale: str | None = None
) -> dict[str, Any]:
    """Ask for so many more judgments of documents of a topic; the units that are needed more often, and the extra ones.

    Where the study has several scales and none is named, on each of them. The same request in the same state of the
    study makes the same units.
    """
    asked = _numbers(connection, topic, docs)
    scales = list(connection.execute(sa.select(units.c.scale).where(units.c.topic == topic).distinct()).scalars())
    if scale is not None and scale not in scales:
        named = ", ".join(sorted(filter(None, scales)))
        cure = f"its units are on {named}" if named else "its units are of pairs: name no scale"
        raise InputError(f"topic {topic!r} has no units on the scale {scale!r}", cure=cure)
    raised: list[str] = []
    extra: list[str] = []
    for one in [scale] if scale is not None else sorted(scales, key=str):
        held = _units(connection, topic, one)
        missing = asked - frozenset(doc for unit in held for doc in unit.docs)
        if missing:
            raise InputError(
                f"{len(missing)} of the documents are in no unit of topic {topic!r} on this scale",
                cure="name documents of the pool",
            )
        chosen = _whole(held, asked) if served.study.units else _cover(held, asked)
        for unit in chosen:
            grown = {"need": units.c.need + more, "free": units.c.free + more}
            connection.execute(sa.update(units).where(units.c.number == unit.number).values(grown))
        rest = asked - frozenset(doc for unit in chosen for doc in unit.docs)
        raised += [unit.unit for unit in chosen]
        extra += _extra(connection, served, topic, one, held, rest, more) if rest else []
    return {"raised": raised, "extra": extra}


def _numbers(connection: sa.Connection, topic: str, docs: Sequence[str]) -> frozenset[int]:
    """The documents' numbers; one that the topic does not ask about is a mistake."""
    wanted = dict.fromkeys(docs)
    if not wanted:
        raise InputError("no documents are named", cure="name at least one")
    query = (
        sa.select(documents.c.doc, documents.c.number)
        .distinct()
        .join_from(items, units, units.c.number == items.c.unit)
        .join(documents, documents.c.number.in_([items.c.doc, items.c.other]))
        .where(units.c.topic == topic, documents.c.doc.in_(list(wanted)))
    )
    numbers: dict[str, int] = {row.doc: row.number for row in connection.execute(query)}
    missing = [doc for doc in wanted if doc not in numbers]
    if missing:
        raise InputError(
            f"document {missing[0]!r} is not judged for topic {topic!r}", cure="name documents of the pool"
        )
    return frozenset(numbers.values())


def _units(connection: sa.Connection, topic: str, scale: str | None) -> list[Unit]:
    """The topic's units on a scale, in the order in which they are handed out."""
    query = (
        sa.select(units.c.number, units.c.unit, items.c.doc, items.c.other, items.c.known)
        .join_from(units, items, items.c.unit == units.c.number)
        .where(units.c.topic == topic, units.c.scale == scale if scale is not None else units.c.scale.is_(None))
        .order_by(units.c.place, items.c.position)
    )
    held: dict[int, Unit] = {}
    for number, unit, doc, other, known in connection.execute(query):
        docs = held.setdefault(number, Unit(number, unit, {})).docs
        docs[doc] = known if other is None else None
        if other is not None:
            docs[other] = None
    return list(held.values())


def _whole(held: list[Unit], asked: frozenset[int]) -> list[Unit]:
    """Units of which every document is asked for, none of them twice."""
    left, chosen = set(asked), []
    for unit in held:
        if unit.open and unit.open <= left:
            chosen.append(unit)
            left -= set(unit.docs)
    return chosen


def _cover(held: list[Unit], asked: frozenset[int]) -> list[Unit]:
    """Few units that hold all documents: always the one with most of those still missing."""
    left, chosen = set(asked), []
    while left:
        best = max(held, key=lambda unit: len(left & set(unit.docs)))
        chosen.append(best)
        left -= set(best.docs)
    return chosen


def _extra(
    connection: sa.Connection,
    served: Served,
    topic: str,
    scale: str | None,
    held: list[Unit],
    rest: frozenset[int],
    more: int,
) -> list[str]:
    """Extra units for the documents, made as the design makes its own."""
    design = served.study.units
    assert design is not None  # in every other design existing units cover whatever is asked
    known = {doc: grade for doc, grade in held[0].docs.items() if grade}
    pool = [*known, *sorted({doc for unit in held for doc in unit.open} - set(known))]
    need = np.array([more if doc in rest else 0 for doc in pool], dtype=np.int64)
    if not (rest - set(known)):
        raise InputError("the known documents are in every unit already", cure="name other documents")
    so_far = sa.select(sa.func.count()).select_from(units).where(units.c.unit.like("more-%"))
    count = connection.execute(so_far).scalar_one()
    highest = connection.execute(sa.select(sa.func.max(units.c.number), sa.func.max(units.c.place))).one()
    rng = generator(served.study.study.seed, "more", topic, str(scale), str(count))
    rows = make_units(len(pool), design.documents, need, rng, known=tuple(range(len(known))), order=design.order)
    drawn = _inclusions(connection, topic)
    made = []
    for step, row in enumerate(rows.tolist(), start=1):
        unit = {"number": highest[0] + step, "unit": f"more-{count + step}", "topic": topic, "scale": scale}
        unit |= {"size": len(row), "need": 1, "free": 1, "place": highest[1] + step}
        connection.execute(sa.insert(units), unit)
        placed = [
            {"unit": unit["number"], "position": position, "doc": doc, "known": known.get(doc), "inclusion": drawn[doc]}
            for position, doc in enumerate((pool[index] for index in row), start=1)
        ]
        connection.execute(sa.insert(items), placed)
        made.append(unit["unit"])
    return made


def _inclusions(connection: sa.Connection, topic: str) -> dict[int, float | None]:
    """The probability with which each document of a topic was drawn into the pool, where it was."""
    query = sa.select(items.c.doc, items.c.inclusion).join(units, units.c.number == items.c.unit)
    return {row.doc: row.inclusion for row in connection.execute(query.where(units.c.topic == topic).distinct())}
