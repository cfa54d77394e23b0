"""Records with named fields and the line each begins on: JSON lines, JSON, CSV, TSV and Parquet.

For files of texts (topics, documents), where a mistake is told with its line and nothing is typed but the ids.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from judgewell.errors import InputError

Record = tuple[int | None, dict[str, Any]]

csv.field_size_limit(2**31 - 1)  # a document is one field


def decoded(data: bytes, path: str | Path) -> str:
    """The bytes as text; what is not UTF-8 is told with its line rather than replaced."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise InputError(
            f"byte {data[problem.start]:#04x} is not UTF-8",
            cure="convert the file, e.g. iconv -f latin1 -t utf-8",
            file=path,
            line=line,
        ) from None


def read_records(data: bytes, path: str | Path) -> Iterator[Record]:
    """The records of a file, told apart by its first bytes and, for CSV and TSV, by its first line."""
    if data[:4] == b"PAR1":
        return _parquet(data)
    text = decoded(data, path)
    start = text.lstrip()[:1]
    if start == "[":
        return _json_list(text, path)
    if start == "{":
        return _json_lines(text, path)
    return _table(text, path)


def field(record: Mapping[str, Any], names: tuple[str, ...], where: Mapping[str, Any]) -> str | None:
    """The first of the named fields that the record has, as text; capitals in names do not matter.

    `where` says file and line for the error when the field is neither text nor a whole number.
    """
    for key in _keys(tuple(record), names):
        value = record[key]
        if isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if value is not None:
            raise InputError(f"{key} {str(value)[:40]} is not text", cure="give text or a whole number", **where)
    return None


@lru_cache(maxsize=256)
def _keys(present: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    """The record's own keys for the names, in the names' order; records of a file mostly have the same keys."""
    lowered = {key.strip().lower(): key for key in present}
    return tuple(lowered[name] for name in names if name in lowered)


def _json_lines(text: str, path: str | Path) -> Iterator[Record]:
    for line, content in enumerate(text.split("\n"), start=1):
        if content.strip():
            yield line, _object(_loaded(content, path, line), path, line)


def _json_list(text: str, path: str | Path) -> Iterator[Record]:
    for number, value in enumerate(_loaded(text, path, None), start=1):
        if not isinstance(value, dict):
            raise InputError(f"entry {number} is not an object", cure='write each as {"…": "…"}', file=path)
        yield None, value


def _loaded(content: str, path: str | Path, line: int | None) -> Any:
    try:
        return json.loads(content)
    except json.JSONDecodeError as problem:
        raise InputError(
            f"this is not JSON: {problem.msg} at character {problem.colno}",
            cure="write one object per line" if line else None,
            file=path,
            line=line or problem.lineno,
        ) from None
    except RecursionError:
        raise InputError("this JSON is nested too deeply", file=path, line=line) from None


def _object(value: Any, path: str | Path, line: int) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError("this line is not an object", cure='write each as {"…": "…"}', file=path, line=line)
    return value


def _table(text: str, path: str | Path) -> Iterator[Record]:
    first = text.split("\n", 1)[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if "\t" in first else ",", strict=True)
    names: list[str] = []
    line = 1
    try:
        for row in reader:
            if row and not names:
                names = [name.strip() for name in row]
            elif row:
                if len(row) != len(names):
                    raise InputError(
                        f"{len(row)} fields, and the first line names {len(names)}",
                        cure="put fields that hold commas or line ends into double quotes",
                        file=path,
                        line=line,
                    )
                yield line, dict(zip(names, row, strict=True))
            line = reader.line_num + 1
    except csv.Error as problem:
        raise InputError(f"this is not readable CSV ({problem})", file=path, line=line) from None


def _parquet(data: bytes) -> Iterator[Record]:
    import polars as pl

    for row in pl.read_parquet(io.BytesIO(data)).iter_rows(named=True):
        yield None, row
