"""How far does each assessor agree with the others?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import assessors, kappa, overlap, transitivity
from judgewell.agreement.evidence import Evidence
from judgewell.agreement.section import FILE, JUDGED, NAMED, Get, Section
from judgewell.agreement.sections.reliability import few_values
from judgewell.text import plain

FEWEST_WITHIN_A_TOPIC = 5  # within a topic two assessors share few documents


def _rest_finding(table: pl.DataFrame) -> str | None:
    tau = table["tau_b"].drop_nulls().drop_nans()
    if not len(tau):
        return None
    return (
        "The median assessor’s ranking of documents agrees with that of the others at τ-b = "
        f"{plain(tau.median())} (1 is the same ranking, 0 is no relation)."
    )


SECTION = Section(
    "assessors", "how far each assessor agrees with the others", "agreement", order=15, needs=(JUDGED, NAMED)
)


@SECTION.table(
    "Each assessor against the others",
    finding=_rest_finding,
    columns="assessor documents topics bias pairs agree disagree tau_b",
)
def against_the_rest(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Each assessor’s ranking of documents against the mean of the others, lowest agreement first; bias is how much
    higher the assessor’s values are."""
    return assessors.against_the_rest(evidence.without_known_documents())


@SECTION.table("Every two assessors", shown=FILE)
def assessor_tau(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Kendall’s τ-b of every two assessors over the documents they share."""
    return assessors.assessor_tau(evidence.without_known_documents())


@SECTION.table("Rank correlation of two assessors")
def assessor_tau_mean(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Kendall’s τ-b of two assessors over the documents they share: mean over pairs of assessors, with its 95 %
    interval over assessors."""
    return overlap.mean_over_pairs(get("assessor_tau"), "tau_b")


@SECTION.table("Rank correlation of two assessors, by topic")
def assessor_tau_by_topic(evidence: Evidence, get: Get) -> pl.DataFrame:
    """The same within each topic."""
    frame = evidence.without_known_documents()
    pairs = assessors.assessor_tau(frame, by=["topic"], least_documents=FEWEST_WITHIN_A_TOPIC)
    return overlap.mean_over_pairs(pairs, "tau_b", by=["topic"])


@SECTION.table("Cohen’s κ of every two assessors", shown=FILE)
def cohen_kappa(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Agreement of every two assessors on grades beyond chance."""
    return kappa.cohen_kappa(few_values(evidence))


@SECTION.table("Cohen’s κ")
def cohen_kappa_mean(evidence: Evidence, get: Get) -> pl.DataFrame:
    """The mean over pairs of assessors, with its 95 % interval over assessors."""
    return overlap.mean_over_pairs(get("cohen_kappa"), "kappa")


@SECTION.table("Weighted κ of every two assessors", shown=FILE)
def weighted_kappa(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Cohen’s κ with quadratic weights for every two assessors."""
    return kappa.cohen_kappa(few_values(evidence), "quadratic")


@SECTION.table("Weighted κ")
def weighted_kappa_mean(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Cohen’s κ with quadratic weights: the mean over pairs of assessors, with its 95 % interval."""
    return overlap.mean_over_pairs(get("weighted_kappa"), "kappa")


@SECTION.table("Documents judged twice by one assessor", columns="topic doc assessor times values spread")
def repeated_judgments(evidence: Evidence, get: Get) -> pl.DataFrame:
    """The values that one assessor gave to the same document."""
    return transitivity.repeated_judgments(evidence.judgments)
