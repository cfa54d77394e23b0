"""Did the order of documents, or the time of judging, change the answers?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import order_effects
from judgewell.agreement.common import without_known
from judgewell.agreement.evidence import Evidence, given
from judgewell.agreement.section import JUDGED, POSITIONS, Get, Section
from judgewell.text import counted, p_said, plain

SMALL = 3.0  # percent of a unit's ranks between its first and its last place: no matter, however significant
_COLUMNS = "judgments slope z p chi2 df p_any note"


def _finding(table: pl.DataFrame) -> str | None:
    row = table.row(0, named=True)
    if row["p"] is None:
        return None
    rest = f"({p_said(row['p'])}, {counted(row['judgments'], 'judgment')})"
    if row["p"] >= 0.05:
        return f"No effect of position was found {rest}."
    whole = 100 * row["slope"] * row["df"]  # from the first position to the last
    if abs(whole) < SMALL:
        return (
            f"Position hardly matters: from the first to the last place in a unit, a document’s rank within it changes "
            f"by {plain(whole, 1)} % {rest}."
        )
    values, moves = ("higher", "rises") if row["slope"] > 0 else ("lower", "falls")
    points = f"{plain(abs(100 * row['slope']), 2)} percentage points"
    return (
        f"Documents shown later in a unit got {values} values: a document’s rank within the unit {moves} by {points} "
        f"for each position {rest}."
    )


SECTION = Section(
    "position",
    "did the order of documents change the answers",
    "use",
    order=65,
    needs=(JUDGED, POSITIONS),
    other_names=("order",),
)


@SECTION.table("Values by position in the unit", columns="position judgments mean q1 median q3")
def score_by_position(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Values given at each position, without known documents, which may have places of their own."""
    judged = without_known(given(evidence.judgments))
    return order_effects.score_by_position(order_effects.moved_documents(judged))


@SECTION.table("Effect of the position in the unit", finding=_finding, columns=_COLUMNS)
def position_effect(evidence: Evidence, get: Get) -> pl.DataFrame:
    """The change of a document’s rank in its unit per position with its test, and a test of any difference between
    positions."""
    return order_effects.position_effect(evidence.judgments)


@SECTION.table("Effect of the position in the unit, by topic", columns=f"topic {_COLUMNS}")
def position_effect_by_topic(evidence: Evidence, get: Get) -> pl.DataFrame:
    """The same within each topic."""
    return order_effects.position_effect(evidence.judgments, by=["topic"])


@SECTION.table(
    "Effect of the order of two documents on their ratio",
    columns="labels lower upper count other_count median other_median distance p",
)
def ratio_order_effects(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Ratios of two grades with the lower or the higher document first: Kolmogorov–Smirnov test."""
    offset = evidence.offset()
    return evidence.against_labels(
        lambda labels: order_effects.ratio_order_effects(evidence.judgments, labels, offset=offset)
    )


@SECTION.table("Drift of assessors", columns="assessor judgments slope z p p_holm")
def assessor_drift(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Whether an assessor’s values rise or fall within units; strongest first, p corrected by Holm."""
    return order_effects.assessor_drift(evidence.judgments)
