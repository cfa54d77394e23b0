"""The program as a process of its own: it ends quickly, but not before all is said and done."""

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress

import pytest
from click.testing import CliRunner
from waiting import HANG

from judgewell.cli import GROUPS, app
from judgewell.commands.account import account
from judgewell.errors import InputError

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
    assert all(len(one.get_short_help_str(200)) <= 45 for one in account.commands.values())


def test_a_result_cannot_be_written_to_an_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="s3://a/b: results are written to this machine; name a file or folder of it"):
        CliRunner().invoke(app, ["export", "study.toml", "-o", "s3://a/b"], catch_exceptions=False)
    assert not list(tmp_path.iterdir())


def test_alone_it_lists_its_commands():
    alone = subprocess.run([sys.executable, "-m", "judgewell"], capture_output=True, text=True)
    assert (alone.returncode, alone.stderr) == (0, "")
    assert "Turn judgments or pairs into gains" in alone.stdout


def test_a_pipe_gets_utf8_in_every_locale():
    """With the locale's ASCII the rule under a header could not be written, and a document's id would be lost."""
    printed = subprocess.run(
        [sys.executable, "-c", END + "cli.app = lambda **_: print('─ α dø'); cli.program()"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (printed.returncode, printed.stderr) == (0, b"")
    assert printed.stdout.decode("utf-8") == "─ α dø\n"


def on_a_terminal(code, columns, **environment):
    """What a process prints on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    variables = {**os.environ, "COLUMNS": str(columns), **environment}
    process = subprocess.Popen([sys.executable, "-c", END + code], stdout=theirs, env=variables)
    os.close(theirs)
    parts = []
    with suppress(OSError):  # the terminal is gone when the process has ended
        while part := os.read(ours, 65536):
            parts.append(part)
    os.close(ours)
    assert process.wait(HANG) == 0
    return b"".join(parts).decode("utf-8").replace("\r\n", "\n")


def test_a_terminal_that_lacks_a_character_gets_a_plain_one():
    code = "cli.app = lambda **_: print('─ α = 0.5…'); cli.program()"
    assert on_a_terminal(code, 80, PYTHONIOENCODING="ascii") == "- alpha = 0.5...\n"


def test_a_bar_shows_how_far_the_work_is():
    code = (
        "import judgewell.terminal as t; t.sys.stderr = t.sys.stdout\n"
        "t.time.monotonic = iter([0.0, 0.5, 2.0, 4.0]).__next__\n"
        "with t.progress('worlds') as show: [show(done, 40) for done in (1, 10, 20)]"
    )
    drawn = on_a_terminal(code, 80).replace("\x1b[K", "").split("\r")
    bars = [
        f"worlds {'█' * full:░<30} {end}"
        for full, end in ((8, "10/40  5.0/s  0:06 left"), (15, "20/40  5.0/s  0:04 left"))
    ]
    assert drawn == ["", *bars, ""]


def test_a_table_wider_than_the_terminal_comes_in_parts():
    code = (
        "from judgewell.terminal import text_table; "
        "print(text_table(['system', *(f'measure{n}' for n in range(6))], [['bm25', *'123456'], ['dense', *'789012']]))"
    )
    narrow = on_a_terminal(code, 40)
    assert max(map(len, narrow.splitlines())) <= 40
    assert narrow.count("system") == narrow.count("bm25") == narrow.count("dense") == 2  # parts
    assert all(f"measure{number}" in narrow for number in range(6))
    whole = on_a_terminal(code, 100)
    assert whole.count("system") == 1
    assert run(code).stdout == whole


def test_judge_states_the_defaults_that_the_settings_have():
    from judgewell.commands.judge import judge
    from judgewell.study.machine import Machine

    stated = {option.name: re.search(r"else ([\d.]+)\]", option.help or "") for option in judge.params[1:]}
    defaults = {name: float(found[1]) for name, found in stated.items() if found}
    assert set(defaults) == {"samples", "temperature", "concurrency", "timeout", "tries"}
    assert defaults == {name: Machine.model_fields[name].default for name in defaults}


def test_new_says_what_each_kind_of_study_is():
    from judgewell.commands.study import KINDS, new

    assert all(re.search(rf"^\s+{kind}  ", new.help or "", re.M) for kind in KINDS)
