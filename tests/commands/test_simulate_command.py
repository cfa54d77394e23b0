"""`judgewell simulate` as it is typed: the real server's flow, the same judgments from the same seed."""

from __future__ import annotations

import polars as pl
import pytest
from click.testing import CliRunner

import judgewell
from judgewell import simulate as simulated
from judgewell.commands.simulate import simulate
from judgewell.executors import Threads
from judgewell.study.new import KINDS, new_study


def run(study, *options):
    return CliRunner().invoke(simulate, [str(study), *map(str, options)])


@pytest.fixture
def study(tmp_path):
    return new_study(tmp_path / "study")[0]


def judgments(folder, name="judgments"):
    return pl.read_parquet(folder / f"{name}.parquet")


def test_the_same_seed_gives_the_same_judgments(study, tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        found = run(
            study, "--assessors", 25, "--seed", seed, "-o", tmp_path / name, "--database", tmp_path / f"{name}.sqlite"
        )
        assert found.exit_code == 0, found.output
    a, b, c = (judgments(tmp_path / name) for name in "abc")
    assert len(a) > 60
    assert a.equals(b)
    assert not a["value"].equals(c["value"])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "magnitude"])
def test_every_kind_of_study_is_filled_without_a_refused_answer(tmp_path, kind):
    study = new_study(tmp_path / "study", kind)[0]
    found = run(study, "--assessors", 60, "-o", tmp_path / "out")
    assert found.exit_code == 0, found.output
    done, _, needed = found.output.split()[:3]
    assert done == needed
    assert " 0 answers asked for again" in found.output
    assert len(judgments(tmp_path / "out", "pairs" if kind == "pairs" else "judgments")) > 50


@pytest.mark.long
def test_checks_catch_bad_people_and_spare_careful_ones(study, tmp_path):
    text = (
        study.read_text()
        .replace("redundancy = 5 ", "redundancy = 60 ")
        .replace("least_seconds = 5 ", "least_seconds = 20 ")
    )
    study.write_text(text)
    found = run(study, "--assessors", 220, "--seed", 3, "-o", tmp_path / "out")
    assert found.exit_code == 0, found.output
    caught = {
        (row["check"], row["kind"]): row for row in pl.read_csv(tmp_path / "out" / "caught.csv").iter_rows(named=True)
    }
    assert caught["known", "careful"]["caught"] < 0.15
    assert caught["practice", "careful"]["caught"] < 0.05
    assert caught["practice", "random"]["caught"] > 0.5
    assert caught["known", "reversed"]["caught"] > 0.7
    assert caught["time", "too fast"]["caught"] > 0.8 > caught["time", "careful"]["caught"]
    assert caught["unit", "careful"]["caught"] < caught["unit", "random"]["caught"]


def test_what_was_gathered_lies_beside_the_truth(study, tmp_path):
    run(study, "--assessors", 40, "-o", tmp_path / "out")
    truth = pl.read_csv(tmp_path / "out" / "truth.csv", schema_overrides={"topic": pl.String})
    rows = judgments(tmp_path / "out")
    assert rows.select("topic", "doc").unique().join(truth, on=["topic", "doc"], how="anti").is_empty()
    assert rows["comment"].str.len_chars().min() >= 3
    means = rows.group_by("topic", "doc").agg(pl.col("value").log().mean()).join(truth, on=["topic", "doc"])
    assert means.select(pl.corr("value", "gain", method="spearman")).item() > 0.4


def test_several_studies_have_the_seeds_that_follow(study, tmp_path):
    found = run(study, "--assessors", 25, "--seed", 3, "--studies", 2, "-o", tmp_path / "all")
    assert found.exit_code == 0, found.output
    assert "2 simulated studies (seeds 3 to 4); 2 of them completed all units" in found.output
    studies = pl.read_csv(tmp_path / "all" / "studies.csv")
    caught = []
    for row in studies.iter_rows(named=True):
        alone = simulated(study, assessors=25, seed=row["seed"], database=tmp_path / f"{row['seed']}.sqlite")
        assert (row["completed"], row["judgments"]) == (alone.done, alone.judgments.height)
        assert row["days"] == alone.days
        gains = judgewell.scale(alone.judgments, method="magnitude", interval="none").join(
            alone.truth, on=["topic", "doc"], suffix="_true"
        )
        by_topic = gains.group_by("topic").agg(pl.corr("gain", "gain_true", method="spearman"))
        assert row["correlation"] == pytest.approx(by_topic["gain"].mean())
        caught.append(alone.caught)
    sums = pl.concat(caught).group_by("check", "kind").agg(pl.col("passed", "failed").sum())
    written = pl.read_csv(tmp_path / "all" / "caught.csv").select("check", "kind", "passed", "failed")
    assert written.sort("check", "kind").equals(sums.sort("check", "kind"))
    assert list((tmp_path / "study").glob("*.sqlite")) == [tmp_path / "study" / "study-simulated.sqlite"]


def test_pairs_have_a_correlation_with_the_truth_too(tmp_path):
    study = new_study(tmp_path / "study", "pairs")[0]
    studies = simulated(study, assessors=60, studies=2, executor=Threads(1)).studies
    assert studies["correlation"].min() > 0.3


def test_a_database_with_judgments_is_not_touched(study, tmp_path):
    where = tmp_path / "kept.sqlite"
    assert run(study, "--assessors", 5, "--database", where).exit_code == 0
    again = run(study, "--assessors", 5, "--database", where)
    assert again.exit_code
    assert "must not be mixed" in str(again.exception)
