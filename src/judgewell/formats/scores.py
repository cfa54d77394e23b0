"""Scores of systems on topics: one score a row, or a wide table.

A wide table has a row for each system and a column for each topic, a row for each topic and a column for each system,
or a row for each system and topic and a column for each measure.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from judgewell.errors import InputError, Place
from judgewell.formats.delimited import NUMBER as DIGITS
from judgewell.formats.delimited import Layout, first_line
from judgewell.formats.frames import load
from judgewell.formats.words import plain_numbers
from judgewell.tables import NUMBER, SCORES, TEXT, check, named

MEANS = ("all", "amean", "mean", "average", "avg")  # topic names that mean all topics
NAMES = ("system", "topic", "measure")
ROW = "row of the file"


def read_scores(
    data: Any,
    columns: Mapping[str, str] | None = None,
    layout: Layout | None = None,
    measure: str | None = None,
) -> pl.DataFrame:
    """A checked scores table from a file or a frame; `measure` names the measure where the table does not."""
    place = Place()
    if isinstance(data, str | Path):
        contents = load(data, columns, layout)
        if contents.kind == "trec":
            _refuse_runs_and_qrels(first_line(contents.data), str(data))
        contents = contents.named()
        data, place = contents.frame(), contents.place
    frame = named(data, SCORES, columns, file=place.file).with_row_index(ROW)
    if not set(SCORES.required) <= set(frame.columns):
        frame = _long(frame, measure, place)
    frame = _of_topics(frame, place)
    if "value" in frame.columns and frame["value"].dtype == TEXT:
        frame = frame.with_columns(plain_numbers(frame["value"], place))
    lines = place.of_rows(frame[ROW]).lines
    return check(frame.drop(ROW), SCORES, file=place.file, lines=lines)


def _refuse_runs_and_qrels(line: str, file: str) -> None:
    """Refuse a run or qrels, which `evaluate` takes as they are, where scores belong."""
    fields = line.split()
    numbers = [place for place, field in enumerate(fields) if DIGITS.fullmatch(field)]
    if len(fields) == 6 and {3, 4} <= set(numbers):
        what, where = "a run", f"--runs {file} … --gains QRELS"
    elif len(fields) == 4 and 3 in numbers:
        what, where = "qrels", f"--runs RUNS … --gains {file}"
    else:
        return
    raise InputError(f"this looks like {what}, not scores of systems", cure=f"write {where}", file=file)


def _long(frame: pl.DataFrame, measure: str | None, place: Place) -> pl.DataFrame:
    """One score a row from a table that says the system, the topic or the measure in its heads."""
    index = [name for name in NAMES if name in frame.columns]
    if "value" in frame.columns:
        return _with_measure(frame, measure, place)
    heads = [name for name in frame.columns if name not in (*index, ROW)]
    filled = [name for name in heads if _numbers_in(frame[name])]
    missing = "system" if "system" not in index else "topic" if "topic" not in index else "measure"
    if not {"system", "topic"} & set(index) or not filled or len(index) == len(NAMES):
        there = ", ".join(frame.columns[1:9])
        raise place.error(
            f"the scores need the columns system, topic, measure and value; this table has {there}",
            "name the first column system where each row is a system, topic where it is a topic; or say which is which "
            "(--columns system=NAME,value=NAME)",
        )
    others = [name for name in heads if name not in filled]
    if others:
        place.note(f"the columns {', '.join(others)} hold no numbers and are excluded")
    what = {"system": "one system", "topic": "one topic", "measure": "one measure"}[missing]
    place.note(f"each of the {len(filled)} columns {', '.join(filled[:3])}{', …' if len(filled) > 3 else ''} is {what}")
    long = frame.select(ROW, *index, *filled).unpivot(filled, index=[ROW, *index], variable_name=missing)
    empty = long["value"].is_null().sum()
    if empty:
        place.note(f"{empty} of {len(long)} cells are empty: these scores are missing")
    long = long.drop_nulls("value").sort(ROW, maintain_order=True)
    return long if "measure" in long.columns else _with_measure(long, measure, place)


def _numbers_in(values: pl.Series) -> bool:
    """Whether a column has a number in it, or nothing at all."""
    if values.dtype == TEXT:
        values = values.str.replace(",", ".", literal=True).str.strip_chars().cast(NUMBER, strict=False)
        return bool(values.is_not_null().any())
    return values.dtype.is_numeric() or values.dtype == pl.Null


def _with_measure(frame: pl.DataFrame, measure: str | None, place: Place) -> pl.DataFrame:
    if "measure" in frame.columns:
        return frame
    if measure is None:
        place.note("the measure is not named; it is called score (-m gives it a name)")
    return frame.with_columns(pl.lit(measure or "score").alias("measure"))


def _of_topics(frame: pl.DataFrame, place: Place) -> pl.DataFrame:
    """The scores without those of all topics together, as trec_eval writes them."""
    if "topic" not in frame.columns:
        return frame
    means = frame["topic"].cast(TEXT).str.to_lowercase().is_in(MEANS).fill_null(False)
    if not means.any() or means.all():
        return frame
    name = frame["topic"].cast(TEXT).filter(means)[0]
    place.note(f"{int(means.sum())} scores of the topic {name!r} are means over topics and are excluded")
    return frame.filter(~means)
