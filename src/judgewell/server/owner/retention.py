"""The server carries the study's retention setting out: personal data goes when its time has come."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import sqlalchemy as sa
from fastapi import APIRouter, FastAPI

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


def router(server: Server) -> APIRouter:
    """No address: a task that runs beside the server."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        days = server.served.study.privacy.retention_days
        task = asyncio.create_task(_look(server, days)) if days is not None else None
        yield
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    return APIRouter(lifespan=lifespan, include_in_schema=False)


async def _look(server: Server, days: float) -> None:
    while True:
        with contextlib.suppress(Unavailable):  # the database is away; the next look finds the same
            erased = False
            while await done(server.store.write(lambda connection: retain(connection, server.served.clock(), days))):
                erased = True
                await asyncio.sleep(1)
            if erased:
                await asyncio.to_thread(server.store.empty_log)
        await asyncio.sleep(EVERY)
