"""What several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import reduce
from typing import TYPE_CHECKING, Any

import click

from judgewell.errors import InputError

if TYPE_CHECKING:
    from judgewell.executors import Executor


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


negative_option = choice(
    "--negative",
    "unjudged",
    "zero",
    "keep",
    "error",
    help="Treat a grade below 0 as unjudged, as 0, as it is, or as an error.",
)


def refuse_unwritable(output: str | None, *inputs: str, endings: tuple[str, ...] = ENDINGS) -> None:
    """Before the work: the output's folder is there, its ending is known, and standard input is asked for once."""
    from pathlib import Path

    if inputs.count("-") > 1:
        raise InputError("standard input (-) is named twice and can be read only once", cure="put one into a file")
    if output is None or output == "-":
        return
    if not output.endswith(endings):
        raise InputError(f"{output} has no ending that says what to write", cure=f"end it in {', '.join(endings)}")
    if not Path(output).parent.is_dir():
        raise InputError(
            f"there is no folder {Path(output).parent} to write {Path(output).name} into", cure="make it first"
        )


WORDS = "Read these words as values: 'not relevant=0,relevant=1,N/A=' or A=left,B=right,tie=same."


def together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options as one decorator."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


# How tables are read; `reading` takes these options.
reading_options = together(
    click.option("--columns", help="Read these columns of the file: topic=qid,value=score."),
    click.option("--words", help=WORDS),
    click.option(
        "--separator",
        help="Split lines at this: comma, tab, semicolon, bar, space or a character.  [default: by the first line]",
    ),
    click.option(
        "--no-header", is_flag=True, help="Read the first line as data; number columns with --columns topic=1,doc=2."
    ),
)

# Where the work is done, which never changes a result; `executing` takes these options.
cluster_options = together(
    click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Run on the Dask cluster with this scheduler: tcp://HOST:8786, or dask for the configured one.",
    ),
    click.option("--processes", type=click.IntRange(min=1), help="Run in this many processes on this machine."),
)


def executing(cluster: str | None, processes: int | None) -> AbstractContextManager[Executor | None]:
    """The executor that the options name, closed at the end; None where neither is given."""
    if cluster is None and processes is None:
        return nullcontext()
    from judgewell.executors import executor_at

    return executor_at(cluster, processes)


where_option = click.option(
    "--where",
    multiple=True,
    help="Keep only rows with (=) or without (!=) these values: grade=1,2; known= (empty); assessor!=w7; "
    "assessor!=@FILE (one value per line).",
)

kind_option = click.option(
    "--kind",
    help="Treat values as ratio, interval (with ends: interval:0..100), ordinal or nominal.  "
    "[default: by the file or the values]",
)


def reading(given: Mapping[str, Any], *tables: str) -> dict[str, Any]:
    """columns, words and layout as readers take them; `tables` are those that --columns may name columns of."""
    if not any(given[name] for name in ("columns", "words", "separator", "no_header")):
        return {"columns": None, "words": None, "layout": None}
    from judgewell.formats import options

    return options.reading(given, *tables)


def method_options(arguments: list[str], flags: frozenset[str]) -> tuple[dict[str, str], list[str]]:
    """`--offset 1 --weighted more.csv`: the options a method has of its own, and further files. Flags need no value."""
    options: dict[str, str] = {}
    files = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            files.append(word)
            continue
        name, sign, value = word[2:].partition("=")
        name = name.replace("-", "_")
        if not sign:
            follows = rest[0] if rest and not rest[0].startswith("--") else None
            if name in flags and follows not in ("true", "false"):
                value = "true"
            elif follows is None:
                raise InputError(f"{word} needs a value", cure=f"write {word} VALUE")
            else:
                value = rest.pop(0)
        options[name] = value
    return options, files
