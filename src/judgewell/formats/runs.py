"""Runs as the evaluation reads them: one system after the other, each in parts that hold whole topics.

Parts keep memory flat however large a run is, and are what threads or a cluster work on.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from judgewell.errors import InputError, JudgewellWarning
from judgewell.formats.delimited import UTF16, plain_text
from judgewell.formats.files import head, is_plain, map_bytes, matching, open_bytes, stem
from judgewell.formats.frames import csv_lines, kind_of, mine, read_frame, read_nested
from judgewell.formats.trec import PLAIN_RUN, RUN, first_fields, read_fields
from judgewell.tables import RUNS, check, named

PART_BYTES = 16 << 20
LOOKED_AT = 20  # lines


@dataclass(frozen=True)
class FilePart:
    """Some whole topics of a TREC run file, by their place in it."""

    path: str
    start: int = 0
    end: int | None = None

    def read(self, *, ranks: bool = True) -> pl.DataFrame:
        """topic, doc, rank (as text, if asked for), score, tag; reading is most of an evaluation, so less is faster."""
        whole = not self.start and self.end is None
        data = open_bytes(self.path) if whole else bytes(map_bytes(self.path)[self.start : self.end])
        unused = ("Q0",) if ranks else ("Q0", "rank")
        try:
            return read_fields(data, RUN, self.path, unused)
        except InputError as error:
            raise self._shifted(error, error.line) from None

    def located(self, error: InputError) -> InputError:
        """An error about a topic's document with the last line that ranks it."""
        if error.row is None:
            return error
        wanted = [name.encode() for name in error.row]
        lines = bytes(map_bytes(self.path)[self.start : self.end]).split(b"\n")
        at = [number for number, line in enumerate(lines, 1) if line.split()[:3:2] == wanted]
        return self._shifted(error, at[-1] if at else None)

    def _shifted(self, error: InputError, line: int | None) -> InputError:
        before = bytes(map_bytes(self.path)[: self.start]).count(b"\n") if line and self.start else 0
        return InputError(error.problem, cure=error.cure, file=self.path, line=line and line + before)


@dataclass(frozen=True)
class FramePart:
    """Topics of a run that is already in memory."""

    frame: pl.DataFrame

    def read(self, *, ranks: bool = True) -> pl.DataFrame:
        return self.frame if ranks else self.frame.drop("rank")

    def located(self, error: InputError) -> InputError:
        return error


@dataclass(frozen=True)
class Run:
    """One system's rankings, in parts; `source` is the file for error messages."""

    system: str
    parts: tuple[FilePart | FramePart, ...]
    source: str | None = None
    rising: bool = False  # scores rise with the ranks written beside them, as distances do

    def whole(self) -> Run:
        """The same run in one part, for files whose topics are not together."""
        if self.source is None or len(self.parts) == 1:
            return self
        return replace(self, parts=(FilePart(self.source),))


def open_runs(data: Any, columns: Mapping[str, str] | None = None) -> list[Run]:
    """Runs from paths (globs too), frames, dicts {topic: {doc: score}} or {system: {topic: {doc: score}}}, a dict of
    named paths or frames, or a list of any of these.

    A system is named by the tag in its file, by the file's name where tags are missing or clash.
    """
    if isinstance(data, Mapping) and data and all(_is_source(value) for value in data.values()):
        return [replace(_only(open_runs(source, columns), name), system=str(name)) for name, source in data.items()]
    items = data if isinstance(data, list | tuple) and not _is_rows(data) else [data]
    names = (item for item in items if isinstance(item, str | Path))
    paths = list(dict.fromkeys(path for name in names for path in matching(name)))
    found = [(run, path) for path in paths for run in _runs_of_file(path, columns)]
    runs = _named(found, paths)
    for item in items:
        if not isinstance(item, str | Path):
            runs += _runs_of_frame(_checked(item, columns), None)
    twice = [name for name, count in Counter(run.system for run in runs).items() if count > 1]
    if twice:
        raise InputError(f"two runs are called {twice[0]!r}", cure="give each system a name: {name: run, …}")
    if not runs:
        raise InputError("there is no run", cure="name at least one run file or frame")
    return runs


