"""Do assessors order the documents whose answer is known correctly?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import assessors
from judgewell.agreement.evidence import Evidence, has
from judgewell.agreement.section import FILE, KNOWN, NAMED, OPEN, Section, Table
from judgewell.text import counted, percent


def _accuracy(evidence: Evidence) -> pl.DataFrame:
    if has(evidence.pairs, "left_known"):
        return assessors.known_pair_accuracy(evidence.pairs)
    return assessors.known_accuracy(evidence.judgments)


def _finding(table: pl.DataFrame) -> str:
    checks = int(table["checks"].sum())
    right = float((table["pooled"] * table["checks"]).sum()) / checks
    return f"Assessors ordered the known documents correctly in {percent(right)} of {counted(checks, 'comparison')}."


SECTION = Section(
    name="known documents",
    about="accuracy on documents whose answer is known",
    part="quality",
    order=5,
    needs=(KNOWN, NAMED),
    tables=(
        Table(
            name="known_accuracy",
            title="Accuracy on known documents, by assessor",
            caption="How often each assessor gave the known relevant document the higher value.",
            compute=lambda e, get: _accuracy(e),
            shown=FILE,
        ),
        Table(
            name="known_accuracy_by_topic",
            title="Accuracy on known documents, by topic",
            caption="Comparisons in which the known relevant document got the higher value: mean and s.d. over "
            "assessors, and pooled over all comparisons.",
            compute=lambda e, get: assessors.accuracy_summary(get("known_accuracy")),
            finding=_finding,
            columns=("topic", "assessors", "checks", "mean", "sd", "pooled"),
            shown=OPEN,
        ),
    ),
)
