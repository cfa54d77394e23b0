"""The owner's pages on a server in this process, with a session that is let in."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from waiting import HANG, wait_until

from judgewell.server.app import make_app
from judgewell.server.owner.access import make_key
from judgewell.server.owner.accounts import add_account
from judgewell.server.store.transactions import Clock, Store


@dataclass(frozen=True)
class Owner:
    """A server's address, and the cookie of a session."""

    address: str
    cookie: tuple[str, str]


def let_in(store: Store, now: float, role: str = "owner") -> str:
    """The secret of a new session of a new account."""

    def job(connection: Any) -> str:
        number = add_account(connection, now, f"{role} one", role)
        return make_key(connection, number, "session", now, 86400.0)

    return store.write(job).result()


@contextmanager
def owner_server(store: Store, clock: Clock) -> Iterator[Owner]:
    """A server that runs until it is left; it closes the store."""
    from judgewell.server.limits import Rate
    from judgewell.server.process import Server
    from judgewell.server.session.served import load_served
    from judgewell.server.web import Pages

    served = store.read(lambda connection: load_served(connection, clock)).result()
    name = Server(store, served, Rate(1, 1), Pages()).cookie
    secret = let_in(store, clock())
    app = make_app(store, clock, 1000.0)
    running = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    wait_until(lambda: running.started)
    port = running.servers[0].sockets[0].getsockname()[1]
    try:
        yield Owner(f"http://127.0.0.1:{port}", (f"{name}-owner", secret))
    finally:
        running.should_exit = True
        thread.join(HANG)
