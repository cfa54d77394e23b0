"""Judgments and pairs from whatever holds them: known crowd exports, recognised by their headers, and any other table.

A note reports which column is read as which where its name does not say so itself, and what a file leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from judgewell.errors import InputError, Place, note
from judgewell.formats.crowd_exports import Columns, read_export, recognised, refuse_misspelt, with_durations
from judgewell.formats.delimited import NUMBER, Layout, first_line
from judgewell.formats.files import matching, stem
from judgewell.formats.frames import Contents, load
from judgewell.formats.gains import without_copies, without_negatives
from judgewell.formats.long_form import ROW, STAR, one_judgment_a_row
from judgewell.formats.trec import read_qrels
from judgewell.formats.words import settled
from judgewell.scales import BY_SCALE, odd_value, with_kinds
from judgewell.tables import GAINS, JUDGMENTS, OTHER_NAMES, PAIRS, Table, check, frame_of, named, refuse_missing
from judgewell.text import agrees, counted, listing

FILE = "@file"  # assessor=@file reads the file's name

LOOKED_AT = 1 << 20  # bytes of a file without names
GRADE = re.compile(rb"-?\d{1,2}")

BEFORE = re.compile(r"^(Input\.|Answer\.|INPUT:|OUTPUT:|ASSIGNMENT:)")  # Mechanical Turk, Toloka
REJECTED = {"assignmentstatus": "rejected", "status": "rejected", "tainted": "true"}  # Mechanical Turk, Toloka, Appen

NOT_IDS = {"query", "document", "url"}  # they identify a topic or a document only where no id does

# Names that may say the same, beyond those of tables.OTHER_NAMES that always do; using one is noted.
ALSO = {
    "topic": ("topicnumber", "queryid", "question_id"),
    "doc": ("document", "doc_no", "passage_id", "pid", "item", "item_id", "product_id", "url"),
    "assessor": (
        *("workerid", "user", "user_id", "judge", "rater", "annotator_id", "assessor_id", "completed_by"),
        *("participant", "participant_id", "prolific_id", "prolific_pid"),
    ),
    "unit": ("hit", "hit_id", "batch", "task_id"),
    "value": (
        *("score", "label", "grade", "rel", "relevance", "relevant", "level", "magnitude"),
        *("response", "answer", "result"),
    ),
    "left": (
        *("doc_a", "doc_1", "doc_id_a", "docid1", "document_a", "document_1", "left_doc"),
        *("item_a", "item_1", "model_a"),
    ),
    "right": (
        *("doc_b", "doc_2", "doc_id_b", "docid2", "document_b", "document_2", "right_doc"),
        *("item_b", "item_2", "model_b"),
    ),
    "preferred": ("preference", "winner", "choice", "answer"),
}


def read_judgments(
    data: Any,
    columns: Columns | None = None,
    words: Columns | None = None,
    layout: Layout | None = None,
    *,
    kind: str | None = None,
) -> pl.DataFrame:
    """A judgments table from a crowd export or from a table of ours (CSV, Parquet, JSON lines; compressed, or `-`).

    A name with a star ("batch*.csv") or a list of names means several such files, taken together. Instead of
    files, `data` may be a frame or rows.

    `columns` maps our column names to the file's ({"value": "score"}). It may name parts of nested JSON ("meta.topic"),
    several columns by a star ("rel*", then "*" is what the star matched) and the file's name ("@file"). `words` says
    what answers mean ({"relevant": "1"}). With words, or with a mapping for topic or doc, the file is not read as a
    known export. `kind` says what the values mean ("ratio", "interval:0..100"); without it a file that does not say so
    gets the kind its values suggest, with a note.
    """
    sources = _sources(data)
    file = sources[0] if isinstance(sources[0], str) else None
    judgments, places = _together(sources, columns or {}, words, layout, JUDGMENTS)
    if kind is None:
        _refuse_odd(judgments, places)
    return with_kinds(judgments, file, kind)


def read_pairs(
    data: Any, columns: Columns | None = None, words: Columns | None = None, layout: Layout | None = None
) -> pl.DataFrame:
    """A pairs table from a crowd export or from a table of ours, like :func:`read_judgments`."""
    return _together(_sources(data), columns or {}, words, layout, PAIRS)[0]


def holds_pairs(data: Any, columns: Columns | None = None, layout: Layout | None = None) -> bool:
    """Whether files or a frame hold pairs, by the kind of export or the names of the columns."""
    if columns and {"left", "right", "preferred", "doc", "value"} & set(columns):
        return not {"doc", "value"} & set(columns)
    source = _sources(data)[0]
    if isinstance(source, str):
        contents = load(source, columns, layout)
        if _holds_winners(contents) or _holds_grades(contents, None):
            return _holds_winners(contents)
        source = contents.frame()
    export = recognised(source)
    return export.table == "pairs" if export else _names_pairs(source.columns)


def holds_labels(path: str | Path) -> bool:
    """Whether a file holds one grade a line, as qrels do."""
    return _holds_grades(load(matching(path)[0]), None)


def _sources(data: Any) -> list[str | pl.DataFrame]:
    """The files that the data name, or the frame that they are."""
    names = [data] if isinstance(data, str | Path) else data
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str | Path) for name in names):
        return [frame_of(data)]
    return list(dict.fromkeys(file for name in names for file in matching(name)))


def _names_pairs(names: Iterable[str]) -> bool:
    """Whether columns for two documents are named, and none for one."""
    simple = {_simple(name) for name in names}

    def has(column: str) -> bool:
        others = (column, *OTHER_NAMES.get(column, ()), *ALSO.get(column, ()))
        return bool(simple & {_simple(other) for other in others})

    return ((has("left") and has("right")) or {"winner", "loser"} <= simple) and not has("doc")


def _together(
    sources: Sequence[str | pl.DataFrame], columns: Columns, words: Columns | None, layout: Layout | None, table: Table
) -> tuple[pl.DataFrame, list[tuple[int, Place]]]:
    """The rows of all files, or of a frame, and how many come from which place."""
    read = [_read(source, columns, words, layout, table) for source in sources]
    frames, places = [frame for frame, _ in read], [(len(frame), place) for frame, place in read]
    file = sources[0]
    if not isinstance(file, str):
        return frames[0], places
    if all(frame.is_empty() for frame in frames):
        raise InputError(f"there are no {table.name} in it", cure="write a row for each", file=file)
    if len(frames) == 1:
        return frames[0], places
    together = check(pl.concat(frames, how="diagonal_relaxed"), table, infer_kinds=False)
    units = pl.concat([one.select("topic", "assessor", "unit").unique() for one in frames]).drop_nulls("unit")
    twice = units.filter(units.is_duplicated()).unique().sort(pl.all())
    if len(twice):
        such = twice["unit"][0]
        note(f"{len(twice)} units are in more than one file, such as {such}; each is taken as one", file)
    if together["assessor"].null_count() == len(together):
        note(f"no assessor is named; if each file holds one assessor's answers: --columns assessor={FILE}", file)
    return together, places


def _refuse_odd(judgments: pl.DataFrame, places: Sequence[tuple[int, Place]]) -> None:
    """A value that nearly all others are far from would decide what all of them mean."""
    numbered = judgments.with_row_index(ROW).filter(pl.col("kind").is_null())
    for (scale,), part in numbered.group_by("scale", maintain_order=True):
        odd = None if str(scale).lower() in BY_SCALE else odd_value(part["value"])
        if odd is None:
            continue
        row, at = int(part[odd[0], ROW]), 0
        while row >= places[at][0]:
            row, at = row - places[at][0], at + 1
        raise places[at][1].error(
            f"value {part[odd[0], 'value']:g} is off the scale of the others: {odd[1]}",
            "correct it, or say what all values mean (--kind ratio, interval, ordinal or nominal; kind= in Python)",
            row,
        )


def _read(
    source: str | pl.DataFrame, columns: Columns, words: Columns | None, layout: Layout | None, table: Table
) -> tuple[pl.DataFrame, Place]:
    contents = load(source, columns, layout) if isinstance(source, str) else None
    named_by = {
        ours: STAR if theirs == "*" and ours != "value" else theirs
        for ours, theirs in columns.items()
        if theirs != FILE
    }
    if contents is not None and (_holds_winners(contents) or _holds_grades(contents, words)):
        read = _winners if _holds_winners(contents) else _grades
        frame, place = read(contents, words, table, named_by)
        given = frame
    else:
        frame, place = (frame_of(source), Place()) if contents is None else (contents.frame(), contents.named().place)
        given = frame
        frame, place = _without_questions(frame, place)
        export = None if words or {"topic", "doc"} & named_by.keys() else recognised(frame)
        if export is not None:
            _refuse_other(f"this is the {export.name} export, which holds", export.table, table, place)
            frame, place = read_export(export, frame, named_by, place), Place(place.file)  # some rows are excluded
        else:
            if not words and not named_by:
                refuse_misspelt(frame, place)
            frame, place = _plain(frame, named_by, words, table, place, columns.keys() - named_by.keys())
    frame = _with_file_name(frame, columns.keys() - named_by.keys(), place)
    refuse_missing(frame, table, place, given)
    checked = check(_from_one(frame, place), table, file=place.file, lines=place.lines, infer_kinds=False)
    _note_times(checked, place)
    _note_rejected(checked, place)
    return checked, place


def _with_file_name(frame: pl.DataFrame, columns: Iterable[str], place: Place) -> pl.DataFrame:
    """The frame with the file's name in the columns."""
    for ours in columns:
        if place.file is None:
            raise InputError(f"{ours}={FILE} is a file's name, and a frame has none", cure=f"add a column {ours}")
        frame = frame.with_columns(pl.lit(stem(place.file)).alias(ours))
    return frame


