"""Tables with named columns: delimited text, Parquet and JSON lines, read as text and typed by the table's schema."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import polars as pl

from judgewell.errors import InputError, Place
from judgewell.formats.delimited import (
    NUMBER,
    SEPARATORS,
    SHOWN,
    Layout,
    ending,
    first_line,
    line_of_row,
    names_of,
    read_delimited,
    refuse_no_data,
    text_of,
)
from judgewell.formats.files import open_bytes
from judgewell.formats.trec import line_of
from judgewell.tables import BESIDE, OTHER_NAMES, TABLES, Table, check_names

PARQUET = b"PAR1"
JSON = re.compile(r"\s*(\{|\[\s*(\{|\]|$))")
JSON_TYPES = {
    type(None): "",
    bool: "true or false",
    int: "text or a number",
    float: "text or a number",
    str: "text or a number",
    list: "a list",
    dict: "an object",
}
KNOWN_NAMES = {name for table in TABLES.values() for name in table.names} | {
    other for others in OTHER_NAMES.values() for other in others
}


@dataclass(frozen=True)
class Contents:
    """A file that was read: its bytes, text in UTF-8, and what they are: parquet, json, csv (whatever separates its
    fields), or trec where nothing says otherwise."""

    path: str
    data: bytes
    kind: str
    layout: Layout = SHOWN

    def frame(self) -> pl.DataFrame:
        """The named columns of the file; those of delimited text stay text, so ids such as 007 keep their zeros."""
        if self.kind == "parquet":
            return _parquet(self.data, self.path)
        if self.kind == "json":
            return _json(self.data, self.path)
        return read_delimited(self.data, self.path, self.layout)

    def named(self) -> Contents:
        """The same for a reader that knows columns by their names only."""
        return replace(self, kind="csv") if self.kind == "trec" else self

    @property
    def place(self) -> Place:
        """The line of each row, looked for only when it is asked; Parquet and a JSON list have none."""
        if self.kind == "trec":
            return Place(self.path, partial(line_of, self.data))
        if self.kind == "csv":
            return Place(self.path, partial(line_of_row, self.data, self.path, self.layout))
        lines = self.kind == "json" and self.data.lstrip()[:1] == b"{"
        return Place(self.path, partial(_line_with_text, self.data) if lines else None)


def load(
    path: str | Path, columns: Mapping[str, str] | None = None, layout: Layout | None = None, data: bytes | None = None
) -> Contents:
    """A file of a table; `columns` maps our names to the file's, which shows whether its first line has names."""
    data = open_bytes(path) if data is None else data
    if data[:4] == PARQUET:
        return Contents(str(path), data, "parquet")
    refuse_no_data(data, path)
    data = text_of(data, path)
    return Contents(str(path), data, kind_of(data, path, columns, layout), layout or SHOWN)


def kind_of(
    data: bytes, path: str | Path, columns: Mapping[str, str] | None = None, layout: Layout | None = None
) -> str:
    """What the first bytes of a file are: parquet, json, csv or trec."""
    if data[:4] == PARQUET:
        return "parquet"
    first = first_line(data)
    if JSON.match(first):
        return "json"
    if layout not in (None, SHOWN):
        return "csv"
    known = KNOWN_NAMES | {name.lower() for name in (columns or {}).values()}
    for separator in SEPARATORS:
        if separator in first and sum(name.lower() in known for name in names_of(first, separator)) >= 2:
            return "csv"
    if _names_between_spaces(first, known):
        return "csv"
    if ending(path) == ".tsv":  # MS MARCO's qrels and runs are called .tsv and have no names
        return "trec" if any(map(NUMBER.fullmatch, names_of(first, "\t"))) else "csv"
    return "csv" if ending(path) == ".csv" else "trec"


def _names_between_spaces(line: str, known: set[str]) -> bool:
    """Whether a line names columns with spaces between them: some are known and none is a number."""
    names = [name.lower() for name in line.split()]
    return not any(map(NUMBER.fullmatch, names)) and sum(name in known for name in names) >= 2


def mine(columns: Mapping[str, str] | None, table: Table) -> dict[str, str] | None:
    """The part of a column mapping that names columns of this table; other tables may need the rest."""
    check_names(columns or {}, *TABLES.values())
    own = (*table.names, *BESIDE.get(table.name, ()))
    return {ours: theirs for ours, theirs in columns.items() if ours in own} if columns else None


def read_nested(data: bytes, path: str) -> dict[str, Any] | None:
    """A JSON file that holds one object of objects, {topic: {doc: number}}; None where it holds anything else."""

    def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"{twice!r} appears twice in one JSON object", cure="keep one of them", file=path)
        return made

    try:
        content = json.loads(data, object_pairs_hook=each_once) if data.lstrip()[:1] == b"{" else None
    except (ValueError, RecursionError):
        return None
    whole = isinstance(content, dict) and content and all(isinstance(value, dict) for value in content.values())
    return content if whole else None


def are_json_lines(beginning: bytes) -> bool:
    """Whether a file that begins so holds an object in each line, rather than one object of objects or a list."""
    line, end, _ = beginning.lstrip().partition(b"\n")
    try:
        row = json.loads(line) if end else None
    except (ValueError, RecursionError):
        return False
    return isinstance(row, dict) and not all(isinstance(value, dict) for value in row.values())


