"""How reliable the gains of a design can be expected to be, by simulation.

Assumed are log-normal magnitudes: the logarithm of an answer is the document's worth, plus what the assessor adds
to all documents of a unit, plus noise. The defaults are near what 56,472 crowd judgments of 4,269 documents showed
on the logarithm of a 0–100 scale (documents 1.0, units 0.9, noise 1.2). Reliability is the squared correlation of
the estimated with the true worth, averaged over simulated topics: the share of the gains' variance that is not
chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgewell.study.chance import generator
from judgewell.study.graphs import make_graphs
from judgewell.study.groups import GroupPlan, make_groups
from judgewell.study.units import Whole, make_units

LARGEST = 300  # documents of a simulated topic; reliability hardly depends on more


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
    rounds: int = 20,
    assumed: Assumed | None = None,
) -> float:
    """The expected reliability of document medians after each unit's mean is taken out (METHODS 3.1, 4.1)."""
    assumed = assumed or Assumed()
    documents = min(documents, LARGEST)
    rng = generator(seed, "reliability", str(documents), str(size), str(redundancy))
    known = min(known, documents)
    found = []
    for _ in range(rounds):
        units = make_units(documents, size, redundancy, rng, known=tuple(range(known)))
        worth = rng.normal(0, assumed.documents, documents)
        found.append(_squared(worth, _estimated(units, worth, assumed, rng)))
    return float(np.mean(found))


def reliability_of_pairs(
    plan: GroupPlan, assessors: int, *, seed: int, rounds: int = 10, assumed: Assumed | None = None
) -> float:
    """The expected reliability of gains from ratios: least squares over the log ratios of all pairs (METHODS 4.6).

    What an assessor adds to both documents of a pair cancels in their ratio.
    """
    assumed = assumed or Assumed()
    rng = generator(seed, "reliability", *map(str, (plan.documents, plan.size, plan.partners, plan.partitions)))
    small = _smaller(plan)
    graphs = make_graphs(small.size, small.partners, rng, 32)
    found = []
    for _ in range(rounds):
        pairs = make_groups(small, rng, graphs=graphs, avoid_repeats=False).pairs.reshape(-1, 2)
        pairs = np.repeat(pairs, assessors, axis=0)
        worth = rng.normal(0, assumed.documents, small.documents)
        ratios = worth[pairs[:, 0]] - worth[pairs[:, 1]] + rng.normal(0, assumed.noise * np.sqrt(2), len(pairs))
        found.append(_squared(worth, _least_squares(pairs, ratios, small.documents)))
    return float(np.mean(found))


def _smaller(plan: GroupPlan) -> GroupPlan:
    """The plan for a topic that can be simulated quickly: fewer documents, the same number of meetings of each."""
    if plan.documents <= LARGEST:
        return plan
    groups = LARGEST // plan.size
    return GroupPlan(groups * plan.size, plan.size, plan.partners, plan.partitions, groups, 0)


def _estimated(
    units: Whole, worth: NDArray[np.float64], assumed: Assumed, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Simulated answers, normalised by unit and reduced to the median of each document."""
    answers = worth[units] + rng.normal(0, assumed.units, (len(units), 1)) + rng.normal(0, assumed.noise, units.shape)
    normalised = answers - answers.mean(axis=1, keepdims=True) + answers.mean()
    order = np.argsort(units, axis=None, kind="stable")
    starts = np.searchsorted(units.ravel()[order], np.arange(1, len(worth)))
    return np.array([np.median(part) for part in np.split(normalised.ravel()[order], starts)])


def _least_squares(pairs: Whole, ratios: NDArray[np.float64], documents: int) -> NDArray[np.float64]:
    """The worths whose differences fit the log ratios best: the graph's Laplacian, with a mean of 0."""
    laplacian = np.zeros((documents, documents))
    np.add.at(laplacian, (pairs[:, 0], pairs[:, 0]), 1)
    np.add.at(laplacian, (pairs[:, 1], pairs[:, 1]), 1)
    np.add.at(laplacian, (pairs[:, 0], pairs[:, 1]), -1)
    np.add.at(laplacian, (pairs[:, 1], pairs[:, 0]), -1)
    sums = np.zeros(documents)
    np.add.at(sums, pairs[:, 0], ratios)
    np.add.at(sums, pairs[:, 1], -ratios)
    solved: NDArray[np.float64] = np.linalg.lstsq(laplacian, sums, rcond=None)[0].astype(np.float64)
    return solved


def _squared(true: NDArray[np.float64], estimated: NDArray[np.float64]) -> float:
    """The squared correlation; two or fewer documents say nothing about it."""
    if len(true) < 3:
        return float("nan")
    return float(np.corrcoef(true, estimated)[0, 1] ** 2)
