"""Agreement on the same pair: by hand, against alpha on both orientations, and with what cannot be compared counted."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import judgewell
from judgewell.agreement.alpha import alpha_of
from judgewell.agreement.pair_agreement import preferences_against_grades, repeated_pairs, same_pair_agreement
from judgewell.errors import DataError


def pairs_of(rows: list[tuple[str, str, str, str]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["left", "right", "assessor", "preferred"], orient="row").with_columns(
        topic=pl.lit("t")
    )


def panel(rng: np.random.Generator, pairs: int, assessors: int, skill: float) -> pl.DataFrame:
    """Every assessor answers every pair, sides at random; with probability `skill` as all do, else by a coin."""
    truth = rng.random((pairs, 1)) < 0.5
    chosen = np.where(rng.random((pairs, assessors)) < skill, truth, rng.random((pairs, assessors)) < 0.5)
    turned = rng.random(chosen.shape) < 0.5
    pair, who = np.indices(chosen.shape)
    one, other = np.char.add("a", pair.astype(str)), np.char.add("b", pair.astype(str))
    return pl.DataFrame(
        {
            "topic": "t",
            "left": np.where(turned, other, one).ravel(),
            "right": np.where(turned, one, other).ravel(),
            "assessor": who.astype(str).ravel(),
            "preferred": np.where(chosen != turned, "left", "right").ravel(),
        }
    )


def test_by_hand() -> None:
    """Two pairs: three answers of which two agree, and two that agree whichever side the document stood on."""
    rows = [
        ("x", "y", "a", "left"),
        ("y", "x", "b", "right"),
        ("x", "y", "c", "right"),
        ("x", "z", "a", "left"),
        ("z", "x", "b", "right"),
        ("y", "z", "a", "left"),
    ]
    row = same_pair_agreement(pairs_of(rows)).row(0, named=True)
    assert (row["pairs"], row["answers"]) == (2, 5)
    assert row["agreement"] == pytest.approx((1 / 3 + 1) / 2)
    assert row["expected"] == pytest.approx(0.5)
    assert row["kappa"] == pytest.approx((2 / 3 - 0.5) / 0.5)
    assert row["note"] == "no interval: 2 pairs, at least 20 are needed"


def test_alpha_is_that_of_both_orientations() -> None:
    frame = panel(np.random.default_rng(0), 400, 3, 0.5)
    row = same_pair_agreement(frame).row(0, named=True)
    one = frame.select(pl.min_horizontal("left", "right")).to_series()
    first = ((frame["left"] == one) == (frame["preferred"] == "left")).to_numpy().astype(float)
    names = one.to_numpy()
    both = alpha_of(np.concatenate([names, np.char.add(names.astype(str), "'")]), np.concatenate([first, 1 - first]),
                    "nominal")  # fmt: skip
    assert row["alpha"] == pytest.approx(both, abs=1e-3)  # twice the answers change only the small-sample term
    assert row["low"] < row["alpha"] < row["high"]
    assert row["speaks_for"] == "other assessors and documents"


def test_coins_agree_by_chance_and_names_do_not_matter() -> None:
    coins = same_pair_agreement(panel(np.random.default_rng(1), 500, 4, 0.0)).row(0, named=True)
    assert abs(coins["alpha"]) < 0.05
    assert coins["low"] < 0 < coins["high"]
    frame = panel(np.random.default_rng(2), 50, 3, 0.7)
    renamed = frame.with_columns(pl.col("left", "right").str.replace("a", "z"))
    assert same_pair_agreement(renamed).equals(same_pair_agreement(frame))
    with pytest.raises(DataError, match="needs two answers per pair"):
        same_pair_agreement(frame.filter(pl.col("assessor") == "0"))


def test_repeats_and_contradictions_are_counted() -> None:
    rows = [("x", "y", "a", "left"), ("y", "x", "a", "left"), ("x", "y", "b", "same"), ("x", "z", "a", "left")]
    table = repeated_pairs(pairs_of(rows))
    assert table.select("answered_again_by", "pairs", "repeated", "contradicting").rows() == [
        ("anybody", 2, 1, 1),
        ("the same assessor", 3, 1, 1),
    ]
    nameless = repeated_pairs(pairs_of(rows).drop("assessor"))
    assert nameless["answered_again_by"].to_list() == ["anybody"]


def test_single_preferences_against_labels() -> None:
    rows = [("x", "y", "a", "left"), ("y", "x", "b", "left"), ("y", "z", "a", "same"), ("x", "w", "a", "left")]
    other = pairs_of([("p", "q", "a", "left")]).with_columns(topic=pl.lit("unlabelled"))
    labels = pl.DataFrame({"topic": ["t"] * 3, "doc": ["x", "y", "z"], "gain": [2.0, 0.0, 0.0]})
    table = preferences_against_grades(pl.concat([pairs_of(rows), other]), labels)
    assert table.select("lower", "upper", "answers", "higher_preferred", "share").rows() == [
        (0.0, 2.0, 2, 1, 0.5),
        (None, None, 2, 1, 0.5),
    ]
    whole = table.row(1, named=True)
    assert (whole["equal_labels"], whole["without_label"], whole["topics_without_labels"]) == (1, 2, 1)


@pytest.mark.realdata
def test_dl21_preferences_contradict_as_counted(data) -> None:  # type: ignore[no-untyped-def]
    from judgewell.formats.judgments import read_pairs

    row = repeated_pairs(read_pairs(data / "dl21-preferences" / "judgments.txt")).row(0, named=True)
    assert (row["answers"], row["pairs"], row["repeated"], row["contradicting"]) == (11_681, 8_685, 1_486, 967)


def test_answers_of_nobody_are_not_called_two_assessors() -> None:
    named = panel(np.random.default_rng(3), 30, 4, 0.8)
    nobody = named.with_columns(assessor=pl.lit(None, dtype=pl.String))
    by_name, without = (judgewell.agree(table, section=["pairs"]).findings[0] for table in (named, nobody))
    assert by_name.startswith("Two assessors agree on ")
    assert without.startswith("Two answers to the same pair agree in ")
    assert "the data name no assessors" in without
