"""Gains made of grades, before any measure sees them: grade tables, exponential, binary at θ, normalised to [0, 1].

A transform is a value that prints and parses back, like a measure: `exp2`, `binary(2)`, `unit`, `unit('topic')`,
`0=0,1=0.3,2=1`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

import polars as pl

from judgewell.errors import DataError, InputError, note
from judgewell.evaluation.measures.base import exp2_less_one

Transform = Callable[[pl.DataFrame], pl.DataFrame]


def grades(gains: pl.DataFrame, table: Mapping[float, float]) -> pl.DataFrame:
    """The gain of each grade is what the table says; a grade the table does not name is an error, never 0."""
    new = gains["gain"].replace_strict(list(table), list(table.values()), default=None, return_dtype=pl.Float64)
    if new.null_count():
        row = gains.row(new.is_null().arg_true()[0], named=True)
        raise DataError(
            f"topic {row['topic']}, document {row['doc']}: grade {row['gain']:g} is not in the table "
            f"({', '.join(f'{grade:g}={gain:g}' for grade, gain in table.items())}); name every grade that is used"
        )
    return gains.with_columns(new.alias("gain"))


def exp2(gains: pl.DataFrame) -> pl.DataFrame:
    """Gain 2^g − 1: each grade doubles what the one below adds."""
    if _largest(gains) > 1000:
        raise DataError(f"2^g − 1 overflows for the gain {_largest(gains):g}; bring the gains below 1000 first")
    return gains.with_columns(pl.Series("gain", exp2_less_one(gains["gain"].to_numpy())))


def binary(gains: pl.DataFrame, threshold: float) -> pl.DataFrame:
    """Gain 1 from the threshold on, 0 below it."""
    return gains.with_columns((pl.col("gain") >= threshold).cast(pl.Float64).alias("gain"))


def unit(gains: pl.DataFrame, by: str | float = "all") -> pl.DataFrame:
    """Gains divided into [0, 1]: by the largest of all, the largest of each topic, or a given number."""
    if by not in ("all", "topic") and not (isinstance(by, int | float) and by > 0):
        raise InputError(f"unit({by!r}): divide by 'all', 'topic' or a number above 0")
    lowest = gains["gain"].to_numpy().min(initial=0.0)
    if lowest < 0:
        raise DataError(f"the gain {lowest:g} is below 0 and cannot be brought into [0, 1] by dividing")
    largest = pl.lit(by) if isinstance(by, int | float) else pl.col("gain").max()
    if by == "topic":
        largest = largest.over("topic")
    divided = gains.with_columns(pl.when(largest > 0).then(pl.col("gain") / largest).otherwise(0.0).alias("gain"))
    if _largest(divided) > 1:
        raise DataError(f"the gain {_largest(gains):g} is above {by}, the number to divide by")
    return divided


def only_topics(gains: pl.DataFrame, topics: Sequence[str], source: str) -> pl.DataFrame:
    """The gains of these topics; those without judgments are reported as a note."""
    there = set(gains["topic"])
    unknown = [topic for topic in dict.fromkeys(topics) if topic not in there]
    if len(unknown) == len(set(topics)):
        raise InputError(
            f"none of its {len(unknown)} topics has judgments", cure="write the ids as the gains do", file=source
        )
    if unknown:
        note(f"{len(unknown)} of {len(set(topics))} topics have no judgments (the first: {unknown[0]})", source)
    return gains.filter(pl.col("topic").is_in(list(set(topics))))


def _largest(gains: pl.DataFrame) -> float:
    return float(gains["gain"].to_numpy().max(initial=0.0))


def parse_transform(text: str) -> Transform:
    """`exp2`, `binary(θ)`, `unit`, `unit(topic)`, `unit(4)` or a table `grade=gain,grade=gain,…`."""
    if "=" in text:
        table = _table(text)
        return lambda gains: grades(gains, table)
    match = re.fullmatch(r"\s*(exp2|binary|unit)\s*(?:\(\s*['\"]?([^()'\"]*)['\"]?\s*\))?\s*", text)
    name, given = match.groups() if match else ("", None)
    if name == "exp2" and not given:
        return exp2
    if name == "unit":
        by: str | float = _number(given, text) if given and given not in ("all", "topic") else given or "all"
        return lambda gains: unit(gains, by)
    if name == "binary" and given:
        threshold = _number(given, text)
        return lambda gains: binary(gains, threshold)
    raise InputError(
        f"{text!r} is not a way to transform gains",
        cure="write exp2, binary(2), unit, unit(topic), unit(3) or a table such as 0=0,1=0.3,2=1",
    )


def _table(text: str) -> dict[float, float]:
    table: dict[float, float] = {}
    for item in text.split(","):
        grade, _, gain = item.partition("=")
        if _number(grade, text) in table:
            raise InputError(f"{text!r} names the grade {grade.strip()} twice")
        table[_number(grade, text)] = _number(gain, text)
    return table


def _number(part: str, text: str) -> float:
    try:
        number = float(part)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{part.strip()!r} in {text!r} is not a finite number", cure="write e.g. 0=0,1=0.3,2=1")
    return number
