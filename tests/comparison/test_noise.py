"""Scores without judgment noise: the formula by hand, what is refused, and that intervals hold the truth."""

from __future__ import annotations

import numpy as np
import pytest

from judgewell.comparison.noise import scores_without_noise
from judgewell.errors import DataError
from judgewell.evaluation.measures import parse
from judgewell.evaluation.resampled import Rankings
from judgewell.stats.means import mean_intervals


def squares(gains: np.ndarray) -> np.ndarray:
    """One system on one topic whose score is the square of its only document's gain."""
    return (gains**2)[:, None, :]


def test_the_extrapolation_by_hand() -> None:
    """E(g + e)² is g² + variance: with λ times the noise the mean score is g² + λ v, so without any it is g² − v."""
    deviations = np.array([-1.0, 1.0, 0.0, 0.0])
    gains, draws = np.array([3.0, 50.0]), np.stack([3 + deviations, 50 + 60 * deviations], axis=1)
    clean = scores_without_noise(squares, gains, [draws[:2], draws[2:]], np.array([5, 5]))
    variance = (deviations**2).mean() * 5 / 4  # a bootstrap of 5 judgments has 4/5 of the variance
    assert clean[0, 0] == pytest.approx(9 - variance)


def test_a_document_without_a_gain_in_a_draw_does_not_deviate_there() -> None:
    draws = np.array([[2.0, 10.0], [4.0, np.nan]])
    clean = scores_without_noise(squares, np.array([3.0, 10.0]), [draws], np.array([9, 9]))
    assert clean[0, 1] == pytest.approx(100)


def test_noisier_gains_stay_inside_the_scale() -> None:
    seen = []

    def score(gains: np.ndarray) -> np.ndarray:
        seen.append(gains)
        return squares(gains)

    draws = np.random.default_rng(0).uniform(0, 100, (50, 6))
    scores_without_noise(score, np.full(6, 50.0), [draws], np.full(6, 2))
    assert min(block.min() for block in seen) >= draws.min()
    assert max(block.max() for block in seen) <= draws.max()


def test_few_judgments_are_refused() -> None:
    with pytest.raises(DataError, match="1 of 2 documents have fewer than 2 judgments"):
        scores_without_noise(squares, np.ones(2), [np.ones((3, 2))], np.array([1, 4]))
    with pytest.raises(DataError, match="no draws"):
        scores_without_noise(squares, np.ones(2), [], np.array([4, 4]))


DOCUMENTS, SKILLS = 30, np.array([0.6, 1.0, 1.4])


def topics_of(count: int, scale: str, rng: np.random.Generator) -> tuple[np.ndarray, Rankings]:
    """True gains of some topics, and the first ten documents of three systems of different skill."""
    worth = rng.normal(0, 1, (count, DOCUMENTS)) + rng.normal(0, 0.3, (count, 1))
    seen = SKILLS[:, None, None] * worth + rng.normal(0, 1.2, (3, count, DOCUMENTS))
    ranked = np.argsort(-seen, axis=-1)[:, :, :10] + np.arange(count)[:, None] * DOCUMENTS
    rows = tuple(np.arange(at * DOCUMENTS, (at + 1) * DOCUMENTS) for at in range(count))
    gains = np.exp(worth) if scale == "log" else 100 / (1 + np.exp(0.75 - 1.5 * worth))
    return gains.ravel(), Rankings(list("abc"), [str(at) for at in range(count)], ranked.astype(np.int32), rows)


def judged(gains: np.ndarray, scale: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """Noisy judgments (documents × judgments), whose expected pooled gain is the true one."""
    if scale == "log":
        return np.log(gains)[:, None] + rng.normal(0, 0.8, (len(gains), count))
    share, size = gains[:, None] / 100, 1 / 0.45 - 1
    return 100 * rng.beta(share * size + 1e-3, (1 - share) * size + 1e-3, (len(gains), count))


def pooled(judgments: np.ndarray, scale: str) -> np.ndarray:
    return np.exp(judgments.mean(axis=-1)) if scale == "log" else judgments.mean(axis=-1)


def coverage(scale: str, count: int, topics: int, studies: int) -> tuple[float, float]:
    """How often the intervals of plain scores, and of those without noise, hold the score of true gains."""
    rng, measure = np.random.default_rng([topics, count]), parse("nDCG@10")
    gains, rankings = topics_of(4000, scale, rng)
    truth = rankings.scores(measure, gains[None])[0].mean(axis=1)
    held: list[tuple[float, float]] = []
    for _ in range(studies):
        gains, rankings = topics_of(topics, scale, rng)
        judgments = judged(gains, scale, count, rng)
        picked = rng.integers(0, count, (40, len(gains), count))
        draws = pooled(np.take_along_axis(judgments[None], picked, 2), scale)

        def score(tables: np.ndarray, rankings: Rankings = rankings) -> np.ndarray:
            return rankings.scores(measure, tables)

        point = pooled(judgments, scale)
        clean = scores_without_noise(score, point, [draws], np.full(len(gains), count))
        found = [mean_intervals(one, limits=(0, 1)) for one in (score(point[None])[0], clean)]
        held.append(tuple(float(((one.low <= truth) & (truth <= one.high)).mean()) for one in found))  # type: ignore[arg-type]
    plain, corrected = np.mean(held, axis=0)
    return float(plain), float(corrected)


@pytest.mark.parametrize("scale", ["log", "0-100"])
def test_intervals_without_noise_hold_the_score_of_true_gains(scale: str) -> None:
    plain, corrected = coverage(scale, count=3, topics=25, studies=80)
    assert plain < 0.7
    assert corrected > 0.89  # 240 intervals, three to a study


@pytest.mark.long
@pytest.mark.parametrize("scale", ["log", "0-100"])
@pytest.mark.parametrize(("count", "topics"), [(3, 10), (5, 25)])
def test_coverage_without_noise_is_as_accepted(scale: str, count: int, topics: int) -> None:
    assert 0.92 <= coverage(scale, count, topics, studies=400)[1] <= 0.98
