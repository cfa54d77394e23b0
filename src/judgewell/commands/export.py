"""`judgewell export`: what was gathered, as files."""

from __future__ import annotations

import click

from judgewell.commands.collecting import database_option, existing


@click.command()
@click.argument("study")
@click.option("-o", "--output", default="export", help="The folder to write into.")
@database_option
def export(study: str, output: str, database: str | None) -> None:
    """Write the judgments of STUDY: finished units, all others marked, and the log with every revision.

    The server may go on running.

    \b
    Example:
      judgewell export study.toml -o results && judgewell scale results/judgments.csv --method magnitude -o gains.csv
    """
    from judgewell.collect.export import export as write

    with existing(study, database) as store:
        for path in write(store, output):
            print(path)
