"""How hard are the topics for systems?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import likes
from judgewell.agreement.evidence import Evidence
from judgewell.agreement.section import Get, Need, Section

SECTION = Section(
    "difficulty",
    "how hard the topics are for systems",
    "use",
    order=85,
    needs=(Need("systems' scores", lambda e: e.scores is not None),),
)


@SECTION.table("Difficulty of topics", across_scales=True)
def topic_difficulty(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Each topic’s mean score over systems, hardest first."""
    return likes.topic_difficulty(evidence.scores)
