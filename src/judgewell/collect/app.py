"""The server's addresses; `pages` says what each takes and gives."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from importlib import resources
from typing import Any, TypeVar

import sqlalchemy as sa
from fastapi import FastAPI, Request
from jinja2 import Environment, PackageLoader
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judgewell.collect import pages, people
from judgewell.collect.answers import Form, first
from judgewell.collect.assign import come, expire
from judgewell.collect.limits import Rate, TooLarge, read_form
from judgewell.collect.served import Served, load_served
from judgewell.collect.show import page_of, trouble
from judgewell.collect.state import load
from judgewell.collect.status import status, status_text
from judgewell.collect.steps import Taken, take
from judgewell.collect.store import Clock, Store, Unavailable, open_store
from judgewell.collect.tokens import numbered, read_step, signed

T = TypeVar("T")

REQUESTS_PER_SECOND = 20.0  # of one assessor, or of one address without a session
BURST = 5  # so many seconds' worth at once
COOKIE_DAYS = 90
RETRY_AFTER = 2

# Nothing but our own files; nothing inline; nobody may frame us. Invite links are not told to other sites.
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; frame-src 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Refusal(Exception):
    """A request that ends in a page for somebody who is not where they should be."""

    def __init__(self, status: int, key: str) -> None:
        self.status, self.key = status, key


class Headers:
    """Every answer carries the security headers; pages are never kept by caches."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._always = [(name.encode(), value.encode()) for name, value in HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                held = {name for name, _ in message["headers"]}
                message["headers"] += [(name, value) for name, value in self._always if name not in held]
                if b"cache-control" not in held:
                    message["headers"].append((b"cache-control", b"no-store"))
            await send(message)

        await self.app(scope, receive, marked if scope["type"] == "http" else send)


class Versioned(StaticFiles):
    """Static files that are asked for by their version never change."""

    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        scope: Scope = options.get("scope") or arguments[2]
        known = b"v=" in scope.get("query_string", b"")
        response.headers["cache-control"] = "public, max-age=31536000, immutable" if known else "no-cache"
        # a document's sandboxed frame has no origin of its own, and takes its style from here
        response.headers["cross-origin-resource-policy"] = "cross-origin"
        return response


class Pages:
    """Pages as HTML."""

    def __init__(self) -> None:
        loader = PackageLoader("judgewell.collect", "templates")
        environment = Environment(loader=loader, autoescape=True, auto_reload=False, trim_blocks=True)
        self._whole = environment.get_template("page.html")
        self._inside = environment.get_template("body.html")
        self._version = static_version()

    def response(self, page: pages.Page, request: Request, status_code: int = 200) -> HTMLResponse:
        template = self._inside if "x-fragment" in request.headers else self._whole
        text = template.render(page=page, static_version=self._version)
        return HTMLResponse(text, status_code, {"x-page": page.kind})


def static_version() -> str:
    """A name for the state of all static files."""
    told = hashlib.sha256()
    for file in sorted(resources.files("judgewell.collect").joinpath("static").iterdir(), key=lambda file: file.name):
        if file.is_file():
            told.update(file.name.encode() + file.read_bytes())
    return told.hexdigest()[:12]


