"""How reliable the gains of a design can be expected to be, by simulation.

Assumed are log-normal magnitudes: the logarithm of an answer is the document's relevance, plus what the assessor adds
to all documents of a unit, plus noise. The defaults are near what 56,472 crowd judgments of 4,269 documents showed
on the logarithm of a 0–100 scale (documents 1.0, units 0.9, noise 1.2). Reliability is the squared correlation of
the estimated with the true relevance, averaged over simulated topics: the share of the gains' variance that is not
chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgewell.stats.arrays import Floats, Ints
from judgewell.study.design.chance import generator
from judgewell.study.design.graphs import make_graphs
from judgewell.study.design.groups import GroupPlan, make_groups
from judgewell.study.design.units import make_units

# A simulated topic is kept small: reliability depends on how often a document is judged, hardly on how many there are.
LARGEST = 150
MOST_PAIRS = 20_000
ENOUGH = 2000  # documents over all rounds, so that small topics are simulated more often


@dataclass(frozen=True)
class Assumed:
    """Standard deviations, in natural logarithms: between documents, between units, and of single answers."""

    documents: float = 1.0
    units: float = 0.9
    noise: float = 1.2


def reliability_of_units(
    documents: int,
    size: int,
    redundancy: int,
    known: int = 2,
    *,
    seed: int,
    rounds: int | None = None,
    assumed: Assumed | None = None,
) -> float:
    """The expected reliability of document medians after each unit's mean is taken out (Turpin et al. 2015)."""
    assumed = assumed or Assumed()
    documents = min(documents, LARGEST)
    rng = generator(seed, "reliability", str(documents), str(size), str(redundancy))
    known = min(known, documents)
    squared = []
    for _ in range(rounds or _rounds(documents)):
        units = make_units(documents, size, redundancy, rng, known=tuple(range(known)))
        relevance = rng.normal(0, assumed.documents, documents)
        squared.append(_squared(relevance, _estimated(units, relevance, assumed, rng)))
    return float(np.mean(squared))


def reliability_of_pairs(
    plan: GroupPlan, assessors: int, *, seed: int, rounds: int | None = None, assumed: Assumed | None = None
) -> float:
    """The expected reliability of gains from ratios: least squares over the log ratios of all pairs (Yang et al. 2018).

    What an assessor adds to both documents of a pair cancels in their ratio.
    """
    assumed = assumed or Assumed()
    rng = generator(seed, "reliability", *map(str, (plan.documents, plan.size, plan.partners, plan.partitions)))
    small = _smaller(plan, assessors)
    graphs = make_graphs(small.size, small.partners, rng, 32)
    squared = []
    for _ in range(rounds or _rounds(small.documents)):
        pairs = make_groups(small, rng, graphs=graphs, avoid_repeats=False).pairs.reshape(-1, 2)
        pairs = np.repeat(pairs, assessors, axis=0)
        relevance = rng.normal(0, assumed.documents, small.documents)
        ratios = relevance[pairs[:, 0]] - relevance[pairs[:, 1]] + rng.normal(0, assumed.noise * np.sqrt(2), len(pairs))
        squared.append(_squared(relevance, _least_squares(pairs, ratios, small.documents)))
    return float(np.mean(squared))


def _rounds(documents: int) -> int:
    return max(5, -(-ENOUGH // documents))


def _smaller(plan: GroupPlan, assessors: int) -> GroupPlan:
    """The plan for a topic that can be simulated quickly: fewer documents, the same number of meetings of each."""
    pairs_of_each = plan.partners * plan.partitions * assessors / 2
    most = max(3 * plan.size, min(LARGEST, int(MOST_PAIRS / pairs_of_each)))
    if plan.documents <= most:
        return plan
    groups = most // plan.size
    return GroupPlan(groups * plan.size, plan.size, plan.partners, plan.partitions, groups, 0)


def _estimated(units: Ints, relevance: Floats, assumed: Assumed, rng: np.random.Generator) -> Floats:
    """Simulated answers, normalised by unit and reduced to the median of each document."""
    answers = (
        relevance[units] + rng.normal(0, assumed.units, (len(units), 1)) + rng.normal(0, assumed.noise, units.shape)
    )
    normalised = answers - answers.mean(axis=1, keepdims=True) + answers.mean()
    order = np.argsort(units, axis=None, kind="stable")
    starts = np.searchsorted(units.ravel()[order], np.arange(1, len(relevance)))
    return np.array([np.median(part) for part in np.split(normalised.ravel()[order], starts)])


def _least_squares(pairs: Ints, ratios: Floats, documents: int) -> Floats:
    """The relevances whose differences fit the log ratios best: the graph's Laplacian, with a mean of 0."""
    left, right = pairs[:, 0], pairs[:, 1]
    met = np.bincount(left * documents + right, minlength=documents**2).reshape(documents, documents).astype(float)
    met += met.T
    laplacian = np.diag(met.sum(axis=1)) - met
    sums = np.bincount(left, ratios, documents) - np.bincount(right, ratios, documents)
    solved: Floats = np.linalg.lstsq(laplacian, sums, rcond=None)[0].astype(np.float64)
    return solved


def _squared(true: Floats, estimated: Floats) -> float:
    """The squared correlation; two or fewer documents say nothing about it."""
    if len(true) < 3:
        return float("nan")
    return float(np.corrcoef(true, estimated)[0, 1] ** 2)
