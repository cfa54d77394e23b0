"""The methods over magnitudes: classes whose fields are their options."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.scaling import grades, magnitude
from judgewell.scaling.averaged_draws import Middle, Shift, averaged_draws, topic_shift
from judgewell.scaling.graph import Components
from judgewell.scaling.inputs import Repeated, gains_frame, repeats
from judgewell.scaling.laplacian import Array, Index
from judgewell.scaling.method import Kind, Method
from judgewell.scaling.two_way import TwoWay, two_way
from judgewell.scaling.uncertainty import Draws, bootstrap, mean_interval, median_interval, quietly, with_log_interval

TURPIN = "Turpin, Scholer, Mizzaro and Maddalena, SIGIR 2015"
SCHOLER = "Scholer, Maddalena, Mizzaro and Turpin, EVIA 2014"


@dataclass(frozen=True, kw_only=True)
class _Scores(Method):
    """What the methods over magnitude scores share."""

    takes = "judgments"
    offset: float | None = None
    bound: float | None = None
    repeated: Repeated = "all"

    @property
    def scored(self) -> dict[str, Any]:
        return {"offset": self.offset, "bound": self.bound, "repeated": self.repeated}

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        found = repeats(table)
        return {} if found.is_empty() else {"repeats": found}


def _averaged_interval(gains: pl.DataFrame, scores: pl.DataFrame, average: str, level: float) -> pl.DataFrame:
    """The gains with the interval of the median, or of the mean of scores or logs."""
    if average.endswith("median"):
        ends = median_interval(scores, "normalised", level)
    elif average == "mean":
        ends = mean_interval(scores, "normalised", level)
    else:
        logs = scores.with_columns(normalised=pl.col("normalised").log())
        ends = mean_interval(logs, "normalised", level).with_columns(pl.col("low", "high").exp())
    return gains.drop("low", "high").join(ends, on=["topic", "doc"], how="left").pipe(gains_frame)


@dataclass(frozen=True, kw_only=True)
class _Averaged(_Scores):
    """What the methods share that average each document's normalised scores."""

    own_spread = True
    average: magnitude.Average = "median"

    def scores(self, table: Any) -> pl.DataFrame:
        """The judgments with the score to average in the column `normalised`."""
        raise NotImplementedError

    def gains(self, table: Any) -> pl.DataFrame:
        return magnitude.averaged(self.scores(table), self.average)

    def by_formula(self, table: Any, level: float) -> pl.DataFrame:
        scores = self.scores(table)
        return _averaged_interval(magnitude.averaged(scores, self.average), scores, self.average, level)

    def shift(self, scores: pl.DataFrame) -> Shift:
        """How far drawing other units moves the logarithms of each document's scores: not at all."""
        return lambda weights: np.zeros(1)

    def moved(self, gains: Array, shift: Array) -> Array:
        return gains * np.exp(shift)

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        scores = quietly(self.scores, table)
        shift, logs = self.shift(scores), self.average.startswith("log-")
        values = scores["normalised"].to_numpy()

        def finish(averages: Array, weights: Index) -> Array:
            return self.moved(np.exp(averages) if logs else averages, shift(weights))

        middle: Middle = "median" if self.average.endswith("median") else "mean"
        return averaged_draws(scores, np.log(values) if logs else values, middle, size, seed, finish)


@dataclass(frozen=True, kw_only=True)
class _Normalised(_Averaged):
    """What the methods share that move each unit's (or assessor's) mean to the topic's."""

    topic_mean: magnitude.TopicMean = "judgments"
    group: magnitude.Group = "unit"

    def scores(self, table: Any) -> pl.DataFrame:
        return magnitude.normalised(table, topic_mean=self.topic_mean, group=self.group, **self.scored)

    def shift(self, scores: pl.DataFrame) -> Shift:
        return topic_shift(scores, self.topic_mean)

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        """An assessor's mean changes with the units drawn of them, so such tables are made one by one."""
        if self.group == "assessor":
            return bootstrap(self.gains, self.checked(table), size, seed, self.resamples)
        return super().draws(table, size, seed=seed)


