"""Few human judgments and many machine labels: the estimate is unbiased, and its intervals hold the truth."""

import numpy as np
import pytest

from judgewell.comparison.calibration import (
    FOLDS,
    PENALTIES,
    TINY,
    Sample,
    cross_fit,
    features_of,
    folds_within_topics,
    standardised,
)
from judgewell.comparison.difference import linear_estimate, ndcg_estimate, order_scores, people_alone
from judgewell.evaluation.measures import parse
from judgewell.stats.sampling import inclusion_probabilities, pareto_sample

TOPICS, DOCUMENTS, SYSTEMS = 20, 40, 6
DCG = parse("DCG@10").weights(10)


@pytest.fixture(scope="module")
def world():
    """Grades 0 to 3, labels that follow them with noise and a bias, and systems that rank by noisy grades."""
    rng = np.random.default_rng(5)
    grade = rng.choice(4, (TOPICS, DOCUMENTS), p=[0.55, 0.2, 0.15, 0.1])
    label = np.clip(grade + rng.choice(3, grade.shape, p=[0.15, 0.5, 0.35]), 0, 3).astype(float)
    weights = np.zeros((TOPICS, SYSTEMS, DOCUMENTS))
    for system in range(SYSTEMS):
        ranked = np.argsort(-(grade + rng.normal(0, 1 + 0.3 * system, grade.shape)), axis=1)[:, :10]
        for topic in range(TOPICS):
            weights[topic, system, ranked[topic]] = DCG
    return grade, label, weights


def sample_of(world, size, rng, label=None):
    _, own, weights = world
    label = own if label is None else label
    importance = np.sqrt((weights**2).mean(axis=1))
    drawn, inclusion = [], []
    for topic in range(TOPICS):
        chance = inclusion_probabilities(importance[topic], size)
        chosen = pareto_sample(chance, rng.random(DOCUMENTS), size)
        drawn.append(topic * DOCUMENTS + chosen)
        inclusion.append(chance[chosen])
    starts = np.arange(TOPICS + 1) * DOCUMENTS
    flat = importance.ravel()
    features = features_of(label.ravel(), (weights > 0).sum(axis=1).ravel().astype(float), flat)
    fold = folds_within_topics(np.repeat(np.arange(TOPICS), size), rng)
    return Sample(starts, features, standardised(label.ravel()), np.concatenate(drawn), np.concatenate(inclusion), fold)


def truth(world, ndcg=False):
    grade, _, weights = world
    scores = np.einsum("tsd,td->st", weights, grade)
    best = -np.sort(-grade, axis=1)[:, :10] @ DCG
    return scores / best if ndcg else scores


def test_the_ridge_is_that_of_one_large_regression(world):
    rng = np.random.default_rng(1)
    sample = sample_of(world, 12, rng)
    gains = world[0].ravel()[sample.drawn].astype(float)[:, None]
    fitted = cross_fit(sample, gains)
    assert fitted.penalty in PENALTIES
    topic = sample.topic[:, None] == np.arange(TOPICS)
    design = np.column_stack([topic, topic * sample.slope[:, None], sample.features])
    penalty = np.diag([fitted.penalty] * 2 * TOPICS + [TINY] * sample.features.shape[1])
    for fold in range(FOLDS):
        here = sample.fold == fold
        rows, given = design[sample.drawn[~here]], gains[~here]
        expected = design[sample.drawn[here]] @ np.linalg.solve(rows.T @ rows + penalty, rows.T @ given)
        assert fitted.own[here] == pytest.approx(expected, abs=1e-8)


def test_with_everything_judged_the_estimate_is_the_score_without_an_interval(world):
    sample = sample_of(world, DOCUMENTS, np.random.default_rng(2))
    grade = world[0].ravel()[sample.drawn]
    gains = grade[:, None].astype(float)
    found = linear_estimate(world[2], sample, gains, cross_fit(sample, gains))
    assert found.scores == pytest.approx(truth(world))
    assert found.variances == pytest.approx(0)
    reached = (grade[:, None] >= np.arange(1, 4)).astype(float)
    ndcg = ndcg_estimate(
        world[2], sample, grade, np.arange(4.0), cross_fit(sample, reached), DCG, np.random.default_rng(1)
    )
    assert ndcg.scores == pytest.approx(truth(world, ndcg=True))
    assert ndcg.variances == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("labels", ["machine", "random", "reversed", "constant", "biased"])
def test_intervals_hold_the_truth_whatever_the_labels_are_worth(world, labels):
    other = np.random.default_rng(3).integers(0, 4, world[1].shape).astype(float)
    favoured = np.stack([weight[0] > 0 for weight in world[2]]).reshape(world[1].shape)  # by the first system
    label = {
        "machine": world[1],
        "random": other,
        "reversed": 3 - world[1],
        "constant": np.ones_like(other),
        "biased": np.minimum(world[1] + favoured, 3),
    }[labels]
    right, narrower, errors = [], [], []
    for draw in range(150):
        rng = np.random.default_rng([4, draw])
        sample = sample_of(world, 12, rng, label)
        gains = world[0].ravel()[sample.drawn].astype(float)[:, None]
        found = linear_estimate(world[2], sample, gains, cross_fit(sample, gains))
        alone = linear_estimate(world[2], sample, gains, people_alone(sample, gains))
        errors.append(found.means - truth(world).mean(axis=1))
        right.append(np.abs(errors[-1]) <= 1.96 * np.sqrt(found.variances))
        narrower.append(np.sqrt(found.variances).mean() / np.sqrt(alone.variances).mean())
    assert 0.91 <= np.mean(right) <= 0.98
    spread = np.std(errors, axis=0)
    assert (np.abs(np.mean(errors, axis=0)) < 3.5 * spread / np.sqrt(150)).all()
    assert np.mean(narrower) < (0.85 if labels in ("machine", "reversed", "biased") else 1.08)


def test_pairs_under_ndcg_hold_the_truth(world):
    first, second = np.triu_indices(SYSTEMS, 1)
    real = truth(world, ndcg=True).mean(axis=1)
    right = []
    for draw in range(100):
        rng = np.random.default_rng([6, draw])
        sample = sample_of(world, 12, rng)
        grade = world[0].ravel()[sample.drawn]
        reached = (grade[:, None] >= np.arange(1, 4)).astype(float)
        found = ndcg_estimate(world[2], sample, grade, np.arange(4.0), cross_fit(sample, reached), DCG, rng)
        gap = found.means[first] - found.means[second] - (real[first] - real[second])
        right.append(np.abs(gap) <= 1.96 * np.sqrt(found.gap_variances[first, second]))
    assert 0.91 <= np.mean(right) <= 0.98


def test_the_order_leans_on_the_machine_where_people_say_little(world):
    sample = sample_of(world, 12, np.random.default_rng(7))
    gains = world[0].ravel()[sample.drawn].astype(float)[:, None]
    found = linear_estimate(world[2], sample, gains, cross_fit(sample, gains))
    machine = found.means + np.array([0.0, 0.001, 0.0, -0.001, 0.0, 0.0])
    assert order_scores(machine, found) == pytest.approx(machine)  # the machine's error is within people's noise
    far = found.means + np.linspace(-50, 50, SYSTEMS)
    assert order_scores(far, found) - found.means == pytest.approx((far - found.means).mean(), abs=0.05)
