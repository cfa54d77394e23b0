"""The same for preferences: strengths by Bradley and Terry, and the pairs whose answers make the conclusion surest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from judgewell.analysis.goals.batch import NEXT, Expected
from judgewell.analysis.goals.look import Look, Rule, Spread, Systems, certainty, judged_look
from judgewell.analysis.goals.state import TOP, Gains
from judgewell.stats.arrays import Floats

PRIOR = 1.0  # less prior · Σε², as of the method bradley-terry
FREE = 32.0  # variance of the strength of a document that all systems rank first: so wide that systems stay apart
STEPS, TOLERANCE = 50, 1e-8


@dataclass(frozen=True)
class Strengths:
    """θ of one topic's documents, relative to their mean; the gain of a document is 100 / (1 + exp(−θ)) points.

    The covariance of θ is `own` + `common` `common`'; between two topics it is `common` `other.common`'.
    """

    theta: Floats
    own: Floats
    common: Floats
    expected: Floats  # θ without the part that is the document's own

    @property
    def covariance(self) -> Floats:
        return np.asarray(self.own + self.common @ self.common.T)

    @property
    def gain(self) -> Floats:
        """The expected gain, to the second order: its curve is flatter where θ is far from 0."""
        share = expit(self.theta)
        return np.asarray(TOP * share + self.slope * (0.5 - share) * np.diag(self.covariance))

    @property
    def slope(self) -> Floats:
        """d gain / d θ."""
        return np.asarray(TOP * expit(self.theta) * expit(-self.theta))


@dataclass(frozen=True)
class PairState:
    """Answers about pairs of documents of the same topic: for each topic, wins[i, j] is how often i won against j.

    A tie is half a win for each. `asked` counts pairs that are handed out and not answered yet, on both sides.
    """

    wins: tuple[Floats, ...]
    asked: tuple[Floats, ...] = ()

    @property
    def answers(self) -> int:
        return round(sum(float(one.sum()) for one in self.wins))

    @property
    def documents(self) -> int:
        return sum(map(len, self.wins))


def strengths_of(
    wins: Sequence[Floats], features: Sequence[Floats], start: Sequence[Floats] | None = None
) -> tuple[Strengths, ...]:
    """θ = Xγ + ε of every topic's documents that makes the answers most likely, less prior · Σε² (Newton's method).

    X (`features`) has a row for each document, and γ, which all topics share, has a wide prior: what differs between
    systems whose ranks are in X is hardly shrunken, single documents are. Without columns θ is that of Bradley and
    Terry, topic by topic. The covariance is that of Laplace's approximation.
    """
    ridge = 2 * PRIOR
    columns = features[0].shape[1]
    centred = [one - one.mean(axis=0) for one in features]
    penalty = np.eye(columns) * columns / FREE + ridge * np.sum([one.T @ one for one in centred], axis=0)
    theta = [np.zeros(len(one)) for one in wins] if start is None else list(start)
    for _ in range(STEPS):
        gamma = np.linalg.solve(penalty, ridge * np.sum([x.T @ t for x, t in zip(centred, theta, strict=True)], axis=0))
        parts = [_scored(won, t, x @ gamma) for won, t, x in zip(wins, theta, centred, strict=True)]
        own = [np.asarray(np.linalg.inv(curvature), np.float64) for _, curvature in parts]
        reach = [ridge * one @ x for one, x in zip(own, centred, strict=True)]  # d θ / d γ
        rest = penalty - ridge * np.sum([x.T @ one for x, one in zip(centred, reach, strict=True)], axis=0)
        pull = np.sum([one.T @ slope for one, (slope, _) in zip(reach, parts, strict=True)], axis=0)
        shared = np.linalg.solve(rest, pull)
        steps = [one @ slope + part @ shared for one, part, (slope, _) in zip(own, reach, parts, strict=True)]
        longest = max(float(np.abs(step).max(initial=0.0)) for step in steps)
        theta = [t + step * min(1.0, 2.0 / max(longest, 1e-12)) for t, step in zip(theta, steps, strict=True)]
        if longest < TOLERANCE:
            break
    root = np.linalg.cholesky(np.linalg.inv(rest)) if columns else rest
    return tuple(
        Strengths(t, _centred(_centred(one).T), _centred(part @ root), x @ gamma)
        for t, one, part, x in zip(theta, own, reach, centred, strict=True)
    )


def _scored(wins: Floats, theta: Floats, expected: Floats) -> tuple[Floats, Floats]:
    """The slope of the log likelihood less its penalty, and the curvature of both for fixed γ."""
    counts, chance = wins + wins.T, expit(theta[:, None] - theta)
    slope = (wins - counts * chance).sum(axis=1) - 2 * PRIOR * (theta - expected)
    information = counts * chance * (1 - chance)
    return slope, np.diag(information.sum(axis=1) + 2 * PRIOR) - information


def _centred(rows: NDArray[np.floating]) -> Floats:
    """Relative to the mean over documents: only differences within a topic can be known from pairs."""
    return np.asarray(rows - rows.mean(axis=0))


def system_features(systems: Systems, sizes: Sequence[int]) -> list[Floats]:
    """What may tell documents apart before the answers: importance, weight in each system, and share of each system.

    A document that n systems rank has the share 1/n in each. Without shares, what a poor system alone ranks would be
    predicted by the good documents that it has in common with others.
    """
    weights = systems.weights.T / max(float(systems.weights.max(initial=0.0)), 1e-300)
    ranked = weights > 0
    shares = ranked / np.maximum(ranked.sum(axis=1, keepdims=True), 1)
    return np.split(np.column_stack([systems.importance, weights, shares]), np.cumsum(sizes)[:-1])


@dataclass(frozen=True)
class PairLook:
    """A look, and the strengths behind it, topic by topic."""

    look: Look
    strengths: tuple[Strengths, ...]


def look_at_pairs(state: PairState, rule: Rule, systems: Systems, before: PairLook | None = None) -> PairLook:
    """The scores that the strengths give, and how sure their order is, by the strengths' covariance."""
    sizes = [len(one) for one in state.wins]
    begin = [one.theta for one in before.strengths] if before else None
    strengths = strengths_of(state.wins, system_features(systems, sizes), begin)
    gain, slope = (np.concatenate([getattr(one, name) for one in strengths]) for name in ("gain", "slope"))
    spread = np.concatenate([np.diag(one.covariance) for one in strengths]) * slope**2
    gains = Gains(gain, spread, spread, spread, 0.0, gain)
    topic = np.repeat(np.arange(len(strengths)), sizes)
    seen = judged_look(topic, state.answers, gains, _between(strengths, systems), rule, systems)
    return PairLook(seen, strengths)


