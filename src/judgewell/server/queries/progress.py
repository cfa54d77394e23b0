"""How far the study is: topics, units, who is working now, when it will end, what it costs.

Everything here is counted in the database at the moment of asking, in a few grouped queries, so that two servers on one
database say the same.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass, fields

import nh3
import sqlalchemy as sa

from judgewell.server.queries.endings import COMPLETED, IN_PROGRESS, ending, endings_by, held, of_units
from judgewell.server.queries.former_names import former
from judgewell.server.queries.money import Money, money
from judgewell.server.queries.slots import slot_length
from judgewell.server.queries.status import Counts, TopicProgress, remaining_completions, status, units_to_come
from judgewell.server.session.served import Served
from judgewell.server.store.schema import (
    answers,
    assessors,
    documents,
    exclusions,
    pauses,
    reservations,
    study,
    topics,
    units,
    verdicts,
)

PACE_OVER = 50  # the last units done, from which the present pace is reckoned
FURTHEST = 180 * 86400.0  # seconds ahead for which an end is expected
MOST_WORKING = 200
LONGEST_TEXT = 4000  # characters of a document shown to the owner


@dataclass(frozen=True)
class Working:
    """Somebody with a unit in hand."""

    reservation: int
    assessor: int
    pseudonym: str
    topic: str
    unit: str
    stage: str
    position: int
    size: int
    since: float
    seen: float
    expires: float
    late: bool


@dataclass(frozen=True)
class Bar:
    """One stretch of time: units done in it."""

    start: float
    seconds: float
    done: int


@dataclass(frozen=True)
class CheckBar:
    """One check in one stretch of time."""

    start: float
    seconds: float
    name: str
    passed: int
    failed: int


@dataclass(frozen=True)
class Failure:
    """A check that somebody failed."""

    at: float
    name: str
    assessor: int
    pseudonym: str
    attempt: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class Overview(Counts):
    """The study at a glance."""

    begun: float | None
    paused: float | None
    needed: int  # completions of units
    done: int
    remaining: int
    units: int
    complete: int
    in_progress: int
    failed: int
    abandoned: int
    excluded: int
    assessors_excluded: int  # assessors with work that is excluded
    pace: float | None  # completions an hour
    expected_end: float | None  # None while nobody works, and where it is further away than FURTHEST
    last_seen: float | None  # the last sign of life of anybody with a unit
    money: Money
    bars: tuple[Bar, ...]
    in_hand = former("in_progress", int)
    left_out = former("assessors_excluded", int)


@dataclass(frozen=True)
class TopicRow:
    """A topic with its words and whether it is paused."""

    progress: TopicProgress
    title: str
    paused: float | None


@dataclass(frozen=True)
class UnitRow:
    """A unit: what it needs and what became of it so far."""

    unit: str
    number: int
    scale: str | None
    size: int
    need: int
    done: int
    in_progress: int
    late: int  # of those in progress
    failed: int
    abandoned: int
    excluded: int
    in_hand = former("in_progress", int)


def overview(connection: sa.Connection, served: Served, now: float) -> Overview:
    """The whole study at this moment."""
    state = status(connection, now)
    begun = connection.execute(sa.select(study.c.first_judgment)).scalar()
    paused = connection.execute(sa.select(pauses.c.at).where(pauses.c.topic == "")).scalar()
    remaining = remaining_completions(connection, now)
    pace = None if paused is not None else _pace(connection, now)
    excluded = sa.select(sa.func.count(sa.distinct(exclusions.c.assessor))).where(exclusions.c.undone.is_(None))
    to_come = units_to_come(connection, state.goal, now)
    units_of = of_units({one.ending: one.units for one in state.endings}, "done")
    counts = {field.name: getattr(state, field.name) for field in fields(Counts)} | {"study": served.title}
    return Overview(
        **counts,
        begun=begun,
        paused=paused,
        needed=state.needed,
        remaining=remaining,
        units=sum(topic.units for topic in state.topics),
        complete=sum(topic.complete for topic in state.topics),
        **units_of,
        assessors_excluded=int(connection.execute(excluded).scalar() or 0),
        pace=pace,
        expected_end=_expected_end(now, pace, to_come) if units_of["in_progress"] else None,
        last_seen=connection.execute(sa.select(sa.func.max(reservations.c.seen))).scalar(),
        money=money(connection, served.study.pay, to_come),
        bars=tuple(_bars(connection, now)),
    )


def topic_titles(connection: sa.Connection) -> dict[str, str]:
    """The title of each topic, "" where it has none."""
    return {row.topic: row.title or "" for row in connection.execute(sa.select(topics.c.topic, topics.c.title))}


def document_texts(connection: sa.Connection, docs: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The title and the beginning of the plain text of documents, by their id; HTML loses its marks."""
    length = sa.func.substr(documents.c.text, 1, LONGEST_TEXT).label("text")
    query = sa.select(documents.c.doc, documents.c.title, documents.c.kind, length).where(documents.c.doc.in_(docs))
    texts = {}
    for row in connection.execute(query):
        text = nh3.clean(row.text, tags=set()) if row.kind == "html" else row.text
        plain = html.unescape(text) if row.kind == "html" else text
        texts[row.doc] = (row.title or " ".join(plain.split()[:12]), plain.strip())
    return texts


def topic_rows(connection: sa.Connection, progress: tuple[TopicProgress, ...]) -> list[TopicRow]:
    """The topics with their titles."""
    titles = topic_titles(connection)
    paused = {row.topic: row.at for row in connection.execute(sa.select(pauses.c.topic, pauses.c.at))}
    return [TopicRow(one, titles.get(one.topic, ""), paused.get(one.topic)) for one in progress]


