"""The set of systems that contains the best one, and how far two sets of labels agree on it.

joint      (default) a system stays in the set unless some other system is significantly better than it, all others
           tested together: the set contains the truly best system with probability 1 − alpha
wilcoxon   the systems not significantly different from the best mean (Turpin, Scholer, Mizzaro & Maddalena, SIGIR 2015:
           signed ranks, p < 0.05, without correction); likewise t, randomisation, bootstrap
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from judgewell.comparison.correlation import tie_ranks
from judgewell.comparison.scores import ScoreArray, check_systems
from judgewell.comparison.signed_rank import SAME, Zeros
from judgewell.comparison.significance import (
    Correction,
    check_alpha,
    corrected,
    paired_differences,
    paired_tests,
    pairs_of,
    share_reached,
    signs,
    smallest_p,
)
from judgewell.errors import DataError, InputError, note
from judgewell.executors import Executor
from judgewell.stats.arrays import Floats, Ints

TopTest = Literal["joint", "wilcoxon", "t", "randomisation", "bootstrap"]

TOP_TESTS = ("joint", "wilcoxon", "t", "randomisation", "bootstrap")
FEWEST_TOPICS = 5  # 2^−5 is the first p below 0.05 that sign flips can give


@dataclass(frozen=True)
class TopSet:
    """The system with the best mean, the members of the set (itself among them), and every system's p."""

    best: str
    members: tuple[str, ...]  # best mean first
    p: dict[str, float]  # corrected where a correction was asked for; 1 for the best itself
    smallest: float = 0.0  # the smallest p that so many topics allow
    ruled_out_by: dict[str, str] = field(default_factory=dict)  # the system against which each other one is rejected


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
    test: TopTest = "joint",
    *,
    alpha: float = 0.05,
    correction: Correction = "none",
    replicates: int = 10_000,
    seed: int = 0,
    zeros: Zeros = "drop",
    executor: Executor | None = None,
) -> TopSet:
    """The set that contains the best system, or by another test those not significantly different from the best mean.

    A system stays in with p ≥ alpha. Of several tied for the best mean the first by name is called the best. The joint
    test needs no correction. Where no p below alpha is attainable with so few topics, a note says so.
    """
    check_systems(scores)
    check_alpha(alpha)
    if test not in TOP_TESTS:
        raise InputError(f"test {test!r} is not one of {', '.join(TOP_TESTS)}")
    ranks = tie_ranks(scores.means)
    best = min(np.flatnonzero(ranks == ranks.max()).tolist(), key=lambda at: scores.systems[at])
    if test == "joint":
        p, smallest = joint_p(scores.values, replicates, seed, executor), 0.0
        p[(scores.values == scores.values[best]).all(axis=1)] = 1.0  # the best, and systems that equal it everywhere
    else:
        others, bests = pairs_of(len(scores.systems), best)
        differences = paired_differences(scores.values, others, bests)
        single = paired_tests(differences, test, replicates=replicates, seed=seed, zeros=zeros, executor=executor).p
        p = np.insert(corrected(single, correction), best, 1.0)
        smallest = smallest_p(test, len(scores.topics), replicates) * (1 if correction == "none" else len(others))
    if smallest >= alpha:
        note(
            f"with {len(scores.topics)} topics no p of the {test} test can be below {alpha:g} (smallest "
            f"{min(1, smallest):.2g}), so the top set holds every system; use the joint test or more topics"
        )
    order = np.lexsort((np.arange(len(p)), -ranks))
    members = tuple(scores.systems[at] for at in order if p[at] >= alpha)
    outside = [at for at in order if p[at] < alpha]
    against = {at: clearest_rival(scores.values, at) if test == "joint" else best for at in outside}
    ruled_out_by = {scores.systems[at]: scores.systems[rival] for at, rival in against.items()}
    by_system = dict(zip(scores.systems, p.tolist(), strict=True))
    return TopSet(scores.systems[best], members, by_system, smallest, ruled_out_by)


def joint_p(values: Floats, replicates: int = 10_000, seed: int = 0, executor: Executor | None = None) -> Floats:
    """For each system the p of "no other system is better": systems × topics.

    The statistic is the largest t of the others' differences to it, t_j = mean / (s/√T); its distribution comes from
    flipping the signs of whole topics, for all others together: every pattern with up to 12 topics, else random ones.
    A flip leaves Σd² as it is, so t_j grows with Σd / √Σd², which is what is compared.
    """
    topics = values.shape[-1]
    if topics < FEWEST_TOPICS:
        raise DataError(
            f"{topics} topics cannot show that a system is not the best (5 % needs {FEWEST_TOPICS}); give more topics"
        )
    return share_reached(_best_reached, (values,), topics, replicates, seed, executor)


def clearest_rival(values: Floats, system: int) -> int:
    """The system whose difference to this one is the statistic of the joint test; of equal ones the better mean."""
    others, same = pairs_of(len(values), system)
    gaps = paired_differences(values, others, same)
    size = np.sqrt((gaps**2).sum(axis=-1))
    reached = np.divide(gaps.sum(axis=-1), size, out=np.zeros_like(size), where=size > 0)
    not_clearest = reached < reached.max() - SAME
    return int(others[np.lexsort((-values.mean(axis=-1)[others], not_clearest))[0]])


def _best_reached(task: tuple[int, int], shared: tuple[Floats, int]) -> Ints:
    """For each system, in how many of a task's patterns some other system is as much better as in the data."""
    values, seed = shared
    patterns = signs(values.shape[-1], task, seed)
    reached = np.full(len(values), len(patterns))
    for system in range(len(values)):
        gaps = paired_differences(values, *pairs_of(len(values), system))
        size = np.sqrt((gaps**2).sum(axis=-1))
        unit = (gaps[size > 0] / size[size > 0, None]).T
        if unit.size:
            observed = unit.sum(axis=0).max() - SAME
            reached[system] = ((patterns @ unit).max(axis=-1) >= observed).sum()
    return reached


def overlap(first: TopSet, second: TopSet) -> SetOverlap:
    """How much two top sets share."""
    one, other = set(first.members), set(second.members)
    return SetOverlap(len(one & other), len(one), len(other), len(one | other))
