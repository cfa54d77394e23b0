"""Magnitudes to gains: each unit moved to its topic's geometric mean, then an average for each document.

A magnitude is a number above 0 whose ratios mean something. Each assessor chooses a unit of measure of their own, so
an assessor's numbers say their ratios within one unit (Turpin et al. 2015).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl

from judgewell.errors import InputError, note
from judgewell.scales import kind_of
from judgewell.scaling.averaged_draws import Middle, Shift, averaged_draws, topic_shift
from judgewell.scaling.inputs import (
    GROUP,
    Repeated,
    check_range,
    gains_frame,
    judgments_of,
    place,
    repeats,
    settle_repeats,
    with_groups,
)
from judgewell.scaling.mean_intervals import mean_interval
from judgewell.scaling.method import Method
from judgewell.scaling.numbers import documents_of, groups_of, numbered
from judgewell.scaling.uncertainty import Draws, bootstrap, median_interval, quietly
from judgewell.stats.arrays import Floats, Ints
from judgewell.text import agrees, counted

Average = Literal["median", "log-median", "mean", "log-mean"]

TopicMean = Literal["judgments", "units"]

Group = Literal["unit", "assessor"]

HUGE = 700.0  # logarithms beyond this are no longer numbers

TURPIN = "Turpin, Scholer, Mizzaro and Maddalena, SIGIR 2015"

SCHOLER = "Scholer, Maddalena, Mizzaro and Turpin, EVIA 2014"


def log_scores(
    judgments: Any, *, offset: float | None = None, bound: float | None = None, repeated: Repeated = "all"
) -> pl.DataFrame:
    """The judgments with the columns `magnitude`, value + offset, and `log`, its natural logarithm.

    Without an offset given, the kind of the values decides: a scale that holds 0 gets 1 (a third of 0-100 judgments are
    0), magnitudes get none. A value that is not above 0 then is an error. `bound` is the excluded upper end of a
    bounded magnitude scale.
    """
    frame = with_groups(settle_repeats(judgments_of(judgments), repeated))
    if bound is not None:
        check_range(frame, bound)
    added = kind_of(frame).offset if offset is None else offset
    shifted = frame.with_columns(magnitude=pl.col("value") + added)
    bad = shifted.filter(pl.col("magnitude") <= 0)
    if len(bad):
        others = len(bad) - 1
        nor = f", nor {agrees(others, 'is', 'are')} {counted(others, 'other')}" if others else ""
        raise InputError(
            f"the magnitude {bad['value'][0]:g} is not above 0 ({place(bad)}){nor}",
            cure=f"a magnitude has a ratio only above 0: {_cure_of_no_ratio(bad['value'], added)}",
        )
    return shifted.with_columns(log=pl.col("magnitude").log())


def _cure_of_no_ratio(values: pl.Series, added: float) -> str:
    """What to do with values that have no logarithm: an offset helps a 0, and nothing below it."""
    negative = values.filter(values < 0)
    if len(negative):
        return f"leave them out, or say that the answer is none (--words {negative[0]:g}=)"
    return f"drop these judgments, or add an offset (--offset {1 if added <= 0 else added + 1:g})"


def normalised(
    judgments: Any,
    *,
    offset: float | None = None,
    bound: float | None = None,
    topic_mean: TopicMean = "judgments",
    group: Group = "unit",
    repeated: Repeated = "all",
) -> pl.DataFrame:
    """Geometric averaging: every unit's geometric mean is moved to the topic's, its ratios kept.

    s* = exp(l - mean of l in the unit + mean of l in the topic), l = log score (Turpin et al. 2015).
    Adds the columns `log` (l), `log_normalised` (log s*) and `normalised` (s*). `topic_mean="units"` takes the
    mean of the unit means; `group="assessor"` removes each assessor's mean over all topics and adds the mean of all.
    """
    frame = log_scores(judgments, offset=offset, bound=bound, repeated=repeated)
    if group == "assessor":
        _need_assessors(frame)
    units, unit = groups_of(frame, GROUP if group == "unit" else ["assessor"])
    outer = numbered(units["topic"])[1] if group == "unit" else np.zeros(len(units), dtype=np.int64)
    log = frame["log"].to_numpy()
    totals, sizes = np.bincount(unit, log), np.bincount(unit)
    means = totals / sizes
    _tell_alone(int((sizes == 1).sum()), len(sizes), group)
    if topic_mean == "units":
        centre = np.bincount(outer, means) / np.bincount(outer)
    else:
        centre = np.bincount(outer, totals) / np.bincount(outer, sizes)
    moved = log + (centre[outer] - means)[unit]
    _refuse_huge(frame, moved)
    return frame.with_columns(log_normalised=pl.Series(moved), normalised=pl.Series(np.exp(moved)))


def _tell_alone(alone: int, groups: int, group: Group) -> None:
    """A single number has no ratio to others: normalised, it becomes the mean, whatever it was."""
    if not alone:
        return
    by_assessor = "normalise by assessor (--method 'magnitude(group=assessor)')"
    cure = f"{by_assessor}, or average the numbers as they are (--method median)"
    note(
        f"{alone} of {groups} {group}s hold one judgment, which counts as the mean whatever it says; {cure}"
        if group == "unit"
        else f"{alone} of {groups} assessors gave one judgment, which counts as the mean whatever it says"
    )


def _refuse_huge(frame: pl.DataFrame, log: Floats) -> None:
    """A score so far from the rest of its unit that its gain is no number."""
    if max(log.max(), -log.min()) > HUGE:
        at = np.flatnonzero(np.abs(log) > HUGE)
        raise InputError(
            f"the score {frame['value'][int(at[0])]:g} is too far from the others of its unit for a gain "
            f"({place(frame, int(at[0]))})",
            cure="correct or drop it",
        )


def _need_assessors(frame: pl.DataFrame) -> None:
    nameless = frame.filter(pl.col("assessor").is_null())
    if len(nameless):
        raise InputError(
            f"{len(nameless)} judgments name no assessor ({place(nameless)})",
            cure="fill the column assessor, or normalise by unit (group=unit)",
        )


def averaged(frame: pl.DataFrame, average: Average = "median", column: str = "normalised") -> pl.DataFrame:
    """One gain per document from its scores: `median` (the arithmetic middle of an even count), `log-median` (the
    geometric middle), `mean` or `log-mean` (the geometric mean)."""
    documents, values = documents_of(frame), frame[column].to_numpy()
    values = np.log(values) if average.startswith("log-") else values
    gain = documents.medians(values) if average.endswith("median") else documents.means(values)
    gain = np.exp(gain) if average.startswith("log-") else gain
    return gains_frame(documents.table.with_columns(gain=pl.Series(gain)), ordered=True)


def sampled(scores: pl.DataFrame, generator: np.random.Generator, size: int = 1) -> Floats:
    """One randomly chosen score per document, `size` times: an array size x documents in topic and document order
    (Turpin et al. 2015, Fig. 6)."""
    ordered = scores.select("topic", "doc", "normalised").sort("topic", "doc", maintain_order=True)
    counts = ordered.group_by("topic", "doc", maintain_order=True).len()["len"].to_numpy().astype(np.int64)
    starts = np.cumsum(counts) - counts
    picks = starts + (generator.random((size, len(counts))) * counts).astype(np.int64)
    return np.asarray(ordered["normalised"].to_numpy()[picks])


def _exp(logs: pl.Series) -> pl.Series:
    """By numpy, as gains are: polars may round otherwise and put a gain outside its interval."""
    return pl.Series(np.exp(logs.fill_null(np.nan).to_numpy()), nan_to_null=True)


@dataclass(frozen=True, kw_only=True)
class Scores(Method):
    """What the methods over magnitude scores share."""

    takes = "judgments"
    offset: float | None = None
    bound: float | None = None
    repeated: Repeated = "all"

    @property
    def scored(self) -> dict[str, Any]:
        return {"offset": self.offset, "bound": self.bound, "repeated": self.repeated}

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        repeated = repeats(table)
        return {} if repeated.is_empty() else {"repeats": repeated}


def averaged_interval(
    gains: pl.DataFrame, scores: pl.DataFrame, average: str, level: float, in_logs: bool
) -> pl.DataFrame:
    """The gains with the interval of the median, or of the mean of scores or logs."""
    if average.endswith("median"):
        ends = median_interval(scores, "normalised", level, "logs" if in_logs else "ratios")
    elif average == "mean":
        ends = mean_interval(scores, "normalised", level)
    else:
        logs = scores.with_columns(normalised=pl.Series(np.log(scores["normalised"].to_numpy())))
        ends = mean_interval(logs, "normalised", level).with_columns(pl.col("low", "high").map_batches(_exp))
    return gains.drop("low", "high").join(ends, on=["topic", "doc"], how="left").pipe(gains_frame)


@dataclass(frozen=True, kw_only=True)
class Averaged(Scores):
    """What the methods share that average each document's normalised scores."""

    own_spread = True
    in_logs: ClassVar[bool] = False  # whether the scores to average are logarithms
    average: Average = "median"

    def scores(self, table: Any) -> pl.DataFrame:
        """The judgments with the score to average in the column `normalised`."""
        raise NotImplementedError

    def gains(self, table: Any) -> pl.DataFrame:
        return averaged(self.scores(table), self.average)

    def by_formula(self, table: Any, level: float) -> pl.DataFrame:
        scores = self.scores(table)
        return averaged_interval(averaged(scores, self.average), scores, self.average, level, self.in_logs)

    def shift(self, scores: pl.DataFrame) -> Shift:
        """How far drawing other units moves the logarithms of each document's scores: not at all."""
        return lambda weights: np.zeros(1)

    def moved(self, gains: Floats, shift: Floats) -> Floats:
        return gains * np.exp(shift)

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        scores = quietly(self.scores, table)
        shift, logs = self.shift(scores), self.average.startswith("log-")
        values = scores["normalised"].to_numpy()

        def finish(averages: Floats, weights: Ints) -> Floats:
            return self.moved(np.exp(averages) if logs else averages, shift(weights))

        middle: Middle = "median" if self.average.endswith("median") else "mean"
        return averaged_draws(scores, np.log(values) if logs else values, middle, size, seed, finish)


