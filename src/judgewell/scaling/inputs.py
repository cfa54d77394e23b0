"""What every scaling function checks in its table first: one scale, named groups, reported repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError, note
from judgewell.scales import Kind, kind_of
from judgewell.scaling.numbers import runs_of
from judgewell.tables import GAINS, INCLUSION, JUDGMENTS, PAIRS, check
from judgewell.text import agrees, counted

Repeated = Literal["all", "first", "last", "error"]

# What identifies one assessor's unit: a batch may be given to several assessors.
GROUP = ("topic", "unit", "assessor")


def judgments_of(data: Any) -> pl.DataFrame:
    """The data as a checked judgments table with at least one row, all on one scale and between its ends."""
    frame = check(data, JUDGMENTS)
    if frame.is_empty():
        raise DataError("the judgments table has no rows; there is nothing to scale")
    scales = frame["scale"].drop_nulls().unique().sort().to_list()
    if len(scales) > 1:
        raise DataError(
            f"the judgments mix the scales {', '.join(scales)}; keep the rows of one and scale each alone (--where "
            f"scale={scales[0]})"
        )
    check_range(frame)
    return frame


def check_range(frame: pl.DataFrame, bound: float | None = None) -> None:
    """Refuse a value beyond the ends of its scale; `bound` is the excluded upper end of a magnitude scale."""
    kind = kind_of(frame) if bound is None else Kind("ratio", 0, bound)
    if kind.low is None or kind.high is None:
        return
    value = pl.col("value")
    if kind.name == "ratio":
        outside, rule = frame.filter(value >= kind.high), f"above {kind.low:g} and below {kind.high:g}"
    else:
        outside, rule = frame.filter((value < kind.low) | (value > kind.high)), f"{kind.low:g} to {kind.high:g}"
    if len(outside):
        raise InputError(
            f"the value {outside['value'][0]:g} is outside its scale of {rule} ({place(outside)})",
            cure="correct or drop these judgments, or say what the values mean (--kind, or the column kind)",
        )


def pairs_of(data: Any) -> pl.DataFrame:
    """The data as a checked pairs table with at least one row and no document compared with itself."""
    frame = check(data, PAIRS)
    if frame.is_empty():
        raise DataError("the pairs table has no rows; there is nothing to scale")
    same = frame.filter(pl.col("left") == pl.col("right"))
    if len(same):
        raise InputError(
            f"a document is compared with itself ({place(same)}), {len(same)} times",
            cure="drop the pairs whose left and right are one document",
        )
    _tell_pairs_again(frame)
    return frame


def _tell_pairs_again(frame: pl.DataFrame) -> None:
    """Say where one assessor compared two documents more than once in one unit: every answer counts."""
    named = frame if frame["assessor"].null_count() == 0 else frame.filter(pl.col("assessor").is_not_null())
    ends = pl.min_horizontal("left", "right").alias("one"), pl.max_horizontal("left", "right").alias("other")
    keys = named.select(*GROUP, *ends)
    again = named.filter(~keys.select(pl.struct(pl.all()).is_first_distinct()).to_series())
    if len(again):
        note(
            f"{len(again)} answers are by an assessor who compared the same two documents in the same unit before; all "
            f"of them count ({listed(again.drop('assessor'), 1)})"
        )


def place(frame: pl.DataFrame, row: int = 0, longest: int = 1000) -> str:
    """A row's place: its topic, documents, unit and assessor, as far as known; ids cut at `longest`."""
    values = frame.row(row, named=True)
    words = {"doc": "document", "left": "left", "right": "right", "unit": "unit", "assessor": "assessor"}
    parts = [f"topic {values['topic']}"]
    for name, word in words.items():
        if values.get(name) is not None:
            text = str(values[name])
            parts.append(f"{word} {text if len(text) <= longest else text[: longest - 1] + '…'}")
    return ", ".join(parts)


def listed(frame: pl.DataFrame, shown: int = 3) -> str:
    """The first rows of a list of cases, for a message."""
    text = "; ".join(place(frame, row, 30) for row in range(min(shown, len(frame))))
    return text + (f"; and {len(frame) - shown} more" if len(frame) > shown else "")


