"""Least squares on differences: y from noisy y_i - y_j, one graph Laplacian system L y = b per connected component.

Components up to DENSE documents bring exact standard errors and lambda2. Larger ones are solved by conjugate gradients
to a relative residual of TOLERANCE; their standard errors come from SOLVES random right sides, which leaves an error of
about 5 % in each of them, and lambda2 is not computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from judgewell.errors import DataError
from judgewell.stats.arrays import Floats, Ints

DENSE = 3000
EXACT = 400  # up to here a dense factor is quicker than iterating, even where only the solution is wanted
TOLERANCE, ROUGH = 1e-10, 1e-6  # of a solution, and of a draw of one
STEPS = 10_000
SOLVES, BLOCK = 200, 32


def summed(at: Ints, values: Floats, size: int) -> Floats:
    """The sum of the values at each place from 0 to size - 1."""
    return np.bincount(at, values, size).astype(np.float64)


@dataclass(frozen=True)
class Laplacian:
    """D - W - W' + ridge: `upper` holds the weights W of the edges above the diagonal, `degree` the diagonal of D."""

    upper: Any
    degree: Floats
    ridge: float = 0.0

    @property
    def size(self) -> int:
        return len(self.degree)

    @property
    def diagonal(self) -> Floats:
        return self.degree + self.ridge

    def __matmul__(self, x: Floats) -> Floats:
        diagonal = self.diagonal if x.ndim == 1 else self.diagonal[:, None]
        return np.asarray(diagonal * x - self.upper @ x - self.upper.T @ x)

    def part(self, documents: Ints) -> Laplacian:
        """The block of some of the documents, none of which is tied to another."""
        return Laplacian(self.upper[documents][:, documents], self.degree[documents], self.ridge)

    def array(self) -> Floats:
        weights = self.upper.toarray()
        return np.asarray(np.diag(self.diagonal) - weights - weights.T)

    def noise(self, generator: np.random.Generator, count: int) -> Floats:
        """`count` random right sides whose covariance is this matrix: noise on every edge, summed at its two ends."""
        edges = self.upper.tocoo()
        left, right = edges.coords
        scale = np.sqrt(edges.data)
        pushes = np.empty((self.size, count))
        for turn in range(count):
            flow = scale * generator.standard_normal(len(scale))
            pushes[:, turn] = summed(left, flow, self.size) - summed(right, flow, self.size)
            if self.ridge > 0:
                pushes[:, turn] += np.sqrt(self.ridge) * generator.standard_normal(self.size)
        return pushes

    def solved(self, rhs: Floats, tolerance: float, steps: int) -> tuple[Floats, bool]:
        """Conjugate gradients preconditioned by the diagonal, for one right side or several as columns; and whether
        all of them reached the tolerance."""
        inverse = 1 / np.maximum(self.diagonal, 1e-300)
        inverse = inverse if rhs.ndim == 1 else inverse[:, None]
        x, residual = np.zeros_like(rhs), rhs.copy()
        direction = inverse * residual
        rho = (residual * direction).sum(axis=0)
        limit = tolerance**2 * (rhs * rhs).sum(axis=0)
        for _ in range(steps):
            unfinished = (residual * residual).sum(axis=0) > limit
            if not unfinished.any():
                return x, True
            bent = self @ direction
            length = _over(rho, (direction * bent).sum(axis=0), unfinished)
            x += length * direction
            residual -= length * bent
            z = inverse * residual
            rho, before = (residual * z).sum(axis=0), rho
            direction = z + _over(rho, before, unfinished) * direction
        return x, False


def _over(top: Any, bottom: Any, where: Any) -> Any:
    return np.divide(top, bottom, out=np.zeros_like(top), where=where & (bottom != 0))


def laplacian(size: int, left: Ints, right: Ints, weight: Floats, ridge: float = 0.0) -> Laplacian:
    """The Laplacian of edges that are sorted by left and then right end, left < right, each there once."""
    from scipy import sparse

    starts = np.concatenate([[0], np.cumsum(np.bincount(left, minlength=size))])
    kind = np.int32 if max(size, len(left)) < 2**31 else np.int64  # half the memory to move
    upper = sparse.csr_array((weight, right.astype(kind), starts.astype(kind)), shape=(size, size))
    return Laplacian(upper, summed(left, weight, size) + summed(right, weight, size), ridge)


def components_of(matrix: Laplacian) -> Ints:
    """The number of its connected component for each document, counted from 0."""
    from scipy.sparse import csgraph

    return np.asarray(csgraph.connected_components(matrix.upper, directed=False)[1], dtype=np.int64)


