"""Do assessors agree on the same pair of documents, with each other, with themselves and with labels?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import pair_agreement
from judgewell.agreement.evidence import Evidence
from judgewell.agreement.section import OPEN, PAIRED, Get, Section
from judgewell.agreement.sections.reliability import verdict
from judgewell.text import agrees, count, counted, interval, percent, plain


def _same_pair(table: pl.DataFrame) -> str:
    row = table.row(0, named=True)
    around = f" {interval(row['low'], row['high'])}" if row["low"] is not None else ""
    agreeing, unnamed = f"assessors agree on {percent(row['agreement'])} of answers to the same pair", ""
    if not row["assessors"]:
        agreeing = f"answers to the same pair agree in {percent(row['agreement'])} of cases"
        unnamed = "; the data name no assessors"
    return (
        f"Two {agreeing} ({percent(row['expected'])} by chance{unnamed}): "
        f"Krippendorff’s α = {plain(row['alpha'])}{around} over {counted(row['pairs'], 'pair')}. "
        f"{verdict(row['alpha'])}."
    )


def _contradictions(table: pl.DataFrame) -> list[str]:
    by = {"anybody": "", "the same assessor": " by the same assessor"}
    return [
        f"{count(row['contradicting'])} of {counted(row['repeated'], 'pair')} answered more than once"
        f"{by[row['answered_again_by']]} {agrees(row['contradicting'], 'has', 'have')} contradicting answers "
        f"({percent(row['share'])})."
        for row in table.iter_rows(named=True)
        if row["repeated"]
    ]


def _labels(table: pl.DataFrame) -> list[str]:
    whole = table.filter(pl.col("lower").is_null())
    return [
        f"{percent(row['share'])} of {counted(row['answers'], 'preference')} between documents with different labels "
        f"{agrees(row['answers'], 'goes', 'go')} to the one with the higher label in {row['labels']} (“same” counts "
        "half)."
        for row in whole.iter_rows(named=True)
    ]


_AGREEMENT = "pairs answers assessors agreement expected kappa alpha low high speaks_for note"

SECTION = Section("pairs", "do assessors agree on the same pair of documents", "agreement", order=17, needs=(PAIRED,))


@SECTION.table("Agreement on the same pair", finding=_same_pair, columns=_AGREEMENT, shown=OPEN)
def same_pair_agreement(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Pairs answered more than once: share of agreeing answers, what chance would give, Fleiss’ κ, and Krippendorff’s α
    with its 95 % interval."""
    return pair_agreement.same_pair_agreement(evidence.compared_pairs())


@SECTION.table("Agreement on the same pair, by topic", columns=f"topic {_AGREEMENT}")
def same_pair_agreement_by_topic(evidence: Evidence, get: Get) -> pl.DataFrame:
    """The same within each topic."""
    return pair_agreement.same_pair_agreement(evidence.compared_pairs(), by=("topic",))


@SECTION.table("Pairs answered again", finding=_contradictions)
def repeated_pairs(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Pairs answered more than once, and how many of them have answers that prefer each of the two documents."""
    return pair_agreement.repeated_pairs(evidence.compared_pairs())


@SECTION.table("Single preferences against labels", finding=_labels)
def preferences_against_grades(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Preferences between documents with different labels: how often the higher-labelled one was preferred. The last
    row of each set is over all, with what could not be compared."""
    return evidence.against_labels(lambda labels: pair_agreement.preferences_against_grades(evidence.pairs, labels))
