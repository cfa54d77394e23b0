"""What the commands around the judging server share: which database a study is in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from judgewell.errors import InputError

if TYPE_CHECKING:
    from judgewell.server.store.transactions import Store

DATABASE_HELP = "Use this database: a file, or postgresql://user@host/name.  [default: {name}.sqlite beside the study]"


def database_option(command: Callable[..., Any], name: str = "NAME") -> Callable[..., Any]:
    """`--database`: where the study is kept; `name` is what its file is called by default."""
    return click.option("--database", help=DATABASE_HELP.format(name=name), envvar="JUDGEWELL_DATABASE")(command)


def database_of(study: str, database: str | None) -> str:
    """The database of a study: the one given, else the file beside the study."""
    from judgewell.server.store.setup import default_database

    return database or str(default_database(study))


def address_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--address`: what links begin with."""
    text = "Address at which people reach the server.  [default: where serve listens]"
    return click.option("--address", help=text)(command)


def address_of(store: Store, address: str | None) -> str:
    """What links begin with: the address given, else the one that the server recorded."""
    from judgewell.server.store.setup import recorded_address

    if address is not None and not address.startswith(("http://", "https://")):
        cure = "begin it with http:// or https://, such as https://judge.example.org"
        raise InputError(f"the address {address!r} is not that of a page", cure=cure)
    return (address or recorded_address(store)).rstrip("/")


@contextmanager
def existing(study: str, database: str | None) -> Iterator[Store]:
    """The database of a study that was served before."""
    from judgewell.server.store.setup import database_words, refuse_other
    from judgewell.server.store.transactions import open_store
    from judgewell.study.file import read_study

    where = database_of(study, database)
    if "://" not in where and not Path(where).is_file():
        others = [str(path) for path in sorted(Path(where).parent.glob("*.sqlite"))]
        named = f", or name another: --database {others[0]}" if others else ""
        cure = f"start it with judgewell serve {quote(study)}{database_words(study, database)}{named}"
        raise InputError("there is no such database", cure=cure, file=where)
    with closing(open_store(where)) as store:
        if database not in (None, study) and Path(study).is_file():  # a report may name the database itself
            name = read_study(study).study.name
            store.read(lambda connection: refuse_other(connection, name)).result()
        yield store
