"""Runs that are tables: frames, dicts, CSV, Parquet and JSON, and lines of topic, document and rank."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from judgewell.errors import InputError, Place, note
from judgewell.formats.delimited import SHOWN, UTF16, Layout, refuse_no_data, text_of
from judgewell.formats.files import open_bytes, stem
from judgewell.formats.frames import are_json_lines, kind_of, load, mine, read_nested
from judgewell.formats.long_form import one_judgment_a_row
from judgewell.formats.runs import FilePart, Run, rising
from judgewell.formats.table_parts import runs_in_parts
from judgewell.formats.trec import read_fields
from judgewell.formats.trec_lines import first_fields, plain_run
from judgewell.tables import RUNS, check, frame_of, named, refuse_missing
from judgewell.text import listing


@dataclass(frozen=True)
class FramePart:
    """A run that is in memory; a part and a piece at once."""

    table: pl.DataFrame

    path = data = None  # it does not come from the lines of a file

    def pieces(self) -> Iterator[FramePart]:
        yield self

    def frame(self, *, ranks: bool = True) -> pl.DataFrame:
        return self.table if ranks else self.table.drop("rank")

    def located(self, error: InputError) -> InputError:
        return error

    def whole(self) -> FramePart:
        return self


@dataclass(frozen=True)
class TableFile:
    """A file that holds a runs table, and how it is read."""

    path: str
    columns: Mapping[str, str] | None
    layout: Layout

    def read(self, data: bytes | None = None) -> pl.DataFrame:
        """All of it; `data` is what a pipe held."""
        contents = load(self.path, self.columns, self.layout, data=data)
        return self.checked(contents.frame(), contents.place.lines)

    def checked(
        self, frame: pl.DataFrame, lines: Callable[[int], int] | None = None, *, once: bool = True
    ) -> pl.DataFrame:
        """A frame of its rows as a runs table; `once`: no document twice in a ranking."""
        return _checked(frame, self.columns, default=stem(self.path), file=self.path, lines=lines, once=once)


def runs_of_data(data: Any, columns: Mapping[str, str] | None) -> list[Run]:
    """The systems of a frame, of a dict or of rows."""
    return _runs(_checked(data, columns), None)


def runs_of_table(
    path: str,
    beginning: bytes,
    once: bool,
    columns: Mapping[str, str] | None,
    layout: Layout | None = None,
    *,
    unpack: bool = True,
) -> list[Run] | None:
    """The systems of a file that is a table, from its beginning (`once`: all of it); None where it is a TREC run.

    `unpack`: a compressed file may be unpacked into a temporary one, since it is read on this machine.
    """
    if beginning.startswith(UTF16):
        once, beginning = True, text_of(beginning if once else open_bytes(path), path)
        tag = first_fields(beginning)[5:6]
        if kind_of(beginning, path, columns) == "trec":
            return [Run(tag[0].decode() if tag else "", (FilePart(path, once=beginning),), path, rising(beginning))]
    refuse_no_data(beginning, path)
    one_object = beginning.lstrip().startswith(b"{") and not are_json_lines(beginning)
    nested = read_nested(beginning if once else open_bytes(path), path) if one_object else None
    if nested is not None:
        return _runs(_checked(nested, None, default=stem(path), file=path), path)
    kind = kind_of(beginning, path, columns)
    if kind != "trec":
        file = TableFile(path, columns, layout or SHOWN)
        runs = None if once else runs_in_parts(file, kind, beginning, unpack=unpack)
        return runs or _runs(file.read(beginning if once else None), path)
    fields = plain_run(first_fields(beginning))
    return None if fields is None else _runs(_ranked(beginning if once else open_bytes(path), fields, path), path)


def _runs(frame: pl.DataFrame, source: str | None) -> list[Run]:
    if frame.is_empty():
        raise InputError("the run is empty", cure="a run needs at least one line", file=source)
    return [
        Run(str(system[0]), (FramePart(part.with_columns(tag=pl.lit(None, pl.String))),), source)
        for system, part in frame.partition_by("system", as_dict=True, maintain_order=True).items()
    ]


def _ranked(data: bytes, fields: tuple[str, ...], path: str) -> pl.DataFrame:
    """Lines of topic, document and rank, as MS MARCO has them, perhaps with score and tag behind it; that the third
    field is the rank shows in all of it."""
    frame = read_fields(data, fields, path, unused=())
    several = {3: "three", 4: "four", 5: "five"}[len(fields)]
    names = listing(["document", *fields[2:]])
    rank = pl.col("rank").cast(pl.Int64, strict=False)
    place = rank.sort() - rank.min()
    counted = frame.select(((place == pl.int_range(pl.len())) & (rank.min() <= 1)).fill_null(False).all().over("topic"))
    if not counted.to_series().all():
        raise InputError(
            f"lines of {several} fields, and the third does not count 1, 2, 3, … in each topic",
            cure=f"write a first line that names them: topic doc {'rank ' if 'score' in fields else ''}score",
            file=path,
            line=1,
        )
    note(f"lines of {several} fields are read as topic, {names}", path)
    scored = frame if "score" in fields else frame.with_columns(score=-rank)
    return _checked(scored, None, default=stem(path), file=path)


def _checked(
    data: Any,
    columns: Mapping[str, str] | None,
    default: str = "run",
    file: str | None = None,
    lines: Callable[[int], int] | None = None,
    once: bool = True,
) -> pl.DataFrame:
    """A checked runs table with a text column `rank`; `default` names the system where the data do not."""
    if isinstance(data, Mapping) and data and all(isinstance(value, Mapping) for value in data.values()):
        by_system = any(isinstance(inner, Mapping) for value in data.values() for inner in value.values())
        data = _long(data if by_system else {default: data})  # {system: {topic: {doc: score}}}
    data = data.scoreddocs_iter() if hasattr(data, "scoreddocs_iter") else data  # a dataset of ir_datasets
    name = getattr(data, "name", None)  # ranx.Run
    own = name if isinstance(name, str) and hasattr(data, "to_dataframe") else default
    data, place = one_judgment_a_row(frame_of(data), mine(columns, RUNS) or {}, Place(file, lines))
    table = named(data, RUNS, mine(columns, RUNS), file=file)
    if "rank" in table.columns and "score" not in table.columns:
        note("there are no scores; documents are ranked by the column rank", file)
        table = table.with_columns(score=-pl.col("rank").cast(pl.Float64, strict=False))
    refuse_missing(table.with_columns(system=pl.lit(own)), RUNS, place, data)
    frame = check(table, RUNS, file=file, lines=place.lines, defaults={"system": own}, once=once)
    _note_ranks(frame, file)
    rank = pl.col("rank").cast(pl.String) if "rank" in frame.columns else pl.lit(None, pl.String).alias("rank")
    return frame.with_columns(rank)


def _note_ranks(frame: pl.DataFrame, file: str | None) -> None:
    """Scores that count 1, 2, 3, … down each ranking are most likely ranks."""
    if "rank" in frame.columns or len(frame) < 3 or frame["score"][0] != 1:
        return
    counted = (pl.col("score") == pl.int_range(1, pl.len() + 1)).over("system", "topic")
    if frame.select(counted.all()).item():
        cure = "the highest ranks first all the same; if they are ranks: --columns rank=score"
        note(f"the scores count 1, 2, 3, … as ranks do; {cure}", file)


def _long(nested: Mapping[Any, Any]) -> dict[str, list[Any]]:
    rows = [
        (str(system), str(topic), str(doc), score)
        for system, topics in nested.items()
        for topic, docs in topics.items()
        for doc, score in docs.items()
    ]
    columns = zip(*rows, strict=True) if rows else ([], [], [], [])
    return dict(zip(RUNS.names, map(list, columns), strict=True))
