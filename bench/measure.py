"""Time and memory of a command, from the start of its process to its end.

Nothing heavy is imported here: on Linux a child's peak memory is never less than its parent's at the moment the
child began, so this process must stay small.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 300.0  # seconds after which a tool is stopped and reported so
SLOW = 5.0  # a tool that needs longer than this is run once, unless it is what others are compared with
PEAK_UNIT = 1 if sys.platform == "darwin" else 1024  # ru_maxrss counts bytes there and kilobytes elsewhere


@dataclass(frozen=True)
class Outcome:
    """One run of a command."""

    seconds: float
    megabytes: float
    failure: str = ""


@dataclass(frozen=True)
class Row:
    """All runs of one tool on one case; `table` is the part of the section it is printed in."""

    table: str
    case: str
    tool: str
    outcomes: tuple[Outcome, ...]

    @property
    def failure(self) -> str:
        return next((outcome.failure for outcome in self.outcomes if outcome.failure), "")

    @property
    def fastest(self) -> float:
        return min(outcome.seconds for outcome in self.outcomes)

    @property
    def median(self) -> float:
        return statistics.median(outcome.seconds for outcome in self.outcomes)

    @property
    def megabytes(self) -> float:
        return max(outcome.megabytes for outcome in self.outcomes)


def run(command: Sequence[str | Path], limit: float = LIMIT) -> Outcome:
    """Run the command once; its own output is thrown away, its last line of complaint is kept."""
    with tempfile.TemporaryFile() as complaints:
        begun = time.perf_counter()
        child = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=complaints)
        watch = threading.Timer(limit, child.kill)
        watch.start()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - begun
        watch.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)
        complaints.seek(0)
        said = complaints.read().decode(errors="replace").strip().splitlines()
    failure = ""
    if child.returncode != 0:
        failure = f"stopped after {limit:.0f} s" if seconds >= limit else (said or [f"exit {child.returncode}"])[-1]
        failure = failure.replace(f"{ROOT}{os.sep}", "")
    return Outcome(seconds, usage.ru_maxrss * PEAK_UNIT / 1e6, failure)


def take_turns(
    table: str, case: str, commands: Mapping[str, Sequence[str | Path]], repeats: int, always: Sequence[str] = ()
) -> Iterable[Row]:
    """Run the commands in turn, so that a busy spell of the machine falls on all of them; slow ones once, but those of
    `always` as often as asked."""
    outcomes: dict[str, list[Outcome]] = {tool: [] for tool in commands}
    for _ in range(repeats):
        for tool, command in commands.items():
            before = outcomes[tool]
            if not before or (not before[0].failure and (tool in always or before[0].seconds <= SLOW)):
                before.append(run(command))
    return [Row(table, case, tool, tuple(found)) for tool, found in outcomes.items()]


def read_once(paths: Iterable[Path]) -> None:
    """Bring the files into memory's cache, so that the first tool does not pay for the disk."""
    for path in paths:
        with path.open("rb") as file:
            while file.read(1 << 20):
                pass