@dataclass(frozen=True, kw_only=True)
class Magnitude(_Normalised):
    """Geometric averaging, then the median per document; its interval takes the normalisation as given.

    Formula: s* = exp(l − mean of l in the unit + mean of l in the topic), l = ln(score + offset); a document's gain
    is the median of its s*.
    Use: Magnitudes, or 0–100 scores read as magnitudes, where every unit holds documents of the whole range: the
    first choice.
    Traps: Gains have a unit per topic, so measures that are not scale invariant need them rescaled. Units that hold
    only poor documents are lifted to the topic's mean: then use two-way. The median's interval needs six judgments
    for 95 %; below that, resample (--interval bootstrap). A 0 has no logarithm: 0–100 scores get an offset of 1 by
    themselves, magnitudes of 0 are refused.
    """

    name = "magnitude"
    purpose = "each unit's magnitudes moved to the topic's geometric mean, then the median per document"
    source = TURPIN


@dataclass(frozen=True, kw_only=True)
class LogMagnitude(_Normalised):
    """The same on the log scale: gains may be below 0.

    Formula: ln s*, s* as in magnitude; a document's gain is the median (or mean) of its ln s*.
    Use: Analyses of levels and of effects of order, where logarithms are normal and magnitudes are not.
    Traps: Gains may be below 0, which most measures refuse or read as a cost. Not for nDCG.
    """

    name = "log-magnitude"
    purpose = "the median normalised natural logarithm of the magnitudes; may be below 0, for analyses of levels"
    source = SCHOLER
    average: Literal["median", "mean"] = "median"

    def scores(self, table: Any) -> pl.DataFrame:
        return super().scores(table).with_columns(normalised=pl.col("log_normalised"))

    def moved(self, gains: Array, shift: Array) -> Array:
        return gains + shift


@dataclass(frozen=True, kw_only=True)
class KnownRatio(_Averaged):
    """Every score over the unit's known N document; N itself is 1 by definition.

    Formula: score / score of the unit's known N document; a document's gain is the median of these ratios.
    Use: Studies whose units all hold the same kind of known document: gains become multiples of a document known to
    be worthless.
    Traps: One document carries the unit of measure, so its noise is in every gain. Needs the column known (H, N).
    """

    name = "known-ratio"
    purpose = "magnitudes as multiples of the unit's known N document (column known), then the median per document"
    source = TURPIN
    missing: magnitude.Missing = "error"

    def scores(self, table: Any) -> pl.DataFrame:
        return magnitude.by_known(table, keep_known=True, missing=self.missing, **self.scored)


@dataclass(frozen=True, kw_only=True)
class Width(_Scores):
    """Medians over narrow or wide units only.

    Formula: magnitude over the units with known H / known N < cut (narrow) or ≥ cut (wide); a document in no such
    unit gets the smallest (narrow) or largest (wide) of all its s*.
    Use: To see what gains careful or spread-out scale users alone would give; for sensitivity analyses.
    Traps: Units are chosen by what they answered, so it is not an estimate of what all assessors think. Fewer
    judgments remain. The interval, from resampled units, is that of these units' median.
    """

    name = "width"
    purpose = "normalised magnitudes of narrow or wide units alone, by the ratio of their known H and N documents"
    source = TURPIN
    side: Literal["narrow", "wide"] = "narrow"
    cut: float | None = 5.0
    missing: magnitude.Missing = "error"

    def gains(self, table: Any) -> pl.DataFrame:
        units = magnitude.widths(table, missing=self.missing, **self.scored)
        return magnitude.width_gains(magnitude.normalised(table, **self.scored), units, side=self.side, cut=self.cut)

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        return {**super().tables(table), "widths": magnitude.widths(table, missing=self.missing, **self.scored)}


