"""How many judgments, judges and partitions are enough?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import stability
from judgewell.agreement.evidence import Evidence, given, has
from judgewell.agreement.section import FILE, WORK, Get, Section
from judgewell.errors import DataError
from judgewell.text import count, plain


def _fewer(table: pl.DataFrame) -> str | None:
    rows = table.filter(pl.col("tau_median").is_not_null() & (pl.col("judgments") < pl.col("typical")))
    if rows.is_empty():
        return None
    one, most = rows.row(0, named=True), rows.row(-1, named=True)
    text = (
        "With one judgment per document, the ranking of documents agrees with the full one at τ-b = "
        f"{plain(one['tau_median'])}"
    )
    if most["judgments"] > 1:
        text += f"; with {most['judgments']} of the typical {most['typical']}, at {plain(most['tau_median'])}"
    return f"{text}."


def _split_values(evidence: Evidence) -> pl.DataFrame:
    """The values that can be split into parts, without known documents. Where a unit's offset takes most of what its
    values say, no part is independent of the rest, and parts agree although assessors do not."""
    footing = evidence.footing
    if 2 * footing.removed > footing.judgments.height:
        raise DataError(
            f"{footing.judgments.height} judgments less the offsets of {footing.removed} units leave too little to "
            "compare parts of them; it needs units with more documents"
        )
    return evidence.without_known_documents()


def _halves(table: pl.DataFrame) -> str | None:
    row = table.row(0, named=True)
    if row["correlation"] is None:
        return None
    if row["reliability"] is None:
        halves = f"Random halves of the judgments do not agree (r = {plain(row['correlation'])})"
        return f"{halves}: these judgments do not show which documents of a topic are more relevant."
    needed = "" if row["for_90"] is None else f"; 0.9 takes about {count(row['for_90'])} per document"
    return (
        f"The mean of {plain(row['judgments'])} judgments per document has a reliability of "
        f"{plain(row['reliability'])} (split halves, Spearman–Brown; 1 is perfect){needed}."
    )


SECTION = Section("stability", "how many judgments, judges and partitions are enough", "use", order=58, needs=(WORK,))


@SECTION.table(
    "Split-half reliability",
    finding=_halves,
    columns="documents judgments correlation reliability one for_90 note",
    heads={
        "judgments": "judgments per document (median)",
        "correlation": "correlation of the halves",
        "reliability": "reliability of all judgments",
        "one": "reliability of one judgment",
        "for_90": "judgments for a reliability of 0.9",
    },
)
def split_halves(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Correlation within topics between documents’ means from two random halves of their judgments (mean over 50
    splits), and what it implies for more judgments (Spearman–Brown)."""
    return stability.split_halves(_split_values(evidence), seed=evidence.seed)


@SECTION.table("How many judgments are enough", finding=_fewer, columns="judgments tau_q1 tau_median tau_q3 orders")
def document_stability(evidence: Evidence, get: Get) -> pl.DataFrame:
    """τ-b between averages of some random judgments of each document and averages of all (quartiles over 20 random
    orders). The average is that of the gains: the median of magnitudes, the mean of other values, unless the method is
    another. Part and whole share judgments, so read it with the split halves."""
    return stability.document_stability(_split_values(evidence), average=evidence.average, seed=evidence.seed)


@SECTION.table("How many judges are enough to place the grades", shown=FILE)
def judge_stability(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Grades’ relevance inferred from some judges against that from all."""
    frame, offset = given(evidence.judgments), evidence.offset()
    return evidence.against_labels(
        lambda labels: stability.judge_stability(frame, labels, offset=offset, orders=200, seed=evidence.seed)
    )


@SECTION.table("How many partitions are enough")
def partition_stability(evidence: Evidence, get: Get) -> pl.DataFrame:
    """τ-b between gains from some partitions and from all."""
    if not has(evidence.pairs, "partition"):
        raise DataError("stability over partitions needs pairs with a column 'partition'")
    score = evidence.score or stability.share_preferred
    return stability.partition_stability(evidence.compared_pairs(), score, seed=evidence.seed)
