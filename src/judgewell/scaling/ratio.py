"""Ratios to gains: logarithmic least squares on incomplete comparison matrices.

r = (s_left + e) / (s_right + e); M_ij is the geometric mean of a pair's ratios; log S minimises the squared
differences to log M over the compared pairs, that is L y = b with the comparison graph's Laplacian. The paper (Yang,
Moffat and Turpin 2018) fills the matrix by iteration from geometric means of its columns; with M_ij = "i over j" it
must be the rows, and the fixed point is this system's solution (Bozóki, Fülöp and Rónyai 2010).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError, note
from judgewell.scaling.graph import (
    Cells,
    Components,
    cells_of,
    component_gains,
    component_numbers,
    maxima,
    refuse_unconnected,
)
from judgewell.scaling.inputs import listed, pairs_of, place
from judgewell.scaling.method import Method
from judgewell.scaling.preference import YANG
from judgewell.scaling.uncertainty import Draws
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.laplacian import System, components_of, laplacian, summed


@dataclass(frozen=True)
class Fit:
    """Log scores `y` (mean 0 in each component) fitted to the cells with the given weights."""

    cells: Cells
    weight: Floats
    system: System
    y: Floats

    @property
    def labels(self) -> Ints:
        return self.system.labels

    @cached_property
    def residuals(self) -> Floats:
        """What each cell says beyond the fit: log M_ij - (y_i - y_j)."""
        return self.cells.value - (self.y[self.cells.left] - self.y[self.cells.right])

    @cached_property
    def _squares(self) -> tuple[Ints, Floats, Floats]:
        """Per component: its cells, the weighted sum of squared residuals, and sigma."""
        parts = int(self.labels.max()) + 1
        label = self.labels[self.cells.left]
        squares = summed(label, self.weight * self.residuals**2, parts)
        cells: Ints = np.bincount(label, minlength=parts).astype(np.int64)
        freedom = cells - np.bincount(self.labels, minlength=parts) + 1
        sigma = np.sqrt(np.divide(squares, freedom, out=np.full(parts, np.nan), where=freedom > 0))
        return cells, squares, np.asarray(sigma)

    @property
    def sigma(self) -> Floats:
        """The residual standard deviation in each document's component; NaN without a spare comparison."""
        return np.asarray(self._squares[2][self.labels])

    @cached_property
    def consistency(self) -> pl.DataFrame:
        """Per topic and component: documents, cells, the weighted sum of squared residuals (the inconsistency), sigma
        with cells - documents + 1 degrees of freedom, and lambda2 (NaN where not computed)."""
        number = component_numbers(self.cells.documents, self.labels)
        cells, squares, sigma = self._squares
        first = [int(part[0]) for part in self.system.members]
        return pl.DataFrame(
            {
                "topic": self.cells.documents["topic"].gather(first),
                "component": number[first],
                "documents": np.bincount(self.labels),
                "cells": cells,
                "inconsistency": squares,
                "sigma": sigma,
                "lambda2": self._spread[1],
            }
        )

    @cached_property
    def _spread(self) -> tuple[Floats, Floats]:
        return self.system.spread()

    @cached_property
    def standard_errors(self) -> Floats:
        """sigma * sqrt(diag L+) per document, estimated in components of more than DENSE documents; NaN without a spare
        comparison."""
        return np.asarray(self.sigma * np.sqrt(np.maximum(self._spread[0], 0.0)))

    def drawn(self, generator: np.random.Generator, size: int) -> Floats:
        """`size` draws of y from its sampling distribution N(y, sigma^2 L+): the system solved for noisy cells."""
        sigma = np.nan_to_num(self.sigma)
        return np.asarray(self.y[:, None] + sigma[:, None] * self.system.drawn(generator, size))


def fit(cells: Cells, weight: Floats, components: Components = "error") -> Fit:
    """Least squares on the cells' mean log ratios."""
    matrix = laplacian(cells.size, cells.left, cells.right, weight)
    labels = components_of(matrix)
    refuse_unconnected(cells.documents, labels, components)
    system = System(matrix, labels)
    return Fit(cells, weight, system, system.solve(cells.net(weight * cells.value)))


