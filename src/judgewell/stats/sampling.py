"""Drawing the documents that people judge, with known probabilities, and what they predict of the others."""

from __future__ import annotations

import numpy as np

from judgewell.stats.arrays import Bools, Floats, Ints

EVEN = 0.1  # the share of the probability that is spread evenly, so that every document can be drawn
FIRST_WEIGHT = 5.0  # the weight of a first guess, in documents
TOPIC_WEIGHT = 4.0  # the weight of the mean over topics in documents, beside a topic's own


def inclusion_probabilities(importance: Floats, size: int) -> Floats:
    """π_d ∝ .9 a_d / Σa + .1 / N, at most 1, rescaled so that they add up to `size`.

    >>> inclusion_probabilities(np.array([8.0, 1.0, 1.0, 0.0]), 2).round(3)
    array([1.   , 0.434, 0.434, 0.132])
    """
    count = len(importance)
    if size >= count:
        return np.ones(count)
    total = importance.sum()
    share = (1 - EVEN) * importance / total + EVEN / count if total > 0 else np.full(count, 1 / count)
    sure = np.zeros(count, dtype=bool)
    while True:
        rest = (size - sure.sum()) * share / share[~sure].sum()
        over = ~sure & (rest >= 1)
        if not over.any():
            return np.where(sure, 1.0, rest)
        sure |= over


def pareto_sample(inclusion: Floats, uniform: Floats, size: int) -> Ints:
    """The `size` documents with the smallest [u / (1 − u)] · [(1 − π) / π] (Rosén 1997); u uniform on ]0, 1[."""
    with np.errstate(divide="ignore"):
        order = uniform / (1 - uniform) * (1 - inclusion) / inclusion
    return np.sort(np.argsort(order, kind="stable")[:size])


def shared_out(total: int, sizes: Ints, least: int) -> Ints:
    """A whole number for each group, `total` together: at least `least` (or all of it), the rest in proportion to what
    is left of the groups, by largest remainders."""
    given = np.minimum(sizes, least)
    left = sizes - given
    exact = (total - given.sum()) * left / max(left.sum(), 1)
    whole: Ints = np.floor(exact).astype(np.int64)
    missing = total - int(given.sum() + whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:missing]] += 1
    return given + whole


def log_importance(weight: Floats) -> Floats:
    """log(.05 + Σ over systems of a document's weight), the first rank having weight 1: what predictions go by."""
    return np.asarray(np.log(0.05 + weight))


def predicted_values(
    topic: Ints,
    values: Floats,
    importance: Floats,
    sampled: Bools,
    inclusion: Floats,
    first: float,
    ends: tuple[float, float],
) -> Floats:
    """m: a shrunken intercept for each topic + slope · log importance, weights 1/π; `first` is the mean before values.

    Rows are documents, topic by topic (numbers ascend from 0). The intercept for a document of the sample leaves the
    document itself out: otherwise its own value would pull m towards it, and what is left to divide by π would be too
    small.
    """
    weight = np.where(sampled, 1 / np.where(sampled, inclusion, 1.0), 0.0)
    count = int(topic[-1]) + 1
    per_topic = np.asarray(np.bincount(topic, weight, count), dtype=np.float64)
    safe = np.maximum(per_topic, 1e-12)
    x_mean, y_mean = (np.bincount(topic, weight * one, count) / safe for one in (importance, values))
    x, y = importance - x_mean[topic], values - y_mean[topic]
    slope = float((weight * x * y).sum() / ((weight * x * x).sum() + FIRST_WEIGHT * importance.var() + 1e-12))
    rest = values - slope * importance
    totals = np.bincount(topic, weight * rest, count)
    grand = weighted_mean(totals / safe, per_topic, first - slope * float(importance.mean()))
    others, total = per_topic[topic] - weight, totals[topic] - weight * rest
    level = (total + TOPIC_WEIGHT * grand) / (others + TOPIC_WEIGHT)
    return np.clip(level + slope * importance, *ends)


def weighted_mean(values: Floats, weight: Floats, first: float) -> float:
    """A weighted mean that begins at `first`."""
    return float(((weight * values).sum() + FIRST_WEIGHT * first) / (weight.sum() + FIRST_WEIGHT))
