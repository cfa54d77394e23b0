"""The known crowd exports: each is the columns its header must have and the function that makes a table of it.

Information says which column was read as what, a note what a file leaves out or has odd.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

import polars as pl

from judgewell.errors import Information, Place
from judgewell.formats.words import answered, plain_numbers
from judgewell.tables import JUDGMENTS

Columns = Mapping[str, str]
CRITERIA = {"inf": "informativeness", "nat": "naturalness", "qual": "quality"}
GRADES = {"not_relevant": 0.0, "relevant": 1.0, "highly_relevant": 2.0}
SCALES = {"me": "magnitude", "magnitude": "magnitude", "s100": "s100", "s2": "binary", "s4": "ordinal"}
MISSING = ("", "null")
STARTED, ENDED, DATES = "_started_at", "_created_at", "%m/%d/%Y %H:%M:%S"  # of a page of Appen's


@dataclass(frozen=True)
class Export:
    """A known kind of crowd export."""

    name: str
    table: Literal["judgments", "pairs"]
    needs: frozenset[str]
    may_have: tuple[str, ...]
    read: Callable[[pl.DataFrame, Columns, Place], pl.DataFrame]


def recognised(frame: pl.DataFrame) -> Export | None:
    header = set(frame.columns)
    return next((export for export in EXPORTS if export.needs <= header), None)


def refuse_misspelt(frame: pl.DataFrame, place: Place) -> None:
    """Refuse a known export but for one column that has nearly its name: read by other columns it would mislead."""
    header = set(frame.columns)
    for export in EXPORTS:
        missing = export.needs - header
        for name in missing if len(missing) == 1 else ():
            near = get_close_matches(name, header - export.needs - {*export.may_have}, 1, 0.8)
            if near:
                raise place.error(
                    f"this looks like the {export.name} export, but has no column {name} (is it {near[0]}?)",
                    f"name it {name}, or say which column is which (--columns topic=NAME,…)",
                )


def read_export(export: Export, frame: pl.DataFrame, columns: Columns, place: Place) -> pl.DataFrame:
    """The export's table; columns it may have and does not are empty."""
    absent = [pl.lit(None, pl.String).alias(name) for name in export.may_have if name not in frame.columns]
    return export.read(_without_blanks(frame).with_columns(absent), columns, place)


def _without_blanks(frame: pl.DataFrame) -> pl.DataFrame:
    """Empty fields and the word null both mean missing."""
    text = pl.col(pl.String)
    return frame.with_columns(pl.when(~text.is_in(MISSING)).then(text).name.keep())


def _say(place: Place, name: str, **columns: str) -> None:
    """Report what was recognised, which column is read as what, and how to read the file in another way."""
    read = ", ".join(f"{ours} = {theirs}" for ours, theirs in columns.items())
    place.note(Information(f"read as the {name} export: {read}; --columns topic=NAME,doc=NAME,… names other columns"))


def with_durations(frame: pl.DataFrame, place: Place) -> pl.DataFrame:
    """The frame with seconds from Appen's two times of a page, shared out evenly among the answers given on it."""
    there = set(frame.columns)
    if "seconds" in there or not {STARTED, ENDED, "_worker_id"} <= there or frame[STARTED].dtype != pl.String:
        return frame
    start, end = (frame[name].str.to_datetime(DATES, strict=False) for name in (STARTED, ENDED))
    if start.null_count() or end.null_count():
        place.note(f"{STARTED} and {ENDED} are not used as times: not all are written as 1/31/2018 23:59:59")
        return frame
    place.note(Information(f"seconds are {ENDED} − {STARTED}, shared out evenly among answers with the same times"))
    together = pl.len().over("_worker_id", STARTED, ENDED)
    return frame.with_columns(seconds=(end - start).dt.total_seconds() / together)


def _numbers(frame: pl.DataFrame, name: str, place: Place) -> pl.Series:
    """A column of numbers; the first value that is none is named with its row."""
    values = frame[name] if frame[name].dtype != pl.String else plain_numbers(frame[name], place)
    cast = values.cast(pl.Float64, strict=False)
    bad = (values.is_not_null() & cast.is_null()).arg_true()
    if len(bad):
        raise place.error(f"{name} {values[bad[0]]!r} is not a number", "write a number, or nothing", bad[0])
    return cast


