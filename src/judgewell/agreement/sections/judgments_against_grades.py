"""Do single judgments follow the grades of a label set?"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from judgewell.agreement import power, unit_grades
from judgewell.agreement.evidence import Evidence, has
from judgewell.agreement.section import FILE, JUDGED, LABELS, Compute, Section, Table


def _against(analysis: Callable[..., pl.DataFrame], **options: object) -> Compute:
    def compute(evidence: Evidence, _: object) -> pl.DataFrame:
        frame = evidence.footed
        by = ["template"] if has(frame, "template") else []
        return evidence.against_labels(lambda labels: analysis(frame, labels, by=by, **options))

    return compute


_TESTS = ("labels", "template", "lower", "upper", "lower_count", "upper_count", "lower_median", "upper_median")

SECTION = Section(
    name="judgments against grades",
    about="do single judgments follow the grades of label sets",
    part="relevance",
    order=40,
    needs=(JUDGED, LABELS),
    other_names=("judgments against levels",),
    tables=(
        Table(
            name="unit_order_agreement",
            title="Agreement on the order within units",
            caption="Pairs of judgments in one unit, of documents with different grades, in the grades’ order.",
            compute=_against(unit_grades.unit_order_agreement),
            columns=("labels", "template", "lower", "upper", "pairs", "units", "strict", "half", "lenient"),
        ),
        Table(
            name="grade_value_tests",
            title="Single judgments of neighbouring grades, pooled",
            caption="Tests on pooled judgments, as in the papers: descriptive, because judgments of one document or "
            "one assessor are alike and such tests reject too often.",
            compute=_against(unit_grades.grade_value_tests),
            columns=(*_TESTS, "p_rank_sum", "p_signed_rank"),
        ),
        Table(
            name="inferred_ranks",
            title="Ranks within units",
            caption="Each judgment’s rank within its unit beside the rank that its grade implies.",
            compute=_against(unit_grades.inferred_ranks),
            shown=FILE,
        ),
        Table(
            name="grade_power",
            title="Power to find a difference between grades",
            caption="The probability that a rank-sum test finds the difference between two grades with so many "
            "judgments of each (500 simulations).",
            compute=_against(power.grade_power, sizes=(10, 20, 50, 100), replicates=500, observed=False),
            columns=("labels", "template", "lower", "upper", "size", "power", "low", "high"),
        ),
    ),
)