def _between(strengths: Sequence[Strengths], systems: Systems) -> Spread:
    """The variances of differences between systems that the strengths' covariance gives."""
    slope = np.concatenate([one.slope for one in strengths])
    parts = np.split(systems.weights * slope, np.cumsum([len(one.theta) for one in strengths])[:-1], axis=1)
    common = np.sum([part @ one.common for part, one in zip(parts, strengths, strict=True)], axis=0)
    covariance = common @ common.T + np.sum(
        [part @ one.own @ part.T for part, one in zip(parts, strengths, strict=True)], axis=0
    )
    own = np.diag(covariance)
    return lambda first, second: np.asarray(own[first] + own[second] - 2 * covariance[first, second])


def next_pairs(
    state: PairState, seen: PairLook, size: int, allowed: tuple[Floats, ...] | None = None, unit: int = 1
) -> list[tuple[int, int, int]]:
    """The next pairs (topic, document, document; numbers within the topic), each the one that reduces variance most.

    The reduction of an answer about i and j is h/(1 + h·a'Σa) · Σ_d q_d g'_d² (Σa)_d², with a = e_i − e_j and
    h = p(1 − p); Σ is brought up to date after each pair. p follows from what is expected of the documents, not from
    their own answers: one that won by chance would meet fewer of the others that can correct it. `allowed` counts how
    often each pair may still be asked (symmetric; all pairs any number of times when not set). With `unit` the topic
    that has the best next pair gets so many pairs.
    """
    starts = np.append(0, np.cumsum([len(one) for one in state.wins]))
    topics = [
        _Topic(one, seen.look.value[start:stop], left)
        for one, start, stop, left in zip(
            seen.strengths, starts[:-1], starts[1:], allowed or [None] * len(state.wins), strict=True
        )
    ]
    for topic, asked in zip(topics, state.asked, strict=False):
        topic.expect(asked)
    best = np.array([topic.reduction.max(initial=0.0) for topic in topics])
    chosen: list[tuple[int, int, int]] = []
    while len(chosen) < size and best.max(initial=0.0) > 0:
        at = int(best.argmax())
        for _ in range(min(unit, size - len(chosen))):
            if topics[at].reduction.max(initial=0.0) <= 0:
                break
            chosen.append((at, *topics[at].take()))
        best[at] = topics[at].reduction.max(initial=0.0)
    return chosen


