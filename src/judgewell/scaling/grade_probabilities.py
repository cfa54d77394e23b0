"""p(R|grade): the chance that a random user finds relevant what an assessor gave a grade (Demeester et al. 2015).

It is learnt from double judgments. Its interval speaks of other topics: documents of one topic are alike, so topics are
the unit that is excluded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl

from judgewell.scaling.double_judgments import Tallies, check_split, grades_of
from judgewell.stats.arrays import Floats
from judgewell.stats.resampling import jackknife_variance

Prior = Literal["marginal", "uniform"]

MIN_TOPICS = 5  # fewer say nothing of other topics


def probabilities(relevant: Floats, judged: Floats, smoothing: float = 0.0, prior: Prior = "marginal") -> Floats:
    """p(R|i) from counts whose last axis is the grade; NaN where a grade was never used.

    (N_relevant + a * m) / (N_judged + a): a the smoothing, m the share of relevant judgments overall (`marginal`) or a
    half (`uniform`).
    """
    share = 0.5
    if prior == "marginal" and smoothing > 0:
        share = relevant.sum(axis=-1, keepdims=True) / judged.sum(axis=-1, keepdims=True)
    total = judged + smoothing
    top = relevant + smoothing * share
    return np.asarray(np.divide(top, total, out=np.full(np.shape(total), np.nan), where=total > 0))


def estimated(tally: Tallies, *, smoothing: float = 0.0, prior: Prior = "marginal") -> pl.DataFrame:
    """The table of p(R|grade): grade, threshold, relevant, judged, p, low, high, and three standard errors.

    A grade nobody used in double judgments has no p (null), never 0.
    `low` and `high` hold p(R|grade) of other topics in 95 % of all cases; `sigma_topics` is the standard error over
    topics (see `topic_interval`). `sigma_pairs` is sqrt(sum (a - p b)^2) / sum b over the documents' contributions a,
    b; `sigma_printed` is the paper's sqrt(p(1-p)/N), too small for eq. 5, where a pair (i, i) counts twice. These two
    ignore that documents of one topic are alike.
    """
    relevant, judged = tally.relevant.sum(axis=0), tally.judged.sum(axis=0)
    p = probabilities(relevant, judged, smoothing, prior)
    total = judged + smoothing
    with np.errstate(invalid="ignore", divide="ignore"):
        printed = np.sqrt(p * (1 - p) / total)
        pairs = np.sqrt(((tally.relevant - p * tally.judged) ** 2).sum(axis=0)) / total
    low, high, topics = topic_interval(tally, 0.95, smoothing, prior)
    values = {"p": p, "low": low, "high": high, "sigma_topics": topics, "sigma_pairs": pairs, "sigma_printed": printed}
    counts = {"grade": tally.grades, "threshold": np.full(len(p), tally.threshold), "relevant": relevant}
    return pl.DataFrame({**counts, "judged": judged, **values}).with_columns(pl.col(*values).fill_nan(None))


def topic_interval(tally: Tallies, level: float, smoothing: float, prior: Prior) -> tuple[Floats, Floats, Floats]:
    """The interval of each p(R|grade) over topics and the standard error of p, NaN with fewer than MIN_TOPICS topics.

    A delete-one-topic jackknife of z = logit((A + 1/2)/(B + 1)) with t of K - 1 degrees of freedom, K = B^2 / sum b_t^2
    the effective number of topics. Where no pair or every pair is relevant: Clopper and Pearson's interval, each
    document counting once.
    """
    relevant, judged = tally.by_topic()
    added = smoothing * (relevant.sum() / judged.sum() if prior == "marginal" else 0.5)
    ends = np.full((3, len(tally.grades)), np.nan)
    for at in range(len(tally.grades)):
        a, b = relevant[judged[:, at] > 0, at], judged[judged[:, at] > 0, at]
        if len(b) < MIN_TOPICS:
            continue
        if 0 < a.sum() < b.sum():
            ends[:, at] = _jackknifed(a, b, added, smoothing, level)
        else:
            documents = float((tally.judged[:, at] > 0).sum())
            pairs = float(b.sum()) / (2 if tally.estimate == "both" else 1)
            reach = ((1 - level) / 2) ** (1 / min(documents, pairs))
            ends[:, at] = (0.0, 1 - reach, 0.0) if a.sum() == 0 else (reach, 1.0, 0.0)
    return ends[0], ends[1], ends[2]


def _jackknifed(a: Floats, b: Floats, added: float, smoothing: float, level: float) -> tuple[float, float, float]:
    """Low, high and standard error of a share A / B over topics with a of b each."""
    from scipy.special import expit, logit, stdtrit

    top, total = a.sum() + added, b.sum() + smoothing
    z, without = logit((top + 0.5) / (total + 1)), logit((top - a + 0.5) / (total - b + 1))
    half = stdtrit(degrees(b), (1 + level) / 2) * np.sqrt(jackknife_variance(without))
    p = np.divide(top - a, total - b, out=np.full(len(a), top / total), where=total > b)
    return float(expit(z - half)), float(expit(z + half)), float(np.sqrt(jackknife_variance(p)))


def degrees(sizes: Floats) -> float:
    """Kish's effective number of topics less 1, at least 1."""
    return max(float(sizes.sum() ** 2 / (sizes**2).sum()) - 1, 1.0)


