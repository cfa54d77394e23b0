"""The five tables: the whole vocabulary of judgewell.

judgments  one assessor judged one document
pairs      one assessor compared two documents
gains      how much a document gives a reader on a topic (classic qrels are gains with whole numbers)
runs       a system ranked a document
scores     a measure of a system on a topic

Each is a plain polars frame. One schema is at once the CSV header, the Parquet column and the argument's name. A
checked table has all its columns, in order, with the types below; columns it does not know are kept behind them.
A missing row means unjudged: it is never a gain of 0 or -1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from judgewell.errors import InputError, Place
from judgewell.scales import with_kinds


@dataclass(frozen=True)
class Column:
    """One column: its type, whether a table can do without it, and what it says."""

    name: str
    dtype: pl.DataType
    required: bool
    about: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    infinite: bool = False


@dataclass(frozen=True)
class Table:
    """One of the five tables: its columns and the columns that tell its rows apart."""

    name: str
    row: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def required(self) -> list[str]:
        return [column.name for column in self.columns if column.required]


ABSENT = ("na", "n/a", "nan", "null", "none")  # how programs write that a number is missing
TEXT, NUMBER, WHOLE, TRUTH = pl.String(), pl.Float64(), pl.Int64(), pl.Boolean()
SIDES = ("left", "right", "same")

JUDGMENTS = Table(
    "judgments",
    "one assessor judged one document",
    (
        Column("topic", TEXT, True, "the topic's id"),
        Column("doc", TEXT, True, "the document's id"),
        Column("assessor", TEXT, False, "who judged"),
        Column("unit", TEXT, False, "the batch of work it was judged in"),
        Column("position", WHOLE, False, "place in the unit, counted from 1", least=1),
        Column("scale", TEXT, False, "the scale's name"),
        Column("kind", TEXT, False, "what the value means: ratio, interval, ordinal or nominal, with the scale's ends"),
        Column("value", NUMBER, True, "the judgment as a number"),
        Column("seconds", NUMBER, False, "active time spent on it"),
        Column("comment", TEXT, False, "the assessor's reason"),
    ),
)

PAIRS = Table(
    "pairs",
    "one assessor compared two documents",
    (
        Column("topic", TEXT, True, "the topic's id"),
        Column("left", TEXT, True, "the document shown on the left"),
        Column("right", TEXT, True, "the document shown on the right"),
        Column("assessor", TEXT, False, "who compared"),
        Column("unit", TEXT, False, "the batch of work it was compared in"),
        Column("position", WHOLE, False, "place in the unit, counted from 1", least=1),
        Column("preferred", TEXT, False, "left, right or same", choices=SIDES),
        Column("left_relevant", TRUTH, False, "whether the left document was called relevant"),
        Column("right_relevant", TRUTH, False, "whether the right document was called relevant"),
        Column("left_score", NUMBER, False, "the left document's number", least=0),
        Column("right_score", NUMBER, False, "the right document's number", least=0),
        Column("seconds", NUMBER, False, "active time spent on it"),
    ),
)

GAINS = Table(
    "gains",
    "how much a document gives a reader on a topic",
    (
        Column("topic", TEXT, True, "the topic's id"),
        Column("doc", TEXT, True, "the document's id"),
        Column("gain", NUMBER, True, "how useful it is to find the document"),
        Column("low", NUMBER, False, "lower end of the gain's interval"),
        Column("high", NUMBER, False, "upper end of the gain's interval"),
        Column("judgments", WHOLE, False, "how many judgments it rests on", least=0),
    ),
    key=("topic", "doc"),
)

RUNS = Table(
    "runs",
    "a system ranked a document",
    (
        Column("system", TEXT, True, "the system's name"),
        Column("topic", TEXT, True, "the topic's id"),
        Column("doc", TEXT, True, "the document's id"),
        Column("score", NUMBER, True, "the retrieval score; higher ranks first", infinite=True),
    ),
    key=("system", "topic", "doc"),
)

SCORES = Table(
    "scores",
    "a measure of a system on a topic",
    (
        Column("system", TEXT, True, "the system's name"),
        Column("topic", TEXT, True, "the topic's id"),
        Column("measure", TEXT, True, "the measure, spelled as judgewell prints it"),
        Column("value", NUMBER, True, "the measure's value"),
    ),
    key=("system", "topic", "measure"),
)

TABLES = {table.name: table for table in (JUDGMENTS, PAIRS, GAINS, RUNS, SCORES)}

# The names other tools give the same columns (PyTerrier, ir_measures, ranx, Quepid, crowd exports); ours always wins.
OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "topic": ("qid", "query_id", "q_id", "query-id", "topic_id", "query"),
    "doc": ("docno", "doc_id", "corpus-id", "docid", "document_id", "did"),
    "gain": ("label", "relevance", "rel", "grade", "score", "rating", "judgment"),
    "system": ("run", "run_id", "runid", "tag", "name"),
    "assessor": ("worker", "worker_id", "annotator"),
    "unit": ("unit_id",),
    "value": ("relevance_score", "judgment", "rating"),
}

INCLUSION = Column("inclusion", NUMBER, False, "the probability with which its document was drawn, above 0, at most 1")

# Columns that some analyses read though they are not of the table.
BESIDE: dict[str, tuple[str, ...]] = {
    "judgments": ("intent", "known", "inclusion", "assessor_kind"),
    "pairs": ("comment", "strength", "assessor_kind"),
    "gains": ("inclusion",),
    "runs": ("rank",),
}


def check_names(columns: Mapping[str, str], *tables: Table) -> None:
    """Refuse a mapping from our names to others' that names a column which none of the tables has."""
    known = [name for table in tables for name in (*table.names, *BESIDE.get(table.name, ()))]
    for ours, theirs in columns.items():
        if ours in known:
            continue
        alike = get_close_matches(ours, known, 1)
        cure = f"did you mean {alike[0]}={theirs}?" if alike else f"the columns are {', '.join(dict.fromkeys(known))}"
        cure = f"columns are named ours=theirs: {theirs}={ours}" if theirs in known and not alike else cure
        raise InputError(f"there is no column {ours} in the {' or '.join(table.name for table in tables)}", cure=cure)


