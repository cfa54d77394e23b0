"""Weights instead of resampled tables give the very gains that the tables would have given."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.errors import InputError, JudgewellWarning
from judgewell.scaling.averaged_draws import SortedScores
from judgewell.scaling.grades import Majority, Mean, Median
from judgewell.scaling.known import KnownRatio
from judgewell.scaling.magnitude import LogMagnitude, Magnitude
from judgewell.scaling.method import Method
from judgewell.scaling.numbers import documents_of
from judgewell.scaling.two_way import TwoWayModel
from judgewell.scaling.uncertainty import Resampler, bootstrap


def study(seed: int = 3) -> pl.DataFrame:
    """Two topics, uneven units in no order, each with a known N; some documents hang on a single unit."""
    rng = np.random.default_rng(seed)
    rows = []
    for topic, units in (("t1", 9), ("t2", 4)):
        for unit in range(units):
            held = rng.choice(np.arange(1, 9), rng.integers(2, 5), replace=False)
            for doc in [0, *held]:
                known = "N" if doc == 0 else None
                value = float(np.exp(rng.normal(unit / 3 + doc / 5, 0.7)))
                rows.append((topic, f"d{doc}", f"{topic}u{unit}", f"w{unit % 3}", value, known))
    frame = pl.DataFrame(rows, schema=["topic", "doc", "unit", "assessor", "value", "known"], orient="row")
    return frame.sample(fraction=1.0, shuffle=True, seed=seed)


METHODS: list[Method] = [
    *(Magnitude(average=average) for average in ("median", "log-median", "mean", "log-mean")),
    Magnitude(topic_mean="units"),
    Magnitude(offset=2.0),
    LogMagnitude(),
    LogMagnitude(average="mean", topic_mean="units"),
    KnownRatio(),
    KnownRatio(average="log-mean"),
    Mean(),
    Median(),
]


@pytest.mark.filterwarnings("ignore::judgewell.errors.JudgewellWarning")
@pytest.mark.parametrize("draws", [16, pytest.param(50, marks=pytest.mark.long)])
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_draws_are_those_of_resampled_tables(method: Method, draws: int) -> None:
    table = study()
    tables = bootstrap(method.gains, method.checked(table), draws, seed=1)
    weights = method.draws(table, draws, seed=1)
    assert weights.documents.equals(tables.documents)
    assert np.isnan(tables.array()).any()  # some draws leave a document out
    np.testing.assert_allclose(weights.array(), tables.array(), rtol=1e-12)


def test_judgments_without_unit_or_assessor_are_drawn_one_by_one() -> None:
    nobody = study().select("topic", "doc", "value")
    tables = bootstrap(Median().gains, Median().checked(nobody), 20, seed=2)
    np.testing.assert_allclose(Median().draws(nobody, 20, seed=2).array(), tables.array(), rtol=1e-12)


def test_an_assessor_s_own_mean_is_made_anew_in_every_draw() -> None:
    method, table = Magnitude(group="assessor"), study()
    tables = bootstrap(method.gains, method.checked(table), 20, seed=2)
    np.testing.assert_array_equal(method.draws(table, 20, seed=2).array(), tables.array())


def test_no_draws_are_refused() -> None:
    with pytest.raises(InputError, match="0 draws are too few"):
        Magnitude().draws(study(), 0, seed=1)


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-5, 5), st.integers(0, 4)), min_size=1, max_size=40))
def test_a_weighted_average_is_that_of_repeated_values(rows: list[tuple[int, float, int]]) -> None:
    frame = pl.DataFrame({"topic": ["t"] * len(rows), "doc": [f"d{doc}" for doc, _, _ in rows]})
    values = np.array([value for _, value, _ in rows])
    weights = np.array([weight for _, _, weight in rows])
    documents = documents_of(frame)
    scores = SortedScores.of(documents, values)
    for doc, median, mean in zip(
        range(len(documents.table)), scores.medians(weights), scores.means(weights), strict=True
    ):
        mine = documents.number == doc
        repeated = np.repeat(values[mine], weights[mine])
        expected = (np.median(repeated), np.mean(repeated)) if len(repeated) else (np.nan, np.nan)
        np.testing.assert_allclose((median, mean), expected, atol=1e-12)


ALONE: list[Method] = [Mean(), Median(), Majority(), Magnitude(), LogMagnitude(), TwoWayModel()]


@pytest.mark.parametrize("draws", [60, pytest.param(200, marks=pytest.mark.long)])
@pytest.mark.parametrize("method", ALONE, ids=str)
def test_one_judgment_has_no_interval_however_often_it_is_drawn(method: Method, draws: int) -> None:
    rows = [("t", "a", "u1", 3.0), ("t", "b", "u1", 1.0), ("t", "b", "u2", 2.0), ("t", "c", "u2", 5.0)]
    table = pl.DataFrame(rows, schema=["topic", "doc", "unit", "value"], orient="row")
    with pytest.warns(JudgewellWarning, match=r"one judgment and so no interval|needs every judgment"):
        found = method.interval(table, kind="bootstrap", draws=draws)
    assert found.filter(pl.col("doc") != "b").select("low", "high").null_count().row(0) == (2, 2)
    if not isinstance(method, TwoWayModel):  # whose fit has no judgment to spare for b either
        assert found.filter(pl.col("doc") == "b")["low"].null_count() == 0


def test_topics_are_drawn_from_their_own_units() -> None:
    table = study()
    resampler = Resampler(table, "unit")
    groups = table.select("topic", "unit", "assessor").unique().group_by("topic").len()
    drawn = resampler.drawn(np.random.default_rng(4)).select("topic", "unit").unique().group_by("topic").len()
    assert drawn.sort("topic").equals(groups.sort("topic"))
