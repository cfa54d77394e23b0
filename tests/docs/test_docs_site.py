"""The documentation builds without a warning or a dead link, and asks nothing of other hosts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)[^>]*?\ssrc=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|<link(?=[^>]*\brel=["']?(?:stylesheet|preload|preconnect|icon))[^>]*?\shref=["']?((?:https?:)?//[^"'\s>]+)"""
    r"""|@import\s+(?:url\()?["']?((?:https?:)?//[^"')\s]+)|url\(["']?((?:https?:)?//[^"')\s]+)"""
)


def built(folder: Path) -> Path:
    """The site, made in the folder."""
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.strip() == ""
    return folder


@pytest.mark.long
def test_the_site_builds_holds_every_page_and_fetches_nothing(tmp_path: Path, chromium: Browser) -> None:
    """One test, since building takes long and tests may run in several processes."""
    site = built(tmp_path / "site")
    fetches_nothing_from_elsewhere(site)
    search_works_in_a_page_opened_from_its_folder(site, chromium)


def search_works_in_a_page_opened_from_its_folder(site: Path, chromium: Browser) -> None:
    page = chromium.new_page()
    page.goto((site / "guide" / "scaling.html").as_uri())
    page.click("input.md-search__input")
    page.keyboard.type("bradley")
    page.wait_for_selector(".md-search-result__item")
    assert "bradley-terry.html" in (page.locator(".md-search-result__item a").first.get_attribute("href") or "")
    page.close()


def fetches_nothing_from_elsewhere(site: Path) -> None:
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert len(pages) > 100
    found = {
        (page.name, "".join(hit))
        for page in pages
        for hit in FETCHED.findall(page.read_text("utf-8", errors="replace"))
    }
    assert found == set()


def test_what_would_be_fetched_is_seen() -> None:
    assert FETCHED.search('<script defer src="https://cdn.example.org/x.js">')
    assert FETCHED.search('<link href="//fonts.example.org/css" rel="stylesheet">') or FETCHED.search(
        '<link rel="stylesheet" href="//fonts.example.org/css">'
    )
    assert FETCHED.search('@import "https://example.org/a.css";')
    assert not FETCHED.search('<a href="https://example.org">')


def test_the_reference_says_what_the_code_says() -> None:
    from docs_generated import quick_pages

    compare_with_files(quick_pages())


@pytest.mark.long
def test_every_reference_page_says_what_the_code_says() -> None:
    from docs_generated import all_pages

    pages = all_pages()
    compare_with_files(pages)
    there = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs" / "reference").rglob("*.md")}
    assert there == set(pages)


def compare_with_files(pages: dict[str, str]) -> None:
    places = {place: ROOT / "docs" / place for place in pages}
    stale = [name for name, path in places.items() if not path.is_file() or path.read_text("utf-8") != pages[name]]
    assert stale == [], "run python scripts/docs_generated.py"


def test_every_measure_and_method_says_what_it_is_for() -> None:
    from docs_generated import PARTS, parts_of

    from judgewell.evaluation.measures import all_measures
    from judgewell.scaling.methods import methods

    for thing in [*all_measures().values(), *methods().values()]:
        said = parts_of(thing)
        assert [part for part in ("about", *PARTS) if not said.get(part)] == [], thing
        assert thing.source


def test_pages_point_outside_by_well_formed_addresses() -> None:
    for path in (ROOT / "docs").rglob("*.md"):
        for link in re.findall(r"\]\((https?:[^)\s]*)\)", path.read_text("utf-8")):
            assert re.fullmatch(r"https://[\w.-]+\.[a-z]+(/[^\s]*)?", link), f"{path.name}: {link}"
