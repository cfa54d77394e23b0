"""Text tables as people have them: comma, tab, semicolon or bar between fields, any line ends, any usual encoding.

The one reader of delimited text. A file that reads well costs what polars costs; only one that does not is gone
through again, line by line, to say where it is wrong.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from judgewell.errors import InputError, JudgewellWarning

BOM = b"\xef\xbb\xbf"
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
SEPARATORS = (",", "\t", ";", "|")
CHUNK = 1 << 24
LINE_END = re.compile(rb"\r\n?|\n")
BLANK = re.compile(rb"\n\r?\n")


def plain_text(data: bytes, path: str | Path) -> bytes:
    """The text in UTF-8 without a byte order mark; whether it is UTF-8 at all shows when it is read."""
    if data.startswith(UTF16):
        try:
            data = data.decode("utf-16").encode("utf-8")
        except UnicodeDecodeError as problem:
            raise InputError(
                f"the UTF-16 text breaks off ({problem.reason} at byte {problem.start})",
                cure="write the file anew as UTF-8",
                file=path,
                line=len(LINE_END.findall(data[: problem.start].decode("utf-16", "ignore").encode())) + 1,
            ) from None
    data = data.removeprefix(BOM)
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise InputError("a byte 0 is no text", cure="write the file as plain text", file=path, line=line)
    return data.replace(b"\r", b"\n") if b"\r" in data and b"\n" not in data else data


def from_latin1(data: bytes, path: str | Path) -> bytes:
    """Text that is not UTF-8 read as Latin-1, or as Windows writes it, which is told with its first such line."""
    line = _not_utf8(data)
    if line is None:
        return data
    latin = data.decode("latin-1")
    windows = data.decode("cp1252", "ignore")
    name, text = ("Latin-1", latin) if len(windows) < len(latin) or windows == latin else ("Windows-1252", windows)
    warnings.warn(f"{path}: line {line} is not UTF-8; the file is read as {name}", JudgewellWarning, stacklevel=5)
    return text.encode("utf-8")


def _not_utf8(data: bytes) -> int | None:
    """The first line that is not UTF-8."""
    if data.isascii():
        return None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as problem:
        return data.count(b"\n", 0, problem.start) + 1
    return None


def first_line(data: bytes) -> str:
    """The first line of a text, which names its columns; UTF-16 and byte order marks are understood."""
    start = data[:65536]
    if start.startswith(UTF16):
        start = start.decode("utf-16", "ignore").encode("utf-8")
    return LINE_END.split(start.removeprefix(BOM), maxsplit=1)[0].decode("utf-8", "replace")


def names_of(line: str, separator: str) -> list[str]:
    """The column names in a first line."""
    return [name.strip() for name in next(csv.reader([line], delimiter=separator), [])]


def separator_of(data: bytes) -> str:
    """What stands between the names in the first line: the separator that makes the most of them."""
    first = first_line(data)
    best = max(SEPARATORS, key=lambda mark: len(names_of(first, mark)))
    return best if best in first else " "


def read_delimited(data: bytes, path: str | Path) -> pl.DataFrame:
    """A table of text columns under the names of its first line; every line has as many fields as the first."""
    if not data.strip():
        raise InputError("the file is empty", cure="its first line names the columns", file=path)
    separator = separator_of(data)
    names = [name or f"column {at}" for at, name in enumerate(names_of(first_line(data), separator), 1)]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        cure = "rename or drop one of them"
        if twice[0].replace(".", "").isdigit():
            cure = "the first line names the columns: write one above this that does"
        raise InputError(f"two columns are called {twice[0]!r}", cure=cure, file=path, line=1)
    try:
        frame = pl.read_csv(data, infer_schema=False, separator=separator)
    except pl.exceptions.PolarsError as problem:
        raise _unreadable(data, path, separator, len(names), str(problem).splitlines()[0]) from None
    if len(frame.columns) != len(names):
        raise InputError("the names of the columns do not end on the first line", cure="mend it", file=path, line=1)
    if frame[frame.columns[-1]].null_count() and _marks(data, separator) != (len(names) - 1) * (len(frame) + 1):
        wrong = _wrong_line(data, path, separator, len(names))
        if wrong is not None:  # a line that ends early leaves its last field empty
            raise wrong
    frame = frame.rename(dict(zip(frame.columns, names, strict=True)))
    return frame.filter(~pl.Series(_blank_rows(data, separator))) if BLANK.search(data) and len(names) > 1 else frame


def _blank_rows(data: bytes, separator: str) -> list[bool]:
    """For each row, whether its line is empty."""
    text = io.StringIO(data.decode("utf-8", "replace"), newline="")
    return [not fields for fields in csv.reader(text, delimiter=separator)][1:]


def _marks(data: bytes, separator: str) -> int:
    """How many separators stand outside quotes."""
    marks, inside = 0, 0
    for start in range(0, len(data), CHUNK):
        part = np.frombuffer(data[start : start + CHUNK], dtype=np.uint8)
        quoted = (np.cumsum(part == ord('"'), dtype=np.uint8) + inside) & 1
        marks += int(np.count_nonzero((part == ord(separator)) & (quoted == 0)))
        inside = int(quoted[-1])
    return marks


def _unreadable(data: bytes, path: str | Path, separator: str, width: int, said: str) -> InputError:
    """Why polars refused the text, with the first line that is wrong."""
    line = _not_utf8(data)
    if line is not None:
        return InputError(
            "this line is not UTF-8", cure="convert the file, e.g. iconv -f latin1 -t utf-8", file=path, line=line
        )
    wrong = _wrong_line(data, path, separator, width)
    if wrong is not None:
        return wrong
    odd = (number for number, text in enumerate(data.split(b"\n"), 1) if text.count(b'"') % 2)
    return InputError(
        f"this is not a readable CSV file ({said})",
        cure='a " within a field is written twice, and the field stands between two of them',
        file=path,
        line=next(odd, None),
    )


def _wrong_line(data: bytes, path: str | Path, separator: str, width: int) -> InputError | None:
    """The first line with too many or too few fields, or with quotes that do not close."""
    text = io.StringIO(data.decode("utf-8", "replace"), newline="")
    reader, line = csv.reader(text, delimiter=separator, strict=True), 1
    try:
        for fields in reader:
            if fields and len(fields) != width:
                fix = "mend the line" + (
                    ", or put quotes around a field that holds the separator" if len(fields) > width else ""
                )
                fix += ", or drop the first line if it does not name the columns" if line == 2 else ""
                return InputError(
                    f"this line has {len(fields)} fields, the first line names {width} columns",
                    cure=fix,
                    file=path,
                    line=line,
                )
            line = reader.line_num + 1
    except csv.Error as problem:
        return InputError(f"the quotes of this line do not close ({problem})", cure="mend it", file=path, line=line)
    return None


def line_numbers(data: bytes) -> Callable[[int], int]:
    """The line on which a row (from 0) begins; only asked for when something is wrong."""

    def line_of(row: int) -> int:
        reader = csv.reader(io.StringIO(data.decode("utf-8", "replace"), newline=""), delimiter=separator_of(data))
        line = 1
        number = -1
        for fields in reader:
            number += bool(fields)
            if fields and number == row + 1:
                return line
            line = reader.line_num + 1
        return line

    return line_of
