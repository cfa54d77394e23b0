"""Text tables as people have them: comma, tab, semicolon or bar between fields, any line ends, any usual encoding."""

from __future__ import annotations

import codecs
import csv
import io
import warnings
from collections.abc import Callable
from pathlib import Path

import polars as pl

from judgewell.errors import InputError, JudgewellWarning
from judgewell.formats.tabular import BOM

SEPARATORS = (",", "\t", ";", "|")
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def as_utf8(data: bytes, path: str | Path) -> bytes:
    """The text in UTF-8 with lines that end in a line feed; one in no known encoding is read as Latin-1, and told."""
    if data.startswith(UTF16):
        data = data.decode("utf-16", "replace").encode("utf-8")
    data = data.removeprefix(BOM)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        warnings.warn(f"{path}: not UTF-8; read as Latin-1", JudgewellWarning, stacklevel=5)
        data = data.decode("latin-1").encode("utf-8")
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise InputError("a byte 0 is no text", cure="write the file as plain text", file=path, line=line)
    return data.replace(b"\r", b"\n") if b"\r" in data and b"\n" not in data else data


def separator_of(data: bytes) -> str:
    """What stands between the names in the first line: the separator that makes the most of them."""
    first = data[:65536].split(b"\n", 1)[0].decode("utf-8", "replace")
    return max(SEPARATORS, key=lambda mark: len(next(csv.reader([first], delimiter=mark), [])))


def read_delimited(data: bytes, path: str | Path) -> pl.DataFrame:
    """A table of text columns under the names of its first line; a line with more fields than names is an error."""
    if not data.strip():
        raise InputError("the file is empty", cure="its first line names the columns", file=path)
    separator = separator_of(data)
    names = next(csv.reader(io.StringIO(data[:65536].decode("utf-8", "replace")), delimiter=separator))
    names = [name.strip() for name in names]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"two columns are called {twice[0]!r}", cure="rename or drop one of them", file=path, line=1)
    try:
        frame = pl.read_csv(data, infer_schema=False, separator=separator)
    except pl.exceptions.PolarsError as problem:
        raise _unreadable(data, path, separator, len(names), str(problem).splitlines()[0]) from None
    return frame.rename(dict(zip(frame.columns, names, strict=True)))


def _unreadable(data: bytes, path: str | Path, separator: str, width: int, said: str) -> InputError:
    """The first line that does not fit, named."""
    reader = csv.reader(io.StringIO(data.decode("utf-8", "replace"), newline=""), delimiter=separator, strict=True)
    line = 1
    try:
        for fields in reader:
            if len(fields) > width:
                cure = "mend the line, or put quotes around a field that holds the separator"
                problem = f"this line has {len(fields)} fields, the first line names {width} columns"
                return InputError(problem, cure=cure, file=path, line=line)
            line = reader.line_num + 1
    except csv.Error as problem:
        return InputError(f"the quotes of this line do not close ({problem})", cure="mend it", file=path, line=line)
    return InputError(f"this is not a readable CSV file ({said})", cure="write it anew as CSV", file=path)


def line_numbers(data: bytes) -> Callable[[int], int]:
    """The line on which a row (from 0) begins; only asked for when something is wrong."""

    def line_of(row: int) -> int:
        reader = csv.reader(io.StringIO(data.decode("utf-8", "replace"), newline=""), delimiter=separator_of(data))
        line = 1
        for number, _ in enumerate(reader):
            if number == row + 1:
                return line
            line = reader.line_num + 1
        return line

    return line_of
