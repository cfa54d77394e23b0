"""What tests of the server begin from: a new database of either kind, a clock, a small study; conftests import it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from databases import new_database, new_file, one_postgres
from judging import Clock, Study, write_study

from judgewell.server.store.transactions import Store, open_store


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
