"""What the database holds for a goal: answers and batches, as looks and the choice of documents or pairs need them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
import sqlalchemy as sa

from judgewell.analysis.goals.batch import Batch, Expected, batch_size, expect, next_batch, size_within, units_of
from judgewell.analysis.goals.look import Look, look
from judgewell.analysis.goals.pairs import PairState, expect_pairs, look_at_pairs, next_pairs
from judgewell.analysis.goals.plan import Plan, known_rows
from judgewell.analysis.goals.state import State
from judgewell.server.queries.endings import STANDS
from judgewell.server.queries.goal import completed_units
from judgewell.server.session.served import Served
from judgewell.server.store.schema import (
    MACHINE,
    answers,
    assessors,
    batches,
    documents,
    goals,
    items,
    reservations,
    units,
)
from judgewell.stats.arrays import Bools, Floats
from judgewell.study.design.batches import batch_pairs, batch_units
from judgewell.study.design.chance import generator
from judgewell.study.design.plan import Design
from judgewell.study.model import Study

Known = Mapping[str, Mapping[str, str]]
_OTHER = documents.alias("other_document")


@dataclass(frozen=True)
class Chosen:
    """A batch: rows of the plan's pool, or pairs (number of the topic, two documents of it), and π afterwards."""

    rows: list[Any]
    inclusion: list[float] = field(default_factory=list, repr=False)  # of every document of the pool; none for pairs

    def row(self, number: int, size: int | None, after: int) -> dict[str, Any]:
        """The batch as it is stored, but for when it was made."""
        return {"number": number, "size": size, "after": after, "documents": self.rows, "inclusion": self.inclusion}


@dataclass(frozen=True)
class Evidence(ABC):
    """Answers of completed units, and the batches so far."""

    plan: Plan
    known: Known
    study: Study
    answers: pl.DataFrame  # topic, doc, other, value, preferred, known, finished
    batches: Sequence[Any]  # number, documents, inclusion
    complete: int  # the last complete batch
    completed: Mapping[int, int] = field(default_factory=dict)  # units of each batch

    @property
    @abstractmethod
    def room(self) -> int:
        """Documents or pairs of a unit beside the known ones."""

    @abstractmethod
    def look(self, after: int) -> tuple[Look, dict[str, Any]]:
        """What the answers say after the complete batches up to `after`, and what the next ones are expected to do."""

    @abstractmethod
    def next(self, after: int, size: int | None) -> Chosen:
        """The recipe's batch, or a larger one of `size` where more people wait than it would keep busy.

        It has no more units than the whole design leaves.
        """

    @abstractmethod
    def _units_of(self, rows: Sequence[Any]) -> int:
        """The units of a batch."""

    def made(self, upto: int | None = None) -> int:
        """The units of all batches, or of those up to one."""
        return sum(self._units_of(row.documents) for row in self.batches if upto is None or row.number <= upto)

    def _shown(self, expected: Expected, completed: int) -> dict[str, Any]:
        """What is stored: `units` that are still to be completed, without those of them that are `completed` already,
        and the units completed by now, so that those of later can be subtracted."""
        return {
            "answers": expected.answers,
            "contested": expected.contested,
            "to_end": expected.to_end,
            "units": max(0, expected.units - completed),
            "completed": sum(self.completed.values()),
        }

    @abstractmethod
    def units(self, number: int, chosen: Chosen) -> Design:
        """The units of a batch; the same batch of the same study gives the same units."""

    def _rng(self, number: int) -> np.random.Generator:
        return generator(self.study.study.seed, "batch", str(number))