def _plain(
    frame: pl.DataFrame, columns: Columns, words: Columns | None, table: Table, place: Place, by_file: Iterable[str]
) -> tuple[pl.DataFrame, Place]:
    """A table with named columns, under our names and with answers that can be checked; the columns `by_file` hold the
    file's name."""
    there = frame.columns
    frame, place = one_judgment_a_row(with_durations(frame, place), columns, place)
    for ours in [ours for ours, theirs in columns.items() if theirs == STAR and STAR not in frame.columns]:
        raise place.error(f"{ours}=* needs a column that is named with a star", "as in value=rater*")
    frame = _with_file_name(frame, by_file, place)
    if not columns and _names_pairs(frame.columns):
        _refuse_other("this table holds", "pairs", table, place)
    if not columns and {"doc", "value"} <= set(frame.columns):
        _refuse_other("this table holds", "judgments", table, place)
    frame = named(frame, table, _guessed(frame, table, columns, place), file=place.file)
    answers = {"preferred", "left_score", "right_score"}
    if table.name == "pairs" and {"left", "right"} <= set(frame.columns) and not answers & set(frame.columns):
        problem = f"no column says which document is preferred; the columns are {', '.join(there)}"
        raise place.error(problem, "say which: --columns preferred=NAME")
    if set(table.required) <= set(frame.columns):  # else the error is about what is missing
        frame, place = settled(frame, table, words, place)
    return frame, place


