"""Counting pairs: equal to brute force, equal to scipy, and the identities of agree / disagree / unknown."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from judgewell.agreement.label_sets import concordance, concordance_by_topic
from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.stats import concordance as concord
from judgewell.stats.concordance import count_concordance, tie_ranks

rows = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=60)


def brute(x: np.ndarray, y: np.ndarray) -> tuple[int, int, int]:
    upper = np.triu_indices(len(x), 1)
    product = (np.sign(x[:, None] - x) * np.sign(y[:, None] - y))[upper]
    return int((product > 0).sum()), int((product < 0).sum()), int((product == 0).sum())


@given(rows, st.booleans())
def test_equals_brute_force_and_scipy(data: list[tuple[int, int, int]], small: bool) -> None:
    group, x, y = np.array(data).T
    size = concord.SMALL_GROUP
    concord.SMALL_GROUP = size if small else 0  # both ways of counting
    try:
        counted = count_concordance(x, y, group)
    finally:
        concord.SMALL_GROUP = size
    for number in range(group.max() + 1):
        a, b = x[group == number], y[group == number]
        assert (counted.agree[number], counted.disagree[number], counted.unknown[number]) == brute(a, b)
        tau = kendalltau(a, b).statistic if len(a) > 1 else np.nan
        np.testing.assert_allclose(counted.tau_b[number], tau)


def test_large_groups() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(20_000)
    y = x + rng.normal(size=20_000)
    assert count_concordance(x, y, tolerance=0).tau_b[0] == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)


def test_a_difference_of_rounding_is_a_tie() -> None:
    assert tie_ranks(np.array([0.3, 0.1 + 0.2, 0.4]), np.zeros(3, dtype=int)).tolist() == [0, 0, 1]
    assert count_concordance([0.3, 0.1 + 0.2], [1.0, 2.0]).unknown[0] == 1


def made_sets(seed: int) -> dict[str, pl.DataFrame]:
    rng = np.random.default_rng(seed)
    docs = {"topic": ["a"] * 12 + ["b"] * 7, "doc": [str(n) for n in range(19)]}
    truth = rng.random(19)
    return {
        name: pl.DataFrame(docs | {"gain": np.round((truth + noise * rng.random(19)) * grades)})
        for name, noise, grades in (("binary", 0.2, 1), ("graded", 0.4, 3), ("fine", 0.6, 100))
    }


@given(st.integers(0, 1000))
def test_identities(seed: int) -> None:
    sets = made_sets(seed)
    table = concordance(sets)
    assert table.height == 3
    np.testing.assert_allclose(table.select("micro_agree", "micro_disagree", "micro_unknown").sum_horizontal(), 1)
    np.testing.assert_allclose(table.select("macro_agree", "macro_disagree", "macro_unknown").sum_horizontal(), 1)
    np.testing.assert_allclose(table["micro_tau_a"], table["micro_agree"] - table["micro_disagree"])
    turned = concordance({"fine": sets["fine"], "binary": sets["binary"]})
    there = table.filter((pl.col("first") == "binary") & (pl.col("second") == "fine"))
    assert turned["micro_agree"][0] == there["micro_agree"][0]
    upside_down = {"binary": sets["binary"], "fine": sets["fine"].with_columns(-pl.col("gain"))}
    assert concordance(upside_down)["disagree"][0] == there["agree"][0]
    itself = concordance({"one": sets["fine"], "two": sets["fine"]})
    assert itself["disagree"][0] == 0


def test_published_system_table_is_agree_minus_disagree() -> None:
    """The printed A and D of 7,503 system pairs give the printed tau; ours is A − D as well."""
    printed = {(".938", ".062"): 0.876, (".874", ".126"): 0.748, (".970", ".030"): 0.940}
    for (agree, disagree), tau in printed.items():
        assert float(agree) - float(disagree) == pytest.approx(tau)
    means = pl.DataFrame({"topic": ["RBP"] * 3, "doc": ["x", "y", "z"], "gain": [0.1, 0.2, 0.3]})
    other = means.with_columns(gain=pl.Series([0.1, 0.3, 0.2]))
    row = concordance_by_topic({"binary": means, "graded": other}).row(0, named=True)
    assert (row["topic"], row["pairs"], row["agree"], row["disagree"]) == ("RBP", 3, 2, 1)
    assert row["tau_a"] == pytest.approx(1 / 3)


def test_refusals_and_warnings() -> None:
    sets = made_sets(0)
    with pytest.raises(InputError, match="1 label set cannot be compared"):
        concordance({"one": sets["fine"]})
    elsewhere = sets["fine"].with_columns(topic=pl.lit("z"))
    with pytest.raises(DataError, match="no two label sets share two documents"):
        concordance({"one": sets["fine"], "two": elsewhere})
    with pytest.warns(JudgewellWarning, match="three share no two documents of a topic"):
        concordance({"one": sets["fine"], "two": sets["graded"], "three": elsewhere})
    flat = concordance_by_topic({"one": sets["fine"], "flat": sets["fine"].with_columns(gain=pl.lit(1.0))})
    assert flat["tau_b"].null_count() == flat.height
    assert flat["note"][0] == "tau-b is undefined: one set ties every pair"


@pytest.mark.realdata
def test_trec8(trec8: tuple[pl.DataFrame, Any]) -> None:
    judgments, labels = trec8
    medians = judgments.group_by("topic", "doc").agg(gain=pl.col("value").median())
    table = concordance({"0-100": medians} | labels)
    assert table["topics"].to_list() == [18, 18, 18]
    by_name = {(row["first"], row["second"]): row for row in table.iter_rows(named=True)}
    # close to the published ME against binary (.301/.030/.669) and Sormunen (.522/.181/.297) on nine of the topics
    assert by_name["0-100", "sormunen"]["micro_agree"] == pytest.approx(0.52, abs=0.01)
    assert by_name["trec", "sormunen"]["micro_disagree"] < 0.01
