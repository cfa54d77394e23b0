"""Judgments by intent: a topic means several things, and a document is judged for each (Demeester et al. 2015).

Judgments carry the extra column `intent`. Assessors who find a document useless for all intents say so once, with the
word for none; here that becomes an explicit 0 for each of the topic's intents.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from judgewell.errors import DataError, InputError, note
from judgewell.scaling.inputs import extra_column, judgments_of, listed, place
from judgewell.tables import frame_of

NONE = "0"


def intents_of(intents: Any) -> pl.DataFrame:
    """A table of intents, checked: topic, intent and, where known, probability; each intent of a topic once."""
    frame = frame_of(intents)
    lost = [name for name in ("topic", "intent") if name not in frame.columns]
    if lost:
        raise InputError(
            f"the table of intents needs the column {lost[0]}; it has {', '.join(frame.columns)}",
            cure="its columns are topic, intent and probability",
        )
    if "probability" not in frame.columns:
        frame = frame.with_columns(probability=pl.lit(None, dtype=pl.Float64))
    text = frame["probability"]
    frame = frame.select(
        pl.col("topic", "intent").cast(pl.String), pl.col("probability").cast(pl.Float64, strict=False)
    )
    wrong = frame.filter((text.is_not_null() & frame["probability"].is_null()) | ~frame["probability"].is_between(0, 1))
    if len(wrong):
        raise InputError(
            f"the intent {wrong['intent'][0]} of topic {wrong['topic'][0]} has a probability outside 0 to 1",
            cure="a probability is a number from 0 to 1",
        )
    twice = frame.filter(frame.select("topic", "intent").is_duplicated())
    if len(twice):
        raise InputError(f"topic {twice['topic'][0]} has the intent {twice['intent'][0]} twice", cure="keep one row")
    return frame


def expanded(judgments: Any, intents: Any = None) -> pl.DataFrame:
    """The judgments with every "none" replaced by a 0 for each of its topic's intents.

    The intents are those of the table given, else those that the judgments name.
    """
    frame = extra_column(judgments_of(judgments), "intent", "which of the topic's meanings was judged")
    frame = frame.with_columns(pl.col("intent").cast(pl.String))
    is_none = pl.col("intent") == NONE
    nameless = frame.filter(pl.col("intent").is_null())
    if len(nameless):
        raise InputError(
            f"{len(nameless)} judgments name no intent ({place(nameless)})",
            cure=f"name the intent, or {NONE} where the document serves none",
        )
    useful = frame.filter(is_none & (pl.col("value") != 0))
    if len(useful):
        raise InputError(
            f"a document of no intent ({NONE}) has the grade {useful['value'][0]:g} ({place(useful)})",
            cure="its grade is 0, or it names an intent",
        )
    named = frame.filter(~is_none)
    known = named.select("topic", "intent").unique() if intents is None else intents_of(intents).drop("probability")
    _refuse_unknown(named, known)
    without = frame.filter(is_none).join(known, on="topic", how="anti")
    if len(without):
        raise DataError(
            f"the topic {without['topic'][0]} has no known intents, so its {len(without)} judgments of no intent "
            f"cannot be spread over them ({place(without)}); give a table of intents (topic, intent)"
        )
    zeros = frame.filter(is_none).drop("intent").join(known.sort("topic", "intent"), on="topic", maintain_order="left")
    return pl.concat([named, zeros.select(frame.columns)])


def _refuse_unknown(named: pl.DataFrame, known: pl.DataFrame) -> None:
    strange = named.join(known, on=["topic", "intent"], how="anti")
    if len(strange):
        raise InputError(
            f"the intent {strange['intent'][0]} is not among the topic's ({place(strange)})",
            cure="add it to the table of intents",
        )


def top_intents(judgments: pl.DataFrame, intents: Any) -> pl.DataFrame:
    """The judgments of each topic's most probable intent alone; among equals the first by name, with a note."""
    table = intents_of(intents)
    unsaid = table.filter(pl.col("probability").is_null())
    if len(unsaid):
        raise DataError(
            f"the intent {unsaid['intent'][0]} of topic {unsaid['topic'][0]} has no probability; fill the column "
            "probability, or scale each intent as a topic of its own"
        )
    top = table.filter(pl.col("probability") == pl.col("probability").max().over("topic")).sort("topic", "intent")
    tied = top.filter(top["topic"].is_duplicated()).unique("topic", keep="first", maintain_order=True)
    if len(tied):
        note(
            f"{len(tied)} topics have several intents of the highest probability; the first by name is used "
            f"({listed(tied)})"
        )
    chosen = top.unique("topic", keep="first", maintain_order=True).select("topic", "intent")
    kept = judgments.join(chosen, on=["topic", "intent"], how="semi", maintain_order="left")
    if kept.is_empty():
        raise DataError("no judgment is of its topic's most probable intent; check the topics of the table of intents")
    note(
        f"{len(judgments) - len(kept)} of {len(judgments)} judgments are of other intents than their topic's most "
        "probable and are excluded"
    )
    return kept


def each_intent(judgments: pl.DataFrame) -> pl.DataFrame:
    """The judgments with each intent as a topic of its own: topic/intent."""
    return judgments.with_columns(topic=pl.format("{}/{}", "topic", "intent"))
