"""The command line: one command per verb."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from judgewell._version import __version__
from judgewell.commands.evaluate import evaluate
from judgewell.errors import JudgewellError

app = typer.Typer(
    help="Relevance judgments on any scale, turned into real-valued gains, measured and compared.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)


def main() -> None:
    """Run a command; what the user can mend is one line and exit code 2, never a traceback."""
    try:
        app()
    except JudgewellError as error:
        print(f"judgewell: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)


def _version(asked: bool) -> None:
    if asked:
        print(f"judgewell {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


for command in (evaluate,):
    app.command()(command)