def ratio_cells(pairs: Any, epsilon: float = 1.0) -> Cells:
    """The cells with their mean log ratio; rows without both numbers are excluded and counted."""
    frame = pairs_of(pairs)
    if epsilon < 0:
        raise InputError(f"epsilon {epsilon:g} is below 0", cure="give 0 or more; 1 is the paper's")
    answered = _answered(frame)
    zero = answered.filter(pl.min_horizontal("left_score", "right_score") + epsilon <= 0)
    if len(zero):
        raise InputError(
            f"a number of 0 has no ratio ({place(zero)}), in {len(zero)} pairs",
            cure="add a constant to both numbers (epsilon=1)",
        )
    left, right = ((answered[name].to_numpy() + epsilon) for name in ("left_score", "right_score"))
    return cells_of(answered, np.log(left) - np.log(right), np.negative, "mean")


def _answered(frame: pl.DataFrame) -> pl.DataFrame:
    """The pairs with both numbers; a note reports the others."""
    lacks = frame.select(pl.col("left_score").is_null() | pl.col("right_score").is_null()).to_series()
    if not lacks.any():
        return frame
    if lacks.all():
        raise DataError("no pair has both left_score and right_score; ratios need the two numbers")
    without = frame.filter(lacks)
    note(f"{len(without)} of {len(frame)} pairs lack a number and are excluded ({place(without)})")
    return frame.filter(~lacks)


def log_ratio_fit(pairs: Any, *, epsilon: float = 1.0, weighted: bool = False, components: Components = "error") -> Fit:
    """Logarithmic least squares on the pairs' numbers; a cell counts once, or `weighted` by its number of answers."""
    cells = ratio_cells(pairs, epsilon)
    return fit(cells, cells.count if weighted else np.ones(len(cells.count)), components)


@dataclass(frozen=True, kw_only=True)
class Ratio(Method):
    """Logarithmic least squares on the two numbers of each pair; the best document of a topic has gain 1.

    Formula: y minimises Σ (ln((s_left + ε) / (s_right + ε)) − (y_left − y_right))²; gain = exp(y − max y).
    Use: For pairs in which assessors gave each document a number: gains then say how many times better a document is,
    not only which one is better.
    Traps: ε is added to both numbers, so 50 against 0 counts as a ratio of 51 with the default of 1. Documents that no
    chain of pairs connects have no common scale.
    """

    name = "ratio"
    purpose = "gains from the two numbers given to each pair, by logarithmic least squares on their ratios"
    source = f"{YANG}; Bozóki, Fülöp and Rónyai, Mathematical and Computer Modelling 2010"
    takes = "pairs"
    epsilon: float = 1.0
    weighted: bool = False
    components: Components = "error"

    def fit(self, table: Any) -> Fit:
        return log_ratio_fit(table, epsilon=self.epsilon, weighted=self.weighted, components=self.components)

    def gains(self, table: Any) -> pl.DataFrame:
        fit = self.fit(table)
        top = maxima(fit.y[:, None], fit.labels)[:, 0]
        gains = fit.cells.documents.with_columns(gain=pl.Series(np.exp(fit.y - top)))
        return component_gains(gains, fit.labels, self.components)

    def from_draws(self, table: Any, drawn: Draws, level: float) -> pl.DataFrame:
        """From draws of all scores together, since a gain over the largest depends on the largest's error too; missing,
        where every comparison is needed; a note says so."""
        gains = super().from_draws(table, drawn, level)
        fit = self.fit(table)
        sure = pl.Series(np.isfinite(fit.sigma))
        without = gains.filter(~sure)
        if len(without):
            note(
                f"{len(without)} of {len(gains)} documents have no interval: the estimate needs every comparison they "
                f"have ({listed(without)}); compare more pairs"
            )
        return gains.with_columns(pl.when(sure).then(pl.col("low", "high")))

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        fit = self.fit(table)

        def make(generator: np.random.Generator, count: int) -> Floats:
            y = fit.drawn(generator, count)
            return np.asarray(np.exp(y - maxima(y, fit.labels)).T)

        return Draws(fit.cells.documents.select("topic", "doc"), size, seed, make)

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        return {"consistency": self.fit(table).consistency}
