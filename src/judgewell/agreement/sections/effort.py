"""Who judged how much?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import effort
from judgewell.agreement.evidence import Evidence, given
from judgewell.agreement.section import NAMED, WORK, Section, Table
from judgewell.errors import DataError


def _statistics(evidence: Evidence) -> pl.DataFrame:
    if evidence.judgments is None:
        raise DataError("assessor statistics need judgments; only pairs are given")
    return effort.assessor_statistics(evidence.judgments)


def _per_document(evidence: Evidence) -> pl.DataFrame:
    if evidence.judgments is not None:
        return effort.assessors_per_document(evidence.judgments)
    return effort.assessors_per_document_of_pairs(evidence.pairs)


def _units(evidence: Evidence) -> pl.DataFrame:
    work = evidence.judgments if evidence.judgments is not None else evidence.pairs
    return effort.units_per_assessor(given(work, "judgments or pairs"))


SECTION = Section(
    name="effort",
    about="who judged how much",
    part="quality",
    order=75,
    needs=(WORK, NAMED),
    other_names=("workers",),
    tables=(
        Table(
            name="assessor_statistics",
            title="Assessors",
            caption="What each assessor did, most judgments first.",
            compute=lambda e, get: _statistics(e),
            columns=("assessor", "judgments", "documents", "topics", "units", "median_seconds", "median", "distinct",
                     "most_used", "most_used_share"),
            across_scales=True,
        ),
        Table(
            name="assessors_per_document",
            title="Assessors per document",
            caption="Documents of each topic by the number of assessors who judged them.",
            compute=lambda e, get: _per_document(e),
            across_scales=True,
        ),
        Table(
            name="units_per_assessor",
            title="Units per assessor",
            caption="Assessors by the number of units they completed.",
            compute=lambda e, get: _units(e),
            across_scales=True,
        ),
    ),
)  # fmt: skip
