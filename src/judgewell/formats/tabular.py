"""Tables with named columns: CSV, TSV, Parquet and JSON lines, read as text and typed by the table's own schema."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from judgewell.errors import InputError
from judgewell.formats.files import COMPRESSED, open_bytes
from judgewell.tables import OTHER_NAMES, TABLES, Table, check

BOM = b"\xef\xbb\xbf"
JSON = re.compile(rb"\s*(\{\s*[\"}]|\[\s*[\{\]])")
KNOWN_NAMES = {name for table in TABLES.values() for name in table.names} | {
    other for others in OTHER_NAMES.values() for other in others
}


def kind_of(data: bytes, path: str | Path, columns: Mapping[str, str] | None = None) -> str:
    """What the bytes are: parquet, json, csv, tsv, or trec where nothing says otherwise."""
    if data[:4] == b"PAR1":
        return "parquet"
    if JSON.match(data.removeprefix(BOM)[:4096]):
        return "json"
    first = data.removeprefix(BOM)[:65536].split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    known = KNOWN_NAMES | {name.lower() for name in (columns or {}).values()}
    for kind, separator in (("csv", ","), ("tsv", "\t")):
        fields = [field.strip().strip('"').lower() for field in first.split(separator)]
        if len(fields) > 1 and sum(field in known for field in fields) >= 2:
            return kind
    name = str(path)
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return "csv" if name.endswith(".csv") else "trec"


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
    data = (open_bytes(path) if data is None else data).removeprefix(BOM)
    kind = kind_of(data, path, columns)
    try:
        if kind == "parquet":
            return pl.read_parquet(io.BytesIO(data))
        if kind == "json" and data.lstrip()[:1] == b"[":
            return pl.read_json(data, infer_schema_length=None)
        if kind == "json":
            return pl.read_ndjson(data, infer_schema_length=None)
        if not data.strip():
            raise InputError("the file is empty", cure="its first line names the columns", file=path)
        return pl.read_csv(data, infer_schema=False, separator="\t" if kind == "tsv" else ",")
    except pl.exceptions.PolarsError as problem:
        said = str(problem).splitlines()[0]
        raise InputError(f"this is not a readable {kind} file ({said})", file=path) from None


def read_table(path: str | Path, table: Table, columns: Mapping[str, str] | None = None) -> pl.DataFrame:
    """A file of named columns as a checked table."""
    data = open_bytes(path)
    frame = read_frame(path, data)
    return check(frame, table, file=path, rename=columns, lines=csv_lines(data, path))


def csv_lines(data: bytes, path: str | Path) -> Callable[[int], int] | None:
    """For a CSV, the line on which a row (from 0) begins; only asked for when something is wrong."""
    if kind_of(data, path) not in ("csv", "tsv"):
        return None

    def line_of(row: int) -> int:
        reader = csv.reader(io.StringIO(data.decode("utf-8", "replace")))
        line = 1
        for number, _ in enumerate(reader):
            if number == row + 1:
                return line
            line = reader.line_num + 1
        return line

    return line_of


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
