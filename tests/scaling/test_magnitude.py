"""Geometric averaging and what follows it: its identities hold, bad magnitudes are refused with place and cure."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.scaling import magnitude

SCORE = st.floats(0.01, 1e6)


@st.composite
def unbalanced(draw: st.DrawFn) -> pl.DataFrame:
    """Units of two topics that hold different numbers of documents."""
    rows = []
    for topic in ("t1", "t2"):
        for unit in range(draw(st.integers(1, 4))):
            for doc in sorted(draw(st.sets(st.integers(0, 5), min_size=1))):
                rows.append((topic, f"d{doc}", f"u{unit}", draw(SCORE), "ratio"))
    return pl.DataFrame(rows, schema=["topic", "doc", "unit", "value", "kind"], orient="row")


def within_units(frame: pl.DataFrame, column: str) -> np.ndarray:
    """Scores over their unit's geometric mean."""
    log = pl.col(column).log()
    return frame.select((log - log.mean().over("topic", "unit")).exp()).to_series().to_numpy()


def by_hand(judgments: pl.DataFrame) -> list[float]:
    """The formula, one judgment at a time."""
    rows = list(judgments.iter_rows(named=True))
    result = []
    for row in rows:
        topic = [np.log(other["value"]) for other in rows if other["topic"] == row["topic"]]
        unit = [np.log(o["value"]) for o in rows if (o["topic"], o["unit"]) == (row["topic"], row["unit"])]
        result.append(float(np.exp(np.log(row["value"]) - np.mean(unit) + np.mean(topic))))
    return result


@given(unbalanced())
def test_normalised_is_the_formula(judgments: pl.DataFrame) -> None:
    assert magnitude.normalised(judgments)["normalised"].to_list() == pytest.approx(by_hand(judgments), rel=1e-9)


@given(unbalanced())
def test_ratios_within_units_stay(judgments: pl.DataFrame) -> None:
    scores = magnitude.normalised(judgments)
    assert within_units(scores, "normalised") == pytest.approx(within_units(judgments, "value"), rel=1e-9)


@given(unbalanced())
def test_every_unit_gets_the_geometric_mean_of_its_topic(judgments: pl.DataFrame) -> None:
    scores = magnitude.normalised(judgments)
    means = scores.group_by("topic", "unit").agg(pl.col("normalised").log().mean())
    topics = judgments.group_by("topic").agg(mean=pl.col("value").log().mean())
    joined = means.join(topics, on="topic")
    assert joined["normalised"].to_list() == pytest.approx(joined["mean"].to_list(), rel=1e-9, abs=1e-9)


@given(unbalanced())
def test_normalising_twice_changes_nothing(judgments: pl.DataFrame) -> None:
    once = magnitude.normalised(judgments)
    twice = magnitude.normalised(once.select("topic", "doc", "unit", "kind", value="normalised"))
    assert twice["normalised"].to_list() == pytest.approx(once["normalised"].to_list(), rel=1e-9)


@given(unbalanced(), st.lists(st.floats(0.1, 10), min_size=8, max_size=8))
def test_a_units_own_factor_leaves_ratios_between_documents(judgments: pl.DataFrame, factors: list[float]) -> None:
    """Multiplying units by constants moves every score of a topic by one common factor."""
    table = pl.DataFrame({"topic": ["t1", "t2"] * 4, "unit": [f"u{n // 2}" for n in range(8)], "by": factors})
    rescaled = judgments.join(table, on=["topic", "unit"], maintain_order="left")
    before = magnitude.normalised(judgments)
    after = magnitude.normalised(rescaled.with_columns(value=pl.col("value") * pl.col("by")))
    ratio = before.select("topic", r=after["normalised"] / pl.col("normalised"))
    spread = ratio.group_by("topic").agg(pl.col("r").max() / pl.col("r").min())
    assert spread["r"].to_list() == pytest.approx([1.0] * len(spread), rel=1e-9)


@given(unbalanced())
def test_the_spread_of_logs_in_a_unit_stays(judgments: pl.DataFrame) -> None:
    scores = magnitude.normalised(judgments)
    spread = (
        scores.group_by("topic", "unit")
        .agg(before=pl.col("log").std(), after=pl.col("log_normalised").std())
        .drop_nulls()
    )
    assert spread["after"].to_list() == pytest.approx(spread["before"].to_list(), rel=1e-6, abs=1e-9)


def table(*rows: tuple[str, str, str, float]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=["topic", "doc", "unit", "value"], orient="row")
    return frame.with_columns(kind=pl.lit("ratio"))


def test_topic_mean_of_units_counts_every_unit_once() -> None:
    judgments = table(("t", "a", "u", 1.0), ("t", "b", "u", 1.0), ("t", "c", "u", 1.0), ("t", "a", "v", 16.0))
    assert magnitude.normalised(judgments)["normalised"][0] == pytest.approx(2.0)
    assert magnitude.normalised(judgments, topic_mean="units")["normalised"][0] == pytest.approx(4.0)


def test_a_number_alone_in_its_unit_is_told_as_it_says_nothing() -> None:
    alone = table(("t", "a", "u", 1.0), ("t", "b", "v", 100.0))
    with pytest.warns(JudgewellWarning, match="2 of 2 units hold one judgment"):
        scores = magnitude.normalised(alone)
    assert scores["normalised"].to_list() == pytest.approx([10.0, 10.0])


def test_one_unit_given_to_two_assessors_is_two_sittings() -> None:
    shared = table(("t", "a", "u", 1.0), ("t", "b", "u", 2.0), ("t", "a", "u", 10.0), ("t", "b", "u", 20.0))
    judgments = shared.with_columns(assessor=pl.Series(["x", "x", "y", "y"]))
    assert magnitude.normalised(judgments)["normalised"].to_list() == pytest.approx([10**0.5, 40**0.5] * 2)


