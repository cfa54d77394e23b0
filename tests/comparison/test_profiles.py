"""Several gains side by side, simulated systems, random labels, robustness to who judged."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from judgewell.comparison.correlation import tau_b
from judgewell.comparison.profiles import side_by_side
from judgewell.comparison.scores import ScoreArray
from judgewell.comparison.simulated import (
    complete_sub_runs,
    individual_draws,
    random_gains,
    robustness,
    simulated_systems,
)
from judgewell.errors import DataError, JudgewellWarning


def array(values: object) -> ScoreArray:
    table = np.asarray(values, dtype=float)
    return ScoreArray(tuple(f"s{at}" for at in range(len(table))), tuple(map(str, range(table.shape[1]))), table)


def test_side_by_side_holds_every_pair_of_sets() -> None:
    rng = np.random.default_rng(0)
    base = rng.random((6, 20)) + np.linspace(0, 1, 6)[:, None]
    sets = {"binary": array(base), "linear": array(base**2), "noise": array(rng.random((6, 20)))}
    table = side_by_side(sets)
    assert table.select("first", "second").rows() == [("binary", "linear"), ("binary", "noise"), ("linear", "noise")]
    for row in table.iter_rows(named=True):
        one, other = sets[row["first"]].means, sets[row["second"]].means
        assert row["tau_b"] == pytest.approx(float(tau_b(one, other)))
        assert row["concordant"] + row["discordant"] + row["tied"] == 15
        assert 0 <= row["top_jaccard"] <= 1
        assert row["rbo_least"] <= row["rbo"] <= row["rbo_least"] + row["rbo_residual"] + 1e-12
    assert table["tau_b"][0] > 0.9
    one_topic = side_by_side({name: array(one.values[:, :1]) for name, one in sets.items()})
    assert one_topic["top_jaccard"].null_count() == 3


def test_side_by_side_needs_two_sets_of_the_same_systems_and_topics() -> None:
    with pytest.raises(DataError, match=r"one set of scores \(a\)"):
        side_by_side({"a": array(np.ones((2, 3)))})
    with pytest.raises(DataError, match="same topics"):
        side_by_side({"a": array(np.ones((2, 3))), "b": array(np.ones((2, 4)))})


def run(system: str, **topics: str) -> list[tuple[str, str, str, float]]:
    return [
        (system, topic.removeprefix("t"), doc, float(-rank))
        for topic, docs in topics.items()
        for rank, doc in enumerate(docs)
    ]


RUNS = pl.DataFrame(
    run("p", t1="abz", t2="ab", t3="xz") + run("q", t1="bac", t2="ab", t3="yx") + run("r", t1="zab", t2="ca", t3="z"),
    schema=["system", "topic", "doc", "score"],
    orient="row",
)


GAINS = pl.DataFrame(
    {
        "topic": ["1"] * 4 + ["2"] * 3 + ["3"] * 2,
        "doc": ["a", "b", "c", "d", "a", "b", "c", "x", "y"],
        "gain": [3.0, 2.0, 1.0, 0.0, 1.0, 0.5, 0.0, 1.0, 0.0],
    }
)


def test_complete_sub_runs_have_all_top_documents_judged() -> None:
    found = complete_sub_runs(RUNS, GAINS, depth=2)
    lists = {(s, t): "".join(d) for s, t, d in found.group_by("system", "topic").agg("doc").rows()}
    assert lists == {
        ("p", "1"): "ab",
        ("q", "1"): "ba",
        ("p", "2"): "ab",
        ("q", "2"): "ab",
        ("r", "2"): "ca",
        ("q", "3"): "yx",
    }
    assert found.filter((pl.col("system") == "q") & (pl.col("topic") == "1"))["rank"].to_list() == [1, 2]


def test_simulated_systems_take_each_topic_from_a_complete_sub_run() -> None:
    with pytest.warns(JudgewellWarning, match="1 of 3 topics have fewer than two"):
        found = simulated_systems(RUNS, GAINS, 50, depth=2, seed=1)
    assert found["system"].n_unique() == 50
    assert set(found["topic"]) == {"1", "2"}
    lists = found.sort("system", "topic", "score", descending=[False, False, True])
    made = lists.group_by("system", "topic", maintain_order=True).agg(pl.col("doc").str.join())
    first = made.filter(pl.col("topic") == "1")["doc"].value_counts().sort("doc")
    assert first["doc"].to_list() == ["ab", "ba"]
    assert first["count"].min() > 15
    second = dict(made.filter(pl.col("topic") == "2")["doc"].value_counts().rows())
    assert second["ab"] > second["ca"]  # two of the three sub-runs are alike
    with pytest.warns(JudgewellWarning):
        again = simulated_systems(RUNS, GAINS, 50, depth=2, seed=1)
    assert again.equals(found)
    with pytest.warns(JudgewellWarning):
        merged = simulated_systems(RUNS, GAINS, 400, depth=2, seed=1, identical="merge")
    top = merged.filter((pl.col("topic") == "2") & (pl.col("score") == 2.0))["doc"]
    assert 150 < (top == "c").sum() < 250


def test_no_complete_sub_run_is_said() -> None:
    with pytest.raises(DataError, match="no topic of 3 has two rankings with all of the first 4 documents judged"):
        simulated_systems(RUNS, GAINS, depth=4)


def test_random_labels_keep_each_topics_gains() -> None:
    shuffled = np.stack([random_gains(GAINS, seed)["gain"].to_numpy() for seed in range(150)])
    assert shuffled.shape == (150, 9)
    assert (np.sort(shuffled[:, :4], axis=1) == [0, 1, 2, 3]).all()
    assert (np.sort(shuffled[:, 7:], axis=1) == [0, 1]).all()
    np.testing.assert_allclose(shuffled[:, :4].mean(axis=0), 1.5, atol=0.35)
    assert random_gains(GAINS, 2).equals(random_gains(GAINS, 2))


def test_individual_draws_take_one_judgment_of_each_document() -> None:
    gains = GAINS.head(3)
    judgments = pl.DataFrame(
        {"topic": ["1"] * 6, "doc": ["b", "a", "c", "a", "b", "a"], "value": [20.0, 1.0, 300.0, 2.0, 10.0, 3.0]}
    )
    draws = individual_draws(judgments, gains, 300, seed=0)
    drawn = np.concatenate([draws.block(task) for task in draws.blocks()])
    assert [set(column) for column in drawn.T] == [{1.0, 2.0, 3.0}, {10.0, 20.0}, {300.0}]
    with pytest.raises(DataError, match=r"1 of 4 documents have no judgment to draw \(the first: topic 1, doc d"):
        individual_draws(judgments, GAINS.head(4), 1)


def test_robustness_to_the_choice_of_assessor() -> None:
    items = np.array([[0, 1], [2, 3], [4, 5]])  # three systems, two topics: the row each finds

    def score(gains: np.ndarray) -> np.ndarray:
        return gains[:, items]

    grades = {"u1": [2, 2, 1, 1, 0, 0], "u2": [2, 1, 1, 1, 1, 0]}
    table = robustness(score, grades, {"linear": lambda g: g, "binary": lambda g: (g >= 2) * 1.0})
    assert table["profile"].to_list() == ["linear", "binary"]
    assert table["tau_b"].to_list() == [1.0, 1.0]
    assert table["tau_a"][1] == pytest.approx(2 / 3)
    with pytest.raises(DataError, match="two assessors"):
        robustness(score, {"u1": grades["u1"]}, {"linear": lambda g: g})
