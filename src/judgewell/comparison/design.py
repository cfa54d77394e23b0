"""How many topics, or judgments of each document, it takes to separate two systems, simulated from the data.

Both assume that the effect seen in the data is the true one. With few data that effect is uncertain, so the answer is
an order of magnitude; the interval of the difference (see significance) shows how uncertain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.comparison.scores import ScoreArray, system_number
from judgewell.comparison.significance import Test, check_alpha, paired_tests, t_p
from judgewell.errors import DataError, InputError
from judgewell.executors import Executor
from judgewell.stats.arrays import Floats
from judgewell.stats.resampling import tasks

Score = Callable[[Floats], Floats]
Pool = Literal["median", "mean"]

MOST_TOPICS = 10_000
SMALL_BLOCK = 32
BLOCK_CELLS = 4_000_000


def topics_needed(
    scores: ScoreArray,
    first: str,
    second: str,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    test: Test = "t",
    sizes: Sequence[int] | None = None,
    simulations: int = 2000,
    seed: int = 0,
) -> pl.DataFrame:
    """Draw studies of more or fewer topics from those at hand, with replacement, and test each.

    Columns topics, found (share of studies in which the difference is significant), wrong (significant the other way
    round) and enough (found reaches the power; in no row where MOST_TOPICS are not enough).

    Without `sizes` the number of topics is doubled until the power is reached and then narrowed down; studies of every
    size come from their own seeded generator, so the answer does not depend on which sizes were tried.
    """
    check_alpha(alpha)
    if not 0 < power < 1:
        raise InputError(f"power {power} is not between 0 and 1", cure="give 0.8")
    differences = scores.of(first) - scores.of(second)
    if len(differences) < 3:
        raise DataError(f"{len(differences)} topics say too little about how differences vary; give three or more")
    if differences.mean() == 0 or not differences.std():
        raise DataError(
            f"{first} and {second} differ by {differences.mean():g} on every topic; no number of topics changes that"
        )
    shares: dict[int, tuple[float, float]] = {}

    def reached(size: int) -> float:
        if size not in shares:
            shares[size] = _power(differences, size, alpha, test, simulations, seed)
        return shares[size][0]

    if sizes is None:
        _try_sizes(reached, power)
    for size in sizes or ():
        reached(size)
    rows = [(size, *shares[size], shares[size][0] >= power) for size in sorted(shares)]
    return pl.DataFrame(rows, schema=["topics", "found", "wrong", "enough"], orient="row")


def judgments_needed(
    score: Score,
    judgments: Sequence[Floats],
    systems: Sequence[str],
    first: str,
    second: str,
    *,
    counts: Sequence[int] = (1, 2, 3, 5, 8, 13),
    pool: Pool = "median",
    simulations: int = 1000,
    seed: int = 0,
    executor: Executor | None = None,
) -> pl.DataFrame:
    """For each number of judgments per document: how often the first system is above the second, and how much their
    difference varies, over studies that draw that many judgments of each document (with replacement) and pool them.

    `judgments` holds, for each row that `score` takes gains for, the judgments of that document. The topics stay.
    """
    empty = sum(1 for values in judgments if not len(values))
    if empty:
        raise DataError(f"{empty} of {len(judgments)} documents have no judgment to draw from; leave them out")
    if pool not in ("median", "mean"):
        raise InputError(f"pool {pool!r} is not one of median, mean")
    if min(counts, default=1) < 1:
        raise InputError(f"{min(counts)} judgments are too few", cure="ask for one or more")
    at, other = (system_number(systems, name) for name in (first, second))
    executor = executor or Executor()
    values = np.concatenate([np.asarray(one, dtype=np.float64) for one in judgments])
    held = np.array([len(one) for one in judgments])
    shared = executor.share((score, values, held, pool, at, other, seed))
    blocks = tasks(simulations, SMALL_BLOCK)
    gaps = executor.map(_gaps, [(count, *block) for count in counts for block in blocks], shared)
    rows = []
    for count in counts:
        gap = np.concatenate([next(gaps) for _ in blocks])
        above = float((gap > 0).mean() + (gap == 0).mean() / 2)
        rows.append({"judgments": count, "above": above, "difference": float(gap.mean()), "sd": float(gap.std(ddof=1))})
    return pl.DataFrame(rows)


def _gaps(task: tuple[int, int, int], shared: tuple[Score, Floats, Any, Pool, int, int, int]) -> Floats:
    """The difference of the two systems under gain tables pooled from `count` judgments of each document."""
    (count, number, size), (score, values, counts, pool, at, other, seed) = task, shared
    rng, starts = np.random.default_rng([seed, count, number]), np.cumsum(counts) - counts
    drawn = values[starts + rng.integers(0, counts, size=(size, count, len(counts)))]
    scores = score(np.median(drawn, axis=1) if pool == "median" else drawn.mean(axis=1))
    return np.asarray((scores[:, at] - scores[:, other]).mean(axis=-1))


def _power(
    differences: Floats, size: int, alpha: float, test: Test, simulations: int, seed: int
) -> tuple[float, float]:
    """The shares of simulated studies that are significant in the direction of the data, and in the other."""
    if size < 2:
        raise InputError(f"a study of {size} topics cannot be tested", cure="ask for two or more")
    rng = np.random.default_rng([seed, size])
    sign = np.sign(differences.mean())
    right = wrong = 0
    block = max(1, BLOCK_CELLS // size)
    for start in range(0, simulations, block):
        drawn = differences[rng.integers(0, len(differences), size=(min(block, simulations - start), size))]
        p = t_p(drawn) if test == "t" else paired_tests(drawn, test, replicates=1000, seed=seed).p
        direction = np.sign(drawn.mean(axis=-1)) * sign
        right += int(((p < alpha) & (direction > 0)).sum())
        wrong += int(((p < alpha) & (direction < 0)).sum())
    return right / simulations, wrong / simulations


def _try_sizes(reached: Callable[[int], float], power: float) -> None:
    """Double the number of topics until the power is reached, then halve the gap down to 2 % of the answer."""
    high = 4
    while reached(high) < power:
        if high >= MOST_TOPICS:
            return
        high = min(2 * high, MOST_TOPICS)
    low = high // 2 if high > 4 else 1
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        if reached(middle) >= power:
            high = middle
        else:
            low = middle
