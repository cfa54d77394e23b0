"""The database and its transactions: one code for SQLite and PostgreSQL.

A job is a function of a connection. `write(job)` gives a future that is done once the job's changes are on disk; until
then nobody is told that they are stored.

SQLite has one writer at a time and pays for every commit with a wait for the disk. So each process has one thread that
writes: it takes all jobs that wait, runs each inside a savepoint, commits once (BEGIN IMMEDIATE, WAL, synchronous=FULL)
and only then answers them. PostgreSQL runs each job in a transaction of its own and groups the commits by itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError, SQLAlchemyError

from judgewell.errors import InputError, JudgewellError

T = TypeVar("T")
Job = Callable[[sa.Connection], T]
Clock = Callable[[], float]

HEAD = "0001"  # the newest step in migrations/versions
BATCH = 64  # the most jobs in one commit
BUSY = 30.0  # seconds SQLite waits for another process's transaction
PATIENCE = 8.0  # seconds in which a database that went away may come back
POOL = 8  # PostgreSQL connections of one server process
STOP_WAIT = 30.0


class Unavailable(JudgewellError):
    """The database is away, full or out of order: nothing of the request was stored."""


class Store:
    """A database that jobs are given to."""

    def __init__(self, engine: sa.Engine, url: str) -> None:
        self.engine = engine
        self.url = url

    @property
    def is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    def write(self, job: Job[T]) -> Future[T]:
        """Run the job in a transaction; the future is done when its changes are durable."""
        raise NotImplementedError

    def read(self, job: Job[T]) -> Future[T]:
        """Run a job that changes nothing, on what is committed."""
        raise NotImplementedError

    def snapshot(self) -> AbstractContextManager[sa.Connection]:
        """A connection that sees one moment's state for as long as it is open, in the caller's own thread."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class SqliteStore(Store):
    """An SQLite file: one thread that writes for all, a few that read."""

    def __init__(self, path: Path, url: str) -> None:
        super().__init__(_sqlite_engine(path, "BEGIN IMMEDIATE", 1), url)
        self._readers = ThreadPoolExecutor(2, "read")
        self._reading = _sqlite_engine(path, "BEGIN", 3)  # one more for a snapshot
        self._waiting: SimpleQueue[tuple[Job[Any], Future[Any]] | None] = SimpleQueue()
        self._writer = threading.Thread(target=self._write_all, name="write", daemon=True)
        self._writer.start()

    def write(self, job: Job[T]) -> Future[T]:
        future: Future[T] = Future()
        self._waiting.put((job, future))
        return future

    def read(self, job: Job[T]) -> Future[T]:
        return self._readers.submit(_in_transaction, self._reading, job)

    def snapshot(self) -> AbstractContextManager[sa.Connection]:
        return self._reading.begin()

    def close(self) -> None:
        self._waiting.put(None)
        self._writer.join(STOP_WAIT)
        self._readers.shutdown()
        self._reading.dispose()
        self.engine.dispose()

    def _write_all(self) -> None:
        stopping = False
        while not stopping:
            jobs = [self._waiting.get()]
            while len(jobs) < BATCH and not self._waiting.empty():
                jobs.append(self._waiting.get())
            stopping = None in jobs
            _commit_together(self.engine, [job for job in jobs if job is not None])


class PostgresStore(Store):
    """A PostgreSQL database: a transaction of its own for each job, some at a time."""

    def __init__(self, url: str, pool: int = POOL) -> None:
        engine = sa.create_engine(  # one connection more than threads, for a snapshot
            _with_driver(url),
            pool_size=pool,
            max_overflow=1,
            pool_timeout=PATIENCE,
            connect_args={"connect_timeout": 5},
        )
        super().__init__(engine, url)
        self._threads = ThreadPoolExecutor(pool, "database")

    def write(self, job: Job[T]) -> Future[T]:
        return self._threads.submit(_with_patience, self.engine, job)

    def read(self, job: Job[T]) -> Future[T]:
        return self._threads.submit(_with_patience, self.engine, job)

    def snapshot(self) -> AbstractContextManager[sa.Connection]:
        return self.engine.execution_options(isolation_level="REPEATABLE READ").begin()

    def close(self) -> None:
        self._threads.shutdown()
        self.engine.dispose()


