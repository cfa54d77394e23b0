"""How hard are the topics for systems?"""

from __future__ import annotations

from judgewell.agreement import likes
from judgewell.agreement.section import Need, Section, Table

SECTION = Section(
    name="difficulty",
    about="how hard the topics are for systems",
    part="use",
    order=85,
    needs=(Need("systems' scores", lambda e: e.scores is not None),),
    tables=(
        Table(
            name="topic_difficulty",
            title="Difficulty of topics",
            caption="Each topic’s mean score over systems, hardest first.",
            compute=lambda e, get: likes.topic_difficulty(e.scores),
            across_scales=True,
        ),
    ),
)