def frame_of(data: Any) -> pl.DataFrame:
    """A polars frame from a frame of any kind (polars, pandas, anything that speaks Arrow), a dict of columns, or rows.

    Rows are dicts or named tuples in a list or any other iterable, as ir_measures and ir_datasets give them.
    """
    if isinstance(data, pl.DataFrame):
        return data
    if isinstance(data, pl.LazyFrame):
        return data.collect()
    if hasattr(data, "to_dataframe"):  # ranx.Qrels, ranx.Run
        data = data.to_dataframe()
    if type(data).__module__.split(".")[0] == "pandas":
        return _from_pandas(data)
    if hasattr(data, "to_polars"):  # a Hugging Face dataset
        return frame_of(data.to_polars())
    if hasattr(data, "__arrow_c_stream__"):  # pyarrow, DuckDB, …
        return pl.DataFrame(data)
    if isinstance(data, Mapping):
        return pl.DataFrame(dict(data), strict=False)
    if isinstance(data, Iterable) and not isinstance(data, str | bytes):
        rows = [row._asdict() if hasattr(row, "_asdict") else row for row in data]
        if all(isinstance(row, Mapping) for row in rows):
            return pl.DataFrame(rows, strict=False, infer_schema_length=None)
        data = next(row for row in rows if not isinstance(row, Mapping))
    raise InputError(
        f"a table cannot be made from {type(data).__name__}",
        cure="give a frame, a dict of columns, rows as dicts or named tuples, or the path of a file",
    )


