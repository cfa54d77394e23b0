"""Runs as the evaluation reads them: one system after the other, each in parts that hold whole topics.

Parts keep memory flat however large a run is, and are what threads or a cluster work on.
"""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from judgewell.errors import InputError
from judgewell.formats.files import head, is_plain, map_bytes, open_bytes, stem
from judgewell.formats.tabular import kind_of, read_table
from judgewell.formats.trec import RUN, read_fields
from judgewell.tables import RUNS, check, frame_of

PART_BYTES = 16 << 20


@dataclass(frozen=True)
class FilePart:
    """Some whole topics of a TREC run file, by their place in it."""

    path: str
    start: int = 0
    end: int | None = None

    def read(self) -> pl.DataFrame:
        data = map_bytes(self.path)
        try:
            return read_fields(bytes(data[self.start : self.end]), RUN, self.path)
        except InputError as error:
            if error.line is None or not self.start:
                raise
            before = bytes(data[: self.start]).count(b"\n")
            raise InputError(error.problem, cure=error.cure, file=self.path, line=error.line + before) from None


@dataclass(frozen=True)
class FramePart:
    """Topics of a run that is already in memory."""

    frame: pl.DataFrame

    def read(self) -> pl.DataFrame:
        return self.frame


@dataclass(frozen=True)
class Run:
    """One system's rankings, in parts; `source` is the file for error messages."""

    system: str
    parts: tuple[FilePart | FramePart, ...]
    source: str | None = None

    def whole(self) -> Run:
        """The same run in one part, for files whose topics are not together."""
        if self.source is None or len(self.parts) == 1:
            return self
        return Run(self.system, (FilePart(self.source),), self.source)


def open_runs(data: Any, columns: Mapping[str, str] | None = None) -> list[Run]:
    """Runs from paths (globs too), frames, dicts {topic: {doc: score}} or {system: {topic: {doc: score}}}, or a list of
    these; a system is named by the tag in its file, by the file's name where tags are missing or clash."""
    items = data if isinstance(data, list | tuple) and not _is_rows(data) else [data]
    paths = [str(item) for item in items if isinstance(item, str | Path)]
    runs = _runs_of_files(_expanded(paths), columns) if paths else []
    for item in items:
        if not isinstance(item, str | Path):
            runs += _runs_of_frame(item, columns, None)
    twice = [name for name, count in Counter(run.system for run in runs).items() if count > 1]
    if twice:
        raise InputError(f"two runs are called {twice[0]!r}", cure="give each system a name of its own")
    if not runs:
        raise InputError("there is no run", cure="name at least one run file or frame")
    return runs


def _is_rows(data: Sequence[Any]) -> bool:
    return bool(data) and all(isinstance(item, Mapping) and "doc" in item for item in data)


def _expanded(paths: Iterable[str]) -> list[str]:
    found: list[str] = []
    for path in paths:
        if any(sign in path for sign in "*?[") and not Path(path).exists():
            matches = sorted(glob.glob(path, recursive=True))
            if not matches:
                raise InputError(f"no file matches {path}")
            found += matches
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def _runs_of_files(paths: Sequence[str], columns: Mapping[str, str] | None) -> list[Run]:
    runs: list[Run] = []
    tags: list[str | None] = []
    for path in paths:
        beginning = b"" if path == "-" else head(path)
        if path == "-":
            found = [_run_of_bytes(open_bytes(path), path)]
        elif columns or kind_of(beginning, path) != "trec":
            found = _runs_of_frame(read_table(path, RUNS, columns), None, path)
        else:
            found = [Run(_tag(beginning) or "", _parts(path), path)]
        runs += found
        tags += [run.system or None for run in found]
    counts = Counter(tags)
    names = _file_names(paths)
    return [
        run if tag and counts[tag] == 1 else Run(names[run.source or "-"], run.parts, run.source)
        for run, tag in zip(runs, tags, strict=True)
    ]


def _tag(beginning: bytes) -> str | None:
    lines = (line.split() for line in beginning.decode("utf-8", "replace").splitlines())
    fields = next((fields for fields in lines if fields and not fields[0].startswith("#")), [])
    return fields[5] if len(fields) > 5 else None


def _file_names(paths: Sequence[str]) -> dict[str, str]:
    """Each file's stem, with its folder before it where two are alike."""
    stems = Counter(stem(path) for path in paths)
    return {path: stem(path) if stems[stem(path)] == 1 else f"{Path(path).parent}/{stem(path)}" for path in paths}


def _run_of_bytes(data: bytes, path: str) -> Run:
    frame = read_fields(data, RUN, path)
    tag = frame["tag"][0] if len(frame) else None
    return Run(tag or "stdin", (FramePart(frame),), path)


def _parts(path: str) -> tuple[FilePart, ...]:
    """The file cut into parts of about PART_BYTES where the topic changes."""
    if not is_plain(path):
        return (FilePart(path),)
    data = map_bytes(path)
    cuts = [0]
    while len(data) - cuts[-1] > PART_BYTES * 3 // 2:
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


def _runs_of_frame(data: Any, columns: Mapping[str, str] | None, source: str | None) -> list[Run]:
    frame = _ranked_frame(data, columns)
    return [
        Run(str(system[0]), (FramePart(part.with_columns(tag=pl.lit(None, pl.String))),), source)
        for system, part in frame.partition_by("system", as_dict=True, maintain_order=True).items()
    ]


def _ranked_frame(data: Any, columns: Mapping[str, str] | None) -> pl.DataFrame:
    if isinstance(data, Mapping) and data and all(isinstance(value, Mapping) for value in data.values()):
        nested = {"run": data} if not _is_deeper(data) else data
        data = {
            "system": [s for s, topics in nested.items() for docs in topics.values() for _ in docs],
            "topic": [str(t) for topics in nested.values() for t, docs in topics.items() for _ in docs],
            "doc": [str(d) for topics in nested.values() for docs in topics.values() for d in docs],
            "score": [float(s) for topics in nested.values() for docs in topics.values() for s in docs.values()],
        }
    system = getattr(data, "name", None)  # ranx.Run
    frame = check(
        frame_of(data), RUNS, rename=columns, defaults={"system": system if isinstance(system, str) else "run"}
    )
    if "rank" in frame.columns:
        frame = frame.with_columns(pl.col("rank").cast(pl.String))
    else:
        frame = frame.with_columns(rank=pl.lit(None, pl.String))
    return frame


def _is_deeper(data: Mapping[Any, Any]) -> bool:
    """Whether {a: {b: …}} goes one level further: {system: {topic: {doc: score}}}."""
    return any(isinstance(inner, Mapping) for value in data.values() for inner in value.values())
