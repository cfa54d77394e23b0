"""Shells complete judgewell's commands, options, choices and files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).parent / "judgewell"


def completed(line: str) -> list[str]:
    """What the program answers a shell that asks to complete the line."""
    words = line.split(" ")
    asked = {"_JUDGEWELL_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run([PROGRAM], env={**os.environ, **asked}, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("judgewell ev", ["plain,evaluate"]),
        ("judgewell evaluate --unj", ["plain,--unjudged"]),
        ("judgewell evaluate --unjudged c", ["plain,condense"]),
        ("judgewell evaluate qr", ["file,qr"]),
    ],
)
def test_commands_options_choices_and_files_are_completed(line: str, answer: list[str]) -> None:
    assert completed(line) == answer


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_takes_the_printed_lines() -> None:
    script = f'eval "$("{PROGRAM}" completion bash)"; complete -p judgewell'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "_judgewell_completion" in done.stdout


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_their_lines_too(shell: str) -> None:
    done = subprocess.run([PROGRAM, "completion", shell], capture_output=True, text=True, check=True)
    assert f"_JUDGEWELL_COMPLETE={shell}_complete" in done.stdout
