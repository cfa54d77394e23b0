"""The owner's tests use the same databases, clock and small studies as the judging server's."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "collect"))

from server_fixtures import begin, clock, database, postgres, store

__all__ = ["begin", "clock", "database", "postgres", "store"]
