"""P(relevant | all votes of a document), learnt from how assessors of the same document agree.

The grades of a document are votes of random assessors. With x the shares of the grades in n votes, pi their shares in
all votes, P(i, j) the chance that two assessors of one document give i and j, and M = P - pi pi' the covariance of
documents, the best linear predictor of another assessor's "relevant" is

    mu + (M r)' (M + (diag(pi) - P)/n)^-1 (x - pi),

r being 1 for relevant grades and mu = pi'r. With one vote it is p(R|grade) (Demeester et al. 2015); with two grades it
is the posterior mean (a + k)/(a + b + n) of the beta-binomial model. It is computed in the directions of
diag(pi)^-1/2 M diag(pi)^-1/2, in each of which n votes are shrunken by n e/(1 + (n - 1) e), e the agreement of two
assessors there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgewell.stats.arrays import Floats


@dataclass(frozen=True)
class VoteModel:
    """`shares` of the grades in all votes, which grades are `relevant`, and the `directions` (as columns) in which
    assessors of one document have the `agreement` e."""

    shares: Floats
    relevant: Floats
    directions: Floats
    agreement: Floats

    @property
    def mean(self) -> float:
        """The share of relevant votes."""
        return float(self.shares @ self.relevant)

    @property
    def _loads(self) -> Floats:
        """How much each direction says about relevance."""
        return np.asarray(self.directions.T @ (np.sqrt(self.shares) * self.relevant))

    def _shrink(self, n: Floats) -> Floats:
        """The weight of the mean vote in each direction, documents x directions; no more than of one vote where
        assessors disagree more than by chance."""
        e = self.agreement
        return np.asarray(np.where(e > 0, e * n[:, None] / (1 + (n[:, None] - 1) * np.maximum(e, 0)), e))

    def chance(self, votes: Floats) -> Floats:
        """P(another assessor finds it relevant) from the votes for each grade, documents x grades."""
        n = votes.sum(axis=1)
        root = np.sqrt(self.shares)
        scaled = np.divide(votes / n[:, None] - self.shares, root, out=np.zeros(votes.shape), where=root > 0)
        chance = self.mean + ((scaled @ self.directions) * self._shrink(n)) @ self._loads
        return np.asarray(np.clip(chance, 0.0, 1.0))

    def precision(self, n: Floats) -> Floats:
        """How many votes P is equivalent to: s of the Beta(P s, (1 - P) s) with the spread that n votes leave (for two
        grades a + b + n); infinite where assessors agree no better than by chance."""
        loads, e = self._loads**2, np.maximum(self.agreement, 0)
        explained = (self._shrink(n) * e) @ loads
        total, between = self.mean * (1 - self.mean), float(loads @ e)
        left = np.maximum(between - explained, 0)
        return np.asarray(np.divide(total - between, left, out=np.full(len(n), np.inf), where=left > 1e-12))


def vote_model(joint: Floats, relevant: Floats, smoothing: float = 0.0, prior: Floats | None = None) -> VoteModel:
    """The model from counts of pairs of a first and a second grade; `smoothing` adds that many second judgments to each
    grade, spread as `prior` (the shares of all, unless given)."""
    spread = joint.sum(axis=0) / joint.sum() if prior is None else prior
    counts = joint + smoothing * spread
    both = (counts + counts.T) / (2 * counts.sum())
    shares = both.sum(axis=0)
    root = np.sqrt(shares)
    scale = np.divide(1.0, np.outer(root, root), out=np.zeros(both.shape), where=np.outer(root, root) > 0)
    agreement, directions = np.linalg.eigh((both - np.outer(shares, shares)) * scale)
    return VoteModel(shares, relevant, directions, np.minimum(agreement, 1.0))
