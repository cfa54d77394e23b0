"""What one connection may cost: bytes of a head, seconds for head and body, and connections from one address."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any, Literal

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LARGEST_HEAD = 64 * 1024  # bytes; a browser's is a few thousand
SECONDS = {"head": 10.0, "body": 30.0}  # in which each must be complete; the first head's from connecting
MOST_PER_ADDRESS = 1000  # connections; all that a reverse proxy passes on come from one address
TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"

Part = Literal["head", "body"]
_open: defaultdict[str, dict[BoundedConnection, None]] = defaultdict(dict)  # by address, the oldest first


class BoundedConnection(HttpToolsProtocol):
    """uvicorn's protocol, which by itself reads without end and waits without end.

    Where one address has too many connections, its oldest on which no request is being answered is closed.
    """

    _part: Part | None = None  # of a request that has begun and is not complete
    _head = 0  # bytes of it
    _timed: Part | None = None
    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        others = _open[self._address]
        others[self] = None
        if len(others) > MOST_PER_ADDRESS:
            oldest = next((other for other in others if not other.is_answering), self)
            del others[oldest]
            oldest.transport.close()
        self._time("head")

    def connection_lost(self, exc: Exception | None) -> None:
        others = _open[self._address]
        others.pop(self, None)
        if not others:
            del _open[self._address]
        self._time(None)
        super().connection_lost(exc)

    @property
    def is_answering(self) -> bool:
        """Whether a request was received and its answer is not complete."""
        return self._part is None and self.cycle is not None and not self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._part != self._timed:
            self._time(self._part)
        if self._part == "head":
            self._head += len(data)
            if self._head > LARGEST_HEAD:
                self._refuse(TOO_LARGE)

    def on_message_begin(self) -> None:
        self._part, self._head = "head", 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._part = "body"
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._part = None
        super().on_message_complete()

    def _time(self, part: Part | None) -> None:
        """Refuse the request unless this part of it is complete in time."""
        if self._limit is not None:
            self._limit.cancel()
        self._timed = part
        self._limit = self.loop.call_later(SECONDS[part], self._refuse, TOO_SLOW) if part else None

    def _refuse(self, answer: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._part != "body" or not self.cycle.response_started:
            self.transport.write(answer)
        self.transport.close()
