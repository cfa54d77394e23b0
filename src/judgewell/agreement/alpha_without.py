"""Krippendorff's alpha without each group of rows in turn, in one pass over the data.

A row belongs to one group, so leaving a group out changes only the documents it judged: their contributions are taken
away and put back without the group's values. For the interval metric three sums of each document suffice; for a few
distinct values the coincidence matrix does for every metric. Ratios of many values are computed anew for a few groups.
"""

from __future__ import annotations

import numpy as np

from judgewell.agreement.jackknife import few_groups
from judgewell.stats.arrays import Floats, Ints

MOST_VALUES = 32  # up to this many distinct values coincidences are counted
MOST_GROUPS = 500  # more are merged
ANEW_GROUPS = 40  # where alpha is computed anew without each
BLOCK_CELLS = 4_000_000


def alphas_without(documents: Ints, values: Floats, groups: Ints, metric: str) -> Floats:
    """Alpha without each of the groups 0, 1, 2 …; NaN where nothing is left to compare."""
    distinct, codes = np.unique(values, return_inverse=True)
    if metric == "interval":
        return _by_sums(documents, values - values.mean(), few_groups(groups, MOST_GROUPS))
    if len(distinct) <= MOST_VALUES:
        return _by_coincidences(documents, codes.ravel(), distinct, few_groups(groups, MOST_GROUPS), metric)
    return _anew(documents, values, few_groups(groups, ANEW_GROUPS), metric)


def _cells(documents: Ints, groups: Ints) -> tuple[Ints, Ints, Ints]:
    """Every group's documents: the group and the document of each cell (groups in order), and each row's cell."""
    size = int(documents.max()) + 1
    cells, cell = np.unique(groups * size + documents, return_inverse=True)
    return cells // size, cells % size, cell.ravel()


def _by_sums(documents: Ints, values: Floats, groups: Ints) -> Floats:
    group, document, cell = _cells(documents, groups)
    powers = np.stack([np.ones(len(values)), values, values**2])
    whole: Floats = np.stack([np.bincount(documents, weights=power) for power in powers]).astype(np.float64)
    part: Floats = np.stack([np.bincount(cell, weights=power) for power in powers]).astype(np.float64)
    change = _contributions(whole[:, document] - part) - _contributions(whole[:, document])
    total = _contributions(whole).sum(axis=1)[:, None]
    count, sums, squares, observed = total + np.stack([np.bincount(group, weights=row) for row in change])
    expected = 2 * (count * squares - sums**2)
    flat = expected <= 1e-12 * np.maximum(count * squares, 1e-300)
    return np.where(flat, np.nan, 1 - (count - 1) * observed / np.where(flat, 1.0, expected))


def _contributions(sums: Floats) -> Floats:
    """What documents with these counts, sums and sums of squares add: the three, and Σδ²/(m − 1); 0 below 2 values."""
    count, total, squares = sums
    enough = count >= 1.5
    within = 2 * (count * squares - total**2) / np.where(enough, count - 1, 1.0)
    return np.where(enough, np.stack([count, total, squares, within]), 0.0)


def _by_coincidences(documents: Ints, codes: Ints, distinct: Floats, groups: Ints, metric: str) -> Floats:
    group, document, cell = _cells(documents, groups)
    size = len(distinct)
    whole = np.zeros((int(documents.max()) + 1, size))
    np.add.at(whole, (documents, codes), 1.0)
    part = np.zeros((len(group), size))
    np.add.at(part, (cell, codes), 1.0)
    rows = max(1, BLOCK_CELLS // size**2)
    total = sum(_coincidences(whole[start : start + rows]).sum(axis=0) for start in range(0, len(whole), rows))
    matrices = np.broadcast_to(total, (int(group.max()) + 1, size, size)).copy()
    for start in range(0, len(group), rows):
        block = slice(start, start + rows)
        old = whole[document[block]]
        np.add.at(matrices, group[block], _coincidences(old - part[block]) - _coincidences(old))
    return np.array([alpha_of_coincidences(matrix, distinct, metric) for matrix in matrices])


def _coincidences(counts: Floats) -> Floats:
    """Each document's pairs of values, documents × values × values, divided by m − 1; 0 below 2 values."""
    total = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :]
    places = np.arange(counts.shape[1])
    pairs[:, places, places] -= counts
    return np.asarray(np.where(total > 1.5, 1 / np.where(total > 1.5, total - 1, 1.0), 0.0)[:, None, None] * pairs)


def alpha_of_coincidences(matrix: Floats, distinct: Floats, metric: str) -> float:
    """α = 1 − (n − 1) Σ o_kl δ²_kl / Σ n_k n_l δ²_kl (Krippendorff 2011)."""
    counts = matrix.sum(axis=1)
    if metric == "nominal":
        distance = 1 - np.eye(len(distinct))
    elif metric == "ordinal":
        ranks = np.cumsum(counts) - counts / 2
        distance = (ranks[:, None] - ranks[None, :]) ** 2
    else:
        total = distinct[:, None] + distinct[None, :]
        distance = ((distinct[:, None] - distinct[None, :]) / np.where(total == 0, 1.0, total)) ** 2
    expected = float(counts @ distance @ counts)
    return 1 - (counts.sum() - 1) * float((matrix * distance).sum()) / expected if expected > 1e-12 else np.nan


def _anew(documents: Ints, values: Floats, groups: Ints, metric: str) -> Floats:
    from judgewell.agreement.alpha import alpha_of
    from judgewell.errors import DataError

    alphas = np.full(int(groups.max()) + 1, np.nan)
    for group in range(len(alphas)):
        kept = groups != group
        try:
            alphas[group] = alpha_of(documents[kept], values[kept], metric)
        except DataError:
            continue
    return alphas
