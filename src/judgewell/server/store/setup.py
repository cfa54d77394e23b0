"""Bringing a study into the database once, and refusing one that was changed after judging began."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from shlex import quote
from typing import Any

import sqlalchemy as sa

from judgewell.errors import InputError
from judgewell.server.platforms.keys import read_key_file
from judgewell.server.store.schema import reservations, study
from judgewell.server.store.transactions import Clock, Store, without_password
from judgewell.study.file import read_study
from judgewell.study.frozen import changes, freeze, study_hash

MOST_CHANGES = 5  # that an error names


def database_words(path: str | Path, database: str | Path | None) -> str:
    """` --database …` for a command to copy; nothing where a command finds the database without it."""
    if database is None or str(database) == os.environ.get("JUDGEWELL_DATABASE"):
        return ""
    if Path(path).is_file() and str(database) == str(default_database(path)):
        return ""
    return f" --database {quote(without_password(str(database)))}"


def default_database(path: str | Path) -> Path:
    """The database file beside a study file: named after the study."""
    return Path(path).parent / f"{read_study(path).study.name}.sqlite"


def prepare(store: Store, path: str | Path, clock: Clock) -> bool:
    """Make the database hold this study; true at the first start.

    The documents are read and the design is made only where the study is new or was changed before anybody began.
    """
    frozen = freeze(path)
    marked = study_hash(frozen)
    held = store.read(lambda connection: connection.execute(sa.select(study)).one_or_none()).result()
    keys = _key_file(path)
    if held is not None and study_hash(held.frozen) == marked:  # as this version counts, whichever made the database
        _renew(store, held, keys, frozen)
        return False
    if held is not None:
        store.read(lambda connection: _refuse_if_begun(connection, held.frozen, frozen, path)).result()
    from judgewell.server.store.filling import fill, read  # what it takes is loaded where the study is new

    content = read(path)
    chosen, texts = content.study, content.inputs.texts
    row = {
        "number": 1,
        "name": chosen.study.name,
        "frozen": frozen,
        "hash": marked,
        "texts": {"texts": dict(texts.texts), "own": sorted(texts.own), "keys": keys},
        "secret": secrets.token_hex(32),
        "created": clock(),
    }

    def put(connection: sa.Connection) -> bool:
        """Put the study there, unless another process just did; its secret stays whoever made it."""
        there = connection.execute(sa.select(study)).one_or_none()
        if there is not None:
            if study_hash(there.frozen) == marked:
                return False
            _refuse_if_begun(connection, there.frozen, frozen, path)
            row["secret"] = there.secret
        fill(connection, row, content)
        return there is None

    return store.write_alone(put)


def record_address(store: Store, address: str | None) -> None:
    """Keep where the server is reached, for links that are made on the command line."""
    store.write(lambda connection: connection.execute(sa.update(study).values(address=address))).result()


def recorded_address(store: Store) -> str:
    """Where the server that started last is reached."""
    address = store.read(lambda connection: connection.execute(sa.select(study.c.address)).scalar()).result()
    if address is None:
        raise InputError(
            "the server's address is not known: it has not run yet, or it listens on all addresses of its machine",
            cure="give the address that people use, such as --address https://judge.example.org",
        )
    return str(address)


def refuse_other(connection: sa.Connection, name: str) -> None:
    """Refuse a database that holds another study."""
    held = connection.execute(sa.select(study.c.name)).scalar()
    if held is not None and held != name:
        cure = f"name the database of {name} with --database"
        raise InputError(f"the database holds the study {held!r}, not {name!r}", cure=cure)


def _refuse_if_begun(connection: sa.Connection, old: dict[str, Any], new: dict[str, Any], path: str | Path) -> None:
    if connection.execute(sa.select(reservations.c.number).limit(1)).scalar() is not None:
        refuse_other(connection, new["settings"]["study"]["name"])
        changed = changes(old, new)
        rest = f"; and {len(changed) - MOST_CHANGES} more" if len(changed) > MOST_CHANGES else ""
        raise InputError(
            f"the study was changed after judging began: {'; '.join(changed[:MOST_CHANGES])}{rest}",
            cure="put it back, or start a new study with another database",
            file=path,
        )


def _key_file(path: str | Path) -> dict[str, Any] | None:
    """The keys of the study's key file, where it names one: they may change from start to start."""
    platform = read_study(path).platform
    if not platform.token or platform.key_source.startswith("https://"):
        return None
    return read_key_file(Path(path).parent / platform.key_source)


def _renew(store: Store, held: Any, keys: dict[str, Any] | None, frozen: dict[str, Any]) -> None:
    """What may change from start to start: the platform's keys, and settings that are not frozen."""
    if held.texts.get("keys") != keys or held.frozen != frozen:
        new = sa.update(study).values(texts={**held.texts, "keys": keys}, frozen=frozen)
        store.write(lambda connection: connection.execute(new)).result()
