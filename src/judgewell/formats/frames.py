"""Tables with named columns: delimited text, Parquet and JSON lines, read as text and typed by the table's schema."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import polars as pl

from judgewell.errors import InputError
from judgewell.formats.delimited import (
    BOM,
    SEPARATORS,
    UTF16,
    first_line,
    line_numbers,
    names_of,
    plain_text,
    read_delimited,
)
from judgewell.formats.files import COMPRESSED, open_bytes
from judgewell.tables import OTHER_NAMES, TABLES, Table, check

JSON = re.compile(rb"\s*(\{\s*[\"}]|\[\s*[\{\]])")
KNOWN_NAMES = {name for table in TABLES.values() for name in table.names} | {
    other for others in OTHER_NAMES.values() for other in others
}


def kind_of(data: bytes, path: str | Path, columns: Mapping[str, str] | None = None) -> str:
    """What the bytes are: parquet, json, csv (whatever separates its fields), or trec where nothing says otherwise."""
    if data[:4] == b"PAR1":
        return "parquet"
    start = data[:4096]
    start = start.decode("utf-16", "ignore").encode("utf-8") if start.startswith(UTF16) else start.removeprefix(BOM)
    if JSON.match(start):
        return "json"
    first = first_line(data)
    known = KNOWN_NAMES | {name.lower() for name in (columns or {}).values()}
    for separator in SEPARATORS:
        if separator in first and sum(name.lower() in known for name in names_of(first, separator)) >= 2:
            return "csv"
    if _names_between_spaces(first, known):
        return "csv"
    name = str(path)
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return "csv" if name.endswith(".csv") else "trec"


def _names_between_spaces(line: str, known: set[str]) -> bool:
    """Whether a line names columns with spaces between them: some are known and none is a number."""
    names = [name.lower() for name in line.split()]
    numbers = [name for name in names if name.replace(".", "").lstrip("+-").isdigit()]
    return not numbers and sum(name in known for name in names) >= 2


def mine(columns: Mapping[str, str] | None, table: Table) -> dict[str, str] | None:
    """The part of a column mapping that names columns of this table; other tables may need the rest."""
    return {ours: theirs for ours, theirs in columns.items() if ours in table.names} if columns else None


def read_nested(data: bytes) -> dict[str, Any] | None:
    """A JSON file that holds one object of objects, {topic: {doc: number}}; None where it holds anything else."""
    if not data.removeprefix(BOM).lstrip().startswith(b"{"):
        return None
    try:
        found = json.loads(data.removeprefix(BOM))
    except ValueError:
        return None
    whole = isinstance(found, dict) and found and all(isinstance(value, dict) for value in found.values())
    return found if whole else None


def read_frame(path: str | Path, data: bytes | None = None, columns: Mapping[str, str] | None = None) -> pl.DataFrame:
    """A file of named columns as a frame; CSV columns stay text, so ids such as 007 keep their zeros."""
    data = open_bytes(path) if data is None else data
    kind = kind_of(data, path, columns)
    if kind == "parquet":
        return _parquet(data, path)
    text = plain_text(data, path)
    return _json(text, path) if kind == "json" else read_delimited(text, path)


def _parquet(data: bytes, path: str | Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(io.BytesIO(data))
    except pl.exceptions.PolarsError as problem:
        said = str(problem).splitlines()[0]
        raise InputError(f"this is not a readable parquet file ({said})", cure="write it anew", file=path) from None


def _json(text: bytes, path: str | Path) -> pl.DataFrame:
    """A list of objects, or an object on every line."""
    listed = text.lstrip()[:1] == b"["
    try:
        if listed:
            return pl.read_json(text, infer_schema_length=None)
        return pl.read_ndjson(text, infer_schema_length=None)
    except pl.exceptions.PolarsError as problem:
        _refuse_json(text, path, listed)
        said = str(problem).splitlines()[0]
        raise InputError(f"this is not a readable json file ({said})", cure="write it anew", file=path) from None


def _refuse_json(text: bytes, path: str | Path, listed: bool) -> None:
    """Name the line of a broken JSON file."""

    def no_number(word: str) -> NoReturn:
        raise ValueError(f"{word} is not JSON")

    pieces = [(0, text)] if listed else enumerate(text.split(b"\n"))
    for before, piece in pieces:
        if not piece.strip():
            continue
        try:
            found = json.loads(piece, parse_constant=no_number)
        except UnicodeDecodeError as problem:
            line = before + piece.count(b"\n", 0, problem.start) + 1
            raise InputError("this line is not UTF-8", cure="write the file as UTF-8", file=path, line=line) from None
        except json.JSONDecodeError as problem:
            said = f"this is not JSON: {problem.msg} at character {problem.colno}"
            raise InputError(said, cure="mend the line", file=path, line=before + problem.lineno) from None
        except ValueError as problem:
            cure = "leave the value out where there is none"
            raise InputError(str(problem), cure=cure, file=path, line=None if listed else before + 1) from None
        if not listed and not isinstance(found, dict):
            raise InputError("this line is not an object", cure='write {"topic": …}', file=path, line=before + 1)


def read_table(path: str | Path, table: Table, columns: Mapping[str, str] | None = None) -> pl.DataFrame:
    """A file of named columns as a checked table."""
    data = open_bytes(path)
    frame = read_frame(path, data, columns)
    return check(frame, table, file=path, rename=columns, lines=csv_lines(data, path, columns))


def csv_lines(data: bytes, path: str | Path, columns: Mapping[str, str] | None = None) -> Callable[[int], int] | None:
    """For delimited text or JSON lines, the line on which a row (from 0) begins; only looked for when it is asked."""
    kind = kind_of(data, path, columns)
    if kind == "csv":
        return lambda row: line_numbers(plain_text(data, path))(row)
    if kind == "json" and plain_text(data[:65536], path).lstrip()[:1] == b"{":
        return lambda row: _line_with_text(plain_text(data, path), row)
    return None


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
