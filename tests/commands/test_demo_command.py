"""`judgewell demo`: from nothing to findings that are computed."""

from __future__ import annotations

import polars as pl
import pytest
from click.testing import CliRunner

from judgewell.commands import demo as demo_module
from judgewell.commands.demo_findings import fewer, recovery
from judgewell.comparison.scores import ScoreArray


@pytest.fixture
def small(monkeypatch):
    """Fewer judgments, so that a test can wait for it."""
    monkeypatch.setattr(demo_module, "REDUNDANCY", 2)
    monkeypatch.setattr(demo_module, "ASSESSORS_OF_A_GROUP", 1)


@pytest.mark.slow
def test_the_numbers_change_with_the_seed_and_only_with_it(small, tmp_path):
    told = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        found = CliRunner().invoke(demo_module.demo, ["-o", str(tmp_path / name), "--seed", str(seed)])
        assert found.exit_code == 0, (found.output, found.exception)
        told.append(found.output.split("Three findings")[1].split("The report:")[0])
        assert (tmp_path / name / "magnitude" / "export" / "judgments.csv").is_file()
        assert (tmp_path / name / "pairs" / "export" / "pairs.csv").is_file()
        assert (tmp_path / name / "report.html").stat().st_size > 50_000
    assert told[0] == told[1]
    assert told[0] != told[2]
    assert told[0].count("tau") == 3
    found = pl.read_csv(tmp_path / "a" / "recovery.csv")
    assert ((found["worth"] > 0.2) & (found["worth"] < 1)).all()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    found = CliRunner().invoke(demo_module.demo, ["-o", str(tmp_path)])
    assert "is there already" in str(found.exception)


def test_recovery_is_one_for_the_truth_and_minus_one_for_its_reverse():
    levels = pl.DataFrame({"topic": ["t"] * 4, "doc": list("abcd"), "gain": [0.0, 1.0, 2.0, 3.0]})
    upside_down = levels.with_columns(gain=-pl.col("gain"))
    found = recovery({"same": levels, "reversed": upside_down}, levels, levels)
    assert found["levels"].to_list() == pytest.approx([1, -1])
    assert found["worth"].to_list() == pytest.approx([1, -1])


def test_fewer_draws_whole_units():
    rows = [{"topic": "t", "doc": d, "assessor": a, "unit": a, "value": 1.0} for a in "klmn" for d in "xy"]
    seen = []

    def score(part):
        seen.append(part.group_by("unit").len()["len"].to_list())
        return ScoreArray(("p", "q", "r"), ("t",), pl.DataFrame({"v": [1.0, 2.0, 3.0]}).to_numpy())

    found = fewer(pl.DataFrame(rows), score, (1, 2), 1)
    assert found["judgments"].to_list() == [1, 2, 4]
    assert [len(units) for units in seen] == [4, 1, 2, 4]
    assert all(count == 2 for units in seen for count in units)
    assert found["tau"].to_list() == [1, 1, 1]
