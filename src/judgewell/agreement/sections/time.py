"""How long did judging take?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import times
from judgewell.agreement.evidence import Evidence, given, has
from judgewell.agreement.section import FILE, OPEN, TIMED, Section, Table
from judgewell.errors import DataError
from judgewell.text import counted, plain


def _timed(evidence: Evidence) -> pl.DataFrame:
    return given(evidence.judgments if has(evidence.judgments, "seconds") else evidence.pairs, "times")


def _with_length(evidence: Evidence) -> pl.DataFrame:
    if evidence.lengths is None:
        raise DataError("time against length needs the documents' lengths (--documents)")
    return times.time_and_length(_timed(evidence), evidence.lengths)


def _typical(table: pl.DataFrame) -> str:
    row = table.row(0, named=True)
    return (
        f"The median time of {counted(row['count'], 'judgment')} is {plain(row['median'], 1)} s; half took between "
        f"{plain(row['q1'], 1)} s and {plain(row['q3'], 1)} s."
    )


def _faster(table: pl.DataFrame) -> str | None:
    if table.height < 2:
        return None
    first, last = table.row(0, named=True), table.row(-1, named=True)
    return (
        f"The median time is {plain(first['median'], 1)} s at position {first['position']} of a unit and "
        f"{plain(last['median'], 1)} s at position {last['position']}."
    )


_SPREAD = ("count", "mean", "least", "q1", "median", "q3", "greatest")

SECTION = Section(
    name="time",
    about="how long judging took",
    part="quality",
    order=70,
    needs=(TIMED,),
    tables=(
        Table(
            name="time_distribution",
            title="Time per judgment",
            caption="Seconds, with the best-fitting gamma distribution and its distance from the data "
            "(Kolmogorov–Smirnov).",
            compute=lambda e, get: times.time_distribution(_timed(e)),
            finding=_typical,
            columns=(*_SPREAD, "shape", "scale", "distance"),
            shown=OPEN,
            across_scales=True,
        ),
        Table(
            name="time_distribution_by_topic",
            title="Time per judgment, by topic",
            caption="Seconds, within each topic.",
            compute=lambda e, get: times.time_distribution(_timed(e), by=["topic"]),
            columns=("topic", "count", "mean", "q1", "median", "q3", "greatest"),
            across_scales=True,
        ),
        Table(
            name="time_histogram",
            title="Histogram of times",
            caption="Bars of total area 1 with the density of the fitted gamma distribution.",
            compute=lambda e, get: times.time_histogram(_timed(e)),
            shown=FILE,
            across_scales=True,
        ),
        Table(
            name="time_by_position",
            title="Time by position in the unit",
            caption="Seconds at each position.",
            compute=lambda e, get: times.time_by_position(_timed(e)),
            finding=_faster,
            columns=("position", "count", "mean", "q1", "median", "q3"),
            across_scales=True,
        ),
        Table(
            name="time_and_length",
            title="Time and document length, by assessor and topic",
            caption="Mean time and mean document length of each assessor within each topic.",
            compute=lambda e, get: _with_length(e),
            shown=FILE,
            across_scales=True,
        ),
        Table(
            name="time_against_length",
            title="Time against length",
            caption="Kendall’s τ-b between document length and time, over assessors and topics.",
            compute=lambda e, get: times.time_against_length(get("time_and_length")),
            across_scales=True,
        ),
    ),
)
