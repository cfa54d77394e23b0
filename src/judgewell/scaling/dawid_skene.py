"""Grades of noisy crowds: every assessor's error rates and every document's grade at once (Dawid and Skene 1979).

p(grade j of a document) is proportional to p_j * product over its judgments of pi_a(j, given grade), the confusion
matrix of assessor a; EM alternates between the documents' probabilities and the matrices until the likelihood settles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError
from judgewell.scaling.inputs import Repeated, judgments_of, place, settle_repeats
from judgewell.scaling.numbers import documents_of, numbered
from judgewell.stats.arrays import Floats, Ints

MANY_GRADES = 50


@dataclass(frozen=True)
class Crowd:
    """`probabilities` documents x grades, `confusion` assessors x true grade x given grade, `prior` of the grades."""

    documents: pl.DataFrame
    assessors: list[str]
    grades: list[float]
    probabilities: Floats
    confusion: Floats
    prior: Floats
    log_likelihood: float
    steps: int
    counts: Floats

    @cached_property
    def quality(self) -> pl.DataFrame:
        """Per assessor: judgments, and `accuracy`, the chance that it gives a document's true grade."""
        accuracy = np.einsum("j,ajj->a", self.prior, self.confusion)
        return pl.DataFrame(
            {"assessor": self.assessors, "judgments": self.counts.astype(np.int64), "accuracy": accuracy}
        )

    def expected(self, gains: dict[float, float]) -> Floats:
        """Each document's expected gain over its probable grades."""
        return np.asarray(self.probabilities @ np.array([gains[grade] for grade in self.grades]))


def dawid_skene(
    judgments: Any,
    *,
    smoothing: float = 0.01,
    tolerance: float = 1e-8,
    steps: int = 10_000,
    repeated: Repeated = "all",
) -> Crowd:
    """EM from the share of votes, one set of error rates for all topics.

    `smoothing` is added to every cell of every confusion matrix, so that an assessor with few judgments is not taken
    to be infallible; `tolerance` is the relative change of the (smoothed) log likelihood that counts as settled.
    """
    frame = settle_repeats(judgments_of(judgments), repeated)
    nameless = frame.filter(pl.col("assessor").is_null())
    if len(nameless):
        raise InputError(
            f"{len(nameless)} judgments name no assessor ({place(nameless)})",
            cure="Dawid-Skene learns each assessor's error rates: fill the column assessor, or use majority or mean",
        )
    grades = sorted(frame["value"].unique().to_list())
    if len(grades) > MANY_GRADES:
        raise InputError(
            f"the judgments have {len(grades)} different values; error rates need a few grades",
            cure="bring them to grades first, or use mean, median or magnitude",
        )
    judged = documents_of(frame)
    documents = judged.table
    assessors, assessor = numbered(frame["assessor"])
    given = np.searchsorted(np.array(grades), frame["value"].to_numpy())
    votes = _Votes(judged.number, assessor, given, len(documents), len(assessors), len(grades))
    probabilities, confusion, prior, likelihood, used = _settle(votes, smoothing, tolerance, steps)
    counts = np.bincount(assessor, minlength=len(assessors)).astype(np.float64)
    return Crowd(documents, assessors.to_list(), grades, probabilities, confusion, prior, likelihood, used, counts)


@dataclass(frozen=True)
class _Votes:
    """Each judgment as the numbers of its document, assessor and grade."""

    doc: Ints
    assessor: Ints
    given: Ints
    documents: int
    assessors: int
    grades: int

    def shares(self) -> Floats:
        cell = self.doc * self.grades + self.given
        counts = np.bincount(cell, minlength=self.documents * self.grades).reshape(self.documents, self.grades)
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def confusion(self, probabilities: Floats, smoothing: float) -> Floats:
        """pi_a(j, l): how often assessor a gives l where the grade is j."""
        cell = self.assessor * self.grades + self.given
        size = self.assessors * self.grades
        columns = [np.bincount(cell, column, size) for column in probabilities[self.doc].T]
        counts = np.stack(columns).reshape(self.grades, self.assessors, self.grades).transpose(1, 0, 2) + smoothing
        total = counts.sum(axis=2, keepdims=True)
        return np.asarray(np.divide(counts, total, out=np.full_like(counts, 1 / self.grades), where=total > 0))

    def log_odds(self, confusion: Floats) -> Floats:
        """Sum over a document's judgments of log pi_a(j, given), documents x grades."""
        with np.errstate(divide="ignore"):
            logs = np.log(confusion)[self.assessor, :, self.given]
        return np.stack([np.bincount(self.doc, column, self.documents) for column in logs.T], axis=1)


def _settle(votes: _Votes, smoothing: float, tolerance: float, steps: int) -> tuple[Floats, Floats, Floats, float, int]:
    probabilities, before = votes.shares(), -np.inf
    for step in range(1, steps + 1):
        confusion = votes.confusion(probabilities, smoothing)
        prior = probabilities.mean(axis=0)
        with np.errstate(divide="ignore"):
            joint = np.log(prior) + votes.log_odds(confusion)
            penalty = smoothing * float(np.log(confusion).sum()) if smoothing > 0 else 0.0
        top = joint.max(axis=1, keepdims=True)
        weights = np.exp(joint - top)
        likelihood = float((top.ravel() + np.log(weights.sum(axis=1))).sum()) + penalty
        probabilities = weights / weights.sum(axis=1, keepdims=True)
        if likelihood - before <= tolerance * abs(likelihood):
            return probabilities, confusion, prior, likelihood, step
        before = likelihood
    raise DataError(
        f"the error rates did not settle in {steps} steps; allow more (steps={steps * 10}) or a larger tolerance"
    )
