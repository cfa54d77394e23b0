"""What people would say of documents that only a machine has labelled: a cross-fitted ridge regression.

People's gains are regressed on the machine's grades, on how many systems retrieve the document and how high, with an
intercept and a slope on the label for each topic, shrunken. A document that people judged is predicted from the other
folds, so that its residual is not made small by its own judgment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgewell.stats.arrays import Floats, Ints

FOLDS = 5
PENALTIES = tuple(float(10**power) for power in np.linspace(-1, 3, 9))  # of the topics' intercepts and slopes
LEVELS = 8  # labels with more distinct values are put into so many classes of equal size
TINY = 1e-3  # keeps the regression solvable where a grade was never drawn


@dataclass(frozen=True)
class Sample:
    """Documents in the order of their topics: what is known of all, and which of them people judged."""

    starts: Ints  # the first document of each topic, and at the end the number of documents
    features: Floats  # documents × features
    slope: Floats  # the label, centred and scaled; 0 where there is none
    drawn: Ints  # the documents that people judged, ascending
    inclusion: Floats  # the probability with which each of these was drawn
    fold: Ints  # of each of these

    @property
    def topic(self) -> Ints:
        """The number of each document's topic."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


@dataclass(frozen=True)
class Predictions:
    """People's gains as predicted, or several indicators of them."""

    own: Floats  # drawn × outputs
    every: Floats  # documents × outputs: out of fold where drawn, else the mean over folds
    penalty: float


def features_of(label: Floats, systems: Floats, importance: Floats) -> Floats:
    """Which grade the machine gave (one column each, a column for none), log(1 + systems), log(importance + .02)."""
    known = ~np.isnan(label)
    levels = np.unique(label[known])
    if len(levels) > LEVELS:
        levels = np.unique(np.quantile(label[known], np.arange(LEVELS) / LEVELS))
    grade = np.where(known, np.searchsorted(levels, np.where(known, label, 0.0), side="right") - 1, len(levels))
    classes = (grade[:, None] == np.arange(len(levels) + 1)).astype(np.float64)
    numbers = np.column_stack([np.log1p(systems), np.log(importance + 0.02)])
    spread = numbers.std(axis=0)
    numbers = (numbers - numbers.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.column_stack([classes[:, classes.any(axis=0)], numbers])


def standardised(label: Floats) -> Floats:
    """The label less its mean, divided by its spread; 0 where there is none."""
    spread = np.nanstd(label) if np.isfinite(label).any() else 0.0
    return np.nan_to_num((label - np.nanmean(label)) / spread) if spread > 0 else np.zeros(len(label))


def folds_within_topics(topic: Ints, rng: np.random.Generator) -> Ints:
    """A fold for each drawn document, by lot; within a topic the folds are of equal size but for one document."""
    shuffled = rng.permutation(len(topic))
    order = shuffled[np.argsort(topic[shuffled], kind="stable")]
    fold = np.empty(len(topic), dtype=np.int64)
    fold[order] = (np.arange(len(topic)) + rng.integers(FOLDS)) % FOLDS
    return fold


def cross_fit(sample: Sample, outputs: Floats) -> Predictions:
    """Ridge predictions of the outputs (drawn × outputs), the penalty chosen by the error out of fold.

    The topics' two coefficients are eliminated topic by topic, so the work is linear in the number of topics.
    """
    topic, topics = sample.topic, len(sample.starts) - 1
    design = np.column_stack([np.ones(len(topic)), sample.slope, sample.features])
    rows, of = design[sample.drawn], topic[sample.drawn]
    squares, products = _moments(rows, outputs, sample.fold * topics + of, FOLDS * topics)
    squares = squares.reshape(FOLDS, topics, *squares.shape[1:])
    products = products.reshape(FOLDS, topics, *products.shape[1:])
    squares, products = squares.sum(axis=0) - squares, products.sum(axis=0) - products  # of the other folds
    best: tuple[float, float, Floats, Floats] | None = None
    for penalty in PENALTIES:
        shared, own = _solve(squares, products, penalty)
        guess = np.einsum("nq,nqk->nk", rows[:, 2:], shared[sample.fold])
        guess += np.einsum("nq,nqk->nk", rows[:, :2], own[sample.fold, of])
        error = float(np.square(outputs - guess).sum())
        if best is None or error < best[0]:
            best = error, penalty, shared, own
            out_of_fold = guess
    assert best is not None
    _, penalty, shared, own = best
    every = design[:, 2:] @ shared.mean(axis=0) + np.einsum("nq,nqk->nk", design[:, :2], own.mean(axis=0)[topic])
    every[sample.drawn] = out_of_fold
    return Predictions(out_of_fold, every, penalty)


def _moments(rows: Floats, outputs: Floats, cell: Ints, cells: int) -> tuple[Floats, Floats]:
    """Σ x x' and Σ x y' of each cell."""
    from scipy.sparse import csr_array

    count, width = rows.shape
    added = csr_array((np.ones(count), (cell, np.arange(count))), shape=(cells, count))
    squares = np.asarray(added @ (rows[:, :, None] * rows[:, None, :]).reshape(count, -1))
    products = np.asarray(added @ (rows[:, :, None] * outputs[:, None, :]).reshape(count, -1))
    return squares.reshape(cells, width, width), products.reshape(cells, width, -1)


def _solve(squares: Floats, products: Floats, penalty: float) -> tuple[Floats, Floats]:
    """The shared coefficients of each fold, and each topic's own two: folds × features and folds × topics × 2."""
    inverse = np.linalg.inv(squares[..., :2, :2] + penalty * np.eye(2))
    across = squares[..., :2, 2:]
    taken = np.swapaxes(across, -1, -2) @ inverse
    left = (squares[..., 2:, 2:] - taken @ across).sum(axis=1)
    right = (products[..., 2:, :] - taken @ products[..., :2, :]).sum(axis=1)
    shared = np.linalg.solve(left + TINY * np.eye(left.shape[-1]), right)
    return shared, inverse @ (products[..., :2, :] - across @ shared[:, None])
