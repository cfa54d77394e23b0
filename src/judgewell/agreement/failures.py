"""The failure list: documents whose score sits in another grade's territory, for a person to look at."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from judgewell.agreement.common import (
    DOCUMENT,
    each_group,
    gains_of,
    grade_values,
    judgments_of,
    with_grades,
)
from judgewell.errors import note
from judgewell.stats.arrays import Floats
from judgewell.text import counted

NORMAL_MAD = 1.4826  # turns a median distance into the standard deviation of a normal


def failures(gains: Any, grades: Any, *, most: int | None = None) -> pl.DataFrame:
    """Documents whose score sits in another grade's territory, worst first, for a person to look at.

    Within the topic, d_L is the distance of the score to the median of grade L (the document itself excluded from its
    own grade). A document is listed when another grade is nearer than its own; it is ranked by
    misfit = (d_own − d_nearest) / s, s being 1.4826 × the median distance of the topic's labelled documents to their
    own grade's median. The papers looked for such flips by eye (Turpin et al. 2015, §4.3).
    """
    frame = with_grades(gains_of(gains), grades).filter(pl.col("grade").is_not_null())
    grade_values(frame)
    parts = [_misfits(part) for _, part in each_group(frame, ["topic"])]
    alone = sum(part["own_median"].null_count() for part in parts)
    if alone:
        lonely = f"{counted(alone, 'document')} alone in their grade and topic"
        note(f"{lonely} cannot be placed and are not on the failure list")
    table = pl.concat(parts).filter(pl.col("misfit") > 0).sort("misfit", descending=True, maintain_order=True)
    return table if most is None else table.head(most)


def failure_judgments(failed: pl.DataFrame, judgments: Any) -> pl.DataFrame:
    """The judgments behind the documents of a failure list, with their comments, in the list's order."""
    frame = judgments_of(judgments)
    ranked = failed.with_row_index("rank", offset=1).select("rank", *DOCUMENT, "grade", "nearest", "gain", "misfit")
    return ranked.join(
        frame.select(*DOCUMENT, "assessor", "unit", "position", "value", "seconds", "comment"), on=DOCUMENT
    ).sort("rank", "value", maintain_order=True)


def _misfits(topic: pl.DataFrame) -> pl.DataFrame:
    """Each document of a topic with its distances to its own grade's median and to the nearest other grade's."""
    gain, grade = topic["gain"].to_numpy(), topic["grade"].to_numpy()
    present = np.unique(grade)
    own = np.array([_median_without(gain, grade, place) for place in range(len(gain))])
    to_own = np.abs(gain - own)
    medians = np.array([np.median(gain[grade == value]) for value in present])
    distance = np.where(present[None, :] == grade[:, None], np.inf, np.abs(gain[:, None] - medians[None, :]))
    nearest = distance.argmin(axis=1)
    placed = ~np.isnan(to_own) & np.isfinite(distance.min(axis=1))
    spread = NORMAL_MAD * np.median(to_own[placed]) if placed.any() else 0.0
    if spread == 0 and placed.any():  # most documents sit exactly on their median: take the mean distance
        spread = to_own[placed].mean()
    misfit = np.where(placed, (to_own - distance.min(axis=1)) / (spread or 1.0), np.nan)
    return topic.with_columns(
        pl.Series("own_median", own, nan_to_null=True),
        pl.Series("nearest", np.where(placed, present[nearest], np.nan), nan_to_null=True),
        pl.Series("nearest_median", np.where(placed, medians[nearest], np.nan), nan_to_null=True),
        pl.Series("misfit", misfit, nan_to_null=True),
    )


def _median_without(gain: Floats, grade: Floats, place: int) -> float:
    """The median of a document's grade without the document; NaN where it is alone."""
    others = grade == grade[place]
    others[place] = False
    return float(np.median(gain[others])) if others.any() else np.nan
