"""The database and its transactions: one code for SQLite and PostgreSQL.

A job is a function of a connection. `write(job)` gives a future that is done once the job's changes are on disk; until
then nobody gets a confirmation.

A commit waits for the disk, some milliseconds. So each process has one thread that writes: it takes all jobs that wait,
runs them one after another in one transaction, commits once and only then answers them all. Where one of them fails,
everything is undone and each runs again in a transaction of its own; a job must therefore be one that can be run again.
SQLite commits with BEGIN IMMEDIATE, WAL and synchronous=FULL, PostgreSQL with its own default, synchronous_commit=on.

Only one process writes at a time, on both databases: a transaction for many people takes their rows in any order, so
two of them at once would wait for each other until the database breaks one off. The processes take turns in the order
they came. On PostgreSQL there is one exception: a job of one assessor, `write(job, assessor)`, may run while other
processes run such jobs, as long as it changes nothing but that assessor's own rows, and the free places of a unit that
nobody else is taking at the moment. It locks the assessor's row first, and calls `need_turn` before every statement
that changes anything else; then it is undone and runs at the process's turn. Such jobs share the lock of the turns,
which keeps out everybody else, go through the assessors in the order of their numbers and pass over units that are
locked, so that no two of them wait for each other.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError

from judgewell.errors import InputError, JudgewellError
from judgewell.server.store.private_files import create_private, keep_private
from judgewell.server.store.schema import metadata, study
from judgewell.server.store.turns import Turns

T = TypeVar("T")
Job = Callable[[sa.Connection], T]
Clock = Callable[[], float]

FIRST = "0003"  # the version of the tables that can be brought up to date; those between were never released
HEAD = "0008"  # the newest step in migrations/versions
BATCH = 64  # the most jobs in one commit
OWN = 32  # the most jobs in a commit without a turn: others wait for a turn meanwhile
BUSY = 30.0  # seconds SQLite waits for another process's transaction
PATIENCE = 8.0  # seconds in which a PostgreSQL that went away may come back
READERS = 2
TURN = "SELECT pg_advisory_xact_lock(7406521)"  # PostgreSQL keeps it until the transaction ends
TOGETHER = "SELECT pg_advisory_xact_lock_shared(7406521)"
BEGIN = "begin"  # the execution option with the statement that a transaction begins with
LONGEST_TURN = 60_000  # milliseconds after which PostgreSQL ends the turn of a process that hangs
STOP_WAIT = 30.0


class Unavailable(JudgewellError):
    """The database is away, full or out of order: nothing of the request was stored."""


class NeedsTurn(Exception):
    """A job of one assessor has to change other people's rows; what it wrote before may stay, or it undoes that."""


def is_together(connection: sa.Connection) -> bool:
    """Whether other processes may be writing at the same time."""
    return connection.get_execution_options().get(BEGIN) == TOGETHER


def need_turn(connection: sa.Connection) -> None:
    """Go no further without a turn: what comes next changes other people's rows."""
    if is_together(connection):
        raise NeedsTurn


@dataclass(frozen=True)
class Waiting:
    """A job, who waits for it, and the assessor whose rows it changes where it may run without a turn."""

    job: Job[Any]
    future: Future[Any]
    assessor: int | None = None


