"""Many gain tables at once give what evaluating each table alone gives, in bounded memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import polars as pl
import pytest

from judgewell.errors import DataError, InputError, JudgewellWarning, MeasureError
from judgewell.evaluation.evaluate import evaluate
from judgewell.evaluation.measures import parse
from judgewell.evaluation.resampled import Rankings, ranked_items
from judgewell.evaluation.settings import Settings
from judgewell.formats.runs import open_runs

MEASURES = [
    "nDCG@5",
    "nDCG(gain='exp2')@5",
    "DCG@4",
    "CG@5",
    "RBP(p=0.8)@5",
    "P(rel=0.5)@5",
    "ExpectedP@5",
    "ERR(gmax=1)@5",
    "ERR(gmax='topic')@5",
    "ERR(gmax=2)@5",
    "nERR(gmax=1)@5",
    "AP(rel=0.5)@5",
    "RR(rel=0.5)@5",
    "RBP(p=0.8)@5.residual",
    "ERR(gmax=1)@5.residual",
]


def collection(seed: int = 0, topics: int = 4, docs: int = 12, systems: int = 3) -> tuple[pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(seed)
    names = [(f"t{topic}", f"d{doc}") for topic in range(topics) for doc in range(docs - topic)]
    gains = pl.DataFrame(names, schema=["topic", "doc"], orient="row").with_columns(
        pl.Series("gain", np.round(rng.random(len(names)), 2))
    )
    gains = gains[rng.permutation(len(gains))]
    rows = [
        (f"s{system}", f"t{topic}", f"d{doc}", float(rng.random()))
        for system in range(systems)
        for topic in range(topics)
        for doc in rng.permutation(docs + 4)[: 3 + 4 * system]
    ]
    return gains, pl.DataFrame(rows, schema=["system", "topic", "doc", "score"], orient="row")


@pytest.mark.parametrize("name", MEASURES)
def test_each_table_is_as_evaluated_alone(name: str) -> None:
    gains, runs = collection()
    rankings = ranked_items(open_runs(runs), gains, 5)
    rng = np.random.default_rng(1)
    tables = np.round(rng.random((6, len(gains))), 2) * (rng.random((6, len(gains))) < 0.7)
    found = rankings.scores(parse(name), tables)
    assert found.shape == (6, 3, 4)
    for table, values in zip(tables, found, strict=True):
        alone = evaluate(runs, gains.with_columns(pl.Series("gain", table)), name)
        wide = alone.pivot("topic", index="system", values="value").sort("system")
        expected = wide.select(rankings.topics).to_numpy()
        order = np.argsort(rankings.systems)
        np.testing.assert_allclose(values[order], expected, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", ["nDCG@5", "ERR(gmax=1)@5", "nERR(gmax=1)@5", "AP(rel=0.5)@5"])
def test_nan_is_a_document_without_judgments(name: str) -> None:
    gains, runs = collection()
    rankings = ranked_items(open_runs(runs), gains, 5)
    table = gains["gain"].to_numpy().copy()
    gone = np.zeros(len(table), bool)
    gone[::3] = True
    found = rankings.scores(parse(name), np.where(gone, np.nan, table)[None])[0]
    alone = evaluate(runs, gains.filter(pl.Series(~gone)), name)
    for at, system in enumerate(rankings.systems):
        for topic, value in zip(rankings.topics, found[at], strict=True):
            expected = alone.filter((pl.col("system") == system) & (pl.col("topic") == topic))["value"][0]
            assert value == pytest.approx(expected, abs=1e-12)


def test_leading_axes_are_kept_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    gains, runs = collection()
    rankings = ranked_items(open_runs(runs), gains, 5)
    tables = np.random.default_rng(0).random((4, 5, len(gains)))
    whole = {name: rankings.scores(parse(name), tables) for name in ("nDCG@5", "ERR(gmax=1)@5", "AP(rel=0.5)@5")}
    assert whole["ERR(gmax=1)@5"].shape == (4, 5, 3, 4)
    monkeypatch.setattr("judgewell.evaluation.resampled.BLOCK_CELLS", 30)
    for name, values in whole.items():
        np.testing.assert_array_equal(rankings.scores(parse(name), tables), values)


def test_equal_rankings_have_equal_scores_to_the_bit() -> None:
    gains, runs = collection()
    twin = runs.filter(pl.col("system") == "s1").with_columns(pl.lit("twin").alias("system"))
    rankings = ranked_items(open_runs(pl.concat([runs, twin])), gains, 5)
    tables = np.random.default_rng(0).random((300, len(gains)))
    for name in ("nDCG@5", "ERR(gmax=1)@5", "RBP(p=0.8)@5"):
        found = rankings.scores(parse(name), tables)
        first, second = (rankings.systems.index(system) for system in ("s1", "twin"))
        assert (found[:, first] == found[:, second]).all()


def test_condensed_rankings() -> None:
    gains, runs = collection()
    rankings = ranked_items(open_runs(runs), gains, 5, Settings(unjudged="condense"))
    found = rankings.scores(parse("nDCG@5"), gains["gain"].to_numpy()[None])[0]
    alone = evaluate(runs, gains, "nDCG@5", unjudged="condense").pivot("topic", index="system", values="value")
    expected = alone.sort("system").select(rankings.topics).to_numpy()
    np.testing.assert_allclose(found[np.argsort(rankings.systems)], expected, atol=1e-12)


def test_missing_topics_are_told_and_score_zero() -> None:
    gains, runs = collection()
    short = runs.filter((pl.col("system") != "s1") | (pl.col("topic") != "t2"))
    with pytest.warns(JudgewellWarning, match="1 of 3 runs misses judged topics: the score there is 0"):
        rankings = ranked_items(open_runs(short), gains, 5)
    found = rankings.scores(parse("nDCG@5"), gains["gain"].to_numpy()[None])[0]
    assert found[rankings.systems.index("s1"), rankings.topics.index("t2")] == 0
    strangers = runs.with_columns(pl.col("topic") + "x")
    with pytest.raises(InputError, match="none of the topics"):
        ranked_items(open_runs(strangers), gains, 5)


def test_what_cannot_be_measured_is_refused() -> None:
    gains, runs = collection()
    rankings = ranked_items(open_runs(runs), gains, 5)
    table = gains["gain"].to_numpy()
    with pytest.raises(DataError, match="deeper than the 5 ranks"):
        rankings.scores(parse("nDCG@10"), table)
    with pytest.raises(DataError, match="deeper"):
        rankings.scores(parse("AP"), table)
    with pytest.raises(MeasureError, match="gains from 0 on"):
        rankings.scores(parse("nDCG@5"), table - 1)
    with pytest.raises(DataError, match="give one for each row"):
        rankings.scores(parse("nDCG@5"), table[:-1])
    with pytest.raises(InputError, match="defaults"):
        ranked_items(open_runs(runs), gains, 5, Settings(ties="shared"))


@pytest.mark.parametrize("name", ["nDCG@10", "ERR(gmax=1)@10", "AP(rel=0.5)@10"])
def test_memory_is_that_of_the_result(name: str) -> None:
    rng = np.random.default_rng(0)
    rows = tuple(np.arange(start, start + 100) for start in range(0, 1000, 100))
    items = np.stack([[rng.choice(of_topic, 10, replace=False) for of_topic in rows] for _ in range(40)])
    rankings = Rankings([f"s{at}" for at in range(40)], [f"t{at}" for at in range(10)], items.astype(np.int32), rows)

    def beyond_the_result(draws: int) -> int:
        tables = rng.random((draws, 1000))
        tracemalloc.start()
        found = rankings.scores(parse(name), tables)
        most = tracemalloc.get_traced_memory()[1] - found.nbytes
        tracemalloc.stop()
        return most

    rankings.scores(parse(name), rng.random((2, 1000)))  # what is imported on first use does not count
    block = 1_000_000 // 400
    # the check of the gains' values holds some bytes for each of them
    assert beyond_the_result(2 * block) < beyond_the_result(block) + block * 1000 * 20
