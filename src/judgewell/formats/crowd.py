"""Raw crowd exports as judgments and pairs tables, told by their headers; other files as tables of ours.

An export is one :class:`Export`: the columns its header must have and the function that makes a table of it. What it
leaves out or finds odd is told as a warning.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import polars as pl

from judgewell.errors import JudgewellWarning
from judgewell.formats.answers import Source, settled
from judgewell.formats.delimited import first_line, from_latin1, line_numbers, plain_text, read_delimited
from judgewell.formats.files import open_bytes
from judgewell.formats.gains import without_negatives
from judgewell.formats.reshaped import taken_apart
from judgewell.formats.tabular import csv_lines, kind_of, read_frame
from judgewell.formats.trec import line_of, read_qrels
from judgewell.tables import GAINS, JUDGMENTS, OTHER_NAMES, PAIRS, Table, check, named

Columns = Mapping[str, str]
MISSING = ("", "null")
NUMBER = re.compile(r"-?\d+(\.\d+)?")
CRITERIA = {"inf": "informativeness", "nat": "naturalness", "qual": "quality"}
GRADES = {"not_relevant": 0.0, "relevant": 1.0, "highly_relevant": 2.0}
SCALES = {"me": "magnitude", "magnitude": "magnitude", "s100": "s100", "s2": "binary", "s4": "ordinal"}


# Names that may say the same, beyond those of tables.OTHER_NAMES that always do; using one is told.
ALSO = {
    "topic": ("topicnumber", "queryid"),
    "doc": ("document", "doc_no", "passage_id", "pid", "item", "item_id", "url"),
    "assessor": (
        *("workerid", "user", "user_id", "judge", "rater", "annotator_id", "assessor_id", "completed_by"),
        *("participant", "participant_id", "prolific_id", "prolific_pid"),
    ),
    "unit": ("hit", "hit_id", "batch", "task_id"),
    "value": ("score", "label", "grade", "rel", "relevance", "level", "magnitude", "response", "answer"),
    "left": ("doc_a", "doc_1", "document_a", "document_1", "left_doc", "docid1", "item_a", "item_1"),
    "right": ("doc_b", "doc_2", "document_b", "document_2", "right_doc", "docid2", "item_b", "item_2"),
    "preferred": ("preference", "winner", "choice", "answer"),
}


@dataclass(frozen=True)
class Export:
    """A known kind of crowd export."""

    name: str
    table: Literal["judgments", "pairs"]
    needs: frozenset[str]
    read: Callable[[pl.DataFrame, Columns, Source], pl.DataFrame]


def read_judgments(path: str | Path, columns: Columns | None = None, words: Columns | None = None) -> pl.DataFrame:
    """A judgments table from a crowd export or from a table of ours (CSV, Parquet, JSON lines; .gz, .zst or `-`).

    `columns` maps our column names to the file's ({"value": "score"}); it may name parts of nested JSON ("meta.topic")
    and several columns by a star ("rel*"). `words` says what answers mean ({"relevant": "1"}). A mapping that names
    topic or doc is taken at its word, and so are words: the file is not read as a known export.
    """
    return _read(path, columns or {}, words, JUDGMENTS)


def read_pairs(path: str | Path, columns: Columns | None = None, words: Columns | None = None) -> pl.DataFrame:
    """A pairs table from a crowd export or from a table of ours, like :func:`read_judgments`."""
    return _read(path, columns or {}, words, PAIRS)


def holds_pairs(path: str | Path, columns: Columns | None = None) -> bool:
    """Whether a file holds pairs, by its kind of export or the names of its columns."""
    data = _loaded(path)
    if columns and {"left", "right", "preferred", "doc", "value"} & set(columns):
        return not {"doc", "value"} & set(columns)
    if _is_winner_list(data) or _is_qrels(data, path, None):
        return _is_winner_list(data)
    frame = _frame(data, path)
    export = _recognised(frame)
    return export.table == "pairs" if export else _names_pairs(frame.columns)


def _names_pairs(names: Iterable[str]) -> bool:
    """Whether columns for two documents are named, and none for one."""
    simple = {_simple(name) for name in names}

    def has(column: str) -> bool:
        others = (column, *OTHER_NAMES.get(column, ()), *ALSO.get(column, ()))
        return bool(simple & {_simple(other) for other in others})

    return ((has("left") and has("right")) or {"winner", "loser"} <= simple) and not has("doc")


def _refuse_the_other(frame: pl.DataFrame, columns: Columns, table: Table, source: Source) -> None:
    """Pairs where judgments are asked for, and judgments where pairs are."""
    if table.name == "judgments" and not columns and _names_pairs(frame.columns):
        _right_table("table", "pairs", table, source)
    if table.name == "pairs" and not columns and {"doc", "value"} <= set(frame.columns):
        _right_table("table", "judgments", table, source)


def export_of(path: str | Path) -> str | None:
    """What a file is taken for: the name of the crowd export, or None for a table of ours."""
    data = _loaded(path)
    if _is_winner_list(data):
        return WINNERS
    if _is_qrels(data, path, None):
        return LABELS
    found = _recognised(_frame(data, path))
    return None if found is None else found.name


def _read(path: str | Path, columns: Columns, words: Columns | None, table: Table) -> pl.DataFrame:
    data = _loaded(path)
    source = Source(str(path), partial(line_of, data) if _is_winner_list(data) else _lines(data, path))
    if _is_winner_list(data) and not columns:
        _right_table(WINNERS, "pairs", table, source)
        frame, source = settled(_winners(data, source), PAIRS, words, source)
        return check(frame, PAIRS, file=path, lines=source.lines)
    if _is_qrels(data, path, words) and not columns:
        _right_table(LABELS, "judgments", table, source)
        return _labels(data, words, path)
    frame = _frame(data, path)
    export = None if words or "topic" in columns or "doc" in columns else _recognised(frame)
    if export is not None:
        _right_table(export.name, export.table, table, source)
        return check(export.read(_without_blanks(frame), columns, source), table, file=path)
    frame, source = taken_apart(frame, columns, source)
    _refuse_the_other(frame, columns, table, source)
    frame = named(frame, table, _guessed(frame, table, columns, source), file=path)
    if set(table.required) <= set(frame.columns):  # else what is missing is told first
        frame, source = settled(frame, table, words, source)
    return check(frame, table, file=path, lines=source.lines)


def _labels(data: bytes, words: Columns | None, path: str | Path) -> pl.DataFrame:
    """The lines of qrels as judgments; grades below 0 are no judgments."""
    source = Source(str(path), partial(line_of, data))
    source.tell("the qrels are read as judgments, one a line, whose assessor is not known")
    frame, source = settled(read_qrels(path, data), GAINS, words, source)
    judged = without_negatives(check(frame, GAINS, file=path, lines=source.lines, once=False), "unjudged", str(path))
    return check(judged.select("topic", "doc", value="gain"), JUDGMENTS, file=path)


def _lines(data: bytes, path: str | Path) -> Callable[[int], int] | None:
    return csv_lines(data, path) if kind_of(data, path) in ("parquet", "json") else line_numbers(data)


def _right_table(name: str, has: str, wanted: Table, source: Source) -> None:
    if has != wanted.name:
        fits = "preference or bradley-terry" if has == "pairs" else "magnitude or mean"
        what = "this table" if name == "table" else f"this is the {name} export, which"
        raise source.error(f"{what} holds {has}", f"use a method for {has}, such as {fits}")


def _recognised(frame: pl.DataFrame) -> Export | None:
    header = set(frame.columns)
    return next((export for export in EXPORTS if export.needs <= header), None)


def _loaded(path: str | Path) -> bytes:
    """The file's bytes; those of a text in UTF-8 (comments of crowds often are Latin-1, which is told)."""
    data = open_bytes(path)
    return data if kind_of(data, path) in ("parquet", "json") else from_latin1(plain_text(data, path), path)


