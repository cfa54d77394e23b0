"""Resampled averages without making a resampled table.

Where whole units are drawn, a score keeps its place among its document's scores. So a draw is no more than how often
each unit counts, and a document's gain in it the median or mean of its scores with these weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from judgewell.scaling.inputs import GROUP
from judgewell.scaling.numbers import Documents, documents_of, groups_of, numbered
from judgewell.scaling.uncertainty import Draws, Resampler
from judgewell.stats.arrays import Floats, Ints

Middle = Literal["median", "mean"]
Shift = Callable[[Ints], Floats]  # how often each row counts -> how far each document's topic moves
Finish = Callable[[Floats, Ints], Floats]  # averages, how often each row counts -> gains


def averaged_draws(
    scores: pl.DataFrame, values: Floats, middle: Middle, size: int, seed: int, finish: Finish | None = None
) -> Draws:
    """`size` tables of each document's median or mean of the rows' values over resampled units, made gains by `finish`
    (see uncertainty.bootstrap, which makes the same draws of any method)."""
    documents, resampler = documents_of(scores), Resampler(scores, "unit")
    sorted_scores = SortedScores.of(documents, values)
    average = sorted_scores.medians if middle == "median" else sorted_scores.means

    def drawn(generator: np.random.Generator) -> Floats:
        weights = resampler.weights(generator)
        return average(weights) if finish is None else finish(average(weights), weights)

    def make(generator: np.random.Generator, count: int) -> Floats:
        return np.stack([drawn(generator) for _ in range(count)])

    return Draws(documents.table.select("topic", "doc"), size, seed, make)


@dataclass(frozen=True)
class SortedScores:
    """Scores by document and, within it, in ascending order."""

    rows: Ints  # the row of each score in its table
    values: Floats
    ends: Ints  # of each document's scores

    @classmethod
    def of(cls, documents: Documents, values: Floats) -> SortedScores:
        rows = np.lexsort((values, documents.number))
        return cls(rows, values[rows], np.cumsum(documents.counts))

    def medians(self, weights: Ints) -> Floats:
        """Each document's median when its scores count this often; NaN where none counts."""
        upto = np.cumsum(weights[self.rows])
        last = upto[self.ends - 1]
        count = np.diff(last, prepend=0)
        lower = np.searchsorted(upto, last - count + (count - 1) // 2, side="right")
        upper = np.searchsorted(upto, last - count + count // 2, side="right")
        places = np.minimum([lower, upper], len(upto) - 1)
        return np.where(count > 0, self.values[places].mean(axis=0), np.nan)

    def means(self, weights: Ints) -> Floats:
        """Each document's mean when its scores count this often; NaN where none counts."""
        counts = weights[self.rows]
        starts = np.concatenate([[0], self.ends[:-1]])
        with np.errstate(invalid="ignore"):
            return np.asarray(np.add.reduceat(counts * self.values, starts) / np.add.reduceat(counts, starts))


def topic_shift(scores: pl.DataFrame, topic_mean: Literal["judgments", "units"]) -> Shift:
    """How far each document's topic moves: the topic's mean log score in a draw less that of all judgments.

    Units' own means do not change when units are drawn whole, so this is all that normalising again would change.
    """
    units, unit = groups_of(scores, GROUP)
    topic = numbered(units["topic"])[1]
    of_document = numbered(documents_of(scores).table["topic"])[1]
    log, sizes = scores["log"].to_numpy(), np.bincount(unit)
    first = np.full(len(units), len(unit))
    np.minimum.at(first, unit, np.arange(len(unit)))
    means = np.bincount(unit, log) / sizes
    of_unit = sizes if topic_mean == "judgments" else np.ones(len(units))

    def centres(weights: Ints) -> Floats:
        times = weights[first] * of_unit
        return np.asarray(np.bincount(topic, times * means) / np.bincount(topic, times))

    everything = centres(np.ones(len(unit), dtype=np.int64))
    return lambda weights: (centres(weights) - everything)[of_document]
