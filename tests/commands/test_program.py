"""The program as a process of its own: it ends quickly, but not before all is said and done."""

import os
import subprocess
import sys

import pytest
from waiting import HANG

from judgewell.cli import GROUPS

END = "from judgewell import cli; import atexit, click; "


def run(code):
    return subprocess.run([sys.executable, "-c", END + code], capture_output=True, text=True, timeout=HANG)


def test_everything_printed_arrives_and_what_waits_for_the_end_is_done():
    found = run(
        "atexit.register(lambda: print('the last word')); "
        "cli.app = lambda **_: print('\\n'.join('line' for _ in range(100_000))); cli.program()"
    )
    assert found.returncode == 0
    assert found.stdout == "line\n" * 100_000 + "the last word\n"


@pytest.mark.parametrize(
    ("problem", "code", "said"),
    [
        ("cli.JudgewellError('no such thing')", 2, "judgewell: no such thing\n"),
        ("KeyboardInterrupt()", 130, "judgewell: stopped\n"),
        ("OSError(28, 'No space left on device')", 2, "judgewell: output: No space left on device\n"),
    ],
)
def test_the_exit_code_is_what_happened(problem, code, said):
    found = run(f"cli.app = lambda **_: (_ for _ in ()).throw({problem}); cli.program()")
    assert (found.returncode, found.stderr) == (code, said)


def test_threads_that_still_work_are_waited_for():
    found = run(
        "import threading; work = lambda: (threading.main_thread().join(), print('done', flush=True)); "
        "cli.app = lambda **_: threading.Thread(target=work).start(); cli.program()"
    )
    assert (found.returncode, found.stdout) == (0, "done\n")


def test_a_fault_of_ours_is_still_a_traceback():
    found = run("cli.app = lambda **_: 1 / 0; cli.program()")
    assert found.returncode == 1
    assert "ZeroDivisionError" in found.stderr


def test_the_list_of_commands_shows_every_summary_whole_at_80_columns():
    listed = subprocess.run(
        [sys.executable, "-m", "judgewell", "--help"],
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "80"},
    ).stdout
    for commands in GROUPS.values():
        for name, (_, summary) in commands.items():
            assert len(summary) <= 45
            assert f"  {name:10}  {summary}\n" in listed