@dataclass(frozen=True, kw_only=True)
class _Normalised(Averaged):
    """What the methods share that move each unit's (or assessor's) mean to the topic's."""

    topic_mean: TopicMean = "judgments"
    group: Group = "unit"

    def scores(self, table: Any) -> pl.DataFrame:
        return normalised(table, topic_mean=self.topic_mean, group=self.group, **self.scored)

    def shift(self, scores: pl.DataFrame) -> Shift:
        return topic_shift(scores, self.topic_mean)

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        """An assessor's mean changes with the units drawn of them, so such tables are made one by one."""
        if self.group == "assessor":
            return bootstrap(self.gains, self.checked(table), size, seed, self.draws_over)
        return super().draws(table, size, seed=seed)


@dataclass(frozen=True, kw_only=True)
class Magnitude(_Normalised):
    """Magnitudes without the assessors' own moduli: each unit is moved to the topic's geometric mean, then the median
    is taken. The interval treats this normalisation as exact.

    Formula: s* = exp(l − mean of l in the unit + mean of l in the topic), l = ln(value + offset); a document's gain
    is the median of its s*.
    Use: For magnitudes if every unit holds documents of the whole range, from poor to good. For 0–100 judgments use
    mean: it finds NIST's relevant documents better (AUC .930 against .913 on trec8-s100).
    Traps: The size of gains differs between topics, so rescale them for measures that are not scale invariant. A unit
    that holds only poor documents is raised to the topic's mean; use two-way for such designs. With fewer than six
    judgments the median's interval uses the spread of all documents. A 0 has no logarithm: 0–100 judgments get an
    offset of 1 automatically, and magnitudes of 0 are refused.
    """

    name = "magnitude"
    purpose = "each unit's magnitudes moved to the topic's geometric mean, then the median per document"
    source = TURPIN
    evidence = "trec8-s100 against NIST's labels: AUC (mean over topics) .913, with average=log-mean .923 (mean: .930)"