class DocumentEvidence(Evidence):
    """Of a study of documents."""

    @property
    def _size(self) -> int:
        return self.study.units.documents if self.study.units else 1

    @property
    def room(self) -> int:
        return self._size - max((len(grades) for grades in self.known.values()), default=0)

    def _state(self, after: int) -> State:
        """The state after the complete batches up to `after`, with everything that was asked since."""
        rows = {row.number: row for row in self.batches}
        zero, count = np.zeros(len(self.plan.pool)), len(self.plan.pool)
        asked = np.bincount([at for row in self.batches for at in row.documents], minlength=count).astype(np.int64)
        pi = np.array(rows[after].inclusion) if after else zero
        asked_pi = np.array(self.batches[-1].inclusion) if self.batches else zero
        return replace(self.plan.state(self._own_sake(asked), pi), asked=asked, asked_pi=asked_pi)

    def _own_sake(self, asked: Any) -> pl.DataFrame:
        """Answers about documents for their own sake: of a known document, which is in every unit, as many as asked."""
        pool = self.plan.pool.with_columns(asked=pl.Series(asked))
        rows = self.answers.sort("finished").join(pool, on=["topic", "doc"], how="inner", maintain_order="left")
        turn = pl.int_range(pl.len()).over("topic", "doc")
        kept = rows.filter(pl.col("known").is_null() | (turn < pl.col("asked")))
        return kept.select("topic", "doc", "value")

    def look(self, after: int) -> tuple[Look, dict[str, Any]]:
        state, rule, systems = self._state(after), self.plan.rule, self.plan.systems
        seen = look(state, rule, systems)
        pending = [
            Batch(np.array(row.documents), np.array(row.inclusion)) for row in self.batches if row.number > after
        ]
        of_units = {"unit": self.room, "made": self.made(after)}
        expected = expect(state, seen, rule, systems, known=self._known_rows, pending=pending, **of_units)
        return seen, self._shown(expected, sum(count for number, count in self.completed.items() if number > after))

    def next(self, after: int, size: int | None) -> Chosen:
        state, rule = self._state(after), self.plan.rule
        seen = look(state, rule, self.plan.systems)
        size = max(size or 0, batch_size(int(state.asked.sum()), state.documents))
        size = size_within(size, rule, self.room, self.made())
        batch = next_batch(state, seen, rule, size, self.room, known=self._known_rows)
        return Chosen(batch.documents.tolist(), batch.pi.tolist())

    @property
    def _known_rows(self) -> Bools:
        return known_rows(self.plan.pool, self.known)

    def _units_of(self, rows: Sequence[Any]) -> int:
        return units_of(np.array(rows, np.int64), self.plan.first().topic, self.room, self._known_rows)

    def units(self, number: int, chosen: Chosen) -> Design:
        scale = next(iter(self.study.scales))
        return batch_units(number, self.plan.pool[chosen.rows], self.known, self._size, scale, self._rng(number))


