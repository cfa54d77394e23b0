"""Are an assessor's preferences transitive?"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgewell.agreement import common, transitivity
from judgewell.agreement.evidence import Evidence
from judgewell.agreement.section import FILE, NAMED, OPEN, PAIRED, Compute, Section, Table
from judgewell.errors import note
from judgewell.text import agrees, count, counted, percent


def _groups(evidence: Evidence) -> pl.DataFrame:
    pairs = common.pairs_of(evidence.pairs)
    single = pairs.group_by(common.UNIT).len()["len"].max() == 1
    if single:
        note("every unit holds one pair: transitivity is computed over all of an assessor's answers for a topic")
    within = "assessor" if single else "unit"
    return transitivity.transitivity(pairs, within=within, seed=evidence.seed, progress=evidence.progress)


def _summary(by: Sequence[str]) -> Compute:
    return lambda e, get: transitivity.transitivity_summary(get("transitivity"), by=by)


def _finding(table: pl.DataFrame) -> str:
    row = table.row(0, named=True)
    return (
        f"{count(row['discords'])} of {counted(row['comparisons'], 'preference')} "
        f"{agrees(row['discords'], 'contradicts', 'contradict')} the assessor’s own "
        f"ranking ({percent(row['share'])}; random answers would give {percent(row['chance_share'])})."
    )


_COLUMNS = ("groups", "comparisons", "discords", "share", "chance_discords", "chance_share", "perfect",
            "chance_perfect", "consistency")  # fmt: skip

SECTION = Section(
    name="transitivity",
    about="do an assessor's preferences fit one ranking",
    part="agreement",
    order=50,
    needs=(PAIRED, NAMED),
    tables=(
        Table(
            name="transitivity",
            title="Contradictions in each unit",
            caption="Preferences of each unit that contradict its best ranking, beside what random answers would give.",
            compute=lambda e, get: _groups(e),
            shown=FILE,
        ),
        Table(
            name="transitivity_overall",
            title="Transitivity of preferences",
            caption="Preferences that contradict the best ranking of an assessor’s answers, and what random answers "
            "would give; consistency is 1 for none and 0 for as many as at random.",
            compute=_summary(()),
            finding=_finding,
            columns=_COLUMNS,
            shown=OPEN,
        ),
        Table(
            name="transitivity_by_topic",
            title="Transitivity of preferences, by topic",
            caption="The same within each topic.",
            compute=_summary(("topic",)),
            columns=("topic", *_COLUMNS),
        ),
        Table(
            name="transitivity_by_assessor",
            title="Transitivity of preferences, by assessor and topic",
            caption="The same for each assessor within each topic.",
            compute=_summary(("topic", "assessor")),
            shown=FILE,
        ),
        Table(
            name="volume_against_inconsistency",
            title="Amount of work and contradictions",
            caption="Kendall’s τ between how much an assessor did and the share of contradictions.",
            compute=lambda e, get: transitivity.volume_against_inconsistency(get("transitivity_by_assessor"), "share"),
        ),
    ),
)
