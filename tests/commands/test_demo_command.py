"""`judgewell demo`: from nothing to findings that are computed."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import httpx
import polars as pl
import pytest
from click.testing import CliRunner
from waiting import HANG, wait_until

from judgewell.commands import demo as demo_module
from judgewell.commands.demo_findings import Findings, fewer, recovery
from judgewell.comparison.scores import ScoreArray
from judgewell.study.new import new_study


@pytest.fixture
def small(monkeypatch):
    """Fewer judgments and no report: the demo's page in the documentation is tested by a whole run."""
    monkeypatch.setattr(demo_module, "REDUNDANCY", 2)
    monkeypatch.setattr(demo_module, "ASSESSORS_OF_A_GROUP", 1)
    monkeypatch.setattr(demo_module, "write_report", lambda *_: None)


@pytest.mark.long
def test_the_numbers_change_with_the_seed_and_only_with_it(small, tmp_path):
    told = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        found = CliRunner().invoke(demo_module.demo, ["-o", str(tmp_path / name), "--seed", str(seed)])
        assert found.exit_code == 0, (found.output, found.exception)
        told.append(found.output.split("Three findings")[1].split("The report:")[0])
        assert (tmp_path / name / "magnitude" / "export" / "judgments.csv").is_file()
        assert (tmp_path / name / "pairs" / "export" / "pairs.csv").is_file()
    assert told[0] == told[1]
    assert told[0] != told[2]
    assert told[0].count("tau") == 3
    found = pl.read_csv(tmp_path / "a" / "recovery.csv")
    assert ((found["relevance"] > 0.2) & (found["relevance"] < 1)).all()


def test_the_findings_say_whether_gains_contradict_each_other():
    def second(members):
        gains = {"gains": ["grades", "pairs"], "tau": [1.0, 0.8], "best": ["a", "b"], "top": [2, 2], "systems": [3, 3]}
        fewer = pl.DataFrame({"judgments": [1, 2], "tau": [0.8, 1.0]})
        found = pl.DataFrame({"gains": ["pairs"], "grades": [0.5], "relevance": [0.5]})
        return Findings(found, pl.DataFrame({**gains, "members": members}), fewer).sentences[1]

    assert second(["a, b", "b, a"]).startswith(
        "The system with the best mean is a under grades and b under pairs. The data cannot show which of them is "
    )
    assert "The gains disagree about the best system." in second(["a, c", "b, a"])


def test_the_next_command_is_named_as_it_can_be_called(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / ".venv" / "bin" / "judgewell")])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert demo_module.called() == os.path.join(".venv", "bin", "judgewell")
    (tmp_path / "judgewell").write_text("#!/bin/sh\n")
    (tmp_path / "judgewell").chmod(0o755)
    assert demo_module.called() == "judgewell"


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    found = CliRunner().invoke(demo_module.demo, ["-o", str(tmp_path)])
    assert f"{tmp_path} is not a folder of the demo: it holds mine.txt" in str(found.exception)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_second_demo_makes_the_folder_anew_and_keeps_own_judgments(monkeypatch, tmp_path):
    folder = tmp_path / "demo"

    def written(folder, seed, tell):
        """What a demo writes, without the work."""
        for name in ("magnitude", "pairs"):
            (folder / name / "export").mkdir(parents=True)
            for file in ("study.toml", "simulated.sqlite", "simulated.sqlite-wal", "export/judgments.csv"):
                (folder / name / file).write_text(str(seed))
        (folder / "runs").mkdir(exist_ok=True)
        (folder / "runs" / "bm25.run.gz").write_text(str(seed))
        for name in (*demo_module.TABLES, "report"):
            end = "html" if name == "report" else "csv"
            (folder / f"{name}.{end}").write_text(str(seed))
            (folder / f"{name}.{end}.meta.json").write_text(str(seed))
        return Findings(pl.DataFrame(), pl.DataFrame(), pl.DataFrame())

    monkeypatch.setattr(demo_module, "run", written)
    monkeypatch.setattr(Findings, "sentences", property(lambda self: []))
    for seed in (1, 2):
        ended = CliRunner().invoke(demo_module.demo, ["-o", str(folder), "--seed", str(seed)])
        assert ended.exit_code == 0, ended.exception
        (folder / "magnitude" / "magnitude.sqlite").write_text("my own judgments")
    assert {path.read_text() for path in folder.rglob("*.*") if path.is_file()} == {"2", "my own judgments"}


