"""Values on the common footing of their kind, on which assessors are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from judgewell.agreement.common import DOCUMENT, UNIT, with_number
from judgewell.scales import kind_of


@dataclass(frozen=True)
class Footing:
    """The judgments with comparable values, what these are in words, and how many offsets were removed."""

    judgments: pl.DataFrame
    words: str
    removed: int = 0


def on_common_footing(judgments: pl.DataFrame) -> Footing:
    kind = kind_of(judgments)
    if not kind.in_logs:
        return Footing(judgments, kind.footing)
    frame = with_number(with_number(judgments, UNIT, "unit_number"), DOCUMENT, "document")
    u, d = frame["unit_number"].to_numpy(), frame["document"].to_numpy()
    y = np.log(frame["value"].to_numpy())
    a, b = np.zeros(u.max() + 1), np.zeros(d.max() + 1)
    for _ in range(200):
        a = np.bincount(u, y - b[d]) / np.bincount(u)
        b = np.bincount(d, y - a[u]) / np.bincount(d)
    value = y - a[u] + a.mean()
    return Footing(judgments.with_columns(value=pl.Series(value)), kind.footing, len(a))
