"""Synthetic people at the judging server's own door, in process and in simulated time.

Every step goes through the function that takes a browser's step, on the study's real database; only the clock is
ours. Persons take their steps in order of simulated time, some at a time in one transaction.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import sqlalchemy as sa

from judgewell.assessors.people import Person
from judgewell.assessors.session import Session, Sight
from judgewell.assessors.truth import Truth
from judgewell.errors import DataError, InputError
from judgewell.server.judging import invitations as people
from judgewell.server.judging.routes import current_page, sign_of_life
from judgewell.server.queries.goal import GoalProgress, goal_progress
from judgewell.server.queries.money import completed_cost, money
from judgewell.server.session import pages
from judgewell.server.session.assignment import SILENT, SILENT_UNANSWERED, expire
from judgewell.server.session.served import Served, load_served
from judgewell.server.session.stages.comprehension import Comprehension
from judgewell.server.session.stages.done import Done
from judgewell.server.session.stages.judge import Judging
from judgewell.server.session.stages.practice import Practice
from judgewell.server.session.stages.questionnaire import Questionnaire
from judgewell.server.session.stages.quiz import QuizPair
from judgewell.server.session.stages.stopped import Stopped
from judgewell.server.session.stages.waiting import ComeBack
from judgewell.server.session.steps import take
from judgewell.server.store.schema import SYNTHETIC, assessors, documents, goals, items, reservations, units, verdicts
from judgewell.server.store.setup import prepare
from judgewell.server.store.transactions import Store
from judgewell.server.tokens import read_step
from judgewell.study.check import load_study
from judgewell.study.cost import Cost

BEGIN = 1_700_000_000.0  # the simulated clock's first moment
AT_ONCE = 64  # steps in one transaction


class Clock:
    """A clock that is moved."""

    def __init__(self, now: float = BEGIN) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True)
class Filled:
    """A study filled by synthetic people: who they were, the documents' true relevance, and the days it took."""

    people: tuple[Person, ...]
    truth: Truth
    needed: int  # completions of units
    done: int
    steps: int
    refused: int  # answers that the server did not take
    days: float
    goal: GoalProgress | None
    spent: str  # a sentence where the budget lets no further unit be begun
    cost: Cost  # of the completed units


@dataclass
class _Hall:
    """The study with all who are in it."""

    store: Store
    served: Served
    clock: Clock
    names: dict[int, str]  # of documents by their number
    sessions: dict[int, Session] = field(default_factory=dict)
    queue: list[tuple[float, int, bool]] = field(default_factory=list)  # when, who, and whether it is a step
    ready: dict[int, dict[str, str]] = field(default_factory=dict)  # what each person will send next
    steps: int = 0
    refused: int = 0
    waiting: bool = False


