"""The server put together: the assessors' routes, refusals and headers; all else is passed on to the owner's side.

Assessors' routes are in `routes` and `arriving`.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import Any

import sqlalchemy as sa
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from judgewell.server import bundles
from judgewell.server.judging import arriving
from judgewell.server.judging import routes as judging
from judgewell.server.limits import Crowded, Limited, Rate
from judgewell.server.process import Server, done
from judgewell.server.session.served import load_served
from judgewell.server.session.stage import stages
from judgewell.server.session.steps import trouble
from judgewell.server.store.transactions import Clock, Store, Unavailable, probe_disk
from judgewell.server.web import Headers, Pages, Refusal, Versioned

Task = Callable[[Server], Coroutine[Any, Any, None]]
Handlers = dict[Any, Callable[[Request, Any], Response]]

REQUESTS_PER_SECOND = 20.0  # of one assessor, or of one address without a session
BURST = 5  # so many seconds' worth at once
MANY = 25  # people who may share one address, as in a school or an office
RETRY_AFTER = 2
PROBE_EVERY = 1.0


def make_server(store: Store, clock: Clock = time.time, requests_per_second: float = REQUESTS_PER_SECOND) -> Server:
    """What the routes of this process share, for the study in a database."""
    stages()  # loaded now, so that the first visitor does not wait for them
    served = store.read(lambda connection: load_served(connection, clock)).result()
    return Server(store, served, Rate(requests_per_second, requests_per_second * BURST), Pages())


def make_app(server: Server, others: ASGIApp | None = None, *tasks: Task) -> Starlette:
    """The assessors' side; `others` answers what it does not know, and the tasks run beside it."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        running = [asyncio.create_task(task(server)) for task in tasks]
        yield
        for task in running:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        server.store.close()

    many = server.rate.rate * MANY
    app = Starlette(
        routes=[
            *judging.routes(server),
            *arriving.routes(server),
            *_health(server),
            *bundles.routes(),
            Mount("/static", Versioned(packages=[("judgewell.server.judging", "static")])),
        ],
        middleware=[
            Middleware(Headers),
            Middleware(Crowded, rate=Rate(many, many * BURST)),
            Middleware(Limited),
        ],
        exception_handlers=refusals(server),
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # it would lead to whatever host a request names
    if others is not None:
        app.router.default = others
    return app


def _health(server: Server) -> list[Route]:
    # Asking again and again costs one write a second at most: those who ask meanwhile share it.
    probe: list[tuple[float, Future[Any]]] = []

    async def healthy(_: Request) -> Response:
        """For monitoring: 200 if the database accepts writes, else 503."""
        now = time.monotonic()
        if not probe or now - probe[0][0] >= PROBE_EVERY:
            probe[:] = [(now, server.store.write(probe_disk))]
        await done(probe[0][1])
        return JSONResponse({"ok": True})

    async def ready(_: Request) -> Response:
        """For a reverse proxy: this process has started and the database can be read."""
        await done(server.store.read(lambda connection: connection.execute(sa.text("SELECT 1")).scalar()))
        return JSONResponse({"ok": True})

    return [Route("/healthz", healthy, methods=["GET"]), Route("/readyz", ready, methods=["GET"])]


def refusals(server: Server) -> Handlers:
    """Every refusal and failure is a page in the study's own words."""

    def refused(request: Request, refusal: Refusal) -> Response:
        response = server.html.response(trouble(server.served, refusal.key), request, refusal.status)
        response.headers.update(refusal.headers)
        return response

    def always(refusal: Refusal) -> Callable[[Request, Exception], Response]:
        return lambda request, _: refused(request, refusal)

    away = Refusal(503, "server", {"retry-after": str(RETRY_AFTER)})
    failed = {413: "server", 404: "link", 405: "link", 500: "server"}
    pages = {status: always(Refusal(status, key)) for status, key in failed.items()}
    return {Refusal: refused, Unavailable: always(away), **pages}


def settle() -> None:
    """What is in memory when a server starts stays for good: the collector need not look at it with every request."""
    gc.collect()
    gc.freeze()
