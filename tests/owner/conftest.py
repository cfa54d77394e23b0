"""The owner's tests use the same databases, clock and small studies as the judging server's."""

import importlib.util
import sys
from pathlib import Path

_COLLECT = Path(__file__).parents[1] / "collect"
sys.path.insert(0, str(_COLLECT))
_spec = importlib.util.spec_from_file_location("collect_fixtures", _COLLECT / "conftest.py")
_shared = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_shared)

postgres, database, store, clock, begin = (
    getattr(_shared, name) for name in ("postgres", "database", "store", "clock", "begin")
)
