"""Attacks use the same databases, clock and small studies as the server's own tests."""

import importlib.util
import sys
from pathlib import Path

for _folder in ("collect", "owner"):
    sys.path.insert(0, str(Path(__file__).parents[1] / _folder))
_spec = importlib.util.spec_from_file_location("attacked_fixtures", Path(__file__).parents[1] / "collect/conftest.py")
_shared = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_shared)

postgres, database, store, clock, begin = (
    getattr(_shared, name) for name in ("postgres", "database", "store", "clock", "begin")
)
