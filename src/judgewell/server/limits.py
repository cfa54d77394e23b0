"""How much one visitor may ask: the size of a request, and the number of them."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from math import ceil
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judgewell.server.session.answers import Form

LARGEST = 64 * 1024  # bytes of a form
LARGEST_BODY = 1024 * 1024  # bytes of anything else: the API's JSON, a list of documents, a list of names
MOST_FIELDS = 100
REMEMBERED = 20_000  # visitors


class TooLarge(HTTPException):
    """The request is larger than any answer can be."""

    def __init__(self) -> None:
        super().__init__(413)


class Limited:
    """No request is read beyond the largest size accepted, whatever its kind.

    A large request that is answered before it was read closes its connection, because the rest is not read.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            refusal = PlainTextResponse("The request is too large.\n", 413, {"connection": "close"})
            return await refusal(scope, receive, send)
        read, whole, begun = 0, b"transfer-encoding" not in headers and int(length) <= LARGEST, False

        async def counted() -> Message:
            nonlocal read, whole
            message = await receive()
            read += len(message.get("body", b""))
            if read > LARGEST_BODY:
                if begun:  # the response has started, so it can only be ended
                    return {"type": "http.disconnect"}
                raise TooLarge
            whole = whole or not message.get("more_body", False)
            return message

        async def closing(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                if not whole:
                    message["headers"] = [*message["headers"], (b"connection", b"close")]
            await send(message)

        await self.app(scope, counted, closing)


class Crowded:
    """No address sends more than so many requests a second, of any kind: files, wrong addresses and all.

    Far above what people behind one address need, and answered at little cost.
    """

    def __init__(self, app: ASGIApp, rate: Rate) -> None:
        self.app, self.rate = app, rate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            wait = self.rate.wait((scope.get("client") or ("",))[0])
            if wait:
                headers = {"retry-after": str(wait), "connection": "close"}
                return await PlainTextResponse("Too many requests.\n", 429, headers)(scope, receive, send)
        await self.app(scope, receive, send)


class Rate:
    """A bucket for each visitor: `burst` requests at once, `rate` a second in the long run."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.burst, self._clock = rate, burst, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, visitor: str) -> int:
        """Count one request of the visitor: 0, or where it is one too many the seconds after which to ask again."""
        now = self._clock()
        left, then = self._buckets.pop(visitor, (self.burst, now))
        left = min(self.burst, left + (now - then) * self.rate)
        allowed = left >= 1
        self._buckets[visitor] = (left - 1 if allowed else left, now)
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        return 0 if allowed else ceil((1 - left) / self.rate)


async def read_body(request: Request, largest: int) -> bytes:
    """The body of a request, read no further than the largest that is taken."""
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > largest:
        raise TooLarge
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > largest:
            raise TooLarge
    return body


async def read_form(request: Request, largest: int = LARGEST, most_fields: int = MOST_FIELDS) -> Form:
    """The form of a request; empty where it broke off."""
    try:
        body = await read_body(request, largest)
    except ClientDisconnect:
        return {}
    try:
        pairs = parse_qsl(
            body.decode("utf-8", "replace"), keep_blank_values=True, errors="replace", max_num_fields=most_fields
        )
    except ValueError:
        raise TooLarge from None
    form: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:  # no database text can hold a NUL
        form[name] = (*form.get(name, ()), value.replace("\0", "\N{REPLACEMENT CHARACTER}"))
    return form
