"""The methods over grades and bounded scores: classes whose fields are their options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.scaling import grades
from judgewell.scaling.averaged_draws import averaged_draws
from judgewell.scaling.dawid_skene import Crowd, dawid_skene
from judgewell.scaling.inputs import Repeated, gains_frame, repeats
from judgewell.scaling.method import Method
from judgewell.scaling.uncertainty import Draws, mean_interval, median_interval, quietly


@dataclass(frozen=True, kw_only=True)
class _Graded(Method):
    """What the methods over levels share: `profile` turns each judgment's level into its gain before anything else."""

    takes = "judgments"
    profile: str = "linear"
    threshold: float | None = None
    repeated: Repeated = "all"

    def graded(self, table: Any) -> pl.DataFrame:
        return grades.graded(table, self.profile, threshold=self.threshold, repeated=self.repeated)

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        found = repeats(table)
        return {} if found.is_empty() else {"repeats": found}


@dataclass(frozen=True, kw_only=True)
class Mean(_Graded):
    """The mean of a document's judgments.

    Formula: (1/n) Σ profile(value).
    Use: Grades and 0–100 scores when every judgment should count; the smoothest gains from few judgments.
    Traps: It treats the steps between levels as equal unless a profile says otherwise. One careless assessor moves
    it. Student's interval may leave the scale with two or three judgments.
    """

    name = "mean"
    purpose = "the mean of a document's judgments, each first turned into its level's gain"
    source = "gain profiles as in Järvelin and Kekäläinen, TOIS 2002"
    own_spread = True

    def gains(self, table: Any) -> pl.DataFrame:
        return grades.mean(self.graded(table))

    def by_formula(self, table: Any, level: float) -> pl.DataFrame:
        graded = self.graded(table)
        ends = mean_interval(graded, "value", level)
        return gains_frame(grades.mean(graded).drop("low", "high").join(ends, on=["topic", "doc"], how="left"))

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        graded = quietly(self.graded, table)
        return averaged_draws(graded, graded["value"].to_numpy(), "mean", size, seed)


@dataclass(frozen=True, kw_only=True)
class Median(_Graded):
    """The median of a document's judgments.

    Formula: the median of profile(value); of an even count the mean of the middle two.
    Use: Grades and 0–100 scores with outliers.
    Traps: With few levels most documents tie, and ties cost measures their power. The interval needs six judgments
    for 95 %.
    """

    name = "median"
    purpose = "the median of a document's judgments, each first turned into its level's gain"
    source = "gain profiles as in Järvelin and Kekäläinen, TOIS 2002"
    own_spread = True

    def gains(self, table: Any) -> pl.DataFrame:
        return grades.median(self.graded(table))

    def by_formula(self, table: Any, level: float) -> pl.DataFrame:
        graded = self.graded(table)
        ends = median_interval(graded, "value", level)
        return gains_frame(grades.median(graded).drop("low", "high").join(ends, on=["topic", "doc"], how="left"))

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        graded = quietly(self.graded, table)
        return averaged_draws(graded, graded["value"].to_numpy(), "median", size, seed)


@dataclass(frozen=True, kw_only=True)
class Majority(_Graded):
    """The value most of a document's judgments have.

    Formula: argmax over v of the number of judgments with profile(value) = v; ties as the option says.
    Use: Labels for tools that want one grade per document.
    Traps: It throws away how close the vote was. Two of five votes are a majority of three ways. The interval, from
    resampled units, says which other values might have won: where all agree it has no width, and with few judgments it
    covers the value a large crowd would choose less often than its level says.
    """

    name = "majority"
    purpose = "the gain most of a document's judgments agree on"
    source = "majority vote; gain profiles as in Järvelin and Kekäläinen, TOIS 2002"
    own_spread = True
    ties: grades.Tied = "mean"

    def gains(self, table: Any) -> pl.DataFrame:
        return grades.majority(self.graded(table), self.ties)


@dataclass(frozen=True, kw_only=True)
class DawidSkene(_Graded):
    """The expected gain over a document's probable levels; levels are learnt before the profile is applied.

    Formula: EM over P(level) and P(answer | level, assessor); gain = Σ P(level | answers) · profile(level).
    Use: Crowds of uneven quality with several judgments per document and per assessor.
    Traps: An assessor's error rates need some dozens of judgments; with fewer they are mostly smoothing. It can
    settle on a swapped meaning of levels when most answers are wrong. Near-certain probabilities are the model's,
    not the world's.
    """

    name = "dawid-skene"
    purpose = "for noisy crowds: each assessor's error rates and each document's level learnt together"
    source = "Dawid and Skene, Applied Statistics 1979"
    resamples = "assessor"
    smoothing: float = 0.01
    gain: Literal["expected", "likeliest"] = "expected"
    tolerance: float = 1e-8
    steps: int = 10_000

    def fit(self, table: Any) -> Crowd:
        return dawid_skene(
            table, smoothing=self.smoothing, tolerance=self.tolerance, steps=self.steps, repeated=self.repeated
        )

    def gains(self, table: Any) -> pl.DataFrame:
        crowd = self.fit(table)
        profile = grades.profile_table(self.profile, crowd.levels, threshold=self.threshold)
        if self.gain == "expected":
            gain = crowd.expected(profile)
        else:
            by_level = np.array([profile[level] for level in crowd.levels])
            gain = by_level[crowd.probabilities.argmax(axis=1)]
        return gains_frame(crowd.documents.with_columns(gain=pl.Series(gain)))

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        return {**super().tables(table), "assessors": self.fit(table).quality}