def split_topics(
    frame: pl.DataFrame, split: str | None, grades: Sequence[float] | None
) -> list[tuple[list[pl.Expr], pl.DataFrame, Sequence[float] | None]]:
    """The judgments of each kind of topic, with the kind as a column to add and the grades of all of them."""
    if split is None:
        return [([], frame, grades)]
    check_split(frame, split)
    scale = grades_of(frame, grades).tolist()
    kinds = sorted(frame[split].unique())
    return [([pl.lit(kind).alias(split)], frame.filter(pl.col(split) == kind), scale) for kind in kinds]


def conditional(tally: Tallies) -> pl.DataFrame:
    """P(another assessor gives `other` | one gave `grade`): each row of the pairs of grades over its sum."""
    joint = tally.joint.sum(axis=0)
    p = np.divide(
        joint,
        joint.sum(axis=1, keepdims=True),
        out=np.full(joint.shape, np.nan),
        where=joint.sum(axis=1, keepdims=True) > 0,
    )
    size = len(tally.grades)
    return pl.DataFrame(
        {"grade": np.repeat(tally.grades, size), "other": np.tile(tally.grades, size), "p": p.ravel()}
    ).with_columns(pl.col("p").fill_nan(None))


def enough(tally: Tallies) -> pl.DataFrame:
    """Are there enough double judgments to tell neighbouring grades apart? (sect. 6.3)

    Per pair of neighbouring grades the `gap` of their p, the gap `needed`, which is t times its standard error over
    topics by the same jackknife, and `enough`: whether the gap is larger. Missing where a grade is undefined or fewer
    than MIN_TOPICS topics use both.
    """
    from scipy.special import stdtrit

    relevant, judged = tally.by_topic()
    a, b = relevant.sum(axis=0), judged.sum(axis=0)
    gap, without = np.diff(probabilities(a, b)), np.diff((a - relevant + 0.5) / (b - judged + 1), axis=1)
    needed = np.full(len(gap), np.nan)
    for at in range(len(gap)):
        if min((judged[:, at] > 0).sum(), (judged[:, at + 1] > 0).sum()) >= MIN_TOPICS:
            freedom = min(degrees(judged[:, at]), degrees(judged[:, at + 1]))
            needed[at] = stdtrit(freedom, 0.975) * np.sqrt(jackknife_variance(without[:, at]))
    table = pl.DataFrame({"lower": tally.grades[:-1], "upper": tally.grades[1:], "gap": gap, "needed": needed})
    return table.with_columns(pl.col("gap", "needed").fill_nan(None)).with_columns(
        enough=pl.col("gap") > pl.col("needed")
    )
