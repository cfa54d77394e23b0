"""Draws of other gains that the judgments allow."""

import numpy as np
import polars as pl
import pytest

import judgewell
from judgewell.analysis.draws import draws_of_judgments


def of_one_document(kind: str, values: list[float], gain: float) -> np.ndarray:
    """Draws that vary as the gain of a document does, of its judgments in units whose other document gets 10."""
    given = [(unit, doc, value) for unit, own in enumerate(values) for doc, value in (("a", own), ("b", 10.0))]
    rows = [("t", doc, f"p{unit}", f"u{unit}", value, kind) for unit, doc, value in given]
    judgments = pl.DataFrame(rows, ["topic", "doc", "assessor", "unit", "value", "kind"], orient="row")
    judgments = judgments.with_columns(scale=pl.lit(kind))
    gains = pl.DataFrame({"topic": ["t", "t"], "doc": ["a", "b"], "gain": [gain, 10.0]})
    noise = draws_of_judgments(judgments, gains, 400).noise
    return np.concatenate([noise.block(task) for task in noise.blocks()])[:, 0]


def test_draws_of_magnitudes_vary_in_logarithms_and_stay_above_0():
    values = [1.0, 2.0, 2.0, 5000.0]  # a difference from their mean of 1,251 would be far below 0
    drawn = np.log(of_one_document("ratio", values, 8.0))
    assert len(set(np.round(drawn, 9))) == 3
    assert drawn.mean() == pytest.approx(np.log(8.0), abs=0.2)


def test_draws_of_scores_vary_around_the_gain():
    drawn = of_one_document("interval:0..100", [10.0, 20.0, 30.0, 60.0], 30.0)
    assert sorted(set(drawn)) == pytest.approx([20.0, 25.0, 30.0, 45.0])  # 30 + (value − 30) / √4


def test_skewed_magnitudes_are_compared_over_judgments():
    """They once gave draws below 0, which nDCG refuses."""
    rng = np.random.default_rng(0)
    rows = [
        (f"t{topic}", f"d{doc}", f"u{unit}", float(np.exp(rng.normal(doc / 4, 2.5))), "ratio")
        for topic in range(5)
        for unit in range(6)
        for doc in range(8)
    ]
    judgments = pl.DataFrame(rows, ["topic", "doc", "unit", "value", "kind"], orient="row")
    gains = judgewell.scale(judgments, method="magnitude", interval="none")
    ranked = gains.select(pl.lit("up").alias("system"), "topic", "doc", score="gain")
    runs = pl.concat([ranked, ranked.with_columns(system=pl.lit("down"), score=-pl.col("score"))])
    found = judgewell.compare(runs=runs, gains=gains, judgments=judgments, measure="nDCG@5", worlds=50)
    assert found["systems"]["without_noise"].null_count() == 0
