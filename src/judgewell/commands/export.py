"""`judgewell export`: what was gathered, as files."""

from __future__ import annotations

from shlex import quote

import click

from judgewell.commands.database import database_option, existing
from judgewell.text import counted


@click.command()
@click.argument("study")
@click.option("-o", "--output", default="export", help="Write into this folder.")
@click.option("--all", "everything", is_flag=True, help="Keep excluded work among the judgments and mark it.")
@database_option
def export(study: str, output: str, everything: bool, database: str | None) -> None:
    """Write the judgments of STUDY, with unfinished units marked and a log of every revision.

    The server may keep running. Excluded work is in excluded.csv unless --all is given.

    \b
    Examples:
      judgewell export study.toml -o results && judgewell scale results/judgments.csv --method magnitude -o gains.csv
      judgewell export study.toml --all
    """
    from judgewell.server.queries.export import export as write
    from judgewell.server.store.setup import database_words

    with existing(study, database) as store:
        written = write(store, output, everything=everything)
    for path, rows in written.items():
        print(f"{path}: {counted(rows, 'row')}")
    answers = [path for path in written if path.name in ("judgments.csv", "pairs.csv")]
    if not answers:
        status = f"judgewell status {quote(study)}{database_words(study, database)}"
        print(f"\nNo unit is completed, so there are no judgments yet. Progress: {status}")
    for path in answers:
        print(f"\nNext: judgewell scale {quote(str(path))} -o gains.csv")