def make_app(store: Store, clock: Clock = time.time, requests_per_second: float = REQUESTS_PER_SECOND) -> FastAPI:
    """The server of the study in a database."""
    served = store.read(lambda connection: load_served(connection, clock)).result()
    rate = Rate(requests_per_second, requests_per_second * BURST)
    cookie = f"judgewell-{hashlib.sha256(served.secret.encode()).hexdigest()[:8]}"
    html = Pages()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        store.close()

    app = FastAPI(title=served.title, docs_url=None, redoc_url=None, lifespan=lifespan)
    app.add_middleware(Headers)
    app.mount("/static", Versioned(packages=[("judgewell.collect", "static")]), "static")

    def session(request: Request) -> int:
        """The assessor whose cookie this is."""
        assessor = numbered(served.secret, "session", request.cookies.get(cookie, ""))
        visitor = f"address {request.client.host if request.client else ''}" if assessor is None else str(assessor)
        if not rate.allows(visitor):
            raise Refusal(429, "server")
        if assessor is None:
            raise Refusal(403, "link")
        return assessor

    def enter(request: Request, assessor: int) -> Response:
        """Give the cookie and go to work."""
        response = RedirectResponse("/work", 303)
        response.set_cookie(
            cookie,
            signed(served.secret, "session", str(assessor)),
            max_age=COOKIE_DAYS * 86400,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return response

    @app.exception_handler(Refusal)
    async def refused(request: Request, refusal: Refusal) -> Response:
        return html.response(trouble(served, refusal.key), request, refusal.status)

    @app.exception_handler(TooLarge)
    async def too_large(request: Request, _: TooLarge) -> Response:
        return html.response(trouble(served, "server"), request, 413)

    @app.exception_handler(404)
    async def not_found(request: Request, _: Exception) -> Response:
        return html.response(trouble(served, "link"), request, 404)

    @app.exception_handler(Unavailable)
    async def unavailable(request: Request, _: Unavailable) -> Response:
        response = html.response(trouble(served, "server"), request, 503)
        response.headers["retry-after"] = str(RETRY_AFTER)
        return response

    @app.exception_handler(500)
    async def broken(request: Request, _: Exception) -> Response:
        return html.response(trouble(served, "server"), request, 500)

    @app.get("/healthz")
    async def healthy() -> dict[str, bool]:
        """For a reverse proxy: the database answers."""
        await _done(store.read(lambda connection: connection.execute(sa.text("SELECT 1")).scalar()))
        return {"ok": True}

    @app.get("/i/{token}")
    async def by_invite(request: Request, token: str) -> Response:
        assessor = people.by_invite(served, token)
        if assessor is None:
            _slow_down(rate, request)
            raise Refusal(404, "link")
        return enter(request, assessor)

    @app.get("/join")
    async def join(request: Request) -> Response:
        _slow_down(rate, request)
        ids = None if served.study.platform.kind == "invite" else people.platform_ids(served, request.query_params)
        if ids is None:
            raise Refusal(404, "link")
        return enter(request, await asyncio.to_thread(people.arrive, store, served, ids))

    @app.get("/")
    async def front(request: Request) -> Response:
        session(request)
        return RedirectResponse("/work", 303)

    @app.get("/work", response_class=HTMLResponse)
    async def work(request: Request) -> Response:
        """The page the assessor is on."""
        assessor = session(request)
        page = await _done(store.read(lambda connection: current_page(connection, served, assessor)))
        if page is None:
            raise Refusal(403, "link")
        return html.response(page, request)

    @app.post("/work", response_class=HTMLResponse)
    async def step(request: Request) -> Response:
        """One step."""
        assessor = session(request)
        form = await read_form(request)
        taken = await _take(store, served, assessor, _turn(served, assessor, form), form)
        if taken is None:
            raise Refusal(403, "link")
        if taken.outcome == "not taken":
            return html.response(taken.page, request, 422)
        return html.response(taken.page, request) if "x-fragment" in request.headers else RedirectResponse("/work", 303)

    @app.post("/work/alive")
    async def alive(request: Request) -> JSONResponse:
        """The open page reports itself."""
        assessor = session(request)
        turn = _turn(served, assessor, await read_form(request))
        told = await _done(store.write(lambda connection: sign_of_life(connection, served, assessor, turn)))
        return JSONResponse(told)

    @app.get("/owner/{token}")
    async def owner(request: Request, token: str) -> Response:
        """How far the study is."""
        if not people.is_owner(served, token):
            _slow_down(rate, request)
            raise Refusal(404, "link")
        return PlainTextResponse(status_text(await _done(store.read(lambda connection: status(connection, clock())))))

    return app


def from_environment() -> FastAPI:
    """The server of a worker process."""
    url = os.environ["JUDGEWELL_DATABASE"]
    rate = float(os.environ.get("JUDGEWELL_REQUESTS_PER_SECOND", REQUESTS_PER_SECOND))
    app = make_app(open_store(url), requests_per_second=rate)
    settle()
    return app


def settle() -> None:
    """What is in memory when a server starts stays for good: the collector need not look at it with every request."""
    gc.collect()
    gc.freeze()


def _done(future: Future[T]) -> Awaitable[T]:
    return asyncio.wrap_future(future)


def _slow_down(rate: Rate, request: Request) -> None:
    """Count a request without a session against its address, so that links cannot be guessed at speed."""
    if not rate.allows(f"address {request.client.host if request.client else ''}"):
        raise Refusal(429, "server")


def _turn(served: Served, assessor: int, form: Form) -> int:
    """The turn a request was made for; a forged one, or another assessor's, is refused."""
    turn = read_step(served.secret, assessor, first(form, "step"))
    if turn is None:
        raise Refusal(403, "link")
    return turn


async def _take(store: Store, served: Served, assessor: int, turn: int, form: Form) -> Taken | None:
    """Take a step. Where no unit is free the overdue ones are freed, and it is tried once more."""
    step: Callable[[sa.Connection], Taken | None] = lambda connection: take(connection, served, assessor, turn, form)  # noqa: E731
    taken = await _done(store.write(step))
    if taken is None or taken.outcome != "waiting":
        return taken
    if not await _done(store.write(lambda connection: expire(connection, served.clock(), served.silence))):
        return taken
    return await _done(store.write(lambda connection: take(connection, served, assessor, turn + 1, {})))


def current_page(connection: sa.Connection, served: Served, assessor: int) -> pages.Page | None:
    state = load(connection, served, assessor)
    return None if state is None else page_of(connection, served, state)


def sign_of_life(connection: sa.Connection, served: Served, assessor: int, turn: int) -> dict[str, Any]:
    state = come(connection, served, assessor, served.clock(), stepped=False)
    if state is None or state.holding is None:
        return {"alive": False, "current": state is not None and state.turn == turn, "seconds": 0}
    alive = state.held.state == "live"
    return {"alive": alive, "current": state.turn == turn, "seconds": served.silence if alive else 0}
