"""How assessors use the numbers: descriptives, how wide they open the scale, and the gains of grades on it.

Ratios need values above 0. `offset` is added to every value first (1 for a scale from 0 to 100, whose zeros would
divide by zero); without it, units with a value of 0 where one is needed are excluded and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import polars as pl

from judgewell.agreement.common import (
    DOCUMENT,
    check_columns,
    five_numbers,
    gains_of,
    grade_pairs,
    grade_values,
    judgments_of,
    require,
    unit_count,
    with_grades,
    with_number,
)
from judgewell.agreement.unit_grades import pairs_within_units, with_unit_number
from judgewell.errors import DataError, note
from judgewell.stats.concordance import count_concordance
from judgewell.stats.ratios import exact_ratio, geometric_mean
from judgewell.text import counted

WIDE = 20.0  # ratios to the known N document above this are counted, as in the papers' figure
FAR = 3.5  # the same for ratios between grades


def scale_descriptives(judgments: Any, *, by: Sequence[str] = ("scale",)) -> pl.DataFrame:
    """What the raw numbers look like, by scale, template or topic (Scholer et al. 2014, Table 1).

    zeros, tens and fives are shares of values that are 0, whole multiples of 10 and of 5; the last two are missing
    where all values are below 10.
    """
    frame = judgments_of(judgments)
    check_columns(frame, by)
    value = pl.col("value")
    positive = value > 0
    columns = [
        pl.len().cast(pl.Int64).alias("judgments"),
        pl.col("assessor").drop_nulls().n_unique().cast(pl.Int64).alias("assessors"),
        unit_count("topic", "assessor"),
        *five_numbers("value"),
        value.mean().alias("mean"),
        value.std().alias("sd"),
        pl.when(positive.all()).then(value.filter(positive).log().mean().exp()).alias("geometric_mean"),
        value.n_unique().cast(pl.Int64).alias("distinct"),
        (value == 0).mean().alias("zeros"),
        pl.when(value.max() >= 10).then((value % 10 == 0).mean()).alias("tens"),
        pl.when(value.max() >= 10).then((value % 5 == 0).mean()).alias("fives"),
    ]
    table = frame.group_by(by).agg(columns).sort(by) if by else frame.select(columns)
    no_logs = pl.when(pl.col("geometric_mean").is_null()).then(pl.lit("no geometric mean: some values are not above 0"))
    return table.with_columns(note=no_logs)


def compare_scales(judgments: Any) -> pl.DataFrame:
    """Do two scales put the documents in the same order? Tau-b of document medians, per topic and pair of scales."""
    frame = judgments_of(judgments)
    require(frame, "scale", "comparing scales")
    medians = frame.drop_nulls("scale").group_by("scale", *DOCUMENT).agg(gain=pl.col("value").median())
    scales = medians["scale"].unique().sort().to_list()
    if len(scales) < 2:
        raise DataError(f"comparing scales needs two; all judgments are on {scales[0]!r}")
    parts = []
    for first, second in combinations(scales, 2):
        both = medians.filter(pl.col("scale") == first).join(
            medians.filter(pl.col("scale") == second), on=DOCUMENT, suffix="_second"
        )
        both = with_number(both.sort(DOCUMENT), ["topic"], "number")
        order = count_concordance(*(both[name].to_numpy() for name in ("gain", "gain_second", "number")))
        topics = both.group_by("topic", maintain_order=True).agg(documents=pl.len().cast(pl.Int64))
        tau = pl.Series("tau_b", order.tau_b, dtype=pl.Float64, nan_to_null=True)
        parts.append(topics.select(pl.lit(first).alias("first"), pl.lit(second).alias("second"), pl.all(), tau))
    table = pl.concat(parts)
    if table.is_empty():
        raise DataError("no document was judged on two scales")
    return table.with_columns(
        note=pl.when(pl.col("tau_b").is_null()).then(pl.lit("tau is undefined: too few documents or all tied"))
    )


def widths(judgments: Any, *, offset: float = 0.0) -> pl.DataFrame:
    """Each unit's width: the value of its known H document over that of its known N document.

    Where a unit holds several known documents of a kind, their geometric mean counts.
    """
    numbered = _with_anchor(judgments, offset)
    high = numbered.filter(pl.col("known") == "H").group_by("unit_number").agg(high=geometric_mean(pl.col("value")))
    table = numbered.unique("unit_number", maintain_order=True).join(high, on="unit_number", maintain_order="left")
    if table.is_empty():
        raise DataError("no unit holds both a known H and a known N document")
    return table.select("topic", "assessor", "unit", "high", "low", width=exact_ratio(table, "high", "low"))


def width_distribution(unit_widths: pl.DataFrame) -> pl.DataFrame:
    """Units per width rounded to the nearest 5, halves upward (Turpin et al. 2015, Fig. 7)."""
    rounded = ((pl.col("width") / 5 + 0.5).floor() * 5).alias("width")
    return unit_widths.group_by(rounded).agg(units=pl.len().cast(pl.Int64)).sort("width")


def gain_profile(judgments: Any, grades: Any, *, offset: float = 0.0) -> pl.DataFrame:
    """The gain of a grade in units of the known N document, beside the linear and exponential gains in use.

    s / s(N) within each unit (Turpin et al. 2015, Fig. 8); linear is 1, 2, 3, 4 and exponential 2, 4, 8, 16 from the
    lowest grade up. The N document itself, always 1, is excluded.
    """
    frame = with_grades(_with_anchor(judgments, offset), grades)
    counts = pl.col("grade").is_not_null() & (pl.col("known") != "N").fill_null(True)
    ratios = frame.with_columns(ratio=exact_ratio(frame, "value", "low")).filter(counts)
    if ratios.is_empty():
        raise DataError("no judgment of a document with a grade shares a unit with a known N document")
    places = pl.DataFrame({"grade": ratios["grade"].unique().sort()}).with_row_index("place", offset=1)
    profile = ratios.group_by("grade").agg(
        pl.len().cast(pl.Int64).alias("judgments"),
        *five_numbers("ratio"),
        pl.col("ratio").log().mean().exp().alias("geometric_mean"),
        (pl.col("ratio") > WIDE).sum().cast(pl.Int64).alias("above_20"),
    )
    gains = [pl.col("place").cast(pl.Float64).alias("linear"), (2.0 ** pl.col("place")).alias("exponential")]
    return profile.join(places, on="grade").with_columns(gains).drop("place").sort("grade")


def grade_ratios(judgments: Any, grades: Any, *, offset: float = 0.0) -> pl.DataFrame:
    """The ratio of a higher grade's value to a lower one's within a unit, for every two grades.

    Quartiles over all document pairs of a unit, the share above 1 (in the grades' order), how many lie beyond 3.5
    (Turpin et al. 2015, Fig. 9). Give R and M one grade in `grades` to compare H with both together.
    """
    return _ratio_table(ratios_within_units(judgments, grades, offset=offset))


def document_ratios(gains: Any, grades: Any, *, offset: float = 0.0) -> pl.DataFrame:
    """The same over document scores: all document pairs of a topic."""
    frame = with_grades(gains_of(gains), grades).filter(pl.col("grade").is_not_null())
    compared = grade_pairs(grade_values(frame))
    shifted = frame.with_columns(pl.col("gain") + offset)
    _refuse_without_ratio(shifted.filter(pl.col("gain") <= 0).height, shifted.height, "score")
    kept = shifted.filter(pl.col("gain") > 0)
    parts = []
    for low, high in compared:
        lower, upper = (kept.filter(pl.col("grade") == grade).select("topic", "gain") for grade in (low, high))
        both = lower.join(upper, on="topic", suffix="_upper")
        parts.append(both.select(lower=pl.lit(low), upper=pl.lit(high), ratio=pl.col("gain_upper") / pl.col("gain")))
    return _ratio_table(pl.concat(parts))


def ratios_within_units(judgments: Any, grades: Any, *, offset: float = 0.0, by: Sequence[str] = ()) -> pl.DataFrame:
    """One row per unit and document pair of different grades, with the ratio upper / lower: the dots of the papers."""
    pairs = pairs_within_units(judgments, grades, by).with_columns(
        pl.col("lower_value") + offset, pl.col("upper_value") + offset
    )
    positive = pairs.filter((pl.col("lower_value") > 0) & (pl.col("upper_value") > 0))
    _refuse_without_ratio(pairs.height - positive.height, pairs.height, "pair of judgments")
    return positive.with_columns(ratio=pl.col("upper_value") / pl.col("lower_value"))


def _ratio_table(ratios: pl.DataFrame) -> pl.DataFrame:
    return (
        ratios.group_by("lower", "upper")
        .agg(
            pl.len().cast(pl.Int64).alias("ratios"),
            *five_numbers("ratio"),
            (pl.col("ratio") > 1).mean().alias("above_one"),
            (pl.col("ratio") > FAR).sum().cast(pl.Int64).alias("beyond"),
        )
        .sort("lower", "upper")
    )


def _with_anchor(judgments: Any, offset: float) -> pl.DataFrame:
    """The judgments of units with a usable known N document, its (shifted) value in `low`."""
    frame = judgments_of(judgments).with_columns(pl.col("value") + offset)
    require(frame, "known", "ratios to the known N document")
    numbered = with_unit_number(frame)
    anchors = numbered.filter(pl.col("known") == "N")
    if anchors.is_empty():
        raise DataError("ratios to the known N document need units that hold one; none does")
    whole = numbered.filter((pl.col("value") > 0).all().over("unit_number"))
    lost = numbered["unit_number"].n_unique() - whole["unit_number"].n_unique()
    _refuse_without_ratio(lost, numbered["unit_number"].n_unique(), "unit")
    low = whole.filter(pl.col("known") == "N").group_by("unit_number").agg(low=geometric_mean(pl.col("value")))
    return whole.join(low, on="unit_number", maintain_order="left")


def _refuse_without_ratio(lost: int, total: int, what: str) -> None:
    if lost == total:
        raise DataError(
            f"ratios need values above 0; every {what} has one that is not: give an offset (1 for 0 to 100)"
        )
    if lost:
        low = f"{counted(lost, what)} of {total} with a value of 0 or below"
        note(f"{low} are excluded from ratios; an offset keeps them")
