"""Gains from whatever holds them: qrels, CSV, Parquet, JSON lines, frames, dicts, ir_datasets ids."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from judgewell.errors import InputError, JudgewellWarning, Place
from judgewell.formats.delimited import UTF16, plain_text
from judgewell.formats.files import open_bytes
from judgewell.formats.frames import csv_lines, kind_of, mine, read_frame, read_nested
from judgewell.formats.trec import QRELS, line_of, read_qrels
from judgewell.formats.words import settled
from judgewell.tables import GAINS, check, frame_of, named

NEGATIVE = ("unjudged", "zero", "keep", "error", "auto")


def read_gains(
    data: Any,
    *,
    columns: Mapping[str, str] | None = None,
    negative: str = "unjudged",
    words: Mapping[str, str] | None = None,
) -> pl.DataFrame:
    """A checked gains table; `words` says what grades that are words mean ({"relevant": "1"}).

    A grade below 0 means "in the pool but not judged" in TREC's qrels, so by default such rows are left out and
    counted; `negative` may also be "zero" (judged, worth nothing), "keep", "error", or "auto": whole grades below 0 are
    unjudged, but a table with fractions holds real-valued gains (logs, say), all of which are kept.
    """
    path = str(data) if isinstance(data, str | Path) else None
    lines: Callable[[int], int] | None
    contents = b""
    if path is not None and path.startswith("irds:"):
        frame, lines = _from_ir_datasets(path.removeprefix("irds:")), None
    elif path is not None:
        contents = open_bytes(path)
        contents = plain_text(contents, path) if contents.startswith(UTF16) else contents
        nested = read_nested(contents)
        if nested is not None:
            frame, lines = _from_memory(nested), None
        elif kind_of(contents, path, columns) == "trec":
            frame, lines, columns = read_qrels(path, contents), partial(line_of, contents), None
        else:
            frame, lines = read_frame(path, contents, columns), csv_lines(contents, path)
    else:
        frame, lines = _from_memory(data), None
    frame, place = settled(named(frame, GAINS, mine(columns, GAINS), file=path), GAINS, words, Place(path, lines))
    frame, lines = check(frame, GAINS, file=path, lines=place.lines, once=False), place.lines
    if frame.is_empty():
        raise InputError(
            "there is no judgment in it", cure="a line is: topic 0 document grade", file=path or "the gains"
        )
    try:
        return without_negatives(_without_repeats(frame, path, lines), negative, path)
    except InputError as error:
        raise _of_subtopics(error, contents) from None


def _of_subtopics(error: InputError, contents: bytes) -> InputError:
    """The error, and what may be meant where qrels judge a document several times: their second field tells."""
    fields = [line.split() for line in contents.split(b"\n")] if error.line else []
    seconds = sorted({line[1].decode("utf-8", "replace") for line in fields if len(line) == len(QRELS)})
    if len(seconds) < 2:
        return error
    said = f"where the second field ({', '.join(seconds[:3])}, …) counts subtopics, keep the lines of one subtopic"
    return InputError(error.problem, cure=f"{error.cure}; {said}", file=error.file, line=error.line)


def _from_memory(data: Any) -> pl.DataFrame:
    if isinstance(data, Mapping) and data and all(isinstance(value, Mapping) for value in data.values()):
        rows = [(str(topic), str(doc), gain) for topic, docs in data.items() for doc, gain in docs.items()]
        topics, docs, gains = map(list, zip(*rows, strict=True)) if rows else ([], [], [])
        return frame_of({"topic": topics, "doc": docs, "gain": gains})
    return frame_of(data)


def _from_ir_datasets(name: str) -> pl.DataFrame:
    try:
        import ir_datasets  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(f"irds:{name} needs the package ir_datasets", cure="pip install ir_datasets") from None
    try:
        found = ir_datasets.load(name)
    except KeyError:
        raise InputError(f"ir_datasets knows no {name!r}", cure="ir_datasets list shows the ids") from None
    rows = [(row.query_id, row.doc_id, float(row.relevance)) for row in found.qrels_iter()]
    return pl.DataFrame(rows, schema=["topic", "doc", "gain"], orient="row")


def _without_repeats(frame: pl.DataFrame, path: str | None, lines: Callable[[int], int] | None) -> pl.DataFrame:
    """Rows that are there twice to the letter count once, and are reported; contradictions are refused."""
    if not frame.select(GAINS.key).is_duplicated().any():
        return frame
    kept = frame.with_row_index("row of the file").unique(subset=frame.columns, keep="first", maintain_order=True)
    rows = kept["row of the file"]
    places = None if lines is None else (lambda row: lines(rows[row]))
    checked = check(kept.drop("row of the file"), GAINS, file=path, lines=places)
    _tell(f"{len(frame) - len(kept)} of {len(frame)} rows are there twice, alike; each counts once", path)
    return checked


def without_negatives(frame: pl.DataFrame, negative: str, path: str | None = None) -> pl.DataFrame:
    """The gains with grades below 0 taken for what `negative` says, and told."""
    if negative not in NEGATIVE:
        raise InputError(f"negative {negative!r} is not one of {', '.join(NEGATIVE)}")
    below = frame.filter(pl.col("gain") < 0)
    real_valued = negative == "auto" and bool((frame["gain"] % 1 != 0).any())
    if not len(below) or negative == "keep" or real_valued:
        return frame
    first = f"the first: topic {below['topic'][0]}, document {below['doc'][0]}"
    said = f"{len(below)} of {len(frame)} gains are below 0 ({first})"
    if negative == "error":
        raise InputError(said, cure="say what they mean: negative = unjudged, zero or keep", file=path)
    if negative == "zero":
        _tell(f"{said}; taken as 0", path)
        return frame.with_columns(pl.col("gain").clip(lower_bound=0))
    kept = frame.filter(pl.col("gain") >= 0)
    lost = sorted(set(frame["topic"]) - set(kept["topic"]))
    alone = f"; {len(lost)} topics have no other and do not count (the first: {lost[0]})" if lost else ""
    _tell(f"{said}; taken as unjudged, as trec_eval does{alone}", path)
    return kept


def _tell(text: str, path: str | None) -> None:
    warnings.warn(f"{path}: {text}" if path else text, JudgewellWarning, stacklevel=4)