def _from_one(frame: pl.DataFrame, place: Place) -> pl.DataFrame:
    """Positions that count from 0 counted from 1."""
    if "position" not in frame.columns:
        return frame
    positions = frame["position"].cast(pl.Int64, strict=False)
    if positions.null_count() > frame["position"].null_count() or positions.min() != 0:
        return frame
    place.note("positions count from 0; 1 is added to each")
    return frame.with_columns(positions + 1)


def _note_times(table: pl.DataFrame, place: Place) -> None:
    below = table.filter(pl.col("seconds") < 0)
    if len(below):
        first = ", ".join(f"{name} {below[name][0]}" for name in ("topic", "unit") if below[name][0] is not None)
        what = f"{counted(len(below), 'time')} {agrees(len(below), 'is', 'are')} below 0 ({first})"
        place.note(f"{what}; the judgments count, analyses of time leave them out")


def _without_questions(frame: pl.DataFrame, place: Place) -> tuple[pl.DataFrame, Place]:
    """The rows without the two below the names in which Qualtrics repeats its questions and ids."""
    second = frame.row(1) if len(frame) > 1 else ()
    if not any(isinstance(cell, str) and cell.startswith('{"ImportId":') for cell in second):
        return frame, place
    place.note("the two rows below the names are Qualtrics' questions and ids; they are not read")
    return frame[2:], place.of_rows(range(2, len(frame)))


