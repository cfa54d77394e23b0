"""p(R|grade) over topics: its interval holds for other topics, and neighbouring grades differ or not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from predicted_relevance import double_topics

from judgewell.scaling.double_judgments import tallies
from judgewell.scaling.grade_probabilities import enough, estimated


@pytest.mark.long
@pytest.mark.parametrize("effect", [0.0, 1.0])
def test_the_interval_holds_for_other_topics(effect: float) -> None:
    """95 % intervals from 15 topics hold p(R|grade) of 1,500 topics; the pair-level ones do not with topic effects."""
    rng = np.random.default_rng(11)
    truth = estimated(tallies(double_topics(rng, 1500, effect)))["p"].to_numpy()
    held, pairs = [], []
    for _ in range(120):
        table = estimated(tallies(double_topics(rng, 15, effect)))
        p, low, high, sigma = (table[name].to_numpy() for name in ("p", "low", "high", "sigma_pairs"))
        held.append((low <= truth) & (truth <= high))
        pairs.append(np.abs(p - truth) <= 1.96 * sigma)
    assert np.mean(held, axis=0).min() >= 0.90
    assert np.mean(held) <= 0.985
    if effect:
        assert np.mean(pairs, axis=0).min() < 0.85


@pytest.mark.long
def test_grades_of_the_same_worth_are_not_called_apart() -> None:
    """Grades 0 and 1 are worth the same, topics use them unequally: a rule over pairs finds a gap far too often."""
    rng = np.random.default_rng(5)
    said, by_pairs = 0, 0
    for _ in range(150):
        relevant = rng.random((15, 60)) < rng.beta(1, 1, (15, 1))
        first = (rng.random((15, 60)) < rng.beta(0.5, 0.5, (15, 1))).astype(int)
        found = tallies(_doubled(first, np.where(relevant, 2, 0)), estimate="first", threshold=2)
        said += bool(enough(found)["enough"][0])
        table = estimated(found)
        p, sigma = table["p"].to_numpy(), table["sigma_pairs"].to_numpy()
        by_pairs += bool(p[1] - p[0] > 1.96 * (sigma[1] + sigma[0]))
    assert by_pairs > 15
    assert said <= 8  # one-sided 2.5 % of 150 is 4


def _doubled(first: np.ndarray, second: np.ndarray) -> pl.DataFrame:
    topic, doc = np.indices(first.shape).reshape(2, -1).astype(str)
    parts = [
        pl.DataFrame({"topic": topic, "doc": doc, "assessor": who, "value": given.ravel().astype(float)})
        for who, given in (("U1", first), ("U2", second))
    ]
    return pl.concat(parts)


def test_fewer_than_five_topics_have_no_interval() -> None:
    table = estimated(tallies(double_topics(np.random.default_rng(0), 4, 0.0)))
    assert table["p"].null_count() == 0
    assert table["low"].null_count() == table["sigma_topics"].null_count() == 3
    assert enough(tallies(double_topics(np.random.default_rng(0), 4, 0.0)))["enough"].null_count() == 2


def test_no_relevant_pair_gives_clopper_and_pearsons_interval() -> None:
    """12 documents of grade 0 whose second judgment is 0 too: B/2 = 12 pairs, so high is 1 - 0.025^(1/12)."""
    first = np.array([[0, 0, 2], [0, 0, 2], [0, 0, 2], [0, 0, 2], [0, 0, 2], [0, 0, 2]])
    table = estimated(tallies(_doubled(first, first)))
    assert table.select("p", "low", "high").row(0) == (0.0, 0.0, pytest.approx(1 - 0.025 ** (1 / 12)))
    assert table.select("p", "low", "high").row(1) == (1.0, pytest.approx(0.025 ** (1 / 6)), 1.0)


@pytest.mark.realdata
def test_enough_is_refused_where_a_topic_bootstrap_refutes_it(data: Path) -> None:
    """Of 99 gaps between neighbouring grades of 33 machine judges, 88 pass a rule over pairs of judgments."""
    from judgewell.scaling.predicted_curves import topic_bootstrap

    human = _labels(data / "llmjudge" / "human.qrels")
    kept, refuted, by_pairs = 0, 0, 0
    for path in sorted((data / "llmjudge" / "submissions").glob("*.txt")):
        judge = _labels(path).filter(pl.col("value").is_in([0.0, 1.0, 2.0, 3.0]))
        found = tallies(pl.concat([human, judge]), threshold=2, grades=[0, 1, 2, 3])
        table = estimated(found)
        gap, sigma = np.diff(table["p"].to_numpy()), table["sigma_pairs"].to_numpy()
        passes = gap > 1.96 * (sigma[1:] + sigma[:-1])
        low = np.nanquantile(np.diff(topic_bootstrap(found, np.random.default_rng(0), 400), axis=1), 0.025, axis=0)
        said = enough(found)["enough"].fill_null(False).to_numpy()
        by_pairs, kept = by_pairs + passes.sum(), kept + said.sum()
        refuted += (passes & (low <= 0)).sum()
        assert not (said & (low <= 0)).any()
    assert (by_pairs, kept) == (88, 59)
    assert 14 <= refuted <= 19


def _labels(path: Path) -> pl.DataFrame:
    names = ["topic", "zero", "doc", "value"]
    frame = pl.read_csv(path, separator=" ", has_header=False, new_columns=names, infer_schema=False)
    return frame.select("topic", "doc", pl.col("value").cast(pl.Float64), assessor=pl.lit(path.name))
