"""Fewer repeated pairs: choosing who meets whom so that the same two documents seldom meet in two groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgewell.stats.arrays import Bools, Ints
from judgewell.study.design.graphs import Graphs

TRIES = 64  # ways to write a group on a graph that are compared at once
EXCHANGES = 150  # exchanges of documents between groups that are tried in a partition


@dataclass(frozen=True)
class Labelled:
    """Groups with their documents written on graphs: members, the graph of each, and the pairs in sequence."""

    members: Ints
    graph: Ints
    pairs: Ints
    repeats: Ints


def pair_known(highs: Ints, lows: Ints, met: Bools, rng: np.random.Generator) -> Ints:
    """The low document for each high one, by lot, exchanged where the two have met and an exchange mends it."""
    lows = lows.copy()
    for group in rng.permutation(len(highs)).tolist():
        if not met[highs[group], lows[group]]:
            continue
        now = 1 + met[highs, lows].astype(int)
        then = met[highs[group], lows].astype(int) + met[highs, lows[group]]
        gain = np.where(np.arange(len(highs)) == group, -1, now - then)
        if gain.max() > 0:
            best = np.flatnonzero(gain == gain.max())
            other = best[rng.integers(len(best))]
            lows[group], lows[other] = lows[other], lows[group]
    return lows


def fewest_repeats(
    members: Ints, graphs: Graphs, met: Bools, rng: np.random.Generator, *, known: bool, search: bool = True
) -> Labelled:
    """The groups written on graphs so that few pairs have met: best of many ways, then exchanges between groups."""
    labelled = _write(members, graphs, met, rng, known, 1)
    if not search:
        return labelled
    bad = np.flatnonzero(labelled.repeats)
    if len(bad):
        labelled = _replaced(labelled, bad, _write(members[bad], graphs, met, rng, known, TRIES))
    for _ in range(EXCHANGES if len(members) > 1 else 0):
        bad = np.flatnonzero(labelled.repeats)
        if not len(bad):
            break
        labelled = _exchanged(labelled, int(bad[rng.integers(len(bad))]), graphs, met, rng, known)
    return labelled


def _write(members: Ints, graphs: Graphs, met: Bools, rng: np.random.Generator, known: bool, tries: int) -> Labelled:
    """Each group on the graph and in the labelling with the fewest met pairs of `tries` random ones.

    The known pair, always on vertices 0 and 1, is the same in every labelling and is not counted.
    """
    count, size = members.shape
    first = 2 if known else 0
    written = np.broadcast_to(members, (tries, count, size)).copy()
    written[:, :, first:] = rng.permuted(written[:, :, first:], axis=2)
    graph = rng.integers(len(graphs.pairs), size=(tries, count))
    vertices = graphs.pairs[graph]
    docs = np.take_along_axis(written, vertices.reshape(tries, count, -1), axis=2).reshape(vertices.shape)
    repeats = met[docs[..., 0], docs[..., 1]].sum(axis=2)
    if known:
        repeats = repeats - met[members[:, 0], members[:, 1]]
    best, row = repeats.argmin(axis=0), np.arange(count)
    return Labelled(written[best, row], graph[best, row], docs[best, row], repeats[best, row])


def _replaced(labelled: Labelled, rows: Ints, new: Labelled) -> Labelled:
    """The groups with some rows written anew."""
    parts = [labelled.members.copy(), labelled.graph.copy(), labelled.pairs.copy(), labelled.repeats.copy()]
    for part, fresh in zip(parts, (new.members, new.graph, new.pairs, new.repeats), strict=True):
        part[rows] = fresh
    return Labelled(*parts)


def _exchanged(
    labelled: Labelled, group: int, graphs: Graphs, met: Bools, rng: np.random.Generator, known: bool
) -> Labelled:
    """One document of a group exchanged with one of another group, if that lowers the repeats of the two."""
    other = int(rng.integers(len(labelled.members) - 1))
    rows = np.array([group, other + (other >= group)], dtype=np.int64)
    trial = labelled.members[rows].copy()
    first = 2 if known else 0
    if first == trial.shape[1]:
        return labelled
    here, there = rng.integers(first, trial.shape[1], size=2)
    if trial[0, here] in trial[1] or trial[1, there] in trial[0]:
        return labelled
    trial[0, here], trial[1, there] = trial[1, there], trial[0, here]
    written = _write(trial, graphs, met, rng, known, TRIES)
    if written.repeats.sum() < labelled.repeats[rows].sum():
        return _replaced(labelled, rows, written)
    return labelled
