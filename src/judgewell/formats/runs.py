"""Runs as the evaluation reads them: one system after the other, each in parts that hold whole topics.

Parts are what threads or a cluster work on; a part is read in pieces, which keep memory flat however large a run is.
"""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from judgewell.errors import InputError
from judgewell.executors import Executor
from judgewell.formats.files import head, is_plain, map_bytes, matching, open_bytes, place, stem, stream
from judgewell.formats.remote import is_remote
from judgewell.formats.trec_lines import RUN, first_fields, surely_trec
from judgewell.values import dataclass

if TYPE_CHECKING:
    import polars as pl

PART_BYTES = 4 << 20
FIRST = 16384  # bytes in which a TREC run shows itself as one
LOOKED_AT = 20  # lines
NEAR = 4096  # bytes that are gone through line by line


class Piece(Protocol):
    """Some whole topics of a run in memory."""

    @property
    def path(self) -> str | None:
        """The file, for messages."""

    @property
    def data(self) -> bytes | memoryview | None:
        """The lines of a TREC run; None where it comes from a table."""

    def frame(self, *, ranks: bool = True) -> pl.DataFrame:
        """topic, doc, rank (as text, if asked for), score, tag."""

    def located(self, error: InputError) -> InputError:
        """An error about a topic's document with the line that ranks it, where that is known."""


class Part(Protocol):
    """Some topics of a run, which are read in one go."""

    def pieces(self) -> Iterator[Piece]: ...

    def whole(self) -> Part:
        """All topics of the run that the part belongs to, in one piece."""


@dataclass(frozen=True)
class Lines:
    """Some whole topics of a TREC run, and where they begin in the file."""

    path: str
    data: bytes | memoryview
    start: int = 0

    def frame(self, *, ranks: bool = True) -> pl.DataFrame:
        from judgewell.formats.trec import read_fields

        try:
            return read_fields(bytes(self.data), RUN, self.path, ("Q0",) if ranks else ("Q0", "rank"))
        except InputError as error:
            raise self._shifted(error, error.line) from None

    def located(self, error: InputError) -> InputError:
        if error.row is None:
            return error
        wanted = [name.encode() for name in error.row]
        lines = bytes(self.data).split(b"\n")
        at = [number for number, line in enumerate(lines, 1) if line.split()[:3:2] == wanted]
        return self._shifted(error, at[-1] if at else None)

    def _shifted(self, error: InputError, line: int | None) -> InputError:
        before = 0
        if line and self.start:
            left = self.start
            for piece in stream(self.path):
                before += piece[:left].count(b"\n")
                left -= min(left, len(piece))
        return InputError(error.problem, cure=error.cure, file=self.path, line=line and line + before)


@dataclass(frozen=True)
class FilePart:
    """The topics of a TREC run file that begin between two places in it."""

    path: str
    start: int = 0
    end: int | None = None
    once: bytes | None = None  # what a pipe held, which can be read only once
    together: bool = False  # in one piece, for files whose topics are not together

    def pieces(self) -> Iterator[Lines]:
        if self.once is not None:
            yield Lines(self.path, self.once)
        elif self.together or is_plain(self.path):
            data = map_bytes(self.path)
            start = next_topic(data, self.start) if self.start else 0
            end = len(data) if self.end is None else next_topic(data, self.end)
            if start < end or not start:
                yield Lines(self.path, memoryview(data)[start:end], start)
        else:
            yield from self._unpacked()

    def _unpacked(self) -> Iterator[Lines]:
        """A compressed file as it is unpacked, cut where the topic changes."""
        start, size, enough = 0, 0, 2 * PART_BYTES
        pieces: list[bytes] = []
        for piece in stream(self.path):
            pieces.append(piece)
            size += len(piece)
            while size >= enough:
                data = b"".join(pieces)
                lines = data[: data.rfind(b"\n") + 1]  # without a line that goes on
                cut = next_topic(lines, PART_BYTES)
                if cut >= len(lines):  # a topic that goes on
                    pieces, enough = [data], 2 * size
                    break
                yield Lines(self.path, data[:cut], start)
                start, pieces, size, enough = start + cut, [data[cut:]], size - cut, 2 * PART_BYTES
        if size or not start:
            data, pieces = b"".join(pieces), []
            yield Lines(self.path, data, start)

    def whole(self) -> FilePart:
        return FilePart(self.path, once=self.once, together=True)


