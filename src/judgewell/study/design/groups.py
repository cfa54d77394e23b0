"""Groups of documents for pairwise judging: random partitions of a topic's pool, each group with a known pair.

The pool is partitioned X times into groups of D. Every group holds one document known to be relevant (high) and one
known not to be (low), which always meet; every document meets K others of its group (Yang et al. 2018).
Documents are numbered 0..n-1 here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

import numpy as np

from judgewell.errors import DataError, InputError
from judgewell.stats.arrays import Bools, Ints
from judgewell.study.design.graphs import Graphs, make_graphs
from judgewell.study.design.repair import Labelled, fewest_repeats, pair_known


@dataclass(frozen=True)
class GroupPlan:
    """The sizes that the rule gives a topic: what is partitioned, into how many groups, how often."""

    documents: int
    size: int
    partners: int
    partitions: int
    groups: int
    padding: int

    @property
    def total(self) -> int:
        """Groups over all partitions."""
        return self.groups * self.partitions


@dataclass(frozen=True)
class Grouping:
    """The groups of a topic: documents group × D (known high and low first), pairs group × pair × (left, right).

    `repeats` counts pairs that had met in an earlier group, the known pairs' own repeats apart; `resampled` counts
    the places per partition filled by a document of another group of the same partition.
    """

    plan: GroupPlan
    documents: Ints
    pairs: Ints
    partition: Ints
    resampled: int
    repeats: int
    known_repeats: int
    breaks: int


def partitions_for(documents: int, partners: int, share: float = 0.15) -> int:
    """How many partitions let each document meet a share of the others: X = round(share·(n − 1)/K), at least 1."""
    return max(1, floor(share * (documents - 1) / partners + 0.5))


def groups_per_partition(documents: int, high: int, low: int, size: int) -> int:
    """The least number of groups that hold every document, one high and one low in each.

    The G high places take min(high, G) of the high documents, the low ones likewise; the rest need (D − 2)·G
    places. With too few high documents they are used again, so groups count places, not documents (Yang et al. 2018).
    """
    if size < 3 and documents > 2:
        raise InputError(
            f"a group of {size} has no room beside the known pair",
            cure="make groups of at least 3, or without known pairs",
        )
    groups = max(1, -(-documents // size))
    while (size - 2) * groups < documents - min(high, groups) - min(low, groups):
        groups += 1
    return groups


def plan_groups(
    documents: int,
    *,
    high: int,
    low: int,
    size: int = 8,
    partners: int = 3,
    partitions: int | None = None,
    share: float = 0.15,
    outside: int = 0,
) -> GroupPlan:
    """The plan for a topic; `high` = `low` = 0 means groups without a known pair.

    Up to `outside` documents from outside the pool pad it to whole groups. A topic smaller than a group is one
    group of all its documents, each meeting as near to K others as that allows.
    """
    if documents < 2:
        raise DataError(f"{documents} document makes no pair; add documents to the topic or leave it out")
    if (high == 0) != (low == 0):
        missing = "known relevant" if high == 0 else "known not relevant"
        raise DataError(f"no {missing} document for the topic; grade one, or ask for groups without known documents")
    known = high > 0
    groups = groups_per_partition(documents, high, low, size) if known else max(1, -(-documents // size))
    places = size * groups - (max(0, groups - high) + max(0, groups - low) if known else 0)
    padding = min(outside, max(0, places - documents))
    documents += padding
    if documents < size:
        size, partners = documents, _fitting_partners(documents, partners)
    return GroupPlan(
        documents, size, partners, partitions or partitions_for(documents, partners, share), groups, padding
    )


def make_groups(
    plan: GroupPlan,
    rng: np.random.Generator,
    *,
    high: Sequence[int] = (),
    low: Sequence[int] = (),
    graphs: Graphs | None = None,
    avoid_repeats: bool = True,
) -> Grouping:
    """Groups by lot according to the plan, with as few repeated pairs across partitions as the search finds."""
    graphs = graphs or make_graphs(plan.size, plan.partners, rng)
    if (graphs.size, graphs.partners) != (plan.size, plan.partners):
        raise InputError(f"graphs of {graphs.size} with {graphs.partners} partners do not fit the plan {plan}")
    known = bool(len(high))
    met = np.zeros((plan.documents, plan.documents), dtype=bool)
    parts, resampled = [], 0
    repeats = known_repeats = 0
    for _ in range(plan.partitions):
        members, resampled = _partition(plan, np.array(high, dtype=np.int64), np.array(low, dtype=np.int64), met, rng)
        labelled = fewest_repeats(members, graphs, met, rng, known=known, search=avoid_repeats)
        again, known_again = _mark(labelled, met, known)
        repeats += again
        known_repeats += known_again
        parts.append(labelled)
    pairs = np.concatenate([_sequences(part, graphs, rng) for part in parts])
    return Grouping(
        plan,
        np.concatenate([part.members for part in parts]),
        pairs,
        np.repeat(np.arange(1, plan.partitions + 1), plan.groups),
        resampled,
        repeats,
        known_repeats,
        int(sum(graphs.breaks[part.graph].sum() for part in parts)),
    )


def _fitting_partners(size: int, partners: int) -> int:
    """The number of partners nearest to the wish for which a connected group of this size exists."""
    wish = min(partners, size - 1)
    if size * wish % 2:
        wish = wish + 1 if wish + 1 < size else wish - 1
    return max(wish, min(2, size - 1))


def _partition(plan: GroupPlan, high: Ints, low: Ints, met: Bools, rng: np.random.Generator) -> tuple[Ints, int]:
    """One partition: rows of members, and how many places had to be filled by a document for the second time."""
    members = np.full((plan.groups, plan.size), -1, dtype=np.int64)
    taken = np.zeros(plan.documents, dtype=bool)
    first, resampled = 0, 0
    if len(high):
        highs, lows = _drawn(high, plan.groups, rng), _drawn(low, plan.groups, rng)
        members[:, 0] = highs
        members[:, 1] = pair_known(highs, lows, met, rng)
        taken[highs] = taken[lows] = True
        first = 2
        resampled = 2 * plan.groups - int(taken.sum())
    others = rng.permutation(np.flatnonzero(~taken))
    places = [(group, slot) for slot in range(first, plan.size) for group in range(plan.groups)]
    for (group, slot), doc in zip(places, others.tolist(), strict=False):
        members[group, slot] = doc
    for group, slot in places[len(others) :]:
        free = np.setdiff1d(np.arange(plan.documents), members[group])
        members[group, slot] = free[rng.integers(len(free))]
        resampled += 1
    return members, resampled


def _drawn(candidates: Ints, count: int, rng: np.random.Generator) -> Ints:
    """`count` of the candidates by lot, each used again only when all have been used equally often."""
    rounds = [rng.permutation(candidates) for _ in range(-(-count // len(candidates)))]
    return rng.permutation(np.concatenate(rounds)[:count])


def _mark(labelled: Labelled, met: Bools, known: bool) -> tuple[int, int]:
    """Note the pairs as met; how many had met before, the known pairs counted apart."""
    a, b = labelled.pairs[..., 0].ravel(), labelled.pairs[..., 1].ravel()
    low, high = np.minimum(a, b), np.maximum(a, b)
    keys, place = np.unique(low * len(met) + high, return_index=True)
    before = met[low[place], high[place]]
    again = len(low) - len(keys) + int(before.sum())
    known_again = 0
    if known:
        pair = np.sort(labelled.members[:, :2], axis=1)
        distinct = np.unique(pair, axis=0)
        known_again = len(pair) - len(distinct) + int(met[distinct[:, 0], distinct[:, 1]].sum())
    met[low, high] = met[high, low] = True
    return again - known_again, known_again


def _sequences(part: Labelled, graphs: Graphs, rng: np.random.Generator) -> Ints:
    """The pairs of each group in its graph's sequence, by lot from either end and with either side first."""
    pairs = part.pairs
    backwards, mirrored = rng.integers(2, size=(2, len(pairs))).astype(bool)
    pairs = np.where(backwards[:, None, None], pairs[:, ::-1], pairs)
    return np.where(mirrored[:, None, None], pairs[:, :, ::-1], pairs)