def test_recovery_is_one_for_the_truth_and_minus_one_for_its_reverse():
    levels = pl.DataFrame({"topic": ["t"] * 4, "doc": list("abcd"), "gain": [0.0, 1.0, 2.0, 3.0]})
    upside_down = levels.with_columns(gain=-pl.col("gain"))
    found = recovery({"same": levels, "reversed": upside_down}, levels, levels)
    assert found["grades"].to_list() == pytest.approx([1, -1])
    assert found["relevance"].to_list() == pytest.approx([1, -1])


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


AGAIN = 5.0  # seconds until a key is pressed once more


class Terminal:
    """A process at the other end of a pseudo-terminal."""

    def __init__(self, study, **environment):
        code = f"from pathlib import Path; from judgewell.commands.demo import *; offer_to_judge(Path({str(study)!r}))"
        self.end, inner = pty.openpty()
        surroundings = {name: value for name, value in os.environ.items() if name != "CI"} | environment
        command = [sys.executable, "-c", code]
        self.process = subprocess.Popen(
            command, stdin=inner, stdout=inner, stderr=inner, env=surroundings, start_new_session=True,
            preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(inner)
        self.said = ""

    def until(self, pattern):
        """Read on until the pattern is there."""
        while not (found := re.search(pattern, self.said)):
            try:
                self.said += os.read(self.end, 4096).decode()
            except OSError:  # the other end is closed
                assert re.search(pattern, self.said), self.said
        return found

    def send(self, text):
        os.write(self.end, text.encode())

    def finish(self, again=""):
        """The exit code. What is to be pressed `again` is, every few seconds: Python can miss a Ctrl-C that comes
        between the prompt and the reading of the answer."""
        try:
            for _ in range(6 if again else 0):
                try:
                    return self.process.wait(AGAIN)
                except subprocess.TimeoutExpired:
                    self.send(again)
            return self.process.wait(HANG)
        finally:
            self.process.kill()
            os.close(self.end)


@pytest.fixture
def study(tmp_path):
    return new_study(tmp_path / "study", "magnitude")[0]


def test_on_a_terminal_yes_serves_the_judging_page_and_opens_it(study, tmp_path):
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {tmp_path / "opened"}\n')
    browser.chmod(0o755)
    terminal = Terminal(study, BROWSER=str(browser))
    terminal.until("Open the judging page now")
    terminal.send("y\n")
    link = terminal.until(r"Your link: (http://127.0.0.1:\d+/i/[^\s]+)")[1]
    wait_until(lambda: (tmp_path / "opened").exists() and (tmp_path / "opened").read_text())
    assert (tmp_path / "opened").read_text().strip() == link
    page = httpx.Client(transport=httpx.HTTPTransport(retries=5)).get(link, follow_redirects=True)
    assert page.status_code == 200
    assert page.url.path == "/work"
    terminal.send("\x03")
    terminal.until("Stopped")
    assert terminal.finish() == 0
    assert "Traceback" not in terminal.said


@pytest.mark.parametrize("answer", ["\n", "n\n", "\x04", "\x03"])
def test_on_a_terminal_any_other_answer_ends_it(study, answer):
    terminal = Terminal(study)
    terminal.until("Open the judging page now")
    terminal.send(answer)
    assert terminal.finish(again=answer if answer == "\x03" else "") == 0
    assert not list(study.parent.glob("*.sqlite"))


def test_nobody_is_asked_in_ci_or_on_a_pipe(study, monkeypatch, capsys):
    terminal = Terminal(study, CI="true")
    terminal.until("judgewell serve")
    assert terminal.finish() == 0
    assert "Open" not in terminal.said
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("asked on a pipe"))
    demo_module.offer_to_judge(study)
    assert "Judge yourself: judgewell serve" in capsys.readouterr().out
