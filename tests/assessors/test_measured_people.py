"""Parameters read off judgments are those that the judgments were made with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import population_measured as measured
import pytest
from population_figures import known_ratios

from judgewell.assessors.population import Kind, Population
from judgewell.assessors.synthetic_tables import synthetic_table
from judgewell.errors import DataError

CAREFUL = Population(kinds=(Kind("careful", 1.0),))


@pytest.mark.parametrize(("tens", "fives"), [(0.5, 0.3), (0.1, 0.0), (0.0, 0.6)])
def test_habits_of_rounding_come_back(tens, fives):
    rng = np.random.default_rng(1)
    exact, habit = rng.uniform(5.5, 94.5, 40_000), rng.random(40_000)
    step = np.where(habit < tens, 10, np.where(habit < tens + fives, 5, 1))
    assert measured.round_numbers(pl.Series(np.round(exact / step) * step)) == pytest.approx((tens, fives), abs=0.02)


def test_habits_need_answers():
    with pytest.raises(DataError, match="no answers"):
        measured.round_numbers(pl.Series([], dtype=pl.Float64))


def test_times_come_back():
    population = replace(CAREFUL, faster=0.4, pace_spread=0.3, time_noise=0.5, seconds=50.0)
    found = measured.times(synthetic_table("s100", seed=1, population=population))
    assert found["faster"] == pytest.approx(0.4, abs=4 * found["faster_error"])
    assert found["pace_spread"] == pytest.approx(0.3, abs=0.05)
    assert found["time_noise"] == pytest.approx(0.5, abs=0.02)
    assert found["seconds"] == pytest.approx(50, rel=0.1)


def test_drift_comes_back_and_the_document_before_does_nothing_where_it_does_nothing():
    population = replace(CAREFUL, drift=0.15, drift_spread=0.0, noise=1.0, document=0.5)
    found = measured.order(synthetic_table("s100", seed=1, population=population))
    assert found["drift"] == pytest.approx(0.15, abs=0.03)  # scores near 0 and 100 hide some of it
    assert found["assimilation_low"] < 0 < found["assimilation_high"]


def test_order_that_does_nothing_is_not_mistaken_for_contrast():
    """Plain least squares gives -0.012 here, as for real people: what follows an H is lower."""
    population = replace(Population(), drift=0.0, assimilation=0.0)
    found = [measured.order(synthetic_table("s100", seed=seed, topics=20, population=population)) for seed in (1, 2, 3)]
    for name in ("assimilation", "drift"):
        mean = np.mean([one[name] for one in found])
        assert abs(mean) < 2.5 * np.mean([one[f"{name}_error"] for one in found]) / np.sqrt(3), name


def test_errors_of_order_see_that_persons_answers_hang_together():
    """Where persons drift each their own way, few of them say little about the drift of all."""
    population = replace(CAREFUL, drift=0.0, drift_spread=0.3, noise=0.5)
    few, many = (
        measured.order(synthetic_table("s100", seed=1, people=people, topics=10, population=population))
        for people in (20, 300)
    )
    assert few["drift_error"] > 1.5 * many["drift_error"]


def test_persons_come_back():
    population = replace(
        CAREFUL, person=0.8, noise_spread=0.3, noise=1.0, grades=(0.0,) * 4, document=0.3, nothing=0.0, everything=0.0
    )
    table = synthetic_table("s100", seed=1, people=80, topics=20, population=population)
    found = measured.persons(table.filter(pl.col("known").is_null()))
    assert found["person"] == pytest.approx(0.8, abs=0.15)
    assert found["noise_spread"] == pytest.approx(0.3, abs=0.1)


@pytest.mark.long
def test_the_exponent_is_solved_for():
    width = measured.solved_width(8.0)
    population = replace(Population(), width=width)
    again = synthetic_table("magnitude", seed=2, topics=80, documents=6, people=2000, population=population)
    assert known_ratios(again).median() == pytest.approx(8.0, rel=0.15)


@pytest.mark.realdata
def test_the_population_holds_what_the_data_give(data):
    import warnings

    from judgewell.formats.judgments import read_judgments

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judgments = read_judgments(data / "trec8-s100" / "judgments.csv.gz")
    ours = Population()
    found = measured.times(judgments) | measured.order(judgments) | measured.work(judgments)
    found["noise_spread"] = measured.persons(judgments)["noise_spread"]
    assert found["assimilation_low"] < 0 < found["assimilation_high"]  # not told from 0: the population has none
    assert found["drift_low"] > 0
    assert ours.assimilation == 0
    for name, value in found.items():
        if not name.endswith(("_error", "_low", "_high")) and name != "assimilation":
            assert getattr(ours, name) == pytest.approx(value, rel=0.05, abs=0.002), name
