"""The command line: one command per verb."""

from __future__ import annotations

import sys

import click

from judgewell._version import __version__
from judgewell.commands.agree import agree
from judgewell.commands.evaluate import evaluate
from judgewell.commands.scale import scale
from judgewell.commands.study import check, design, new
from judgewell.errors import JudgewellError


class _InOrder(click.Group):
    """The commands in the order in which a study uses them."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=_InOrder,
    help="Relevance judgments on any scale, turned into real-valued gains, measured and compared.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True},
)
@click.version_option(__version__, message="judgewell %(version)s")
def app() -> None:
    pass


for command in (new, check, design, scale, agree, evaluate):
    app.add_command(command)


def main() -> None:
    """Run a command; what the user can mend is one line and exit code 2, never a traceback."""
    try:
        app(prog_name="judgewell")
    except JudgewellError as error:
        print(f"judgewell: {error}", file=sys.stderr)
        sys.exit(2)