def _trec8(frame: pl.DataFrame, columns: Columns, place: Place) -> pl.DataFrame:
    """The TREC-8 relevance-scales export: 0-100 scores, or magnitudes where there is a column relevance_scale."""
    value, scale = _trec8_value(frame, columns, place)
    extra = [pl.Series(name, _numbers(frame, name, place)) for name in ("trec", "sormunen") if name in frame.columns]
    unknown = (~frame["gold"].is_in(["H", "N"])).fill_null(False).arg_true()
    if len(unknown):
        raise place.error(f"gold {frame['gold'][unknown[0]]!r} is neither H nor N", row=unknown[0])
    names = {"topic": "topic_id", "doc": "document_id", "assessor": "worker_id", "value": value.name}
    _say(place, "TREC-8 relevance scales", **names)
    table = frame.select(
        topic="topic_id",
        doc="document_id",
        assessor="worker_id",
        unit=pl.format("{}/{}", "topic_id", "unit_id"),  # unit ids are unique only within a topic
        position=pl.Series(_numbers(frame, "doc_pos", place)).cast(pl.Int64) + 1,
        scale=scale,
        value=value,
        seconds=pl.Series(_numbers(frame, "cumulative_time", place)),
        comment="comment",
        known="gold",
    ).with_columns(extra)
    _note_oddities(table, place)
    return answered(table, JUDGMENTS, place)[0]


def _trec8_value(frame: pl.DataFrame, columns: Columns, place: Place) -> tuple[pl.Series, pl.Series]:
    named = frame["relevance_scale"] if "relevance_scale" in frame.columns else None
    score = columns.get("value", "relevance_score")
    if named is not None and score not in frame.columns:
        return _numbers(frame, "relevance_scale", place), pl.Series(["magnitude"] * len(frame))
    if score not in frame.columns:
        cure = "say which column holds them: --columns value=NAME"
        raise place.error(f"there is no column {score} to read the scores from", cure)
    if named is None:
        return _numbers(frame, score, place), pl.Series(["s100"] * len(frame))
    if named.cast(pl.Float64, strict=False).is_not_null().any():
        raise place.error(
            "relevance_score and relevance_scale both hold numbers",
            "say which is the value (--columns value=relevance_scale)",
        )
    lowered = named.str.to_lowercase()
    return _numbers(frame, score, place), lowered.replace_strict(SCALES, default=lowered)


def _note_oddities(table: pl.DataFrame, place: Place) -> None:
    if "sormunen" in table.columns:
        known = table.filter(pl.col("known").is_not_null() & pl.col("sormunen").is_null())
        documents = known.select("topic", "doc", "known").unique().sort("topic", "doc")
        if len(documents):
            listed = ", ".join(f"topic {topic} {doc} ({flag})" for topic, doc, flag in documents.iter_rows())
            place.note(f"{len(documents)} known documents have no Sormunen grade: {listed}")


def _music(frame: pl.DataFrame, columns: Columns, place: Place) -> pl.DataFrame:
    """Musical similarity by preference: a, b or the same (Urbano et al. 2010)."""
    sides = {"a": "left", "b": "right", "s": "same", "same": "same"}
    answers = frame["Answer.radio"].str.to_lowercase()
    bad = (answers.is_not_null() & ~answers.is_in(list(sides))).arg_true()
    if len(bad):
        raise place.error(f"the answer {answers[bad[0]]!r} is not a, b or same", row=bad[0])
    names = {"topic": "Input.query", "left": "Input.docA", "right": "Input.docB", "assessor": "WorkerId"}
    _say(place, "music preferences", **names, preferred="Answer.radio")
    return frame.select(
        topic="Input.query",
        left="Input.docA",
        right="Input.docB",
        assessor="WorkerId",
        unit="HITId",
        preferred=answers.replace_strict(sides, default=None, return_dtype=pl.String),
        seconds=pl.Series(_numbers(frame, "WorkTimeInSeconds", place)),
        comment="Answer.comment",
    )


