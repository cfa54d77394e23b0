"""Real judgments through the methods: what the data are known for comes out."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import choix
import numpy as np
import polars as pl
import pytest

from judgewell.errors import DataError
from judgewell.formats.judgments import read_judgments, read_pairs
from judgewell.scaling.methods import parse

pytestmark = [pytest.mark.realdata, pytest.mark.filterwarnings("ignore::judgewell.errors.JudgewellWarning")]


@pytest.fixture(scope="module")
def s100(data: Path) -> pl.DataFrame:
    return read_judgments(data / "trec8-s100" / "judgments.csv.gz")


def by_grade(gains: pl.DataFrame, judgments: pl.DataFrame, golds: bool) -> list[float]:
    """The median gain of each Sormunen grade's documents."""
    documents = judgments.group_by("topic", "doc").agg(
        grade=pl.col("sormunen").first(), gold=pl.col("known").is_not_null().any()
    )
    joined = gains.join(documents, on=["topic", "doc"]).filter(pl.col("grade").is_not_null())
    kept = joined if golds else joined.filter(~pl.col("gold"))
    return kept.group_by("grade").agg(pl.col("gain").median()).sort("grade")["gain"].to_list()


@pytest.mark.parametrize("name", ["magnitude", "two-way", "mean", "median", "log-magnitude", "predicted(threshold=50)"])
def test_every_pair_gets_a_gain_that_rises_with_the_expert_grade(s100: pl.DataFrame, name: str) -> None:
    gains = parse(name)(s100)
    assert len(gains) == 4269
    assert gains["gain"].is_finite().all()
    medians = by_grade(gains, s100, golds=True)
    assert medians == sorted(medians)
    assert len(set(medians)) == 4


def test_raw_medians_of_the_grades(s100: pl.DataFrame) -> None:
    """Without the two documents that every unit of a topic holds."""
    assert by_grade(parse("median")(s100), s100, golds=False) == [20, 75, 88.75, 90]


def test_judgments_for_each_document(s100: pl.DataFrame) -> None:
    gains = parse("magnitude")(s100)
    golds = s100.filter(pl.col("known").is_not_null()).select("topic", "doc").unique()
    others = gains.join(golds, on=["topic", "doc"], how="anti")
    assert set(others["judgments"]) == {10, 11}
    assert gains["judgments"].sum() == 56472


@pytest.mark.parametrize("name", ["known-ratio", "width", "width(side=wide)", "sampled", "majority"])
def test_the_other_methods_reach_every_pair(s100: pl.DataFrame, name: str) -> None:
    assert len(parse(name)(s100)) == 4269


def test_units_of_exactly_five_to_one_are_wide(s100: pl.DataFrame) -> None:
    widths = parse("width").tables(s100)["widths"]["width"]
    assert (widths == 5).sum() == ((widths > 4.999) & (widths < 5.001)).sum() == 9
    assert (widths >= 5).sum() == 4981


def test_the_advice_for_0_to_100_scores_is_what_the_data_show(s100: pl.DataFrame) -> None:
    """AUC against NIST's labels, mean over topics, as the methods' evidence says."""
    labels = s100.select("topic", "doc", "trec").unique().drop_nulls()
    for name in ("mean", "median", "magnitude", "two-way", "majority"):
        joined = parse(name)(s100).join(labels, on=["topic", "doc"])
        areas = []
        for _, part in joined.group_by("topic"):
            relevant, ranks = part["trec"].to_numpy() > 0, part["gain"].rank("average").to_numpy()
            count = relevant.sum()
            areas.append((ranks[relevant].mean() - (count + 1) / 2) / (~relevant).sum())
        said = re.search(r"AUC \(mean over topics\) \.(\d+)", parse(name).evidence)
        assert said is not None
        assert np.mean(areas) == pytest.approx(int(said[1]) / 1000, abs=0.0006)


def test_six_units_hold_one_document_twice(s100: pl.DataFrame) -> None:
    assert len(parse("magnitude").tables(s100)["repeats"]) == 6


def test_grades_get_gains_from_magnitudes(s100: pl.DataFrame) -> None:
    chain = parse("grade-ratios(label=sormunen)").tables(s100)["grades"]
    assert chain["gain"].to_list() == sorted(chain["gain"].to_list())
    assert chain["gain"][3] == 1


@pytest.fixture(scope="module")
def winners(data: Path) -> pl.DataFrame:
    return read_pairs(data / "dl21-preferences" / "judgments.txt")


def test_passages_that_never_won_have_no_finite_strength(winners: pl.DataFrame) -> None:
    with pytest.raises(DataError, match=r"in 20 of 50 sets.*43 documents never won, 0 never lost.*--prior 1"):
        parse("bradley-terry(prior=0)")(winners)


