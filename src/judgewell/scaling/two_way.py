"""The two-way log model of magnitudes: log score = unit offset + document value, by least squares.

Geometric averaging lifts a unit that holds only poor documents to the topic's mean; this model does not, because it
compares documents through the units they share. With the unit offsets eliminated the document values solve
(D - C'N^-1 C) d = b, C the counts of documents in units, N the units' sizes. Where every unit holds the same documents
it is geometric averaging followed by the geometric mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from judgewell.scaling.graph import Components, component_numbers, refuse_unconnected
from judgewell.scaling.inputs import GROUP, Repeated
from judgewell.scaling.laplacian import Array, Index, System, components_of, laplacian, summed
from judgewell.scaling.magnitude import log_scores
from judgewell.scaling.numbers import documents_of, groups_of


@dataclass(frozen=True)
class TwoWay:
    """`documents` (topic, doc, judgments) with their log values `d`, whose mean over the judgments of a component is
    the mean log score there; `unit` and `doc` are each judgment's numbers, `log` its score."""

    documents: pl.DataFrame
    units: pl.DataFrame
    unit: Index
    doc: Index
    log: Array
    system: System
    d: Array

    @cached_property
    def offsets(self) -> Array:
        """Each unit's offset: the mean of log score - d in it."""
        return self._unit_means(self.log - self.d[self.doc])

    @cached_property
    def residuals(self) -> Array:
        return np.asarray(self.log - self.offsets[self.unit] - self.d[self.doc])

    @cached_property
    def sigma(self) -> Array:
        """The residual standard deviation in each document's component; NaN without spare judgments."""
        label = self.system.labels[self.doc]
        parts = len(self.system.members)
        units = np.bincount(label[np.unique(self.unit, return_index=True)[1]], minlength=parts)
        freedom = np.bincount(label, minlength=parts) - units - np.bincount(self.system.labels) + 1
        squares = np.bincount(label, self.residuals**2, parts)
        per_part = np.sqrt(np.divide(squares, freedom, out=np.full(parts, np.nan), where=freedom > 0))
        return np.asarray(per_part[self.system.labels])

    @cached_property
    def standard_errors(self) -> Array:
        """Of d against the mean document of its component: sigma * sqrt(diag of the pseudo-inverse), estimated in
        components of more than DENSE documents. What the level itself, the mean log score, is not sure of is not in
        them. NaN where no judgment is to spare."""
        return np.asarray(self.sigma * np.sqrt(np.maximum(self.system.spread()[0], 0.0)))

    @cached_property
    def components(self) -> Index:
        return component_numbers(self.documents, self.system.labels)

    def drawn(self, generator: np.random.Generator, size: int) -> Array:
        """`size` draws of d from its sampling distribution: the system solved for noisy scores."""
        return np.asarray(self.d[:, None] + np.nan_to_num(self.sigma)[:, None] * self.system.drawn(generator, size))

    def _unit_means(self, values: Array) -> Array:
        return np.bincount(self.unit, values) / np.bincount(self.unit)

    def _push(self, values: Array) -> Array:
        return summed(self.doc, values - self._unit_means(values)[self.unit], len(self.documents))


def two_way(
    judgments: Any,
    *,
    offset: float | None = None,
    bound: float | None = None,
    components: Components = "error",
    repeated: Repeated = "all",
) -> TwoWay:
    """The least-squares fit of unit offsets and document values to the log scores of every topic."""
    from scipy import sparse

    frame = log_scores(judgments, offset=offset, bound=bound, repeated=repeated)
    found = documents_of(frame)
    documents, doc = found.table, found.number
    units, unit = groups_of(frame, GROUP)
    log = frame["log"].to_numpy()
    size = 1 / np.sqrt(np.bincount(unit))
    shape = (len(units), len(documents))
    counts = sparse.coo_array((size[unit], (unit, doc)), shape=shape).tocsr()
    shared = sparse.triu(counts.T @ counts, k=1).tocoo()  # how much two documents meet in units
    left, right = (ends.astype(np.int64) for ends in shared.coords)
    order = np.lexsort((right, left))
    matrix = laplacian(len(documents), left[order], right[order], shared.data[order])
    labels = components_of(matrix)
    refuse_unconnected(documents, labels, components)
    system = System(matrix, labels)
    raw = TwoWay(documents, units, unit, doc, log, system, np.zeros(len(documents)))
    d = system.solve(raw._push(log))
    label = labels[doc]
    shift = np.bincount(label, log - d[doc]) / np.bincount(label)
    return TwoWay(documents, units, unit, doc, log, system, d + shift[labels])
