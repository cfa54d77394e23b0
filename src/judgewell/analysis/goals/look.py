"""A look at a study: each system's score, which pairs of systems are still open, and whether it is safe to stop."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr

from judgewell.analysis.goals.state import Gains, State, gains_of
from judgewell.stats.arrays import Bools, Floats, Ints

Decide = Literal["best", "order"]
Mode = Literal["sampled", "floor", "even"]
Status = Literal["collecting", "decided", "not separable"]

# How sure (m_b − m_j + δ) / sd must be at a look, so that over all looks a false conclusion is rarer than
# 1 − confidence (docs/evidence/goals.md).
THRESHOLDS = {0.9: 2.6, 0.95: 3.0, 0.99: 3.5}
ORDER = 0.5  # what is added to that for an order, which has many pairs
OPEN = 0.5  # a pair is contested up to this far above the threshold, at least up to 3.5
NEAR = 1.2  # |t| over topics from which a pair may become significant
ANYWHERE = (
    0.2  # the share of the value that all documents of all systems have, so that nobody is judged by few documents
)
ALIKE = 1e-9  # variance of a difference below which two systems rank the same documents alike
FIRST_TEST = 0.3  # answers per document before the first look may stop a study; 1 where all are judged once first
# By how many per cent differences were overstated at the stop, over the studies of docs/evidence/goals.md.
OVERSTATED = {"sampled": (2, 7), "floor": (2, 4), "even": (2, 5)}
OVERSTATED_PAIRS = (-6, 6)  # of pairs, over those of docs/evidence/goal-pairs.md


@dataclass(frozen=True)
class Systems:
    """What each document adds to each system's score: systems × documents, for gains in points.

    A score is a mean over topics and lies between 0 and 100: 100 is a system whose documents are all at the top of the
    scale. `importance` is log(.05 + Σ over systems of the document's weight), the first rank having weight 1.
    """

    names: tuple[str, ...]
    weights: Floats
    importance: Floats


@dataclass(frozen=True)
class Rule:
    """When to stop and what to ask: for the best system within `within` points, or for the order of all."""

    decide: Decide = "best"
    within: float = 0.0
    confidence: float = 0.95
    mode: Mode = "sampled"
    most: int = 10  # answers about one document
    most_units: int | None = None  # those of the whole design
    full: int | None = None  # ask instead: would the design with so many answers of each document agree?

    @property
    def threshold(self) -> float:
        return THRESHOLDS[self.confidence] + (ORDER if self.decide == "order" else 0.0)

    @property
    def needed(self) -> float:
        """The probability that every pair needs at a test."""
        return NormalDist().cdf(self.threshold)

    @property
    def contested(self) -> float:
        """The z up to which a pair of systems is contested."""
        return max(self.threshold + OPEN, 3.5)

    @property
    def first_test(self) -> float:
        """Answers per document before which a study never stops."""
        if self.mode == "floor" or (self.mode, self.decide) == ("even", "order"):  # no pair is significant earlier
            return 1.0
        return FIRST_TEST


@dataclass(frozen=True)
class Look:
    """What a state says. Pairs have the better system first; of a *best* goal only those of the leader are there."""

    status: Status
    reason: str
    answers: int
    means: Floats
    errors: Floats  # standard errors of the means: of the judgments, for these topics
    leader: int
    first: Ints
    second: Ints
    z: Floats
    relevant: Bools  # pairs that the goal needs: of an order, those that differ significantly over topics
    contested: Bools
    value: Floats = field(repr=False)  # q: what a smaller variance of the document's gain does for contested pairs
    gains: Gains = field(repr=False)

    @property
    def least(self) -> float:
        """The smallest z among the pairs that the goal needs."""
        return float(self.z[self.relevant].min(initial=math.inf))

    def pairs(self, names: tuple[str, ...]) -> list[dict[str, Any]]:
        """The contested pairs, at the end all that the goal needs, the least sure first, with the chance that the first
        is no worse than `within`."""
        shown = self.contested if self.status == "collecting" else self.contested | self.relevant
        rows = [at for at in np.argsort(self.z, kind="stable") if shown[at]]
        return [
            {
                "first": names[self.first[at]],
                "second": names[self.second[at]],
                "difference": round(float(self.means[self.first[at]] - self.means[self.second[at]]), 4),
                "probability": round(float(ndtr(self.z[at])), 5),
            }
            for at in rows
        ]

    def entry(self, names: tuple[str, ...]) -> dict[str, Any]:
        """What is logged about this look: plain values, ready for JSON."""
        return {
            "answers": self.answers,
            "status": self.status,
            "reason": self.reason,
            "leader": names[self.leader],
            "least_z": None if math.isinf(self.least) else round(self.least, 4),
            "contested": self.pairs(names)[:20],
            "contested_pairs": int(self.contested.sum()),
            "means": {name: round(float(mean), 4) for name, mean in zip(names, self.means, strict=True)},
        }


def look(state: State, rule: Rule, systems: Systems) -> Look:
    """The scores, the contested pairs, the value of each document, and whether to stop."""
    gains = gains_of(state, systems.importance, rule.full)

    def spread(first: Ints, second: Ints) -> Floats:
        return difference_variances(systems.weights, gains.variance, first, second)

    return judged_look(state.topic, state.answers, gains, spread, rule, systems)


Spread = Callable[[Ints, Ints], Floats]  # the variance of the differences between the first and the second systems


def judged_look(topic: Ints, answers: int, gains: Gains, spread: Spread, rule: Rule, systems: Systems) -> Look:
    """A look at gains, however they came about."""
    scores = np.add.reduceat(systems.weights * gains.gain, topic_starts(topic), axis=1)
    means = scores.sum(axis=1)
    leader = int(np.argmax(means))
    errors = np.sqrt(np.square(systems.weights) @ gains.variance)
    first, second = _pairs(rule, means, leader)
    variance = np.maximum(spread(first, second), 0.0)
    z = certainty(rule, means[first] - means[second], variance)
    t = _over_topics(scores, first, second) if rule.decide == "order" else np.full(len(z), np.inf)
    relevant = t > _critical(scores.shape[1])
    contested = (z < rule.contested) & (t > NEAR)
    value = _value(systems.weights, first, second, np.where(contested, _weight(z, variance), 0.0))
    status, reason = _status(answers, len(topic), rule, z[relevant].min(initial=math.inf))
    return Look(status, reason, answers, means, errors, leader, first, second, z, relevant, contested, value, gains)


def topic_starts(topic: Ints) -> Ints:
    """Where each topic begins."""
    return np.flatnonzero(np.append(True, np.diff(topic) > 0))


def difference_variances(weights: Floats, variance: Floats, first: Ints, second: Ints) -> Floats:
    """Σ_d (W_first,d − W_second,d)² · variance_d of every pair."""
    if len(first) < len(weights):
        return np.asarray(np.square(weights[first] - weights[second]) @ variance)
    both = (weights * variance) @ weights.T
    own = np.diag(both)
    return np.asarray(own[first] + own[second] - 2 * both[first, second])


def certainty(rule: Rule, difference: Floats, variance: Floats) -> Floats:
    """z of every difference; systems that rank the same documents alike are equal, with no doubt."""
    distance = difference + (rule.within if rule.decide == "best" else 0.0)
    alike = variance <= ALIKE
    return np.where(alike, math.inf, distance / np.sqrt(np.where(alike, 1.0, variance)))


def _pairs(rule: Rule, means: Floats, leader: int) -> tuple[Ints, Ints]:
    """The leader with every other system, or all pairs, the better first."""
    if rule.decide == "best":
        others = np.delete(np.arange(len(means)), leader)
        return np.full(len(others), leader), others
    order = np.argsort(-means, kind="stable")
    above, below = np.triu_indices(len(means), 1)
    return order[above], order[below]


def _over_topics(scores: Floats, first: Ints, second: Ints) -> Floats:
    """|t| of every difference over topics."""
    topics = scores.shape[1]
    gaps = (scores[first] - scores[second]) * topics
    error = gaps.std(axis=1, ddof=1) / math.sqrt(topics) if topics > 1 else np.full(len(first), np.inf)
    return np.asarray(np.abs(gaps.mean(axis=1)) / np.maximum(error, 1e-12))


def _critical(topics: int) -> float:
    """|t| from which a difference over topics is significant at 5 % (Student's t by Cornish and Fisher)."""
    z, df = NormalDist().inv_cdf(0.975), max(topics - 1, 1)
    return z + (z**3 + z) / (4 * df) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * df**2)


def _weight(z: Floats, variance: Floats) -> Floats:
    z = np.minimum(z, 30.0)
    return np.asarray(np.exp(-np.square(z) / 2) * np.maximum(np.abs(z), 0.5) / np.maximum(variance, 1e-12))


def _value(weights: Floats, first: Ints, second: Ints, weight: Floats) -> Floats:
    """q_d ∝ Σ over pairs of weight · (W_first,d − W_second,d)², with a little for every document of the pool."""
    count = len(weights)
    graph = np.zeros((count, count))
    np.add.at(graph, (first, second), -weight)
    graph += graph.T
    graph[np.diag_indices(count)] = -graph.sum(axis=1)
    value = np.maximum(np.einsum("sd,sd->d", weights, graph @ weights), 0.0)
    everywhere = np.square(weights).sum(axis=0)
    parts = ((1.0, value), (ANYWHERE, everywhere), (ANYWHERE / 100, np.ones(len(value))))
    return np.asarray(sum(share * one / max(one.sum(), 1e-300) for share, one in parts))


def _status(answers: int, documents: int, rule: Rule, least: float) -> tuple[Status, str]:
    if answers < rule.first_test * documents:
        first = math.ceil(rule.first_test * documents)
        return "collecting", f"the first test is after {first:,} judgments"
    if least >= rule.threshold:
        return "decided", f"every pair that the goal needs is {rule.threshold:g} standard errors apart"
    margin = f" with the margin of {rule.within:g} points" if rule.decide == "best" and rule.within else ""
    apart = f"the closest pair of systems is {max(least, 0.0):.2f} standard errors apart{margin}"
    if answers >= rule.most * documents:
        few = f"{rule.most} judgments per document, and {apart}, where {rule.threshold:g} are needed"
        return "not separable", few
    return "collecting", f"{apart}; {rule.threshold:g} are needed to stop"
