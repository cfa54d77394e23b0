"""The additive two-way model by least squares: value = unit offset + document value.

With the unit offsets eliminated the document values d solve (D − C'N⁻¹C) d = b: C holds the counts of documents in
units, N the units' sizes, D the documents' counts. Documents are compared through the units they share, so a unit of
poor documents is not lifted to the mean of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.laplacian import System, components_of, laplacian, summed


@dataclass(frozen=True)
class TwoWayFit:
    """The fit to `values`, where `unit` and `doc` number the unit and the document of each.

    In each component of documents that units connect, the mean of `d` over the values is the mean of the values.
    """

    unit: Ints
    doc: Ints
    values: Floats

    @cached_property
    def system(self) -> System:
        """The Laplacian system of the documents, unit offsets eliminated."""
        from scipy import sparse

        weight = 1 / np.sqrt(np.bincount(self.unit))
        shape = (int(self.unit.max()) + 1, int(self.doc.max()) + 1)
        counts = sparse.coo_array((weight[self.unit], (self.unit, self.doc)), shape=shape).tocsr()
        shared = sparse.triu(counts.T @ counts, k=1).tocoo()  # how much two documents meet in units
        left, right = (ends.astype(np.int64) for ends in shared.coords)
        order = np.lexsort((right, left))
        matrix = laplacian(shape[1], left[order], right[order], shared.data[order])
        return System(matrix, components_of(matrix))

    @property
    def labels(self) -> Ints:
        """The number of each document's component."""
        return self.system.labels

    @cached_property
    def d(self) -> Floats:
        """The document values."""
        within = self.values - self.unit_means(self.values)[self.unit]
        d = self.system.solve(summed(self.doc, within, len(self.labels)))
        label = self.labels[self.doc]
        shift = np.bincount(label, self.values - d[self.doc]) / np.bincount(label)
        return np.asarray(d + shift[self.labels])

    @cached_property
    def offsets(self) -> Floats:
        """Each unit's offset: the mean of value − d in it."""
        return self.unit_means(self.values - self.d[self.doc])

    @cached_property
    def residuals(self) -> Floats:
        return np.asarray(self.values - self.offsets[self.unit] - self.d[self.doc])

    @cached_property
    def sigma(self) -> Floats:
        """The residual standard deviation in each document's component; NaN without spare values."""
        label = self.labels[self.doc]
        parts = len(self.system.members)
        units = np.bincount(label[np.unique(self.unit, return_index=True)[1]], minlength=parts)
        freedom = np.bincount(label, minlength=parts) - units - np.bincount(self.labels) + 1
        squares = np.bincount(label, self.residuals**2, parts)
        per_part = np.sqrt(np.divide(squares, freedom, out=np.full(parts, np.nan), where=freedom > 0))
        return np.asarray(per_part[self.labels])

    @cached_property
    def standard_errors(self) -> Floats:
        """Of d against the mean document of its component: sigma · √(diagonal of the pseudo-inverse), estimated in
        components of more than DENSE documents. The uncertainty of the component's mean is not part of them. NaN
        without spare values."""
        return np.asarray(self.sigma * np.sqrt(np.maximum(self.system.spread()[0], 0.0)))

    def drawn(self, generator: np.random.Generator, size: int) -> Floats:
        """`size` draws of d from its sampling distribution: the system solved for noisy values."""
        return np.asarray(self.d[:, None] + np.nan_to_num(self.sigma)[:, None] * self.system.drawn(generator, size))

    def unit_means(self, values: Floats) -> Floats:
        return np.bincount(self.unit, values) / np.bincount(self.unit)
