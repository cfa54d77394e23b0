"""Stability: exact where nothing varies, converging where it does; power equal to theory."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest
from agreement_studies import made_study
from scipy import stats

import judgewell
from judgewell.agreement.common import judgments_of
from judgewell.agreement.evidence import Evidence
from judgewell.agreement.power import grade_power, power_of
from judgewell.agreement.section import run_section
from judgewell.agreement.sections import section_named
from judgewell.agreement.sections.stability import SECTION as STABILITY
from judgewell.agreement.stability import (
    document_stability,
    inferred_grades,
    judge_stability,
    partition_stability,
    split_halves,
    unit_ratios,
)
from judgewell.errors import DataError, JudgewellWarning
from judgewell.stats.footing import footing_of


def judges(seed: int, count: int, noise: float) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Every judge scores one document of each grade; the truth is 1, 2, 4, 8."""
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "topic": ["t"] * 4 * count,
            "doc": ["n", "m", "r", "h"] * count,
            "assessor": np.repeat(np.arange(count), 4).astype(str),
            "value": np.exp(np.log([1, 2, 4, 8] * count) + noise * rng.normal(size=4 * count)),
        }
    )
    return frame, pl.DataFrame({"topic": ["t"] * 4, "doc": ["n", "m", "r", "h"], "gain": [0.0, 1, 2, 3]})


def test_inferred_grades_are_the_chain_of_median_ratios() -> None:
    ratios = np.array([[2.0, 3], [4, np.nan], [np.nan, 5]])
    assert inferred_grades(ratios).tolist() == [1, 3, 12]
    assert np.isnan(inferred_grades(np.array([[2.0, np.nan]]))).tolist() == [False, False, True]
    found, present = unit_ratios(*judges(0, 3, 0.0))
    assert present == [0, 1, 2, 3]
    np.testing.assert_allclose(found, 2)


def test_without_noise_one_judge_is_enough() -> None:
    table = judge_stability(*judges(0, 8, 0.0), orders=20)
    assert table["judges"].to_list() == list(range(1, 9))
    np.testing.assert_allclose(table["ssd_q3"], 0, atol=1e-20)
    assert (table["tau_q1"] == 1).all()


def test_more_judges_are_closer() -> None:
    table = judge_stability(*judges(1, 40, 0.8), orders=300)
    assert table["judges"].to_list()[28:] == [*range(29, 41)]
    table = table.filter(pl.col("judges").is_in([1, 3, 10, 30, 40]))
    assert table["ssd_median"].is_sorted(descending=True)
    assert table["ssd_median"][-1] == pytest.approx(0, abs=1e-20)
    assert table["tau_median"].is_sorted()
    assert (table["ssd_q1"] <= table["ssd_median"]).all()


def test_orders_without_a_grade_are_counted() -> None:
    judgments, grades = made_study(0, units=40, size=3)
    table = judge_stability(judgments, grades, orders=50)
    first = table.row(0, named=True)
    assert first["undefined"] > 0
    assert "lack a grade" in first["note"]


def test_document_stability() -> None:
    judgments, _ = made_study(2, units=150, noise=1.0)
    table = document_stability(judgments, most=12, orders=10)
    assert table["tau_median"].is_sorted()
    assert table["tau_median"][-1] < 1
    medians = document_stability(judgments, average="median", most=12, orders=10)
    assert medians["tau_median"].to_list() != table["tau_median"].to_list()
    flat = document_stability(judgments.with_columns(value=pl.lit(1.0)), most=2, orders=2)
    assert flat["tau_median"].null_count() == 2
    assert "ties all its documents" in flat["note"][0]


def made_partitions() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    worth = rng.normal(size=24)
    rows = []
    for partition in range(6):
        for group in rng.permutation(24).reshape(6, 4):
            for a, b in [(0, 1), (1, 2), (2, 3), (3, 0)]:
                left = worth[group[a]] - worth[group[b]] + 0.5 * rng.normal() > 0
                rows.append(("t", f"d{group[a]}", f"d{group[b]}", "left" if left else "right", partition))
    return pl.DataFrame(rows, schema=["topic", "left", "right", "preferred", "partition"], orient="row")


def frequency(pairs: pl.DataFrame) -> pl.DataFrame:
    """How often a document was preferred, of the times it was shown."""
    sides = [
        pairs.select("topic", doc=pl.col(side), won=(pl.col("preferred") == side).cast(pl.Float64))
        for side in ("left", "right")
    ]
    return pl.concat(sides).group_by("topic", "doc").agg(gain=pl.col("won").mean())


def test_partition_stability() -> None:
    table = partition_stability(made_partitions(), frequency, orders=8)
    assert table["partitions"].to_list() == [1, 2, 3, 4, 5, 6]
    assert table["tau_mean"][5] == pytest.approx(1)
    assert table["tau_mean"].is_sorted()


def test_a_refused_score_is_counted_with_its_words() -> None:
    def needs_two(pairs: pl.DataFrame) -> pl.DataFrame:
        if pairs["partition"].n_unique() < 2:
            raise DataError("the comparisons fall into 6 components")
        return frequency(pairs)

    table = partition_stability(made_partitions(), needs_two, orders=3)
    first = table.row(0, named=True)
    assert (first["undefined"], first["tau_mean"]) == (3, None)
    assert first["note"] == "the comparisons fall into 6 components"
    with pytest.raises(DataError, match="'partition' has gaps or is missing"):
        partition_stability(made_partitions().drop("partition"), frequency)
    with pytest.raises(DataError, match="every topic has one"), pytest.warns(JudgewellWarning, match="one partition"):
        partition_stability(made_partitions().filter(pl.col("partition") == 0), frequency)


