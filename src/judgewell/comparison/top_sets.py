"""Which systems cannot be told from the best, and how far two sets of labels agree on them.

The top set holds the system with the best mean and all those that a paired test does not tell from it (Turpin,
Scholer, Mizzaro & Maddalena, SIGIR 2015: Wilcoxon's signed ranks, p < 0.05, without correction).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgewell.comparison.correlation import tie_ranks
from judgewell.comparison.scores import ScoreArray, check_systems
from judgewell.comparison.signed_rank import Zeros
from judgewell.comparison.significance import (
    Correction,
    Test,
    check_alpha,
    corrected,
    paired_differences,
    paired_tests,
    pairs_of,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TopSet:
    """The best system, those not told from it (itself among them), and every system's p against it."""

    best: str
    members: tuple[str, ...]  # best mean first
    p: dict[str, float]  # corrected where a correction was asked for; 1 for the best itself


@dataclass(frozen=True)
class SetOverlap:
    """What two top sets share."""

    shared: int
    first: int
    second: int
    union: int

    @property
    def jaccard(self) -> float:
        """Shared systems over systems in either set."""
        return self.shared / self.union

    @property
    def share_of_first(self) -> float:
        """Shared systems over those of the first set."""
        return self.shared / self.first


def top_set(
    scores: ScoreArray,
    test: Test = "wilcoxon",
    *,
    alpha: float = 0.05,
    correction: Correction = "none",
    resamples: int = 10_000,
    seed: int = 0,
    zeros: Zeros = "drop",
) -> TopSet:
    """The systems not significantly different from the best mean; of several tied for best the first by name counts.

    A system stays in with p ≥ alpha, so one that scores as the best does on every topic stays in.
    """
    check_systems(scores)
    check_alpha(alpha)
    ranks = tie_ranks(scores.means)
    best = min(np.flatnonzero(ranks == ranks.max()).tolist(), key=lambda at: scores.systems[at])
    others, bests = pairs_of(len(scores.systems), best)
    differences = paired_differences(scores.values, others, bests)
    found = paired_tests(differences, test, resamples=resamples, seed=seed, zeros=zeros)
    p = np.insert(corrected(found.p, correction), best, 1.0)
    order = np.lexsort((np.arange(len(p)), -ranks))
    members = tuple(scores.systems[at] for at in order if p[at] >= alpha)
    return TopSet(scores.systems[best], members, dict(zip(scores.systems, p.tolist(), strict=True)))


def overlap(first: TopSet, second: TopSet) -> SetOverlap:
    """How much two top sets share."""
    one, other = set(first.members), set(second.members)
    return SetOverlap(len(one & other), len(one), len(other), len(one | other))
