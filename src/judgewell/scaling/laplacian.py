"""Least squares on differences: y from noisy y_i - y_j, one graph Laplacian system L y = b per connected component.

Components up to DENSE documents are solved exactly and bring standard errors and lambda2; larger ones by conjugate
gradients to a relative residual of TOLERANCE, and no standard errors are computed for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgewell.errors import DataError

Array = NDArray[np.float64]
Index = NDArray[np.int64]

DENSE = 3000
EXACT = 400  # up to here a dense factor is quicker than iterating, even where only the solution is wanted
TOLERANCE = 1e-10
STEPS = 10_000


def summed(at: Index, values: Array, size: int) -> Array:
    """The sum of the values at each place from 0 to size - 1."""
    return np.bincount(at, values, size).astype(np.float64)


def laplacian(size: int, left: Index, right: Index, weight: Array) -> Any:
    """The sparse Laplacian D - A of the weighted graph; parallel edges add up."""
    from scipy import sparse

    degree = summed(left, weight, size) + summed(right, weight, size)
    first, second, every = (ends.astype(np.int32) for ends in (left, right, np.arange(size)))  # half the memory to move
    rows, columns = np.concatenate([first, second, every]), np.concatenate([second, first, every])
    values = np.concatenate([-weight, -weight, degree])
    return sparse.coo_array((values, (rows, columns)), shape=(size, size)).tocsr()


def components_of(matrix: Any) -> Index:
    """The number of its connected component for each document, counted from 0."""
    from scipy.sparse import csgraph

    return np.asarray(csgraph.connected_components(matrix, directed=False)[1], dtype=np.int64)


@dataclass(frozen=True)
class System:
    """L y = b with y of mean 0 in each component; `ridge` is added to the diagonal (a prior on y)."""

    matrix: Any
    labels: Index
    ridge: float = 0.0

    @cached_property
    def members(self) -> list[Index]:
        """The documents of each component."""
        order = np.argsort(self.labels, kind="stable")
        cuts = np.flatnonzero(np.diff(self.labels[order])) + 1
        return [np.asarray(part) for part in np.split(order, cuts)]

    def solve(self, rhs: Array) -> Array:
        """y for a right side, or for several as columns."""
        y = np.zeros_like(rhs)
        for number, documents in enumerate(self.members):
            small = len(documents) <= EXACT
            y[documents] = self._small[number] @ rhs[documents] if small else self._iterate(documents, rhs[documents])
        return y

    def spread(self) -> tuple[Array, Array]:
        """The diagonal of the pseudo-inverse per document, and lambda2 per component (how firmly the comparisons tie
        it together); NaN in components of more than DENSE documents."""
        diagonal, second = np.full(len(self.labels), np.nan), np.full(len(self.members), np.nan)
        for number, documents in enumerate(self.members):
            if len(documents) <= DENSE:
                inverse = self._small.get(number, self._inverse(documents))
                diagonal[documents] = np.diag(inverse)
                if len(documents) > 1:
                    second[number] = 1 / _largest_eigenvalue(inverse)
        return diagonal, second

    @cached_property
    def _small(self) -> dict[int, Array]:
        parts = enumerate(self.members)
        return {number: self._inverse(documents) for number, documents in parts if len(documents) <= EXACT}

    def _block(self, documents: Index) -> Any:
        return self.matrix if len(self.members) == 1 else self.matrix[documents][:, documents]

    def _inverse(self, documents: Index) -> Array:
        """A block's pseudo-inverse: (L + c11'/m)^-1 - 11'/(cm); with a ridge r, (L + r)^-1 - 11'/(rm)."""
        from scipy import linalg

        block, size = self._block(documents).toarray(), len(documents)
        if self.ridge > 0:
            # the constant vector is an eigenvector: taking it out leaves y of mean 0 and the spread of differences
            inverse = np.asarray(linalg.inv(block + self.ridge * np.eye(size), assume_a="pos"))
            return inverse - 1 / (self.ridge * size)
        if size == 1:
            return np.zeros((1, 1))
        scale = float(np.mean(np.diag(block)))  # any c > 0 is right; this one keeps the sum well conditioned
        return np.asarray(linalg.inv(block + scale / size, assume_a="pos")) - 1 / (scale * size)

    def _iterate(self, documents: Index, rhs: Array) -> Array:
        from scipy import sparse
        from scipy.sparse.linalg import cg

        matrix = self._block(documents)
        if self.ridge > 0:
            matrix = matrix + self.ridge * sparse.eye_array(len(documents))
        jacobi = sparse.diags_array(1 / matrix.diagonal())
        solved = []
        for column in rhs.reshape(len(rhs), -1).T:
            y, state = cg(matrix, column, rtol=TOLERANCE, atol=0.0, maxiter=STEPS, M=jacobi)
            if state != 0:
                raise DataError(
                    f"the least-squares system of {len(rhs)} documents did not converge in {STEPS} steps; the "
                    "comparisons form too long a chain: add comparisons between documents far apart on it"
                )
            solved.append(y - y.mean())
        return np.stack(solved, axis=1).reshape(rhs.shape)


def _largest_eigenvalue(matrix: Array) -> float:
    from scipy import linalg
    from scipy.sparse.linalg import eigsh

    size = len(matrix)
    if size <= EXACT:
        return float(linalg.eigh(matrix, eigvals_only=True, subset_by_index=(size - 1, size - 1))[0])
    start = np.random.default_rng(0).standard_normal(size)
    return float(eigsh(matrix, k=1, which="LA", v0=start, return_eigenvectors=False)[0])
