"""The score that judgments without noise would have given.

Noise in gains moves most measures one way (nDCG down). So the gains are made noisier on purpose, once and twice as
much as they are, and the score is extrapolated back to no noise (simulation extrapolation, Cook & Stefanski 1994).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from judgewell.errors import DataError
from judgewell.executors import Executor
from judgewell.stats.arrays import Floats, Ints

Score = Callable[[Floats], Floats]  # gains (draws × rows) -> scores (draws × systems × topics)


@runtime_checkable
class MadeDraws(Protocol):
    """Draws of gain tables that are made where they are needed, a block at a time."""

    def blocks(self) -> Iterable[Any]:
        """A small task for each block."""

    def block(self, task: Any) -> Floats:
        """Draws × rows."""


Draws = Iterable[Floats] | MadeDraws
LEAST_JUDGMENTS = 2  # of each document: one says nothing about its noise


def blocks_of(draws: Draws) -> tuple[Iterable[Any], Callable[[Any], Floats]]:
    """The blocks of draws as tasks, and what makes a block of its task; blocks that are there are tasks themselves."""
    return (draws.blocks(), draws.block) if isinstance(draws, MadeDraws) else (draws, np.asarray)


def scores_without_noise(
    score: Score, gains: Floats, draws: Draws, judgments: Ints, executor: Executor | None = None
) -> Floats:
    """Systems × topics: 3 s₀ − 3 s₁ + s₂, the quadratic through s₀, s₁ and s₂ at −1.

    s₀ is the score under the gains; s₁ and s₂ are mean scores under draws (blocks of draws × rows, read twice) whose
    deviations from the gains are multiplied by √(λ n / (n − 1)) with λ = 1 and 2, n the document's judgments: without
    n / (n − 1) a bootstrap's variance is too small. The noisier gains stay inside the range of gains and draws, so
    inside the scale. A document without a gain in a draw does not deviate there.
    """
    few = int((judgments < LEAST_JUDGMENTS).sum())
    if few:
        raise DataError(
            f"{few} of {len(judgments)} documents have fewer than {LEAST_JUDGMENTS} judgments, which say nothing about "
            "their noise; collect more judgments, or leave these documents out"
        )
    executor = executor or Executor()
    block_of = blocks_of(draws)[1]
    ranges = [(gains.min(), gains.max()), *executor.map(_range, blocks_of(draws)[0], executor.share(block_of))]
    ends = min(low for low, _ in ranges), max(high for _, high in ranges)
    shared = executor.share((score, block_of, gains, np.sqrt(judgments / (judgments - 1)), ends))
    count, sums = 0, np.zeros(())
    for size, more in executor.map(_noisier, blocks_of(draws)[0], shared):
        count, sums = count + size, sums + more
    if not count:
        raise DataError("there are no draws of gain tables; draw one or more")
    return np.asarray(3 * score(gains[None])[0] - 3 * sums[0] / count + sums[1] / count)


def _range(task: Any, block_of: Callable[[Any], Floats]) -> tuple[float, float]:
    block = block_of(task)
    return float(np.nanmin(block)), float(np.nanmax(block))


def _noisier(task: Any, shared: tuple[Score, Any, Floats, Floats, tuple[float, float]]) -> tuple[int, Floats]:
    """The scores of a block of draws, added up, with once and twice the noise."""
    score, block_of, gains, widening, ends = shared
    block = block_of(task)
    deviation = np.nan_to_num(block - gains, nan=0.0) * widening
    return len(block), np.stack(
        [score(np.clip(gains + np.sqrt(noise) * deviation, *ends)).sum(axis=0) for noise in (1.0, 2.0)]
    )
