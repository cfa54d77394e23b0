"""Deleting personal data: what an assessor did stays under a new pseudonym, who they were goes.

Deleted are the platform's ids and what the platform reported about them, the invite's label, the answers to the closing
questionnaire, and the old pseudonym wherever it occurs. Link and session open nothing any more. Comments on documents
are part of the judgments and stay unless they are to go as well.
"""

from __future__ import annotations

import sqlalchemy as sa

from judgewell.server.judging.invitations import new_pseudonym
from judgewell.server.owner.exclusions import assessor_called
from judgewell.server.session.assignment import release_all
from judgewell.server.store.erasure import erase
from judgewell.server.store.schema import arrivals, assessors, audit, keys

DAY = 86400.0
AT_ONCE = 200


def forget(connection: sa.Connection, now: float, pseudonym: str, *, comments: bool = False) -> str:
    """Delete an assessor's personal data; the new pseudonym of their judgments."""
    return _forget(connection, now, assessor_called(connection, pseudonym), comments)


def forget_old(connection: sa.Connection, now: float, days: float) -> int:
    """Delete the personal data of all who took their last step so many days ago; how many assessors.

    Addresses in the audit log and keys that ended go after the same time.
    """
    before = now - days * DAY
    query = (
        sa.select(assessors.c.number)
        .where(assessors.c.forgotten.is_(None), assessors.c.moved <= before)
        .order_by(assessors.c.number)
        .limit(AT_ONCE)
    )
    numbers = list(connection.execute(query).scalars())
    for number in numbers:
        _forget(connection, now, number, comments=False)
    connection.execute(sa.update(audit).where(audit.c.at <= before, audit.c.address.is_not(None)).values(address=None))
    connection.execute(sa.delete(keys).where(sa.or_(keys.c.expires <= before, keys.c.revoked <= before)))
    connection.execute(sa.delete(arrivals).where(arrivals.c.expires <= now))
    return len(numbers)


def _forget(connection: sa.Connection, now: float, assessor: int, comments: bool) -> str:
    release_all(connection, assessor, now, "personal data deleted")
    pseudonym = new_pseudonym()
    erase(connection, now, assessor, pseudonym, comments=comments)
    return pseudonym
