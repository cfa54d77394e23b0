"""A connection ends in time: a head or body that does not come, and more connections than one address needs."""

import pytest
import uvicorn
from uvicorn.server import ServerState

from judgewell.server import connections
from judgewell.server.connections import SECONDS, BoundedConnection


class Loop:
    """Timers that go off when the test says so, and tasks that never run."""

    def __init__(self):
        self.timers = []

    def call_later(self, seconds, call, *arguments):
        timer = Timer(seconds, lambda: call(*arguments))
        self.timers.append(timer)
        return timer

    def create_task(self, coroutine):
        coroutine.close()
        return Task()

    def pending(self):
        return [timer for timer in self.timers if not timer.cancelled]


class Timer:
    def __init__(self, seconds, call):
        self.seconds, self.call, self.cancelled = seconds, call, False

    def cancel(self):
        self.cancelled = True


class Task:
    def add_done_callback(self, _):
        pass


class Transport:
    def __init__(self, address):
        self.address, self.sent, self.closed = address, b"", False

    def get_extra_info(self, name, default=None):
        return (self.address, 1) if name == "peername" else default

    def write(self, data):
        self.sent += data

    def close(self):
        self.closed = True

    def is_closing(self):
        return self.closed


@pytest.fixture
def connect():
    loop, state = Loop(), ServerState()
    config = uvicorn.Config(lambda: None, log_level="critical")
    made = []

    def connect(address="10.0.0.1"):
        connection = BoundedConnection(config, state, {}, loop)
        connection.connection_made(Transport(address))
        made.append(connection)
        return connection

    connect.loop = loop
    yield connect
    for connection in made:
        connection.connection_lost(None)
    assert not connections._open


HEAD = b"POST /work HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n"


@pytest.mark.parametrize(
    ("sent", "part"),
    [
        ((), "head"),
        ((HEAD,), "head"),
        ((HEAD[:20], HEAD[20:]), "head"),
        ((HEAD + b"\r\n",), "body"),
        ((HEAD, b"\r\n", b"12345"), "body"),
        ((HEAD + b"\r\n1234567890" + HEAD,), "head"),
    ],
)
def test_what_does_not_come_in_time_is_closed(connect, sent, part):
    connection = connect()
    for data in sent:
        connection.data_received(data)
    (timer,) = connect.loop.pending()
    assert timer.seconds == SECONDS[part]
    timer.call()
    assert connection.transport.closed
    assert connection.transport.sent.startswith(b"HTTP/1.1 408")


def test_a_complete_request_waits_for_its_answer_without_end(connect):
    connection = connect()
    connection.data_received(HEAD + b"\r\n1234567890")
    assert connection.is_answering
    assert not connect.loop.pending()


def test_an_address_with_too_many_connections_loses_its_oldest_that_waits(connect, monkeypatch):
    monkeypatch.setattr(connections, "MOST_PER_ADDRESS", 3)
    answering, other = connect(), connect("10.0.0.2")
    answering.data_received(HEAD + b"\r\n1234567890")
    half = [connect() for _ in range(4)]
    assert [one.transport.closed for one in half] == [True, True, False, False]
    assert not answering.transport.closed
    assert not other.transport.closed
    for one in half[2:]:
        one.data_received(HEAD + b"\r\n1234567890")
    assert connect().transport.closed  # all others are being answered
