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
    "--host", default="127.0.0.1", help="Listen on this address; use another than loopback only behind a reverse proxy."
)
@click.option("--port", default=8000, type=click.IntRange(0, 65535), help="Listen on this port; 0 takes any free one.")
@click.option(
    "--workers", default=1, type=click.IntRange(1, 64), help="Run this many server processes on one database."
)
@click.option(
    "--requests-per-second",
    default=20.0,
    type=click.FloatRange(min=1),
    help="Allow one assessor this many requests per second, on average.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    envvar="JUDGEWELL_LOG_FORMAT",
    help="Write log lines as text, or as one JSON object per line.",
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
