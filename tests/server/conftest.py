"""The two databases, a clock and a small study."""

from server_fixtures import begin, clock, database, postgres, store

__all__ = ["begin", "clock", "database", "postgres", "store"]
