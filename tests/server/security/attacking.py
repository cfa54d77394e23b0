"""A study's whole server in this process, and the people who come to it: assessors, owners, reviewers, strangers."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

from judging import Clock, Person, Study, write_study
from starlette.testclient import TestClient

from judgewell.server.app import make_app
from judgewell.server.judging import invitations as people
from judgewell.server.limits import Rate
from judgewell.server.owner.access import SESSION, make_key
from judgewell.server.owner.accounts import add_account
from judgewell.server.process import Server
from judgewell.server.store.transactions import Store, open_store
from judgewell.server.web import Pages

FRAGMENT = {"x-fragment": "1"}
_names = itertools.count(1)


class Place:
    """A study that is served to whoever attacks it."""

    def __init__(self, study: Study, rate: float = 100_000.0) -> None:
        self.study = study
        self.app = make_app(study.store, study.clock, rate)
        self.cookie = Server(study.store, study.served, Rate(1, 1), Pages()).cookie

    @classmethod
    def on_sqlite(cls, folder: Path, **settings: Any) -> Place:
        folder.mkdir(parents=True, exist_ok=True)
        store: Store = open_store(folder / "test.sqlite")
        return cls(Study(store, write_study(folder / "study", **settings), Clock()))

    def stranger(self, **options: Any) -> TestClient:
        """Somebody with a browser that is on this server's pages."""
        browser = {"headers": {"origin": options.get("base_url", "http://testserver")}, **options}
        return TestClient(self.app, follow_redirects=False, raise_server_exceptions=False, **browser)

    def assessor(self) -> tuple[TestClient, Person]:
        """Somebody who came in by an invite link."""
        person, client = self.study.person(), self.stranger()
        assert client.get(people.invite_path(self.study.served, person.number)).status_code == 303
        return client, person

    def key(self, role: str, kind: Any = "session", scopes: tuple[str, ...] = ()) -> str:
        """A new account's key."""

        def job(connection: Any) -> str:
            now = self.study.clock()
            number = add_account(connection, now, f"{role} {next(_names)}", role)
            return make_key(connection, number, kind, now, SESSION, None, scopes)

        return self.study.store.write(job).result()

    def signed_in(self, role: str = "owner") -> TestClient:
        client = self.stranger()
        client.cookies.set(f"{self.cookie}-owner", self.key(role))
        return client


def guard_of(client: TestClient) -> str:
    return re.search(r'name="guard" value="([^"]+)"', client.get("/owner/review").text)[1]


def step_of(text: str) -> str:
    return re.search(r'name="step" value="([^"]+)"', text)[1]
