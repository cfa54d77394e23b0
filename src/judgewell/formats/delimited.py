"""Text tables as people have them: comma, tab, semicolon or bar between fields, any line ends, any usual encoding.

The one reader of delimited text. A file that reads well costs what polars costs; only one that does not is gone
through again, line by line, to say where it is wrong.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from judgewell.errors import InputError, note
from judgewell.formats.files import uncompressed

BOM = b"\xef\xbb\xbf"
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
SEPARATORS = (",", "\t", ";", "|")
CHUNK = 1 << 24
EXCEL = re.compile(rb'"?sep=.?"?(?=\r?\n)')  # a first line that only Excel needs
BLANK = re.compile(rb"\n\r?\n")
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")

csv.field_size_limit(2**31 - 1)  # a document is one field


@dataclass(frozen=True)
class Layout:
    """How delimited text is laid out: its separator where the first line does not show it, and whether that line names
    the columns. Columns without names are called by their numbers, from 1."""

    separator: str | None = None
    header: bool = True


SHOWN = Layout()  # all is taken from the first line


def refuse_no_data(beginning: bytes, path: str | Path) -> None:
    """What servers give in place of a file: a page, or a pointer to it."""
    start = beginning.removeprefix(BOM).lstrip()[:100].lower()
    if start.startswith((b"<!doctype html", b"<html")):
        raise InputError("this is a web page, not data", cure="download the file itself (on GitHub: Raw)", file=path)
    if start.startswith(b"version https://git-lfs"):
        raise InputError("this is a pointer of Git LFS, not the file", cure="run git lfs pull", file=path)


def text_of(data: bytes, path: str | Path) -> bytes:
    """The text in UTF-8 with line feeds and without a byte order mark.

    UTF-16 is recognised by its byte order mark. Text that is not UTF-8 is read as Latin-1 or
    Windows-1252, with a note.
    """
    if data.startswith(UTF16):
        try:
            data = data.decode("utf-16").encode("utf-8")
        except UnicodeDecodeError as problem:
            raise InputError(
                f"the UTF-16 text breaks off ({problem.reason} at byte {problem.start})",
                cure="write the file again as UTF-8",
                file=path,
                line=data[: problem.start].decode("utf-16", "ignore").count("\n") + 1,
            ) from None
    data = data.removeprefix(BOM)
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise InputError("a NUL byte is not text", cure="write the file as plain text", file=path, line=line)
    data = data.replace(b"\r", b"\n") if b"\r" in data and b"\n" not in data else data
    data = EXCEL.sub(b"", data, count=1) if EXCEL.match(data) else data  # an empty line keeps lines' numbers
    return data if data.isascii() else _utf8(data, path)


def _utf8(data: bytes, path: str | Path) -> bytes:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
    else:
        return data
    latin = data.decode("latin-1")
    windows = data.decode("cp1252", "ignore")
    name, text = ("Latin-1", latin) if len(windows) < len(latin) or windows == latin else ("Windows-1252", windows)
    note(f"line {line} is not UTF-8; the file is read as {name}", path)
    return text.encode("utf-8")


def first_line(data: bytes) -> str:
    """The first line of a text that is not empty; UTF-16 and byte order marks are understood."""
    if data.startswith(UTF16):
        data = data[:65536].decode("utf-16", "ignore").encode("utf-8")
    start = len(BOM) if data.startswith(BOM) else 0
    while data[start : start + 1] in (b"\n", b"\r"):
        start += 1
    end = data.find(b"\n", start)
    line = data[start : len(data) if end < 0 else end]
    return line.split(b"\r", 1)[0].decode("utf-8", "replace")


def ending(path: str | Path) -> str:
    """What a file's name ends in, compression apart: .tsv for a.tsv.gz."""
    return Path(uncompressed(path)).suffix


def names_of(line: str, separator: str) -> list[str]:
    """The column names in a first line."""
    return [name.strip() for name in next(csv.reader([line], delimiter=separator), [])]


def separator_of(data: bytes, path: str | Path, layout: Layout = SHOWN) -> str:
    """What separates fields: as said, a tab in a .tsv file, or what makes the most fields of the first line."""
    if layout.separator:
        return layout.separator
    first = first_line(data)
    if "\t" in first and ending(path) == ".tsv":
        return "\t"
    best = max(SEPARATORS, key=lambda mark: len(names_of(first, mark)))
    return best if best in first else " "


