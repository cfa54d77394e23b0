"""What options of commands and functions mean: which column is which, which rows count, where labels come from."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from judgewell.errors import DataError, InputError, note
from judgewell.formats.files import stem
from judgewell.formats.gains import read_gains
from judgewell.formats.words import is_number


def parse_columns(text: str | Mapping[str, str] | None) -> dict[str, str] | None:
    """`topic=qid,value=score` as a mapping from our column names to the file's."""
    if text is None:
        return None
    if not isinstance(text, str):
        return dict(text)
    pairs = [item.partition("=") for item in text.split(",")]
    for ours, sign, theirs in pairs:
        if not (ours.strip() and sign and theirs.strip()):
            raise InputError(f"{text!r} does not name columns", cure="write ours=theirs, e.g. topic=qid,doc=docno")
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def kept_where(table: pl.DataFrame, where: str | Mapping[str, str] | None) -> pl.DataFrame:
    """The rows that have the value asked for in a column; a note says how many are left out."""
    for column, value in (parse_columns(where) or {}).items():
        if column not in table.columns:
            raise DataError(f"there is no column {column!r} to choose rows by; there are {', '.join(table.columns)}")
        kept = table.filter(pl.col(column).cast(pl.String) == value)
        if kept.is_empty():
            there = ", ".join(map(str, table[column].unique().sort().head(8)))
            raise DataError(f"no row has {column} {value!r}; there are {there}")
        note(f"{len(table) - len(kept)} of {len(table)} rows are left out by {column}={value}")
        table = kept
    return table


def label_source(text: str, table: pl.DataFrame | None = None) -> tuple[str, str]:
    """What a label set is called and where it is: a column of the judgments, or a file (name=path names it)."""
    name, sign, path = text.partition("=")
    if table is not None and text in table.columns:
        return text, text
    return (name, path) if sign and not Path(text).exists() else (stem(text), text)


def read_labels(source: Any, table: pl.DataFrame | None, words: Mapping[str, str] | None = None) -> pl.DataFrame:
    """A set of labels: a column of the judgments, or whatever holds gains.

    The judgments' words hold for labels too, but not where they say that a number means another.
    """
    for_labels = {word: means for word, means in (words or {}).items() if not is_number(word)}
    data = source
    if table is not None and isinstance(source, str) and source in table.columns:
        data = table.select("topic", "doc", gain=pl.col(source)).drop_nulls().unique(maintain_order=True)
        _refuse_two_labels(data, source)
    with warnings.catch_warnings():  # which of the words the labels do not use says nothing
        warnings.filterwarnings("ignore", ".*no answer is")
        return read_gains(data, words=for_labels, negative="auto")


def _refuse_two_labels(labels: pl.DataFrame, name: str) -> None:
    twice = labels.filter(labels.select("topic", "doc").is_duplicated())
    if len(twice):
        topic, doc, *_ = twice.row(0)
        raise DataError(
            f"the column {name} gives topic {topic}, document {doc} more than one label; a column of labels must give "
            "a document the same label in every row"
        )
