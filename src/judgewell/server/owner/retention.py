"""The server carries the study's retention setting out: personal data goes when its time has come."""

from __future__ import annotations

import asyncio
import contextlib

import sqlalchemy as sa

from judgewell.server.owner.access import record
from judgewell.server.owner.privacy import forget_old
from judgewell.server.process import Server, done
from judgewell.server.store.transactions import Unavailable

EVERY = 3600.0  # seconds between two looks


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
