"""Waiting for a state: no test depends on how long something takes.

Every limit in the tests is HANG. It ends a test that would hang for ever and is far beyond what a busy machine needs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

HANG = 600.0  # seconds


def wait_until(state: Callable[[], T]) -> T:
    """What `state` gives, as soon as it gives something true."""
    over = time.monotonic() + HANG
    while not (reached := state()):
        assert time.monotonic() < over, "this state is never reached"
        time.sleep(0.005)
    return reached