def _frame(data: bytes, path: str | Path) -> pl.DataFrame:
    """The file's named columns."""
    return read_frame(path, data) if kind_of(data, path) in ("parquet", "json") else read_delimited(data, path)


def _guessed(frame: pl.DataFrame, table: Table, columns: Columns, source: Source) -> Columns:
    """The mapping, and for a column that is not there the one whose name says the same, which is told.

    Where several may hold what the table cannot do without, none is taken.
    """
    simple = {_simple(name): name for name in frame.columns}
    there = {name.lower() for name in frame.columns}
    found = dict(columns)
    if table.name == "pairs" and {"winner", "loser"} <= set(simple) and not {"left", "right"} & {*there, *found}:
        found |= {"left": simple["winner"], "right": simple["loser"], "preferred": simple["winner"]}
        _tell("the winner is read as the left document; on which side it was shown is not known", source)
    for column in table.columns:
        others = (column.name, *OTHER_NAMES.get(column.name, ()))
        if column.name in found or column.name in there or set(others) & set(frame.columns):
            continue
        alike = [_simple(other) for other in (*others, *ALSO.get(column.name, ()))]
        matches = [simple[name] for name in dict.fromkeys(alike) if name in simple]
        matches = [name for name in matches if name not in found.values()]
        if len(matches) > 1 and column.required:
            raise source.error(
                f"{column.name} may be any of the columns {', '.join(matches)}",
                f"say which: --columns {column.name}={matches[0]} (columns= in Python)",
            )
        if column.name == "unit" and matches and _one_each(frame, matches[0], found):
            _tell(f"{matches[0]} holds one judgment of each assessor: it is not read as the unit of work", source)
        elif matches:
            found[column.name] = matches[0]
            _tell(f"{column.name} is read from the column {matches[0]}", source)
    return found


