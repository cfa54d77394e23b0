"""Numbers for Prometheus at `/metrics`, for who holds the token: requests of this process, answers of the study.

Without a token nothing is counted and the address does not exist.
"""

from __future__ import annotations

import secrets
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judgewell._version import __version__
from judgewell.server.process import Server, done
from judgewell.server.queries.status import Status, status
from judgewell.server.web import Refusal

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
METHODS = ("GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS")  # visitors may make up others


class Requests:
    """How many requests this process answered, with which status, and how long they took."""

    def __init__(self) -> None:
        self.answered: Counter[tuple[str, int]] = Counter()
        self.buckets = [0] * (len(BUCKETS) + 1)
        self.seconds = 0.0

    def count(self, method: str, status: int, seconds: float) -> None:
        self.answered[method if method in METHODS else "other", status] += 1
        self.buckets[bisect_left(BUCKETS, seconds)] += 1
        self.seconds += seconds

    def lines(self) -> Iterator[str]:
        yield "# TYPE judgewell_requests_total counter"
        for (method, code), count in sorted(self.answered.items()):
            yield f'judgewell_requests_total{{method="{method}",status="{code}"}} {count}'
        yield "# TYPE judgewell_request_seconds histogram"
        total = 0
        for bound, count in zip((*map(str, BUCKETS), "+Inf"), self.buckets, strict=True):
            total += count
            yield f'judgewell_request_seconds_bucket{{le="{bound}"}} {total}'
        yield f"judgewell_request_seconds_sum {self.seconds:.6f}"
        yield f"judgewell_request_seconds_count {total}"
        yield "# TYPE judgewell_errors_total counter"
        yield f"judgewell_errors_total {sum(count for (_, code), count in self.answered.items() if code >= 500)}"


class Counted:
    """Counts every request; one that fails without an answer counts as 500."""

    def __init__(self, app: ASGIApp, requests: Requests) -> None:
        self.app, self.requests = app, requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        begun, code = time.perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal code
            if message["type"] == "http.response.start":
                code = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            self.requests.count(scope["method"], code, time.perf_counter() - begun)


def add_metrics(app: Starlette, server: Server, token: str) -> None:
    """Count the requests of an app and give the numbers to who holds the token; others get a 404."""
    requests = Requests()

    async def numbers(request: Request) -> Response:
        given = request.headers.get("authorization", "").encode()
        if not secrets.compare_digest(given, f"Bearer {token}".encode()):
            server.slow_down(request)
            raise Refusal(404, "link")
        now = server.served.clock()
        state = await done(server.store.read(lambda connection: status(connection, now)))
        lines = (*requests.lines(), *study_lines(state, server.store.waiting))
        return PlainTextResponse("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")

    app.router.routes.append(Route("/metrics", numbers, methods=["GET"]))
    app.add_middleware(Counted, requests=requests)


def study_lines(state: Status, waiting: int) -> Iterator[str]:
    """The numbers of the study, the same from every process, and the writes that wait in this one."""
    yield "# TYPE judgewell_answers_total counter"
    yield f"judgewell_answers_total {state.answers}"
    yield "# TYPE judgewell_units gauge"
    for one in state.endings:
        yield f'judgewell_units{{state="{one.ending}"}} {one.units}'
    yield "# TYPE judgewell_units_needed gauge"
    yield f"judgewell_units_needed {state.needed}"
    yield "# TYPE judgewell_assessors gauge"
    yield f"judgewell_assessors {state.assessors}"
    yield "# TYPE judgewell_writes_waiting gauge"
    yield f"judgewell_writes_waiting {waiting}"
    yield "# TYPE judgewell_version_info gauge"
    yield f'judgewell_version_info{{version="{__version__}"}} 1'
