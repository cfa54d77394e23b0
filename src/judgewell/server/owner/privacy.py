"""Deleting personal data: what an assessor did stays under a new pseudonym, who they were goes.

Deleted are the platform's ids and what the platform reported about them, the invite's label, the answers to the closing
questionnaire, and the old pseudonym wherever it occurs. Link and session open nothing any more. Comments on documents
are part of the judgments and stay unless they are to go as well. The server deletes by itself what is older than the
study's retention setting.
"""

from __future__ import annotations

import asyncio
import contextlib

import sqlalchemy as sa

from judgewell.server.judging.invitations import new_pseudonym
from judgewell.server.owner.access import record
from judgewell.server.owner.exclusions import assessor_called
from judgewell.server.process import Server, done
from judgewell.server.session.assignment import release_all
from judgewell.server.store.erasure import erase
from judgewell.server.store.schema import arrivals, assessors, audit, keys
from judgewell.server.store.transactions import Unavailable

DAY = 86400.0
AT_ONCE = 200
EVERY = 3600.0  # seconds between two looks


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


def retain(connection: sa.Connection, now: float, days: float) -> int:
    """Delete what is older than the study keeps; how many assessors. Told in the audit log where there were any."""
    count = forget_old(connection, now, days)
    if count:
        record(connection, now, None, "retention", None, {"assessors": count, "days": days})
    return count


async def watch(server: Server) -> None:
    """Look again and again, where the study says how long personal data is kept."""
    days = server.served.study.privacy.retention_days
    while days is not None:
        with contextlib.suppress(Unavailable):  # the database is away; the next look finds the same
            erased = False
            while await done(server.store.write(lambda connection: retain(connection, server.served.clock(), days))):
                erased = True
                await asyncio.sleep(1)
            if erased:
                await asyncio.to_thread(server.store.empty_log)
        await asyncio.sleep(EVERY)


def _forget(connection: sa.Connection, now: float, assessor: int, comments: bool) -> str:
    release_all(connection, assessor, now, "personal data deleted")
    pseudonym = new_pseudonym()
    erase(connection, now, assessor, pseudonym, comments=comments)
    return pseudonym
