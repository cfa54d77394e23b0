"""What tests of every stage share: the folder of real public data."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))  # tests of scripts import them by name

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# No deadline: a busy machine is slow, not wrong. CI draws the same examples each time, so that it fails only by the
# change it checks; everywhere else they are new each time, and JUDGEWELL_EXAMPLES sets how many.
LONG = bool(os.environ.get("JUDGEWELL_LONG_TESTS"))
settings.register_profile(
    "judgewell",
    deadline=None,
    max_examples=int(os.environ.get("JUDGEWELL_EXAMPLES", 150 if LONG else 20)),
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("judgewell")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data: JUDGEWELL_DATA, or shared/data beside the repository."""
    named = os.environ.get("JUDGEWELL_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real data: {'JUDGEWELL_DATA' if named else '../shared/data'} is not a folder")
    return folder


gc.disable()  # until the tests are collected: what that makes stays to the end


def pytest_collection_finish() -> None:
    """What was made so far is not looked at again for garbage."""
    gc.enable()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests in a browser are slow; slow tests begin first, so that none is left at the end for one process alone."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
    slow = {item.path for item in items if item.get_closest_marker("slow") and _sets_up(item.path)}
    items.sort(key=lambda item: item.path not in slow and not item.get_closest_marker("slow"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests of a module that sets something up for all of them run in one process, and so do those of real servers."""
    from xdist.scheduler import LoadScopeScheduling

    class Shared(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            if file.startswith("tests/server/browser/"):
                return "real servers, one for each kind of study"
            return file if _sets_up(config.rootpath / file) else nodeid

    return Shared(config, log)


@cache
def _sets_up(path: Path) -> bool:
    return 'scope="module"' in path.read_text("utf-8")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium, one for the whole process."""
    from browsers import CHROMIUM, browser

    if CHROMIUM is None:
        pytest.skip("no Chromium here; on Debian: apt-get install chromium")
    with browser() as opened:
        yield opened
