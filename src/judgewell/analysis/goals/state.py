"""What was answered about each document, and what that says about its gain before anything is shrunken.

Gains are in points: 0 is the lower end of the scale, 100 the upper one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from judgewell.stats.arrays import Bools, Floats, Ints
from judgewell.stats.sampling import predicted_values, weighted_mean

TOP = 100.0  # the points of the upper end of a scale
NOISE, NOISE_WEIGHT = 0.45, 100.0  # variance of an answer over q (100 − q), and its weight in answers
OWN_WEIGHT = 20.0  # the pooled variance's weight in answers, beside a document's own
INSIDE = 5.0  # a mean is kept this far from the ends when its variance is guessed
FIRST_MEAN, FIRST_SPREAD = 35.0, 600.0  # of gains before there are answers
LEAST_SPREAD = 50.0


@dataclass(frozen=True)
class State:
    """Arrays with a row for each document of the pool, topic by topic.

    A document belongs to the sample when `u < pi`. `asked` and `asked_pi` also count what is handed out and not
    answered yet; answers to documents with `u >= pi` wait until their batch is complete.
    """

    topic: Ints  # the number of the document's topic, ascending from 0
    u: Floats  # a fixed random number in [0, 1[
    n: Ints  # answers
    total: Floats  # Σ of the answers, in points
    squares: Floats  # Σ of their squares
    pi: Floats  # the probability with which the document belongs to the sample, over all complete batches
    asked: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    asked_pi: Floats = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        if not len(self.asked):
            object.__setattr__(self, "asked", self.n)
        if not len(self.asked_pi):
            object.__setattr__(self, "asked_pi", self.pi)

    @property
    def documents(self) -> int:
        return len(self.topic)

    @property
    def answers(self) -> int:
        return int(self.n.sum())

    def answered(self, documents: Ints, points: Floats, pi: Floats) -> State:
        """The state after a whole batch: an answer (in points) about each of these documents, each named once."""
        n, total, squares = self.n.copy(), self.total.copy(), self.squares.copy()
        n[documents] += 1
        total[documents] += points
        squares[documents] += points**2
        return replace(self, n=n, total=total, squares=squares, pi=pi, asked=n, asked_pi=pi)


def empty_state(topic: Ints, lots: Floats) -> State:
    """The state before the first answer; u is the rank of the random `lots`, evenly spread over ]0, 1[."""
    u = (np.argsort(np.argsort(lots, kind="stable")) + 0.5) / len(lots)
    zeros = np.zeros(len(topic))
    return State(topic, u, np.zeros(len(topic), np.int64), zeros, zeros, zeros)


@dataclass(frozen=True)
class Gains:
    """What the answers say about every document's gain."""

    gain: Floats  # unbiased: m + (mean − m) / π in the sample, m elsewhere
    variance: Floats
    noise: Floats  # σ², the variance of one answer
    foreseen: Floats  # σ² as the other documents' answers foresee it: what to ask may not depend on the own answers
    spread: float  # τ², of gains around their prediction
    predicted: Floats  # m


def gains_of(state: State, importance: Floats, full: int | None = None) -> Gains:
    """Gains with the variance of each; `full` asks how far the mean of so many answers may be from the present one.

    Only documents that were not judged get a prediction in place of their mean: a mean is never shrunken here, since
    shrunken gains bring systems closer together than they are.
    """
    sampled = (state.u < state.pi) & (state.n > 0)
    share = sampled.sum() / max(int((state.u < state.pi).sum()), 1)  # less than 1 where answers were withdrawn
    pi = np.where(state.pi >= 1, 1.0, state.pi) * (share or 1.0)
    n = np.maximum(state.n, 1)
    mean = state.total / n
    predicted = predicted_values(state.topic, mean, importance, sampled, pi, FIRST_MEAN, (0.0, TOP))
    spread = weighted_mean(
        (mean - predicted) ** 2, np.where(sampled, 1 / np.where(sampled, pi, 1.0), 0.0), FIRST_SPREAD
    )
    noise, foreseen = _noise(state, mean, predicted, sampled)
    error = float((noise[sampled] / n[sampled] / pi[sampled]).sum() / max((1 / pi[sampled]).sum(), 1.0))
    spread = max(spread - error, LEAST_SPREAD)
    gain = predicted.copy()
    gain[sampled] += (mean - predicted)[sampled] / pi[sampled]
    left = 1 / n - (1 / full if full else 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (1 - pi) / pi * spread + noise * np.maximum(left, 0.0) / pi
    variance = np.where(pi > 0, np.minimum(variance, 1e12), 1e12)  # π = 0: nothing is known
    return Gains(gain, variance, noise, foreseen, spread, predicted)


def _noise(state: State, mean: Floats, predicted: Floats, sampled: Bools) -> tuple[Floats, Floats]:
    """σ² of each document: pooled in proportion to q (100 − q), with its own answers; and before its own answers."""
    n = np.where(sampled, state.n, 0)
    shape = _shape((n * mean + predicted) / (n + 1))
    within = np.where(n > 1, np.maximum(state.squares - n * mean**2, 0.0), 0.0)
    free = np.maximum(n - 1, 0)
    rate = (NOISE * NOISE_WEIGHT + (within / shape).sum()) / (NOISE_WEIGHT + free.sum())
    return np.asarray((OWN_WEIGHT * rate * shape + within) / (OWN_WEIGHT + free)), rate * _shape(predicted)


def _shape(q: Floats) -> Floats:
    """q (100 − q), q being kept inside."""
    q = np.clip(q, INSIDE, TOP - INSIDE)
    return np.asarray(q * (TOP - q))
