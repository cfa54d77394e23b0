"""The command line: one command per verb."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from contextlib import suppress
from importlib import import_module
from itertools import pairwise
from typing import NoReturn

import click

from judgewell._version import __version__
from judgewell.errors import InputError, JudgewellError
from judgewell.extras import how_to_install
from judgewell.terminal import write_everywhere

# Groups and commands in the order in which a study uses them: each with its module and a summary of at most 45
# characters. A module is imported when its command runs, so that the list of commands needs none.
GROUPS = {
    "Design": {
        "new": ("study", "Start a study from a commented example"),
        "check": ("study", "List every error and warning in a study"),
        "design": ("study", "Make the units assessors will judge"),
        "simulate": ("simulate", "Try a study with synthetic assessors"),
        "replay": ("replay", "Replay recorded answers under other designs"),
    },
    "Collect": {
        "serve": ("serve", "Run the judging server"),
        "invite": ("invite", "Make links for assessors"),
        "judge": ("judge", "Let language models judge as assessors"),
        "status": ("status", "Show progress, checks and cost"),
        "export": ("export", "Write the judgments to files"),
        "bonus": ("bonus", "Write the bonuses that are due"),
        "account": ("account", "Manage owners and reviewers"),
        "act": ("act", "Pause, exclude, extend and other actions"),
        "audit": ("act", "Show who did what to a study"),
        "forget": ("act", "Delete assessors' personal data"),
        "backup": ("backup", "Save a study's database to a file"),
        "restore": ("backup", "Load a backup into a database"),
    },
    "Analyse": {
        "scale": ("scale", "Turn judgments or pairs into gains"),
        "agree": ("agree", "Measure agreement between assessors"),
        "evaluate": ("evaluate", "Score runs under any gains"),
        "compare": ("compare", "Compare systems, with uncertainty"),
    },
    "Report": {
        "report": ("report", "Write a study's report as one HTML page"),
        "reproduce": ("reproduce", "Remake the tables and figures of a paper"),
    },
    "Tools": {
        "demo": ("demo", "Run two small studies from start to report"),
        "completion": ("completion", "Print shell completion code"),
    },
}
COMMANDS = {name: module for commands in GROUPS.values() for name, (module, _) in commands.items()}


class _Lazy(click.Group):
    """A group whose commands are functions of their name in a module of `judgewell.commands`."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"judgewell.commands.{COMMANDS[name]}"), name)
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        for group, commands in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(f"{name:10}", summary) for name, (_, summary) in commands.items()])

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command, or what was probably meant."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], COMMANDS, 1)
            cure = f"did you mean {near[0]}?" if near else "judgewell --help lists all"
            context.fail(f"there is no command {args[0]!r}; {cure}")
        for option, place in pairwise(args):
            if option in ("-o", "--output") and "://" in place:
                raise InputError(f"{place}: results are written to this machine", cure="name a file or folder of it")
        return super().resolve_command(context, args)


def _show_version(context: click.Context, option: click.Parameter, asked: bool) -> None:
    """The version, and what ranks runs: C where the package was built with a compiler, numpy elsewhere."""
    if asked and not context.resilient_parsing:
        from judgewell.evaluation.compiled import kernel_name

        print(f"judgewell {__version__} ({kernel_name()})")
        context.exit()


@click.group(
    cls=_Lazy,
    help="Collect relevance judgments on any scale, turn them into gains, and compare search systems.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True},
    invoke_without_command=True,
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
@click.pass_context
def app(context: click.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


def _with_other_commands(error: click.ClickException) -> click.ClickException:
    """The error; where an unknown option is one of other commands, it names them instead of a similar option."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return error
    from judgewell.text import listing

    others = [name for name in COMMANDS if name != error.ctx.info_name and error.option_name in _options(name)]
    if not others:
        return error
    message = f"{error.ctx.info_name} has no option {error.option_name}; it is an option of {listing(others)}"
    return click.UsageError(message, error.ctx)


def _options(name: str) -> list[str]:
    """The options of a command; none where its packages are not installed."""
    with suppress(ModuleNotFoundError):
        command = getattr(import_module(f"judgewell.commands.{COMMANDS[name]}"), name)
        return [option for one in command.params if not getattr(one, "hidden", False) for option in one.opts]
    return []


def main() -> NoReturn:
    """Run a command; what the user can mend is one line and exit code 2 (1 for a cluster), never a traceback."""
    if "_JUDGEWELL_COMPLETE" in os.environ:
        from judgewell.commands.completion import complete_files_too

        complete_files_too()
    write_everywhere()
    try:
        code = app(prog_name="judgewell", standalone_mode=False)
        sys.stdout.flush()
    except JudgewellError as error:
        print(f"judgewell: {error}", file=sys.stderr)
        code = error.exit_code
    except click.ClickException as error:
        _with_other_commands(error).show()
        code = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        print("judgewell: stopped", file=sys.stderr)
        code = 130
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    except ModuleNotFoundError as error:
        command = next((word for word in sys.argv[1:] if word in COMMANDS), "")
        cure = how_to_install(error, command)
        if cure is None:
            raise
        print(f"judgewell: {command} needs the package {error.name}, which is not installed; {cure}", file=sys.stderr)
        code = 2
    except OSError as error:
        print(f"judgewell: {error.filename or 'output'}: {error.strerror or error}", file=sys.stderr)
        code = 2
    sys.exit(code)


def program() -> NoReturn:
    """`main` as a process of its own, which ends without taking the interpreter apart: that costs a tenth of a second.

    Where threads still run, it waits for them in the usual way. Garbage is looked for less often than by default, since
    loading modules makes none.
    """
    gc.set_threshold(50_000, 20, 50)
    try:
        main()
    except SystemExit as left:
        code = 0 if left.code is None else left.code
        if threading.active_count() > 1 or not isinstance(code, int):
            raise
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