class Store:
    """A database that jobs are given to: one thread writes for all, a few read.

    `patience` is how long a database that is away is waited for. A commit whose confirmation was lost may have
    happened; running a step again is safe all the same, because it is taken at its own turn only.
    """

    def __init__(
        self, writing: sa.Engine, reading: sa.Engine, url: str, patience: float = 0.0, turns: Turns | None = None
    ) -> None:
        self.engine, self._reading = writing, reading
        self._together = None if self.is_sqlite else writing.execution_options(**{BEGIN: TOGETHER})
        self.url = url
        self._patience, self._turns = patience, turns
        self._readers = ThreadPoolExecutor(READERS, "read")
        self._waiting: SimpleQueue[Waiting | None] = SimpleQueue()
        self._stopping = False
        self._own: list[Waiting] = []  # taken from the queue: to be run together with other processes
        self._alone: list[Waiting] = []  # and at this process's turn
        self._writer = threading.Thread(target=self._write_all, name="write", daemon=True)
        self._writer.start()

    @property
    def is_sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @property
    def waiting(self) -> int:
        """Jobs that wait to be written."""
        return self._waiting.qsize() + len(self._own) + len(self._alone)

    def write(self, job: Job[T], assessor: int | None = None) -> Future[T]:
        """Run the job in a transaction, an assessor's without a turn if possible; done once it is on disk."""
        future: Future[T] = Future()
        self._waiting.put(Waiting(job, future, assessor if self._together else None))
        return future

    def write_alone(self, job: Job[T]) -> T:
        """Run a large job before anybody is served.

        SQLite writes it once, to its file, where nobody else has that open; else first to the log and then to the file.
        """
        if not self.is_sqlite or self.used_by_others():
            return self.write(job).result()
        engine = _sqlite_engine(Path(str(self.engine.url.database)), "BEGIN IMMEDIATE", 1, journal="DELETE")
        try:
            result: T = _run(engine, [Waiting(job, Future())])[0]
        except (OperationalError, InterfaceError) as error:
            raise Unavailable(f"the database took nothing: {_first_line(error)}") from error
        finally:
            engine.dispose()
        return result

    def read(self, job: Job[T]) -> Future[T]:
        """Run a job that changes nothing, on what is committed."""
        future: Future[T] = Future()
        self._readers.submit(self._commit, self._reading, [Waiting(job, future)])
        return future

    def snapshot(self) -> AbstractContextManager[sa.Connection]:
        """A connection that sees one moment's state for as long as it is open, in the caller's own thread."""
        if self.is_sqlite:
            return self._reading.begin()
        return self._reading.execution_options(isolation_level="REPEATABLE READ").begin()

    def empty_log(self) -> bool:
        """Write SQLite's log into the file and cut it to nothing, so that what was deleted is nowhere any more.

        False where somebody reads an older state and the log must stay for them.
        """
        if not self.is_sqlite:
            return True
        connection = sqlite3.connect(str(self.engine.url.database), timeout=BUSY)
        try:
            return bool(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)
        finally:
            connection.close()

    def used_by_others(self) -> bool:
        """Whether another process has this database open: a server that runs, or a command under way."""
        if not self.is_sqlite:
            query = sa.text(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                "AND application_name LIKE 'judgewell %' AND application_name <> :own"
            )
            return bool(self.read(lambda connection: connection.execute(query, {"own": _own_name()}).scalar()).result())
        self._reading.dispose()
        self.engine.dispose()
        return _held_by_others(str(self.engine.url.database))

    def close(self) -> None:
        """Finish the jobs that wait, then let go of the database."""
        self._waiting.put(None)
        self._writer.join(STOP_WAIT)
        self._readers.shutdown()
        if self._turns:
            self._turns.close()
        self._reading.dispose()
        self.engine.dispose()

    def _write_all(self) -> None:
        while True:
            self._sort(wait=not self._own and not self._alone)
            if self._alone:
                with self._turns.turn() if self._turns else nullcontext():
                    first = [self._alone.pop(0)]
                    self._commit(self.engine, first, lambda waiting: self._join(self._alone, waiting))
            if self._own:
                self._commit_own([self._own.pop(0)])
            elif self._stopping and not self._alone:
                return

    def _sort(self, *, wait: bool) -> None:
        """Take the jobs that wait from the queue; `wait` for the first."""
        while not self._stopping and (wait or not self._waiting.empty()):
            one, wait = self._waiting.get(), False
            self._stopping = one is None
            if one is not None and one.future.set_running_or_notify_cancel():
                (self._alone if one.assessor is None else self._own).append(one)

    def _join(self, those: list[Waiting], waiting: list[Waiting], most: int = BATCH) -> None:
        """Add the jobs that have come while the transaction waited to begin: one commit serves them all."""
        self._sort(wait=False)
        joining = most - len(waiting)
        waiting += those[:joining]
        del those[:joining]

    def _commit_own(self, waiting: list[Waiting]) -> None:
        """Run jobs of assessors. Those that need a turn, and all where one fails, run again at their turn."""
        assert self._together is not None

        def join(waiting: list[Waiting]) -> None:
            self._join(self._own, waiting, OWN)
            waiting.sort(key=lambda one: one.assessor or 0)

        try:
            results = _run(self._together, waiting, join)
        except BaseException:  # at its turn each job fails by itself, and its error goes to who waits for it
            self._alone += waiting
            return
        for one, result in zip(waiting, results, strict=True):
            if result is NeedsTurn:
                self._alone.append(one)
            else:
                one.future.set_result(result)

    def _commit(
        self, engine: sa.Engine, waiting: list[Waiting], join: Callable[[list[Waiting]], None] | None = None
    ) -> None:
        """Run the jobs in one transaction and answer them; where that fails, each in one of its own.

        `join` adds further jobs once the transaction has begun.
        """
        waiting = [one for one in waiting if one.future.running() or one.future.set_running_or_notify_cancel()]
        until = time.monotonic() + self._patience
        wait = 0.02
        while waiting:
            try:
                results = _run(engine, waiting, join)
            except (OperationalError, InterfaceError) as error:
                if time.monotonic() + wait < until:
                    time.sleep(wait)
                    wait = min(wait * 2, 1.0)
                    continue
                if len(waiting) == 1 or self._patience:
                    _fail(waiting, error)
                    return
            except BaseException as error:  # as in concurrent.futures: what a job raises goes to who waits for it
                if len(waiting) == 1:
                    waiting[0].future.set_exception(error)
                    return
            else:
                for one, result in zip(waiting, results, strict=True):
                    one.future.set_result(result)
                return
            for one in waiting:
                self._commit(engine, [one])
            return


