"""What tests of the server begin from: a new database of either kind, a clock, a small study; conftests import it."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from databases import new_database, new_file, one_postgres
from judging import Clock, Study, write_study
from starlette.testclient import TestClient

from judgewell.server.owner import live_cache
from judgewell.server.owner.live_analysis import Insight, from_json
from judgewell.server.store.transactions import Store, open_store


class WarmFigures:
    """Live figures from one process that stays: to start one for every page that is looked at costs two seconds."""

    LOOP = """
import json, sys
from judgewell.server.owner.live_analysis import insight, to_json
from judgewell.server.store.transactions import open_store
for line in sys.stdin:
    try:
        asked = json.loads(line)
        store = open_store(asked["database"])
        try:
            with store.snapshot() as connection:
                print(to_json(insight(connection, asked["now"])), flush=True)
        finally:
            store.close()
    except Exception as error:  # the test is over and its database gone
        print(repr(error), flush=True)
"""

    def __init__(self) -> None:
        self.lock, self.process = threading.Lock(), None

    def __call__(self, url: str, now: float) -> Insight:
        with self.lock:
            if self.process is None:
                command = [sys.executable, "-W", "ignore", "-c", self.LOOP]
                self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.process.stdin.write(json.dumps({"database": url, "now": now}) + "\n")
            self.process.stdin.flush()
            return from_json(self.process.stdout.readline())

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()


@pytest.fixture(scope="session", autouse=True)
def warm_figures() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch, closing(WarmFigures()) as figures:
        patch.setattr(live_cache, "in_a_process", figures)
        yield


@pytest.fixture(scope="session", autouse=True)
def one_loop() -> Iterator[None]:
    """All requests of test clients run in one loop, as a server's do; a client starts a thread for each by itself."""
    with pytest.MonkeyPatch.context() as patch, start_blocking_portal() as portal:
        patch.setattr(TestClient, "portal", portal)
        yield


@pytest.fixture(scope="session")
def postgres() -> str:
    """The address of a PostgreSQL server for the whole run."""
    return one_postgres()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a new database."""
    if request.param == "sqlite":
        return new_file(tmp_path / "test.sqlite")
    return new_database(request.getfixturevalue("postgres"))


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    """A new database, open."""
    opened = open_store(database)
    yield opened
    opened.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def begin(store: Store, tmp_path: Path, clock: Clock) -> Callable[..., Study]:
    """Begin a study with these settings in the database."""

    def make(**settings: object) -> Study:
        return Study(store, write_study(tmp_path / "study", **settings), clock)  # type: ignore[arg-type]

    return make
