"""The same for preferences: strengths by Bradley and Terry, and the pairs whose answers make the conclusion surest."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from judgewell.analysis.goals.look import Look, Rule, Systems, judged_look
from judgewell.analysis.goals.state import TOP, Gains
from judgewell.stats.arrays import Floats, Ints

PRIOR = 1.0  # less prior · Σθ², as of the method bradley-terry
STEPS, TOLERANCE = 50, 1e-8


@dataclass(frozen=True)
class Strengths:
    """θ of one topic's documents and its covariance; the gain of a document is 100 / (1 + exp(−θ)) points."""

    theta: Floats
    covariance: Floats

    @property
    def gain(self) -> Floats:
        return np.asarray(TOP * expit(self.theta))

    @property
    def slope(self) -> Floats:
        """d gain / d θ."""
        return np.asarray(self.gain * (TOP - self.gain) / TOP)


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


def strengths_of(wins: Floats, start: Floats | None = None) -> Strengths:
    """θ that makes the answers most likely, less Σθ² (Newton's method); documents without an answer have θ = 0."""
    counts = wins + wins.T
    theta = np.zeros(len(wins)) if start is None else start
    for _ in range(STEPS):
        chance = expit(theta[:, None] - theta)
        slope = (wins - counts * chance).sum(axis=1) - 2 * PRIOR * theta
        curvature = _curvature(counts, chance)
        step = np.linalg.solve(curvature, slope)
        theta = theta + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < TOLERANCE:
            break
    covariance: Floats = np.linalg.inv(_curvature(counts, expit(theta[:, None] - theta))).astype(np.float64)
    return Strengths(theta, covariance)


def _curvature(counts: Floats, chance: Floats) -> Floats:
    information = counts * chance * (1 - chance)
    return np.asarray(np.diag(information.sum(axis=1) + 2 * PRIOR) - information)


@dataclass(frozen=True)
class PairLook:
    """A look, and the strengths behind it, topic by topic."""

    look: Look
    strengths: tuple[Strengths, ...]


def look_at_pairs(state: PairState, rule: Rule, systems: Systems, before: PairLook | None = None) -> PairLook:
    """The scores that the strengths give, and how sure their order is, by the strengths' covariance."""
    begin = [one.theta for one in before.strengths] if before else [None] * len(state.wins)
    strengths = tuple(strengths_of(wins, start) for wins, start in zip(state.wins, begin, strict=True))
    gain = np.concatenate([one.gain for one in strengths])
    starts = np.append(0, np.cumsum([len(one) for one in state.wins]))
    slopes = [
        systems.weights[:, start:stop] * one.slope
        for one, start, stop in zip(strengths, starts[:-1], starts[1:], strict=True)
    ]
    covariance = np.sum([part @ one.covariance @ part.T for part, one in zip(slopes, strengths, strict=True)], axis=0)
    own = np.diag(covariance)

    def between(first: Ints, second: Ints) -> Floats:
        return np.asarray(own[first] + own[second] - 2 * covariance[first, second])

    spread = np.concatenate([np.diag(one.covariance) * one.slope**2 for one in strengths])
    gains = Gains(gain, spread, spread, spread, 0.0, gain)
    topic = np.repeat(np.arange(len(strengths)), np.diff(starts))
    seen = judged_look(topic, state.answers, gains, between, rule, systems)
    return PairLook(seen, strengths)


def next_pairs(
    state: PairState, seen: PairLook, size: int, allowed: tuple[Floats, ...] | None = None, unit: int = 1
) -> list[tuple[int, int, int]]:
    """The next pairs (topic, document, document; numbers within the topic), each the one that reduces variance most.

    The reduction of an answer about i and j is exact: h/(1 + h·a'Σa) · Σ_d q_d g'_d² (Σa)_d², with a = e_i − e_j and
    h = p(1 − p); Σ is brought up to date after each pair. `allowed` counts how often each pair may still be asked
    (symmetric; all pairs any number of times when not set). With `unit` the topic that has the best next pair gets so
    many pairs.
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


class _Topic:
    """One topic while pairs are chosen: Σ after the pairs chosen so far, and what each further pair would reduce."""

    def __init__(self, strengths: Strengths, value: Floats, left: Floats | None) -> None:
        self.covariance = strengths.covariance
        self.weight = value * strengths.slope**2
        chance = expit(strengths.theta[:, None] - strengths.theta)
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
