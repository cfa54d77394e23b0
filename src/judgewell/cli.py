"""The command line: one command per verb."""

from __future__ import annotations

import os
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
        code = app(prog_name="judgewell", standalone_mode=False)
        sys.stdout.flush()
    except JudgewellError as error:
        print(f"judgewell: {error}", file=sys.stderr)
        code = 2
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        print("judgewell: stopped", file=sys.stderr)
        code = 130
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    except OSError as error:
        print(f"judgewell: {error.filename or 'output'}: {error.strerror or error}", file=sys.stderr)
        code = 2
    sys.exit(code)