def _is_source(value: Any) -> bool:
    return isinstance(value, str | Path | pl.DataFrame) or hasattr(value, "columns") or hasattr(value, "to_dataframe")


def _is_rows(data: Sequence[Any]) -> bool:
    """Whether a list holds rows (dicts or named tuples) rather than runs."""
    return bool(data) and all(
        (isinstance(item, Mapping) and "doc" in item) or hasattr(item, "_asdict") for item in data
    )


def _only(runs: list[Run], name: str) -> Run:
    if len(runs) != 1:
        raise InputError(f"{name!r} holds {len(runs)} systems", cure="name each run alone")
    return runs[0]


def _runs_of_file(path: str, columns: Mapping[str, str] | None) -> list[Run]:
    """The systems of one file; a TREC run without a tag has no name yet."""
    once = path == "-" or (Path(path).exists() and not Path(path).is_file())  # a pipe can be read only once
    beginning = open_bytes(path) if once else head(path)
    if beginning.startswith(UTF16):
        once, beginning = True, plain_text(beginning if once else open_bytes(path), path)
    nested = read_nested(beginning if once else open_bytes(path)) if beginning.lstrip().startswith(b"{") else None
    if nested is not None:
        return _runs_of_frame(_checked(nested, None, default=stem(path)), path)
    if kind_of(beginning, path, columns) != "trec":
        data = beginning if once else open_bytes(path)
        frame = read_frame(path, data, columns)
        table = _checked(frame, columns, default=stem(path), file=path, lines=csv_lines(data, path))
        return _runs_of_frame(table, path)
    if len(first_fields(beginning)) == len(PLAIN_RUN):
        return _runs_of_frame(_ranked(beginning if once else open_bytes(path), path), path)
    parts = (FramePart(read_fields(beginning, RUN, path)),) if once else _parts(path)
    return [Run(_tag(beginning) or "", parts, path, _rising(beginning))]


def _ranked(data: bytes, path: str) -> pl.DataFrame:
    """Lines of topic, document and rank, as MS MARCO has them; that the third field is the rank shows in all of it."""
    frame = read_fields(data, PLAIN_RUN, path, unused=())
    rank = pl.col("rank").cast(pl.Int64, strict=False)
    counted = frame.select((rank.sort() == pl.int_range(1, pl.len() + 1)).fill_null(False).all().over("topic"))
    if not counted.to_series().all():
        raise InputError(
            "lines of three fields, and the third does not count 1, 2, 3, … in each topic",
            cure="write a first line that names them: topic doc score",
            file=path,
            line=1,
        )
    text = f"{path}: lines of three fields are read as topic, document and rank"
    warnings.warn(text, JudgewellWarning, stacklevel=4)
    return _checked(frame.with_columns(score=-rank), None, default=stem(path), file=path)


def _named(found: Sequence[tuple[Run, str]], paths: Sequence[str]) -> list[Run]:
    """The runs by their tags; by their file's name, or where files are alike their path, where tags do not tell."""
    tags = Counter(run.system for run, _ in found)
    several = Counter(path for _, path in found)
    stems = Counter(stem(path) for path in paths)
    runs = []
    for run, path in found:
        file = "stdin" if path == "-" else stem(path) if stems[stem(path)] == 1 else path
        clear = run.system and tags[run.system] == 1 and stems[run.system] <= (stem(path) == run.system)
        alone = file if several[path] == 1 else f"{file}:{run.system}"
        runs.append(run if clear else replace(run, system=alone))
    return runs


def _tag(beginning: bytes) -> str | None:
    fields = first_fields(beginning)
    return fields[5].decode("utf-8", "replace") if len(fields) > 5 else None


