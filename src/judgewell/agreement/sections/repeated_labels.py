"""Does an assessor label a document the same when it is shown again?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import transitivity
from judgewell.agreement.evidence import Evidence
from judgewell.agreement.section import FILE, LABELLED_PAIRS, NAMED, Section, Table


def _against_preferences(evidence: Evidence, labels: pl.DataFrame) -> pl.DataFrame:
    groups = transitivity.transitivity(evidence.pairs, seed=evidence.seed, progress=evidence.progress)
    summary = transitivity.transitivity_summary(groups, by=("topic", "assessor"))
    return transitivity.preferences_against_labels(summary, labels)


SECTION = Section(
    name="repeated labels",
    about="is a document labelled the same when it is shown again",
    part="agreement",
    order=55,
    needs=(LABELLED_PAIRS, NAMED),
    tables=(
        Table(
            name="repeated_labels",
            title="Documents labelled again, by assessor",
            caption="How often each assessor changed the label of a document that was shown again.",
            compute=lambda e, get: transitivity.repeated_labels(e.pairs),
            shown=FILE,
        ),
        Table(
            name="repeated_labels_by_topic",
            title="Documents labelled again",
            caption="How often the label of a document changed when it was shown again.",
            compute=lambda e, get: transitivity.repeated_labels(e.pairs, by=("topic",)),
        ),
        Table(
            name="label_volume_against_inconsistency",
            title="Amount of work and changed labels",
            caption="Kendall’s τ between how much an assessor did and the share of labels changed.",
            compute=lambda e, get: transitivity.volume_against_inconsistency(get("repeated_labels"), "changed_share"),
        ),
        Table(
            name="preferences_against_labels",
            title="Contradictions in preferences and in labels",
            caption="Paired test of which kind of answer contradicts itself more, over assessors and topics.",
            compute=lambda e, get: _against_preferences(e, get("repeated_labels")),
        ),
    ),
)
