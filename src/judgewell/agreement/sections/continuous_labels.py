"""Do the documents' gains follow labels that have many values, and so no grades?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import label_sets
from judgewell.agreement.evidence import Evidence
from judgewell.agreement.section import OPEN, SCORED, Get, Need, Section
from judgewell.errors import DataError, note
from judgewell.text import counted, plain


def _finding(table: pl.DataFrame) -> list[str]:
    return [
        f"The gains rank documents as the label set {row['labels']} does at τ-b = {plain(row['tau_b'])} (mean over "
        f"{counted(row['topics'], 'topic')}, {counted(row['documents'], 'document')})."
        for row in table.iter_rows(named=True)
        if row["tau_b"] is not None
    ]


SECTION = Section(
    "continuous labels",
    "do documents' gains follow labels with many values",
    "agreement",
    order=35,
    needs=(SCORED, Need("labels with more than 20 values", lambda e: len(e.graded) < len(e.labels))),
)


@SECTION.table("Rank correlation with continuous labels", finding=_finding, shown=OPEN)
def label_correlation(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Kendall’s τ-b and Spearman’s ρ between gains and labels: means over topics."""
    gains, rows = evidence.document_gains(), []
    for name, labels in evidence.labels.items():
        if name in evidence.graded:
            continue
        try:
            rows.append(label_sets.correlation(gains, labels).select(pl.lit(name).alias("labels"), pl.all()))
        except DataError as reason:
            note(f"left out against {name}: {reason}")
    if not rows:
        raise DataError("no label set with many values shares two documents of a topic with the gains")
    return pl.concat(rows)
