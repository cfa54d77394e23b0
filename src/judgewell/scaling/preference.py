"""Pairs to gains by counting: how often a document was preferred, and how often it was called relevant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.errors import DataError, note
from judgewell.scaling.inputs import gains_frame, pairs_of, place
from judgewell.scaling.method import Method
from judgewell.scaling.uncertainty import wilson, with_interval

Ties = Literal["half", "skip", "error"]
Graded = Literal["once", "share"]

STRENGTH = "strength"  # the column of graded preferences
YANG = "Yang, Moffat and Turpin, ADCS 2018"


def compared(pairs: Any, ties: Ties = "half", graded: Graded = "once") -> pl.DataFrame:
    """The pairs with an answer to which is preferred, and `left_wins`: 1, 0, or a half for "same".

    With graded="share" the winner of a pair gets 1/2 + s/(2 S), s being the pair's strength and S the largest of all.
    """
    frame = pairs_of(pairs)
    unanswered = frame.filter(pl.col("preferred").is_null())
    if len(unanswered) == len(frame):
        raise DataError("no pair says which document is preferred; fill the column preferred (left, right or same)")
    if len(unanswered):
        note(f"{len(unanswered)} of {len(frame)} pairs have no answer and are excluded ({place(unanswered)})")
    frame = frame.filter(pl.col("preferred").is_not_null())
    tied = frame.filter(pl.col("preferred") == "same")
    if len(tied) and ties == "error":
        raise DataError(f"{len(tied)} pairs are tied ({place(tied)}); count them as half a win each (ties=half)")
    if len(tied) and ties == "skip":
        note(f"{len(tied)} of {len(frame)} pairs are tied and excluded")
        frame = frame.filter(pl.col("preferred") != "same")
    wins = pl.col("preferred").replace_strict({"left": 1.0, "same": 0.5, "right": 0.0}, return_dtype=pl.Float64)
    frame = frame.with_columns(left_wins=wins)
    return _shared(frame) if graded == "share" else frame


def _shared(frame: pl.DataFrame) -> pl.DataFrame:
    """Wins of graded preferences: all of the win at the largest strength, a half where there is none."""
    if STRENGTH not in frame.columns:
        raise DataError(
            f"graded=share needs the column {STRENGTH} (say --words 1=right:1,2=right:2), and there is none"
        )
    strength = pl.col(STRENGTH).cast(pl.Float64, strict=False)
    wrong = frame.filter((strength.is_null() | ~(strength >= 0)) & (pl.col("preferred") != "same"))
    if len(wrong):
        raise DataError(
            f"the strength {wrong[STRENGTH][0]} is not 0 or more ({place(wrong)}); correct it, or count every "
            "preference once (graded=once)"
        )
    largest = frame.select(pl.when(pl.col("preferred") != "same").then(strength).max()).item()
    share = strength / largest if largest else pl.lit(0.0)
    graded = 0.5 + (pl.col("left_wins") - 0.5) * share
    return frame.with_columns(left_wins=pl.when(pl.col("preferred") == "same").then(0.5).otherwise(graded))


def _sides(frame: pl.DataFrame, left: pl.Expr, right: pl.Expr) -> pl.DataFrame:
    """Both sides of every pair as one row per presented document."""
    shown = [frame.select("topic", doc="left", yes=left), frame.select("topic", doc="right", yes=right)]
    return pl.concat(shown)


def frequencies(sides: pl.DataFrame, presentations: float | None = None) -> pl.DataFrame:
    """Yes answers over presentations: the document's own number of them, or a constant (the paper's K*X*Y)."""
    counts = sides.group_by("topic", "doc").agg(yes=pl.col("yes").sum(), judgments=pl.len())
    divisor = pl.col("judgments") if presentations is None else pl.lit(float(presentations))
    over = counts.filter(pl.col("judgments") > (presentations or float("inf")))
    if len(over):
        note(
            f"{len(over)} documents were shown more often than {presentations:g} times, so a frequency may exceed 1 "
            f"({place(over.sort('topic', 'doc'))}); leave presentations out to divide by the actual number"
        )
    return gains_frame(counts.with_columns(gain=pl.col("yes") / divisor))


def preference_frequency(pairs: Any, *, ties: Ties = "half", presentations: float | None = None) -> pl.DataFrame:
    """Times preferred over times shown (Yang, Moffat and Turpin 2018, Q1)."""
    frame = compared(pairs, ties)
    wins = pl.col("left_wins")
    return frequencies(_sides(frame, wins, 1 - wins), presentations)


def relevance_frequency(pairs: Any, *, presentations: float | None = None) -> pl.DataFrame:
    """Times called relevant over times shown and answered (Yang, Moffat and Turpin 2018, Q2)."""
    frame = pairs_of(pairs)
    sides = _sides(frame, pl.col("left_relevant"), pl.col("right_relevant"))
    answered = sides.filter(pl.col("yes").is_not_null()).with_columns(pl.col("yes").cast(pl.Float64))
    if answered.is_empty():
        raise DataError("no pair says whether its documents are relevant; fill left_relevant and right_relevant")
    if len(answered) < len(sides):
        note(f"{len(sides) - len(answered)} of {len(sides)} presentations have no answer on relevance and are excluded")
    return frequencies(answered, presentations)


def _share_interval(gains: pl.DataFrame, level: float) -> pl.DataFrame:
    """A frequency with Wilson's interval; only where it is a share of the document's own presentations."""
    low, high = wilson(gains["gain"].to_numpy(), gains["judgments"].to_numpy().astype(np.float64), level)
    return with_interval(gains, low, high)


@dataclass(frozen=True, kw_only=True)
class Preference(Method):
    """The share of its comparisons that a document won.

    Formula: (wins + ties/2) / times shown.
    Use: If every document is compared with others of about the same strength. It is simple and always has a result.
    Traps: A document that was compared with weak ones looks strong. Documents shown rarely have wide intervals.
    """

    name = "preference"
    purpose = "how often a document was preferred, of the times it was shown"
    source = YANG
    takes = "pairs"
    ties: Ties = "half"
    presentations: float | None = None

    def gains(self, table: Any) -> pl.DataFrame:
        return preference_frequency(table, ties=self.ties, presentations=self.presentations)

    def by_formula(self, table: Any, level: float) -> pl.DataFrame | None:
        return _share_interval(self.gains(table), level) if self.presentations is None else None


@dataclass(frozen=True, kw_only=True)
class Relevance(Method):
    """The share of its comparisons in which a document was called relevant.

    Formula: times called relevant / times shown.
    Use: For pairs whose assessors also said which of the two are relevant. Preferences alone do not show whether any
    document is relevant.
    Traps: Most gains are near 0 or 1, so documents tie; combine it with preferences to order them.
    """

    name = "relevance"
    purpose = "how often a document was called relevant, of the times it was shown"
    source = YANG
    takes = "pairs"
    presentations: float | None = None

    def gains(self, table: Any) -> pl.DataFrame:
        return relevance_frequency(table, presentations=self.presentations)

    def by_formula(self, table: Any, level: float) -> pl.DataFrame | None:
        return _share_interval(self.gains(table), level) if self.presentations is None else None
