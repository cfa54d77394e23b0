"""How do assessors use the numbers of the scale?"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from judgewell.agreement import scale_use
from judgewell.agreement.evidence import Evidence
from judgewell.agreement.section import FILE, JUDGED, OPEN, Compute, Section, Table
from judgewell.text import percent, plain


def _ratios(analysis: Callable[..., pl.DataFrame]) -> Compute:
    def compute(evidence: Evidence, _: object) -> pl.DataFrame:
        offset = evidence.offset()
        return evidence.against_labels(lambda labels: analysis(evidence.judgments, labels, offset=offset))

    return compute


def _round_numbers(table: pl.DataFrame) -> str | None:
    row = table.row(0, named=True)
    if row["distinct"] <= 20:
        return None
    return (
        f"Values range from {plain(row['least'])} to {plain(row['greatest'])}, median {plain(row['median'])}; "
        f"{percent(row['tens'])} are multiples of 10."
    )


SECTION = Section(
    name="scale",
    about="how assessors use the numbers of the scale",
    part="use",
    order=60,
    needs=(JUDGED,),
    tables=(
        Table(
            name="scale_descriptives",
            title="Values given",
            caption="The distribution of the values as assessors gave them.",
            compute=lambda e, get: scale_use.scale_descriptives(e.judgments, by=()),
            finding=_round_numbers,
            columns=("judgments", "assessors", "units", "least", "q1", "median", "q3", "greatest", "mean", "sd",
                     "distinct", "zeros", "tens", "fives"),
            shown=OPEN,
        ),
        Table(
            name="compare_scales",
            title="Scales against each other",
            caption="Kendall’s τ-b between the rankings of the same documents on two scales, by topic.",
            compute=lambda e, get: scale_use.compare_scales(e.judgments),
            across_scales=True,
        ),
        Table(
            name="widths",
            title="Width of each unit",
            caption="The value of the known relevant document over that of the known non-relevant one.",
            compute=lambda e, get: scale_use.widths(e.judgments, offset=e.offset()),
            shown=FILE,
        ),
        Table(
            name="width_distribution",
            title="Width of units",
            caption="The ratio between the values of the known relevant and non-relevant documents: units for each "
            "ratio, rounded to 5.",
            compute=lambda e, get: scale_use.width_distribution(get("widths")),
        ),
        Table(
            name="gain_profile",
            title="Values as multiples of the known non-relevant document",
            caption="How much more relevant each grade is, beside linear and exponential gains.",
            compute=_ratios(scale_use.gain_profile),
            columns=("labels", "grade", "judgments", "q1", "median", "q3", "geometric_mean", "linear", "exponential"),
        ),
        Table(
            name="grade_ratios",
            title="Ratios between grades",
            caption="Values of two documents of one unit with different grades, as ratios.",
            compute=_ratios(scale_use.grade_ratios),
        ),
    ),
)  # fmt: skip
