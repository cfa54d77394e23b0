"""Attacks use the same databases, clock and small studies as the server's own tests."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1] / folder) for folder in ("collect", "owner")]

from server_fixtures import begin, clock, database, postgres, store  # noqa: E402

__all__ = ["begin", "clock", "database", "postgres", "store"]
