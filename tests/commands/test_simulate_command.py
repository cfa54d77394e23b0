"""`judgewell simulate` as it is typed: the real server's flow, the same judgments from the same seed."""

from __future__ import annotations

import re
from contextlib import closing

import polars as pl
import pytest
import sqlalchemy as sa
from click.testing import CliRunner

import judgewell
from judgewell import simulate as simulated
from judgewell.commands.simulate import simulate
from judgewell.commands.study import check
from judgewell.executors import Threads
from judgewell.server.judging.invitations import new_assessor
from judgewell.server.store.schema import assessors
from judgewell.server.store.transactions import open_store
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


def test_the_cost_is_that_of_the_completed_units_at_the_studys_time_and_pay(study, tmp_path):
    study.write_text(study.read_text().replace("amount = 0 ", "amount = 0.35 ").replace("fee = 0 ", "fee = 0.333 "))
    found = run(study, "--assessors", 40, "-o", tmp_path / "out")
    rows = judgments(tmp_path / "out")
    expected = CliRunner().invoke(check, [str(study)]).stdout.splitlines()
    assert expected[-1] in found.output  # money, per document and per hour
    people = rows["assessor"].n_unique()
    assert f"20 completed units with {len(rows)} judgments by {people} assessors, 2.3 hours of work" in found.output
    assert f"20 of 20 units done; {len(rows)} judgments by {people} of 40 assessors" in found.output
    study.write_text(study.read_text().replace("seconds = 60 ", "seconds = 120 "))
    assert "4.3 hours of work" in run(study, "--assessors", 40).output


def test_judgments_are_those_of_completed_units(study):
    made = simulated(study, assessors=40, seed=1)
    failed = made.caught.filter(check="unit")["failed"].sum()
    assert failed  # whose answers are in the database
    assert made.judgments.height == made.cost.judgments == 120
    assert "ending" not in made.judgments.columns


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
    assert "needs one of its own; name a new one with --database" in str(again.exception)


def test_the_default_database_is_replaced_where_every_assessor_is_synthetic(study):
    kept = study.with_name("study-simulated.sqlite")
    assert run(study, "--assessors", 5).exit_code == 0
    study.write_text(study.read_text().replace("redundancy = 5 ", "redundancy = 4 "))
    again = run(study, "--assessors", 4)
    assert again.exit_code == 0, again.output
    assert "note: " in again.output
    assert "replaced the earlier simulation" in again.output
    with closing(open_store(kept)) as store:
        assert len(store.read(lambda c: c.execute(sa.select(assessors.c.number)).all()).result()) == 4
        store.write(lambda c: new_assessor(c, "invite", 1.0, "Ada")).result()
    third = run(study, "--assessors", 4)
    assert "needs one of its own; name a new one with --database" in str(third.exception)


def test_a_spent_budget_is_the_reason_why_units_are_left(study):
    text = study.read_text()
    assert "[pay]" in text
    study.write_text(f"{text.partition('[pay]')[0]}[pay]\namount = 1\nbudget = 5\n")
    found = run(study, "--assessors", 40)
    assert "no new units are handed out" in found.output
    assert "give more --assessors" not in found.output


def test_a_study_without_grades_says_that_relevance_is_made_up(study):
    assert "made up" not in run(study, "--assessors", 3).output
    text = study.read_text().replace('known = "strict"', 'known = "off"')
    study.write_text(text.partition("[grades]")[0] + "[scale]" + text.partition("[scale]")[2])
    found = run(study, "--assessors", 3)
    assert "note: the study has no [grades]: the relevance of its documents is made up" in found.output, found


def test_a_study_with_a_goal_says_how_far_the_goal_is(tmp_path):
    study = new_study(tmp_path / "study", "s100")[0]
    pool = pl.read_csv(study.with_name("pool.csv"), infer_schema=False)
    for system, turned in (("one", False), ("two", True)):
        rows = [
            f"{topic} Q0 {doc} {rank} {-rank} {system}\n"
            for (topic,), docs in pool.sort("doc", descending=turned).group_by("topic")
            for rank, doc in enumerate(docs["doc"], start=1)
        ]
        study.with_name(f"{system}.run").write_text("".join(rows))
    text = study.read_text()
    study.write_text(text.replace("amount = 0 ", "amount = 0.5 ") + '\n[goal]\nsystems = "*.run"\n')
    few = run(study, "--assessors", 1)
    assert "\nGoal: find the best system by DCG@10. " in few.output, few
    many = run(study, "--assessors", 20)
    assert "one is better than two" in many.output or "The goal was not reached" in many.output
    assert "give more --assessors" not in many.output
    lines = CliRunner().invoke(check, [str(study)]).stdout.splitlines()
    line = next(one for one in lines if one.startswith("expected: "))
    units = int(re.search(r"median \d+ in (\d+) units", line)[1])
    assert f", {0.5 * units:.2f} USD; if every document were asked about equally often" in line
