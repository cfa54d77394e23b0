"""Is a difference between two systems more than the choice of topics: paired tests of all pairs of systems at once.

  t              Student's paired t-test
  wilcoxon       signed ranks, as scipy does by default (see signed_rank)
  randomisation  swap the two systems' scores on topics at random: all patterns for up to 12 topics, else seeded ones
  bootstrap      studentised: how often is the mean of resampled topics as far from the mean as the mean is from 0
                 (Sakai, SIGIR 2006)

Two systems with the same score on every topic are tied: p = 1. Intervals are of the mean difference over topics of
the same kind: Student's with the t-test, else the studentised bootstrap's (see stats.means).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypedDict, Unpack

import numpy as np
import polars as pl

from judgewell.comparison.scores import ScoreArray, check_systems
from judgewell.comparison.signed_rank import SAME, Zeros, wilcoxon_p
from judgewell.errors import DataError, InputError
from judgewell.executors import Executor
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.means import mean_intervals, student_reach, studentised
from judgewell.stats.resampling import bootstrap_weights, check_level, tasks

Test = Literal["t", "wilcoxon", "randomisation", "bootstrap"]
Correction = Literal["none", "holm", "bh"]

TESTS = ("t", "wilcoxon", "randomisation", "bootstrap")
CORRECTIONS = ("none", "holm", "bh")
DEFAULT_CORRECTION: Correction = "holm"  # of every command and report; functions of this stage correct nothing unasked
MOST_PATTERNS = 12  # topics up to which all swaps are tried: 4,096
TASK = 500  # patterns or replicates of a task
BLOCK_CELLS = 4_000_000


@dataclass(frozen=True)
class Tested:
    """One test of many pairs: how it was done, and for each pair p and the interval of the mean difference, NaN where
    it is the same on every topic."""

    test: str
    p: Floats
    difference: Floats
    low: Floats
    high: Floats
    effect: Floats  # the mean difference in standard deviations of the differences


class TestOptions(TypedDict, total=False):
    """How :func:`paired_tests` tests, for functions that pass it on."""

    replicates: int
    seed: int
    zeros: Zeros
    executor: Executor | None


class Decision(TestOptions, total=False):
    """And from when on a difference is significant."""

    alpha: float
    correction: Correction


def pairs_of(systems: int, baseline: int | None = None) -> tuple[Ints, Ints]:
    """The pairs of systems by number: all of them, or every other system against the baseline."""
    if baseline is None:
        first, second = np.triu_indices(systems, 1)
        return first, second
    others = np.delete(np.arange(systems), baseline)
    return others, np.full(len(others), baseline)


def paired_differences(values: Floats, first: Ints, second: Ints) -> Floats:
    """The differences of pairs of systems on every topic; two scores that are equal but for rounding differ by 0."""
    one, other = values[first], values[second]
    gap = one - other
    return np.where(np.abs(gap) <= SAME * np.maximum(np.abs(one), np.abs(other)), 0.0, gap)


def paired_tests(
    differences: Floats,
    test: Test = "t",
    *,
    level: float = 0.95,
    replicates: int = 10_000,
    seed: int = 0,
    zeros: Zeros = "drop",
    executor: Executor | None = None,
) -> Tested:
    """Test each row of differences (pairs × topics)."""
    check_level(level)
    topics = differences.shape[-1]
    if topics < 2:
        raise DataError("there is one topic, and no test can say how far the difference holds for others; give more")
    if test not in TESTS:
        raise InputError(f"test {test!r} is not one of {', '.join(TESTS)}")
    mean, spread = differences.mean(axis=-1), differences.std(axis=-1, ddof=1)
    if test == "t":
        known = np.ptp(differences, axis=-1) > 0  # without spread there is no interval
        half = np.where(known, student_reach(topics - 1, level) * spread / np.sqrt(topics), np.nan)
        return Tested(test, t_p(differences), mean, mean - half, mean + half, _ratio(mean, spread))
    if test == "wilcoxon":
        p = wilcoxon_p(differences, zeros)
    elif test == "randomisation":
        p = randomisation_p(differences, replicates, seed, executor)
    else:
        p = _bootstrap_p(differences, replicates, seed, executor)
    interval = mean_intervals(differences, level=level, seed=seed)
    return Tested(test, p, mean, interval.low, interval.high, _ratio(mean, spread))


def compare_systems(
    scores: ScoreArray,
    test: Test = "t",
    *,
    baseline: str | None = None,
    correction: Correction = "none",
    alpha: float = 0.05,
    level: float = 0.95,
    **how: Unpack[TestOptions],
) -> pl.DataFrame:
    """All pairs of systems, or all against a baseline: difference of means with interval, effect size, p, p corrected
    for the number of pairs, and whether that is below alpha. The better system of a pair comes first; against a
    baseline, the other system does."""
    check_systems(scores)
    check_alpha(alpha)
    first, second = pairs_of(len(scores.systems), None if baseline is None else scores.number(baseline))
    if baseline is None:
        swap = scores.means[first] < scores.means[second]
        first, second = np.where(swap, second, first), np.where(swap, first, second)
    differences = paired_differences(scores.values, first, second)
    tested = paired_tests(differences, test, level=level, **how)
    adjusted = corrected(tested.p, correction)
    names = np.array(scores.systems)
    return pl.DataFrame(
        {
            "first": names[first],
            "second": names[second],
            "mean_first": scores.means[first],
            "mean_second": scores.means[second],
            "difference": tested.difference,
            "low": tested.low,
            "high": tested.high,
            "effect": tested.effect,
            "wins": (differences > 0).sum(axis=-1),
            "losses": (differences < 0).sum(axis=-1),
            "topics": np.full(len(first), differences.shape[-1]),
            "p": tested.p,
            "p_corrected": adjusted,
            "significant": adjusted < alpha,
        }
    ).with_columns(pl.col("low", "high").fill_nan(None))


def t_p(differences: Floats) -> Floats:
    """Two-sided p of Student's paired t-test for each row; 1 where all differences are 0."""
    from scipy.special import stdtr

    topics = differences.shape[-1]
    mean, error = differences.mean(axis=-1), differences.std(axis=-1, ddof=1) / np.sqrt(topics)
    p = np.asarray(2 * stdtr(topics - 1, -np.abs(_ratio(mean, error))))
    return np.where((differences == 0).all(axis=-1), 1.0, p)


