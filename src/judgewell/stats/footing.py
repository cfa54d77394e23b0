"""Values that two assessors can be compared by.

On a ratio scale every assessor is free to choose a modulus, so only proportions within a unit mean something. Values
are compared as ln value − unit offset, the offsets from the two-way fit of documents and units. Values of other kinds
are compared as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from judgewell.errors import DataError, note
from judgewell.scales import Kind, kind_of
from judgewell.stats.two_way import TwoWayFit

UNIT = ["topic", "unit", "assessor"]
DOCUMENT = ["topic", "doc"]
OFFSETS = {"unit": UNIT, "assessor": ["assessor"]}  # what one modulus is chosen for, and the columns that name it


@dataclass(frozen=True)
class Footing:
    """The judgments with comparable values, what these are in words, and how many offsets were fitted and removed."""

    judgments: pl.DataFrame
    words: str
    removed: int = 0


def footing_of(judgments: pl.DataFrame) -> Footing:
    """Checked judgments of one scale on the footing of their kind, with what alpha must know about them."""
    kind = kind_of(judgments)
    if not kind.in_logs:
        return Footing(judgments, kind.footing)
    offset = offset_of(judgments)
    means = judgments["topic"].n_unique() if offset == "unit" else 1  # the mean of a topic, or of all, is no offset
    removed = judgments.select(OFFSETS[offset]).n_unique() - means
    return Footing(on_common_footing(judgments), kind.footing.replace("unit", offset), removed)


def offset_of(judgments: pl.DataFrame) -> str:
    """What one modulus is taken to hold for: a unit, or an assessor where most units hold one judgment.

    A judgment that is alone in its unit has no proportion to others, so removing the unit's offset would remove all
    that it says. An assessor with several judgments over topics has a modulus too, if it is the same one for all.
    """
    alone = np.mean((judgments.group_by(UNIT).len()["len"] == 1).to_numpy())
    several = np.mean((judgments.group_by("assessor").len()["len"] > 1).to_numpy())
    return "assessor" if alone > 0.5 and several > 0.5 and judgments["assessor"].null_count() == 0 else "unit"


def on_common_footing(judgments: pl.DataFrame) -> pl.DataFrame:
    """The checked judgments with comparable values: those of ratio kind become ln value − unit offset, kind interval.

    The level of a topic is not identified, so these values have mean 0 over the judgments of a topic. Where units of a
    topic share no documents, not even through others, each connected part has mean 0, and a note says so.
    """
    rows = judgments.with_row_index("row")
    parts = []
    for (kind,), part in rows.group_by("kind", maintain_order=True):
        if kind is not None and Kind.parse(str(kind)).in_logs:
            part = _without_offsets(part)
        parts.append(part)
    return pl.concat(parts).sort("row").drop("row") if parts else judgments


def _without_offsets(judgments: pl.DataFrame) -> pl.DataFrame:
    _check_ratio(judgments)
    columns = OFFSETS[offset_of(judgments)]
    if columns != UNIT:
        note(
            "most units hold one judgment, which has no proportion to others: values are compared within assessors, "
            "whose modulus is taken to be the same in all topics"
        )
    scale = pl.col("scale").fill_null("")
    unit = judgments.select(pl.struct(*columns, scale).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
    doc = judgments.select(pl.struct(*DOCUMENT, scale).rank("dense")).to_series().to_numpy().astype(np.int64) - 1
    fit = TwoWayFit(unit, doc, np.log(judgments["value"].to_numpy()))
    part = fit.labels[doc]
    means = np.bincount(part, fit.values) / np.bincount(part)
    _note_unconnected(judgments, part)
    value = pl.Series("value", fit.values - fit.offsets[unit] - means[part])
    return judgments.with_columns(value, kind=pl.lit("interval"))


def _check_ratio(judgments: pl.DataFrame) -> None:
    """Refuse values that have no logarithm, and judgments of which nobody knows what was judged together."""
    below = judgments.filter(pl.col("value") <= 0)
    if len(below):
        raise DataError(
            f"the value {below['value'][0]:g} (topic {below['topic'][0]}, document {below['doc'][0]}) cannot lie on a "
            "ratio scale, whose values are above 0; use --kind interval if they are not proportions"
        )
    unknown = judgments.filter(pl.col("unit").is_null() & pl.col("assessor").is_null())
    if len(unknown):
        raise DataError(
            f"{len(unknown)} of {len(judgments)} judgments on a ratio scale name neither a unit nor an assessor, so "
            "their modulus cannot be removed; fill the column unit or assessor"
        )


def _note_unconnected(judgments: pl.DataFrame, part: np.ndarray) -> None:
    parts = judgments.select("topic", "scale", pl.Series("part", part)).unique()
    several = parts.group_by("topic", "scale").len().filter(pl.col("len") > 1).sort("topic")
    if len(several):
        topics = several["topic"].unique().sort().to_list()
        listed = ", ".join(topics[:3]) + (f" and {len(topics) - 3} more" if len(topics) > 3 else "")
        note(
            f"in {len(topics)} topics ({listed}) some units share no documents with the others; "
            "such groups of units are compared by their own means"
        )
