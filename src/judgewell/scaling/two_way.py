"""The two-way log model of magnitudes: log score = unit offset + document value, by least squares.

Geometric averaging lifts a unit that holds only poor documents to the topic's mean; this model does not, because it
compares documents through the units they share. Where every unit holds the same documents it is geometric averaging
followed by the geometric mean. :mod:`judgewell.stats.two_way` has the system it solves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from judgewell.scaling.graph import Components, component_gains, refuse_unconnected
from judgewell.scaling.inputs import GROUP, Repeated
from judgewell.scaling.magnitude import Scores, log_scores
from judgewell.scaling.numbers import documents_of, groups_of
from judgewell.scaling.uncertainty import Draws, with_log_interval
from judgewell.stats.two_way import TwoWayFit

EXACT = 1e-9  # an error of logarithms so small is a rounding: judgments that agree exactly show no spread


@dataclass(frozen=True)
class TwoWay(TwoWayFit):
    """The fit to log scores, with its `documents` (topic, doc, judgments) and `units`."""

    documents: pl.DataFrame
    units: pl.DataFrame


def two_way(
    judgments: Any,
    *,
    offset: float | None = None,
    bound: float | None = None,
    components: Components = "error",
    repeated: Repeated = "all",
) -> TwoWay:
    """The least-squares fit of unit offsets and document values to the log scores of every topic."""
    frame = log_scores(judgments, offset=offset, bound=bound, repeated=repeated)
    documents = documents_of(frame)
    units, unit = groups_of(frame, GROUP)
    fit = TwoWay(unit, documents.number, frame["log"].to_numpy(), documents.table, units)
    refuse_unconnected(fit.documents, fit.labels, components)
    return fit


@dataclass(frozen=True, kw_only=True)
class TwoWayModel(Scores):
    """Unit offsets and document values, fitted together by least squares on logarithms.

    Formula: ln(value + offset) = unit effect + document value + error, least squares; gain = exp(document value),
    centred on the topic's mean.
    Use: If units hold different documents, as in adaptive or unbalanced designs: it does not raise a unit of poor
    documents to the topic's mean.
    Traps: Documents that no chain of units connects cannot be compared; this is an error, and components=separate gives
    each set of connected documents its own scale. The method assumes the same error for all assessors. The interval
    compares a document with the mean document of its topic (or set) and treats the level of the topic as known.
    """

    name = "two-way"
    purpose = (
        "magnitudes as unit offset times document value, fitted at once: better where units hold different documents"
    )
    evidence = "trec8-s100 against NIST's labels: AUC (mean over topics) .924 (mean: .930)"
    source = "least squares on logs; logarithmic least squares of Bozóki, Fülöp and Rónyai 2010 within units"
    components: Components = "error"

    def fit(self, table: Any) -> TwoWay:
        return two_way(table, components=self.components, **self.scored)

    def _gains(self, fit: TwoWay) -> pl.DataFrame:
        return fit.documents.with_columns(gain=pl.Series(np.exp(fit.d)))

    def gains(self, table: Any) -> pl.DataFrame:
        fit = self.fit(table)
        return component_gains(self._gains(fit), fit.labels, self.components)

    def by_formula(self, table: Any, level: float) -> pl.DataFrame:
        fit = self.fit(table)
        errors = np.where(fit.sigma > EXACT, fit.standard_errors, np.nan)
        gains = with_log_interval(self._gains(fit), fit.d, errors, level)
        return component_gains(gains, fit.labels, self.components)

    def from_draws(self, table: Any, drawn: Draws, level: float) -> pl.DataFrame:
        """As everywhere; but draws of a fit without spare judgments have no width, so there the interval is missing."""
        gains = super().from_draws(table, drawn, level)
        missing = self.by_formula(table, level)["low"].is_null()
        return gains.with_columns(pl.when(~missing).then(pl.col("low", "high")))

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        fit = self.fit(table)
        return Draws(fit.documents.select("topic", "doc"), size, seed, lambda rng, n: np.exp(fit.drawn(rng, n)).T)
