"""What a goal is expected to cost, against what studies with synthetic assessors take."""

import re
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from judgewell import compare, report, simulate
from judgewell.analysis.goals.cost import expected_cost, made_up
from judgewell.analysis.goals.plan import load_plan
from judgewell.commands.scale import scale
from judgewell.errors import collect_notes
from judgewell.formats.provenance import goal_of
from judgewell.sample import folder
from judgewell.server.queries.export import export
from judgewell.server.store.transactions import open_store
from judgewell.study.check import check_study

STUDY = f"""[study]
name = "goal"
seed = 7
[topics]
file = "{folder()}/topics.jsonl"
[documents]
file = "{folder()}/documents.jsonl"
[pool]
runs = "{folder()}/runs/*.run.gz"
depth = 3
[grades]
file = "{folder()}/levels.qrels"
[known]
high = [3]
low = [0]
[scale]
kind = "s100"
[units]
documents = 4
redundancy = 6
[work]
most_units = 50
units_per_topic = 4
[pay]
amount = 1.5
[goal]
systems = "{folder()}/runs/bm25*.run.gz"
within = 0.05
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def test_small_units_are_expected_to_cost_what_a_simulated_study_takes(study):
    """Half the places of these units are known documents', and answers alone would be half the judgments.

    Assessors who are at work at the same time go on while a test waits: one or two units each.
    """
    taken = simulate(study, assessors=20, studies=2).studies["judgments"]
    checked = check_study(study)
    plan = load_plan(str(study), checked.study, checked.inputs)
    expected = expected_cost(plan, checked.study, checked.design, rounds=15)
    assert expected.judgments_10 < taken.min() < taken.max() < expected.judgments_90 + 2 * 20 * 4
    assert expected.judgments_10 < expected.judgments < expected.judgments_90
    assert expected.judgments <= 4 * expected.units  # of four documents each
    assert expected.even > expected.judgments


def test_a_goal_never_costs_more_than_the_whole_design(tmp_path):
    """Not even where nothing can be decided; known documents, which are in every unit, take no place of the others."""
    path = tmp_path / "study.toml"
    changes = (
        ("within = 0.05", "within = 0.0"),
        ("documents = 4", "documents = 6"),
        ("redundancy = 6", "redundancy = 2"),
    )
    text = STUDY
    for old, new in changes:
        text = text.replace(old, new)
    path.write_text(text)
    checked = check_study(path)
    expected = expected_cost(load_plan(str(path), checked.study, checked.inputs), checked.study, checked.design, 5)
    assert expected.decided < 3
    assert expected.units <= checked.cost.units
    assert expected.judgments_90 <= checked.cost.judgments
    assert expected.even <= checked.cost.judgments


def test_gains_that_are_given_are_those_of_the_simulated_studies(study):
    checked = check_study(study)
    plan = load_plan(str(study), checked.study, checked.inputs)
    first = 90.0 * (plan.systems.weights[0] > 0)  # the documents of the first system, and no others
    rng = np.random.default_rng(1)
    gains, answers = made_up(plan.systems, plan.rule, rng, np.where(first > 0, first, np.nan))
    assert (gains[first > 0] == 90.0).all()
    assert gains[first == 0].std() > 5  # made up
    assert answers[first > 0].mean() == pytest.approx(90, abs=3)
    easy = expected_cost(plan, checked.study, checked.design, 5, lambda seed: first)
    assert easy.decided == 5
    assert easy.judgments < expected_cost(plan, checked.study, checked.design, 5).judgments


def test_the_report_of_a_best_goal_gives_its_conclusion_alone(study):
    """Documents that were not asked about are estimated, and neither a top set nor ranks nor pairs are shown."""
    made = report(study, database=simulate(study, assessors=80).database)
    (part,) = (one for one in made.each() if one.title == "Which system is best")
    text = " ".join(finding.text for finding in part.findings)
    assert "Nothing is concluded about other pairs of systems." in text
    assert "top set" not in text
    items = {item.name: item for item in part.items}
    assert not {"pairs", "worlds", "rank_intervals"} & set(items)
    table = items["systems"].frame
    assert not {"rank_low", "top", "p_top"} & set(table.columns)
    assert table.height == 10  # the goal's systems, not those of the pool
    assert items["systems"].heads["mean"] == "mean DCG@10"  # the goal's measure
    assert "Plausible ranks" not in items["systems"].caption
    (cost,) = (one for one in made.each() if one.title == "What it cost")
    last = cost.findings[-1].text
    based, other = (
        int(re.search(rf"{words} ([\d,]+) judgments", last)[1].replace(",", "")) for words in ("on", "other")
    )
    assert f" after {based:,} judgments, not counting known documents shown only as checks" in text
    assert f"took {based + other:,} judgments" in cost.findings[-2].text


def test_what_is_made_from_the_export_gives_the_goals_result(study, tmp_path):
    made = simulate(study, assessors=80)
    with closing(open_store(made.database)) as store:
        export(store, tmp_path / "out")
    written = CliRunner().invoke(scale, [str(tmp_path / "out/judgments.csv"), "-o", str(tmp_path / "gains.csv")])
    assert written.exit_code == 0, written.output
    runs = f"{folder()}/runs/bm25*.run.gz"
    for gains in (tmp_path / "gains.csv", tmp_path / "out/judgments.parquet"):
        assert goal_of([gains]) == " ".join(made.goal)
    with collect_notes() as notes:
        compare(runs=runs, gains=tmp_path / "gains.csv", measure="DCG@10", worlds=10)
    (note,) = (one for one in notes if "stops by its goal" in one)
    assert f"Its result: {made.goal[-1]}" in note
    with collect_notes() as notes:
        report(judgments=tmp_path / "out/judgments.csv", runs=runs, measure="DCG@10", worlds=10, draws=10)
    assert note in notes
    with collect_notes() as notes:
        report(study, database=made.database, worlds=10, draws=10)  # where it is the first finding
    assert note not in notes


def test_other_measures_conclude_nothing_either(study):
    made = report(study, database=simulate(study, assessors=80).database, measure=["nDCG@10", "DCG@10"])
    (part,) = (one for one in made.each() if one.title == "Which system is best")
    assert (
        "means have no interval, because drawn documents bias"
        in {item.name: item for item in part.items}["systems"].caption
    )
    assert not any("best mean DCG@10" in finding.text for finding in part.findings)
