"""What the routes of one server process share: the store, the study, who asks, and how often they may."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from judgewell.server.limits import Rate
from judgewell.server.session.served import Served
from judgewell.server.store.transactions import Store
from judgewell.server.tokens import numbered, signed
from judgewell.server.web import Pages, Refusal

T = TypeVar("T")

COOKIE_DAYS = 90


@dataclass(frozen=True)
class Server:
    """One server process; routes are made for it."""

    store: Store
    served: Served
    rate: Rate
    html: Pages

    @cached_property
    def cookie(self) -> str:
        """The name of the assessor's cookie: studies on one host do not disturb each other."""
        return f"judgewell-{hashlib.sha256(self.served.secret.encode()).hexdigest()[:8]}"

    def assessor(self, request: Request) -> int:
        """The assessor whose cookie this is."""
        assessor = numbered(self.served.secret, "session", request.cookies.get(self.cookie, ""))
        if assessor is None:
            self.slow_down(request)
            raise Refusal(403, "link")
        self.limit(str(assessor))
        return assessor

    def limit(self, visitor: str) -> None:
        """Count a request of a visitor; one too many is refused, with when to ask again."""
        wait = self.rate.wait(visitor)
        if wait:
            raise Refusal(429, "server", {"retry-after": str(wait)})

    def enter(self, request: Request, assessor: int) -> Response:
        """Give the assessor's cookie and go to work."""
        response = RedirectResponse("/work", 303)
        response.set_cookie(
            self.cookie,
            signed(self.served.secret, "session", str(assessor)),
            max_age=COOKIE_DAYS * 86400,
            **cookie_rules(request),
        )
        return response

    def slow_down(self, request: Request) -> None:
        """Count a request without a session against its address, so that links cannot be guessed at speed."""
        self.limit(f"address {address_of(request)}")


def address_of(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client else ""


def cookie_rules(request: Request, path: str = "/") -> dict[str, Any]:
    """What holds for all cookies here: no script reads them, no other site's form sends them, HTTPS keeps to HTTPS."""
    return {"path": path, "httponly": True, "samesite": "lax", "secure": request.url.scheme == "https"}


def done(future: Future[T]) -> Awaitable[T]:
    """A job's result, awaited."""
    return asyncio.wrap_future(future)
