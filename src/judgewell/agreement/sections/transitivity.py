"""Are an assessor's preferences transitive?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import common, transitivity
from judgewell.agreement.evidence import Evidence
from judgewell.agreement.section import FILE, NAMED, OPEN, PAIRED, Get, Section
from judgewell.errors import note
from judgewell.text import agrees, count, counted, percent


def _finding(table: pl.DataFrame) -> str:
    row = table.row(0, named=True)
    return (
        f"{count(row['discords'])} of {counted(row['comparisons'], 'preference')} "
        f"{agrees(row['discords'], 'contradicts', 'contradict')} the assessor’s own "
        f"ranking ({percent(row['share'])}; random answers would give {percent(row['chance_share'])})."
    )


_COLUMNS = "groups comparisons discords share chance_discords chance_share perfect chance_perfect consistency"

SECTION = Section(
    "transitivity", "do an assessor's preferences fit one ranking", "agreement", order=50, needs=(PAIRED, NAMED)
)


@SECTION.table("Contradictions in each unit", shown=FILE)
def _transitivity(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Preferences of each unit that contradict its best ranking, beside what random answers would give."""
    pairs = common.pairs_of(evidence.pairs)
    single = pairs.group_by(common.UNIT).len()["len"].max() == 1
    if single:
        note("every unit holds one pair: transitivity is computed over all of an assessor's answers for a topic")
    within = "assessor" if single else "unit"
    return transitivity.transitivity(pairs, within=within, seed=evidence.seed, progress=evidence.progress)


@SECTION.table("Transitivity of preferences", finding=_finding, columns=_COLUMNS, shown=OPEN)
def transitivity_overall(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Preferences that contradict the best ranking of an assessor’s answers, and what random answers would give;
    consistency is 1 for none and 0 for as many as at random."""
    return transitivity.transitivity_summary(get("transitivity"), by=())


@SECTION.table("Transitivity of preferences, by topic", columns=f"topic {_COLUMNS}")
def transitivity_by_topic(evidence: Evidence, get: Get) -> pl.DataFrame:
    """The same within each topic."""
    return transitivity.transitivity_summary(get("transitivity"), by=("topic",))


@SECTION.table("Transitivity of preferences, by assessor and topic", shown=FILE)
def transitivity_by_assessor(evidence: Evidence, get: Get) -> pl.DataFrame:
    """The same for each assessor within each topic."""
    return transitivity.transitivity_summary(get("transitivity"), by=("topic", "assessor"))


@SECTION.table("Amount of work and contradictions")
def volume_against_inconsistency(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Kendall’s τ between how much an assessor did and the share of contradictions."""
    return transitivity.volume_against_inconsistency(get("transitivity_by_assessor"), "share")