def _run(engine: sa.Engine, waiting: list[Waiting], join: Callable[[list[Waiting]], None] | None = None) -> list[Any]:
    """Run jobs in one transaction; the result of one that needs a turn is NeedsTurn.

    What a job raised holds its unfinished queries for as long as somebody holds it, and SQLite keeps a connection at
    its old snapshot until they are finished; so such a connection is not used again.
    """
    with engine.connect() as connection:
        try:
            with connection.begin():
                if join:
                    join(waiting)
                return [_tried(one.job, connection) for one in waiting]
        except engine.dialect.loaded_dbapi.Error as error:  # of a prepared statement, which goes straight to the driver
            connection.invalidate()
            raise DBAPIError.instance(None, None, error, engine.dialect.loaded_dbapi.Error) from error
        except BaseException:
            if engine.dialect.name == "sqlite":
                connection.invalidate()
            raise


def _tried(job: Job[Any], connection: sa.Connection) -> Any:
    try:
        return job(connection)
    except NeedsTurn:
        return NeedsTurn


def _fail(waiting: list[Waiting], error: Exception) -> None:
    for one in waiting:
        unavailable = Unavailable(f"the database took nothing: {_first_line(error)}")
        unavailable.__cause__ = error
        one.future.set_exception(unavailable)


def without_password(database: str) -> str:
    """A database's address as it may be shown."""
    return sa.make_url(database).render_as_string(hide_password=True) if "://" in database else database


def open_store(url: str | Path) -> Store:
    """The database at an address (postgresql://…, sqlite:///…) or in a file, with its tables brought up to date."""
    text = str(url)
    scheme, sign, _ = text.partition("://")
    if sign and scheme.partition("+")[0] in ("postgresql", "postgres"):
        store = Store(_postgres_engine(text, 1, TURN), _postgres_engine(text, READERS + 1), text, PATIENCE)
    elif sign and scheme != "sqlite":
        raise InputError(f"{scheme}:// is not a supported database", cure="use a file name or postgresql://…")
    else:
        path = Path(text.removeprefix("sqlite:///"))
        if not path.parent.is_dir():
            raise InputError(f"there is no folder {path.parent} for the database", cure="make it first")
        _make_private(path)
        engines = _sqlite_engine(path, "BEGIN IMMEDIATE", 1), _sqlite_engine(path, "BEGIN", READERS + 1)
        store = Store(*engines, text, turns=Turns(path.with_name(f"{path.name}-turns")))
    try:
        migrate(store.engine)
    except SQLAlchemyError as error:
        store.close()
        problem = f"the database cannot be used: {_first_line(error)}"
        if sign and scheme != "sqlite":
            raise InputError(problem, cure="check its address, and that the database server runs") from error
        raise InputError(problem, cure="name the study's own database with --database", file=text) from error
    except JudgewellError:
        store.close()
        raise
    return store


