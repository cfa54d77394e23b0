"""A whole study in one go: batches asked of a source of answers, with a look after each, until it stops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from judgewell.analysis.goals.batch import batch_size, next_batch, size_within, units_of
from judgewell.analysis.goals.look import Look, Rule, Systems, look
from judgewell.analysis.goals.state import State
from judgewell.stats.arrays import Bools, Floats, Ints

Answers = Callable[[Ints, Ints], Floats]  # documents and how many answers each has had → the next answers, in points


@dataclass(frozen=True)
class Followed:
    """How a study went: its last state and look, and the smallest z at each look that might have stopped it."""

    state: State
    last: Look
    looks: tuple[tuple[int, float], ...]  # answers, smallest z
    batches: tuple[Ints, ...] = ()  # the documents of each

    @property
    def cost(self) -> float:
        """Answers per document of the pool."""
        return self.state.answers / self.state.documents


def follow(
    first: State,
    rule: Rule,
    systems: Systems,
    answers: Answers,
    available: Ints | None = None,
    *,
    stop: bool = True,
    unit: int = 1,
    known: Bools | None = None,
) -> Followed:
    """Ask batch after batch until the rule stops it, or (without `stop`) to the cap; `available` limits the answers.

    Batches have units of `unit` documents of one topic beside the `known` ones.
    """
    state, looks, made = first, [], 0
    batches: list[Ints] = []
    while True:
        seen = look(state, rule, systems)
        if state.answers >= rule.first_test * state.documents:
            looks.append((state.answers, seen.least))
        if seen.status == "not separable" or (stop and seen.status == "decided"):
            return Followed(state, seen, tuple(looks), tuple(batches))
        size = size_within(batch_size(state.answers, state.documents), rule, unit, made)
        batch = next_batch(state, seen, rule, size, unit, available, known)
        if not len(batch.documents):
            return Followed(state, seen, tuple(looks), tuple(batches))
        batches.append(batch.documents)
        made += units_of(batch.documents, state.topic, unit, known)
        points = answers(batch.documents, state.n[batch.documents])
        state = state.answered(batch.documents, points, batch.pi)


def recorded(values: Floats) -> Answers:
    """Answers from a table: documents × answers, in the order in which they are given."""
    return lambda documents, had: np.asarray(values[documents, had])