def test_a_prior_gives_them_one_equal_to_choix(winners: pl.DataFrame) -> None:
    gains = parse("bradley-terry(prior=0.1,gain=log)")(winners)
    assert len(gains) == 1570
    topic = winners.filter(pl.col("topic") == "23287")
    documents = sorted({*topic["left"], *topic["right"]})
    number = {doc: n for n, doc in enumerate(documents)}
    won = [
        (number[left], number[right]) if preferred == "left" else (number[right], number[left])
        for left, right, preferred in topic.select("left", "right", "preferred").rows()
    ]
    expected = choix.opt_pairwise(len(documents), won, alpha=0.1, tol=1e-9)
    mine = gains.filter(pl.col("topic") == "23287")["gain"].to_numpy()
    assert mine == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("name", "most"), [("bradley-terry", 0.665), ("bradley-terry(prior=auto)", 0.665)])
def test_a_tenth_of_the_preferences_is_predicted_from_the_others(winners: pl.DataFrame, name: str, most: float) -> None:
    """Mean log loss; a coin has 0.693, and a prior of 0.1 hardly less."""
    fold = pl.Series(np.random.default_rng(1).integers(0, 10, len(winners)))
    losses = {}
    for method in (name, "bradley-terry(prior=0.1)"):
        gains = replace(parse(method), gain="log", components="separate")(winners.filter(fold != 0))
        theta = gains.select("topic", "doc", "gain")
        test = winners.filter(fold == 0)
        for side in ("left", "right"):
            own = theta.rename({"doc": side, "gain": f"{side}_theta"})
            test = test.join(own, on=["topic", side], how="left", maintain_order="left")
        gap = (test["left_theta"].fill_null(0) - test["right_theta"].fill_null(0)).to_numpy()
        losses[method] = np.logaddexp(0, np.where(test["preferred"] == "left", -gap, gap)).mean()
    assert losses[name] < most < losses["bradley-terry(prior=0.1)"]


def test_music_preferences_with_ties(data: Path) -> None:
    pairs = read_pairs(data / "music-preferences" / "judgments.csv")
    gains = parse("preference")(pairs)
    assert (gains["gain"] * gains["judgments"]).sum() == pytest.approx(2805)
    groups = pl.read_csv(
        data / "music-preferences" / "MTurk.qrel",
        separator="\t",
        has_header=False,
        new_columns=["by", "topic", "doc", "group"],
    )
    joined = gains.join(groups, on=["topic", "doc"])
    better = joined.group_by("group").agg(pl.col("gain").mean()).sort("group")["gain"].to_numpy()
    assert len(joined) > 100
    assert better[0] == max(better)  # group 1 holds the most similar


@pytest.mark.parametrize("file", ["stp2_plainME_inf", "stp2_rankME_inf", "stp2_rankME_nat", "stp2_rankME_qual"])
def test_rankme_magnitudes(data: Path, file: str) -> None:
    judgments = read_judgments(data / "rankme" / f"{file}.csv")
    gains = parse("magnitude")(judgments)
    assert gains["judgments"].sum() == 900
    assert gains["gain"].min() > 0  # type: ignore[operator]


def test_many_judgments_for_predicted_relevance(data: Path) -> None:
    judgments = read_judgments(data / "nyt-crowd" / "judgments.csv.gz")
    pilot = judgments.filter(pl.col("pilot") == "Pilot_3P-Doc-NoHigh")
    table = parse("predicted").tables(pilot)["parameters"]
    p = table["p"].to_list()
    assert p[2] > p[0]
    crowd = parse("dawid-skene")(pilot)
    assert len(crowd) == 120


def test_a_judge_that_never_uses_a_grade(data: Path) -> None:
    """p(R|grade) of a grade that one of two judges never gave is there from the other; one no one gave is missing."""
    names = ["topic", "zero", "doc", "value"]
    tables = [
        pl.read_csv(
            data / "llmjudge" / path, separator=" ", has_header=False, new_columns=names, infer_schema=False
        ).select("topic", "doc", pl.col("value").cast(pl.Float64), assessor=pl.lit(path))
        for path in ("human.qrels", "submissions/Olz-halfbin.txt")
    ]
    both = pl.concat(tables)
    grades = set(tables[1]["value"])
    table = parse("predicted(grades=0;1;2;3;4,threshold=2)").tables(both)["parameters"]
    assert table["p"][4] is None
    assert grades < {0.0, 1.0, 2.0, 3.0} or table["p"][3] is not None
