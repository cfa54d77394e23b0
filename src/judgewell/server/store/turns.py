"""Fair turns at writing for several processes on one SQLite file.

After a commit SQLite lets the first process that asks write next, and waiting processes ask again at growing intervals:
a busy process can keep another waiting for seconds. So a process that wants to write locks the queue's byte of a file
beside the database, keeps it until it has locked the writer's byte, and then releases the queue. A process that has
just written finds the queue locked and writes after those that waited. The turn only orders writers; SQLite's own lock
keeps them apart.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # not on Windows, where SQLite's own order has to do
    fcntl = None  # type: ignore[assignment]

QUEUE, WRITER = 0, 1  # bytes of the file
LOOK_AGAIN = 0.0005  # seconds
LONGEST = 5.0  # seconds after which a turn is not waited for: its holder hangs, and SQLite's own lock decides


class Turns:
    """The turns of one process; only one of its threads writes."""

    def __init__(self, path: Path) -> None:
        self._file = -1
        self.queued = False  # whether this process is the next to write
        if fcntl is not None:
            try:
                self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError:  # a folder that cannot be written to
                return

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for this process's turn and keep it."""
        if self._file < 0:
            yield
            return
        until = time.monotonic() + LONGEST
        self.queued = self._take(QUEUE, until)
        try:
            self._take(WRITER, until)
        finally:
            self._leave(QUEUE)
            self.queued = False
        try:
            yield
        finally:
            self._leave(WRITER)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _take(self, byte: int, until: float) -> bool:
        while True:
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
            except OSError:
                if time.monotonic() >= until:
                    return False
                time.sleep(LOOK_AGAIN)
            else:
                return True

    def _leave(self, byte: int) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, byte)