def _rankme(frame: pl.DataFrame, columns: Columns, place: Place) -> pl.DataFrame:
    """RankME: one rating per row (plain magnitudes or Likert), or three systems side by side (relative magnitudes)."""
    wide = "team1" in frame.columns
    criterion = _criterion(frame, columns, wide, place)
    topic = "mr_id" if "mr_id" in frame.columns else "mr"
    sides = [str(side) for side in (1, 2, 3)] if wide else [""]
    parts = [
        frame.with_row_index("row").select(
            topic=topic,
            doc=f"team{side}",
            assessor="_worker_id",
            unit=pl.format("row {}", pl.col("row") + 1) if wide else pl.lit(None, dtype=pl.String),
            position=pl.lit(int(side) if side else None, dtype=pl.Int64),
            value=pl.Series(_numbers(frame, f"{criterion}{side}", place)),
            text=f"ref{side}",
        )
        for side in sides
    ]
    doc, value = ("team1 to team3", f"{criterion}1 to {criterion}3") if wide else ("team", criterion)
    _say(place, "RankME", topic=topic, doc=doc, assessor="_worker_id", value=value)
    table = pl.concat(parts)
    likert = not wide and bool(table["value"].is_in([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).all())
    name = CRITERIA.get(criterion, criterion)
    scaled = table.with_columns(scale=pl.lit("ordinal" if likert else "magnitude"), criterion=pl.lit(name))
    return answered(scaled, JUDGMENTS, place)[0]


def _criterion(frame: pl.DataFrame, columns: Columns, wide: bool, place: Place) -> str:
    """The rated quality: the only one in the file, or the one asked for as value."""
    names = [*CRITERIA, *CRITERIA.values()]
    rated = [name for name in names if (f"{name}1" if wide else name) in frame.columns]
    asked = columns.get("value")
    if asked is None and len(rated) == 1:
        return rated[0]
    if asked not in rated:
        what = f"no {asked}" if asked else "several ratings"
        raise place.error(
            f"this RankME export has {what}; it has {', '.join(rated)}",
            f"say which is the value (--columns value={rated[-1] if rated else 'quality'})",
        )
    return asked or ""


def _nyt(frame: pl.DataFrame, columns: Columns, place: Place) -> pl.DataFrame:
    """Relevance of news articles on two and three grades, with the NIST label; merged pilots repeat others' rows."""
    answers = columns.get("value", "relevance")
    if answers not in frame.columns:
        problem = f"there is no column {answers!r} to read value from; the columns are {', '.join(frame.columns)}"
        raise place.error(problem)
    bad = (frame[answers].is_not_null() & ~frame[answers].is_in(list(GRADES))).arg_true()
    if len(bad):
        cure = "if this is another file, name its topics to have it read as a plain table: --columns topic=topic"
        raise place.error(f"{answers} {frame[answers][bad[0]]!r} is none of {', '.join(GRADES)}", cure, bad[0])
    pilots = "pilot" in frame.columns
    if pilots:
        merged = frame.filter(pl.col("pilot").str.ends_with("_merged"))
        if len(merged):
            place.note(f"{len(merged)} rows of merged pilots repeat others and are excluded")
        frame = frame.filter(~pl.col("pilot").str.ends_with("_merged"))
    meaning = ", ".join(f"{word} is {grade:g}" for word, grade in GRADES.items())
    names = {"topic": "topic", "doc": "document_id", "assessor": "_worker_id", "value": f"{answers} ({meaning})"}
    _say(place, "NYT topical relevance", **names)
    if pilots and len(several := frame["pilot"].drop_nulls().unique().sort()) > 1:
        listed = ", ".join(several)
        place.note(Information(f"{len(several)} pilots count together ({listed}); --where pilot=NAME takes one"))
    frame = with_durations(frame, place)
    two = pl.col("pilot").str.contains("_2P") if pilots else pl.lit(False)
    table = frame.select(
        topic="topic",
        doc="document_id",
        assessor="_worker_id",
        scale=pl.when(two).then(pl.lit("binary")).otherwise(pl.lit("ordinal")),
        value=pl.col(answers).replace_strict(GRADES, default=None, return_dtype=pl.Float64),
        **({"seconds": pl.col("seconds")} if "seconds" in frame.columns else {}),
        label=(label := pl.Series(_numbers(frame, "rel", place))),
        rel=label,
        **({"pilot": pl.col("pilot")} if pilots else {}),
    )
    return answered(table, JUDGMENTS, place)[0]


EXPORTS = (
    Export(
        "TREC-8 relevance scales",
        "judgments",
        frozenset({"topic_id", "unit_id", "document_id", "gold", "doc_pos", "worker_id"}),
        ("cumulative_time", "comment"),
        _trec8,
    ),
    Export(
        "music preferences",
        "pairs",
        frozenset({"Input.query", "Input.docA", "Input.docB", "Answer.radio", "WorkerId"}),
        ("HITId", "WorkTimeInSeconds", "Answer.comment"),
        _music,
    ),
    Export("RankME", "judgments", frozenset({"_worker_id", "mr", "team"}), ("ref",), _rankme),
    Export(
        "RankME relative",
        "judgments",
        frozenset({"_worker_id", "mr", "team1", "team2", "team3"}),
        ("ref1", "ref2", "ref3"),
        _rankme,
    ),
    Export(
        "NYT topical relevance",
        "judgments",
        frozenset({"_unit_id", "_worker_id", "relevance", "rel", "topic", "document_id"}),
        (),
        _nyt,
    ),
)
