"""Did the order of documents, or the time of judging, change the answers?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import order_effects
from judgewell.agreement.evidence import Evidence, given
from judgewell.agreement.section import JUDGED, POSITIONS, Section, Table
from judgewell.text import counted, p_said, plain

_COLUMNS = ("judgments", "slope", "z", "p", "chi2", "df", "p_any", "note")


def _ratios(evidence: Evidence) -> pl.DataFrame:
    offset = evidence.offset()
    return evidence.against_labels(
        lambda labels: order_effects.ratio_order_effects(evidence.judgments, labels, offset=offset)
    )


def _finding(table: pl.DataFrame) -> str | None:
    row = table.row(0, named=True)
    if row["p"] is None:
        return None
    rest = f"({p_said(row['p'])}, {counted(row['judgments'], 'judgment')})"
    if row["p"] >= 0.05:
        return f"No effect of position was found {rest}."
    moves = f"{plain(100 * row['slope'], 2)} percentage points of rank per position"
    return f"A document’s rank in its unit changes with its position: {moves} {rest}."


SECTION = Section(
    name="position",
    about="did the order of documents change the answers",
    part="use",
    order=65,
    needs=(JUDGED, POSITIONS),
    other_names=("order",),
    tables=(
        Table(
            name="score_by_position",
            title="Values by position in the unit",
            caption="Values given at each position.",
            compute=lambda e, get: order_effects.score_by_position(order_effects.moved_documents(given(e.judgments))),
            columns=("position", "judgments", "mean", "q1", "median", "q3"),
        ),
        Table(
            name="position_effect",
            title="Effect of the position in the unit",
            caption="The change of a document’s rank in its unit per position with its test, and a test of any "
            "difference between positions.",
            compute=lambda e, get: order_effects.position_effect(e.judgments),
            finding=_finding,
            columns=_COLUMNS,
        ),
        Table(
            name="position_effect_by_topic",
            title="Effect of the position in the unit, by topic",
            caption="The same within each topic.",
            compute=lambda e, get: order_effects.position_effect(e.judgments, by=["topic"]),
            columns=("topic", *_COLUMNS),
        ),
        Table(
            name="ratio_order_effects",
            title="Effect of the order of two documents on their ratio",
            caption="Ratios of two grades with the lower or the higher document first: Kolmogorov–Smirnov test.",
            compute=lambda e, get: _ratios(e),
            columns=("labels", "lower", "upper", "count", "other_count", "median", "other_median", "distance", "p"),
        ),
        Table(
            name="assessor_drift",
            title="Drift of assessors",
            caption="Whether an assessor’s values rise or fall within units; strongest first, p corrected by Holm.",
            compute=lambda e, get: order_effects.assessor_drift(e.judgments),
            columns=("assessor", "judgments", "slope", "z", "p", "p_holm"),
        ),
    ),
)