@dataclass(frozen=True)
class System:
    """L y = b with y of mean 0 in each component; the matrix's ridge is a prior on y."""

    matrix: Laplacian
    labels: Ints

    @cached_property
    def members(self) -> list[Ints]:
        """The documents of each component."""
        order = np.argsort(self.labels, kind="stable")
        cuts = np.flatnonzero(np.diff(self.labels[order])) + 1
        return [np.asarray(part) for part in np.split(order, cuts)]

    def solve(self, rhs: Floats, tolerance: float = TOLERANCE) -> Floats:
        """y for a right side, or for several as columns."""
        y = np.zeros_like(rhs)
        for number, documents in enumerate(self.members):
            given = rhs[documents]
            small = len(documents) <= EXACT
            y[documents] = self._small[number] @ given if small else self._iterate(number, given, tolerance)
        return y

    def drawn(self, generator: np.random.Generator, count: int) -> Floats:
        """`count` draws, as columns, of what noise of variance 1 on the comparisons does to y."""
        return self.solve(self.matrix.noise(generator, count), ROUGH)

    def spread(self) -> tuple[Floats, Floats]:
        """The diagonal of the pseudo-inverse per document, and lambda2 per component (how firmly the comparisons tie
        it together; NaN in components of more than DENSE documents, where the diagonal is an estimate)."""
        diagonal, second = np.full(len(self.labels), np.nan), np.full(len(self.members), np.nan)
        for number, documents in enumerate(self.members):
            if len(documents) > DENSE:
                diagonal[documents] = self._estimated(number)
                continue
            inverse = self._small[number] if number in self._small else self._inverse(documents)
            diagonal[documents] = np.diag(inverse)
            if len(documents) > 1:
                second[number] = 1 / _largest_eigenvalue(inverse)
        return diagonal, second

    def _estimated(self, number: int) -> Floats:
        """The mean square of SOLVES draws of a component."""
        alone = System(self._part(number), np.zeros(len(self.members[number]), dtype=np.int64))
        generator, squares = np.random.default_rng(0), np.zeros(len(alone.labels))
        for start in range(0, SOLVES, BLOCK):
            squares += (alone.drawn(generator, min(BLOCK, SOLVES - start)) ** 2).sum(axis=1)
        return np.asarray(squares / SOLVES)

    @cached_property
    def _small(self) -> dict[int, Floats]:
        parts = enumerate(self.members)
        return {number: self._inverse(documents) for number, documents in parts if len(documents) <= EXACT}

    def _part(self, number: int) -> Laplacian:
        return self.matrix if len(self.members) == 1 else self.matrix.part(self.members[number])

    def _inverse(self, documents: Ints) -> Floats:
        """A block's pseudo-inverse: (L + c11'/m)^-1 - 11'/(cm); with a ridge r, (L + r)^-1 - 11'/(rm)."""
        from scipy import linalg

        block, size = self.matrix.part(documents).array(), len(documents)
        if self.matrix.ridge > 0:
            # the constant vector is an eigenvector: taking it out leaves y of mean 0 and the spread of differences
            return np.asarray(linalg.inv(block, assume_a="pos")) - 1 / (self.matrix.ridge * size)
        if size == 1:
            return np.zeros((1, 1))
        scale = float(np.mean(np.diag(block)))  # any c > 0 is right; this one keeps the sum well conditioned
        return np.asarray(linalg.inv(block + scale / size, assume_a="pos")) - 1 / (scale * size)

    def _iterate(self, number: int, rhs: Floats, tolerance: float) -> Floats:
        y, settled = self._part(number).solved(rhs, tolerance, STEPS)
        if not settled:
            raise DataError(
                f"the least-squares system of {len(rhs)} documents did not converge in {STEPS} steps; the "
                "comparisons form too long a chain: add comparisons between documents far apart on it"
            )
        return np.asarray(y - y.mean(axis=0))


def _largest_eigenvalue(matrix: Floats) -> float:
    from scipy import linalg
    from scipy.sparse.linalg import eigsh

    size = len(matrix)
    if size <= EXACT:
        return float(linalg.eigh(matrix, eigvals_only=True, subset_by_index=(size - 1, size - 1))[0])
    start = np.random.default_rng(0).standard_normal(size)
    return float(eigsh(matrix, k=1, which="LA", v0=start, return_eigenvectors=False)[0])
