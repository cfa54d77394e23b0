"""The interval of a mean over topics: one function for `evaluate`, `compare` and `report`.

It needs numpy alone, and its result depends only on the scores, the level and the seed, not on the order of topics or
on what else is in the table; so every stage prints the same interval for the same mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from judgewell.errors import InputError
from judgewell.stats.arrays import Bools, Floats, Ints
from judgewell.stats.resampling import bootstrap_weights, check_level
from judgewell.values import dataclass

REPLICATES = 1000
FEW_TOPICS = 10  # below it Student's t: a bootstrap of so few topics is too coarse
MANY_TOPICS = 2000  # above it the normal interval: the bootstrap agrees with it to the digits shown
BLOCK_CELLS = 200_000  # values of replicates held at once: 2 MB
SORTED_CELLS = 1_000_000  # scores that are sorted at once: 8 MB
NO_LIMITS = (-math.inf, math.inf)


@dataclass(frozen=True)
class MeanIntervals:
    """The mean of each row, the ends of its interval (NaN where there is none), its topics and how it was made."""

    mean: Floats
    low: Floats
    high: Floats
    topics: Ints
    kind: tuple[str, ...]  # bootstrap, t, normal, exact, none, or biased (see `without_intervals`)


def mean_intervals(
    values: ArrayLike,
    *,
    level: float = 0.95,
    limits: tuple[ArrayLike, ArrayLike] = NO_LIMITS,
    seed: int = 0,
) -> MeanIntervals:
    """The mean over topics of each row (rows × topics, NaN where a topic does not count) with its interval.

    Symmetric studentised bootstrap: mean ± q · s/√T, q the level's quantile of |mean* − mean| / (s*/√T) over resampled
    topics. Student's t with fewer than 10 topics or where replicates have no spread, the normal interval with more than
    2,000. Where every topic scores one of the two `limits` (P@1, or an nDCG of 1 throughout), the spread says too
    little, and the interval is Clopper and Pearson's exact one. It holds for every measure between the limits, also for
    one that can take values between them: toss a coin for each topic that shows the upper limit with the score as its
    probability. The coins have the measure's mean, and at the limits each coin is its score. The interval stays inside
    the limits, the range of the measure (or of the scores, where they leave it). Where all topics have the same score
    and it is no limit, there is no interval: they do not show how far other topics would differ.
    """
    check_level(level)
    if seed < 0:
        raise InputError(f"the seed {seed} is below 0", cure="give 0 or more")
    table = np.atleast_2d(np.asarray(values, dtype=np.float64))
    least, most = (np.broadcast_to(np.asarray(end, dtype=np.float64), len(table)) for end in limits)
    step = max(1, SORTED_CELLS // max(1, table.shape[-1]))
    blocks = [slice(start, start + step) for start in range(0, len(table), step)] or [slice(None)]
    parts = [_block_intervals(table[rows], level, least[rows], most[rows], seed) for rows in blocks]
    return MeanIntervals(
        mean=np.concatenate([one.mean for one in parts]),
        low=np.concatenate([one.low for one in parts]),
        high=np.concatenate([one.high for one in parts]),
        topics=np.concatenate([one.topics for one in parts]),
        kind=tuple(kind for one in parts for kind in one.kind),
    )


def without_intervals(intervals: MeanIntervals, biased: Sequence[bool]) -> MeanIntervals:
    """The same without the intervals of rows whose scores are biased: an interval over topics would hide the bias."""
    low, high = (np.where(biased, np.nan, end) for end in (intervals.low, intervals.high))
    kinds = zip(intervals.kind, biased, strict=True)
    return MeanIntervals(
        intervals.mean, low, high, intervals.topics, tuple("biased" if one else kind for kind, one in kinds)
    )


def _block_intervals(table: Floats, level: float, least: Floats, most: Floats, seed: int) -> MeanIntervals:
    """The intervals of some rows, of which sorted copies are made."""
    rows = np.sort(table, axis=-1)  # NaN last
    topics = np.count_nonzero(~np.isnan(rows), axis=-1)
    mean, low, high = (np.full(len(rows), np.nan) for _ in range(3))
    kind = np.full(len(rows), "none", dtype=object)
    shares = _at_ends(rows, least, most) & (topics > 1)
    for count in sorted(set(topics[topics > 0].tolist())):  # np.unique would load numpy.ma
        same = np.flatnonzero(topics == count)
        whole = rows[same, :count]
        mean[same] = whole.mean(axis=-1)
        spread = ~shares[same] & (whole[:, 0] < whole[:, -1])
        same, whole = same[spread], whole[spread]
        if len(same):
            reach, kind[same] = _reach(whole, level, seed)
            half = reach * whole.std(axis=-1, ddof=1) / math.sqrt(count)
            low[same], high[same] = mean[same] - half, mean[same] + half
    for row in np.flatnonzero(shares):
        hits = int((rows[row] == most[row]).sum())
        ends = share_interval(hits, int(topics[row]), level)
        low[row], high[row] = (least[row] + (most[row] - least[row]) * end for end in ends)
        kind[row] = "exact"
    low = np.maximum(low, np.fmin(least, np.fmin.reduce(rows, axis=-1, initial=np.inf)))
    high = np.minimum(high, np.fmax(most, np.fmax.reduce(rows, axis=-1, initial=-np.inf)))
    return MeanIntervals(mean, low, high, topics, tuple(kind.tolist()))


def _at_ends(rows: Floats, least: Floats, most: Floats) -> Bools:
    """Which rows hold nothing but the two ends of their measure."""
    ends = (rows == least[:, None]) | (rows == most[:, None]) | np.isnan(rows)
    return np.asarray(ends.all(axis=-1) & np.isfinite(least) & np.isfinite(most))


def share_interval(hits: int, count: int, level: float) -> tuple[float, float]:
    """Clopper and Pearson's interval: it ends where so many hits or more, and so many or fewer, have the chance
    (1 − level)/2."""
    return _least_share(hits, count, level), 1 - _least_share(count - hits, count, level)


def _least_share(hits: int, count: int, level: float) -> float:
    if hits == 0:
        return 0.0
    factorial = np.cumsum(np.log(np.maximum(np.arange(count + 1), 1)))
    some = np.arange(hits, count + 1)
    ways = factorial[count] - factorial[some] - factorial[count - some]
    low, high = 0.0, hits / count
    for _ in range(60):
        middle = (low + high) / 2
        more = np.exp(ways + some * math.log(middle) + (count - some) * math.log1p(-middle)).sum()
        low, high = (middle, high) if more < (1 - level) / 2 else (low, middle)
    return high


def few_topics_note(intervals: MeanIntervals, names: Sequence[str] | None = None) -> str:
    """The note for a result whose intervals, of the rows with a name, rest on few topics; empty where there are
    enough."""
    rows = zip(intervals.topics.tolist(), intervals.kind, names or ["-"] * len(intervals.kind), strict=True)
    shown = [(count, kind) for count, kind, name in rows if name]
    few = [count for count, kind in shown if kind == "t" and count < FEW_TOPICS]
    if not few:
        return ""
    exact = any(kind == "exact" for _, kind in shown)
    but = (
        "; of systems that score the least or the most possible on every topic, Clopper and Pearson's" if exact else ""
    )
    return (
        f"intervals of means are Student's t, because {min(few)} topics are too few for a bootstrap ({FEW_TOPICS}){but}"
    )


def no_spread_note(intervals: MeanIntervals, names: Sequence[str]) -> str:
    """The note for the rows with a name whose topics all have the same score; empty where there are none."""
    rows = zip(names, intervals.topics.tolist(), intervals.kind, strict=True)
    alike = list(dict.fromkeys(name for name, topics, kind in rows if name and topics > 1 and kind == "none"))
    if not alike:
        return ""
    more = f" and {len(alike) - 3} more" if len(alike) > 3 else ""
    return f"no interval of {', '.join(alike[:3])}{more}, because all topics have the same score"


def _reach(rows: Floats, level: float, seed: int) -> tuple[Any, Any]:
    """How many standard errors the intervals of rows of equal length reach, and by which rule."""
    count = rows.shape[-1]
    if count < FEW_TOPICS:
        return student_reach(count - 1, level), "t"
    if count > MANY_TOPICS:
        from statistics import NormalDist  # loads much that fewer topics do not need

        return NormalDist().inv_cdf((1 + level) / 2), "normal"
    weights = bootstrap_weights(count, REPLICATES, np.random.default_rng(seed))
    reach = studentised_reach(rows, weights.astype(np.float64), level)
    known = np.isfinite(reach)
    return np.where(known, reach, student_reach(count - 1, level)), np.where(known, "bootstrap", "t")


def studentised_reach(rows: Floats, weights: Floats, level: float) -> Floats:
    """The level's quantile of |t*| for each row (rows × topics; weights are replicates × topics); infinite where too
    many replicates have no spread, as with scores that are nearly all 0."""
    reach = np.empty(len(rows))
    place = min(math.ceil(level * (len(weights) + 1)), len(weights)) - 1
    block = max(1, BLOCK_CELLS // len(weights))
    for start in range(0, len(rows), block):
        part = slice(start, start + block)
        reach[part] = np.partition(studentised(rows[part], weights), place, axis=0)[place]
    return reach


def studentised(rows: Floats, weights: Floats) -> Floats:
    """|mean* − mean| / (s*/√T) of every replicate: replicates × rows. Where one has no spread it is infinite, or 0
    if its mean is the row's."""
    topics = rows.shape[-1]
    centred = (rows - rows.mean(axis=-1, keepdims=True)).T
    shift = weights @ centred / topics
    spread = np.maximum(weights @ centred**2 / topics - shift**2, 0.0) * topics / (topics - 1)
    tiny = 1e-12 * np.max(centred**2, axis=0, initial=0.0)
    error = np.where(spread > tiny, np.sqrt(spread / topics), 0.0)
    endless = np.where(np.abs(shift) <= 1e-6 * np.sqrt(tiny), 0.0, np.inf)
    return np.asarray(np.divide(np.abs(shift), error, out=endless, where=error > 0))


def student_reach(freedom: int, level: float) -> float:
    """The t with P(|T| ≤ t) = level, by bisection of the closed form for whole degrees of freedom.

    P(|T| ≤ t) with θ = atan(t/√ν) is sin θ · (1 + 1/2 cos² θ + 1·3/(2·4) cos⁴ θ + …) for even ν, and
    2/π · (θ + sin θ · (cos θ + 2/3 cos³ θ + …)) for odd ν, up to cos^(ν − 2) (Abramowitz & Stegun 26.7.3, 26.7.4).
    """
    check_level(level)
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_share(middle, freedom) < level else (low, middle)
    return math.sqrt(freedom) * math.tan(high)


def _student_share(angle: float, freedom: int) -> float:
    cos, total, odd = math.cos(angle), 0.0, freedom % 2
    term = cos if odd else 1.0
    for power in range(odd, freedom - 1, 2):
        total += term
        term *= cos**2 * (power + 1) / (power + 2)
    both = math.sin(angle) * total
    return 2 / math.pi * (angle + both) if odd else both
