"""Grades and 0-100 judgments to gains: mean, median, majority, and Dawid and Skene's expected grade."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError, note
from judgewell.scales import kind_of
from judgewell.scaling.averaged_draws import Middle, averaged_draws
from judgewell.scaling.dawid_skene import Crowd, dawid_skene
from judgewell.scaling.inputs import (
    Repeated,
    gains_frame,
    judgments_of,
    listed,
    repeats,
    settle_repeats,
)
from judgewell.scaling.magnitude import averaged
from judgewell.scaling.mean_intervals import Ends, mean_interval
from judgewell.scaling.method import Method
from judgewell.scaling.uncertainty import Draws, median_interval, quietly

Tied = Literal["mean", "lowest", "highest", "error"]

PROFILES = ("linear", "exp2", "binary")


def profile_table(
    profile: str | Mapping[float, float], given: Any, *, threshold: float | None = None
) -> dict[float, float]:
    """The gain of each grade: `linear` (the grade), `exp2` (2^grade - 1), `binary` (1 from the threshold on), or a
    table: a mapping, or text like "0:0,1:0.3,2:1"."""
    grades = sorted({float(grade) for grade in given})
    if isinstance(profile, str) and profile not in PROFILES:
        profile = _read_table(profile)
    if isinstance(profile, Mapping):
        return _from_table(profile, grades)
    if (profile == "binary") != (threshold is not None):
        raise InputError(
            f"the profile {profile} goes {'only with' if profile == 'binary' else 'without'} a threshold",
            cure="write profile=binary with threshold=1 (or another grade), or leave both out",
        )
    if profile == "binary":
        return {grade: float(grade >= (threshold or 0.0)) for grade in grades}
    return {grade: grade if profile == "linear" else 2.0**grade - 1 for grade in grades}


def _read_table(text: str) -> dict[float, float]:
    try:
        entries = [entry.split(":") for entry in text.replace(";", ",").split(",") if entry.strip()]
        return {float(grade): float(gain) for grade, gain in entries}
    except ValueError as error:
        raise InputError(
            f"the profile {text!r} is neither one of {', '.join(PROFILES)} nor a table of grades",
            cure="write grade:gain pairs, like 0:0,1:0.3,2:1",
        ) from error


def _from_table(table: Mapping[float, float], grades: list[float]) -> dict[float, float]:
    given = {float(grade): float(gain) for grade, gain in table.items()}
    lost = [grade for grade in grades if grade not in given]
    if lost:
        raise InputError(
            f"the table gives no gain for the grade {lost[0]:g}; it has {', '.join(f'{grade:g}' for grade in given)}",
            cure=f"add {lost[0]:g}:… to it",
        )
    wrong = [grade for grade, gain in given.items() if not np.isfinite(gain)]
    if wrong:
        raise InputError(
            f"the gain of the grade {wrong[0]:g} is undefined", cure="give it a finite gain: nobody used that grade"
        )
    return {grade: given[grade] for grade in grades}


def graded(
    judgments: Any,
    profile: str | Mapping[float, float] = "linear",
    *,
    threshold: float | None = None,
    repeated: Repeated = "all",
) -> pl.DataFrame:
    """The judgments with their value turned into the gain of its grade."""
    frame = settle_repeats(judgments_of(judgments), repeated)
    if profile == "linear" and threshold is None:
        return frame
    table = profile_table(profile, frame["value"].unique(), threshold=threshold)
    return frame.with_columns(pl.col("value").replace_strict(table, return_dtype=pl.Float64))


def gain_ends(graded_judgments: pl.DataFrame, profile: str = "linear") -> Ends | None:
    """The ends between which gains lie: those of the scale, or the lowest and highest gain of the grades in use; None
    on a scale without ends."""
    kind, value = kind_of(graded_judgments), graded_judgments["value"]
    if profile == "linear" and kind.low is not None and kind.high is not None:
        return kind.low, kind.high
    if profile == "linear" and kind.name in ("ratio", "interval"):
        return None
    low, high = float(value.min()), float(value.max())  # type: ignore[arg-type]
    return (low, high) if low < high else None


def majority(graded_judgments: pl.DataFrame, ties: Tied = "mean") -> pl.DataFrame:
    """The value most of a document's judgments have; of tied values their mean, the lowest or the highest."""
    votes = graded_judgments.group_by("topic", "doc", "value").agg(votes=pl.len())
    top = votes.filter(pl.col("votes") == pl.col("votes").max().over("topic", "doc"))
    pick = {"lowest": pl.col("value").min(), "highest": pl.col("value").max()}.get(ties, pl.col("value").mean())
    chosen = (
        top.sort("topic", "doc", "value").group_by("topic", "doc", maintain_order=True).agg(gain=pick, tied=pl.len())
    )
    tied = chosen.filter(pl.col("tied") > 1).sort("topic", "doc")
    if len(tied) and ties == "error":
        raise DataError(f"{len(tied)} documents have no majority ({listed(tied)}); say ties=mean, lowest or highest")
    if len(tied):
        note(
            f"{len(tied)} of {len(chosen)} documents have no majority; they get the {ties} of their most frequent "
            f"values ({listed(tied)})"
        )
    counts = graded_judgments.group_by("topic", "doc").agg(judgments=pl.len())
    return gains_frame(chosen.join(counts, on=["topic", "doc"]))


