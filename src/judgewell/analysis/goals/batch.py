"""Which documents to ask about next, and what a batch is expected to bring."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from judgewell.analysis.goals.look import Look, Rule, Systems, certainty, difference_variances, topic_starts
from judgewell.analysis.goals.state import State
from judgewell.stats.arrays import Floats, Ints

NEXT = 100  # answers for which the expected effect is shown


@dataclass(frozen=True)
class Batch:
    """Documents to ask about, each once, topic by topic and the most useful first, and π after it."""

    documents: Ints
    pi: Floats = field(repr=False)  # of every document of the pool; a replay raises the same ones by as much

    def entry(self) -> dict[str, Any]:
        """What is logged, so that a replay can be held against it: rows of the pool with the π each has then."""
        return {"documents": self.documents.tolist(), "inclusion": self.pi[self.documents].round(6).tolist()}


def batch_size(answers: int, documents: int) -> int:
    """.1 of the documents up to .6 answers per document, .2 up to 2, then .5."""
    share = 0.1 if answers < 0.6 * documents else 0.2 if answers < 2 * documents else 0.5
    return max(1, round(share * documents))


def next_batch(
    state: State, seen: Look, rule: Rule, size: int | None = None, unit: int = 1, available: Ints | None = None
) -> Batch:
    """The next documents to ask about: `size` of them, in units of `unit` documents of one topic.

    Documents are taken by their key, the λ up to which they are wanted: q(τ² + σ²)/u² for one that is not in the sample
    (its π rises to √(q(τ² + σ²)/λ), and it is asked about when u < π), q σ²/(n(n + 1)) for one more answer about a
    document with π = 1. λ is the largest key that is not taken (of a topic, where there are units), as in priority
    sampling. No document is asked about more often than `rule.most`, or than `available` says. Fewer documents come
    back when there is nothing left to ask.
    """
    size = batch_size(int(state.asked.sum()), state.documents) if size is None else size
    most = np.full(state.documents, rule.most) if available is None else np.minimum(rule.most, available)
    unasked = (state.asked == 0) & (state.u >= state.asked_pi)
    if rule.mode == "floor" and unasked.any():
        return Batch(np.flatnonzero(unasked), np.ones(state.documents))
    if rule.mode == "even":
        return _evenly(state, most, size)
    new = seen.value * (seen.gains.spread + seen.gains.foreseen)
    again = seen.value * seen.gains.foreseen / np.maximum(state.asked * (state.asked + 1.0), 1.0)
    more = (state.asked_pi >= 1) & (state.asked > 0) & (state.asked < most)
    key = np.where(unasked, new / np.square(state.u), np.where(more, again, 0.0))
    chosen = np.sort(_largest(key, size)) if unit == 1 else _in_units(key, state.topic, size, unit)
    rest = key.copy()
    rest[chosen] = 0.0
    if unit == 1:
        least = np.full(state.documents, rest.max())
    else:
        count = int(state.topic[-1]) + 1
        limits = np.maximum.reduceat(rest, topic_starts(state.topic))
        asks = np.bincount(state.topic[chosen], minlength=count) > 0
        least = np.where(asks, limits, np.inf)[state.topic]
    with np.errstate(divide="ignore"):
        pi = np.maximum(state.asked_pi, np.minimum(1.0, np.sqrt(new / least)))
    asked = ~unasked
    asked[chosen] = True
    pi = np.where(asked, np.maximum(pi, np.nextafter(state.u, 1.0)), np.minimum(pi, state.u))  # but for rounding
    return Batch(chosen, pi)


def _evenly(state: State, most: Ints, size: int) -> Batch:
    """Documents asked about least often, in the order of u; π is the share of documents asked about."""
    order = np.lexsort((state.u, state.asked))
    chosen = order[state.asked[order] < most[order]][:size]
    share = float(((state.asked > 0).sum() + (state.asked[chosen] == 0).sum()) / state.documents)
    return Batch(np.sort(chosen), np.full(state.documents, share))


def _largest(key: Floats, size: int) -> Ints:
    """The rows with the largest keys above 0, the largest first."""
    order = np.argsort(-key, kind="stable")[:size]
    return order[key[order] > 0]


def _in_units(key: Floats, topic: Ints, size: int, unit: int) -> Ints:
    """About `size` rows with large keys: the nearest whole number of units for each topic, topic by topic."""
    count = int(topic[-1]) + 1
    wanted = np.bincount(topic[_largest(key, size)], minlength=count) / unit
    units: Ints = np.floor(wanted).astype(np.int64)
    missing = max(round(wanted.sum()), 1) - int(units.sum())
    units[np.argsort(units - wanted, kind="stable")[: max(missing, 0)]] += 1
    order = np.lexsort((-key, topic))
    place = np.arange(len(key)) - np.searchsorted(topic, topic)  # within the topic; topics ascend
    return order[(place < units[topic] * unit) & (key[order] > 0)]


@dataclass(frozen=True)
class Expected:
    """What further answers are expected to do, if the scores stay as they are."""

    answers: int
    least: float  # the smallest z then
    contested: int  # pairs that are contested then
    to_end: int | None  # answers until the study stops; None: not within its cap


def expect(state: State, seen: Look, rule: Rule, systems: Systems, answers: int = NEXT) -> Expected:
    """What the next answers are expected to do, and how many there are until the end."""
    after, used = _imagined(state, seen, rule, answers)
    z = _imagined_z(after, seen, rule, systems)
    contested = int((z[seen.contested] < rule.contested).sum())
    least = float(z[seen.relevant].min(initial=math.inf))
    if seen.status != "collecting":
        return Expected(used, least, contested, 0 if seen.status == "decided" else None)
    done, state_then = 0, state
    while True:
        state_then, more = _imagined(state_then, seen, rule, None)
        done += more
        if not more or state_then.answers > rule.most * state.documents:
            return Expected(used, least, contested, None)
        now = _imagined_z(state_then, seen, rule, systems)[seen.relevant].min(initial=math.inf)
        if now >= rule.threshold and state_then.answers >= rule.first_test * state.documents:
            return Expected(used, least, contested, done)


def _imagined(state: State, seen: Look, rule: Rule, size: int | None) -> tuple[State, int]:
    """The state when the next batch has been answered, without its answers."""
    batch = next_batch(state, seen, rule, size)
    n = state.asked.copy()
    n[batch.documents] += 1
    return replace(state, n=n, pi=batch.pi, asked=n, asked_pi=batch.pi), len(batch.documents)


def _imagined_z(state: State, seen: Look, rule: Rule, systems: Systems) -> Floats:
    pi, n = np.clip(state.pi, 1e-9, 1.0), np.maximum(state.n, 1)
    left = np.maximum(1 / n - (1 / rule.full if rule.full else 0.0), 0.0)
    variance = (1 - pi) / pi * seen.gains.spread + seen.gains.noise * left / pi
    spread = difference_variances(systems.weights, variance, seen.first, seen.second)
    return certainty(rule, seen.means[seen.first] - seen.means[seen.second], spread)


def even_answers(seen: Look, rule: Rule, systems: Systems) -> int | None:
    """The answers after which an even design would be as sure if the scores are as they are; None: not by its cap."""
    first, second, noise, spread = seen.first, seen.second, seen.gains.noise, seen.gains.spread
    kept = seen.relevant & np.isfinite(seen.z)
    if not kept.any():
        return 0
    distance = (seen.means[first] - seen.means[second])[kept] + (rule.within if rule.decide == "best" else 0.0)
    allowed = np.square(np.maximum(distance, 0.0) / rule.threshold)
    once = difference_variances(systems.weights, noise, first, second)[kept]
    apart = difference_variances(systems.weights, np.full(len(noise), spread), first, second)[kept]
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(allowed >= once, (once + apart) / (allowed + apart), once / allowed)
    most = float(np.max(np.maximum(needed, rule.first_test)))
    return math.ceil(most * len(noise)) if most <= rule.most else None
