"""How much one visitor may ask: the size of a request, and the number of them."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from judgewell.collect.answers import Form

LARGEST = 64 * 1024  # bytes of a form
MOST_FIELDS = 100
REMEMBERED = 20_000  # visitors


class TooLarge(Exception):
    """The request is larger than any answer can be."""


class Rate:
    """A bucket for each visitor: `burst` requests at once, `rate` a second in the long run."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.burst, self._clock = rate, burst, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, visitor: str) -> bool:
        """Count one request of the visitor; false where it is one too many."""
        now = self._clock()
        left, then = self._buckets.pop(visitor, (self.burst, now))
        left = min(self.burst, left + (now - then) * self.rate)
        allowed = left >= 1
        self._buckets[visitor] = (left - 1 if allowed else left, now)
        if len(self._buckets) > REMEMBERED:
            self._buckets.popitem(last=False)
        return allowed


async def read_form(request: Request) -> Form:
    """The form of a request, read no further than the largest that is taken."""
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > LARGEST:
        raise TooLarge
    body = b""
    try:
        async for part in request.stream():
            body += part
            if len(body) > LARGEST:
                raise TooLarge
    except ClientDisconnect:
        return {}
    try:
        pairs = parse_qsl(
            body.decode("utf-8", "replace"), keep_blank_values=True, errors="replace", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        raise TooLarge from None
    form: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:  # no database text can hold a NUL
        form[name] = (*form.get(name, ()), value.replace("\0", "\N{REPLACEMENT CHARACTER}"))
    return form