@dataclass(frozen=True, kw_only=True)
class LogMagnitude(_Normalised):
    """The gains of magnitude as natural logarithms, which may be below 0.

    Formula: ln s*, s* as in magnitude; a document's gain is the median (or mean) of its ln s*.
    Use: To analyse grades or effects of order: logarithms of magnitudes are nearly normal, magnitudes are not.
    Traps: Gains may be below 0, which most measures refuse or count as a loss. Do not use it for nDCG.
    """

    in_logs = True
    name = "log-magnitude"
    purpose = "the median normalised natural logarithm of the magnitudes; may be below 0, for analyses of grades"
    source = SCHOLER
    average: Literal["median", "mean"] = "median"

    def scores(self, table: Any) -> pl.DataFrame:
        return super().scores(table).with_columns(normalised=pl.col("log_normalised"))

    def moved(self, gains: Floats, shift: Floats) -> Floats:
        return gains + shift


@dataclass(frozen=True, kw_only=True)
class Sampled(Scores):
    """One normalised magnitude per document, chosen at random; each draw is such a table.

    Formula: one of the document's s* (see magnitude), chosen at random with the seed.
    Use: To see how different a study with one assessor per document would have been; each draw is such a study.
    Traps: The gains of one draw are noisy on purpose. The interval shows the spread of single judgments, not of a mean.
    """

    name = "sampled"
    purpose = "one normalised magnitude per document, chosen at random: what a single assessor would have given"
    source = TURPIN
    seed: int = 0

    def gains(self, table: Any) -> pl.DataFrame:
        scores = normalised(table, **self.scored)
        gains = averaged(scores).select("topic", "doc", "judgments")
        picks = sampled(scores, np.random.default_rng(self.seed))[0]
        return gains_frame(gains.with_columns(gain=pl.Series(picks)))

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        scores = normalised(table, **self.scored)
        documents = scores.select("topic", "doc").unique().sort("topic", "doc")
        return Draws(documents, size, seed, partial(sampled, scores))
