"""Do assessors order the documents whose answer is known correctly?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import assessors
from judgewell.agreement.evidence import Evidence, has
from judgewell.agreement.section import FILE, KNOWN, NAMED, OPEN, Get, Section
from judgewell.text import counted, percent


def _finding(table: pl.DataFrame) -> str:
    checks = int(table["checks"].sum())
    right = float((table["pooled"] * table["checks"]).sum()) / checks
    if right == 1:
        every = f"Every unit orders its known documents correctly ({counted(checks, 'comparison')})."
        return f"{every} This is no sign of care where units that fail this check are removed, as judgewell does."
    return f"Assessors ordered the known documents correctly in {percent(right)} of {counted(checks, 'comparison')}."


SECTION = Section(
    "known documents", "accuracy on documents whose answer is known", "quality", order=5, needs=(KNOWN, NAMED)
)


@SECTION.table("Accuracy on known documents, by assessor", shown=FILE)
def known_accuracy(evidence: Evidence, get: Get) -> pl.DataFrame:
    """How often each assessor gave the known relevant document the higher value."""
    if has(evidence.pairs, "left_known"):
        return assessors.known_pair_accuracy(evidence.pairs)
    return assessors.known_accuracy(evidence.judgments)


@SECTION.table(
    "Accuracy on known documents, by topic",
    finding=_finding,
    columns="topic assessors checks mean sd pooled",
    shown=OPEN,
)
def known_accuracy_by_topic(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Comparisons in which the known relevant document got the higher value: mean and s.d. over assessors, and pooled
    over all comparisons."""
    return assessors.accuracy_summary(get("known_accuracy"))
