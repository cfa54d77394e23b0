"""What several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from judgewell.errors import InputError

if TYPE_CHECKING:
    import polars as pl


ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".parquet")


class TakesSeveral(click.Command):
    """A command whose options for files take all words up to the next option, so that shells' globs work."""

    several = ("--runs", "--gains", "--labels")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        spread: list[str] = []
        option = ""
        for word in args:
            if word.startswith("-") and word != "-":
                option = word if word in self.several else ""
                if not option:
                    spread.append(word)
            else:
                spread += [option, word] if option else [word]
        return super().parse_args(ctx, spread)


def choice(name: str, *choices: str, help: str) -> Callable[[Any], Any]:
    """An option that takes one of these words; the first is the default."""
    return click.option(name, type=click.Choice(choices), default=choices[0], help=help)


def refuse_unwritable(output: str | None, *inputs: str) -> None:
    """Before the work: the output's folder is there, its ending is known, and standard input is asked for once."""
    from pathlib import Path

    if inputs.count("-") > 1:
        raise InputError("standard input (-) is named twice and can be read only once", cure="put one into a file")
    if output is None or output == "-":
        return
    if not output.endswith(ENDINGS):
        raise InputError(f"{output} has no ending that says what to write", cure=f"end it in {', '.join(ENDINGS)}")
    if not Path(output).parent.is_dir():
        raise InputError(
            f"there is no folder {Path(output).parent} to write {Path(output).name} into", cure="make it first"
        )


def method_options(arguments: list[str]) -> dict[str, str]:
    """`--offset 1 --average=mean` as a mapping: the options a method has of its own."""
    options: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            raise InputError(
                f"{word!r} is one argument too many", cure="several files are named in quotes: 'batch*.csv'"
            )
        name, sign, value = word[2:].partition("=")
        if not sign and (not rest or rest[0].startswith("--")):
            raise InputError(f"{word} needs a value", cure=f"write {word} VALUE")
        options[name.replace("-", "_")] = value if sign else rest.pop(0)
    return options


def parse_columns(text: str | None) -> dict[str, str] | None:
    """`topic=qid,value=score` as a mapping from our column names to the file's."""
    from judgewell.formats import options

    return options.parse_columns(text)


def kept_where(table: pl.DataFrame, where: str | None) -> pl.DataFrame:
    """The rows that have the value asked for in a column; a note says how many are left out."""
    from judgewell.formats import options

    return options.kept_where(table, where)


def read_labels(source: str, table: pl.DataFrame | None, words: Mapping[str, str] | None = None) -> pl.DataFrame:
    """A set of labels: a column of the judgments, or a file."""
    from judgewell.formats import options

    return options.read_labels(source, table, words)
