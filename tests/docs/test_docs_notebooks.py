"""Every notebook of the documentation runs from top to bottom."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
SHELL = "import subprocess\ndef _shell(line): subprocess.run(line, shell=True, check=True)\n"


def as_script(path: Path) -> str:
    """The code cells, one after the other; a line that begins with ! runs in the shell."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return SHELL + re.sub(r"^!(.*)$", lambda line: f"_shell({line[1]!r})", code, flags=re.MULTILINE)


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-c", script]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    done = run(as_script(path), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_is_a_notebook_for_each_journey() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["crowd-file", "own-study", "runs-and-qrels"]


def test_a_notebook_that_fails_is_caught(tmp_path: Path) -> None:
    notebook = tmp_path / "wrong.ipynb"
    notebook.write_text(json.dumps({"cells": [{"cell_type": "code", "source": ["!exit 3"]}]}))
    assert run(as_script(notebook), tmp_path).returncode != 0