def test_by_assessor_over_all_topics() -> None:
    judgments = pl.DataFrame(
        {"topic": ["s", "t", "s", "t"], "doc": list("abab"), "assessor": list("xxyy"), "value": [1.0, 4.0, 9.0, 36.0]}
    )
    scores = magnitude.normalised(judgments, group="assessor")["normalised"].to_list()
    assert scores == pytest.approx([3.0, 12.0, 3.0, 12.0])


@pytest.mark.parametrize(("average", "gain"), [("median", 5.0), ("log-median", 4.0), ("mean", 5.0), ("log-mean", 4.0)])
def test_averages_of_an_even_count(average: magnitude.Average, gain: float) -> None:
    scores = pl.DataFrame({"topic": ["t", "t"], "doc": ["a", "a"], "normalised": [2.0, 8.0]})
    assert magnitude.averaged(scores, average)["gain"].to_list() == pytest.approx([gain])


def test_a_zero_magnitude_is_refused_with_place_and_cure() -> None:
    judgments = table(("401", "FT1", "u7", 0.0)).with_columns(assessor=pl.lit("w3"), scale=pl.lit("magnitude"))
    with pytest.raises(
        InputError, match=r"magnitude 0 is not above 0 .topic 401, document FT1, unit u7, assessor w3.*off"
    ):
        magnitude.normalised(judgments)
    assert magnitude.normalised(judgments, offset=1)["normalised"].to_list() == pytest.approx([1.0])


def test_a_negative_magnitude_is_refused() -> None:
    with pytest.raises(InputError, match=r"magnitude -3 is not above 0"):
        magnitude.normalised(table(("t", "a", "u", -3.0), ("t", "b", "u", 1.0)))


def test_nan_is_refused() -> None:
    with pytest.raises(InputError, match=r"not a finite number"):
        magnitude.normalised(table(("t", "a", "u", float("nan"))))


def test_a_0_to_100_scale_gets_an_offset_of_one() -> None:
    judgments = table(("t", "a", "u", 0.0), ("t", "b", "u", 99.0)).with_columns(kind=pl.lit("interval:0..100"))
    assert magnitude.normalised(judgments)["normalised"].to_list() == pytest.approx([1.0, 100.0])


@pytest.mark.parametrize(
    ("kind", "value"),
    [("interval:0..100", 101.0), ("interval:0..100", -1.0), ("ratio:0..100", 100.0), ("ratio:0..100", 0.0)],
)
def test_a_value_outside_its_scale_is_refused(kind: str, value: float) -> None:
    judgments = table(("t", "a", "u", value)).with_columns(kind=pl.lit(kind))
    with pytest.raises(InputError, match=r"topic t, document a, unit u"):
        magnitude.normalised(judgments)


def test_a_bound_given_is_exclusive() -> None:
    judgments = table(("t", "a", "u", 10.0), ("t", "b", "u", 9.9))
    with pytest.raises(InputError, match=r"value 10 is outside its scale of above 0 and below 10"):
        magnitude.normalised(judgments, bound=10)


def test_judgments_without_unit_and_assessor_are_refused() -> None:
    with pytest.raises(InputError, match=r"neither a unit nor an assessor .topic t, document a"):
        magnitude.normalised({"topic": ["t"], "doc": ["a"], "value": [1.0]})


def test_two_scales_in_one_table_are_refused() -> None:
    judgments = table(("t", "a", "u", 1.0), ("t", "b", "u", 2.0)).with_columns(scale=pl.Series(["s100", "magnitude"]))
    with pytest.raises(DataError, match=r"mix the scales magnitude, s100"):
        magnitude.normalised(judgments)


REPEATED = table(("t", "a", "u", 1.0), ("t", "b", "u", 2.0), ("t", "a", "u", 4.0))


def test_a_document_twice_in_a_unit_is_told_and_all_rows_count() -> None:
    with pytest.warns(
        JudgewellWarning,
        match=r"1 judgment repeats one of the same document in the same unit; .*topic t, document a, unit u",
    ):
        assert len(magnitude.normalised(REPEATED)) == 3


@pytest.mark.parametrize(("keep", "values"), [("first", [1.0, 2.0]), ("last", [2.0, 4.0])])
def test_the_first_or_last_of_repeats_can_count(keep: magnitude.Repeated, values: list[float]) -> None:
    with pytest.warns(JudgewellWarning):
        assert sorted(magnitude.normalised(REPEATED, repeated=keep)["value"]) == values


def test_the_last_of_repeats_goes_by_position() -> None:
    judgments = REPEATED.with_columns(position=pl.Series([9, 2, 3]))
    with pytest.warns(JudgewellWarning):
        assert magnitude.normalised(judgments, repeated="last")["value"].to_list() == [1.0, 2.0]


def test_repeats_can_be_an_error() -> None:
    with pytest.raises(DataError, match=r"--repeated all, first or last"):
        magnitude.normalised(REPEATED, repeated="error")


def test_sampled_scores_are_each_documents_own_and_all_occur() -> None:
    scores = pl.DataFrame({"topic": ["t"] * 5, "doc": list("aabbb"), "normalised": [1.0, 2.0, 3.0, 4.0, 5.0]})
    picks = magnitude.sampled(scores, np.random.default_rng(1), 300)
    assert set(picks[:, 0]) == {1.0, 2.0}
    assert set(picks[:, 1]) == {3.0, 4.0, 5.0}
    again = magnitude.sampled(scores, np.random.default_rng(1), 300)
    assert (picks == again).all()