def _note_rejected(table: pl.DataFrame, place: Place) -> None:
    """Work that a platform's owner turned down counts like any other."""
    for name in table.columns:
        word = REJECTED.get(_simple(name))
        rows = 0 if word is None else int((table[name].cast(pl.String).str.to_lowercase() == word).sum())
        if rows:
            kept = sorted(set(table[name].cast(pl.String).drop_nulls()), key=str.lower)
            others = ",".join(one for one in kept if one.lower() != word)
            place.note(f"{rows} rows with {name} {word} count too; to exclude them: --where {name}={others}")


def _refuse_other(what: str, holds: str, wanted: Table, place: Place) -> None:
    """Pairs where judgments are asked for, and judgments where pairs are."""
    if holds != wanted.name:
        fits = "preference or bradley-terry" if holds == "pairs" else "magnitude or mean"
        raise place.error(f"{what} {holds}", f"use a method for {holds}, such as {fits}; report takes it as --{holds}")


def _guessed(frame: pl.DataFrame, table: Table, columns: Columns, place: Place) -> Columns:
    """The mapping, and for a column that is not there the one whose name says the same, with a note.

    An id is taken before a text or an address. Where several others may hold what the table cannot do without, none is
    taken.
    """
    simple = {_simple(name): name for name in frame.columns}
    there = {name.lower() for name in frame.columns}
    mapping = dict(columns)
    if table.name == "pairs" and {"winner", "loser"} <= set(simple) and not {"left", "right"} & {*there, *mapping}:
        mapping |= {"left": simple["winner"], "right": simple["loser"], "preferred": simple["winner"]}
        place.note("the winner is read as the left document; on which side it was shown is not known")
    for column in table.columns:
        others = (column.name, *OTHER_NAMES.get(column.name, ()))
        if column.name in mapping or column.name in there:
            continue
        alike = [_simple(other) for other in (*others, *ALSO.get(column.name, ()))]
        matches = [simple[name] for name in dict.fromkeys(alike) if name in simple]
        matches = [name for name in matches if name not in mapping.values()]
        if set(others) & set(frame.columns):
            if column.name == "value" and len(matches) > 1:
                place.note(f"value is read from the column {matches[0]}, not from {listing(matches[1:])}")
            continue
        matches = [name for name in matches if _simple(name) not in NOT_IDS] or matches
        if len(matches) > 1 and column.required:
            raise place.error(
                f"{column.name} may be any of the columns {', '.join(matches)}",
                f"say which: --columns {column.name}={matches[0]} (columns= in Python)",
            )
        if column.name == "unit" and matches and _one_each(frame, matches[0], mapping):
            place.note(f"{matches[0]} holds one judgment of each assessor: it is not read as the unit of work")
        elif matches:
            mapping[column.name] = matches[0]
            place.note(f"{column.name} is read from the column {matches[0]}")
    return mapping


def _one_each(frame: pl.DataFrame, unit: str, mapping: Columns) -> bool:
    """Whether no assessor has two rows of one unit, as where platforms number each document's task."""
    assessors = [
        name for name in (mapping.get("assessor"), "assessor", *OTHER_NAMES["assessor"]) if name in frame.columns
    ]
    return len(frame) > 1 and frame.select(unit, *assessors[:1]).n_unique() == len(frame)


def _simple(name: str) -> str:
    """A column's name in small letters and digits, without what platforms put before the names of a task's fields."""
    return re.sub(r"[^a-z0-9]", "", BEFORE.sub("", name).lower())


