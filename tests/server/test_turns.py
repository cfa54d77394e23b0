"""Processes on one SQLite file write in turns."""

import select
import subprocess
import sys
import threading

from waiting import HANG, wait_until

from judgewell.server.store.turns import Turns

OTHER = """
import sys
from pathlib import Path
from judgewell.server.store.turns import Turns

turns = Turns(Path(sys.argv[1]))
with turns.turn():
    print("first", flush=True)
    sys.stdin.readline()
with turns.turn():
    print("again", flush=True)
"""


def test_who_has_just_written_comes_after_those_who_wait(tmp_path):
    file = tmp_path / "study.sqlite-turns"
    other = subprocess.Popen(
        [sys.executable, "-c", OTHER, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    turns, ours, leave = Turns(file), threading.Event(), threading.Event()

    def write():
        with turns.turn():
            ours.set()
            leave.wait(HANG)

    try:
        assert other.stdout.readline() == "first\n"
        thread = threading.Thread(target=write)
        thread.start()
        wait_until(lambda: turns.queued)
        assert not ours.is_set()
        other.stdin.write("\n")
        other.stdin.flush()
        assert ours.wait(HANG)
        assert not select.select([other.stdout], [], [], 0)[0]  # it asked again and has to wait
        leave.set()
        assert other.stdout.readline() == "again\n"
        thread.join(HANG)
    finally:
        other.kill()
        other.communicate()
        turns.close()


def test_the_turn_of_a_process_that_dies_is_free(tmp_path):
    file = tmp_path / "study.sqlite-turns"
    other = subprocess.Popen(
        [sys.executable, "-c", OTHER, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "first\n"
    other.kill()
    other.communicate()
    turns = Turns(file)
    with turns.turn():
        pass
    assert file.stat().st_mode & 0o777 == 0o600
    turns.close()
