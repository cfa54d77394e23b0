"""Which documents to ask about next, and what a batch is expected to bring."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from judgewell.analysis.goals.look import Look, Rule, Systems, certainty, difference_variances, topic_starts
from judgewell.analysis.goals.state import State
from judgewell.stats.arrays import Bools, Floats, Ints

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
    state: State,
    seen: Look,
    rule: Rule,
    size: int | None = None,
    unit: int = 1,
    available: Ints | None = None,
    known: Bools | None = None,
) -> Batch:
    """The next documents to ask about: `size` of them, in units of `unit` documents of one topic.

    `known` marks documents that every unit of their topic has anyway: they are asked about beside the `unit` others.

    Documents are taken by their key, the λ up to which they are wanted: q(τ² + σ²)/u² for one that is not in the sample
    (its π rises to √(q(τ² + σ²)/λ), and it is asked about when u < π), q σ²/(n(n + 1)) for one more answer about a
    document with π = 1. λ is the largest key that is not taken (of a topic, where there are units), as in priority
    sampling. No document is asked about more often than `rule.most`, or than `available` says. Fewer documents come
    back when there is nothing left to ask.
    """
    size = batch_size(int(state.asked.sum()), state.documents) if size is None else size
    if size <= 0:
        return Batch(np.empty(0, np.int64), state.asked_pi)
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
    free = np.zeros(state.documents, bool) if known is None else known
    chosen = np.sort(_largest(key, size)) if unit == 1 else _in_units(key, state.topic, size, unit, free)
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


def _in_units(key: Floats, topic: Ints, size: int, unit: int, known: Bools) -> Ints:
    """About `size` rows with large keys in whole units of their topics, topic by topic, the largest keys first.

    A topic has no more units than its rows fill, unless no topic can fill one. A known row is taken where its key is
    above those of the rows for which the units of its topic have no place.
    """
    count = int(topic[-1]) + 1
    placed = np.where(known, 0.0, key)
    wanted = np.bincount(topic[_largest(placed, size)], minlength=count) / unit
    rows = np.bincount(topic[placed > 0], minlength=count)
    most = rows // unit if (rows >= unit).any() else np.minimum(rows, 1)
    units = _whole_units(wanted, most)
    order = np.lexsort((-placed, topic))
    place = np.arange(len(key)) - np.searchsorted(topic, topic)  # within the topic; topics ascend
    taken = (place < units[topic] * unit) & (placed[order] > 0)
    limit = np.zeros(count)
    np.maximum.at(limit, topic[order[~taken]], placed[order[~taken]])
    chosen = np.zeros(len(key), bool)
    chosen[order[taken]] = True
    chosen |= known & (units[topic] > 0) & (key > limit[topic])
    in_order = np.lexsort((-key, topic))
    return in_order[chosen[in_order]]


def _whole_units(wanted: Floats, most: Ints) -> Ints:
    """Whole units of each topic: as many in all as are wanted, nearest to the wanted ones, none with more than most."""
    units: Ints = np.minimum(np.floor(wanted).astype(np.int64), most)
    missing = min(max(round(wanted.sum()), 1), int(most.sum())) - int(units.sum())
    for _ in range(missing):
        units[np.argmax(np.where(units < most, wanted - units, -np.inf))] += 1
    return units


def units_of(documents: Ints, topic: Ints, unit: int, known: Bools | None = None) -> int:
    """The units that these documents take, each of one topic with at most `unit` of them beside the known ones."""
    placed = documents if known is None else documents[~known[documents]]
    return int(np.ceil(np.bincount(topic[placed]) / unit).sum())


def size_within(size: int, rule: Rule, unit: int, made: int) -> int:
    """The size of a batch after `made` units, cut where the study would have more units than its whole design."""
    return size if rule.most_units is None else min(size, max(0, rule.most_units - made) * unit)


@dataclass(frozen=True)
class Expected:
    """What further answers are expected to do, if the scores stay as they are."""

    answers: int
    least: float  # the smallest z then
    contested: int  # pairs that are contested then
    to_end: int | None  # answers until the study stops; None: not within its cap
    units: int  # until it stops or reaches its cap, with those that are made and not complete


def expect(
    state: State,
    seen: Look,
    rule: Rule,
    systems: Systems,
    answers: int = NEXT,
    *,
    unit: int = 1,
    known: Bools | None = None,
    pending: Sequence[Batch] = (),
    made: int = 0,
) -> Expected:
    """What the next answers are expected to do, and how many answers and units there are until the end.

    `made` units are complete; the batches that are made and not complete, `pending`, are answered first.
    """
    batch = next_batch(state, seen, rule, answers)
    used = len(batch.documents)
    z = _imagined_z(_imagined(state, batch), seen, rule, systems)
    contested = int((z[seen.contested] < rule.contested).sum())
    least = float(z[seen.relevant].min(initial=math.inf))
    if seen.status != "collecting":
        return Expected(used, least, contested, 0 if seen.status == "decided" else None, 0)
    begun = np.bincount([at for batch in pending for at in batch.documents], minlength=state.documents)
    before = np.maximum(state.asked - begun, 0)
    then = replace(state, n=before, asked=before, asked_pi=state.pi)
    waiting, asked, units = list(pending), 0, 0
    while True:
        size = size_within(batch_size(int(then.asked.sum()), state.documents), rule, unit, made + units)
        batch = waiting.pop(0) if waiting else next_batch(then, seen, rule, size, unit, known=known)
        if not len(batch.documents):
            return Expected(used, least, contested, None, units)
        then = _imagined(then, batch)
        asked, units = asked + len(batch.documents), units + units_of(batch.documents, state.topic, unit, known)
        now = _imagined_z(then, seen, rule, systems)[seen.relevant].min(initial=math.inf)
        if now >= rule.threshold and then.answers >= rule.first_test * state.documents:
            return Expected(used, least, contested, asked, units)


def _imagined(state: State, batch: Batch) -> State:
    """The state when a batch has been answered, without its answers."""
    n = state.asked.copy()
    n[batch.documents] += 1
    return replace(state, n=n, pi=batch.pi, asked=n, asked_pi=batch.pi)


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