def _one_each(frame: pl.DataFrame, unit: str, found: Columns) -> bool:
    """Whether no assessor has two rows of one unit, as where platforms number each document's task."""
    assessors = [
        name for name in (found.get("assessor"), "assessor", *OTHER_NAMES["assessor"]) if name in frame.columns
    ]
    return len(frame) > 1 and frame.select(unit, *assessors[:1]).n_unique() == len(frame)


def _simple(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _without_blanks(frame: pl.DataFrame) -> pl.DataFrame:
    """Empty fields and the word null both mean missing."""
    text = pl.col(pl.String)
    return frame.with_columns(pl.when(~text.is_in(MISSING)).then(text).name.keep())


def _tell(text: str, source: Source) -> None:
    warnings.warn(f"{source.file}: {text}", JudgewellWarning, stacklevel=5)


def _numbers(frame: pl.DataFrame, name: str, source: Source) -> pl.Series:
    """A column of numbers; the first value that is none is named with its row."""
    values = frame[name]
    cast = values.cast(pl.Float64, strict=False)
    bad = (values.is_not_null() & cast.is_null()).arg_true()
    if len(bad):
        raise source.error(f"{name} {values[bad[0]]!r} is not a number", "write a number, or nothing", bad[0])
    return cast


def _trec8(frame: pl.DataFrame, columns: Columns, source: Source) -> pl.DataFrame:
    """The TREC-8 relevance-scales export: 0-100 scores, or magnitudes where there is a column relevance_scale."""
    value, scale = _trec8_value(frame, columns, source)
    extra = [pl.Series(name, _numbers(frame, name, source)) for name in ("trec", "sormunen") if name in frame.columns]
    unknown = (~frame["gold"].is_in(["H", "N"])).fill_null(False).arg_true()
    if len(unknown):
        raise source.error(f"gold {frame['gold'][unknown[0]]!r} is neither H nor N", row=unknown[0])
    table = frame.select(
        topic="topic_id",
        doc="document_id",
        assessor="worker_id",
        unit=pl.format("{}/{}", "topic_id", "unit_id"),  # unit ids are unique only within a topic
        position=pl.Series(_numbers(frame, "doc_pos", source)).cast(pl.Int64) + 1,
        scale=scale,
        value=value,
        seconds=pl.Series(_numbers(frame, "cumulative_time", source)),
        comment="comment",
        known="gold",
    ).with_columns(extra)
    _tell_oddities(table, source)
    return _answered(table, source)


def _trec8_value(frame: pl.DataFrame, columns: Columns, source: Source) -> tuple[pl.Series, pl.Series]:
    named = frame["relevance_scale"] if "relevance_scale" in frame.columns else None
    score = columns.get("value", "relevance_score")
    if named is not None and score not in frame.columns:
        return _numbers(frame, "relevance_scale", source), pl.Series(["magnitude"] * len(frame))
    if score not in frame.columns:
        cure = "say which column holds them: --columns value=NAME"
        raise source.error(f"there is no column {score} to read the scores from", cure)
    if named is None:
        return _numbers(frame, score, source), pl.Series(["s100"] * len(frame))
    if named.cast(pl.Float64, strict=False).is_not_null().any():
        raise source.error(
            "relevance_score and relevance_scale both hold numbers",
            "say which is the value (--columns value=relevance_scale)",
        )
    lowered = named.str.to_lowercase()
    return _numbers(frame, score, source), lowered.replace_strict(SCALES, default=lowered)


def _tell_oddities(table: pl.DataFrame, source: Source) -> None:
    below = table.filter(pl.col("seconds") < 0)
    if len(below):
        _tell(
            f"{len(below)} times are below 0, kept as they are (topic {below['topic'][0]}, unit {below['unit'][0]})",
            source,
        )
    if "sormunen" in table.columns:
        known = table.filter(pl.col("known").is_not_null() & pl.col("sormunen").is_null())
        documents = known.select("topic", "doc", "known").unique().sort("topic", "doc")
        if len(documents):
            said = ", ".join(f"topic {topic} {doc} ({flag})" for topic, doc, flag in documents.iter_rows())
            _tell(f"{len(documents)} known documents have no Sormunen level: {said}", source)


def _answered(table: pl.DataFrame, source: Source) -> pl.DataFrame:
    """Rows without a value are left out and told."""
    empty = table.filter(pl.col("value").is_null())
    if len(empty):
        first = f"topic {empty['topic'][0]}, document {empty['doc'][0]}"
        _tell(f"{len(empty)} of {len(table)} judgments have no value and are left out ({first})", source)
    return table.filter(pl.col("value").is_not_null())


def _music(frame: pl.DataFrame, columns: Columns, source: Source) -> pl.DataFrame:
    """Musical similarity by preference: a, b or the same (Urbano et al. 2010)."""
    sides = {"a": "left", "b": "right", "s": "same", "same": "same"}
    answers = frame["Answer.radio"].str.to_lowercase()
    bad = (answers.is_not_null() & ~answers.is_in(list(sides))).arg_true()
    if len(bad):
        raise source.error(f"the answer {answers[bad[0]]!r} is not a, b or same", row=bad[0])
    return frame.select(
        topic="Input.query",
        left="Input.docA",
        right="Input.docB",
        assessor="WorkerId",
        unit="HITId",
        preferred=answers.replace_strict(sides, default=None, return_dtype=pl.String),
        seconds=pl.Series(_numbers(frame, "WorkTimeInSeconds", source)),
        comment="Answer.comment",
    )


def _rankme(frame: pl.DataFrame, columns: Columns, source: Source) -> pl.DataFrame:
    """RankME: one rating per row (plain magnitudes or Likert), or three systems side by side (relative magnitudes)."""
    wide = "team1" in frame.columns
    criterion = _criterion(frame, columns, wide, source)
    topic = "mr_id" if "mr_id" in frame.columns else "mr"
    sides = [str(side) for side in (1, 2, 3)] if wide else [""]
    parts = [
        frame.with_row_index("row").select(
            topic=topic,
            doc=f"team{side}",
            assessor="_worker_id",
            unit=pl.format("row {}", pl.col("row") + 1) if wide else pl.lit(None, dtype=pl.String),
            position=pl.lit(int(side) if side else None, dtype=pl.Int64),
            value=pl.Series(_numbers(frame, f"{criterion}{side}", source)),
            text=f"ref{side}",
        )
        for side in sides
    ]
    table = pl.concat(parts)
    likert = not wide and bool(table["value"].is_in([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).all())
    name = CRITERIA.get(criterion, criterion)
    said = table.with_columns(scale=pl.lit("ordinal" if likert else "magnitude"), criterion=pl.lit(name))
    return _answered(said, source)


def _criterion(frame: pl.DataFrame, columns: Columns, wide: bool, source: Source) -> str:
    """The rated quality: the only one in the file, or the one asked for as value."""
    names = [*CRITERIA, *CRITERIA.values()]
    found = [name for name in names if (f"{name}1" if wide else name) in frame.columns]
    asked = columns.get("value")
    if asked is None and len(found) == 1:
        return found[0]
    if asked not in found:
        what = f"no {asked}" if asked else "several ratings"
        raise source.error(
            f"this RankME export has {what}; it has {', '.join(found)}",
            f"say which is the value (--columns value={found[-1] if found else 'quality'})",
        )
    return asked or ""


def _nyt(frame: pl.DataFrame, columns: Columns, source: Source) -> pl.DataFrame:
    """Relevance of news articles on two and three levels, with the NIST label; merged pilots repeat others' rows."""
    answers = columns.get("value", "relevance")
    bad = (frame[answers].is_not_null() & ~frame[answers].is_in(list(GRADES))).arg_true()
    if len(bad):
        cure = "if this is another file, name its topics to have it read as a plain table: --columns topic=topic"
        raise source.error(f"{answers} {frame[answers][bad[0]]!r} is none of {', '.join(GRADES)}", cure, bad[0])
    pilots = "pilot" in frame.columns
    if pilots:
        merged = frame.filter(pl.col("pilot").str.ends_with("_merged"))
        if len(merged):
            _tell(f"{len(merged)} rows of merged pilots repeat others and are left out", source)
        frame = frame.filter(~pl.col("pilot").str.ends_with("_merged"))
    two = pl.col("pilot").str.contains("_2P") if pilots else pl.lit(False)
    table = frame.select(
        topic="topic",
        doc="document_id",
        assessor="_worker_id",
        scale=pl.when(two).then(pl.lit("binary")).otherwise(pl.lit("ordinal")),
        value=pl.col(answers).replace_strict(GRADES, default=None, return_dtype=pl.Float64),
        label=pl.Series(_numbers(frame, "rel", source)),
        **({"pilot": pl.col("pilot")} if pilots else {}),
    )
    return _answered(table, source)


LABELS = "qrels (topic, 0, document, grade)"
WINNERS = "list of winners (topic, document, document, preferred document)"


def _is_winner_list(data: bytes) -> bool:
    """Four fields a line, of which the last repeats the second or third, at first and mostly."""
    lines = [line.split() for line in data[:4096].split(b"\n")[:-1][:20]]
    if not lines or any(len(fields) != 4 for fields in lines):
        return False
    repeated = [fields[3] in fields[1:3] for fields in lines]
    return repeated[0] and 2 * sum(repeated) > len(repeated)


def _is_qrels(data: bytes, path: str | Path, words: Columns | None) -> bool:
    """Four fields a line between spaces or tabs, of which the last is a number, or a word whose meaning is known."""
    fields = first_line(data).split()
    if kind_of(data, path) != "trec" or len(fields) != 4:
        return False
    known = fields[1] in ("0", "Q0") or fields[3].lower() in {word.lower() for word in words or ()}
    return known or bool(NUMBER.fullmatch(fields[3]))


def _winners(data: bytes, source: Source) -> pl.DataFrame:
    rows = [line.split() for line in io.StringIO(data.decode("utf-8")) if line.strip()]
    for number, fields in enumerate(rows):
        if len(fields) != 4:
            said = f"{' '.join(fields)!r} is not a topic, two documents and the preferred one of them"
            raise source.error(said, "write these four", number)
    topic, left, right, winner = (list(column) for column in zip(*rows, strict=True))
    preferred = [
        "left" if won == first else "right" if won == second else won
        for won, first, second in zip(winner, left, right, strict=True)
    ]
    return pl.DataFrame({"topic": topic, "left": left, "right": right, "preferred": preferred})


EXPORTS = (
    Export(
        "TREC-8 relevance scales",
        "judgments",
        frozenset({"topic_id", "unit_id", "document_id", "gold", "doc_pos", "worker_id"}),
        _trec8,
    ),
    Export(
        "music preferences",
        "pairs",
        frozenset({"Input.query", "Input.docA", "Input.docB", "Answer.radio", "WorkerId"}),
        _music,
    ),
    Export("RankME", "judgments", frozenset({"_worker_id", "mr", "team"}), _rankme),
    Export("RankME relative", "judgments", frozenset({"_worker_id", "mr", "team1", "team2", "team3"}), _rankme),
    Export(
        "NYT topical relevance",
        "judgments",
        frozenset({"_unit_id", "_worker_id", "relevance", "rel", "topic", "document_id"}),
        _nyt,
    ),
)
