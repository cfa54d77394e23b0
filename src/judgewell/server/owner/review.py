"""Blind review of comments: k people read the comments of a finished unit, and m objections leave it out.

A reviewer sees the topic, the documents and the comments: neither who wrote them nor how they judged, nor what other
reviewers found, nor which documents are known. Every unit goes to k different reviewers, also once it is decided, so
that their agreement can be measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
import sqlalchemy as sa

from judgewell.errors import DataError, InputError, collect_notes
from judgewell.server.owner.access import Account
from judgewell.server.owner.exclusions import exclude
from judgewell.server.queries.endings import EXCLUDING
from judgewell.server.session import pages
from judgewell.server.session.served import Served
from judgewell.server.store.schema import (
    ANSWERED,
    answers,
    exclusions,
    items,
    reservations,
    reviews,
    units,
    verdicts,
)
from judgewell.study.checks import CommentReview
from judgewell.text import counted

READING = 3600.0  # seconds that a unit is kept for the reviewer who opened it
LONGEST_REASON = 1000


@dataclass(frozen=True)
class Comment:
    """One comment and the document, or pair of documents, it is about."""

    position: int
    text: str
    left: pages.Document
    right: pages.Document | None


@dataclass(frozen=True)
class Reading:
    """A unit as a reviewer reads it."""

    review: int
    topic: pages.Topic
    comments: tuple[Comment, ...]


@dataclass(frozen=True)
class ReviewProgress:
    """How far the review is: units, reviews given and wanted, how many fell, and how far reviewers agree."""

    units: int
    given: int
    wanted: int
    mine: int
    fallen: int
    passed: int
    kappa: float | None
    note: str


def next_reading(connection: sa.Connection, served: Served, account: Account, now: float) -> Reading | None:
    """The unit that a reviewer reads now: the one they opened, or the next that still needs them; None where none does.

    A job that writes: the unit is kept for them for an hour.
    """
    check = served.study.checks.review
    if check is None:
        return None
    open_one = sa.select(reviews.c.number, reviews.c.reservation).where(
        reviews.c.account == account.number, reviews.c.objects.is_(None)
    )
    mine = connection.execute(open_one.order_by(reviews.c.number)).first()
    if mine is not None:
        return _reading(connection, served, mine.number, mine.reservation)
    connection.execute(sa.delete(reviews).where(reviews.c.objects.is_(None), reviews.c.created <= now - READING))
    reservation = _next_unit(connection, account, check.reviewers)
    if reservation is None:
        return None
    row = {"reservation": reservation, "account": account.number, "created": now}
    made = connection.execute(sa.insert(reviews).values(row).returning(reviews.c.number)).scalar_one()
    return _reading(connection, served, made, reservation)


def _next_unit(connection: sa.Connection, account: Account, wanted: int) -> int | None:
    """A finished unit with comments that too few have opened and this reviewer has not; those begun go first."""
    taken = sa.select(reviews.c.reservation, sa.func.count().label("count")).group_by(reviews.c.reservation).subquery()
    query = (
        sa.select(reservations.c.number)
        .outerjoin(taken, taken.c.reservation == reservations.c.number)
        .where(
            _reviewable(),
            sa.func.coalesce(taken.c.count, 0) < wanted,
            ~sa.exists().where(reviews.c.reservation == reservations.c.number, reviews.c.account == account.number),
        )
        .order_by(sa.func.coalesce(taken.c.count, 0).desc(), reservations.c.number)
    )
    number = connection.execute(query.limit(1)).scalar()
    return None if number is None else int(number)


def _reviewable() -> sa.ColumnElement[bool]:
    """Finished, with a comment, and not excluded for another reason than a review."""
    commented = sa.exists().where(
        answers.c.reservation == reservations.c.number, answers.c.current, sa.func.length(answers.c.comment) > 0
    )
    other = sa.exists().where(EXCLUDING, exclusions.c.source != "review")
    return sa.and_(reservations.c.state == "done", commented, ~other)


def _reading(connection: sa.Connection, served: Served, review: int, reservation: int) -> Reading:
    query = (
        sa.select(items.c.unit, items.c.position, items.c.doc, items.c.other, answers.c.comment, units.c.topic)
        .join_from(answers, units, units.c.number == answers.c.unit)
        .join(items, ANSWERED)
        .where(answers.c.reservation == reservation, answers.c.current)
        .order_by(items.c.position)
    )
    rows = connection.execute(query).all()
    documents = served.documents(connection, rows[0].unit)
    comments = tuple(
        Comment(row.position, row.comment or "", documents[row.doc], documents.get(row.other)) for row in rows
    )
    return Reading(review, served.topic(connection, rows[0].topic), comments)


def give_review(
    connection: sa.Connection, served: Served, account: Account, now: float, review: int, objects: bool, reason: str
) -> int | None:
    """Keep a reviewer's verdict, and leave the unit out where the rule says so; the reservation's number.

    None where the review is not this account's, was given before, or went to somebody else meanwhile.
    """
    check = served.study.checks.review
    reason = reason.strip()[:LONGEST_REASON]
    if objects and not reason:
        raise InputError("an objection needs a reason", cure="say in a few words what is wrong")
    mine = (reviews.c.number == review, reviews.c.account == account.number, reviews.c.objects.is_(None))
    whose = sa.select(reservations.c.number, reservations.c.assessor).join_from(reviews, reservations)
    row = connection.execute(whose.where(*mine)).one_or_none()
    if check is None or row is None:
        return None
    reservation, assessor = row
    kept = sa.update(reviews).where(*mine).values(objects=objects, reason=reason or None, at=now)
    if connection.execute(kept).rowcount != 1:
        return None
    _decide(connection, check, now, int(assessor), int(reservation))
    return int(reservation)


def _decide(connection: sa.Connection, check: CommentReview, now: float, assessor: int, reservation: int) -> None:
    """Decide once, as soon as the votes that are missing cannot change it."""
    decided = sa.select(verdicts.c.number).where(verdicts.c.reservation == reservation, verdicts.c.name == check.name)
    if connection.execute(decided).first() is not None:
        return
    given = sa.select(reviews.c.objects).where(reviews.c.reservation == reservation, reviews.c.objects.is_not(None))
    votes = [not objects for objects in connection.execute(given).scalars()]
    verdict = check(votes)
    if verdict.again:
        return
    verdict_row = {"assessor": assessor, "reservation": reservation, "name": check.name, "attempt": 1, "at": now}
    connection.execute(sa.insert(verdicts), {**verdict_row, "passed": verdict.passed, "reason": verdict.reason or None})
    if not verdict.passed:
        exclude(connection, now, assessor, reservation, verdict.reason, "review")


def review_progress(connection: sa.Connection, served: Served, account: Account | None = None) -> ReviewProgress | None:
    """How far the review is; None where the study asks for none."""
    check = served.study.checks.review
    if check is None:
        return None
    count = connection.execute(sa.select(sa.func.count()).select_from(reservations).where(_reviewable())).scalar_one()
    query = sa.select(reviews.c.reservation, reviews.c.account, reviews.c.objects).where(reviews.c.objects.is_not(None))
    votes = connection.execute(query.order_by(reviews.c.number)).all()
    ended = (
        sa.select(verdicts.c.passed, sa.func.count().label("units"))
        .where(verdicts.c.name == check.name)
        .group_by("passed")
    )
    decided: dict[bool, int] = {row.passed: row.units for row in connection.execute(ended)}
    kappa, note = reviewer_agreement([(row.reservation, row.account, row.objects) for row in votes])
    return ReviewProgress(
        units=count,
        given=len(votes),
        wanted=count * check.reviewers,
        mine=sum(row.account == account.number for row in votes) if account else 0,
        fallen=decided.get(False, 0),
        passed=decided.get(True, 0),
        kappa=kappa,
        note=note,
    )


def reviewer_agreement(votes: list[tuple[int, int, bool]]) -> tuple[float | None, str]:
    """Fleiss' kappa of the reviewers' verdicts over the units that two or more have read, or why there is none."""
    from judgewell.agreement.kappa import fleiss_kappa

    frame = pl.DataFrame(
        [("review", f"unit {unit}", f"reviewer {who}", "binary", float(not objects)) for unit, who, objects in votes],
        schema=["topic", "doc", "assessor", "scale", "value"],
        orient="row",
    )
    if len(votes) < 2:
        return None, "needs units that two reviewers have read"
    try:
        with collect_notes():  # the page says that units with one review are excluded
            row = fleiss_kappa(frame, interval=False).row(0, named=True)
    except DataError as error:
        return None, str(error)
    return row["kappa"], f"over {counted(row['documents'], 'unit')}"
