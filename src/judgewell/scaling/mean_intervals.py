"""Intervals of documents' means that borrow the spread of judgments from all documents, so that few judgments suffice.

Two judgments of a document say little about their own spread; two judgments each of many documents say much. Both
intervals here are missing where all documents together have fewer than MIN_SPARE judgments beyond their first, and
where no document has two different ones: equal judgments do not show how far others would spread.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from judgewell.errors import note
from judgewell.scaling.numbers import Documents, documents_of
from judgewell.stats.arrays import Floats
from judgewell.stats.resampling import check_level

MIN_SPARE = 5
ROUNDING = 1e-12  # of the largest value: a mean may miss its equal values by so much
FEW_EQUAL = 0.05  # of the documents may have equal judgments only, by chance or rounding
MEDIAN_SPREAD = {1: 1.0, 2: 1.0, 3: 1.3460, 4: 1.1935, 5: 1.4341}  # variance of n normals' median over their mean's
Ends = tuple[float, float]


def mean_interval(frame: pl.DataFrame, column: str, level: float, ends: Ends | None = None) -> pl.DataFrame:
    """Per document the interval of the mean of a column: topic, doc, low, high. Within the ends of the scale where it
    has any (see `bounded`), else by the moderated t (see `moderated`)."""
    check_level(level)
    documents, values = documents_of(frame), frame[column].to_numpy()
    spare = int((documents.counts - 1).sum())
    low = high = np.full(len(documents.table), np.nan)
    if spare < MIN_SPARE:
        note(
            f"documents have {spare} second or further judgments in all, fewer than the {MIN_SPARE} that show how far "
            "judgments spread, so low and high are missing; collect more"
        )
    elif _show_no_spread(documents, values, ends):
        note(
            f"the {spare} second or further judgments of documents all equal the first, so they do not show how far "
            "judgments spread, and low and high are missing"
        )
    elif ends is None:
        low, high = moderated(documents, values, level)
    else:
        low, high = bounded(documents, values, level, ends)
    means = documents.means(values)  # the ends are computed otherwise and may pass them by a rounding
    columns = {"low": np.minimum(low, means), "high": np.maximum(high, means)}
    return documents.table.select("topic", "doc").with_columns(
        pl.Series(name, end, nan_to_null=True) for name, end in columns.items()
    )


def _moments(documents: Documents, values: Floats) -> tuple[Floats, Floats]:
    """Each document's mean and its sum of squared deviations, which is 0 where all its values are equal."""
    means = documents.means(values)
    away = values - means[documents.number]
    away[np.abs(away) <= ROUNDING * np.abs(values).max(initial=0.0)] = 0.0
    squares = np.bincount(documents.number, away**2, len(means))
    return means, squares.astype(np.float64)


def _show_no_spread(documents: Documents, values: Floats, ends: Ends | None = None) -> bool:
    """Whether all documents' judgments are equal, and not all at the ends of the scale, where `bounded` takes the
    spread of yes and no."""
    means, squares = _moments(documents, values)
    inside = ~np.isin(means[documents.counts > 1], () if ends is None else ends)
    return not squares.any() and bool(inside.any())


def bounded(documents: Documents, values: Floats, level: float, ends: Ends) -> tuple[Floats, Floats]:
    """Wilson's interval of a mean m in units of the scale, with n/φ judgments instead of n.

    φ = Σ s² / Σ (m(1 − m) + s²/n), over documents with two or more judgments, says how much less judgments spread than
    yes and no would; t has Σ (n − 1) degrees of freedom. The interval lies within the ends of the scale.
    """
    from scipy.special import stdtrit

    low, high = ends
    means, squares = _moments(documents, (values - low) / (high - low))
    count = documents.counts.astype(np.float64)
    several = count > 1
    variance = squares[several] / (count[several] - 1)
    most = means[several] * (1 - means[several]) + variance / count[several]
    phi = min(1.0, float(variance.sum() / most.sum())) if most.sum() > 0 else 1.0
    t2 = float(stdtrit((count - 1).sum(), (1 + level) / 2)) ** 2
    n = count / max(phi, 1e-9)
    middle = (means + t2 / (2 * n)) / (1 + t2 / n)
    half = np.sqrt(t2 * means * (1 - means) / n + t2**2 / (4 * n**2)) / (1 + t2 / n)
    inside = [np.clip(end, 0.0, 1.0) for end in (middle - half, middle + half)]
    return np.asarray(low + (high - low) * inside[0]), np.asarray(low + (high - low) * inside[1])