def expect_pairs(
    state: PairState,
    seen: PairLook,
    rule: Rule,
    systems: Systems,
    allowed: tuple[Floats, ...] | None = None,
    unit: int = 1,
    left: int | None = None,
) -> Expected:
    """What the next 100 answers are expected to do, and how many there are until the end.

    An answer is imagined as the share of a win that the strengths foresee, so that they stay and variances shrink. From
    then on 1/variance is taken to grow as it does by these answers. Units have `unit` pairs, and at most `left` follow.
    """
    last = seen.look
    chosen = next_pairs(state, seen, NEXT, allowed)
    foreseen = [
        (at, one, other, float(expit(seen.strengths[at].theta[one] - seen.strengths[at].theta[other])))
        for at, one, other in chosen
    ]
    later = look_at_pairs(answered(state, foreseen), rule, systems, seen).strengths
    difference = last.means[last.first] - last.means[last.second]
    now, then = (_between(one, systems)(last.first, last.second) for one in (seen.strengths, later))
    z = certainty(rule, difference, then)
    least, contested = float(z[last.relevant].min(initial=np.inf)), int((z[last.contested] < rule.contested).sum())
    if last.status != "collecting":
        return Expected(len(chosen), least, contested, 0 if last.status == "decided" else None, 0)
    kept = last.relevant & np.isfinite(last.z)
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = np.where(last.z > 0, np.square(rule.threshold / last.z), np.inf) / now  # 1/variance at the stop
        more = len(chosen) * ((wanted - 1 / now) / (1 / then - 1 / now))[kept].max(initial=0.0)
    more = max(float(more), rule.first_test * state.documents - state.answers)
    most = max(0, rule.most * state.documents - state.answers)
    most = most if left is None else min(most, left * unit)
    within = more <= most  # not a number: nothing left to ask
    return Expected(
        len(chosen), least, contested, ceil(more) if within else None, ceil((more if within else most) / unit)
    )


class _Topic:
    """One topic while pairs are chosen: Σ after the pairs chosen so far, and what each further pair would reduce."""

    def __init__(self, strengths: Strengths, value: Floats, left: Floats | None) -> None:
        self.covariance = strengths.covariance
        self.weight = value * strengths.slope**2
        chance = expit(strengths.expected[:, None] - strengths.expected)
        self.information = chance * (1 - chance)
        self.left = np.triu(np.full(self.information.shape, np.inf) if left is None else left, 1)
        self._measure()

    def _measure(self) -> None:
        spread = self.covariance
        both = (spread * self.weight) @ spread
        own, reached = np.diag(spread), np.diag(both)
        variance = own[:, None] + own - 2 * spread
        reached = reached[:, None] + reached - 2 * both
        self.reduction = np.where(self.left > 0, self.information / (1 + self.information * variance) * reached, 0.0)

    def _answer(self, first: int, second: int) -> None:
        """Σ after an answer about this pair."""
        along = self.covariance[:, first] - self.covariance[:, second]
        weight = self.information[first, second]
        self.covariance = self.covariance - np.outer(along, along) * weight / (
            1 + weight * (along[first] - along[second])
        )

    def expect(self, asked: Floats) -> None:
        """Count pairs that are handed out as if they were answered."""
        for first, second in np.argwhere(np.triu(asked, 1) > 0):
            for _ in range(int(asked[first, second])):
                self._answer(int(first), int(second))
        self._measure()

    def take(self) -> tuple[int, int]:
        first, second = (int(at) for at in np.unravel_index(int(self.reduction.argmax()), self.reduction.shape))
        self.left[first, second] -= 1
        self._answer(first, second)
        self._measure()
        return first, second


def answered(state: PairState, answers: list[tuple[int, int, int, float]]) -> PairState:
    """The state after more answers: topic, document, document, and the share of a win of the first."""
    wins = tuple(one.copy() for one in state.wins)
    for topic, first, second, won in answers:
        wins[topic][first, second] += won
        wins[topic][second, first] += 1 - won
    return replace(state, wins=wins)
