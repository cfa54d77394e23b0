"""Gains of expert grades from magnitudes: the chain of median ratios."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import t

from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.scaling.grade_ratios import GradeRatios, grade_chain, with_labels


def labelled(*units: dict[str, float]) -> pl.DataFrame:
    """Units as {document: score}; the document's first letter is its grade."""
    rows = [
        ("t", doc, f"u{n}", score, float("NMRH".index(doc[0])))
        for n, unit in enumerate(units)
        for doc, score in unit.items()
    ]
    return pl.DataFrame(rows, schema=["topic", "doc", "unit", "value", "label"], orient="row")


UNITS = labelled(
    {"N": 1, "M": 2, "R": 8, "H": 8}, {"N": 5, "M": 20, "R": 20, "H": 60}, {"N": 2, "M": 6, "R": 12, "H": 24}
)


def test_the_chain_multiplies_median_ratios_from_the_highest_down() -> None:
    chain = grade_chain(UNITS)
    assert chain["ratio"].to_list()[1:] == pytest.approx([3, 2, 2])  # medians of 2,4,3; 4,1,2; 1,3,2
    assert chain["gain"].to_list() == pytest.approx([1 / 12, 1 / 4, 1 / 2, 1.0])
    assert grade_chain(UNITS, anchor="lowest")["gain"].to_list() == pytest.approx([1, 3, 6, 12])


def test_the_chain_is_not_the_direct_ratio_of_the_ends() -> None:
    direct = np.median([8.0, 12.0, 12.0])
    chained = grade_chain(labelled({"N": 1, "M": 1, "R": 8, "H": 8}, {"N": 1, "M": 3, "R": 3, "H": 12}))
    assert 1 / chained["gain"][0] != pytest.approx(direct)


def test_all_pairs_of_adjacent_grades_in_a_unit_count() -> None:
    chain = grade_chain(labelled({"Ma": 1, "Mb": 2, "Ra": 4, "Rb": 6}))
    assert chain["ratios"].to_list() == [0, 4]
    assert chain["ratio"][1] == pytest.approx(np.median([4, 6, 2, 3]))


def test_grades_no_unit_joins_are_missing_and_their_gain_is_an_error() -> None:
    apart = labelled({"N": 1, "M": 2}, {"R": 1, "H": 2})
    assert grade_chain(apart)["gain"].to_list() == [None, None, pytest.approx(0.5), 1.0]
    with pytest.raises(DataError, match=r"the grade 1 has no gain.*topic t, document M|the grade 0 has no gain"):
        GradeRatios()(apart)


def test_unlabelled_documents_get_no_gain_and_are_told() -> None:
    frame = UNITS.with_columns(label=pl.when(pl.col("doc") != "N").then("label"))
    with pytest.warns(JudgewellWarning, match=r"1 of 4 documents have no grade"):
        gains = GradeRatios()(frame)
    assert gains.select("doc", "gain").rows() == [("H", 1.0), ("M", pytest.approx(0.25)), ("R", pytest.approx(0.5))]


def test_labels_come_from_qrels_too() -> None:
    qrels = pl.DataFrame({"topic": ["t"] * 3, "doc": ["H", "R", "M"], "gain": [3.0, 2.0, 1.0]})
    labelled_now = with_labels(UNITS, qrels)
    assert labelled_now.filter(pl.col("doc") == "N")["label"].null_count() == 3
    assert grade_chain(labelled_now)["gain"].to_list() == pytest.approx([1 / 4, 1 / 2, 1])


def test_the_chain_needs_its_label_column() -> None:
    with pytest.raises(InputError, match=r"needs the column sormunen"):
        GradeRatios(label="sormunen")(UNITS)


@pytest.mark.long
def test_the_interval_is_t_times_the_spread_of_resampled_units() -> None:
    rng = np.random.default_rng(0)
    units = [{name: float(np.exp(grade + 0.5 * rng.normal())) for grade, name in enumerate("NMRH")} for _ in range(6)]
    table = labelled(*units)
    gains, drawn = GradeRatios().interval(table, draws=60, seed=3), GradeRatios().draws(table, 60, seed=3)
    low = gains.filter(pl.col("doc") == "N").row(0, named=True)
    at = drawn.documents["doc"].to_list().index("N")
    reach = t.ppf(0.975, 5) * np.log(drawn.array()[:, at]).std(ddof=1)
    assert np.log(low["high"] / low["gain"]) == pytest.approx(reach)
    assert np.log(low["gain"] / low["low"]) == pytest.approx(reach)
    with pytest.warns(JudgewellWarning, match="grade-ratios has no interval; collect more units"):
        assert GradeRatios().interval(labelled(units[0]))["low"].null_count() == 4
