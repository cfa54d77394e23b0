"""`judgewell backup` and `restore`, while the server runs."""

from __future__ import annotations

from contextlib import closing

import click

from judgewell.commands.database import database_of, database_option, existing


@click.command()
@click.argument("study")
@click.argument("file")
@database_option
def backup(study: str, file: str, database: str | None) -> None:
    """Save the database of STUDY to FILE. The server may keep running.

    \b
    Example:
      judgewell backup study.toml monday.backup
    """
    from judgewell.server.store.backup import backup as write

    with existing(study, database) as store:
        print(write(store, file))


@click.command()
@click.argument("study")
@click.argument("file")
@click.option("--replace", is_flag=True, help="Replace what the database holds now.")
@database_option
def restore(study: str, file: str, replace: bool, database: str | None) -> None:
    """Load a backup, FILE, into the database of STUDY, which may be of another kind.

    \b
    Examples:
      judgewell restore study.toml monday.backup --replace
      judgewell restore study.toml monday.backup --database postgresql://judge@localhost/trials
    """
    from judgewell.server.store.backup import restore as read
    from judgewell.server.store.transactions import open_store

    with closing(open_store(database_of(study, database))) as store:
        read(store, file, replace=replace)
    print(f"Restored from {file}")