def read_frame(
    path: str | Path, columns: Mapping[str, str] | None = None, layout: Layout | None = None
) -> pl.DataFrame:
    """A file of named columns as a frame."""
    return load(path, columns, layout).named().frame()


def columns_called(frame: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """The frame's columns that have one of the names, in the names' order; capitals do not matter."""
    there = {name.strip().lower(): name for name in reversed(frame.columns)}
    return [there[name] for name in names if name in there]


def text_called(frame: pl.DataFrame, names: Sequence[str], place: Place) -> pl.Series:
    """In each row the first of the named columns that is filled, as text; all null where there is none of them."""
    columns = columns_called(frame, names)
    for name in columns:
        values = frame[name]
        if not (values.dtype == pl.String or values.dtype.is_integer() or values.dtype == pl.Null):
            row = int(values.is_not_null().arg_true()[0])
            problem = f"{name} {str(values[row])[:40]} is not text"
            raise place.error(problem, "give text or a whole number", row)
    texts = [frame[name].cast(pl.String).alias(str(at)) for at, name in enumerate(columns)]
    if not texts:
        return pl.Series([None], dtype=pl.String).new_from_index(0, len(frame))
    return pl.DataFrame(texts).select(pl.coalesce(pl.all())).to_series()


def _parquet(data: bytes, path: str | Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(data))
    except pl.exceptions.PolarsError as problem:
        reason = str(problem).splitlines()[0]
        raise InputError(f"this is not a readable parquet file ({reason})", cure="write it again", file=path) from None


def _json(text: bytes, path: str | Path) -> pl.DataFrame:
    """A list of objects, or an object on every line."""
    listed = text.lstrip()[:1] == b"["
    try:
        read = pl.read_json if listed else pl.read_ndjson
        frame = read(text, infer_schema_length=None)
        if any(_may_be_mixed(column) for column in frame):  # polars takes "a" beside ["b"] for a list
            _refuse_mixed(_parsed(text, path, listed), path)
        return frame
    except pl.exceptions.PolarsError as problem:
        _refuse_mixed(_parsed(text, path, listed), path)
        reason = str(problem).splitlines()[0]
        raise InputError(f"this is not a readable json file ({reason})", cure="write it again", file=path) from None


def _parsed(text: bytes, path: str | Path, listed: bool) -> list[tuple[int | None, dict[str, Any]]]:
    """The objects of a JSON file with their lines, or the line where it is broken."""

    def no_number(word: str) -> NoReturn:
        raise ValueError(f"{word} is not JSON")

    objects: list[tuple[int | None, dict[str, Any]]] = []
    for before, piece in [(0, text)] if listed else enumerate(text.split(b"\n")):
        if not piece.strip():
            continue
        line = None if listed else before + 1
        try:
            value = json.loads(piece, parse_constant=no_number)
        except json.JSONDecodeError as problem:
            reason = f"this is not JSON: {problem.msg} at character {problem.colno}"
            raise InputError(reason, cure="mend the line", file=path, line=before + problem.lineno) from None
        except RecursionError:
            raise InputError("this JSON is nested too deeply", file=path, line=line) from None
        except ValueError as problem:
            raise InputError(
                str(problem), cure="leave the value out where there is none", file=path, line=line
            ) from None
        for number, entry in enumerate(value if listed else [value], 1):
            if not isinstance(entry, dict):
                what = f"entry {number}" if listed else "this line"
                raise InputError(f"{what} is not an object", cure='write {"topic": …}', file=path, line=line)
            objects.append((line, entry))
    return objects


def _may_be_mixed(values: pl.Series) -> bool:
    """Whether a column of JSON may hold lists or objects beside other things."""
    return values.dtype.is_nested() or (values.dtype == pl.String and bool(values.str.contains(r"^[\[{]").any()))


def _refuse_mixed(objects: list[tuple[int | None, dict[str, Any]]], path: str | Path) -> None:
    """A field that holds a number here and a list there has no type."""
    types: dict[str, str] = {}
    for number, (line, entry) in enumerate(objects, 1):
        for name, value in entry.items():
            is_a = JSON_TYPES[type(value)]
            if is_a and types.setdefault(name, is_a) != is_a:
                where = "" if line else f"entry {number}: "
                problem = f"{where}{name} is {is_a} here and {types[name]} before"
                raise InputError(problem, cure="write it the same way everywhere", file=path, line=line)


def _line_with_text(text: bytes, row: int) -> int:
    """The line of the row-th line (from 0) that is not empty."""
    filled = (number for number, line in enumerate(text.split(b"\n"), 1) if line.strip())
    return next((number for at, number in enumerate(filled) if at == row), 1)


def write_table(frame: pl.DataFrame, path: str | Path, metadata: Mapping[str, str] | None = None) -> None:
    """A frame as .csv, .tsv, .parquet, .json or .jsonl, by the path's ending."""
    name = str(path)
    if name.endswith(".parquet"):
        frame.write_parquet(name, metadata=dict(metadata) if metadata else None)
    elif name.endswith((".jsonl", ".ndjson")):
        frame.write_ndjson(name)
    elif name.endswith(".json"):
        frame.write_json(name)
    elif name.endswith((".csv", ".tsv")):
        frame.write_csv(name, separator="\t" if name.endswith(".tsv") else ",")
    else:
        raise InputError(
            f"{name} has no ending that says what to write", cure="end it in .csv, .tsv, .json, .jsonl or .parquet"
        )