class PairEvidence(Evidence):
    """Of a study of pairs with preferences."""

    @property
    def _size(self) -> int:
        return self.study.groups.pairs if self.study.groups else 1

    @property
    def room(self) -> int:
        return self._size - any(len(grades) == 2 for grades in self.known.values())

    def _names(self) -> list[list[str]]:
        """The documents of each topic, in the order of the pool."""
        return [part["doc"].to_list() for part in self.plan.pool.partition_by("topic", maintain_order=True)]

    def _asked(self) -> list[Floats]:
        """How often each pair was asked about, on both sides."""
        asked = [np.zeros((len(names), len(names))) for names in self._names()]
        for row in self.batches:
            for topic, first, second in row.documents:
                asked[topic][first, second] += 1
                asked[topic][second, first] += 1
        return asked

    def _allowed(self) -> tuple[Floats, ...]:
        """How often each pair may be asked about in a batch: once, while it has assessors left."""
        most = self.study.groups.assessors if self.study.groups else 1
        return tuple(np.minimum(most - one, 1.0) for one in self._asked())

    def _state(self) -> PairState:
        names = self._names()
        topics = {topic: at for at, topic in enumerate(self.plan.pool["topic"].unique(maintain_order=True))}
        places = [{doc: at for at, doc in enumerate(docs)} for docs in names]
        wins = [np.zeros((len(docs), len(docs))) for docs in names]
        own = self.answers.filter(pl.col("known").is_null(), pl.col("preferred").is_not_null())
        for topic, left, right, preferred in own.select("topic", "doc", "other", "preferred").iter_rows():
            at = topics.get(topic)
            if at is None or left not in places[at] or right not in places[at]:
                continue
            one, other = places[at][left], places[at][right]
            share = {"left": 1.0, "right": 0.0}.get(preferred, 0.5)
            wins[at][one, other] += share
            wins[at][other, one] += 1 - share
        pending = [np.maximum(asked - won - won.T, 0.0) for asked, won in zip(self._asked(), wins, strict=True)]
        return PairState(tuple(wins), tuple(pending))

    def look(self, after: int) -> tuple[Look, dict[str, Any]]:
        state, rule, systems = self._state(), self.plan.rule, self.plan.systems
        seen = look_at_pairs(state, rule, systems)
        left = None if rule.most_units is None else rule.most_units - self.made(after)
        return seen.look, self._shown(expect_pairs(state, seen, rule, systems, self._allowed(), self.room, left), 0)

    def next(self, after: int, size: int | None) -> Chosen:
        state = self._state()
        seen = look_at_pairs(state, self.plan.rule, self.plan.systems)
        wanted = max(size or 0, batch_size(int(sum(one.sum() for one in self._asked()) / 2), state.documents))
        wanted = size_within(wanted, self.plan.rule, self.room, self.made())
        return Chosen([list(pair) for pair in next_pairs(state, seen, wanted, self._allowed(), self.room)])

    def _units_of(self, rows: Sequence[Any]) -> int:
        return sum(-(-count // self.room) for count in Counter(at for at, _, _ in rows).values())

    def units(self, number: int, chosen: Chosen) -> Design:
        topics, names = self.plan.pool["topic"].unique(maintain_order=True).to_list(), self._names()
        pairs = [(topics[at], names[at][one], names[at][other]) for at, one, other in chosen.rows]
        return batch_pairs(number, pairs, self.known, self._size, self._rng(number))


def evidence(
    plan: Plan,
    known: Known,
    study: Study,
    given: pl.DataFrame | None = None,
    made: Sequence[Any] = (),
    complete: int = 0,
    completed: Mapping[int, int] | None = None,
) -> Evidence:
    """The evidence of a study of documents or of pairs; none before it begins."""
    kind = PairEvidence if study.groups else DocumentEvidence
    rows = pl.DataFrame(schema=_SCHEMA) if given is None else given
    return kind(plan, known, study, rows, made, complete, completed or {})


_SCHEMA: dict[str, Any] = {
    "topic": pl.String,
    "doc": pl.String,
    "other": pl.String,
    "value": pl.Float64,
    "preferred": pl.String,
    "known": pl.String,
    "finished": pl.Float64,
}
_COUNTING = (  # units whose answers count; an owner may exclude one later, or take that back
    sa.select(reservations.c.number)
    .join_from(reservations, assessors, assessors.c.number == reservations.c.assessor)
    .where(reservations.c.state == "done", ~reservations.c.excluded, assessors.c.origin != MACHINE)
)
_ANSWERS = (
    sa.select(answers.c.reservation, answers.c.number, units.c.topic, documents.c.doc, _OTHER.c.doc.label("other"))
    .add_columns(answers.c.value, answers.c.preferred, items.c.known, reservations.c.finished)
    .join_from(answers, reservations, reservations.c.number == answers.c.reservation)
    .join(units, units.c.number == answers.c.unit)
    .join(items, sa.and_(items.c.unit == answers.c.unit, items.c.position == answers.c.position))
    .join(documents, documents.c.number == items.c.doc)
    .outerjoin(_OTHER, _OTHER.c.number == items.c.other)
    .where(STANDS)
)
_BATCHES = sa.select(batches.c.number, batches.c.documents, batches.c.inclusion).order_by(batches.c.number)
_READ: dict[str, Any] = {"reservation": pl.Int64, "number": pl.Int64, **_SCHEMA}
AT_ONCE = 500  # units whose answers are read by one statement


@dataclass
class _Lasting:
    """What never changes and is read once: the plan, batches as they were made, the answers of completed units."""

    plan: Plan
    known: Known
    batches: list[Any] = field(default_factory=list)
    answers: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_READ))


def collected(connection: sa.Connection, served: Served, until: float) -> Evidence:
    """What was there at a moment."""
    lasting: _Lasting = served.once("goal", lambda: _plan(connection))
    made = lasting.batches
    made = lasting.batches = [*made, *connection.execute(_BATCHES.where(batches.c.number > len(made)))]
    complete = connection.execute(sa.select(sa.func.max(batches.c.number)).where(batches.c.completed.is_not(None)))
    counting = connection.execute(_COUNTING.where(reservations.c.finished <= until)).scalars().all()
    read = lasting.answers = _with_new(connection, lasting.answers, counting)
    given = read.filter(pl.col("reservation").is_in(counting)).sort("number").select(*_SCHEMA)
    done = completed_units(connection)
    return evidence(lasting.plan, lasting.known, served.study, given, made, complete.scalar() or 0, done)


def _with_new(connection: sa.Connection, read: pl.DataFrame, counting: Sequence[int]) -> pl.DataFrame:
    """The answers that were read before, and those of units completed since."""
    new = sorted(set(counting).difference(read["reservation"].unique()))
    parts = [new[at : at + AT_ONCE] for at in range(0, len(new), AT_ONCE)]
    rows = [tuple(row) for part in parts for row in connection.execute(_ANSWERS.where(answers.c.reservation.in_(part)))]
    return read.vstack(pl.DataFrame(rows, _READ, orient="row"))


def _plan(connection: sa.Connection) -> _Lasting:
    row = connection.execute(sa.select(goals)).one()
    return _Lasting(Plan.load(row.plan), row.known)