@dataclass(frozen=True)
class Run:
    """One system's rankings, in parts; `source` is the file for error messages."""

    system: str
    parts: tuple[Part, ...]
    source: str | None = None
    rising: bool = False  # scores rise with the ranks written beside them, as distances do
    level: bool = False  # scores are all the same, beside ranks that count

    def whole(self) -> Run:
        """The same run in one part and one piece, for files whose topics are not together."""
        return replace(self, parts=(self.parts[0].whole(),))

    def frame(self, *, ranks: bool = True) -> pl.DataFrame:
        """All of it as a table: topic, doc, rank (as text), score, tag."""
        import polars as pl

        return pl.concat([piece.frame(ranks=ranks) for part in self.parts for piece in part.pieces()])


def open_runs(
    data: Any, columns: Mapping[str, str] | None = None, layout: Any = None, *, executor: Executor | None = None
) -> list[Run]:
    """Runs from paths (globs too), frames, dicts {topic: {doc: score}} or {system: {topic: {doc: score}}}, a dict of
    named paths or frames, or a list of any of these.

    A system is named by the tag in its file, by the file's name where tags are missing or clash. Files are looked into
    by the `executor`'s workers.
    """
    if isinstance(data, Mapping) and data and all(_is_source(value) for value in data.values()):
        return [
            replace(_only(open_runs(source, columns, layout, executor=executor), name), system=str(name))
            for name, source in data.items()
        ]
    items = data if isinstance(data, list | tuple) and not _is_rows(data) else [data]
    names = (item for item in items if isinstance(item, str | Path))
    paths = list(dict.fromkeys(path for name in names for path in matching(name)))
    here = executor is None or any(_once(path) for path in paths)
    opened = (Executor() if here or executor is None else executor).map(
        _runs_of_file, paths, columns, layout, executor is None, total=len(paths)
    )
    runs = _named([(run, path) for path, read in zip(paths, opened, strict=True) for run in read], paths)
    for item in items:
        if not isinstance(item, str | Path):
            from judgewell.formats.run_tables import runs_of_data

            runs += runs_of_data(item, columns)
    twice = [name for name, count in Counter(run.system for run in runs).items() if count > 1]
    if twice:
        raise InputError(f"two runs are called {twice[0]!r}", cure="give each system a name: {name: run, …}")
    if not runs:
        raise InputError("there is no run", cure="name at least one run file or frame")
    return runs


def _is_source(value: Any) -> bool:
    """Whether a value of a dict is a run of its own: a path, a frame, rows."""
    frames = ("columns", "to_dataframe", "to_polars", "__arrow_c_stream__", "scoreddocs_iter")
    rows = isinstance(value, list | tuple | Iterator) and (isinstance(value, Iterator) or _is_rows(value))
    return isinstance(value, str | Path) or rows or any(hasattr(value, name) for name in frames)


def _is_rows(data: Sequence[Any]) -> bool:
    """Whether a list holds rows (named tuples, or dicts of single values) rather than runs."""

    def is_row(item: Any) -> bool:
        single = isinstance(item, Mapping) and all(isinstance(value, str | int | float) for value in item.values())
        return single or hasattr(item, "_asdict")

    return bool(data) and all(map(is_row, data))


def _only(runs: list[Run], name: str) -> Run:
    if len(runs) != 1:
        raise InputError(f"{name!r} holds {len(runs)} systems", cure="name each run alone")
    return runs[0]


def _once(path: str) -> bool:
    """Whether it is a pipe, which can be read only once, and only here."""
    return path == "-" or (Path(place(path)).exists() and not Path(place(path)).is_file())


def _runs_of_file(path: str, columns: Mapping[str, str] | None, layout: Any, unpack: bool) -> list[Run]:
    """The systems of one file; a TREC run without a tag has no name yet."""
    once = _once(path)
    beginning = open_bytes(path) if once else head(path, FIRST)
    fields = first_fields(beginning)
    if columns or layout or not (len(fields) >= len(RUN) - 1 and surely_trec(fields[: len(RUN)], path)):
        from judgewell.formats.run_tables import runs_of_table

        tables = runs_of_table(path, beginning if once else head(path), once, columns, layout, unpack=unpack)
        if tables is not None:
            return tables
    parts = (FilePart(path, once=beginning),) if once else _parts(path)
    tag = fields[5].decode("utf-8", "replace") if len(fields) > 5 else ""
    _refuse_swapped(beginning, path)
    return [Run(tag, parts, path, rising(beginning), level(beginning))]