def with_groups(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame, where each row can be put into its unit: by the unit, the assessor, or both."""
    lost = frame.filter(pl.col("unit").is_null() & pl.col("assessor").is_null())
    if len(lost):
        raise InputError(
            f"{len(lost)} of {len(frame)} judgments name neither a unit nor an assessor ({place(lost)})",
            cure="say which judgments were made together: fill the column unit or assessor",
        )
    return frame


def repeats(judgments: Any) -> pl.DataFrame:
    """The cases where one assessor judged one document more than once in one unit, with how often."""
    return repeats_in(judgments_of(judgments))


def repeats_in(frame: pl.DataFrame) -> pl.DataFrame:
    """The same of a table that is checked already."""
    known = frame
    if frame["unit"].null_count() and frame["assessor"].null_count():
        known = frame.filter(pl.col("unit").is_not_null() | pl.col("assessor").is_not_null())
    keys = [*GROUP, "doc"]
    if _all_apart(known):
        return known.head(0).select(*keys, times=pl.lit(0, dtype=pl.UInt32))
    return known.group_by(keys).agg(times=pl.len()).filter(pl.col("times") > 1).sort(keys)


def _all_apart(frame: pl.DataFrame) -> bool:
    """Whether no unit holds a document twice for certain: no two hashes of document and unit are equal."""
    sittings, run = runs_of(frame.select(GROUP))
    hashes = np.sort(frame["doc"].hash(1).to_numpy() ^ sittings.hash_rows(2).to_numpy()[run])
    return not bool((hashes[1:] == hashes[:-1]).any())


def settle_repeats(frame: pl.DataFrame, keep: Repeated) -> pl.DataFrame:
    """The rows that count where one assessor judged a document twice in one unit; a note reports how many do."""
    cases = repeats_in(frame)
    if cases.is_empty():
        return frame
    again = int(cases["times"].sum()) - len(cases)
    known = {"by the same assessor": "assessor", "in the same unit": "unit"}
    whose = " ".join(words for words, name in known.items() if cases[name].null_count() < len(cases))
    first = f"the first: {place(cases, 0, 30)}"
    repeated = f"{counted(again, 'judgment')} {agrees(again, 'repeats', 'repeat')} one of the same document {whose}"
    if keep == "error":
        raise DataError(f"{repeated} ({first}); say which counts: --repeated all, first or last")
    rule = {"all": "all of them count", "first": "the first counts", "last": "the last counts"}[keep]
    note(f"{repeated}; {rule} ({first})")
    if keep == "all":
        return frame
    named = pl.col("unit").is_not_null() | pl.col("assessor").is_not_null()
    rows = frame.with_row_index("row")
    ordered = rows.filter(named).sort("position", "row", nulls_last=False)
    kept = ordered.unique([*GROUP, "doc"], keep=keep, maintain_order=True)
    return pl.concat([kept, rows.filter(~named)]).sort("row").drop("row")


def gains_frame(frame: pl.DataFrame, extra: Sequence[str] = (), ordered: bool = False) -> pl.DataFrame:
    """A gains table in topic and document order, with low and high where the frame has them; `ordered` says that the
    frame is in that order already."""
    for name in ("low", "high"):
        if name not in frame.columns:
            frame = frame.with_columns(pl.lit(None, dtype=pl.Float64).alias(name))
    columns = [*GAINS.names, *extra]
    gains = frame.with_columns(pl.col("judgments").cast(pl.Int64)).select(columns)
    return gains if ordered else gains.sort("topic", "doc")


def with_inclusions(gains: pl.DataFrame, judgments: pl.DataFrame) -> pl.DataFrame:
    """The gains with the probability with which each document was drawn, where the judgments have it."""
    name = INCLUSION.name
    if (
        name not in judgments.columns
        or "doc" not in judgments.columns
        or judgments[name].null_count() == len(judgments)
    ):
        return gains
    drawn = judgments.group_by("topic", "doc").agg(pl.col(name).drop_nulls().unique())
    several = drawn.filter(pl.col(name).list.len() > 1).sort("topic", "doc")
    if len(several):
        topic, doc, values = several.row(0)
        raise InputError(
            f"topic {topic}, document {doc}: its judgments have the inclusions {', '.join(f'{v:g}' for v in values)}",
            cure="a document is drawn with one probability",
        )
    drawn = drawn.with_columns(pl.col(name).list.first())
    return gains.join(drawn, on=["topic", "doc"], how="left", maintain_order="left")


def extra_column(frame: pl.DataFrame, name: str, about: str, option: str | None = None) -> pl.DataFrame:
    """The frame, if it has the extra column a method needs, which the method's `option` names where it has one."""
    if name not in frame.columns:
        which = f"--{option} NAME" if option else f"--columns {name}=NAME"
        raise InputError(
            f"this method needs the column {name} ({about}); the table has {', '.join(frame.columns)}",
            cure=f"add it, or say which column it is ({which})",
        )
    return frame
