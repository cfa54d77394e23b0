"""Intervals and draws: right coverage, the same draws for the same seed, blocks that never hold all of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.scaling import uncertainty
from judgewell.scaling.bradley_terry import BradleyTerry
from judgewell.scaling.combine import Combined
from judgewell.scaling.grades import Majority, Mean
from judgewell.scaling.known import Width
from judgewell.scaling.magnitude import Magnitude, Sampled
from judgewell.scaling.preference import Preference
from judgewell.scaling.ratio import Ratio
from judgewell.scaling.two_way import TwoWayModel


def magnitudes(seed: int = 0, units: int = 40, documents: int = 12, spread: float = 1.0) -> pl.DataFrame:
    """Units of H, N and four others with log-normal scores."""
    rng = np.random.default_rng(seed)
    worth = np.linspace(-1, 1, documents)
    rows = []
    for unit in range(units):
        chosen = [0, documents - 1, *rng.choice(np.arange(1, documents - 1), 4, replace=False)]
        shift = rng.normal(0, spread)
        for doc in chosen:
            known = {0: "N", documents - 1: "H"}.get(int(doc))
            rows.append(
                (
                    "t",
                    f"d{doc:02d}",
                    f"u{unit}",
                    f"w{unit}",
                    float(np.exp(shift + worth[doc] + rng.normal(0, 0.5))),
                    known,
                )
            )
    return pl.DataFrame(rows, schema=["topic", "doc", "unit", "assessor", "value", "known"], orient="row")


def comparisons(seed: int = 0, count: int = 200) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    worth = rng.normal(0, 1, 6)
    rows = []
    for n in range(count):
        i, j = rng.choice(6, 2, replace=False)
        first = rng.random() < 1 / (1 + np.exp(worth[j] - worth[i]))
        scores = np.exp(worth[[i, j]] + rng.normal(0, 0.3, 2)) * 10
        rows.append(("t", f"d{i}", f"d{j}", f"w{n % 20}", "left" if first else "right", *map(float, scores)))
    columns = ["topic", "left", "right", "assessor", "preferred", "left_score", "right_score"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    return frame.with_columns(left_relevant=pl.col("left_score") > 8, right_relevant=pl.col("right_score") > 8)


METHODS = [
    (Magnitude(), magnitudes()),
    (Width(), magnitudes()),
    (Sampled(), magnitudes()),
    (TwoWayModel(), magnitudes()),
    (Mean(), magnitudes()),
    (Majority(ties="lowest"), magnitudes().with_columns(pl.col("value").round())),
    (Preference(), comparisons()),
    (BradleyTerry(), comparisons()),
    (BradleyTerry(prior=0.1, gain="probability"), comparisons()),
    (Ratio(), comparisons()),
    (Combined(), comparisons()),
]


@pytest.mark.filterwarnings("ignore::judgewell.errors.JudgewellWarning")
@pytest.mark.parametrize(("method", "table"), METHODS, ids=[str(method) for method, _ in METHODS])
@pytest.mark.parametrize(("count", "fewer"), [(34, 6), pytest.param(40, 34, marks=pytest.mark.long)])
def test_draws_repeat_by_seed_and_stand_around_the_gains(
    method: Magnitude, table: pl.DataFrame, count: int, fewer: int
) -> None:
    gains = method(table)
    draws = method.draws(table, count, seed=5)
    blocks = list(draws)
    assert [len(block) for block in blocks] == [32, count - 32]
    array = np.concatenate(blocks)
    assert not np.array_equal(method.draws(table, 4, seed=6).array(), array[:4])
    assert (method.draws(table, fewer, seed=5).array() == array[:fewer]).all()  # more draws begin with the same ones
    assert draws.documents.rows() == gains.select("topic", "doc").rows()
    if not isinstance(method, Sampled):
        assert np.corrcoef(np.nanmean(array, axis=0), gains["gain"].to_numpy())[0, 1] > 0.75


@pytest.mark.filterwarnings("ignore::judgewell.errors.JudgewellWarning")
@pytest.mark.parametrize(("method", "table"), METHODS, ids=[str(method) for method, _ in METHODS])
@pytest.mark.parametrize("draws", [30, pytest.param(60, marks=pytest.mark.long)])
def test_every_method_gives_an_interval(method: Magnitude, table: pl.DataFrame, draws: int) -> None:
    kind = "bootstrap" if method.name == "combined" else None
    found = method.interval(table, draws=draws, kind=kind)
    assert found["low"].null_count() == 0
    assert (found["low"] <= found["high"]).all()
    wide = (found["high"] - found["low"]).sum()
    narrow = method.interval(table, level=0.5, draws=draws, kind=kind)
    assert 0 < (narrow["high"] - narrow["low"]).sum() < wide


def test_combined_refuses_an_interval_unless_it_is_resampled_on_request() -> None:
    table = next(table for method, table in METHODS if method.name == "combined")
    with pytest.warns(JudgewellWarning, match="combined has no interval, because gains over the topic's largest"):
        assert Combined().interval(table)["low"].null_count() == len(Combined()(table))


def test_the_formula_and_the_bootstrap_agree() -> None:
    table = magnitudes(units=200, spread=0)  # a formula takes the topic's mean as given
    formula = Magnitude(average="log-mean").interval(table)
    resampled = Magnitude(average="log-mean").interval(table, kind="bootstrap", draws=200)
    ratio = (formula["high"] / formula["low"]).log() / (resampled["high"] / resampled["low"]).log()
    assert ratio.median() == pytest.approx(1, abs=0.2)


@pytest.mark.parametrize("count", [6, 7, 10, 25])
def test_the_median_interval_has_the_coverage_it_claims(count: int) -> None:
    k = uncertainty._rank(count, 0.95)
    assert 1 - 2 * binom.cdf(k - 1, count, 0.5) >= 0.95
    assert 1 - 2 * binom.cdf(k, count, 0.5) < 0.95


def test_five_judgments_are_too_few_for_95_percent() -> None:
    assert uncertainty._rank(5, 0.95) == 0
    assert uncertainty._rank(5, 0.9) == 1


def test_the_median_interval_covers_in_simulation() -> None:
    rng = np.random.default_rng(2)
    rows = [("t", f"d{n}", float(value)) for n in range(600) for value in rng.lognormal(0, 1, 10)]
    scores = pl.DataFrame(rows, schema=["topic", "doc", "normalised"], orient="row")
    ends = uncertainty.median_interval(scores, "normalised", 0.95)
    assert ((ends["low"] <= 1) & (ends["high"] >= 1)).mean() == pytest.approx(0.978, abs=0.02)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_medians_of_few_magnitudes_borrow_the_spread_of_all_documents(count: int) -> None:
    rng = np.random.default_rng(count)
    size = np.where(np.arange(900) < 600, count, 3)
    number = np.repeat(np.arange(900), size)
    worth, spread = rng.normal(size=900), 0.5 * np.exp(0.3 * rng.normal(size=900))
    logs = worth[number] + spread[number] * rng.normal(size=len(number))
    frame = pl.DataFrame({"topic": "t", "doc": number + 1000, "normalised": np.exp(logs)})
    ends = uncertainty.median_interval(frame, "normalised", 0.95, "ratios").sort("doc")[:600]
    truth = pl.Series(np.exp(worth[:600]))
    assert 0.925 <= ((ends["low"] <= truth) & (truth <= ends["high"])).mean() <= 0.98
    plain = uncertainty.median_interval(frame.with_columns(normalised=pl.Series(logs)), "normalised", 0.95, "logs")
    assert plain.sort("doc")["low"][0] == pytest.approx(np.log(ends["low"][0]))
    assert uncertainty.median_interval(frame, "normalised", 0.95)["low"].null_count() == 900


def test_wilson_at_the_ends() -> None:
    low, high = uncertainty.wilson(np.array([0.0, 1.0]), np.array([10.0, 10.0]), 0.95)
    assert low[0] == pytest.approx(0, abs=1e-12)
    assert high[0] == pytest.approx(0.2775, abs=1e-4)
    assert (low[1], high[1]) == (pytest.approx(0.7225, abs=1e-4), pytest.approx(1))


def test_a_bootstrap_keeps_each_topics_number_of_units_and_tells_copies_apart() -> None:
    table = pl.concat([magnitudes(1), magnitudes(2).with_columns(topic=pl.lit("s"))])
    seen: list[pl.DataFrame] = []

    def spy(frame: pl.DataFrame) -> pl.DataFrame:
        seen.append(frame)
        return Mean()(frame)

    uncertainty.bootstrap(spy, Mean().checked(table), 1, seed=0).array()
    units = seen[1].group_by("topic").agg(pl.col("unit").n_unique())
    assert units["unit"].to_list() == [40, 40]
    assert seen[1].group_by("topic", "unit").len()["len"].unique().to_list() == [6]


def test_rows_that_name_nobody_are_resampled_one_by_one() -> None:
    table = comparisons().drop("assessor")
    found = Preference().interval(table, kind="bootstrap", draws=50)
    assert (found["low"] < found["high"]).all()


def test_a_document_that_a_draw_misses_is_nan() -> None:
    table = pl.DataFrame(
        {"topic": ["t"] * 3, "doc": ["a", "b", "a"], "unit": ["u", "v", "w"], "value": [1.0, 2.0, 3.0]}
    )
    array = Mean().draws(table, 60, seed=0).array()
    assert np.isnan(array[:, 1]).mean() == pytest.approx((2 / 3) ** 3, abs=0.15)


def test_asking_for_nothing_or_the_impossible() -> None:
    with pytest.raises(InputError, match=r"0 draws are too few"):
        Mean().draws(magnitudes(), 0, seed=0)
    with pytest.raises(InputError, match=r"width has no formula"):
        Width().interval(magnitudes(), kind="formula")
    with pytest.raises(InputError, match=r"level 1.5 is not between 0 and 1"):
        Mean().interval(magnitudes(), level=1.5)
    with pytest.raises(DataError, match=r"some rows name no assessor"):
        uncertainty.bootstrap(Mean(), Mean().checked(magnitudes().drop("assessor")), 5, seed=0, over="assessor")