def test_power_equals_theory() -> None:
    one = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    other = one + 0.5
    noncentral = 0.5 * np.sqrt(50 / 2)
    limit = stats.t.ppf(0.975, 98)
    theory = 1 - stats.nct.cdf(limit, 98, noncentral) + stats.nct.cdf(-limit, 98, noncentral)
    ranked = power_of(one, other, (50, 50), replicates=2000)
    assert theory - 0.08 < ranked["power"] < theory + 0.035  # 0.955 of the t-test's efficiency
    assert ranked["low"] < ranked["power"] < ranked["high"]
    nothing = power_of(one, one, (50, 50), replicates=2000)["power"]
    assert nothing == pytest.approx(0.05, abs=0.02)


def test_grade_power() -> None:
    judgments, grades = made_study(0, units=60)
    table = grade_power(judgments, grades, sizes=(3, 30), replicates=200)
    steps = table.filter(~pl.col("observed")).group_by("size").agg(pl.col("power").mean()).sort("size")
    assert steps["power"][0] < steps["power"][1]


@pytest.mark.realdata
def test_trec8(trec8: tuple[pl.DataFrame, Any]) -> None:
    table = document_stability(trec8[0], most=10, orders=3)
    assert table["tau_median"].is_sorted()


@pytest.mark.parametrize(("kind", "average"), [("interval", "mean"), ("ratio", "median")])
def test_judgments_are_averaged_as_in_their_gains(kind: str, average: Any) -> None:
    judgments = made_study(2, units=30)[0].with_columns(kind=pl.lit(kind))
    ours = judgewell.agree(judgments, section=["stability"])["document_stability"]
    footed = footing_of(judgments_of(judgments)).judgments
    assert ours.equals(document_stability(footed, average=average))
    asked = run_section(STABILITY, Evidence(judgments=judgments, averaged_by="median"), files=False)
    assert asked.tables["document_stability"].equals(document_stability(footed, average="median"))


def finding_of(name: str, table: pl.DataFrame) -> str | None:
    section = section_named("stability")
    assert section is not None
    (found,) = [one.finding for one in section.tables if one.name == name]
    assert found is not None
    text = found(table)
    assert text is None or isinstance(text, str)
    return text


def test_what_fewer_judgments_give_is_reported_below_all_there_are() -> None:
    table = pl.DataFrame({"judgments": [1, 2, 3, 4], "tau_median": [0.4, 0.7, 0.95, 1.0], "typical": [4] * 4})
    assert finding_of("document_stability", table) == (
        "With one judgment per document, the ranking of documents agrees with the full one at τ-b = 0.400; with 3 of "
        "the typical 4, at 0.950."
    )
    assert finding_of("document_stability", table.with_columns(typical=pl.lit(1))) is None


def test_how_many_judgments_are_enough_rests_on_halves_that_share_none() -> None:
    """Noise agrees with a whole that contains it; its halves do not agree, and the sentence says so."""
    rng = np.random.default_rng(3)
    doc = np.repeat(np.arange(200), 10)
    frame = pl.DataFrame({"topic": "t", "doc": doc.astype(str), "value": rng.normal(size=2000), "kind": "interval"})
    centred = frame.with_columns(value=pl.col("value") - pl.col("value").mean().over("doc"))
    text = finding_of("split_halves", split_halves(centred))
    assert str(text).startswith("Random halves of the judgments do not agree (r = −")
    row = {"correlation": [0.7], "judgments": [10.0], "reliability": [0.824], "for_90": [20.0]}
    assert finding_of("split_halves", pl.DataFrame(row)) == (
        "The mean of 10 judgments per document has a reliability of 0.824 (split halves, Spearman–Brown; 1 is "
        "perfect); 0.9 takes about 20 per document."
    )


def test_split_halves_imply_the_reliability_there_is() -> None:
    """With m judgments of noise variance 3 per document of variance 1, reliability is m / (m + 3)."""
    rng = np.random.default_rng(0)
    docs, each = 800, 6
    value = np.repeat(rng.normal(size=docs), each) + np.sqrt(3) * rng.normal(size=docs * each)
    doc = np.repeat(np.arange(docs), each)
    frame = pl.DataFrame({"topic": (doc % 4).astype(str), "doc": doc.astype(str), "value": value, "kind": "interval"})
    row = split_halves(frame).row(0, named=True)
    assert row["correlation"] == pytest.approx(3 / 6, abs=0.04)
    assert row["reliability"] == pytest.approx(6 / 9, abs=0.04)
    assert row["one"] == pytest.approx(1 / 4, abs=0.04)
    assert row["for_90"] == pytest.approx(27, abs=4)
    with pytest.raises(DataError, match="every document has one"):
        split_halves(frame.unique("doc"))


def test_ratios_of_no_judge_are_unknown_and_raise_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(inferred_grades(np.empty((0, 2)))).tolist() == [False, True, True]


def test_units_of_one_magnitude_cannot_be_split() -> None:
    """Pure noise in units of one or two documents: the fitted offsets alone would make the halves agree."""
    rng = np.random.default_rng(2)
    rows = [(f"t{t}", f"d{d}", f"a{t}-{d}-{k}") for t in range(40) for d in range(3) for k in range(3)]
    table = pl.DataFrame(rows, schema=["topic", "doc", "assessor"], orient="row")
    table = table.with_columns(value=pl.Series(np.exp(rng.normal(size=len(rows)))), kind=pl.lit("ratio"))
    reasons = judgewell.agree(table, section=["stability"]).not_analysed
    needed = "360 judgments less the offsets of 320 units leave too little to compare parts of them"
    assert needed in reasons["stability, split_halves"]
    assert needed in reasons["stability, document_stability"]
    given = table.with_columns(kind=pl.lit("interval"))
    assert "split_halves" in judgewell.agree(given, section=["stability"]).tables