@dataclass(frozen=True, kw_only=True)
class Graded(Method):
    """What the methods over grades share: `profile` turns each judgment's grade into its gain before anything else."""

    takes = "judgments"
    profile: str = "linear"
    threshold: float | None = None
    repeated: Repeated = "all"

    def graded(self, table: Any) -> pl.DataFrame:
        return graded(table, self.profile, threshold=self.threshold, repeated=self.repeated)

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        repeated = repeats(table)
        return {} if repeated.is_empty() else {"repeats": repeated}


@dataclass(frozen=True, kw_only=True)
class _GradedAverage(Graded):
    """What the mean and the median share."""

    own_spread = True
    source = "gain profiles as in Järvelin and Kekäläinen, TOIS 2002"
    middle: ClassVar[Middle]

    def ends(self, graded: pl.DataFrame, level: float) -> pl.DataFrame:
        """Per document the ends of its interval: topic, doc, low, high."""
        raise NotImplementedError

    def gains(self, table: Any) -> pl.DataFrame:
        return averaged(self.graded(table), self.middle, "value")

    def by_formula(self, table: Any, level: float) -> pl.DataFrame:
        graded = self.graded(table)
        gains = averaged(graded, self.middle, "value").drop("low", "high")
        return gains_frame(gains.join(self.ends(graded, level), on=["topic", "doc"], how="left"))

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        graded = quietly(self.graded, table)
        return averaged_draws(graded, graded["value"].to_numpy(), self.middle, size, seed)


@dataclass(frozen=True, kw_only=True)
class Mean(_GradedAverage):
    """The mean of a document's judgments.

    Formula: (1/n) Σ profile(value).
    Use: For grades and 0–100 judgments: of seven methods on trec8-s100 it finds NIST's relevant documents best (AUC
    .930).
    Traps: It treats the steps between grades as equal unless a profile says otherwise. One careless assessor moves it.
    The interval takes the spread of judgments from all documents together and lies within the scale. It needs at least
    five judgments beyond each document's first, over all documents, and some that differ.
    """

    name = "mean"
    purpose = "the mean of a document's judgments, each first turned into its grade's gain"
    evidence = (
        "0–100 judgments of trec8-s100 against NIST's labels: AUC (mean over topics) .930, the best of seven methods"
    )
    middle = "mean"

    def ends(self, graded: pl.DataFrame, level: float) -> pl.DataFrame:
        return mean_interval(graded, "value", level, gain_ends(graded, self.profile))


@dataclass(frozen=True, kw_only=True)
class Median(_GradedAverage):
    """The median of a document's judgments.

    Formula: the median of profile(value); of an even count the mean of the middle two.
    Use: For grades and 0–100 judgments with outliers.
    Traps: With few grades most documents tie, and ties hide differences between systems. A 95 % interval needs six
    judgments.
    """

    name = "median"
    purpose = "the median of a document's judgments, each first turned into its grade's gain"
    evidence = "trec8-s100 against NIST's labels: AUC (mean over topics) .923 (mean: .930)"
    middle = "median"

    def ends(self, graded: pl.DataFrame, level: float) -> pl.DataFrame:
        return median_interval(graded, "value", level)


@dataclass(frozen=True, kw_only=True)
class Majority(Graded):
    """The most frequent value of a document's judgments.

    Formula: argmax over v of the number of judgments with profile(value) = v; ties as the option says.
    Use: For tools that need one grade per document.
    Traps: It ignores how close the vote was: two of five votes can win. The interval, from resampled units, shows which
    other values might have won. If all judgments agree it has no width, and with few judgments it contains the choice
    of a large crowd less often than its level says.
    """

    name = "majority"
    purpose = "the gain most of a document's judgments agree on"
    evidence = "trec8-s100 against NIST's labels: AUC (mean over topics) .869 (mean: .930)"
    source = "majority vote; gain profiles as in Järvelin and Kekäläinen, TOIS 2002"
    own_spread = True
    ties: Tied = "mean"

    def gains(self, table: Any) -> pl.DataFrame:
        return majority(self.graded(table), self.ties)


@dataclass(frozen=True, kw_only=True)
class DawidSkene(Graded):
    """The expected gain over a document's probable grades; error rates and grades are learnt before the profile is
    applied.

    Formula: EM over P(grade) and P(answer | grade, assessor); gain = Σ P(grade | answers) · profile(grade).
    Use: For crowds of uneven quality, with several judgments per document and dozens per assessor.
    Traps: An assessor's error rates need dozens of judgments; with fewer they are mostly smoothing. If most answers are
    wrong, the method can swap the meanings of grades. Probabilities near 0 or 1 are often too certain, because they
    assume that the model is right.
    """

    name = "dawid-skene"
    purpose = "for noisy crowds: each assessor's error rates and each document's grade learnt together"
    source = "Dawid and Skene, Applied Statistics 1979"
    draws_over = "assessor"
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
        profile = profile_table(self.profile, crowd.grades, threshold=self.threshold)
        if self.gain == "expected":
            gain = crowd.expected(profile)
        else:
            by_grade = np.array([profile[grade] for grade in crowd.grades])
            gain = by_grade[crowd.probabilities.argmax(axis=1)]
        return gains_frame(crowd.documents.with_columns(gain=pl.Series(gain)))

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        return {**super().tables(table), "assessors": self.fit(table).quality}
