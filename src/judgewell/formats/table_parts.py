"""Runs in CSV, JSON lines and Parquet, read a range of rows at a time so that memory does not grow with their size.

A first pass finds the systems and where topics begin; rows are read again when they are measured. A compressed file is
unpacked into a temporary one first. Whatever is out of the ordinary is left to the reader of whole files, which knows
how to say what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.errors import InputError
from judgewell.formats.delimited import BOM, Layout
from judgewell.formats.files import head, is_plain, place, read_range, stream
from judgewell.formats.frames import Contents, are_json_lines
from judgewell.formats.remote import is_remote
from judgewell.formats.runs import Run

if TYPE_CHECKING:
    from judgewell.formats.run_tables import TableFile

SMALL = 1 << 18  # bytes of a file that is read whole
TEXT_BYTES = 4 << 20  # of a part
PARQUET_ROWS = 100_000  # of a part

Range = tuple[int, int]  # bytes of a text file, rows of a Parquet file


@dataclass(frozen=True)
class TextRows:
    """The rows of delimited text or of JSON lines, by their bytes; `header` is the first line, if it names columns."""

    path: str
    header: bytes
    layout: Layout
    kind: str  # csv or json
    unpacked: Unpacked | None = None  # kept as long as rows are read from it
    size = TEXT_BYTES

    def frame(self, ranges: Iterable[Range]) -> pl.DataFrame:
        return self._table(b"".join(read_range(self.path, start, end) for start, end in ranges))

    def _table(self, lines: bytes) -> pl.DataFrame:
        return Contents(self.path, self.header + lines, self.kind, self.layout).frame()

    def blocks(self) -> Iterator[tuple[pl.DataFrame, NDArray[np.int64]]]:
        """Some rows at a time, with the places where each begins and the last one ends."""
        start = head(self.path).find(self.header) + len(self.header)
        while lines := self._lines(start):
            ends = self._row_ends(lines)
            last = [] if lines.endswith(b"\n") else [len(lines)]
            yield self._table(lines), start + np.concatenate([[0], ends, last]).astype(np.int64)
            start += len(lines)

    def _lines(self, start: int) -> bytes:
        """Whole lines from a place on; quotes that they open are closed again, for they may hold line ends."""
        lines = read_range(self.path, start, start + self.size, to_line_end=True)
        while self.kind == "csv" and lines.count(b'"') % 2:
            end = start + len(lines)
            if not (more := read_range(self.path, end, end + self.size, to_line_end=True)):
                break
            lines += more
        return lines

    def _row_ends(self, lines: bytes) -> NDArray[np.int64]:
        letters = np.frombuffer(lines, np.uint8)
        ends = letters == ord("\n")
        if self.kind == "csv" and b'"' in lines:
            ends &= np.cumsum(letters == ord('"'), dtype=np.uint8) % 2 == 0
        return np.flatnonzero(ends) + 1


class Unpacked:
    """A copy of a compressed file without compression, removed when nobody needs it any more."""

    def __init__(self, path: str) -> None:
        self.folder = TemporaryDirectory(prefix="judgewell-", ignore_cleanup_errors=True)
        self.path = str(Path(self.folder.name) / "rows")
        with open(self.path, "wb") as file:
            file.writelines(stream(path))

    def __getstate__(self) -> dict[str, Any]:
        """What goes to another process of this machine, which does not remove it."""
        return {"path": self.path}


@dataclass(frozen=True)
class ParquetRows:
    """The rows of a Parquet file."""

    path: str
    size = PARQUET_ROWS

    def frame(self, ranges: Iterable[Range]) -> pl.DataFrame:
        rows = pl.scan_parquet(place(self.path), glob=False)
        return pl.concat([rows.slice(start, end - start).collect() for start, end in ranges])

    def blocks(self) -> Iterator[tuple[pl.DataFrame, NDArray[np.int64]]]:
        count = pl.scan_parquet(place(self.path), glob=False).select(pl.len()).collect().item()
        for start in range(0, count, self.size):
            end = min(start + self.size, count)
            yield self.frame([(start, end)]), np.arange(start, end + 1)


@dataclass(frozen=True)
class TablePart:
    """Some topics of a system by their ranges in a file; a part and a piece at once."""

    file: TableFile
    rows: TextRows | ParquetRows
    ranges: tuple[Range, ...]
    all_ranges: tuple[Range, ...]  # of the system

    path = data = None  # it does not come from the lines of a TREC run

    def pieces(self) -> Iterator[TablePart]:
        yield self

    def frame(self, *, ranks: bool = True) -> pl.DataFrame:
        try:
            table = self.file.checked(self.rows.frame(self.ranges))
        except InputError:
            self.file.read()  # with the line that is wrong
            raise
        table = table.with_columns(tag=pl.lit(None, pl.String))
        return table if ranks else table.drop("rank")

    def located(self, error: InputError) -> InputError:
        return InputError(error.problem, cure=error.cure, file=self.file.path)

    def whole(self) -> TablePart:
        return TablePart(self.file, self.rows, self.all_ranges, self.all_ranges)


def runs_in_parts(file: TableFile, kind: str, beginning: bytes, *, unpack: bool) -> list[Run] | None:
    """The systems of a CSV or Parquet file or of JSON lines, each in parts; None where it has to be read whole."""
    plain = is_plain(file.path)
    if is_remote(file.path) or Path(place(file.path)).stat().st_size < SMALL:
        return None
    if kind == "parquet" and plain:
        rows: TextRows | ParquetRows = ParquetRows(file.path)
    elif (kind == "csv" or (kind == "json" and are_json_lines(beginning))) and (plain or unpack):
        first = beginning.removeprefix(BOM).lstrip(b"\r\n").partition(b"\n")[0] + b"\n"
        header = first if kind == "csv" and file.layout.header else b""
        copy = None if plain else Unpacked(file.path)
        rows = TextRows(copy.path if copy else file.path, header, file.layout, kind, copy)
    else:
        return None
    try:
        topics = _topics(file, rows)
    except (InputError, pl.exceptions.PolarsError):
        return None  # said when it is read whole
    runs = []
    for system, ranges in topics.items():
        parts = list(_parts(ranges, rows.size))
        everything = tuple(one for part in parts for one in part)
        if kind == "parquet" and len(everything) > 8 + 4 * len(parts):
            return None  # systems take turns in the file, and each range would cost a whole group of rows
        runs.append(Run(system, tuple(TablePart(file, rows, part, everything) for part in parts), file.path))
    return runs or None


def _topics(file: TableFile, rows: TextRows | ParquetRows) -> dict[str, list[Range]]:
    """Of each system, the ranges in which a topic goes on."""
    ranges: dict[str, list[Range]] = {}
    last: tuple[str, str] | None = None
    for frame, places in rows.blocks():
        keys = file.checked(frame, once=False).select("system", "topic")
        if len(keys) + 1 != len(places):
            raise InputError("not every line is a row", file=file.path)
        changed = (keys != keys.shift()).select(pl.any_horizontal("system", "topic").fill_null(True)).to_series()
        at = changed.arg_true().to_numpy()
        ends = places[np.append(at[1:], len(keys))]
        for key, start, end in zip(keys[at].rows(), places[at].tolist(), ends.tolist(), strict=True):
            mine = ranges.setdefault(key[0], [])
            if key == last:  # it goes on from the rows before
                mine[-1] = (mine[-1][0], end)
            else:
                mine.append((start, end))
            last = key
    return ranges


def _parts(topics: Iterable[Range], size: int) -> Iterator[tuple[Range, ...]]:
    """Whole topics put together to parts of about this size; ranges that meet become one."""
    part: list[Range] = []
    filled = 0
    for start, end in topics:
        if filled >= size:
            yield tuple(part)
            part, filled = [], 0
        if part and part[-1][1] == start:
            part[-1] = (part[-1][0], end)
        else:
            part.append((start, end))
        filled += end - start
    if part:
        yield tuple(part)