def check(
    data: Any,
    table: Table,
    *,
    file: str | Path | None = None,
    rename: Mapping[str, str] | None = None,
    defaults: Mapping[str, str] | None = None,
    lines: Callable[[int], int] | None = None,
    once: bool = True,
    infer_kinds: bool = True,
) -> pl.DataFrame:
    """The data as a checked table, or an :class:`InputError` that names row, value, rule and cure.

    `rename` maps our column names to the data's ({"topic": "qid"}); `defaults` fills columns the data lack; `lines`
    gives the file's line of a row (from 0); `once=False` lets a key be there twice; `infer_kinds=False`
    leaves judgments without a kind as they are.
    """
    place = Place(None if file is None else str(file), lines)
    frame = named(data, table, rename, file=file)
    for name, value in (defaults or {}).items():
        if name not in frame.columns:
            frame = frame.with_columns(pl.lit(value).alias(name))
    refuse_missing(frame, table, place, frame_of(data))
    frame = _without_spaces(frame.with_columns(_typed(frame, column, place) for column in table.columns), table, place)
    for column in table.columns:
        _check_values(frame, column, place)
    if table.key and once:
        _check_key(frame, table, place)
    if INCLUSION.name in frame.columns and INCLUSION.name in BESIDE.get(table.name, ()):
        frame = with_inclusion(frame, place)
    if table is JUDGMENTS and infer_kinds:
        frame = with_kinds(frame, file)
    others = [name for name in frame.columns if name not in table.names]
    return frame.select(table.names + others)


def refuse_missing(frame: pl.DataFrame, table: Table, place: Place, given: pl.DataFrame) -> None:
    """Refuse a frame that lacks a column which the table needs; the message lists the columns as they were given."""
    missing = [name for name in table.required if name not in frame.columns]
    if missing:
        raise place.error(
            f"the {table.name} table needs the column{'s' if len(missing) > 1 else ''} {', '.join(missing)}; "
            f"this one has {_some(_paths(given.schema))}",
            _cure_of_missing(missing, table, given),
        )


def with_inclusion(frame: pl.DataFrame, place: Place) -> pl.DataFrame:
    """The frame, whose column `inclusion` holds probabilities above 0; none where a document was not drawn."""
    values = _typed(frame, INCLUSION, place)
    wrong = (~((values > 0) & (values <= 1))).fill_null(False).arg_true()
    if len(wrong):
        problem = f"inclusion {values[wrong[0]]!r} is not above 0 and at most 1"
        raise place.error(problem, f"inclusion is {INCLUSION.about}", wrong[0])
    return frame.with_columns(values)


def named(
    data: Any, table: Table, rename: Mapping[str, str] | None = None, *, file: str | Path | None = None
) -> pl.DataFrame:
    """The data as a frame that has our names for the columns other tools name differently; nothing is checked yet."""
    frame, rename, place = frame_of(data), rename or {}, Place(None if file is None else str(file))
    check_names(rename, table)
    renaming: dict[str, str] = {}
    for ours, theirs in rename.items():
        if theirs not in frame.columns:
            turned = theirs in table.names and ours in frame.columns
            raise place.error(
                f"there is no column {theirs!r} to read {ours} from; the columns are {', '.join(frame.columns)}",
                f"columns are named ours=theirs: {theirs}={ours}" if turned else None,
            )
        renaming.setdefault(theirs, ours)
    frame = frame.drop([name for name in rename if name in frame.columns and name not in renaming])
    lower = {column.lower(): column for column in frame.columns if column not in table.names}
    for name in table.names:
        if name in frame.columns or name in rename:
            continue
        if name in lower and lower[name] not in renaming:
            renaming[lower[name]] = name
            continue
        for other in OTHER_NAMES.get(name, ()):
            theirs = other if other in frame.columns else lower.get(other, "")
            if theirs and theirs not in renaming and theirs not in table.names:
                renaming[theirs] = name
                _note_others(frame, name, theirs, place)
                break
    _refuse_nested(frame, table, renaming, place)
    copies = [frame[theirs].alias(ours) for ours, theirs in rename.items() if renaming[theirs] != ours]
    return frame.rename(renaming).with_columns(copies)


def _refuse_nested(frame: pl.DataFrame, table: Table, renaming: Mapping[str, str], place: Place) -> None:
    """Refuse a column of the table that holds objects or lists, and say how to read their parts."""
    for theirs, dtype in frame.schema.items():
        ours = renaming.get(theirs, theirs)
        if ours in table.names and isinstance(dtype, pl.Struct | pl.List):
            part = _paths({theirs: dtype})[0]
            cure = f"say which part of it is meant, e.g. --columns {ours}={part}"
            lists = f"to read each member as a row, say so: --columns {ours}={theirs}"
            rows = 'write a row for each of its members, as in [{"topic": …}, {"topic": …}]'
            cure = cure if part != theirs else lists if table in (JUDGMENTS, PAIRS) else rows
            read = "" if theirs == ours else f", read as {ours},"
            raise place.error(f"the column {theirs}{read} holds {dtype}", cure)