def fill(
    store: Store,
    study: str | Path,
    crowd: Sequence[Person],
    *,
    seed: int,
    truth: Truth | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Filled:
    """Let the people go through the whole study in the database, from consent to the questionnaire.

    The documents' true relevance follows from the study's grades unless `truth` gives it.
    """
    clock = Clock()
    prepare(store, study, clock)
    served = store.read(lambda connection: load_served(connection, clock)).result()
    _refuse_begun(store, study)
    truth = truth or truth_of(store, study, seed)
    rows = store.read(lambda connection: connection.execute(sa.select(documents.c.number, documents.c.doc)).all())
    if served.study.goal:
        from judgewell.server.session.goal import advance
    hall = _Hall(store, served, clock, {row.number: row.doc for row in rows.result()})
    store.write(lambda connection: _let_in(connection, hall, crowd, truth)).result()
    needed = store.read(_needed).result()
    while hall.queue:
        store.write(lambda connection: _steps(connection, hall)).result()
        if hall.waiting:  # as the server does when somebody finds no free unit
            store.write(lambda connection: expire(connection, clock(), served.silence)).result()
            hall.waiting = False
        if served.study.goal and advance(store, served):  # which makes new units
            needed = store.read(_needed).result()
        if progress:
            progress(store.read(_done).result(), needed)
    with store.snapshot() as connection:
        goal, needed, done = goal_progress(connection, served.study), _needed(connection), _done(connection)
        spent = money(connection, served.study.pay, 0)
        cost = completed_cost(connection, served.study.pay, clock.now)
    days = (clock.now - BEGIN) / 86400
    stopped = spent.warning if spent.budget_state == "reached" else ""
    return Filled(tuple(crowd), truth, needed, done, hall.steps, hall.refused, days, goal, stopped, cost)


def truth_of(store: Store, study: str | Path, seed: int) -> Truth:
    """The true relevance of the study's documents: from its grades, and from which of them its checks use."""
    prepare(store, study, Clock())
    _, inputs = load_study(study)
    grades = {(row["topic"], row["doc"]): float(row["gain"]) for row in inputs.grades.iter_rows(named=True)}
    known = store.read(_known).result()
    return Truth(seed, grades, known)


def catch_table(store: Store, crowd: Sequence[Person]) -> pl.DataFrame:
    """What each check caught of each kind of person at its first try; `unit` says what became of units in the end."""
    kinds = {person.name: person.kind.name for person in crowd}
    ranked = sorted(crowd, key=lambda one: (-one.kind.share, one.kind.name))
    order = {kind: place for place, kind in enumerate(dict.fromkeys(person.kind.name for person in ranked))}
    with store.snapshot() as connection:
        failures = pl.concat([_verdicts(connection), _endings(connection)])
    counted = (
        failures.with_columns(kind=pl.col("assessor").replace_strict(kinds, return_dtype=pl.String))
        .group_by("check", "kind")
        .agg(passed=pl.col("passed").sum().cast(pl.Int64), failed=(~pl.col("passed")).sum().cast(pl.Int64))
        .with_columns(caught=pl.col("failed") / (pl.col("passed") + pl.col("failed")))
    )
    stages = pl.col("check").replace_strict(_STAGES, default=len(_STAGES), return_dtype=pl.Int64)
    return counted.sort(stages, pl.col("kind").replace_strict(order, return_dtype=pl.Int64))


_CHECKS = ("practice", "comprehension", "quiz", "known", "known_pairs", "time", "unit")
_STAGES = {name: place for place, name in enumerate(_CHECKS)}


def _verdicts(connection: sa.Connection) -> pl.DataFrame:
    """The first verdict of each check on each unit: what it would catch without a second try."""
    query = (
        sa.select(assessors.c.pseudonym, verdicts.c.name, verdicts.c.passed)
        .join_from(verdicts, assessors, assessors.c.number == verdicts.c.assessor)
        .where(verdicts.c.attempt == 1, assessors.c.origin == SYNTHETIC)
    )
    schema = {"assessor": pl.String, "check": pl.String, "passed": pl.Boolean}
    return pl.DataFrame([tuple(row) for row in connection.execute(query)], schema=schema, orient="row")


def _endings(connection: sa.Connection) -> pl.DataFrame:
    """Each unit that came to an end: passed where it was completed, all tries counted."""
    query = (
        sa.select(assessors.c.pseudonym, sa.literal("unit"), reservations.c.ending == "completed")
        .join_from(reservations, assessors, assessors.c.number == reservations.c.assessor)
        .where(reservations.c.ending.is_not(None), assessors.c.origin == SYNTHETIC)
    )
    schema = {"assessor": pl.String, "check": pl.String, "passed": pl.Boolean}
    rows = [(name, check, bool(passed)) for name, check, passed in connection.execute(query)]
    return pl.DataFrame(rows, schema=schema, orient="row")


def only_synthetic(store: Store) -> bool:
    """Whether there are assessors in the database, all of them synthetic."""
    return store.read(lambda c: set(c.execute(sa.select(assessors.c.origin)).scalars())).result() == {SYNTHETIC}


def _refuse_begun(store: Store, study: str | Path) -> None:
    begun = store.read(lambda c: c.execute(sa.select(sa.func.count()).select_from(reservations)).scalar()).result()
    if begun:
        raise InputError(
            "judging has begun in this database, and a simulation needs one of its own",
            cure="name a new one with --database",
            file=study,
        )


def _known(connection: sa.Connection) -> dict[tuple[str, str], str]:
    """The documents that the design uses as known ones: H or N by topic and document."""
    left, right = documents.alias("left"), documents.alias("right")
    query = (
        sa.select(units.c.topic, left.c.doc, right.c.doc.label("other"), items.c.known)
        .join_from(items, units, units.c.number == items.c.unit)
        .join(left, left.c.number == items.c.doc)
        .outerjoin(right, right.c.number == items.c.other)
        .where(items.c.known.is_not(None), units.c.template.is_(None))
    )
    known_sides: dict[tuple[str, str], str] = {}
    for topic, doc, other, known in connection.execute(query):
        if other is None:
            known_sides[topic, doc] = known
        else:
            known_sides[topic, doc], known_sides[topic, other] = ("H", "N") if known == "left" else ("N", "H")
    for (of_topics,) in connection.execute(sa.select(goals.c.known)):  # also of units that are still to be made
        known_sides |= {(topic, doc): known for topic, docs in of_topics.items() for doc, known in docs.items()}
    return known_sides


def _let_in(connection: sa.Connection, hall: _Hall, crowd: Sequence[Person], truth: Truth) -> None:
    """New assessors under names of their own that are the same every time, arriving one after another."""
    now = hall.clock()
    for person in crowd:
        number = people.new_assessor(connection, SYNTHETIC, now, person.kind.name)
        connection.execute(
            sa.update(assessors).where(assessors.c.number == number).values(pseudonym=person.name, moved=now)
        )
        hall.sessions[number] = Session(person, truth)
        heapq.heappush(hall.queue, (now, number, True))
        now += float(person.chance("arrival").exponential(truth.population.arrivals))


def _steps(connection: sa.Connection, hall: _Hall) -> None:
    """The next steps in order of time, in one transaction."""
    for _ in range(AT_ONCE):
        if not hall.queue or hall.waiting:
            return
        at, number, stepped = heapq.heappop(hall.queue)
        hall.clock.now = max(hall.clock.now, at)
        if not stepped:
            sign_of_life(connection, hall.served, number, -1)
            continue
        page = _sent(connection, hall, number)
        if page is None:
            continue
        reply = hall.sessions[number].reply(_seen(connection, hall, number, page))
        if reply is not None:
            hall.ready[number] = reply.form | {"step": page.step}
            answered = isinstance(page, Judging) and page.progress.position > 1
            _plan(hall, number, reply.seconds, SILENT if answered else SILENT_UNANSWERED)


def _plan(hall: _Hall, number: int, seconds: float, silent: float = SILENT) -> None:
    """The next step, and till then the signs of life that an open page gives: enough of them to keep the unit."""
    now, beat = hall.clock.now, silent * 0.75
    heapq.heappush(hall.queue, (now + seconds, number, True))
    for count in range(1, int(seconds / beat) + 1):
        heapq.heappush(hall.queue, (now + count * beat, number, False))


def _sent(connection: sa.Connection, hall: _Hall, number: int) -> pages.Page | None:
    """Send what the person has ready; the page that comes back. The first time it is the page they arrive at."""
    served = hall.served
    form = hall.ready.pop(number, None)
    if form is None:
        return current_page(connection, served, number)
    turn = read_step(served.secret, number, form["step"])
    if turn is None:
        raise DataError(f"synthetic assessor {number} was given a step that is not theirs")
    taken = take(connection, served, number, turn, {name: (value,) for name, value in form.items()})
    hall.steps += 1
    if taken is None:
        return None
    hall.refused += taken.outcome == "not taken"
    hall.waiting = hall.waiting or taken.outcome == "waiting"
    return taken.page


@dataclass(frozen=True)
class _Place:
    """Where a person is in a unit."""

    unit: int
    topic: str
    scale: str | None
    position: int


def _place(connection: sa.Connection, number: int) -> _Place:
    query = (
        sa.select(units.c.number, units.c.topic, units.c.scale, assessors.c.position)
        .join_from(assessors, reservations, reservations.c.number == assessors.c.reservation)
        .join(units, units.c.number == reservations.c.unit)
        .where(assessors.c.number == number)
    )
    return _Place(*connection.execute(query).one())


def _seen(connection: sa.Connection, hall: _Hall, number: int, page: pages.Page) -> Sight:
    """The page as a person takes it in."""
    match page:
        case Practice():
            return Sight(page.kind, length=page.length)
        case Comprehension():
            place = _place(connection, number)
            asked = hall.served.questions_about(place.topic)[place.position - 1]
            return Sight(page.kind, choices=len(asked.answers), right=str(asked.right))
        case QuizPair():
            return Sight(page.kind, right=_better(hall.served, _place(connection, number)))
        case Judging():
            return _document_or_pair(connection, hall, _place(connection, number), page)
        case Questionnaire():
            return Sight(page.kind, closing=tuple((one.name, one.examples) for one in hall.served.closing))
        case Done() | Stopped():
            return Sight(page.kind, more=bool(page.more))
        case ComeBack():
            return Sight(page.kind, minutes=page.minutes)
        case pages.Question():  # one that synthetic people do not know: the attentive choose the first answer
            return Sight("comprehension", choices=len(page.choices), right=page.choices[0].value)
    return Sight(page.kind)


def _better(served: Served, place: _Place) -> str:
    section = served.study.checks.quiz
    pairs = [pair for pair in section.pair if pair.topic in (None, place.topic)] if section else []
    return pairs[place.position - 1].better


def _document_or_pair(connection: sa.Connection, hall: _Hall, place: _Place, page: Judging) -> Sight:
    item = hall.served.items(connection, place.unit)[place.position - 1]
    numbers = [item.doc] if item.other is None else [item.doc, item.other]
    return Sight(
        page.kind,
        topic=place.topic,
        docs=tuple(hall.names[number] for number in numbers),
        position=place.position,
        scale=None if place.scale is None else hall.served.scales[place.scale],
        questions=tuple(question.kind for question in hall.served.questions),
        comment=page.comment.least if page.comment else 0,
        revising=page.revising,
    )


def _needed(connection: sa.Connection) -> int:
    return int(connection.execute(sa.select(sa.func.sum(units.c.need))).scalar() or 0)


def _done(connection: sa.Connection) -> int:
    query = sa.select(sa.func.count()).select_from(reservations).where(reservations.c.state == "done")
    return int(connection.execute(query).scalar() or 0)
