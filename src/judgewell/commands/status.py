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
    """Show the progress of STUDY by topic, who is working, failed checks and the cost so far.

    \b
    Example:
      judgewell status study.toml
    """
    import json
    import time
    from dataclasses import asdict

    from judgewell.server.queries.money import budget_text
    from judgewell.server.queries.progress import working, working_text
    from judgewell.server.queries.status import status as find
    from judgewell.server.queries.status import status_text

    now = time.time()
    with existing(study, database) as store:
        state = store.read(lambda connection: find(connection, now)).result()
        at_work = store.read(lambda connection: working(connection, now)).result()
    warning = budget_text(state.paid + state.fee, state.budget, state.budget_state, state.currency)
    if warning:
        click.echo(f"note: {warning}", err=True)
    if format == "table":
        print(status_text(state) + working_text(at_work, now), end="")
    else:
        print(json.dumps({**asdict(state), "working": [asdict(one) for one in at_work]}, indent=2))
