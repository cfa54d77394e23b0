"""What tests of every stage share: the folder of real public data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("shared machine", deadline=None)  # a busy machine is slow, not wrong
settings.load_profile("shared machine")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data: JUDGEWELL_DATA, or shared/data beside the repository."""
    named = os.environ.get("JUDGEWELL_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real data: {'JUDGEWELL_DATA' if named else '../shared/data'} is not a folder")
    return folder