def randomisation_p(differences: Floats, replicates: int, seed: int = 0, executor: Executor | None = None) -> Floats:
    """Two-sided p of the randomisation test of the mean: the share of sign patterns whose mean is as far from 0.

    All patterns for up to 12 topics; else (1 + those that reach it) / (1 + replicates), the same patterns for all rows.
    """
    # sums of the same numbers in another order differ by rounding
    target = np.abs(differences.sum(axis=-1)) - SAME * np.abs(differences).sum(axis=-1)
    return share_reached(_signs_reached, (differences, target), differences.shape[-1], replicates, seed, executor)


def share_reached(
    reached: Callable[..., Ints],
    data: tuple[Floats, ...],
    topics: int,
    replicates: int,
    seed: int,
    executor: Executor | None,
    *,
    exact: bool = True,
) -> Floats:
    """How often replicates reach what was observed, a share for each row; `reached` counts it in a task of them.

    With `exact` and up to 12 topics the replicates are all patterns of signs, else (1 + reached) / (1 + replicates).
    """
    if replicates < 1:
        raise InputError(f"{replicates} replicates are too few", cure="ask for 1 or more, usually 10000")
    executor = executor or Executor()
    every = exact and topics <= MOST_PATTERNS
    blocks = [(0, 2**topics)] if every else tasks(replicates, TASK)
    counts = sum(executor.map(reached, blocks, executor.share((*data, seed)), total=len(blocks)))
    return np.asarray(counts / 2**topics if every else (counts + 1) / (replicates + 1))