def _rising(beginning: bytes) -> bool:
    """Whether the scores of the first topic's first documents go up with their ranks."""
    lines = [line.split() for line in beginning.split(b"\n", LOOKED_AT)[:LOOKED_AT]]
    whole = [fields for fields in lines if len(fields) >= 5]
    first = [fields for fields in whole if fields[0] == whole[0][0]]
    try:
        ranks, scores = ([float(fields[at]) for fields in first] for at in (3, 4))
    except ValueError:
        return False  # told when the run is read
    return len(first) >= 5 and all(a < b for a, b in pairwise(ranks)) and all(a < b for a, b in pairwise(scores))


def _parts(path: str) -> tuple[FilePart, ...]:
    """The file cut into parts of about PART_BYTES where the topic changes."""
    most = PART_BYTES * 3 // 2
    if Path(path).stat().st_size <= most or not is_plain(path):
        return (FilePart(path),)
    data = map_bytes(path)
    cuts = [0]
    while len(data) - cuts[-1] > most:
        cut = _next_topic(data, cuts[-1] + PART_BYTES)
        if cut is None:
            break
        cuts.append(cut)
    ends: list[int | None] = [*cuts[1:], None]
    return tuple(FilePart(path, start, end) for start, end in zip(cuts, ends, strict=True))


def _next_topic(data: Any, at: int) -> int | None:
    """The first place after `at` where a line begins whose topic differs from the line before."""
    at = data.find(b"\n", at) + 1
    topic: bytes | None = None
    while 0 < at < len(data):
        end = data.find(b"\n", at)
        fields = bytes(data[at : end if end >= 0 else len(data)]).split(None, 1)
        if fields and topic is not None and fields[0] != topic:
            return at
        topic = fields[0] if fields else topic
        at = end + 1
    return None


def _runs_of_frame(frame: pl.DataFrame, source: str | None) -> list[Run]:
    return [
        Run(str(system[0]), (FramePart(part.with_columns(tag=pl.lit(None, pl.String))),), source)
        for system, part in frame.partition_by("system", as_dict=True, maintain_order=True).items()
    ]


def _checked(
    data: Any, columns: Mapping[str, str] | None, default: str = "run", file: str | None = None, lines: Any = None
) -> pl.DataFrame:
    """A checked runs table with a text column `rank`; `default` names the system where the data do not."""
    if isinstance(data, Mapping) and data and all(isinstance(value, Mapping) for value in data.values()):
        data = _long(data if _is_deeper(data) else {default: data})
    name = getattr(data, "name", None)  # ranx.Run
    own = name if isinstance(name, str) and hasattr(data, "to_dataframe") else default
    table = named(data, RUNS, mine(columns, RUNS), file=file)
    if "rank" in table.columns and "score" not in table.columns:
        where = f"{file}: " if file else ""
        warnings.warn(f"{where}there are no scores; the column rank orders", JudgewellWarning, stacklevel=5)
        table = table.with_columns(score=-pl.col("rank").cast(pl.Float64, strict=False))
    frame = check(table, RUNS, file=file, lines=lines, defaults={"system": own})
    rank = pl.col("rank").cast(pl.String) if "rank" in frame.columns else pl.lit(None, pl.String).alias("rank")
    return frame.with_columns(rank)


def _long(nested: Mapping[Any, Any]) -> dict[str, list[Any]]:
    rows = [
        (str(system), str(topic), str(doc), score)
        for system, topics in nested.items()
        for topic, docs in topics.items()
        for doc, score in docs.items()
    ]
    columns = zip(*rows, strict=True) if rows else ([], [], [], [])
    return dict(zip(RUNS.names, map(list, columns), strict=True))


def _is_deeper(data: Mapping[Any, Any]) -> bool:
    """Whether {a: {b: …}} goes one level further: {system: {topic: {doc: score}}}."""
    return any(isinstance(inner, Mapping) for value in data.values() for inner in value.values())
