"""Gains by intent: qrels whose second field is a subtopic, and tables with a column for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from judgewell.errors import InputError, Place
from judgewell.formats.delimited import Layout
from judgewell.formats.frames import load, mine
from judgewell.formats.gains import without_negatives
from judgewell.formats.trec import QRELS, read_fields
from judgewell.formats.words import settled
from judgewell.tables import GAINS, check, frame_of, named

NAMES = ("intent", "subtopic", "subtopic_id", "iteration")
KEY = ["topic", "intent", "doc"]


def read_intents(
    data: Any,
    *,
    columns: Mapping[str, str] | None = None,
    negative: str = "unjudged",
    words: Mapping[str, str] | None = None,
    layout: Layout | None = None,
) -> pl.DataFrame:
    """A checked table of topic, intent, doc and gain; each document may be judged for several intents of a topic."""
    path = str(data) if isinstance(data, str | Path) else None
    contents = None if path is None else load(path, columns, layout)
    place = Place(path) if contents is None else contents.place
    if contents is None:
        frame = frame_of(data)
    elif contents.kind == "trec":
        frame = read_fields(contents.data, QRELS, contents.path, unused=()).rename({QRELS[1]: "intent"})
    else:
        frame = contents.frame()
    frame, place = settled(named(frame, GAINS, mine(columns, GAINS), file=path), GAINS, words, place)
    frame = check(frame, GAINS, file=path, lines=place.lines, once=False)
    column = next((name for name in NAMES if name in frame.columns), None)
    if column is None:
        raise InputError("there is no column for the intent", cure=f"name one {' or '.join(NAMES)}", file=path)
    table = frame.select("topic", pl.col(column).cast(pl.String).alias("intent"), "doc", "gain").unique(
        maintain_order=True
    )
    twice = table.filter(table.select(KEY).is_duplicated())
    if len(twice):
        topic, intent, doc, _ = twice.row(0)
        raise InputError(
            f"topic {topic}, intent {intent}: document {doc} has several gains", cure="keep one of them", file=path
        )
    return without_negatives(table, negative, path)
