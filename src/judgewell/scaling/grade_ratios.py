"""Gains of expert grades from the magnitudes of labelled documents: the chain of median ratios of adjacent grades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.errors import DataError, note
from judgewell.scaling.inputs import GROUP, Repeated, extra_column, gains_frame, judgments_of, place
from judgewell.scaling.magnitude import SCHOLER, Scores, log_scores
from judgewell.scaling.uncertainty import Draws, with_interval
from judgewell.stats.resampling import check_level
from judgewell.tables import GAINS, check

Anchor = Literal["highest", "lowest"]


def grade_chain(
    judgments: Any,
    *,
    label: str = "label",
    anchor: Anchor = "highest",
    offset: float | None = None,
    bound: float | None = None,
    repeated: Repeated = "all",
) -> pl.DataFrame:
    """The gains of grades derived from magnitudes: the chain of median ratios of adjacent grades.

    For each unit and each pair of its documents on adjacent grades the ratio of the higher to the lower document's
    score; `ratio` is the median over all of them, and a grade's `gain` the product of the ratios from the anchor, whose
    gain is 1 (Maddalena et al. anchor H; the poster anchors N). The median of ratios is not the ratio of medians, and
    the chain not the direct median of H/N: this is the chain. Grades no unit connects to the anchor are missing.
    """
    frame = extra_column(judgments_of(judgments), label, "the document's grade, a number", "label")
    scores = log_scores(frame, offset=offset, bound=bound, repeated=repeated)
    scores = scores.with_columns(pl.col(label).cast(pl.Float64)).filter(pl.col(label).is_not_null())
    if scores.is_empty():
        raise DataError(f"no judged document has a grade in the column {label}; the chain needs labelled documents")
    grades = scores[label].unique().sort().to_list()
    side = scores.select(*GROUP, pl.col(label).alias("grade"), "log")
    above = side.join(side, on=list(GROUP), nulls_equal=True, suffix="_lower")
    steps = dict(zip(grades[1:], grades[:-1], strict=True))
    next_lower = pl.col("grade").replace_strict(steps, default=None, return_dtype=pl.Float64)
    adjacent = above.filter(pl.col("grade_lower") == next_lower)
    logs = adjacent.group_by("grade").agg(ratio=(pl.col("log") - pl.col("log_lower")).exp().median(), ratios=pl.len())
    table = pl.DataFrame({"grade": grades}).join(logs, on="grade", how="left", maintain_order="left")
    table = table.with_columns(pl.col("ratios").fill_null(0).cast(pl.Int64))
    return table.with_columns(gain=pl.Series(_chained(table["ratio"].to_list(), anchor))).select(
        "grade", "gain", "ratio", "ratios"
    )


def _chained(ratios: list[float | None], anchor: Anchor) -> list[float | None]:
    """Gains from the ratios to the next lower grade (the first has none), 1 at the anchor, None beyond a gap."""
    steps = np.array(ratios[1:], dtype=np.float64)  # a missing ratio is NaN
    up = anchor == "lowest"
    gains = np.cumprod([1.0, *steps]) if up else np.divide.accumulate([1.0, *steps[::-1]])[::-1]
    return [None if np.isnan(gain) else float(gain) for gain in gains]


def with_labels(judgments: Any, grades: Any) -> pl.DataFrame:
    """The judgments with each document's grade from a gains table of grades (qrels), missing where it has none."""
    known = check(grades, GAINS).select("topic", "doc", label="gain")
    frame = judgments_of(judgments).drop("label", strict=False)
    return frame.join(known, on=["topic", "doc"], how="left", maintain_order="left")


def labelled_gains(judgments: Any, chain: pl.DataFrame, label: str = "label") -> pl.DataFrame:
    """Each labelled document with the gain of its grade; unlabelled documents are excluded and counted."""
    frame = judgments_of(judgments).with_columns(pl.col(label).cast(pl.Float64))
    documents = frame.group_by("topic", "doc").agg(grade=pl.col(label).first(), judgments=pl.len())
    unlabelled = documents.filter(pl.col("grade").is_null()).sort("topic", "doc")
    if len(unlabelled):
        note(f"{len(unlabelled)} of {len(documents)} documents have no grade and get no gain ({place(unlabelled)})")
    gains = documents.filter(pl.col("grade").is_not_null()).join(chain.select("grade", "gain"), on="grade", how="left")
    lost = gains.filter(pl.col("gain").is_null()).sort("topic", "doc")
    if len(lost):
        raise DataError(
            f"the grade {lost['grade'][0]:g} has no gain: no unit holds it beside its neighbour grade "
            f"({place(lost)}); give the gains as a table (profile=…)"
        )
    return gains_frame(gains)


@dataclass(frozen=True, kw_only=True)
class GradeRatios(Scores):
    """The gain of each expert grade, from magnitudes of documents with that grade.

    Formula: gain of a grade = product, from the anchor, of the median ratio between documents of adjacent grades
    judged in one unit.
    Use: To give the grades of existing qrels gains that follow people's magnitudes.
    Traps: Documents of one grade have the same gain and interval. The interval is t times the spread of ln gain over
    resampled units, with as many degrees of freedom as units beyond each topic's first. The product of median ratios
    differs from the median ratio of the highest and the lowest grade. A grade that no unit connects to the anchor has
    no gain.
    """

    name = "grade-ratios"
    purpose = "the gain of each expert grade (column label) as the chain of median magnitude ratios of adjacent grades"
    source = SCHOLER
    label: str = "label"
    anchor: Anchor = "highest"

    def chain(self, table: Any) -> pl.DataFrame:
        return grade_chain(table, label=self.label, anchor=self.anchor, **self.scored)

    def gains(self, table: Any) -> pl.DataFrame:
        return labelled_gains(table, self.chain(table), self.label)

    def from_draws(self, table: Any, drawn: Draws, level: float) -> pl.DataFrame:
        """Quantiles of so few resampled units are too narrow: with 6 units they hold 88 % where this holds 95 %."""
        from scipy.special import stdtrit

        check_level(level)
        units = self.checked(table).select(GROUP).unique()
        freedom = units.height - units["topic"].n_unique()
        gains = self.gains(table)
        if freedom < 1:
            note("each topic has one unit, so grade-ratios has no interval; collect more units")
            return gains
        spread = drawn.documents.with_columns(sd=pl.Series(np.nanstd(np.log(drawn.array()), axis=0, ddof=1)))
        sd = gains.join(spread, on=["topic", "doc"], how="left", maintain_order="left")["sd"].to_numpy()
        centre, half = np.log(gains["gain"].to_numpy()), float(stdtrit(freedom, (1 + level) / 2)) * sd
        return with_interval(gains, np.exp(centre - half), np.exp(centre + half))

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        return {**super().tables(table), "grades": self.chain(table)}
