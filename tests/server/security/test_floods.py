"""Too much of anything is refused early: bytes, headers, requests, guesses."""

from __future__ import annotations

import contextlib
import functools
import re
import socket
from pathlib import Path

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher
from attacking import Place
from judging import Clock, Study, write_study
from serving import running

from judgewell.server.judging import app as judging_app
from judgewell.server.judging.app import BURST, MANY
from judgewell.server.limits import Rate
from judgewell.server.owner import accounts as passwords
from judgewell.server.owner.sign_in import MOST_FOR_ACCOUNT, MOST_FROM_ADDRESS
from judgewell.server.store.schema import audit
from judgewell.server.store.transactions import open_store

GIGABYTE = 1_000_000_000
PART = b"a" * 65_536


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The server as people run it, in a process of its own."""
    folder = tmp_path_factory.mktemp("flood")
    with running(write_study(folder / "study"), str(folder / "test.sqlite")) as process:
        yield process


def memory(server) -> int:
    """Megabytes that the server holds."""
    told = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", told)[1]) // 1024


def pour(server, head: bytes, part: bytes, most: int) -> tuple[int, bytes]:
    """Send parts until the server ends it: how many bytes were sent, and its answer."""
    sent, said = 0, b""
    with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
        connection.sendall(head)
        with contextlib.suppress(OSError):
            while sent < most:
                connection.sendall(part)
                sent += len(part)
        with contextlib.suppress(OSError):
            said = connection.recv(4096)
    return sent, said


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize(
    "path", ["/work", "/work/alive", "/owner/act", "/owner/sign-in", "/api/v1/actions/pause", "/healthz", "/none"]
)
@pytest.mark.parametrize("chunked", [False, True])
def test_a_request_of_a_gigabyte(server, path, chunked):
    before = memory(server)
    length = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % GIGABYTE
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\n".encode() + length + b"\r\n\r\n"
    sent, said = pour(server, head, b"10000\r\n" + PART + b"\r\n" if chunked else PART, GIGABYTE)
    assert sent < 50_000_000  # what was on its way when the answer came
    assert not said or said.split()[1] in (b"413", b"403", b"303", b"401", b"404", b"405")
    assert chunked or not said or said.split()[1] == b"413"
    assert memory(server) < before + 40


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize(
    ("head", "part"),
    [
        (b"GET /work HTTP/1.1\r\nHost: x\r\n", b"X-Name: " + b"a" * 8000 + b"\r\n"),
        (b"GET /work HTTP/1.1\r\nHost: x\r\nCookie: ", b"name=" + b"a" * 8000 + b"; "),
        (b"GET /work?", b"a" * 8000),
        (b"", b"A" * 8000),
    ],
)
def test_a_head_without_end(server, head, part):
    before = memory(server)
    sent, said = pour(server, head, part, 100_000_000)
    assert sent < 20_000_000
    assert not said or said.split()[1] in (b"431", b"400", b"414")
    assert memory(server) < before + 30


@pytest.mark.long
def test_large_cookies_and_many_headers_are_answered(server):
    """Up to what a browser may send, the answer is an ordinary one."""
    for head in (b"Cookie: a=" + b"x" * 30_000, b"\r\n".join(b"X-%d: y" % n for n in range(1000))):
        with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n")
            assert connection.recv(20).startswith(b"HTTP/1.1 200")


PATHS = [
    "/work",
    "/healthz",
    "/static/app.js",
    "/owner/static/dashboard.css",
    "/owner/sign-in",
    "/none",
    "/i/x",
    "/join",
]


@pytest.fixture
def no_time(monkeypatch):
    """Rates whose clock stands still: no request becomes free while a slow machine works."""
    monkeypatch.setattr(judging_app, "Rate", functools.partial(Rate, clock=lambda: 0.0))


@pytest.mark.parametrize("path", [*PATHS, "/owner", "/api/v1/study", "/openapi.json"])
def test_ten_thousand_requests_from_one_address(tmp_path, path, no_time):
    made = Place(Study(open_store(tmp_path / "x.sqlite"), write_study(tmp_path / "s"), Clock()), rate=0.5)
    client, other = made.stranger(client=("10.0.0.1", 1)), made.stranger(client=("10.0.0.2", 1))
    assert client.get(path).status_code != 429
    most = int(0.5 * MANY * BURST)
    last = next(answer for answer in (client.get(path) for _ in range(20 * most)) if answer.status_code == 429)
    assert 1 <= int(last.headers["retry-after"]) <= 10
    assert last.headers["content-security-policy"]
    assert other.get(path).status_code != 429
    made.study.store.close()


def test_an_address_is_not_what_a_visitor_says_it_is(tmp_path, no_time):
    made = Place(Study(open_store(tmp_path / "x.sqlite"), write_study(tmp_path / "s"), Clock()), rate=0.5)
    codes = [
        made.stranger(client=("10.0.0.1", 1))
        .get("/work", headers={"x-forwarded-for": f"10.1.1.{number}", "forwarded": f"for=10.1.1.{number}"})
        .status_code
        for number in range(8)
    ]
    assert codes[-1] == 429
    made.study.store.close()


def test_guesses_are_counted_across_server_processes(database, tmp_path, clock, monkeypatch):
    """Two servers on one database: what is guessed at one is known to the other."""
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=1, memory_cost=64, parallelism=1))
    passwords._nobody.cache_clear()
    path = write_study(tmp_path / "s", topics=1)
    stores = [open_store(database) for _ in range(2)]
    places = [Place(Study(store, path, clock)) for store in stores]
    places[0].key("owner")
    name = places[0].study.rows(sa.text("SELECT name FROM accounts"))[0][0]

    def guess(number, who, address="10.0.0.1"):
        form = {"name": who, "password": f"a long guess {number}"}
        return places[number % 2].stranger(client=(address, 1)).post("/owner/sign-in", data=form)

    codes = [guess(number, name).status_code for number in range(MOST_FOR_ACCOUNT + 2)]
    assert codes == [403] * MOST_FOR_ACCOUNT + [429] * 2
    assert int(guess(0, name).headers["retry-after"]) > 60
    others = [guess(number, f"nobody {number}").status_code for number in range(MOST_FROM_ADDRESS)]
    assert others[-1] == 429
    assert guess(0, name, "10.0.0.2").status_code == 403  # the owner at home is not locked out by a stranger
    refused = places[1].study.rows(sa.select(audit).where(audit.c.action == "sign-in refused"))
    assert len(refused) == MOST_FROM_ADDRESS + 1
    for store in stores:
        store.close()
