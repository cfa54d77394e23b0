"""The server put together: routes, refusals and headers.

Assessors' routes are in `arriving` and `judging`; whoever puts a larger server together brings more.
"""

from __future__ import annotations

import gc
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import Any

import sqlalchemy as sa
from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from judgewell._version import __version__
from judgewell.server.judging import arriving
from judgewell.server.judging import routes as judging
from judgewell.server.limits import Crowded, Limited, Rate
from judgewell.server.process import Server, done
from judgewell.server.session.served import load_served
from judgewell.server.session.steps import trouble
from judgewell.server.store.schema import study
from judgewell.server.store.transactions import Clock, Store, Unavailable
from judgewell.server.web import Headers, Pages, Refusal, Versioned

Router = Callable[[Server], APIRouter]

ASSESSORS: tuple[Router, ...] = (judging.router, arriving.router)  # steps are asked for most: they are looked for first
REQUESTS_PER_SECOND = 20.0  # of one assessor, or of one address without a session
BURST = 5  # so many seconds' worth at once
MANY = 25  # people of whom one address may have the requests: a school, an office
RETRY_AFTER = 2
PROBE_EVERY = 1.0


def make_app(
    store: Store,
    clock: Clock = time.time,
    requests_per_second: float = REQUESTS_PER_SECOND,
    routers: Sequence[Router] = ASSESSORS,
) -> FastAPI:
    """The server of the study in a database, with these routes."""
    served = store.read(lambda connection: load_served(connection, clock)).result()
    server = Server(store, served, Rate(requests_per_second, requests_per_second * BURST), Pages())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        store.close()

    app = FastAPI(
        title=served.title, version=__version__, docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan
    )
    app.state.server = server
    app.router.redirect_slashes = False  # it would lead to whatever host a request names
    app.add_middleware(Limited)
    app.add_middleware(Crowded, rate=Rate(requests_per_second * MANY, requests_per_second * MANY * BURST))
    app.add_middleware(Headers)
    app.mount("/static", Versioned(packages=[("judgewell.server.judging", "static")]), "static")
    _refuse(app, server)
    for router in (*routers, _health):
        app.include_router(router(server))
    return app


def _health(server: Server) -> APIRouter:
    routes = APIRouter(include_in_schema=False)

    # Asking again and again costs one write a second at most: those who ask meanwhile share it.
    probe: list[tuple[float, Future[Any]]] = []

    @routes.get("/healthz")
    async def healthy() -> dict[str, bool]:
        """For whoever watches: the database takes answers; 503 where it does not."""
        now = time.monotonic()
        if not probe or now - probe[0][0] >= PROBE_EVERY:
            probe[:] = [(now, server.store.write(lambda connection: connection.execute(_PROBE)))]
        await done(probe[0][1])
        return {"ok": True}

    @routes.get("/readyz")
    async def ready() -> dict[str, bool]:
        """For a reverse proxy: this process has started and the database can be read."""
        await done(server.store.read(lambda connection: connection.execute(sa.text("SELECT 1")).scalar()))
        return {"ok": True}

    return routes


_PROBE = sa.update(study).values(name=study.c.name)  # changes nothing, and is written to disk all the same


def _refuse(app: FastAPI, server: Server) -> None:
    """Every refusal and failure is a page in the study's own words."""
    pages_for: dict[type[Exception] | int, tuple[str, int]] = {
        413: ("server", 413),
        404: ("link", 404),
        405: ("link", 405),
        Unavailable: ("server", 503),
        500: ("server", 500),
    }

    def page(key: str, status: int) -> Callable[[Request, Exception], Response]:
        headers = {"retry-after": str(RETRY_AFTER)} if status == 503 else {}
        return lambda request, _: refusal_page(server, request, key, status, headers)

    def refused(request: Request, refusal: Exception) -> Response:
        assert isinstance(refusal, Refusal)
        return refusal_page(server, request, refusal.key, refusal.status, refusal.headers)

    app.add_exception_handler(Refusal, refused)
    for kind, (key, status) in pages_for.items():
        app.add_exception_handler(kind, page(key, status))


def refusal_page(server: Server, request: Request, key: str, status: int, headers: Mapping[str, str]) -> Response:
    """A refusal in the study's own words."""
    response = server.html.response(trouble(server.served, key), request, status)
    response.headers.update(headers)
    return response


def settle() -> None:
    """What is in memory when a server starts stays for good: the collector need not look at it with every request."""
    gc.collect()
    gc.freeze()
