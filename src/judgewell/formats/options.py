"""What options of commands and functions mean: which column is which, which rows count, where labels come from."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from judgewell.errors import DataError, Information, InputError, note
from judgewell.formats.delimited import Layout
from judgewell.formats.files import open_bytes
from judgewell.formats.gains import read_gains
from judgewell.formats.words import is_number, parse_words
from judgewell.tables import TABLES, check_names
from judgewell.text import counted

SEPARATORS = {"comma": ",", "tab": "\t", "\\t": "\t", "semicolon": ";", "bar": "|", "space": " "}
MOST_VALUES = 8  # of a condition that a message names


def reading(given: Mapping[str, Any], *tables: str) -> dict[str, Any]:
    """columns, words and layout as readers take them; `tables` are those that --columns may name columns of."""
    columns = parse_columns(given["columns"])
    check_names(columns or {}, *(TABLES[name] for name in tables))
    separator = given["separator"] and SEPARATORS.get(given["separator"], given["separator"])
    if separator and len(separator.encode()) != 1:
        raise InputError(f"the separator {separator!r} is not one character", cure=f"say {', '.join(SEPARATORS)}")
    words = parse_words(given["words"]) if isinstance(given["words"], str) else given["words"]
    layout = Layout(separator, not given["no_header"]) if separator or given["no_header"] else None
    return {"columns": columns, "words": words, "layout": layout}


def parse_columns(text: str | Mapping[str, str] | None) -> dict[str, str] | None:
    """`topic=qid,value=score` as a mapping from our column names to the file's."""
    if text is None or isinstance(text, Mapping):
        return None if text is None else dict(text)
    pairs = [item.partition("=") for item in text.split(",")]
    for ours, sign, theirs in pairs:
        if not (ours.strip() and sign and theirs.strip()):
            raise InputError(f"{text!r} does not name columns", cure="write ours=theirs, e.g. topic=qid,doc=docno")
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


@dataclass
class _Condition:
    """The values that a column must have, or must not have."""

    column: str
    unlike: bool
    values: list[str]

    def __str__(self) -> str:
        some = ",".join(self.values[:MOST_VALUES]) + (",…" if len(self.values) > MOST_VALUES else "")
        return f"{self.column}{'!=' if self.unlike else '='}{some}"

    @property
    def for_reports(self) -> str:
        """The condition without names of assessors, which a report must not show."""
        if self.column != "assessor":
            return f"with {self}"
        return f"{'without' if self.unlike else 'of'} {counted(len(self.values), 'assessor')}"

    def keeps(self, cells: pl.Series) -> pl.Series:
        """Which cells meet it; an empty one has the value ""."""
        if cells.dtype.is_numeric():
            wanted = [float(value) for value in self.values if is_number(value)]
            named = cells.cast(pl.Float64).is_in(wanted)
        else:
            named = cells.cast(pl.String).is_in(self.values)
        named = named.fill_null(False) | (cells.is_null() if "" in self.values else False)
        return ~named if self.unlike else named


def _parse_where(texts: Iterable[str]) -> list[_Condition]:
    """`pilot=A,B` as the values that a column may have; `a=1,2,b!=` names two columns; `a!=@FILE` takes its lines."""
    conditions: list[_Condition] = []
    for text in texts:
        last: _Condition | None = None
        for item in text.split(","):
            name, sign, value = item.partition("=")
            if sign:
                column, unlike = name.removesuffix("!").strip(), name.endswith("!")
                same = [one for one in conditions if (one.column, one.unlike) == (column, unlike)]
                last = same[0] if same else _Condition(column, unlike, [])
                conditions += [] if same else [last]
            if last is None or not last.column:
                cure = "write column=value or column!=value, e.g. --where grade=1,2"
                raise InputError(f"{text!r} does not choose rows", cure=cure)
            last.values += _values((value if sign else item).strip())
    return conditions


def where_files(where: str | Iterable[str]) -> list[str]:
    """The files that conditions take their values from."""
    texts = [where] if isinstance(where, str) else list(where)
    return [item.partition("@")[2] for text in texts for item in text.split(",") if "=@" in item]


def _values(text: str) -> list[str]:
    """A value, or the lines of a file that is named behind @."""
    if not text.startswith("@"):
        return [text]
    lines = open_bytes(text[1:]).decode("utf-8", "replace").splitlines()
    return [line.strip() for line in lines if line.strip()]


def kept_where(table: pl.DataFrame, where: str | Iterable[str]) -> pl.DataFrame:
    """The rows that meet every condition, with a note on how many are excluded."""
    for condition in _parse_where([where] if isinstance(where, str) else where):
        column = condition.column
        if column not in table.columns:
            raise DataError(f"there is no column {column!r} to choose rows by; there are {', '.join(table.columns)}")
        cells = table[column]
        keep = condition.keeps(cells)
        if not keep.any() or (condition.unlike and keep.all()):
            there = ", ".join(str(one) for one in cells.drop_nulls().unique().sort().head(8)) or "no values"
            empty = (
                f", and {counted(cells.null_count(), 'row')} without a value ({column}=)" if cells.null_count() else ""
            )
            none = "every row" if condition.unlike and keep.all() else "no row"
            raise DataError(f"{none} has {condition}; there are {there}{empty}")
        if not keep.all():
            note(Information(f"{int(keep.sum())} of {len(table)} rows are used: those {condition.for_reports}"))
        table = table.filter(keep)
    return table


def read_labels(
    source: Any,
    table: pl.DataFrame | None,
    words: Mapping[str, str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """A set of labels: a column of the judgments, or whatever holds gains.

    A column that `columns` renames may be called by its name in the file too. The judgments' words hold for labels
    too, but not where they say that a number means another. Words that mean a side of a pair are no labels.
    """
    for_labels = {word: means for word, means in (words or {}).items() if not is_number(word)}
    data = source
    if table is not None and isinstance(source, str):
        ours = {own: ours for ours, own in (columns or {}).items()}
        column = source if source in table.columns else ours.get(source, source)
        if column in table.columns:
            data = table.select("topic", "doc", gain=pl.col(column)).drop_nulls().unique(maintain_order=True)
            _refuse_two_labels(data, source)
        elif source.isidentifier() and not Path(source).exists():
            there = ", ".join(table.columns)
            raise InputError(f"labels {source}: no file and no column of the judgments", cure=f"columns: {there}")
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
