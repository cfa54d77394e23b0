"""Who judged how much?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import effort
from judgewell.agreement.evidence import Evidence, given
from judgewell.agreement.section import NAMED, WORK, Get, Section
from judgewell.errors import DataError


def _work(evidence: Evidence) -> pl.DataFrame:
    return given(evidence.judgments if evidence.judgments is not None else evidence.pairs, "judgments or pairs")


SECTION = Section("effort", "who judged how much", "quality", order=75, needs=(WORK, NAMED), other_names=("workers",))


@SECTION.table(
    "Assessors",
    columns="assessor judgments documents topics units median_seconds median distinct most_used most_used_share",
    across_scales=True,
)
def assessor_statistics(evidence: Evidence, get: Get) -> pl.DataFrame:
    """What each assessor did, most judgments first."""
    if evidence.judgments is None:
        raise DataError("assessor statistics need judgments; only pairs are given")
    return effort.assessor_statistics(evidence.judgments)


@SECTION.table("Assessors per document", across_scales=True)
def assessors_per_document(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Documents of each topic by the number of assessors who judged them."""
    return effort.assessors_per_document(_work(evidence))


@SECTION.table("Units per assessor", across_scales=True)
def units_per_assessor(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Assessors by the number of units they completed."""
    return effort.units_per_assessor(_work(evidence))
