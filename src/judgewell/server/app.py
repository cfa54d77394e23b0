"""The whole server: the assessors' pages, and the owner's, which are loaded once the server has started."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from importlib import import_module

from starlette.applications import Starlette
from starlette.types import ASGIApp, Receive, Scope, Send

from judgewell.server.judging import app as assessors
from judgewell.server.judging.app import REQUESTS_PER_SECOND, make_server, settle
from judgewell.server.process import Server
from judgewell.server.store.transactions import Clock, Store, open_store


class Later:
    """An app that is made when it is first asked for."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make, self._made, self._lock = make, list[ASGIApp](), threading.Lock()

    @property
    def app(self) -> ASGIApp:
        with self._lock:
            if not self._made:
                self._made.append(self._make())
            return self._made[0]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._made[0] if self._made else await asyncio.to_thread(lambda: self.app)
        await app(scope, receive, send)


def make_app(
    store: Store,
    clock: Clock = time.time,
    requests_per_second: float = REQUESTS_PER_SECOND,
    study: str | None = None,
) -> Starlette:
    """The server of the study in a database; its file, where it is known, names the runs that a report scores."""
    server = make_server(store, clock, requests_per_second)

    def make_owners() -> ASGIApp:
        from judgewell.server.owner.app import make_app as owners_app

        return owners_app(server, study)

    owners = Later(make_owners)

    async def load(_: Server) -> None:
        """Load the owner's side before it is requested, without delaying assessors."""
        await asyncio.to_thread(lambda: owners.app)
        settle()

    app = assessors.make_app(server, owners, load, *_watches(server))
    token = os.environ.get("JUDGEWELL_METRICS_TOKEN")
    if token:
        from judgewell.server.metrics import add_metrics

        add_metrics(app, server, token)
    return app


def _watches(server: Server) -> list[assessors.Task]:
    """What runs beside the requests of this study; the others are not loaded."""
    study = server.served.study
    wanted = {
        "owner.privacy": study.privacy.retention_days is not None,
        "owner.webhook": bool(study.owner.webhook),
        "session.goal": study.goal is not None,
    }
    return [import_module(f"judgewell.server.{name}").watch for name, asked in wanted.items() if asked]


def from_environment() -> Starlette:
    """The server of a worker process."""
    url = os.environ["JUDGEWELL_DATABASE"]
    rate = float(os.environ.get("JUDGEWELL_REQUESTS_PER_SECOND", REQUESTS_PER_SECOND))
    app = make_app(open_store(url), requests_per_second=rate, study=os.environ.get("JUDGEWELL_STUDY"))
    settle()
    return app
