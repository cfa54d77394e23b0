"""`judgewell new`, `check` and `design` as a user types them."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

from judgewell import sample
from judgewell.commands.study import KINDS
from judgewell.study import new


def test_the_kinds_offered_are_the_kinds_there_are():
    assert tuple(new.KINDS) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_study_checks_clean_and_can_be_designed(judgewell, kind):
    assert judgewell("new", "mine", "--from", kind)[0] == 0
    code, out, err = judgewell("check", "mine/study.toml")
    assert code == 0, err
    assert "judgments by at least" in out
    code, _, err = judgewell("design", "mine/study.toml", "-o", "work")
    assert code == 0, err
    table = pl.read_csv("work/pairs.csv" if kind == "pairs" else "work/documents.csv")
    assert {"topic", "unit", "position"} <= set(table.columns)
    assert json.loads(Path("work/design.meta.json").read_text())["options"]["seed"] == 1


def test_nothing_is_overwritten(judgewell):
    judgewell("new", "mine")
    code, _, err = judgewell("new", "mine")
    assert code == 2
    assert "study.toml exists already; choose another folder" in err


def test_every_mistake_is_told_at_once_with_its_line(judgewell):
    judgewell("new", "mine")
    path = Path("mine/study.toml")
    text = path.read_text().replace("redundancy = 5", "redundancy = 0").replace("seed = 1", 'seed = "one"')
    path.write_text(text + "\n[colour]\nred = 1\n")
    code, out, err = judgewell("check", path)
    assert (code, out) == (2, "")
    lines = text.splitlines()
    for word in ("redundancy = 0", 'seed = "one"'):
        number = next(at for at, line in enumerate(lines, 1) if line.startswith(word))
        assert f"study.toml:{number}: " in err
    assert "colour" in err
    assert err.count("judgewell: ") == 3


def test_alternatives_show_cost_and_reliability(judgewell):
    judgewell("new", "mine")
    code, out, _ = judgewell("design", "mine/study.toml", "--compare")
    assert code == 0
    assert "reliability" in out
    assert "minutes per unit" in out
    assert "Time: 60 seconds a judgment and 60 a unit, as [pay] says." in out
    assert "seconds per judgment" in out
    bought = out.split("hours would buy")[1].splitlines()
    own = next(line for line in bought if "(this study)" in line)
    assert len(re.findall(r"\d\.\d\d \[-?\d\.\d\d, \d\.\d\d\]", own)) == 2  # correlation, better system; with intervals
    hours = [float(line.split()[-7]) for line in bought if "[" in line and "documents " in line]
    assert hours
    assert max(hours) <= 1.3 * min(hours)  # equal cost, but for whole units


def test_a_missing_study_is_one_line(judgewell):
    code, _, err = judgewell("check", "none.toml")
    assert code == 2
    assert err.count("\n") == 1


def test_design_for_a_machine_writes_a_pool(judgewell):
    sample.levels().write_csv("llm.csv")
    sample.runs().write_parquet("runs.parquet")
    words = ["design", "--for-machine", "llm.csv", "--runs", "runs.parquet"]
    code, out, _ = judgewell(*words, "--budget", "60", "-o", "pool.csv")
    assert (code, out.startswith("60 of")) == (0, True)
    pool = pl.read_csv("pool.csv", schema_overrides={"topic": pl.String})
    assert pool.columns == ["topic", "doc", "inclusion"]
    assert len(pool) == 60
    assert set(pool["topic"]) == set(sample.levels()["topic"])
    code, _, err = judgewell(*words, "-o", "pool.csv")
    assert (code, "--budget" in err) == (2, True)


def test_information_about_a_design_passes_a_strict_check(judgewell):
    judgewell("new", "mine", "--from", "pairs")
    path = Path("mine/study.toml")
    path.write_text(path.read_text().replace('consent = "This is', 'consent = "Ours is', 1))
    code, _, err = judgewell("check", str(path), "--strict")
    assert code == 0
    assert "info: mine/study.toml" in err
    assert "5 of 36 pairs repeat a pair of an earlier group (a lower groups.share repeats fewer)" in err


def test_a_goals_measure_is_checked_beside_other_mistakes(judgewell):
    judgewell("new", "mine")
    path = Path("mine/study.toml")
    path.write_text(path.read_text() + '\n[goal]\nsystems = "run/*.run"\nmeasure = "nDCG@10"\n')
    for change in (("", ""), ("redundancy = 5", "redundancy = 0")):
        path.write_text(path.read_text().replace(*change))
        code, _, err = judgewell("check", str(path))
        assert code == 2
        assert "no run file matches run/*.run" in err
        assert "nDCG@10 depends on the topic's other documents; decide by DCG@10" in err


GOAL = '\n[goal]\nsystems = "runs/*.run"\nmeasure = "DCG@3"\nwithin = 0.02\n'


def with_goal(*changes: tuple[str, str]) -> Path:
    """The example of 0 to 100 with two runs, one by the grades and one against them, and a goal."""
    path = Path("mine/study.toml")
    text = path.read_text().replace("units_per_topic = 1", "units_per_topic = 4") + GOAL
    for old, by in changes:
        assert old in text
        text = text.replace(old, by)
    path.write_text(text.replace('consent = "This is', 'consent = "Ours is', 1))
    Path("mine/runs").mkdir()
    grades = [line.split() for line in Path("mine/grades.qrels").read_text().splitlines()]
    for name, sign in (("good", -1), ("poor", 1)):
        lines = []
        for topic in dict.fromkeys(row[0] for row in grades):
            ranked = sorted((row for row in grades if row[0] == topic), key=lambda row: sign * int(row[3]))
            lines += [f"{topic} Q0 {row[2]} {at} {-at} {name}" for at, row in enumerate(ranked, 1)]
        Path(f"mine/runs/{name}.run").write_text("\n".join(lines) + "\n")
    return path


def test_a_goal_is_expected_to_cost_what_its_grades_let_it_cost(judgewell):
    judgewell("new", "mine", "--from", "s100")
    code, out, err = judgewell("check", with_goal())
    assert code == 0, err
    whole, expected = (int(re.search(words, out)[1]) for words in (r"whole design: (\d+) units", r"in (\d+) units?,"))
    assert expected < whole
    assert "40 of 40 simulated studies decided, none of them wrongly. Their gains follow the grades" in out
    Path("mine/grades.qrels").write_text(Path("mine/grades.qrels").read_text().replace(" 3\n", " 8\n"))
    text = Path("mine/study.toml").read_text().replace("high = [3]", "high = [8]")
    Path("mine/study.toml").write_text(text)
    assert "Their gains are made up" in judgewell("check", "mine/study.toml")[1]


@pytest.mark.parametrize(("budget", "code"), [(1, 2), (15, 0), (1000, 0)])
def test_a_budget_below_what_the_goal_is_expected_to_cost_is_a_warning(judgewell, budget, code):
    judgewell("new", "mine", "--from", "s100")
    path = with_goal(("amount = 0 ", "amount = 1 "), ("# budget = 500", f"budget = {budget}"))
    got, _, err = judgewell("check", path, "--strict")
    assert got == code, err
    assert ("units that the goal is expected to take; then the study ends" in err) == (code == 2)
    assert ("units of the whole design; then the study ends" in err) == (budget < 1000)