def _holds_winners(contents: Contents) -> bool:
    """Whether lines are topic, document, document and the preferred one: the last repeats the second or third field,
    at first and mostly; in qrels only a grade can repeat, and only the second field."""
    if contents.kind != "trec":
        return False
    lines = [line.split() for line in contents.data[:LOOKED_AT].split(b"\n") if line.strip()]
    lines = lines[:-1] if len(contents.data) > LOOKED_AT else lines
    if not lines or len(lines[0]) != 4 or lines[0][3] not in lines[0][1:3]:
        return False
    several = len(lines)
    lines = [fields for fields in lines if len(fields) == 4]
    seconds, thirds = {fields[1] for fields in lines}, {fields[2] for fields in lines}
    grades = all(GRADE.fullmatch(word) for fields in lines for word in (fields[1], fields[3]))
    if seconds <= {b"0", b"Q0"} or (grades and not seconds & thirds):
        return False
    return 2 * sum(fields[3] in fields[1:3] for fields in lines) >= several


def _holds_grades(contents: Contents, words: Columns | None) -> bool:
    """Whether lines are qrels: four fields, of which the last is a number, or a word whose meaning is known."""
    fields = first_line(contents.data).split() if contents.kind == "trec" else []
    if len(fields) != 4:
        return False
    known = fields[1] in ("0", "Q0") or fields[3].lower() in {word.lower() for word in words or ()}
    return known or bool(NUMBER.fullmatch(fields[3]))


def _refuse_names(columns: Columns, place: Place, example: str) -> None:
    if columns:
        raise place.error(
            "the columns of this file have no names",
            f"leave --columns out, or name them by number: --no-header --columns {example}",
        )


def _grades(contents: Contents, words: Columns | None, table: Table, columns: Columns) -> tuple[pl.DataFrame, Place]:
    """The lines of qrels as judgments; grades below 0 are no judgments.

    Where a document has different grades, every line is a judgment, by somebody who is not named. Where all its lines
    are equal in the whole file, they are copies of one label and count once, as in a file of labels.
    """
    place = contents.place
    _refuse_other("this is the qrels (topic, 0, document, grade) export, which holds", "judgments", table, place)
    _refuse_names(columns, place, "topic=1,doc=3,value=4")
    frame, place = settled(read_qrels(contents.path, contents.data), GAINS, words, place)
    checked = check(frame, GAINS, file=contents.path, lines=place.lines, once=False)
    grades = checked.select(*GAINS.key, "gain").unique()
    lines = "one a line"
    if grades.height > grades.select(GAINS.key).n_unique():
        lines = "one a line, and lines with the same topic and document as judgments by different people"
    else:
        checked, place = without_copies(checked, place)
    place.note(f"the qrels are read as judgments, {lines}; qrels do not name assessors")
    judged = without_negatives(checked, "unjudged", contents.path)
    return judged.select("topic", "doc", value="gain"), place.of_rows((checked["gain"] >= 0).arg_true())


def _winners(contents: Contents, words: Columns | None, table: Table, columns: Columns) -> tuple[pl.DataFrame, Place]:
    """Lines of topic, document, document and the preferred one."""
    place = contents.place
    name = "list of winners (topic, document, document, preferred document)"
    _refuse_other(f"this is the {name} export, which holds", "pairs", table, place)
    _refuse_names(columns, place, "topic=1,left=2,right=3,preferred=4")
    rows = [line.split() for line in contents.data.decode().split("\n") if line.strip()]
    for number, fields in enumerate(rows):
        if len(fields) != 4:
            text = f"{' '.join(fields)!r} is not a topic, two documents and the preferred one of them"
            raise place.error(text, "write these four", number)
    preferred = ["left" if won == left else "right" if won == right else won for _, left, right, won in rows]
    frame = pl.DataFrame([fields[:3] for fields in rows], schema=["topic", "left", "right"], orient="row")
    return settled(frame.with_columns(preferred=pl.Series(preferred)), PAIRS, words, place)
