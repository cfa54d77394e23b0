"""Do single judgments follow the grades of a label set?"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from judgewell.agreement import power, unit_grades
from judgewell.agreement.evidence import Evidence, has
from judgewell.agreement.section import FILE, JUDGED, LABELS, Get, Section


def _against(evidence: Evidence, analysis: Callable[..., pl.DataFrame], **options: object) -> pl.DataFrame:
    frame = evidence.footed
    by = ["template"] if has(frame, "template") else []
    return evidence.against_labels(lambda labels: analysis(frame, labels, by=by, **options))


_TESTS = "labels template lower upper lower_count upper_count lower_median upper_median"

SECTION = Section(
    "judgments against grades",
    "do single judgments follow the grades of label sets",
    "relevance",
    order=40,
    needs=(JUDGED, LABELS),
    other_names=("judgments against levels",),
)


@SECTION.table(
    "Agreement on the order within units", columns="labels template lower upper pairs units strict half lenient"
)
def unit_order_agreement(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Pairs of judgments in one unit, of documents with different grades, in the grades’ order."""
    return _against(evidence, unit_grades.unit_order_agreement)


@SECTION.table("Single judgments of neighbouring grades, pooled", columns=f"{_TESTS} p_rank_sum p_signed_rank")
def grade_value_tests(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Tests on pooled judgments, as in the papers: descriptive, because judgments of one document or one assessor are
    alike and such tests reject too often."""
    return _against(evidence, unit_grades.grade_value_tests)


@SECTION.table("Ranks within units", shown=FILE)
def inferred_ranks(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Each judgment’s rank within its unit beside the rank that its grade implies."""
    return _against(evidence, unit_grades.inferred_ranks)


@SECTION.table("Power to find a difference between grades", columns="labels template lower upper size power low high")
def grade_power(evidence: Evidence, get: Get) -> pl.DataFrame:
    """The probability that a rank-sum test finds the difference between two grades with so many judgments of each (500
    simulations)."""
    return _against(evidence, power.grade_power, sizes=(10, 20, 50, 100), replicates=500, observed=False)