def _cure_of_missing(missing: list[str], table: Table, given: pl.DataFrame) -> str:
    which = ",".join(f"{name}=NAME" for name in missing)
    cure = f"rename them, or say which is which (--columns {which}, or columns= in Python)"
    if missing == ["value"]:
        return f"{cure}; where each other column holds an assessor's values: --columns topic=…,doc=…,value=*,assessor=*"
    if missing == ["topic"] and table in (JUDGMENTS, PAIRS):
        return f"{cure}; where a file is one topic: --columns topic=@file"
    if len(missing) < len(table.required):
        return cure
    if any(dtype.is_nested() for dtype in given.dtypes):
        return cure
    if table is JUDGMENTS:
        wide = "--columns 'topic=@file,doc=*,value=START*,assessor=NAME'"
        cure = f"{cure}; where documents are columns whose names begin alike: {wide}"
    numbered = ",".join(f"{name}={at}" for at, name in enumerate(missing, 1))
    return f"{cure}; if the first line names no columns, say so: --no-header --columns {numbered}"


def _some(names: list[str], most: int = 30) -> str:
    """Names of columns for a message, which is one line however many and odd they are."""
    shown = ", ".join(" ".join(name[:60].split()) for name in names[:most])
    return (shown or "none") + (f" and {len(names) - most} more" if len(names) > most else "")


def _paths(schema: Mapping[str, Any], before: str = "") -> list[str]:
    """The columns, those that have parts by the names of their parts: data.topic."""
    paths = []
    for name, dtype in schema.items():
        while isinstance(dtype, pl.List):
            dtype = dtype.inner
        inside = {field.name: field.dtype for field in dtype.fields} if isinstance(dtype, pl.Struct) else None
        paths += _paths(inside, f"{before}{name}.") if inside else [before + name]
    return paths


def _from_pandas(data: Any) -> pl.DataFrame:
    """A pandas frame without going through pyarrow; its index is left behind unless it is named, and NaN is missing."""
    if getattr(data, "ndim", 2) == 1:
        data = data.to_frame()
    if any(name is not None for name in data.index.names):
        data = data.reset_index()
    columns = {}
    if data.columns.duplicated().any():
        twice = data.columns[data.columns.duplicated()][0]
        raise InputError(f"the frame has two columns called {twice!r}", cure="drop or rename one of them")
    for name in data.columns:
        values = data[name]
        if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iufb":
            columns[str(name)] = pl.Series(values.to_numpy(), nan_to_null=True)
        else:
            columns[str(name)] = pl.Series(values.astype(object).where(values.notna(), None).tolist(), strict=False)
    return pl.DataFrame(columns)


def _note_others(frame: pl.DataFrame, name: str, theirs: str, place: Place) -> None:
    """A note where another column may hold the gain as well."""
    others = [other for other in OTHER_NAMES[name] if other in frame.columns and other != theirs]
    if name == "gain" and others:
        place.note(f"{name} is read from the column {theirs}, not from {', '.join(others)}")


