"""Intervals of means from few judgments: they hold the mean as often as they say, and stay within the scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from judgewell.errors import JudgewellWarning, collect_notes
from judgewell.formats.judgments import read_judgments
from judgewell.scaling.grades import Mean, Median
from judgewell.scaling.magnitude import Magnitude
from judgewell.scaling.mean_intervals import mean_interval, variance_prior
from judgewell.scaling.method import Method
from judgewell.scaling.uncertainty import wilson
from judgewell.tables import JUDGMENTS, check


def judged(values: np.ndarray, number: np.ndarray, kind: str = "interval:0..100") -> pl.DataFrame:
    docs = np.char.zfill(number.astype(str), 4)
    return pl.DataFrame({"topic": "t", "doc": docs, "value": values, "kind": kind})


@pytest.mark.parametrize("count", [1, 2, 3])
def test_scores_from_0_to_100(count: int) -> None:
    """Beta-distributed scores of 60 documents; a third of them have one judgment."""
    held = []
    for seed in range(40):
        rng = np.random.default_rng([7, seed])
        mean = rng.beta(0.7, 0.9, 60)
        size = np.where(np.arange(60) < 20, count, 2)
        number = np.repeat(np.arange(60), size)
        values = np.round(100 * rng.beta(2 * mean[number] + 1e-3, 2 * (1 - mean[number]) + 1e-3))
        ends = mean_interval(judged(values, number), "value", 0.95, (0.0, 100.0)).sort("doc")
        low, high = ends["low"].to_numpy(), ends["high"].to_numpy()
        assert low.min() >= 0
        assert high.max() <= 100
        held.append(((low <= 100 * mean) & (100 * mean <= high))[:20].mean())
    assert 0.93 <= np.mean(held) <= 0.985


@pytest.mark.parametrize("count", [2, 4])
def test_logarithms_of_magnitudes(count: int) -> None:
    held, width, own = [], [], []
    for seed in range(40):
        rng = np.random.default_rng([3, seed])
        mean, number = rng.normal(0, 1, 50), np.repeat(np.arange(50), count)
        spread = 0.5 * np.exp(rng.normal(0, 0.3, 50))
        values = mean[number] + spread[number] * rng.normal(size=len(number))
        ends = mean_interval(judged(values, number, "interval"), "value", 0.95).sort("doc")
        low, high = ends["low"].to_numpy(), ends["high"].to_numpy()
        held.append(((low <= mean) & (mean <= high)).mean())
        width.append((high - low).mean())
        own.append(2 * 12.7 * values.reshape(50, count).std(axis=1, ddof=1).mean() / np.sqrt(count))
    assert np.mean(held) == pytest.approx(0.95, abs=0.02)
    if count == 2:
        assert np.mean(width) < 0.4 * np.mean(own)  # Student's interval of two judgments has t = 12.7


def test_two_judgments_do_not_leave_the_scale() -> None:
    rows = [(f"d{n}", value) for n in range(6) for value in (n * 10, n * 10 + 45)]
    frame = pl.DataFrame(rows, schema=["doc", "value"], orient="row").with_columns(
        topic=pl.lit("t"), kind=pl.lit("interval:0..100")
    )
    gains = Mean().interval(frame)
    assert gains["low"].min() >= 0  # type: ignore[operator]
    assert gains["high"].max() <= 100  # type: ignore[operator]
    assert (gains["high"] - gains["low"]).max() < 90  # type: ignore[operator]


def test_too_few_spare_judgments_have_no_interval() -> None:
    frame = judged(np.array([1.0, 5.0, 50.0, 60.0, 70.0]), np.array([0, 0, 1, 2, 3]))
    with pytest.warns(JudgewellWarning, match=r"1 second or further judgments in all, fewer than the 5"):
        assert Mean().interval(frame)["low"].null_count() == 4


@pytest.mark.parametrize("ends", [None, (0.0, 10.0)])
def test_judgments_that_all_agree_do_not_show_their_spread(ends: tuple[float, float] | None) -> None:
    """A document with one judgment must not have an interval of hardly any width because the others agree."""
    number = np.array([*np.repeat(np.arange(20), 3), 20])
    with pytest.warns(JudgewellWarning, match="the 40 second or further judgments of documents all equal the first"):
        interval = mean_interval(judged(number % 3 + 0.1, number), "value", 0.95, ends)
    assert interval["low"].null_count() == interval["high"].null_count() == 21


def test_at_the_ends_of_the_scale_agreeing_judgments_have_the_interval_of_a_share() -> None:
    number = np.repeat(np.arange(20), 3)
    interval = mean_interval(judged(number % 2 * 1.0, number), "value", 0.95, (0.0, 1.0))
    assert (interval["high"] - interval["low"]).min() > 0.5  # type: ignore[operator]


@pytest.mark.parametrize(("spread", "equal"), [(0.35, 0.6), (0.8, 0.3)])
def test_coarse_answers_most_of_which_are_equal(spread: float, equal: float) -> None:
    """Whole numbers without ends; of 60 documents 20 have one judgment, the others two."""
    held, ties = [], []
    for seed in range(40):
        rng = np.random.default_rng([11, seed])
        mean = rng.uniform(1, 6, 60)
        number = np.repeat(np.arange(60), np.where(np.arange(60) < 20, 1, 2))
        values = np.round(mean[number] + spread * rng.normal(size=len(number)))
        interval = mean_interval(judged(values, number, "interval"), "value", 0.95).sort("doc")
        truth = np.round(mean[:, None] + spread * rng.normal(size=(60, 2000))).mean(axis=1)
        held.append((interval["low"].to_numpy() <= truth) & (truth <= interval["high"].to_numpy()))
        ties.append((values[20::2] == values[21::2]).mean())
    assert np.mean(ties) == pytest.approx(equal, abs=0.1)
    held_by_count = np.array(held)[:, :20].mean(), np.array(held)[:, 20:].mean()
    assert held_by_count == pytest.approx((0.95, 0.95), abs=0.03)


def test_the_prior_of_variances_is_limmas() -> None:
    """Variances of a scaled inverse chi-square prior with 8 degrees of freedom and variance 2."""
    rng = np.random.default_rng(1)
    true = 2 * 8 / rng.chisquare(8, 20_000)
    freedom, variance = variance_prior(true * rng.chisquare(3, 20_000) / 3, np.full(20_000, 3.0))
    assert freedom == pytest.approx(8, rel=0.1)
    assert variance == pytest.approx(2, rel=0.03)
    assert variance_prior(rng.chisquare(3, 200) / 3, np.full(200, 3.0))[0] > 30


@pytest.mark.realdata
@pytest.mark.parametrize("count", [2, 5])
def test_few_of_the_judgments_of_real_documents(data: Path, count: int) -> None:
    """Judgments drawn with replacement from a document's ten: how often the interval holds the mean of the ten."""
    scores = read_judgments(data / "trec8-s100" / "judgments.csv.gz").filter(pl.col("known").is_null())
    groups = [part["value"].to_numpy() for _, part in scores.group_by("topic", "doc", maintain_order=True)]
    rng, held = np.random.default_rng(2), []
    for _ in range(5):
        chosen = rng.choice(len(groups), 200, replace=False)
        values = np.concatenate([rng.choice(groups[at], count) for at in chosen])
        ends = mean_interval(judged(values, np.repeat(np.arange(200), count)), "value", 0.95, (0.0, 100.0)).sort("doc")
        truth = np.array([groups[at].mean() for at in chosen])
        held.append(((ends["low"].to_numpy() <= truth) & (truth <= ends["high"].to_numpy())).mean())
    assert 0.93 <= np.mean(held) <= 0.98


@pytest.mark.parametrize("method", [Mean(), Median(), Magnitude(average="log-mean")])
def test_no_rounding_puts_a_gain_outside_its_interval(method: Method) -> None:
    """Documents whose judgments are all the same, at an end of the scale and within it."""
    for top in (1.0, 2.0, 3.0, 100.0):
        for size in range(2, 12):
            values = np.concatenate([np.repeat([top, top / 3, top / 7], size), [top / 9] * size])
            frame = judged(
                values, np.repeat(np.arange(4), size), "ratio" if isinstance(method, Magnitude) else "ordinal"
            )
            frame = frame.with_columns(assessor=pl.format("a{}", pl.int_range(pl.len()) % size))
            with collect_notes():
                gains = method.interval(check(frame, JUDGMENTS)).drop_nulls("low")
            assert gains.filter((pl.col("low") > pl.col("gain")) | (pl.col("high") < pl.col("gain"))).is_empty()


def test_wilsons_interval_holds_its_share() -> None:
    share, count = np.array([0.0, 1.0] * 50), np.repeat(np.arange(1.0, 51.0), 2)
    low, high = wilson(share, count, 0.95)
    assert (low <= share).all()
    assert (share <= high).all()
