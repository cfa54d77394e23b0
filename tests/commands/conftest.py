"""A command as a user types it, in a folder of its own."""

import sys

import pytest

from judgewell.cli import main


@pytest.fixture
def judgewell(monkeypatch, capsys, tmp_path):
    """judgewell("evaluate", …) -> exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["judgewell", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        return code, *capsys.readouterr()

    return run
