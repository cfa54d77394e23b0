"""The computed figures of one server process: made off the request path, when somebody looks and at most so often."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from judgewell.server.owner.live_analysis import Insight, from_json
from judgewell.server.store.transactions import Clock

LEAST_PAUSE = 15.0  # seconds between two computations
SHARE = 10  # and never more than this part of the time
LONGEST = 900.0  # seconds after which one is given up

Compute = Callable[[str, float], Insight]


class Computed:
    """The newest insight, and a computation under way at most.

    `look(stamp)` returns the newest insight at once; if the database has changed (the stamp differs) it also starts a
    new computation, unless one is under way or the last one was a moment ago.
    """

    def __init__(
        self, url: str, clock: Clock, compute: Compute | None = None, timer: Callable[[], float] = time.monotonic
    ) -> None:
        self._url, self._clock, self._timer = url, clock, timer
        self._compute = compute or in_a_process
        self._lock = threading.Lock()
        self.latest: Insight | None = None
        self._stamp: str | None = None
        self._next = -math.inf
        self.worker: threading.Thread | None = None
        self.trouble = ""

    @property
    def busy(self) -> bool:
        """Whether a computation is under way."""
        return self.worker is not None and self.worker.is_alive()

    def look(self, stamp: str) -> Insight | None:
        """The newest insight; a newer one is on its way where there is something new."""
        with self._lock:
            if stamp != self._stamp and not self.busy and self._timer() >= self._next:
                self.worker = threading.Thread(target=self._run, args=(stamp,), name="insight", daemon=True)
                self.worker.start()
        return self.latest

    def _run(self, stamp: str) -> None:
        start = self._timer()
        try:
            self.latest = self._compute(self._url, self._clock())
            self._stamp, self.trouble = stamp, ""
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self.trouble = f"the figures could not be computed: {type(error).__name__}"
        took = self._timer() - start
        self._next = self._timer() + max(LEAST_PAUSE, SHARE * took)


def in_a_process(url: str, now: float) -> Insight:
    """The insight, worked out by a process that ends afterwards and gives its memory back."""
    request = json.dumps({"database": url, "now": now}) + "\n"
    done = subprocess.run(
        [sys.executable, "-m", "judgewell.server.owner.live_analysis"],
        input=request,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=LONGEST,
        check=True,
    )
    return from_json(done.stdout)
