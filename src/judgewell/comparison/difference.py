"""The scores of systems from people's gains of some documents and predictions for all: the difference estimator.

A document that people judged counts m + (h − m) / π, its prediction m and what people said beyond it; every other
document counts its prediction. A measure that is a weighted sum of gains is then estimated without bias, whatever the
predictions are; good ones only make the interval narrower.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from judgewell.comparison.calibration import Predictions, Sample
from judgewell.stats.arrays import Floats, Ints

IMPUTATIONS = 40  # tables of grades drawn from the predictions, for nDCG


@dataclass(frozen=True)
class Estimate:
    """Estimated scores (systems × topics), and the covariance of the systems' means that the drawing of documents
    causes, topics held fixed."""

    scores: Floats
    covariance: Floats

    @property
    def means(self) -> Floats:
        return np.asarray(self.scores.mean(axis=1))

    @property
    def variances(self) -> Floats:
        return np.asarray(np.diag(self.covariance))

    @property
    def gap_variances(self) -> Floats:
        """The variance of the difference of each pair of systems: V_s + V_s' − 2 C_ss'."""
        return np.asarray(self.variances[:, None] + self.variances[None] - 2 * self.covariance)


def pseudo_gains(sample: Sample, gains: Floats, predictions: Predictions) -> Floats:
    """m + (h − m) / π where people judged, else m; documents × outputs."""
    values = predictions.every.copy()
    values[sample.drawn] += (gains - predictions.own) / sample.inclusion[:, None]
    return values


def linear_estimate(weights: Sequence[Floats], sample: Sample, gains: Floats, predictions: Predictions) -> Estimate:
    """The scores under a measure that is Σ w_sd g_d; `weights` holds systems × documents for each topic, `gains` is
    drawn × 1."""
    values = pseudo_gains(sample, gains, predictions)[:, 0]
    residual = (gains - predictions.own)[:, 0] / sample.inclusion
    scores: list[Floats] = []
    covariance = np.zeros((len(weights[0]), len(weights[0])))
    for start, end, weight, (rows, drawn) in _by_topic(weights, sample):
        scores.append(weight @ values[start:end])
        covariance += _spread(weight[:, rows - start] * residual[drawn], sample.inclusion[drawn])
    return Estimate(np.stack(scores, axis=1), covariance / len(scores) ** 2)


def people_alone(sample: Sample, gains: Floats) -> Predictions:
    """Predictions from people alone: the mean of each topic, documents weighted by 1 / π (Hájek's estimate)."""
    cuts = np.searchsorted(sample.drawn, sample.starts[:-1])
    total = np.add.reduceat(gains / sample.inclusion[:, None], cuts, axis=0)
    mean = total / np.add.reduceat(1 / sample.inclusion, cuts)[:, None]
    return Predictions(mean[sample.topic[sample.drawn]], mean[sample.topic], float("nan"))


def ndcg_estimate(
    weights: Sequence[Floats],
    sample: Sample,
    grade: Ints,
    gain_of_grade: Floats,
    predictions: Predictions,
    discounts: Floats,
    rng: np.random.Generator,
) -> Estimate:
    """nDCG, one step from its mean over imputed grades towards the difference estimates of DCG and of the ideal DCG.

    θ = nDCG_MI + E[1/I] · [(D − D_MI) − nDCG_MI (I − I_MI)]. The ideal DCG is I = Σ_k (g_k − g_k−1) C(n≥k), C the
    cumulative discount and n≥k the number of documents with grade k or more. I is halfway between the imputed one and
    the one whose counts are corrected by their difference estimates (never below what people saw); gap² / 12 of these
    two and the variance over imputations are added to the variance. `grade` is of the drawn documents, `predictions`
    of the indicators grade ≥ 1, 2, …; the weights are the discounts of the ranks.
    """
    steps = np.diff(gain_of_grade)
    reached = (grade[:, None] >= np.arange(1, len(gain_of_grade))).astype(np.float64)
    chance = _chances(predictions)
    residual = (reached - predictions.own) / sample.inclusion[:, None]
    pseudo = pseudo_gains(sample, reached, predictions)
    curve = np.concatenate([[0.0], np.cumsum(discounts)])
    scores: list[Floats] = []
    covariance = np.zeros((len(weights[0]), len(weights[0])))
    for start, end, weight, (rows, drawn) in _by_topic(weights, sample):
        imputed = rng.random((IMPUTATIONS, end - start, 1)) < chance[start:end]
        imputed[:, rows - start] = reached[drawn]
        counts, seen = imputed.sum(axis=1), reached[drawn].sum(axis=0)
        least = gain_of_grade[0] * curve[min(end - start, len(discounts))]
        expected = chance[start:end].sum(axis=0) + (reached[drawn] - chance[rows]).sum(axis=0)
        moved = np.clip(counts + pseudo[start:end].sum(axis=0) - expected, seen, end - start)
        # the cumulative discount at a count is straight between whole numbers
        best, moved_best = (least + np.interp(one, np.arange(len(curve)), curve) @ steps for one in (counts, moved))
        dcg = (gain_of_grade[0] + imputed @ steps) @ weight.T  # imputations × systems
        inverses = np.divide(1.0, best, out=np.zeros_like(best), where=best > 0)
        ndcg, inverse = (dcg * inverses[:, None]).mean(axis=0), float(inverses.mean())
        gain_step = weight @ (gain_of_grade[0] + pseudo[start:end] @ steps) - dcg.mean(axis=0)
        ideal_step = (moved_best.mean() - best.mean()) / 2
        scores.append(ndcg + inverse * (gain_step - ndcg * ideal_step))
        pull = residual[drawn] @ (_slope(curve, moved, seen) * steps) / 2
        z = inverse * (weight[:, rows - start] * (residual[drawn] @ steps) - ndcg[:, None] * pull)
        unsure = (moved_best.mean() - best.mean()) ** 2 / 12 + ((best + moved_best) / 2).var()
        covariance = (
            covariance + _spread(z, sample.inclusion[drawn]) + unsure * np.outer(inverse * ndcg, inverse * ndcg)
        )
    return Estimate(np.stack(scores, axis=1), covariance / len(scores) ** 2)


def imputed_grades(sample: Sample, reached: Floats, predictions: Predictions, rng: np.random.Generator) -> Ints:
    """Tables of grades (imputations × documents): people's where they judged, else drawn from the predictions."""
    drawn = rng.random((IMPUTATIONS, int(sample.starts[-1]), 1)) < _chances(predictions)
    drawn[:, sample.drawn] = reached
    return np.asarray(drawn.sum(axis=-1))


def order_scores(machine: Floats, estimate: Estimate) -> Floats:
    """For the order of systems alone: machine + κ (centred estimate − centred machine), κ = τ² / (τ² + V).

    τ² is the variance of the machine's error over systems (empirical Bayes). These scores order systems better than
    the machine's or the estimate alone; they are biased and have no interval.
    """
    error = (estimate.means - estimate.means.mean()) - (machine - machine.mean())
    centre = np.eye(len(machine)) - 1 / len(machine)
    variance = np.diag(centre @ estimate.covariance @ centre)
    spread = max(float(np.square(error).sum() / max(len(machine) - 1, 1) - variance.mean()), 0.0)
    total = spread + variance
    return np.asarray(machine + np.divide(spread, total, out=np.ones_like(total), where=total > 0) * error)


def _chances(predictions: Predictions) -> Floats:
    """The chance of reaching each grade: between 0 and 1, and never higher for a higher grade."""
    return np.minimum.accumulate(np.clip(predictions.every, 0.0, 1.0), axis=-1)


def _by_topic(weights: Sequence[Floats], sample: Sample) -> Iterator[tuple[int, int, Floats, tuple[Ints, slice]]]:
    """Each topic's documents (start, end), its weights, and its drawn documents: their rows and their numbers."""
    cuts = np.searchsorted(sample.drawn, sample.starts)
    for topic, weight in enumerate(weights):
        drawn = slice(cuts[topic], cuts[topic + 1])
        yield int(sample.starts[topic]), int(sample.starts[topic + 1]), weight, (sample.drawn[drawn], drawn)


def _spread(z: Floats, inclusion: Floats) -> Floats:
    """The covariance of Σ z of a Pareto sample: n / (n − 1) · Σ c (z − B)(z − B)', c = 1 − π, B = Σ c z / Σ c."""
    count, rest = len(inclusion), 1 - inclusion
    if count < 2 or not rest.any():
        return np.zeros((len(z), len(z)))
    away = z - (z @ rest)[:, None] / rest.sum()
    return np.asarray(count / (count - 1) * (away * rest) @ away.T)


def _slope(curve: Floats, counts: Floats, least: Floats) -> Floats:
    """How the cumulative discount grows with a count, on average over imputations: not at all at the least count and
    beyond the cutoff."""
    place = np.minimum(counts.astype(np.int64), len(curve) - 1)
    return np.asarray((np.append(np.diff(curve), 0.0)[place] * (counts > least)).mean(axis=0))