def _make_private(path: Path) -> None:
    """Let nobody else read the database: it holds names and the secret that signs links. Its log gets the same mode."""
    try:
        create_private(path)
        for log in (path.with_name(path.name + ending) for ending in ("-wal", "-shm")):
            if log.exists():
                keep_private(log)
    except OSError as error:
        raise InputError(f"the database cannot be used: {error.strerror}", file=path) from None


def migrate(engine: sa.Engine) -> None:
    """Bring the tables up to date in one transaction; a database made by a newer version is refused."""
    with engine.begin() as connection:
        version = _version(connection)
        if version is not None and version > HEAD:
            raise InputError(f"the database has version {version}, this program knows {HEAD}", cure="update judgewell")
        if version is not None and version not in (FIRST, HEAD):
            raise InputError(
                f"the database has version {version}, which was never released",
                cure="export it with the program that made it",
            )
        if version is None:
            _create(connection)
        elif version < HEAD:
            _upgrade(connection)


def _create(connection: sa.Connection) -> None:
    """Make all tables as the schema has them, and alembic's own with the newest version."""
    metadata.create_all(connection)
    versions = sa.Table("alembic_version", sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True))
    versions.create(connection)
    connection.execute(versions.insert().values(version_num=HEAD))


def _upgrade(connection: sa.Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "judgewell.server.store:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _version(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    version = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    return None if version is None else str(version)


def probe_disk(connection: sa.Connection) -> None:
    """Write what is there already: it changes nothing and has to reach the disk all the same."""
    connection.execute(sa.update(study).values(name=study.c.name))


def _sqlite_engine(path: Path, begin: str, pool: int, journal: str = "WAL") -> sa.Engine:
    engine = sa.create_engine(
        f"sqlite:///{path}",
        poolclass=sa.QueuePool,
        pool_size=pool,
        max_overflow=0,
        connect_args={"timeout": BUSY, "check_same_thread": False, "isolation_level": None, "cached_statements": 256},
    )

    @sa.event.listens_for(engine, "connect")
    def _prepare(connection: Any, _: Any) -> None:
        always = ("synchronous=FULL", "foreign_keys=ON", "cache_size=-32000", "secure_delete=ON")
        for setting in (f"journal_mode={journal}", *always):
            connection.execute(f"PRAGMA {setting}")

    return _beginning(engine, begin)


def _beginning(engine: sa.Engine, begin: str) -> sa.Engine:
    """The engine, each of whose transactions begins with a statement: this one, or that of its execution options."""

    @sa.event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get(BEGIN, begin))

    return engine


def _held_by_others(path: str) -> bool:
    """SQLite leaves its log only where nobody else has the file open; so that is tried, and taken back."""
    connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        mode = connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
        connection.execute("PRAGMA journal_mode=WAL")
    except sqlite3.OperationalError:
        return True
    finally:
        connection.close()
    return bool(mode != "delete")


def _postgres_engine(url: str, pool: int, begin: str = "") -> sa.Engine:
    _, _, rest = url.partition("://")
    settings = {"connect_timeout": 5, "application_name": _own_name()}
    engine = sa.create_engine(f"postgresql+psycopg://{rest}", pool_size=pool, max_overflow=0, connect_args=settings)
    if not begin:
        return engine

    @sa.event.listens_for(engine, "connect")
    def _prepare(connection: Any, _: Any) -> None:
        connection.execute(f"SET idle_in_transaction_session_timeout = {LONGEST_TURN}")
        connection.commit()

    return _beginning(engine, begin)


def _own_name() -> str:
    """What PostgreSQL calls this process among those at its database; two hosts may have the same numbers."""
    return f"judgewell {socket.gethostname()[:32]} {os.getpid()}"


def _first_line(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).strip().splitlines()[0]
