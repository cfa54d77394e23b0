"""Runs in CSV and Parquet files, read a range of rows at a time so that memory does not grow with their size.

A first pass finds the systems and where topics begin; rows are read again when they are measured. Whatever is out of
the ordinary is left to the reader of whole files, which knows how to say what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.errors import InputError
from judgewell.formats.delimited import BOM, Layout, read_delimited
from judgewell.formats.files import head, is_plain, place, read_range
from judgewell.formats.runs import Run

if TYPE_CHECKING:
    from judgewell.formats.run_tables import TableFile

SMALL = 1 << 18  # bytes of a file that is read whole
CSV_BYTES = 4 << 20  # of a part
PARQUET_ROWS = 100_000  # of a part

Range = tuple[int, int]  # bytes of a CSV file, rows of a Parquet file


@dataclass(frozen=True)
class CsvRows:
    """The rows of a delimited file without quotes, by their bytes; `header` is its first line."""

    path: str
    header: bytes
    layout: Layout
    size = CSV_BYTES

    def frame(self, ranges: Iterable[Range]) -> pl.DataFrame:
        return self._table(b"".join(read_range(self.path, start, end) for start, end in ranges))

    def _table(self, lines: bytes) -> pl.DataFrame:
        return read_delimited(self.header + lines, self.path, self.layout)

    def blocks(self) -> Iterator[tuple[pl.DataFrame, NDArray[np.int64]]]:
        """Some rows at a time, with the places where each begins and the last one ends."""
        start = head(self.path).find(self.header) + len(self.header)
        while lines := read_range(self.path, start, start + self.size, to_line_end=True):
            if b'"' in lines:
                raise InputError("quotes may hold line ends", file=self.path)
            ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == ord("\n")) + 1
            last = [] if lines.endswith(b"\n") else [len(lines)]
            yield self._table(lines), start + np.concatenate([[0], ends, last]).astype(np.int64)
            start += len(lines)


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
    rows: CsvRows | ParquetRows
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


def runs_in_parts(file: TableFile, kind: str, beginning: bytes) -> list[Run] | None:
    """The systems of a plain CSV or Parquet file, each in parts; None where it has to be read whole."""
    if kind not in ("csv", "parquet") or not is_plain(file.path) or Path(place(file.path)).stat().st_size < SMALL:
        return None
    rows: CsvRows | ParquetRows = ParquetRows(file.path)
    if kind == "csv":
        first = beginning.removeprefix(BOM).lstrip(b"\r\n").partition(b"\n")[0] + b"\n" if file.layout.header else b""
        rows = CsvRows(file.path, first, file.layout)
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


def _topics(file: TableFile, rows: CsvRows | ParquetRows) -> dict[str, list[Range]]:
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
