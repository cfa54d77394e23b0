"""Judgments and pairs from whatever holds them: known crowd exports, told by their headers, and any other table.

What a file leaves out, and which column is read as which where its name does not say so itself, is told as a warning.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import polars as pl

from judgewell.errors import Place
from judgewell.formats.crowd_exports import Columns, recognised, without_blanks
from judgewell.formats.delimited import first_line, from_latin1, line_numbers, plain_text, read_delimited
from judgewell.formats.files import matching, open_bytes
from judgewell.formats.frames import csv_lines, kind_of, read_frame
from judgewell.formats.gains import without_negatives
from judgewell.formats.long_form import taken_apart
from judgewell.formats.trec import line_of, read_qrels
from judgewell.formats.words import settled
from judgewell.scales import with_kinds
from judgewell.tables import GAINS, JUDGMENTS, OTHER_NAMES, PAIRS, Table, check, named

NUMBER = re.compile(r"-?\d+(\.\d+)?")

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


def read_judgments(
    path: str | Path, columns: Columns | None = None, words: Columns | None = None, kind: str | None = None
) -> pl.DataFrame:
    """A judgments table from a crowd export or from a table of ours (CSV, Parquet, JSON lines; .gz, .zst or `-`).

    A name with a star ("batch*.csv") stands for several such files, taken together.
    `columns` maps our column names to the file's ({"value": "score"}); it may name parts of nested JSON ("meta.topic")
    and several columns by a star ("rel*"). `words` says what answers mean ({"relevant": "1"}). A mapping that names
    topic or doc is taken at its word, and so are words: the file is not read as a known export. `kind` says what the
    values mean ("ratio", "interval:0..100"); without it a file that does not say so gets the kind its values suggest.
    """
    return with_kinds(_together(path, columns or {}, words, JUDGMENTS), str(path), kind)


def read_pairs(path: str | Path, columns: Columns | None = None, words: Columns | None = None) -> pl.DataFrame:
    """A pairs table from a crowd export or from a table of ours, like :func:`read_judgments`."""
    return _together(path, columns or {}, words, PAIRS)


def holds_pairs(path: str | Path, columns: Columns | None = None) -> bool:
    """Whether a file holds pairs, by its kind of export or the names of its columns."""
    path = matching(path)[0]
    data = _loaded(path)
    if columns and {"left", "right", "preferred", "doc", "value"} & set(columns):
        return not {"doc", "value"} & set(columns)
    if _is_winner_list(data) or _is_qrels(data, path, None):
        return _is_winner_list(data)
    frame = _frame(data, path)
    export = recognised(frame)
    return export.table == "pairs" if export else _names_pairs(frame.columns)


def _names_pairs(names: Iterable[str]) -> bool:
    """Whether columns for two documents are named, and none for one."""
    simple = {_simple(name) for name in names}

    def has(column: str) -> bool:
        others = (column, *OTHER_NAMES.get(column, ()), *ALSO.get(column, ()))
        return bool(simple & {_simple(other) for other in others})

    return ((has("left") and has("right")) or {"winner", "loser"} <= simple) and not has("doc")


def _refuse_the_other(frame: pl.DataFrame, columns: Columns, table: Table, place: Place) -> None:
    """Pairs where judgments are asked for, and judgments where pairs are."""
    if table.name == "judgments" and not columns and _names_pairs(frame.columns):
        _right_table("table", "pairs", table, place)
    if table.name == "pairs" and not columns and {"doc", "value"} <= set(frame.columns):
        _right_table("table", "judgments", table, place)


def export_of(path: str | Path) -> str | None:
    """What a file is taken for: the name of the crowd export, or None for a table of ours."""
    data = _loaded(path)
    if _is_winner_list(data):
        return WINNERS
    if _is_qrels(data, path, None):
        return LABELS
    found = recognised(_frame(data, path))
    return None if found is None else found.name


def _together(path: str | Path, columns: Columns, words: Columns | None, table: Table) -> pl.DataFrame:
    """The rows of all files that the path names."""
    files = matching(path)
    frames = [_read(file, columns, words, table) for file in files]
    if len(files) == 1:
        return frames[0]
    units = pl.concat([one.select("topic", "assessor", "unit").unique() for one in frames]).drop_nulls("unit")
    twice = units.filter(units.is_duplicated()).unique().sort(pl.all())
    if len(twice):
        told = f"{len(twice)} units stand in more than one file, such as {twice['unit'][0]}; each is taken as one"
        Place(str(path)).note(told)
    return check(pl.concat(frames, how="diagonal_relaxed"), table, infer_kinds=False)


def _read(path: str | Path, columns: Columns, words: Columns | None, table: Table) -> pl.DataFrame:
    data = _loaded(path)
    place = Place(str(path), partial(line_of, data) if _is_winner_list(data) else _lines(data, path))
    if _is_winner_list(data) and not columns:
        _right_table(WINNERS, "pairs", table, place)
        frame, place = settled(_winners(data, place), PAIRS, words, place)
        return check(frame, PAIRS, file=path, lines=place.lines)
    if _is_qrels(data, path, words) and not columns:
        _right_table(LABELS, "judgments", table, place)
        return _labels(data, words, path)
    frame = _frame(data, path)
    export = None if words or "topic" in columns or "doc" in columns else recognised(frame)
    if export is not None:
        _right_table(export.name, export.table, table, place)
        return check(export.read(without_blanks(frame), columns, place), table, file=path, infer_kinds=False)
    frame, place = taken_apart(frame, columns, place)
    _refuse_the_other(frame, columns, table, place)
    frame = named(frame, table, _guessed(frame, table, columns, place), file=path)
    if set(table.required) <= set(frame.columns):  # else what is missing is told first
        frame, place = settled(frame, table, words, place)
    return check(frame, table, file=path, lines=place.lines, infer_kinds=False)


def _labels(data: bytes, words: Columns | None, path: str | Path) -> pl.DataFrame:
    """The lines of qrels as judgments; grades below 0 are no judgments."""
    place = Place(str(path), partial(line_of, data))
    place.note("the qrels are read as judgments, one a line, whose assessor is not known")
    frame, place = settled(read_qrels(path, data), GAINS, words, place)
    judged = without_negatives(check(frame, GAINS, file=path, lines=place.lines, once=False), "unjudged", str(path))
    return check(judged.select("topic", "doc", value="gain"), JUDGMENTS, file=path, infer_kinds=False)


def _lines(data: bytes, path: str | Path) -> Callable[[int], int] | None:
    return csv_lines(data, path) if kind_of(data, path) in ("parquet", "json") else line_numbers(data)


def _right_table(name: str, has: str, wanted: Table, place: Place) -> None:
    if has != wanted.name:
        fits = "preference or bradley-terry" if has == "pairs" else "magnitude or mean"
        what = "this table" if name == "table" else f"this is the {name} export, which"
        raise place.error(f"{what} holds {has}", f"use a method for {has}, such as {fits}")


def _loaded(path: str | Path) -> bytes:
    """The file's bytes; those of a text in UTF-8 (comments of crowds often are Latin-1, which is told)."""
    data = open_bytes(path)
    return data if kind_of(data, path) in ("parquet", "json") else from_latin1(plain_text(data, path), path)


