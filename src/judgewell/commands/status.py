"""`judgewell status`: how far a study is."""

from __future__ import annotations

import click

from judgewell.commands.common import choice
from judgewell.commands.database import database_option, existing


@click.command()
@click.argument("study")
@database_option
@choice("--format", "table", "json", help="Output format.")
def status(study: str, database: str | None, format: str) -> None:
    """Show the progress of STUDY by topic, failed checks and the cost so far.

    \b
    Example:
      judgewell status study.toml
    """
    import json
    import time
    from dataclasses import asdict

    from judgewell.server.queries.status import status as find
    from judgewell.server.queries.status import status_text

    with existing(study, database) as store:
        state = store.read(lambda connection: find(connection, time.time())).result()
    print(status_text(state) if format == "table" else json.dumps(asdict(state), indent=2) + "\n", end="")
