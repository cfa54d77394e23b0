"""Values on the common footing of their kind, with what alpha must know about them."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from judgewell.scales import kind_of
from judgewell.stats.footing import OFFSETS, offset_of, on_common_footing


@dataclass(frozen=True)
class Footing:
    """The judgments with comparable values, what these are in words, and how many offsets were fitted and removed."""

    judgments: pl.DataFrame
    words: str
    removed: int = 0


def footing_of(judgments: pl.DataFrame) -> Footing:
    """Checked judgments of one scale on the footing of their kind."""
    kind = kind_of(judgments)
    if not kind.in_logs:
        return Footing(judgments, kind.footing)
    offset = offset_of(judgments)
    means = judgments["topic"].n_unique() if offset == "unit" else 1  # the mean of a topic, or of all, is no offset
    removed = judgments.select(OFFSETS[offset]).n_unique() - means
    return Footing(on_common_footing(judgments), kind.footing.replace("unit", offset), removed)
