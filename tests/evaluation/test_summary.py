"""Means over topics with intervals."""

import numpy as np
import polars as pl
import pytest

from judgewell.errors import DataError, InputError
from judgewell.evaluation.summary import summarise
from judgewell.stats import means


def table(values, systems=("a", "b"), measure="m"):
    rows = [
        {"system": s, "topic": str(t), "measure": measure, "value": v}
        for s, row in zip(systems, values, strict=False)
        for t, v in enumerate(row)
    ]
    return pl.DataFrame(rows)


def test_means_are_over_each_systems_topics():
    scores = pl.concat([table([[0.0, 1.0], [0.5, 0.7]]), table([[1.0, 1.0, 0.0]], measure="n")])
    found = {(row["system"], row["measure"]): row for row in summarise(scores).iter_rows(named=True) if row["topics"]}
    means = {key: row["mean"] for key, row in found.items()}
    assert means == pytest.approx({("a", "m"): 0.5, ("b", "m"): 0.6, ("a", "n"): 2 / 3})
    assert found["a", "n"]["topics"] == 3


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(1)
    scores = table(rng.random((2, 30)))
    mixed = scores.sample(fraction=1, shuffle=True, seed=3)
    one, other = summarise(scores).sort("system"), summarise(mixed).sort("system")
    assert one["mean"].to_list() == pytest.approx(other["mean"].to_list())


def test_the_interval_covers_the_true_mean_as_often_as_it_says():
    rng = np.random.default_rng(2)
    values = rng.beta(2, 3, (400, 40))
    found = summarise(table(values, systems=[str(n) for n in range(400)]))
    covered = ((found["low"] <= 0.4) & (found["high"] >= 0.4)).mean()
    assert 0.90 <= covered <= 0.975


def test_many_topics_get_the_normal_interval_which_agrees_with_the_bootstrap(monkeypatch):
    values = np.random.default_rng(3).random((1, 1500))
    bootstrap = summarise(table(values)).row(0, named=True)
    monkeypatch.setattr(means, "MANY_TOPICS", 100)
    normal = summarise(table(values)).row(0, named=True)
    assert (bootstrap["interval"], normal["interval"]) == ("bootstrap", "normal")
    assert normal["low"] == pytest.approx(bootstrap["low"], abs=0.002)
    assert normal["high"] == pytest.approx(bootstrap["high"], abs=0.002)


def test_one_topic_has_no_interval():
    row = summarise(table([[0.5]])).row(0, named=True)
    assert (row["mean"], row["low"], row["high"], row["interval"]) == (0.5, None, None, "none: one topic")


def test_the_same_seed_gives_the_same_interval_and_another_does_not():
    scores = table(np.random.default_rng(4).random((1, 20)))
    assert summarise(scores, seed=1).equals(summarise(scores, seed=1))
    assert not summarise(scores, seed=1).equals(summarise(scores, seed=2))


def test_bad_requests_are_refused():
    with pytest.raises(DataError, match="the scores table is empty"):
        summarise(table([[0.5]]).clear())
    with pytest.raises(InputError, match="the level 95 is not between 0 and 1"):
        summarise(table([[0.5, 0.6]]), level=95)


def test_counts_are_added_up_and_gmap_is_a_geometric_mean():
    scores = pl.DataFrame(
        [
            {"system": "s", "topic": topic, "measure": measure, "value": value}
            for measure, values in {
                "NumRet": (3.0, 5.0),
                "GMAP": (0.1, 0.4),
                "AP": (0.1, 0.4),
                "mine": (1.0, 2.0),
            }.items()
            for topic, value in zip(("a", "b"), values, strict=True)
        ]
    )
    table = summarise(scores)
    assert table["mean"].to_list() == pytest.approx([8, 0.2, 0.25, 1.5])
    assert table["high"][1] == 1  # no mean of AP is larger
    assert table.filter((pl.col("low") > pl.col("mean")) | (pl.col("high") < pl.col("mean"))).is_empty()