@dataclass(frozen=True, kw_only=True)
class Sampled(_Scores):
    """One random score per document; draws are as many such tables.

    Formula: one of the document's s* (see magnitude), chosen at random with the seed.
    Use: To see how different a study with one assessor per document would have been; its draws are such studies.
    Traps: The gains of one draw are noisy on purpose. Its interval is the spread of single judgments, not of a
    mean.
    """

    name = "sampled"
    purpose = "one normalised magnitude per document, chosen at random: what a single assessor would have given"
    source = TURPIN
    seed: int = 0

    def gains(self, table: Any) -> pl.DataFrame:
        scores = magnitude.normalised(table, **self.scored)
        gains = magnitude.averaged(scores).select("topic", "doc", "judgments")
        picks = magnitude.sampled(scores, np.random.default_rng(self.seed))[0]
        return gains_frame(gains.with_columns(gain=pl.Series(picks)))

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        scores = magnitude.normalised(table, **self.scored)
        documents = scores.select("topic", "doc").unique().sort("topic", "doc")
        return Draws(documents, size, seed, partial(magnitude.sampled, scores))


@dataclass(frozen=True, kw_only=True)
class TwoWayModel(_Scores):
    """Unit offsets and document values by least squares on the logs.

    Formula: ln(score + offset) = unit effect + document value + error, least squares; gain = exp(document value),
    centred on the topic's mean.
    Use: Units that hold different documents, such as adaptive or unbalanced designs: a unit of poor documents is
    not lifted.
    Traps: Documents that no chain of units connects cannot be compared: it says so, and components=separate gives
    each set its own scale. It assumes the same error for all assessors. The interval is that of the document against
    the mean document of its topic (or set): the level of the topic's scale is taken as given.
    """

    name = "two-way"
    purpose = (
        "magnitudes as unit offset times document value, fitted at once: better where units hold different documents"
    )
    source = "least squares on logs; logarithmic least squares of Bozóki, Fülöp and Rónyai 2010 within units"
    components: Components = "error"

    def fit(self, table: Any) -> TwoWay:
        return two_way(table, components=self.components, **self.scored)

    def _gains(self, fit: TwoWay) -> pl.DataFrame:
        return fit.documents.with_columns(gain=pl.Series(np.exp(fit.d)), component=pl.Series(fit.components))

    def gains(self, table: Any) -> pl.DataFrame:
        return gains_frame(self._gains(self.fit(table)), ["component"] if self.components == "separate" else [])

    def by_formula(self, table: Any, level: float) -> pl.DataFrame:
        fit = self.fit(table)
        found = with_log_interval(self._gains(fit), fit.d, fit.standard_errors, level)
        return gains_frame(found, ["component"] if self.components == "separate" else [])

    def interval(
        self, table: Any, *, level: float = 0.95, kind: Kind | None = None, draws: int = 200, seed: int = 0
    ) -> pl.DataFrame:
        """As everywhere; but draws of a fit without spare judgments have no width, so there the interval is missing."""
        found = super().interval(table, level=level, kind=kind, draws=draws, seed=seed)
        if kind != "bootstrap":
            return found
        missing = self.by_formula(table, level)["low"].is_null()
        return found.with_columns(pl.when(~missing).then(pl.col("low", "high")))

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        fit = self.fit(table)
        return Draws(fit.documents.select("topic", "doc"), size, seed, lambda rng, n: np.exp(fit.drawn(rng, n)).T)


@dataclass(frozen=True, kw_only=True)
class LevelRatios(_Scores):
    """Gains of levels from the magnitudes of labelled documents.

    Formula: gain of a level = product, from the anchor, of the median ratio between documents of adjacent levels
    judged in one unit.
    Use: To give the grades of existing qrels gains that people's magnitudes support.
    Traps: Gains are per level, not per document, and so is the interval, from resampled units. The chain of medians is
    not the direct median ratio of the ends. A level that no unit connects to the anchor has no gain.
    """

    name = "level-ratios"
    purpose = "the gain of each expert level (column label) as the chain of median magnitude ratios of adjacent levels"
    source = SCHOLER
    label: str = "label"
    anchor: grades.Anchor = "highest"

    def chain(self, table: Any) -> pl.DataFrame:
        return grades.level_chain(table, label=self.label, anchor=self.anchor, **self.scored)

    def gains(self, table: Any) -> pl.DataFrame:
        return grades.labelled_gains(table, self.chain(table), self.label)

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        return {**super().tables(table), "levels": self.chain(table)}
