"""Backup and restore while the server runs. A backup is an SQLite file, wherever the study itself is kept.

From SQLite it is made by the database's own online copy, from PostgreSQL out of one snapshot. So a study can also be
moved from one to the other.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

import sqlalchemy as sa

from judgewell.errors import InputError
from judgewell.server.store.erasure import not_to_be_revived
from judgewell.server.store.private_files import create_private
from judgewell.server.store.schema import metadata, study
from judgewell.server.store.transactions import Store, open_store

AT_ONCE = 2_000


def backup(store: Store, path: str | Path) -> Path:
    """Write one moment's state of the database into a new file; the file is there whole or not at all."""
    path = Path(path)
    if path.exists():
        raise InputError("this file exists already", cure="name another, or move it away", file=path)
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent}", cure="make it first", file=path)
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.unlink(missing_ok=True)
    create_private(unfinished)
    try:
        if store.is_sqlite:
            _copy_file(str(store.engine.url.database), unfinished)
        else:
            _copy_tables(store, unfinished)
        _flush(unfinished)
        os.replace(unfinished, path)
    finally:
        for ending in ("", "-wal", "-shm", "-turns"):
            unfinished.with_name(unfinished.name + ending).unlink(missing_ok=True)
    return path


def restore(store: Store, path: str | Path, *, replace: bool = False) -> None:
    """Put a backup in place of what the database holds, in one transaction; other content is kept unless `replace`.

    Where the database holds a later state of the same study, people whose data was deleted since stay deleted, and keys
    that were revoked since stay revoked.

    A server that runs meanwhile goes on with what it brings, where it is a backup of that very study. What a server
    remembers of another study would be wrong then, so that is refused until it has stopped.
    """
    path = Path(path)
    _look_over(path)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "backup.sqlite"
        shutil.copyfile(path, copy)
        source = open_store(copy)  # brings an older backup up to date
        try:
            same = _refuse_other(store, source, path, replace)
            store.write(lambda target: _fill(source, target, same)).result()
            store.empty_log()
        finally:
            source.close()


def _copy_file(source: str, target: Path) -> None:
    """SQLite's online copy; it begins again by itself where somebody writes meanwhile."""
    reading, writing = sqlite3.connect(source, timeout=60), sqlite3.connect(target)
    try:
        reading.execute("BEGIN")  # one moment's state, so that writers never make it begin again
        reading.execute("SELECT count(*) FROM sqlite_master").fetchone()
        reading.backup(writing, pages=-1)
        writing.execute("PRAGMA journal_mode=DELETE")
    finally:
        writing.close()
        reading.close()


def _copy_tables(store: Store, target: Path) -> None:
    made = open_store(target)
    try:
        with store.snapshot() as source:
            made.write(lambda connection: _copy(source, connection)).result()
    finally:
        made.close()


def _fill(source: Store, target: sa.Connection, same: bool) -> None:
    carry_over = not_to_be_revived(target) if same else None
    for table in reversed(metadata.sorted_tables):
        target.execute(sa.delete(table))
    with source.snapshot() as reading:
        _copy(reading, target)
    if carry_over is not None:
        carry_over(target)
    if target.dialect.name == "postgresql":
        _count_on(target)


def _copy(source: sa.Connection, target: sa.Connection) -> None:
    for table in metadata.sorted_tables:
        rows = source.execution_options(yield_per=AT_ONCE).execute(sa.select(table))
        for part in rows.partitions():
            target.execute(sa.insert(table), [dict(row._mapping) for row in part])


def _count_on(target: sa.Connection) -> None:
    """Let PostgreSQL count on from the highest number of each table."""
    for table in metadata.sorted_tables:
        column = table.autoincrement_column
        if column is not None:
            highest = sa.select(sa.func.coalesce(sa.func.max(column), 0) + 1).scalar_subquery()
            sequence = sa.func.pg_get_serial_sequence(table.name, column.name)
            target.execute(sa.select(sa.func.setval(sequence, highest, False)))


def _look_over(path: Path) -> None:
    """Refuse what is not a whole backup."""
    if not path.is_file():
        raise InputError("there is no such file", file=path)
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            integrity = connection.execute("PRAGMA integrity_check").fetchone()[0]
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        raise InputError(f"this is not a judgewell backup: {error}", file=path) from None
    if integrity != "ok" or not {"study", "answers", "alembic_version"} <= tables:
        raise InputError("this is not a complete judgewell backup", cure="make one with judgewell backup", file=path)


def _refuse_other(store: Store, source: Store, path: Path, replace: bool) -> bool:
    """A database that holds a study is overwritten only when asked to; whether the backup is of that very study."""
    query = sa.select(study.c.name, study.c.hash, study.c.secret)
    held = store.read(lambda connection: connection.execute(query).one_or_none()).result()
    brought = source.read(lambda connection: connection.execute(query).one_or_none()).result()
    if brought is None:
        raise InputError("the backup holds no study", file=path)
    if held is not None and not replace:
        other = "" if held.hash == brought.hash else f"another study, {held.name}, "
        raise InputError(
            f"the database holds {other or 'this study '}already", cure="give --replace to put the backup in its place"
        )
    same = held is not None and (held.hash, held.secret) == (brought.hash, brought.secret)
    if held is not None and not same and store.used_by_others():
        raise InputError(
            f"a server runs on the database, and the backup holds another study than its {held.name}",
            cure="stop the server, restore, and start it again",
        )
    return same


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
