"""What a sequence of pairs is judged by."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def breaks_in(pairs: Sequence[tuple[str, str]]) -> int:
    """How often two consecutive pairs do not share exactly one document on the same side."""
    steps = pairwise(pairs)
    return sum((left == next_left) == (right == next_right) for (left, right), (next_left, next_right) in steps)
