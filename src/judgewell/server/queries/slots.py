"""Stretches of time for charts: of equal round length, and not too many."""

from __future__ import annotations

LENGTHS = (900, 3600, 6 * 3600, 86400, 7 * 86400)  # seconds
MOST = 48


def slot_length(span: float) -> int:
    """The seconds of a stretch, such that so many seconds have few enough of them."""
    return next((length for length in LENGTHS if span / length <= MOST), LENGTHS[-1])