def moderated(documents: Documents, values: Floats, level: float) -> tuple[Floats, Floats]:
    """Student's interval with each document's variance drawn towards that of all (Smyth 2004, limma).

    s̃² = (d₀ s₀² + (n − 1) s²)/(d₀ + n − 1), t with d₀ + n − 1 degrees of freedom; d₀ and s₀² from the moments of ln s².
    """
    from scipy.special import stdtrit

    means, squares = _moments(documents, values)
    count = documents.counts.astype(np.float64)
    own = count - 1
    prior_freedom, prior_variance = variance_prior(squares[own > 0] / own[own > 0], own[own > 0])
    freedom = np.minimum(prior_freedom + own, own.sum())
    weight = own / (prior_freedom + own) if np.isfinite(prior_freedom) else np.zeros(len(own))
    variance = (1 - weight) * prior_variance + weight * np.divide(squares, own, out=np.zeros(len(own)), where=own > 0)
    half = stdtrit(np.maximum(freedom, 1.0), (1 + level) / 2) * np.sqrt(variance / count)
    return means - half, means + half


def few_medians(documents: Documents, logs: Floats, level: float) -> tuple[Floats, Floats]:
    """The interval of medians of one to five logarithms: the moderated t around the median, wider by what the median of
    so many normal values spreads more than their mean (MEDIAN_SPREAD); NaN for more."""
    count = documents.counts
    low = high = np.full(len(count), np.nan)
    if (count - 1).sum() >= MIN_SPARE and not _show_no_spread(documents, logs):
        spread = np.sqrt([MEDIAN_SPREAD.get(int(one), np.nan) for one in count])
        ends, middle = moderated(documents, logs, level), documents.medians(logs)
        half = (ends[1] - ends[0]) / 2 * spread
        low, high = middle - half, middle + half
    return low, high


def variance_prior(variances: Floats, freedom: Floats) -> tuple[float, float]:
    """d₀ (infinite where variances differ no more than by chance) and s₀² of the scaled inverse chi-square that
    variances with these degrees of freedom come from; variances of 0 count as a hundred-thousandth of the median.

    Where more than FEW_EQUAL of them are 0, as with coarse answers, logarithms do not describe them, and the pooled
    variance holds for all."""
    from scipy.special import digamma, polygamma

    pooled = float((variances * freedom).sum() / freedom.sum())
    if np.mean(variances == 0) > FEW_EQUAL:
        return np.inf, pooled
    floor = 1e-5 * float(np.median(variances))
    half = freedom / 2
    e = np.log(np.maximum(variances, floor)) - digamma(half) + np.log(half)
    extra = float(e.var(ddof=1) - polygamma(1, half).mean()) if len(e) > 1 else 0.0
    if extra <= 0:
        return np.inf, pooled
    prior = 2 * _trigamma_inverse(extra)
    return prior, float(np.exp(e.mean() + digamma(prior / 2) - np.log(prior / 2)))


def _trigamma_inverse(value: float) -> float:
    """Where the trigamma function takes a value, by Newton's method on its reciprocal (limma's trigammaInverse)."""
    from scipy.special import polygamma

    y = 0.5 + 1 / value
    for _ in range(50):
        now = float(polygamma(1, y))
        step = now * (1 - now / value) / float(polygamma(2, y))
        y += step
        if -step / y < 1e-8:
            break
    return y