def _named(read: Sequence[tuple[Run, str]], paths: Sequence[str]) -> list[Run]:
    """The runs by their tags; by their file's name, or where files are alike their path, where tags do not tell."""
    tags = Counter(run.system for run, _ in read)
    several = Counter(path for _, path in read)
    stems = Counter(stem(path) for path in paths)
    runs = []
    for run, path in read:
        file = "stdin" if path == "-" else stem(path) if stems[stem(path)] == 1 else path
        clear = run.system and tags[run.system] == 1 and stems[run.system] <= (stem(path) == run.system)
        alone = file if several[path] == 1 else f"{file}:{run.system}"
        runs.append(run if clear else replace(run, system=alone))
    return runs


def _first_ranks(beginning: bytes) -> list[tuple[bytes, float, float]]:
    """Topic, rank and score of the first lines; none where a rank or score is no number."""
    lines = [line.split() for line in beginning.split(b"\n", LOOKED_AT)[:LOOKED_AT]]
    try:
        return [(fields[0], float(fields[3]), float(fields[4])) for fields in lines if len(fields) >= 5]
    except ValueError:
        return []  # reported when the run is read


def _refuse_swapped(beginning: bytes, path: str) -> None:
    """Scores that count 1, 2, 3, … beside ranks that fall and are no whole numbers."""
    lines = _first_ranks(beginning)
    first = [(rank, score) for topic, rank, score in lines if topic == lines[0][0]]
    ranks, scores = [rank for rank, _ in first], [score for _, score in first]
    counted = len(scores) > 2 and scores == [float(at) for at in range(1, len(scores) + 1)]
    if counted and any(rank % 1 for rank in ranks) and all(a >= b for a, b in pairwise(ranks)):
        problem = f"rank and score are swapped: ranks fall from {ranks[0]:g}, scores count 1, 2, 3, …"
        raise InputError(problem, cure="a run's line is: topic Q0 document rank score tag", file=path)


def rising(beginning: bytes) -> bool:
    """Whether scores go up with the ranks in all first lines, where neighbours of one topic are compared."""
    both = [a[1] < b[1] and a[2] < b[2] for a, b in pairwise(_first_ranks(beginning)) if a[0] == b[0]]
    return len(both) >= 2 and all(both)


def level(beginning: bytes) -> bool:
    """Whether all first lines have one score, and ranks that go up within a topic."""
    lines = _first_ranks(beginning)
    rise = [a[1] < b[1] for a, b in pairwise(lines) if a[0] == b[0]]
    return len(rise) >= 2 and all(rise) and len({score for _, _, score in lines}) == 1


def _parts(path: str) -> tuple[FilePart, ...]:
    """The file in parts of about PART_BYTES; a compressed or remote one is read from its beginning."""
    size = 0 if is_remote(path) else Path(place(path)).stat().st_size
    if size <= 2 * PART_BYTES or not is_plain(path):
        return (FilePart(path),)
    starts = range(0, size - PART_BYTES, PART_BYTES)
    return tuple(FilePart(path, start, end) for start, end in zip(starts, [*starts[1:], None], strict=True))


def next_topic(data: bytes | mmap.mmap, at: int) -> int:
    """A place behind `at` where a line begins whose topic differs from the line before it; the end where there is none.

    Topics are together in most files, so the change is found by steps that double and then halve.
    """
    at = _next_line(data, at)
    topic = _topic(data, at)
    step, end = NEAR, _next_line(data, at + NEAR)
    while end < len(data) and _topic(data, end) == topic:
        at, step = end, 2 * step
        end = _next_line(data, at + step)
    while end - at > NEAR:
        middle = _next_line(data, (at + end) // 2)
        if middle >= end:
            break
        at, end = (middle, end) if _topic(data, middle) == topic else (at, middle)
    while at < end and _topic(data, at) == topic:
        at = _next_line(data, at + 1)
    return min(at, end)


def _next_line(data: bytes | mmap.mmap, at: int) -> int:
    """Where the first line begins from `at` on."""
    line = data.find(b"\n", at - 1) + 1 if at < len(data) else 0
    return line or len(data)


def _topic(data: bytes | mmap.mmap, at: int) -> bytes:
    """The topic of the first line from `at` on that has one."""
    while at < len(data):
        end = _next_line(data, at + 1)
        fields = bytes(data[at : min(end, at + 200)]).split(None, 1)
        if fields and not fields[0].startswith(b"#"):
            return fields[0] if len(fields) > 1 else bytes(data[at:end]).split(None, 1)[0]
        at = end
    return b""
