"""What several commands share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from judgewell.errors import DataError, InputError, note

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


SEPARATORS = {"comma": ",", "tab": "\t", "\\t": "\t", "semicolon": ";", "bar": "|", "space": " "}
WORDS = "What answers mean: 'not relevant=0,relevant=1,N/A=' or A=left,B=right,tie=same."


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say how tables are read; :func:`reading` takes them."""
    options = [
        click.option("--columns", help="Names of the columns in the file: topic=qid,value=score."),
        click.option("--words", help=WORDS),
        click.option("--separator", help="What separates fields: comma, tab, semicolon, bar, space or a character."),
        click.option("--no-header", is_flag=True, help="The first line holds data; --columns topic=1,doc=2 by number."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


where_option = click.option(
    "--where", multiple=True, help="Keep only rows with one of these values in a column: grade=1,2; pilot= for none."
)

kind_option = click.option(
    "--kind", help="What the values mean: ratio, interval, ordinal or nominal; interval:0..100 with ends."
)


def reading(given: Mapping[str, Any], *tables: str) -> dict[str, Any]:
    """columns, words and layout as readers take them; `tables` are those that --columns may name columns of."""
    if not any(given[name] for name in ("columns", "words", "separator", "no_header")):
        return {"columns": None, "words": None, "layout": None}
    from judgewell.formats.delimited import Layout
    from judgewell.formats.words import parse_words
    from judgewell.tables import TABLES, check_names

    columns = parse_columns(given["columns"])
    check_names(columns or {}, *(TABLES[name] for name in tables))
    separator = given["separator"] and SEPARATORS.get(given["separator"], given["separator"])
    if separator and len(separator.encode()) != 1:
        raise InputError(f"the separator {separator!r} is not one character", cure=f"say {', '.join(SEPARATORS)}")
    layout = Layout(separator, not given["no_header"])
    return {"columns": columns, "words": parse_words(given["words"]), "layout": layout}


def method_options(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    """`--offset 1 --average=mean more.csv`: the options a method has of its own, and further files."""
    options: dict[str, str] = {}
    files = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            files.append(word)
            continue
        name, sign, value = word[2:].partition("=")
        if not sign and (not rest or rest[0].startswith("--")):
            raise InputError(f"{word} needs a value", cure=f"write {word} VALUE")
        options[name.replace("-", "_")] = value if sign else rest.pop(0)
    return options, files


def parse_columns(text: str | None) -> dict[str, str] | None:
    """`topic=qid,value=score` as a mapping from our column names to the file's."""
    if text is None:
        return None
    pairs = [item.partition("=") for item in text.split(",")]
    for ours, sign, theirs in pairs:
        if not (ours.strip() and sign and theirs.strip()):
            raise InputError(f"{text!r} does not name columns", cure="write ours=theirs, e.g. topic=qid,doc=docno")
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def _parse_where(conditions: Iterable[str]) -> dict[str, list[str]]:
    """`pilot=A,B` as the values that a column may have; `a=1,2,b=` names two columns."""
    wanted: dict[str, list[str]] = {}
    for text in conditions:
        column = ""
        for item in text.split(","):
            name, sign, value = item.partition("=")
            column = name.strip() if sign else column
            if not column:
                raise InputError(f"{text!r} does not choose rows", cure="write column=value, e.g. --where grade=1,2")
            wanted.setdefault(column, []).append((value if sign else item).strip())
    return wanted


def kept_where(table: pl.DataFrame, where: Iterable[str]) -> pl.DataFrame:
    """The rows with one of the values asked for, with a note on how many are left out."""
    import polars as pl

    from judgewell.formats.words import is_number

    for column, values in _parse_where(where).items():
        if column not in table.columns:
            raise DataError(f"there is no column {column!r} to choose rows by; there are {', '.join(table.columns)}")
        asked = f"{column}={','.join(values)}"
        cells = table[column]
        if cells.dtype.is_numeric():
            wanted = [float(value) for value in values if is_number(value)]
            keep = cells.cast(pl.Float64).is_in(wanted)
        else:
            keep = cells.cast(pl.String).is_in(values)
        keep = keep.fill_null(False) | (cells.is_null() if "" in values else False)
        if not keep.any():
            there = ", ".join("nothing" if one is None else str(one) for one in cells.unique().sort().head(8))
            raise DataError(f"no row has {asked}; there are {there}")
        note(f"{len(table) - int(keep.sum())} of {len(table)} rows are left out by {asked}")
        table = table.filter(keep)
    return table


def read_labels(source: str, table: pl.DataFrame | None, words: Mapping[str, str] | None = None) -> pl.DataFrame:
    """A set of labels: a column of the judgments, or a file.

    The judgments' words hold for labels too, but not where they say that a number means another. Words that mean a
    side of a pair are no labels.
    """
    import polars as pl

    from judgewell.formats.gains import read_gains
    from judgewell.formats.words import is_number

    for_labels = {word: means for word, means in (words or {}).items() if not is_number(word)}
    labels: Any = source
    if table is not None and source in table.columns:
        labels = table.select("topic", "doc", gain=pl.col(source)).drop_nulls().unique(maintain_order=True)
        _refuse_two_labels(labels, source)
    with warnings.catch_warnings():  # which of the words the labels do not use says nothing
        warnings.filterwarnings("ignore", ".*no answer is")
        return read_gains(labels, words=for_labels)


def _refuse_two_labels(labels: pl.DataFrame, name: str) -> None:
    twice = labels.filter(labels.select("topic", "doc").is_duplicated())
    if len(twice):
        topic, doc, *_ = twice.row(0)
        raise DataError(
            f"the column {name} gives topic {topic}, document {doc} more than one label; a column of labels says the "
            "same wherever a document stands"
        )