def unit_rows(connection: sa.Connection, topic: str, now: float) -> list[UnitRow]:
    """The units of a topic."""
    mine = reservations.c.topic == topic
    counts = endings_by(connection, now, reservations.c.unit, mine)
    late = endings_by(connection, now, reservations.c.unit, mine, reservations.c.state == "late")
    rows = connection.execute(sa.select(units).where(units.c.topic == topic).order_by(units.c.number))
    return [
        UnitRow(
            *(row.unit, row.number, row.scale, row.size, row.need),
            late=late.get(row.number, {}).get(IN_PROGRESS, 0),
            **of_units(counts.get(row.number, {}), "done"),
        )
        for row in rows
    ]


def working(connection: sa.Connection, now: float, most: int = MOST_WORKING) -> list[Working]:
    """Who has a unit in hand now, the last seen first."""
    expires, kept = reservations.c.expires, sa.func.coalesce(reservations.c.held_until, 0.0)
    query = (
        sa.select(reservations.c.number.label("reservation"), reservations.c.assessor, assessors.c.pseudonym)
        .add_columns(reservations.c.topic, units.c.unit, assessors.c.stage, units.c.size, reservations.c.seen)
        .add_columns(sa.case((assessors.c.stage == "judge", assessors.c.position), else_=0).label("position"))
        .add_columns(reservations.c.created.label("since"), (reservations.c.state == "late").label("late"))
        .add_columns(sa.case((kept > expires, kept), else_=expires).label("expires"))
        .join_from(reservations, units, units.c.number == reservations.c.unit)
        .join(assessors, assessors.c.number == reservations.c.assessor)
        .where(ending(now) == IN_PROGRESS, held(now))
        .order_by(reservations.c.seen.desc())
        .limit(most)
    )
    return [Working(**row) for row in connection.execute(query).mappings()]


def working_text(at_work: Sequence[Working], now: float) -> str:
    """A line for each assessor who has a unit, for a terminal."""
    return "".join(
        f"working: {one.pseudonym} on {one.unit}, last seen {(now - one.seen) / 60:.0f} min ago"
        + (", late: the place went to someone else" if one.late else "")
        + "\n"
        for one in at_work
    )


def check_bars(connection: sa.Connection) -> list[CheckBar]:
    """Every check over time, passed and failed."""
    ends = connection.execute(sa.select(sa.func.min(verdicts.c.at), sa.func.max(verdicts.c.at))).one()
    if ends[0] is None:
        return []
    width = slot_length(ends[1] - ends[0])
    slot = sa.cast(sa.func.floor(verdicts.c.at / width), sa.Integer).label("slot")
    passed = sa.func.sum(sa.case((verdicts.c.passed, 1), else_=0))
    query = sa.select(slot, verdicts.c.name, passed, sa.func.count()).group_by(slot, verdicts.c.name).order_by(slot)
    return [
        CheckBar(place * width, width, name, int(good), count - int(good))
        for place, name, good, count in connection.execute(query)
    ]


def failures(connection: sa.Connection, most: int = 50) -> list[Failure]:
    """The checks that failed last."""
    query = (
        sa.select(verdicts, assessors.c.pseudonym)
        .join_from(verdicts, assessors, assessors.c.number == verdicts.c.assessor)
        .where(sa.not_(verdicts.c.passed))
        .order_by(verdicts.c.number.desc())
        .limit(most)
    )
    return [
        Failure(row.at, row.name, row.assessor, row.pseudonym, row.attempt, row.reason or "")
        for row in connection.execute(query)
    ]


def answers_stamp(connection: sa.Connection) -> str:
    """What changes whenever computed figures are out of date: work that ended, and work excluded or included again."""
    ended = sa.select(sa.func.count()).select_from(reservations).where(reservations.c.finished.is_not(None))
    out = sa.select(sa.func.count(), sa.func.count(exclusions.c.undone)).select_from(exclusions)
    last = connection.execute(sa.select(sa.func.max(answers.c.number))).scalar() or 0
    return f"{connection.execute(ended).scalar()} {last} {tuple(connection.execute(out).one())}"


def _pace(connection: sa.Connection, now: float) -> float | None:
    """Completions an hour: the last ones over the time since the first of them, silence till now included."""
    query = sa.select(reservations.c.finished).where(ending(now) == COMPLETED)
    times = list(connection.execute(query.order_by(reservations.c.finished.desc()).limit(PACE_OVER)).scalars())
    if len(times) < 2 or now <= times[-1]:
        return None
    return (len(times) - 1) / (now - float(times[-1])) * 3600


def _expected_end(now: float, pace: float | None, remaining: int) -> float | None:
    """When the rest is done at this pace; a date beyond FURTHEST would say more than is known."""
    hours = remaining / pace if pace else 0.0
    return now + hours * 3600 if 0 < hours * 3600 <= FURTHEST else None


def _bars(connection: sa.Connection, now: float) -> list[Bar]:
    """Units completed over time."""
    completed = ending(now) == COMPLETED
    finished = reservations.c.finished
    first, last = connection.execute(sa.select(sa.func.min(finished), sa.func.max(finished)).where(completed)).one()
    if first is None:
        return []
    width = slot_length(last - first)
    slot = sa.cast(sa.func.floor(finished / width), sa.Integer).label("slot")
    counts = dict(connection.execute(sa.select(slot, sa.func.count()).where(completed).group_by(slot)).all())
    begin, end = min(counts), max(counts)
    return [Bar(place * width, width, counts.get(place, 0)) for place in range(max(begin, end - 200), end + 1)]