def open_store(url: str | Path, pool: int = POOL) -> Store:
    """The database at an address (postgresql://…, sqlite:///…) or in a file, with its tables brought up to date."""
    text = str(url)
    scheme, sign, _ = text.partition("://")
    if sign and scheme.partition("+")[0] in ("postgresql", "postgres"):
        store: Store = PostgresStore(text, pool)
    elif sign and scheme != "sqlite":
        raise InputError(f"{scheme}:// is not a database we know", cure="use a file name or postgresql://…")
    else:
        path = Path(text.removeprefix("sqlite:///"))
        if not path.parent.is_dir():
            raise InputError(f"there is no folder {path.parent} for the database", cure="make it first")
        store = SqliteStore(path, text)
    try:
        migrate(store.engine)
    except SQLAlchemyError as error:
        store.close()
        raise InputError(f"the database cannot be used: {_first_line(error)}") from error
    except JudgewellError:
        store.close()
        raise
    return store


def migrate(engine: sa.Engine) -> None:
    """Bring the tables up to date in one transaction; a database made by a newer version is refused."""
    with engine.begin() as connection:
        if _version(connection) == HEAD:
            return
        _alone(connection)
        found = _version(connection)
        if found is not None and found > HEAD:
            raise InputError(f"the database has version {found}, this program knows {HEAD}", cure="update judgewell")
        if found != HEAD:
            _upgrade(connection)


def _upgrade(connection: sa.Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "judgewell.collect:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _version(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _alone(connection: sa.Connection) -> None:
    """Wait until no other process prepares the same database; SQLite's write transaction is alone already."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(7406521)"))


def _sqlite_engine(path: Path, begin: str, pool: int) -> sa.Engine:
    engine = sa.create_engine(
        f"sqlite:///{path}",
        poolclass=sa.QueuePool,
        pool_size=pool,
        max_overflow=0,
        connect_args={"timeout": BUSY, "check_same_thread": False, "isolation_level": None, "cached_statements": 256},
    )

    @sa.event.listens_for(engine, "connect")
    def _prepare(connection: Any, _: Any) -> None:
        for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "cache_size=-32000"):
            connection.execute(f"PRAGMA {setting}")

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _with_driver(url: str) -> str:
    _, _, rest = url.partition("://")
    return f"postgresql+psycopg://{rest}"


def _in_transaction(engine: sa.Engine, job: Job[T]) -> T:
    try:
        with engine.begin() as connection:
            return job(connection)
    except (OperationalError, InterfaceError) as error:
        raise Unavailable(f"the database is not at hand: {_first_line(error)}") from error


def _commit_together(engine: sa.Engine, jobs: list[tuple[Job[Any], Future[Any]]]) -> None:
    """Run the jobs one after another and commit once; if that fails nothing of any of them is stored."""
    outcomes: list[tuple[Future[Any], Any, BaseException | None]] = []
    try:
        with engine.begin() as connection:
            for job, future in jobs:
                outcomes.append((future, *_inside_savepoint(connection, job)))
    except DBAPIError as error:
        told = Unavailable(f"the database took nothing: {_first_line(error)}")
        told.__cause__ = error
        outcomes = [(future, None, told) for _, future in jobs]
    for future, result, error_ in outcomes:
        if error_ is None:
            future.set_result(result)
        else:
            future.set_exception(error_)


def _inside_savepoint(connection: sa.Connection, job: Job[T]) -> tuple[T | None, BaseException | None]:
    """The job's result or what it raised, its changes undone; a database out of order ends the whole batch."""
    savepoint = connection.begin_nested()
    try:
        result = job(connection)
        savepoint.commit()
    except BaseException as error:  # as in concurrent.futures: what a job raises goes to the one who waits for it
        if isinstance(error, DBAPIError) and not isinstance(error, IntegrityError):
            raise
        savepoint.rollback()
        return None, error
    return result, None


def _with_patience(engine: sa.Engine, job: Job[T]) -> T:
    """Run the job, and again where the database restarts or breaks a deadlock.

    A commit whose confirmation was lost may have happened. Running a job again is safe all the same: a step is taken
    at its own turn only.
    """
    until = time.monotonic() + PATIENCE
    wait = 0.02
    while True:
        try:
            with engine.begin() as connection:
                return job(connection)
        except (OperationalError, InterfaceError) as error:
            if time.monotonic() + wait > until:
                raise Unavailable(f"the database is not at hand: {_first_line(error)}") from error
        time.sleep(wait)
        wait = min(wait * 2, 1.0)


def _first_line(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).strip().splitlines()[0]
