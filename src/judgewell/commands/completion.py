"""`judgewell completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

ASKED_BY = "_JUDGEWELL_COMPLETE"  # the variable by which a shell asks for completions


class _OrFiles(ShellComplete):
    """Where no command, option or choice fits, the names of files do."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        completions = super().get_completions(args, incomplete)
        return completions or [CompletionItem(incomplete, type="file")]


class _Bash(_OrFiles, BashComplete):
    pass


class _Zsh(_OrFiles, ZshComplete):
    pass


class _Fish(_OrFiles, FishComplete):
    pass


SHELLS: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}


def complete_files_too() -> None:
    """Make shells complete the names of files; called when one asks."""
    for shell, kind in SHELLS.items():
        add_completion_class(kind, shell)


@click.command()
@click.argument("shell", type=click.Choice(tuple(SHELLS)))
def completion(shell: str) -> None:
    """Print the code that completes commands, options, values and files in SHELL.

    \b
    Examples:
      judgewell completion bash >> ~/.bashrc
      judgewell completion zsh >> ~/.zshrc
      judgewell completion fish > ~/.config/fish/completions/judgewell.fish
    """
    root = click.get_current_context().find_root().command
    print(SHELLS[shell](root, {}, "judgewell", ASKED_BY).source())
