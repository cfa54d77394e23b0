"""Deleting an assessor's personal data from the tables, and what a restored backup must not revive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

from judgewell.server.store.schema import (
    accounts,
    answers,
    arrivals,
    assessors,
    audit,
    closing,
    events,
    identities,
    keys,
    notices,
)


def erase(connection: sa.Connection, now: float, assessor: int, pseudonym: str, *, comments: bool) -> None:
    """Delete who an assessor was; their judgments stay under the new pseudonym."""
    mine = assessors.c.number == assessor
    old = connection.execute(sa.select(assessors.c.pseudonym).where(mine)).scalar_one()
    connection.execute(sa.delete(identities).where(identities.c.assessor == assessor))
    connection.execute(sa.update(notices).where(notices.c.assessor == assessor).values(data={}, assessor=None))
    connection.execute(sa.delete(closing).where(closing.c.assessor == assessor))
    if comments:
        connection.execute(sa.update(answers).where(answers.c.assessor == assessor).values(comment=None))
        _without_typed_comments(connection, assessor)
    named = events.c.kind.in_(("created", "arrived"))
    connection.execute(sa.update(events).where(events.c.assessor == assessor, named).values(data={}))
    connection.execute(sa.update(audit).where(audit.c.target == old).values(target=pseudonym))
    connection.execute(sa.update(assessors).where(mine).values(pseudonym=pseudonym, label=None, forgotten=now))


def _without_typed_comments(connection: sa.Connection, assessor: int) -> None:
    """The form as it was typed holds the comment too."""
    query = sa.select(answers.c.number, answers.c.typed).where(answers.c.assessor == assessor)
    for number, typed in connection.execute(query).all():
        kept = {name: value for name, value in typed.items() if name != "comment"}
        if kept != typed:
            connection.execute(sa.update(answers).where(answers.c.number == number).values(typed=kept))


def not_to_be_revived(connection: sa.Connection) -> Callable[[sa.Connection], None]:
    """What stays deleted, revoked or used when an older state of this study is put in place: a job that sees to it.

    Forgotten assessors stay forgotten, and so do their comments if those were deleted. Keys that open nothing now open
    nothing later, passwords and disabled accounts stay as they are, and used arrival tokens stay used.
    """
    forgotten = connection.execute(sa.select(assessors).where(assessors.c.forgotten.is_not(None))).all()
    with_comments = set(
        connection.execute(sa.select(answers.c.assessor).where(answers.c.comment.is_not(None)).distinct()).scalars()
    )
    valid = set(connection.execute(sa.select(keys.c.hash).where(keys.c.revoked.is_(None))).scalars())
    people = connection.execute(sa.select(accounts)).all()
    used = [dict(row._mapping) for row in connection.execute(sa.select(arrivals))]

    def carry_over(restored: sa.Connection) -> None:
        for row in forgotten:
            _erase_again(restored, row, comments=row.number not in with_comments)
        for number, secret, created in restored.execute(
            sa.select(keys.c.number, keys.c.hash, keys.c.created).where(keys.c.revoked.is_(None))
        ).all():
            if secret not in valid:
                restored.execute(sa.update(keys).where(keys.c.number == number).values(revoked=created))
        for row in people:
            same = sa.and_(accounts.c.number == row.number, accounts.c.created == row.created)
            values = {"password": row.password, "disabled": row.disabled}
            restored.execute(sa.update(accounts).where(same).values(values))
        known = set(restored.execute(sa.select(arrivals.c.token)).scalars())
        missing = [row for row in used if row["token"] not in known]
        if missing:
            restored.execute(sa.insert(arrivals), missing)

    return carry_over


def _erase_again(restored: sa.Connection, row: Any, *, comments: bool) -> None:
    """The same person, as an older state knows them; nobody where they came later."""
    mine = sa.and_(assessors.c.number == row.number, assessors.c.created == row.created)
    if restored.execute(sa.select(assessors.c.number).where(mine)).scalar() is not None:
        erase(restored, row.forgotten, row.number, row.pseudonym, comments=comments)
