"""What a study would buy: alternative designs at equal cost, by simulation, before anything is spent.

For every design as many studies are simulated as `rounds` says, each with its own topics, documents and people. The
budget is working time; how many judgments of each document it buys follows from the seconds that a judgment takes, from
the two known documents in every unit, and from the units that fail. One population, lazy, random and reversed people
included, does all designs under one check: a unit in which the known H is not scored above the known N (in the pair
that they make, or by their answers) is thrown away and done again by somebody else, and its time is spent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
import polars as pl

from judgewell.assessors import answers
from judgewell.assessors.arrays import ANYWHERE, Crowd, crowd_of
from judgewell.assessors.people import make_people
from judgewell.assessors.population import Population
from judgewell.assessors.synthetic_tables import done_again, judged_units
from judgewell.comparison.correlation import spearman
from judgewell.errors import InputError
from judgewell.executors import Executor
from judgewell.scaling.uncertainty import wilson
from judgewell.stats.arrays import Bools, Floats, Ints
from judgewell.study.design.chance import generator

ScaleName = Literal["magnitude", "s100", "ordinal", "binary", "pairs"]
KNOWN = 2  # documents of every unit
PARTNERS = 3  # of a document in its group
DEPTH = 10
# Of one judgment: 0–100 as measured (median 55 s); magnitudes alike, grades and pairs assumed to be quicker.
SECONDS = {"magnitude": 55.0, "s100": 55.0, "ordinal": 45.0, "binary": 40.0, "pairs": 33.0}


@dataclass(frozen=True)
class Alternative:
    """A design to compare: the scale and the size of a unit (documents, or pairs), and the seconds a judgment takes."""

    scale: ScaleName
    size: int = 8
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.scale == "pairs" and (self.size % 6 or self.size < 6):
            raise InputError(
                f"a unit of {self.size} pairs does not make a group", cure="give 6, 12, 18 …: three for two documents"
            )
        if self.size <= KNOWN:
            raise InputError(f"a unit of {self.size} holds only known documents", cure="give more than 2")

    @property
    def each(self) -> float:
        return SECONDS[self.scale] if self.seconds is None else self.seconds

    def units(self, hours: float, overhead: float) -> int:
        """The units of a topic that the time for it buys."""
        return int(hours * 3600 / (self.size * self.each + overhead))

    def __str__(self) -> str:
        return f"{self.scale}, {self.size} {'pairs' if self.scale == 'pairs' else 'documents'}"


DEFAULTS = (
    Alternative("magnitude"),
    Alternative("s100"),
    Alternative("ordinal"),
    Alternative("binary"),
    Alternative("pairs", 12),
)


def expected_value(
    designs: Sequence[Alternative] = DEFAULTS,
    *,
    documents: int,
    topics: int,
    hours: float,
    seed: int,
    rounds: int = 100,
    overhead: float = 60.0,
    population: Population | None = None,
    progress: Callable[[int, int], None] | None = None,
    executor: Executor | None = None,
) -> pl.DataFrame:
    """What each design is expected to give for the same `hours` of work over all topics of `documents` each.

    units        what the hours buy; `failed` is the share of them that is thrown away, and `seconds per judgment` is
                 what a judgment is assumed to take
    correlation  Spearman's, of the gains with the documents' true relevance, mean over topics; low and high hold 95 %
                 of the simulated studies
    better       the chance that the better of two systems has the higher mean nDCG@10 under the gains, with its 95 %
                 interval (Wilson). The two rank by relevance with noise of 2.0 and 2.4 in log odds; the better one is
                 known from the documents' relevance itself

    All designs see the same topics, documents and systems.
    """
    if documents < DEPTH or topics < 1 or rounds < 2:
        raise InputError(
            f"{topics} topics of {documents} documents in {rounds} rounds cannot be simulated",
            cure=f"give at least 1 topic, {DEPTH} documents and 2 rounds",
        )
    population = population or Population()
    crowd = crowd_of(make_people(300, seed, population), population)
    units_of = [design.units(hours / topics, overhead) for design in designs]
    for design, units in zip(designs, units_of, strict=True):
        if units < 1:
            raise InputError(f"{hours:g} hours buy no unit of {design} for each topic", cure="give more hours")
    executor = executor or Executor()
    tasks = [(*one, number) for one in zip(designs, units_of, strict=True) for number in range(rounds)]
    simulated = executor.map(_study, tasks, documents, topics, executor.share(crowd), seed, total=len(tasks))
    rows = []
    for place, (design, units) in enumerate(zip(designs, units_of, strict=True)):
        studies = []
        for number in range(rounds):
            studies.append(next(simulated))
            if progress:
                progress(place * rounds + number + 1, len(tasks))
        correlations = np.array([one.correlation for one in studies])
        hits = [one.better for one in studies if one.better is not None]
        passed = float(np.mean([one.passed for one in studies])) / topics
        low, high = np.quantile(correlations, [0.025, 0.975])
        better, better_low, better_high = _share(sum(hits), len(hits))
        rows.append(
            {
                "design": str(design),
                "units": units * topics,
                "failed": 1 - passed / units,
                "seconds per judgment": design.each,
                "judgments per document": round(_each(design, passed, documents), 2),
                "hours": round(units * topics * (design.size * design.each + overhead) / 3600, 1),
                "correlation": float(correlations.mean()),
                "correlation_low": float(low),
                "correlation_high": float(high),
                "better": better,
                "better_low": better_low,
                "better_high": better_high,
            }
        )
    return pl.DataFrame(rows)


def _each(design: Alternative, units: float, documents: int) -> float:
    """How often a document that is not known is judged, or shown in a pair."""
    if design.scale == "pairs":
        return units * PARTNERS * (design.size * 2 // PARTNERS - KNOWN) / documents
    return units * (design.size - KNOWN) / documents


@dataclass(frozen=True)
class _Simulated:
    """One simulated study: its mean correlation, whether the better system came out (None where both are equal), and
    how many units passed."""

    correlation: float
    better: bool | None
    passed: int


def _study(task: tuple[Alternative, int, int], documents: int, topics: int, crowd: Crowd, seed: int) -> _Simulated:
    design, units, number = task
    world = generator(seed, "world", str(number))
    chance = generator(seed, "judging", str(number), str(design))
    correlations, passed, true, seen = [], 0, np.zeros(2), np.zeros(2)
    for _ in range(topics):
        relevance = topic_relevances(documents, crowd.population, world)
        gains, used = _gains(design, units, relevance, crowd, chance)
        passed += used
        correlations.append(_correlation(gains, relevance[KNOWN:]))
        ranked = [relevance[KNOWN:] + world.normal(0, noise, documents) for noise in (2.0, 2.4)]
        true += [_ndcg(one, answers.share(relevance[KNOWN:])) for one in ranked]
        seen += [_ndcg(one, gains) for one in ranked]
    hit = None if true[0] == true[1] else bool((true[0] > true[1]) == (seen[0] > seen[1]) and seen[0] != seen[1])
    return _Simulated(float(np.mean(correlations)), hit, passed)


def topic_relevances(
    documents: int, population: Population, rng: np.random.Generator, *, alike: bool = False
) -> Floats:
    """The known H, the known N, and a topic's documents, their grades in the usual mixture or all alike."""
    grade = rng.choice(len(population.grades), documents, p=None if alike else population.mixture)
    own = np.asarray(population.grades)[grade] + population.document * rng.normal(size=documents)
    known = np.array([population.known_high, population.known_low]) + population.known * rng.normal(size=2)
    return np.concatenate([known, own])