def read_delimited(data: bytes, path: str | Path, layout: Layout = SHOWN) -> pl.DataFrame:
    """A table of text columns under the names of its first line; every line has as many fields as the first."""
    if not data.strip():
        raise InputError("the file is empty", cure="its first line names the columns", file=path)
    separator = separator_of(data, path, layout)
    data = _single_spaced(data) if separator == " " else data
    names = _names(first_line(data), separator, path, layout)
    body = data.lstrip(b"\r\n")
    try:
        frame = pl.read_csv(body, infer_schema=False, separator=separator, has_header=layout.header)
    except pl.exceptions.PolarsError as problem:
        raise _unreadable(data, path, separator, len(names), str(problem).splitlines()[0]) from None
    if len(frame.columns) != len(names):
        wrong = _wrong_line(data, path, separator, len(names))
        raise wrong or InputError(
            "the names of the columns do not end on the first line", cure="close its quotes", file=path, line=1
        )
    lines = len(frame) + layout.header
    if frame[frame.columns[-1]].null_count() and _marks(body, separator) != (len(names) - 1) * lines:
        wrong = _wrong_line(data, path, separator, len(names))
        if wrong is not None:  # a line that ends early leaves its last field empty
            raise wrong
    frame = frame.rename(dict(zip(frame.columns, names, strict=True)))
    empty = pl.all_horizontal(pl.all().is_null()).any()
    if len(names) == 1 or not BLANK.search(body) or not frame.select(empty).item():
        return frame
    return frame.filter(~pl.Series(_blank_rows(body, separator)[layout.header :]))


def _single_spaced(data: bytes) -> bytes:
    """The lines with one space between fields and none around them."""
    return re.sub(rb"(?m)[ \t]+", b" ", re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", data)) if b'"' not in data else data


def _names(line: str, separator: str, path: str | Path, layout: Layout) -> list[str]:
    """The columns' names, each once; their numbers where they have none."""
    given = names_of(line, separator)
    if not layout.header:
        return [str(at) for at in range(1, len(given) + 1)]
    names = [name or f"column {at}" for at, name in enumerate(given, 1)]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        cure = "rename or drop one of them"
        if any(NUMBER.fullmatch(name) for name in names):
            cure = "if the first line holds data, say so (--no-header) and name columns by number: --columns topic=1,…"
        raise InputError(f"two columns are called {twice[0]!r}", cure=cure, file=path, line=1)
    return names


def _blank_rows(data: bytes, separator: str) -> list[bool]:
    """For each record, whether its line is empty."""
    text = io.StringIO(data.decode("utf-8"), newline="")
    return [not fields for fields in csv.reader(text, delimiter=separator)]


def _marks(data: bytes, separator: str) -> int:
    """The number of separators outside quotes."""
    marks, inside = 0, 0
    for start in range(0, len(data), CHUNK):
        part = np.frombuffer(data[start : start + CHUNK], dtype=np.uint8)
        quoted = (np.cumsum(part == ord('"'), dtype=np.uint8) + inside) & 1
        marks += int(np.count_nonzero((part == ord(separator)) & (quoted == 0)))
        inside = int(quoted[-1])
    return marks


def _unreadable(data: bytes, path: str | Path, separator: str, width: int, reason: str) -> InputError:
    """Why polars refused the text, with the first line that is wrong."""
    wrong = _wrong_line(data, path, separator, width)
    if wrong is not None:
        return wrong
    line = next((number for number, text in enumerate(data.split(b"\n"), 1) if text.count(b'"') % 2), None)
    problem = 'a " stands alone in this line' if line else f"this is not a readable CSV file ({reason})"
    cure = 'a " within a field is written twice, and the field stands between two of them'
    return InputError(problem, cure=cure, file=path, line=line)


def _wrong_line(data: bytes, path: str | Path, separator: str, width: int) -> InputError | None:
    """The first line with too many or too few fields, or with quotes that do not close."""
    text = io.StringIO(data.decode("utf-8"), newline="")
    reader, line = csv.reader(text, delimiter=separator, strict=True), 1
    try:
        for fields in reader:
            if fields and len(fields) != width:
                fix = "mend the line" + (
                    ", or put quotes around a field that holds the separator" if len(fields) > width else ""
                )
                fix += ", or drop the first line if it does not name the columns" if line == 2 else ""
                return InputError(
                    f"this line has {len(fields)} fields, the first line has {width}",
                    cure=fix,
                    file=path,
                    line=line,
                )
            line = reader.line_num + 1
    except csv.Error as problem:
        return InputError(f"the quotes of this line do not close ({problem})", cure="correct it", file=path, line=line)
    return None


def line_of_row(data: bytes, path: str | Path, layout: Layout, row: int) -> int:
    """The line on which a row (from 0) begins; only asked for when something is wrong."""
    separator = separator_of(data, path, layout)
    reader = csv.reader(io.StringIO(data.decode("utf-8"), newline=""), delimiter=separator)
    line, number = 1, -1 if layout.header else 0
    for fields in reader:
        if fields and number == row:
            return line
        number += bool(fields)
        line = reader.line_num + 1
    return line