def signs(topics: int, task: tuple[int, int], seed: int) -> Floats:
    """A task's patterns of signs (patterns × topics): all of them for up to 12 topics, else random ones."""
    number, count = task
    if topics <= MOST_PATTERNS:
        positive = (np.arange(2**topics)[:, None] >> np.arange(topics)) & 1
    else:
        positive = np.random.default_rng([seed, number]).integers(0, 2, size=(count, topics))
    return np.where(positive, 1.0, -1.0)


def _row_blocks(rows: int, replicates: int) -> Iterator[slice]:
    block = max(1, BLOCK_CELLS // replicates)
    return (slice(start, start + block) for start in range(0, rows, block))


def _signs_reached(task: tuple[int, int], shared: tuple[Floats, Floats, int]) -> Ints:
    differences, target, seed = shared
    patterns = signs(differences.shape[-1], task, seed)
    counts = [
        (np.abs(patterns @ differences[rows].T) >= target[rows]).sum(axis=0)
        for rows in _row_blocks(len(differences), len(patterns))
    ]
    return np.concatenate([np.empty(0, dtype=np.int64), *counts])


def smallest_p(test: Test, topics: int, replicates: int = 10_000) -> float:
    """The smallest p that a test of one pair can give with so many topics."""
    if test == "t":
        return 0.0
    if test == "bootstrap" or (test == "randomisation" and topics > MOST_PATTERNS):
        return 1 / (replicates + 1)
    return float(2.0 ** (1 - topics))


def corrected(p: Floats, correction: Correction = "none") -> Floats:
    """p corrected for the number of tests: Holm's step-down keeps the chance of any false alarm, Benjamini and
    Hochberg's step-up ("bh") the expected share of false alarms among the alarms."""
    if correction not in CORRECTIONS:
        raise InputError(f"correction {correction!r} is not one of {', '.join(CORRECTIONS)}")
    count = len(p)
    if correction == "none" or not count:
        return p
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(count)
    if correction == "holm":
        stepped = np.maximum.accumulate(p[order] * (count - np.arange(count)))
    else:
        stepped = np.minimum.accumulate((p[order] * count / np.arange(1, count + 1))[::-1])[::-1]
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def check_alpha(alpha: float) -> None:
    """Refuse a significance level that is not a small share."""
    if not 0 < alpha < 1:
        raise InputError(f"alpha {alpha} is not between 0 and 1", cure="give 0.05")


def _ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole; without spread 0 where there is no difference, else infinite."""
    endless = np.copysign(np.where(part == 0, 0.0, np.inf), part)
    return np.divide(part, whole, out=endless, where=whole > 0)


def _bootstrap_p(differences: Floats, replicates: int, seed: int, executor: Executor | None) -> Floats:
    """How often a replicate's mean is as many standard errors from the mean as the mean is from 0."""
    topics = differences.shape[-1]
    error = differences.std(axis=-1, ddof=1) / np.sqrt(topics)
    target = np.abs(_ratio(differences.mean(axis=-1), error)) * (1 - SAME)
    p = share_reached(_means_reached, (differences, target), topics, replicates, seed, executor, exact=False)
    return np.where((differences == 0).all(axis=-1), 1.0, p)


def _means_reached(task: tuple[int, int], shared: tuple[Floats, Floats, int]) -> Ints:
    (number, count), (differences, target, seed) = task, shared
    rng = np.random.default_rng([seed, number])
    weights = bootstrap_weights(differences.shape[-1], count, rng).astype(np.float64)
    counts = [
        (studentised(differences[rows], weights) >= target[rows]).sum(axis=0)
        for rows in _row_blocks(len(differences), count)
    ]
    return np.concatenate([np.empty(0, dtype=np.int64), *counts])
