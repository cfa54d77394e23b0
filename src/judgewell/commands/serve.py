"""`judgewell serve`: people judge on a web page."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

import click

from judgewell.commands.database import database_of, database_option


@click.command()
@click.argument("study")
@database_option
@click.option(
    "--host", default="127.0.0.1", help="Address to listen on; use one other than loopback only behind a reverse proxy."
)
@click.option("--port", default=8000, type=click.IntRange(0, 65535), help="Port; 0 takes any free one.")
@click.option("--workers", default=1, type=click.IntRange(1, 64), help="Server processes on the one database.")
@click.option(
    "--requests-per-second",
    default=20.0,
    type=click.FloatRange(min=1),
    help="Requests one assessor may make per second, on average.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    envvar="JUDGEWELL_LOG_FORMAT",
    help="How log lines are written; json is one object a line.",
)
def serve(study: str, database: str | None, **options: Any) -> None:
    """Run the judging server for STUDY. The first start reads its documents and makes its units.

    \b
    Examples:
      judgewell serve study.toml
      judgewell serve study.toml --database postgresql://judge@localhost/trials --workers 4
    """
    from judgewell.server.serve import serve as run

    write, terminal = partial(print, flush=True), sys.stdout.isatty()
    run(study, database_of(study, database), **options, write=write, terminal=terminal)
