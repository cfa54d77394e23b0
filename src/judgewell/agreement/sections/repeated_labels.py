"""Does an assessor label a document the same when it is shown again?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import transitivity
from judgewell.agreement.evidence import Evidence
from judgewell.agreement.section import FILE, LABELLED_PAIRS, NAMED, Get, Section

SECTION = Section(
    "repeated labels",
    "is a document labelled the same when it is shown again",
    "agreement",
    order=55,
    needs=(LABELLED_PAIRS, NAMED),
)


@SECTION.table("Documents labelled again, by assessor", shown=FILE)
def repeated_labels(evidence: Evidence, get: Get) -> pl.DataFrame:
    """How often each assessor changed the label of a document that was shown again."""
    return transitivity.repeated_labels(evidence.pairs)


@SECTION.table("Documents labelled again")
def repeated_labels_by_topic(evidence: Evidence, get: Get) -> pl.DataFrame:
    """How often the label of a document changed when it was shown again."""
    return transitivity.repeated_labels(evidence.pairs, by=("topic",))


@SECTION.table("Amount of work and changed labels")
def label_volume_against_inconsistency(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Kendall’s τ between how much an assessor did and the share of labels changed."""
    return transitivity.volume_against_inconsistency(get("repeated_labels"), "changed_share")


@SECTION.table("Contradictions in preferences and in labels")
def preferences_against_labels(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Paired test of which kind of answer contradicts itself more, over assessors and topics."""
    labels = get("repeated_labels")
    groups = transitivity.transitivity(evidence.pairs, seed=evidence.seed, progress=evidence.progress)
    summary = transitivity.transitivity_summary(groups, by=("topic", "assessor"))
    return transitivity.preferences_against_labels(summary, labels)
