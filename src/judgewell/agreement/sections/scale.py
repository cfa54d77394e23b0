"""How do assessors use the numbers of the scale?"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from judgewell.agreement import scale_use
from judgewell.agreement.evidence import Evidence
from judgewell.agreement.section import FILE, JUDGED, OPEN, Get, Section
from judgewell.text import percent, plain


def _ratios(evidence: Evidence, analysis: Callable[..., pl.DataFrame]) -> pl.DataFrame:
    offset = evidence.offset()
    return evidence.against_labels(lambda labels: analysis(evidence.judgments, labels, offset=offset))


def _round_numbers(table: pl.DataFrame) -> str | None:
    row = table.row(0, named=True)
    if row["distinct"] <= 20:
        return None
    zeros = f"{percent(row['zeros'])} are 0 and " if row["zeros"] else ""
    tens = None if row["tens"] is None else row["tens"] - row["zeros"]
    return (
        f"Values range from {plain(row['least'])} to {plain(row['greatest'])}, median {plain(row['median'])}; "
        f"{zeros}{percent(tens)} are {'other ' if zeros else ''}multiples of 10."
    )


SECTION = Section("scale", "how assessors use the numbers of the scale", "use", order=60, needs=(JUDGED,))


@SECTION.table(
    "Values given",
    finding=_round_numbers,
    columns="judgments assessors units least q1 median q3 greatest mean sd distinct zeros tens fives",
    shown=OPEN,
)
def scale_descriptives(evidence: Evidence, get: Get) -> pl.DataFrame:
    """The distribution of the values as assessors gave them."""
    return scale_use.scale_descriptives(evidence.judgments, by=())


@SECTION.table("Scales against each other", across_scales=True)
def compare_scales(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Kendall’s τ-b between the rankings of the same documents on two scales, by topic."""
    return scale_use.compare_scales(evidence.judgments)


@SECTION.table("Width of each unit", shown=FILE)
def widths(evidence: Evidence, get: Get) -> pl.DataFrame:
    """The value of the known relevant document over that of the known non-relevant one."""
    return scale_use.widths(evidence.judgments, offset=evidence.offset())


@SECTION.table("Width of units")
def width_distribution(evidence: Evidence, get: Get) -> pl.DataFrame:
    """The ratio between the values of the known relevant and non-relevant documents: units for each ratio, rounded to
    5."""
    return scale_use.width_distribution(get("widths"))


@SECTION.table(
    "Values as multiples of the known non-relevant document",
    columns="labels grade judgments q1 median q3 geometric_mean linear exponential",
)
def gain_profile(evidence: Evidence, get: Get) -> pl.DataFrame:
    """How much more relevant each grade is, beside linear and exponential gains."""
    return _ratios(evidence, scale_use.gain_profile)


@SECTION.table("Ratios between grades")
def grade_ratios(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Values of two documents of one unit with different grades, as ratios."""
    return _ratios(evidence, scale_use.grade_ratios)
