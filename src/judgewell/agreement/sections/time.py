"""How long did judging take?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import times
from judgewell.agreement.evidence import Evidence, given, has
from judgewell.agreement.section import FILE, OPEN, TIMED, Get, Section
from judgewell.errors import DataError
from judgewell.text import counted, plain


def _timed(evidence: Evidence) -> pl.DataFrame:
    return given(evidence.judgments if has(evidence.judgments, "seconds") else evidence.pairs, "times")


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


_SPREAD = "count mean least q1 median q3 greatest"

SECTION = Section("time", "how long judging took", "quality", order=70, needs=(TIMED,))


@SECTION.table(
    "Time per judgment", finding=_typical, columns=f"{_SPREAD} shape scale distance", shown=OPEN, across_scales=True
)
def time_distribution(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Seconds, with the best-fitting gamma distribution and its distance from the data (Kolmogorov–Smirnov)."""
    return times.time_distribution(_timed(evidence))


@SECTION.table("Time per judgment, by topic", columns="topic count mean q1 median q3 greatest", across_scales=True)
def time_distribution_by_topic(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Seconds, within each topic."""
    return times.time_distribution(_timed(evidence), by=["topic"])


@SECTION.table("Histogram of times", shown=FILE, across_scales=True)
def time_histogram(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Bars of total area 1 with the density of the fitted gamma distribution."""
    return times.time_histogram(_timed(evidence))


@SECTION.table(
    "Time by position in the unit", finding=_faster, columns="position count mean q1 median q3", across_scales=True
)
def time_by_position(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Seconds at each position."""
    return times.time_by_position(_timed(evidence))


@SECTION.table("Time and document length, by assessor and topic", shown=FILE, across_scales=True)
def time_and_length(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Mean time and mean document length of each assessor within each topic."""
    if evidence.lengths is None:
        raise DataError("time against length needs the documents' lengths (--documents)")
    return times.time_and_length(_timed(evidence), evidence.lengths)


@SECTION.table("Time against length", across_scales=True)
def time_against_length(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Kendall’s τ-b between document length and time, over assessors and topics."""
    return times.time_against_length(get("time_and_length"))