def _gains(
    design: Alternative, units: int, relevance: Floats, crowd: Crowd, rng: np.random.Generator
) -> tuple[Floats, int]:
    """The gains of a topic's documents, without known ones, and how many units passed; what was never judged is
    relevance 0."""
    if design.scale == "pairs":
        return pair_gains(units, design.size, relevance, crowd, rng, failures_count=True)
    count = len(relevance) - KNOWN
    taken = design.size - KNOWN
    deck = np.concatenate([rng.permutation(count) for _ in range(-(-units * taken // count))]) + KNOWN
    others = deck[: units * taken].reshape(units, taken)
    work = rng.permuted(np.concatenate([np.tile([0, 1], (units, 1)), others], axis=1), axis=1)
    _, values, tries = judged_units(design.scale, relevance, work, crowd, rng)
    passed = _paid_for(tries, units)
    work, values = work[:passed], values[:passed]
    if design.scale == "magnitude" and passed:  # unit means removed, then each document's median (METHODS 3.1, 4.1)
        logs = np.log(values)
        values = np.exp(logs - logs.mean(axis=1, keepdims=True) + logs.mean())
    middle = np.median if design.scale == "magnitude" else np.mean
    at, flat = work.ravel(), values.ravel()
    gains = [middle(flat[at == doc]) if (at == doc).any() else 0.0 for doc in range(KNOWN, len(relevance))]
    return np.array(gains, dtype=np.float64), passed


def _paid_for(tries: Ints, units: int) -> int:
    """How many units are done, one after another, when time for so many tries is paid."""
    return int(np.searchsorted(np.cumsum(tries), units, side="right"))


def pair_gains(
    units: int, size: int, relevance: Floats, crowd: Crowd, rng: np.random.Generator, *, failures_count: bool = False
) -> tuple[Floats, int]:
    """Gains from the ratios of pairs by least squares on their logarithms (METHODS 4.6), ε = 1, not relevant 0; and
    how many groups they come from: all, or with `failures_count` those done in time for so many tries.

    A unit is a group in which each document meets three others; the known H and N are in each, and meet. An impression
    stays, but for its passing part, when the same person meets the document again.
    """
    count, members = len(relevance) - KNOWN, size * 2 // PARTNERS
    others = _groups(units, members - KNOWN, count, rng) + KNOWN
    groups = np.concatenate([np.tile([0, 1], (len(others), 1)), others], axis=1)
    edges = _three_each(members)

    def attempt(todo: Ints, who: Ints) -> tuple[Floats, Bools]:
        seen = _seen_in_pairs(relevance[groups[todo]], edges, crowd, who, rng)
        person = who[:, None, None]
        habits = crowd.typed[person, 0], crowd.typed[person, 1]
        scores = answers.magnitudes(seen, crowd.modulus[person], crowd.width[person], *habits, rng)
        scores = np.log(np.where(seen > answers.thresholds(2, crowd.population)[0], scores, 0.0) + 1)
        return scores[..., 0] - scores[..., 1], seen[:, 0, 0] > seen[:, 0, 1]  # the first pair is that of H and N

    _, ratios, tries = done_again((len(groups), len(edges)), crowd, attempt, rng)
    passed = _paid_for(tries, units) if failures_count else len(groups)
    pairs = groups[:passed, edges].reshape(-1, 2)
    return _least_squares(pairs, ratios[:passed].ravel(), len(relevance))[KNOWN:], passed


def _seen_in_pairs(relevance: Floats, edges: Ints, crowd: Crowd, who: Ints, rng: np.random.Generator) -> Floats:
    """How relevant the two documents of each pair look: groups × pairs × 2; `relevance` is groups × documents."""
    lasting, noise = crowd.population.lasting, crowd.noise[who]
    stays = relevance + noise[:, None] * sqrt(lasting) * rng.normal(size=relevance.shape)
    both = stays[:, edges]
    both = both + noise[:, None, None] * sqrt(1 - lasting) * rng.normal(size=both.shape)
    sense = crowd.sense[who][:, None, None]
    both = np.where(sense == 0, rng.normal(0, ANYWHERE, both.shape), sense * both)
    return np.asarray(both + crowd.shift[who][:, None, None])


def _groups(units: int, size: int, count: int, rng: np.random.Generator) -> Ints:
    """Groups of different documents, all documents about equally often."""
    if size > count:
        raise InputError(f"groups of {size} documents cannot be made of {count}", cure="give smaller units")
    order = np.argsort(rng.random((-(-units // (count // size)), count)), axis=1)
    whole = order[:, : count // size * size].reshape(-1, size)
    return whole[:units]


def _three_each(size: int) -> Ints:
    """The pairs of a group in which everybody meets both neighbours in a ring and the one opposite, the first two
    first."""
    ring = [(one, (one + 1) % size) for one in range(size)]
    across = [(one, one + size // 2) for one in range(size // 2)]
    return np.array(ring + across)


def _least_squares(pairs: Ints, ratios: Floats, count: int) -> Floats:
    """The gains whose log ratios fit best; groups that share no document have their own mean of 0."""
    left, right = pairs[:, 0], pairs[:, 1]
    met = np.zeros((count, count))
    np.add.at(met, (left, right), 1.0)
    met += met.T
    sums = np.bincount(left, ratios, count) - np.bincount(right, ratios, count)
    return np.asarray(np.exp(np.linalg.lstsq(np.diag(met.sum(axis=1)) - met, sums, rcond=None)[0]))


def _ndcg(ranking: Floats, gains: Floats) -> float:
    """nDCG@10 with linear gains."""
    discount = 1 / np.log2(np.arange(2, DEPTH + 2))
    best = float(np.sort(gains)[::-1][:DEPTH] @ discount)
    return float(gains[np.argsort(-ranking)[:DEPTH]] @ discount) / best if best else 0.0


def _correlation(gains: Floats, truth: Floats) -> float:
    """Spearman's rho; 0 where gains tell no documents apart and so say nothing about the truth."""
    return 0.0 if np.ptp(gains) == 0 else float(spearman(gains, truth))


def _share(hits: int, total: int) -> tuple[float, float, float]:
    """A share with its 95 % interval."""
    if not total:
        return np.nan, np.nan, np.nan
    low, high = wilson(np.array(hits / total), np.array(float(total)), 0.95)
    return hits / total, float(low), float(high)