def _frame(data: bytes, path: str | Path) -> pl.DataFrame:
    """The file's named columns."""
    return read_frame(path, data) if kind_of(data, path) in ("parquet", "json") else read_delimited(data, path)


def _guessed(frame: pl.DataFrame, table: Table, columns: Columns, place: Place) -> Columns:
    """The mapping, and for a column that is not there the one whose name says the same, which is told.

    Where several may hold what the table cannot do without, none is taken.
    """
    simple = {_simple(name): name for name in frame.columns}
    there = {name.lower() for name in frame.columns}
    found = dict(columns)
    if table.name == "pairs" and {"winner", "loser"} <= set(simple) and not {"left", "right"} & {*there, *found}:
        found |= {"left": simple["winner"], "right": simple["loser"], "preferred": simple["winner"]}
        place.note("the winner is read as the left document; on which side it was shown is not known")
    for column in table.columns:
        others = (column.name, *OTHER_NAMES.get(column.name, ()))
        if column.name in found or column.name in there or set(others) & set(frame.columns):
            continue
        alike = [_simple(other) for other in (*others, *ALSO.get(column.name, ()))]
        matches = [simple[name] for name in dict.fromkeys(alike) if name in simple]
        matches = [name for name in matches if name not in found.values()]
        if len(matches) > 1 and column.required:
            raise place.error(
                f"{column.name} may be any of the columns {', '.join(matches)}",
                f"say which: --columns {column.name}={matches[0]} (columns= in Python)",
            )
        if column.name == "unit" and matches and _one_each(frame, matches[0], found):
            place.note(f"{matches[0]} holds one judgment of each assessor: it is not read as the unit of work")
        elif matches:
            found[column.name] = matches[0]
            place.note(f"{column.name} is read from the column {matches[0]}")
    return found


def _one_each(frame: pl.DataFrame, unit: str, found: Columns) -> bool:
    """Whether no assessor has two rows of one unit, as where platforms number each document's task."""
    assessors = [
        name for name in (found.get("assessor"), "assessor", *OTHER_NAMES["assessor"]) if name in frame.columns
    ]
    return len(frame) > 1 and frame.select(unit, *assessors[:1]).n_unique() == len(frame)


def _simple(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


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


def _winners(data: bytes, place: Place) -> pl.DataFrame:
    rows = [line.split() for line in io.StringIO(data.decode("utf-8")) if line.strip()]
    for number, fields in enumerate(rows):
        if len(fields) != 4:
            said = f"{' '.join(fields)!r} is not a topic, two documents and the preferred one of them"
            raise place.error(said, "write these four", number)
    topic, left, right, winner = (list(column) for column in zip(*rows, strict=True))
    preferred = [
        "left" if won == first else "right" if won == second else won
        for won, first, second in zip(winner, left, right, strict=True)
    ]
    return pl.DataFrame({"topic": topic, "left": left, "right": right, "preferred": preferred})
