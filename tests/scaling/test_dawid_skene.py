"""Dawid-Skene equals a plain loop of the 1979 formulas, beats a vote with poor assessors, and says when it fails."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.scaling.dawid_skene import Crowd, dawid_skene
from judgewell.scaling.grades import DawidSkene, Majority


def crowd_of(seed: int, documents: int = 150, good: int = 4, poor: int = 6) -> tuple[pl.DataFrame, np.ndarray]:
    """Grades 0-2; good assessors are right 9 times of 10, poor ones say the top grade most of the time."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, documents, p=[0.5, 0.3, 0.2])
    rows = []
    for doc, grade in enumerate(truth):
        for worker in range(good + poor):
            chance = np.full(3, 0.05) + 0.85 * (np.arange(3) == grade) if worker < good else np.array([0.2, 0.1, 0.7])
            rows.append(("t", f"d{doc:03d}", f"w{worker}", float(rng.choice(3, p=chance))))
    return pl.DataFrame(rows, schema=["topic", "doc", "assessor", "value"], orient="row"), truth


def plain(judgments: pl.DataFrame, smoothing: float, steps: int) -> dict[str, np.ndarray]:
    """The formulas in loops."""
    rows = judgments.select("doc", "assessor", "value").rows()
    documents, workers = sorted({r[0] for r in rows}), sorted({r[1] for r in rows})
    belief = {doc: np.zeros(3) for doc in documents}
    for doc, _, value in rows:
        belief[doc][int(value)] += 1
    belief = {doc: counts / counts.sum() for doc, counts in belief.items()}
    for _ in range(steps):
        confusion = {worker: np.full((3, 3), smoothing) for worker in workers}
        for doc, worker, value in rows:
            confusion[worker][:, int(value)] += belief[doc]
        confusion = {worker: matrix / matrix.sum(axis=1, keepdims=True) for worker, matrix in confusion.items()}
        prior = np.mean(list(belief.values()), axis=0)
        belief = {doc: prior.copy() for doc in documents}
        for doc, worker, value in rows:
            belief[doc] = belief[doc] * confusion[worker][:, int(value)]
        belief = {doc: weights / weights.sum() for doc, weights in belief.items()}
    return belief


def test_it_equals_the_formulas_in_loops() -> None:
    judgments, _ = crowd_of(1, documents=30)
    crowd = dawid_skene(judgments)
    expected = plain(judgments, 0.01, crowd.steps)
    assert crowd.probabilities == pytest.approx(np.stack([expected[doc] for doc in sorted(expected)]), abs=1e-9)


def test_it_sees_through_assessors_who_always_say_the_same() -> None:
    judgments, truth = crowd_of(2)
    learnt = DawidSkene(gain="likeliest")(judgments)["gain"].to_numpy()
    with pytest.warns(JudgewellWarning, match=r"have no majority"):
        voted = Majority(ties="lowest")(judgments)["gain"].to_numpy()
    assert (learnt == truth).mean() > 0.95 > (voted == truth).mean()


def quality(crowd: Crowd) -> dict[str, float]:
    return dict(crowd.quality.select("assessor", "accuracy").rows())


def test_the_quality_of_assessors_is_learnt() -> None:
    accuracy = quality(dawid_skene(crowd_of(3)[0]))
    assert all(accuracy[f"w{n}"] == pytest.approx(0.9, abs=0.08) for n in range(4))
    assert max(accuracy[f"w{n}"] for n in range(4, 10)) < 0.6


def test_the_likelihood_never_falls() -> None:
    judgments, _ = crowd_of(4, documents=40)
    reached = [dawid_skene(judgments, tolerance=tolerance).log_likelihood for tolerance in (1e-2, 1e-4, 1e-6, 1e-10)]
    assert reached == sorted(reached)


def test_agreement_is_certainty_and_gains_follow_the_profile() -> None:
    rows = [("t", doc, worker, value) for doc, value in (("a", 0.0), ("b", 2.0)) for worker in "xyz"]
    judgments = pl.DataFrame(rows, schema=["topic", "doc", "assessor", "value"], orient="row")
    assert DawidSkene()(judgments)["gain"].to_list() == pytest.approx([0, 2], abs=1e-3)
    assert DawidSkene(profile="exp2")(judgments)["gain"].to_list() == pytest.approx([0, 3], abs=1e-3)
    assert DawidSkene()(judgments)["judgments"].to_list() == [3, 3]


def test_a_run_that_does_not_settle_is_an_error() -> None:
    with pytest.raises(DataError, match=r"did not settle in 2 steps.*steps=20"):
        dawid_skene(crowd_of(5)[0], steps=2)


def test_judgments_without_assessor_or_with_too_many_grades_are_refused() -> None:
    judgments, _ = crowd_of(6, documents=3)
    with pytest.raises(InputError, match=r"30 judgments name no assessor .topic t, document d000.*majority or mean"):
        dawid_skene(judgments.drop("assessor"))
    many = judgments.with_columns(value=pl.int_range(pl.len()).cast(pl.Float64) * 3)
    more = many.with_columns(value=pl.col("value") + 1, doc=pl.col("doc") + "x")
    with pytest.raises(InputError, match=r"60 different values"):
        dawid_skene(pl.concat([many, more]))


def test_resampling_assessors_gives_an_interval() -> None:
    judgments, _ = crowd_of(7, documents=20)
    found = DawidSkene().interval(judgments, draws=10)
    assert (found["low"] <= found["high"]).all()
    assert found["high"].null_count() == 0
