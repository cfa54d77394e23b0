"""Simulated assessors without think time, for the benchmark of the judging server.

Each keeps one connection and goes from the invite link through as many units as it is given. Prints one line of JSON:
the seconds from sending each answer to having the next page, the same for all forms and for answers that ended a unit,
the statuses of all requests and the processor time that the assessors themselves took, which the server did not have.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import quote, urlsplit

import uvloop

PAGE, COOKIE, LENGTH = b"\r\nx-page: ", b"\r\nset-cookie: ", b"\r\ncontent-length: "
STEP = b'name="step" value="'
BACK_OFF = 0.5  # seconds before a request that could not be answered is sent again


@dataclass
class Tally:
    """What all assessors together have seen."""

    answered: list[float] = field(default_factory=list)
    sent: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    first: float = 0.0
    last: float = 0.0


def between(data: bytes, start: bytes, end: bytes) -> bytes:
    begin = data.find(start)
    return b"" if begin < 0 else data[begin + len(start) : data.index(end, begin + len(start))]


class Wire(asyncio.Protocol):
    """A connection with one request under way at a time; what comes back is head and body, once all of it is there."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is one in all but name
        self.answered: asyncio.Future[tuple[bytes, bytes]] | None = None
        self.data, self.begin, self.end = b"", 0, 0

    def ask(self, request: bytes) -> asyncio.Future[tuple[bytes, bytes]]:
        self.answered = asyncio.get_running_loop().create_future()
        self.data, self.begin, self.end = b"", 0, 0
        self.transport.write(request)
        return self.answered

    def data_received(self, data: bytes) -> None:
        self.data = self.data + data if self.data else data
        if not self.begin:
            self.begin = self.data.find(b"\r\n\r\n") + 4
            if self.begin < 4:
                self.begin = 0
                return
            self.end = self.begin + int(between(self.data[: self.begin], LENGTH, b"\r\n") or 0)
        if len(self.data) >= self.end and self.answered is not None:
            self.answered.set_result((self.data[: self.begin], self.data[self.begin : self.end]))
            self.answered = None

    def connection_lost(self, error: Exception | None) -> None:
        if self.answered is not None:
            self.answered.set_exception(error or ConnectionError("the server closed the connection"))


class Assessor:
    """One person's browser: a connection, a cookie and the page at hand."""

    def __init__(self, address: str, link: str, tally: Tally, patient: bool) -> None:
        parts = urlsplit(address)
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port or 80
        self.link, self.tally, self.patient = link, tally, patient
        self.cookie = b""
        self.kind, self.step = "", ""

    async def judge(self) -> None:
        """From the link to the moment there is no work."""
        _, self.wire = await asyncio.get_running_loop().create_connection(Wire, self.host, self.port)
        head, _ = await self.ask(f"GET {self.link}", b"")
        self.cookie = between(head, COOKIE, b";")
        await self.turn("GET /work", b"")
        while self.step and self.kind != "no_work":
            if self.kind == "come_back":
                if not self.patient:
                    break
                await asyncio.sleep(BACK_OFF)
                await self.turn("POST /work", self.form())
                continue
            judged = self.kind == "document"
            begun = time.perf_counter()
            await self.turn("POST /work", self.form())
            took = time.perf_counter() - begun
            self.tally.sent.append(took)
            if judged:
                self.tally.answered.append(took)
                self.tally.ends += [took] if self.kind != "document" else []
                self.tally.first = self.tally.first or begun
                self.tally.last = time.perf_counter()
        self.wire.transport.close()

    def form(self) -> bytes:
        values = {"consent": "action=agree", "document": "value=20&active=9&idle=1", "done": "action=more"}
        return f"step={quote(self.step)}&{values.get(self.kind, '')}".encode()

    async def turn(self, what: str, body: bytes) -> None:
        """Ask until there is an answer; the next page is at hand then."""
        while True:
            head, page = await self.ask(what, body)
            status = int(head[9:12])
            self.tally.statuses[status] += 1
            if status == 200:
                break
            if status not in (429, 503):
                sys.exit(f"{what} {body!r}: {head.decode()} {page[:2000].decode()}")
            await asyncio.sleep(BACK_OFF)
        self.kind = between(head, PAGE, b"\r\n").decode()
        self.step = between(page, STEP, b'"').decode()

    async def ask(self, what: str, body: bytes) -> tuple[bytes, bytes]:
        method, _, path = what.partition(" ")
        head = f"{method} {path} HTTP/1.1\r\nhost: {self.host}\r\nx-fragment: 1\r\ncontent-length: {len(body)}\r\n"
        return await self.wire.ask(head.encode() + b"cookie: " + self.cookie + b"\r\n\r\n" + body)


async def all_of(address: str, links: list[str], patient: bool) -> Tally:
    tally = Tally()
    await asyncio.gather(*(Assessor(address, link, tally, patient).judge() for link in links))
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--limit", type=float, default=240.0, help="seconds after which it is given up")
    parser.add_argument("--patient", action="store_true", help="wait for units that are made while the study runs")
    given = parser.parse_args()
    links = sys.stdin.read().split()
    tally = uvloop.run(asyncio.wait_for(all_of(given.address, links, given.patient), given.limit))
    times = {"answered": tally.answered, "sent": tally.sent, "ends": tally.ends}
    seconds = {"seconds": tally.last - tally.first, "cpu": time.process_time()}
    with open(sys.stdout.fileno(), "w", closefd=False) as out:  # buffered: Python's unbuffered output may stop midway
        json.dump(times | seconds | {"statuses": dict(tally.statuses)}, out)


if __name__ == "__main__":
    main()
