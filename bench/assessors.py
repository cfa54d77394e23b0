"""Simulated assessors without think time, for the benchmark of the judging server.

Each keeps one connection and goes from the invite link through as many units as it is given. Prints one line of
JSON: the seconds from sending each answer to having the next page, the units done, and the statuses of all requests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

PAGE, COOKIE, LENGTH = b"\r\nx-page: ", b"\r\nset-cookie: ", b"\r\ncontent-length: "
STEP = b'name="step" value="'
BACK_OFF = 0.5  # seconds before a request that could not be answered is sent again


@dataclass
class Tally:
    """What all assessors together have seen."""

    answered: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    units: int = 0
    first: float = 0.0
    last: float = 0.0


def between(data: bytes, start: bytes, end: bytes) -> bytes:
    begin = data.find(start)
    return b"" if begin < 0 else data[begin + len(start) : data.index(end, begin + len(start))]


class Assessor:
    """One person's browser: a connection, a cookie and the page at hand."""

    def __init__(self, address: str, link: str, tally: Tally) -> None:
        parts = urlsplit(address)
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port or 80
        self.link, self.tally = link, tally
        self.cookie = b""
        self.kind, self.step = "", ""

    async def judge(self) -> None:
        """From the link to the moment there is no work."""
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        head, _ = await self.ask(f"GET {self.link}", b"")
        self.cookie = between(head, COOKIE, b";")
        await self.turn("GET /work", b"")
        while self.step and self.kind not in ("no_work", "come_back"):
            judged = self.kind == "document"
            begun = time.perf_counter()
            await self.turn("POST /work", self.form())
            if judged:
                self.tally.answered.append(time.perf_counter() - begun)
                self.tally.first = self.tally.first or begun
                self.tally.last = time.perf_counter()
            self.tally.units += self.kind == "done"
        self.writer.close()

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
        self.writer.write(head.encode() + b"cookie: " + self.cookie + b"\r\n\r\n" + body)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        length = between(answer, LENGTH, b"\r\n")
        return answer, await self.reader.readexactly(int(length or 0))


async def all_of(address: str, links: list[str]) -> Tally:
    tally = Tally()
    await asyncio.gather(*(Assessor(address, link, tally).judge() for link in links))
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--limit", type=float, default=240.0, help="seconds after which it is given up")
    given = parser.parse_args()
    links = sys.stdin.read().split()
    tally = asyncio.run(asyncio.wait_for(all_of(given.address, links), given.limit))
    told = {"answered": tally.answered, "units": tally.units, "seconds": tally.last - tally.first}
    print(json.dumps(told | {"statuses": dict(tally.statuses)}))


if __name__ == "__main__":
    main()