def _typed(frame: pl.DataFrame, column: Column, place: Place) -> pl.Series:
    """The column in its type: text ids stay text, numbers are never guessed from words."""
    if column.name not in frame.columns:
        return pl.Series(column.name, [None], dtype=column.dtype).new_from_index(0, len(frame))
    values = frame[column.name]
    if values.dtype == column.dtype:
        return values
    if column.dtype == NUMBER and values.dtype == pl.Duration:
        return values.dt.total_microseconds() / 1e6
    if values.dtype.is_nested() or values.dtype.is_temporal() or values.dtype == pl.Object:
        parts = _paths({column.name: values.dtype})
        cure = f"name its part: --columns {column.name}={parts[0]}" if "." in parts[0] else None
        raise place.error(f"the column {column.name} holds {values.dtype}", cure or f"{column.name} is {column.about}")
    if column.dtype == TEXT:
        if values.dtype.is_float():
            values = values.fill_nan(None)
            whole = ((values % 1 == 0) & (values.abs() < 2**53)).fill_null(True)
            values = values.cast(WHOLE) if whole.all() else values  # pandas turns whole ids with a gap into floats
        return values.cast(TEXT)
    if values.dtype == TEXT:
        values = values.str.strip_chars()
        values = values.set(values == "", None)
        absent = values.str.to_lowercase().is_in(ABSENT) & (not column.required)
        if absent.any():
            place.note(f"{int(absent.sum())} times {column.name} is {values.filter(absent)[0]!r}, read as missing")
            values = values.set(absent, None)
    if column.dtype == TRUTH and values.dtype == TEXT:
        cast = values.str.to_lowercase().replace_strict(
            {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False},
            default=None,
            return_dtype=TRUTH,
        )
    else:
        cast = values.cast(column.dtype, strict=False)
        if column.dtype == WHOLE and values.dtype.is_float():
            cast = cast.set(values % 1 != 0, None)
    bad = (values.is_not_null() & cast.is_null()).arg_true()
    if len(bad):
        kinds = {NUMBER: "a number", WHOLE: "a whole number", TRUTH: "true or false"}
        problem = f"{column.name} {values[bad[0]]!r} is not {kinds[column.dtype]}"
        raise place.error(problem, f"{column.name} is {column.about}", bad[0])
    return cast


def _without_spaces(frame: pl.DataFrame, table: Table, place: Place) -> pl.DataFrame:
    """The table with ids that neither begin nor end with a space."""
    ids = [column.name for column in table.columns if column.dtype == TEXT and column.name != "comment"]
    spaced = [name for name in ids if _spaced(frame[name]).any()]
    if not spaced:
        return frame
    first = frame[spaced[0]].filter(_spaced(frame[spaced[0]]))[0]
    place.note(f"spaces around ids are dropped ({spaced[0]} {first!r})")
    return frame.with_columns(pl.col(spaced).str.strip_chars())


def _spaced(values: pl.Series) -> pl.Series:
    return values.str.starts_with(" ") | values.str.ends_with(" ")


def _check_values(frame: pl.DataFrame, column: Column, place: Place) -> None:
    """No missing ids, no NaN or infinite numbers, nothing outside the column's rule."""
    values = frame[column.name]

    def refuse(rows: pl.Series, rule: str) -> None:
        at = rows.arg_true()
        if len(at):
            row = frame.row(at[0], named=True)
            whose = ", ".join(f"{name} {row[name]}" for name in ("topic", "doc", "assessor") if row.get(name))
            value = "" if values[at[0]] is None else f" {values[at[0]]!r}"
            problem = f"{column.name}{value} {rule}" + (f" ({whose})" if whose else "")
            raise place.error(problem, f"{column.name} is {column.about}", at[0])

    if column.required and values.null_count():
        refuse(values.is_null(), "is missing")
    if column.dtype == TEXT and column.required:
        refuse(values == "", "is empty")
    if column.dtype == NUMBER:
        wrong = values.is_nan() if column.infinite else ~values.is_finite()
        refuse(wrong.fill_null(False), "is not a number" if column.infinite else "is not a finite number")
    if column.least is not None:
        refuse((values < column.least).fill_null(False), f"is below {column.least:g}")
    if column.choices:
        refuse(~values.is_in(list(column.choices)).fill_null(True), f"is not one of {', '.join(column.choices)}")


def _check_key(frame: pl.DataFrame, table: Table, place: Place) -> None:
    """Each key once."""
    twice = frame.select(table.key).is_duplicated()
    if twice.any():
        rows = twice.arg_true()
        key = frame.row(rows[0], named=True)
        listed = ", ".join(f"{name} {key[name]}" for name in table.key)
        again = next(row for row in rows[1:] if all(frame[row, name] == key[name] for name in table.key))
        problem = f"{listed} appears twice (first in {place.row(rows[0])})"
        raise place.error(problem, f"keep one row for each {' and '.join(table.key)}", again)
