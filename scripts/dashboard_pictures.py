"""Pictures of the owner's pages, filled by synthetic people: light, dark and on a phone.

    python scripts/dashboard_pictures.py [folder]

Without a folder two small ones are made for docs/pictures; with one, all pages in all looks go there.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("", "server/owner", "server/browser")]

from browsers import browser  # noqa: E402
from owner_server import owner_server  # noqa: E402
from owner_studies import write_graded_study  # noqa: E402
from page_pictures import shrink  # noqa: E402

from judgewell.assessors.people import make_people  # noqa: E402
from judgewell.assessors.simulation import BEGIN, fill  # noqa: E402
from judgewell.server.store.transactions import open_store  # noqa: E402

LOOKS = {
    "light": {"viewport": {"width": 1180, "height": 860}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1180, "height": 860}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 375, "height": 740}, "color_scheme": "light", "has_touch": True, "is_mobile": True},
}
PAGES = {
    "overview": "",
    "topics": "/topics",
    "assessors": "/assessors",
    "assessor": "/assessors/3",
    "documents": "/documents",
    "checks": "/checks",
    "money": "/money",
    "log": "/log",
}
KEPT = (("overview", "light"), ("assessors", "dark"))


def take(folder: Path, wanted: list[tuple[str, str]], whole: bool) -> list[Path]:
    """One PNG for each page and look, named after both."""
    made = []
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        study = write_graded_study(Path(place) / "study", topics=10, redundancy=5)
        store = open_store(Path(place) / "study.sqlite")
        fill(store, study, make_people(60, 3), seed=3)
        with owner_server(store, lambda: BEGIN + 12_000) as owner, browser() as opened:
            for name, look in wanted:
                context = opened.new_context(**LOOKS[look], locale="en-GB", timezone_id="UTC")
                context.add_cookies([{"name": owner.cookie[0], "value": owner.cookie[1], "url": owner.address}])
                page = context.new_page()
                page.goto(f"{owner.address}/owner")
                page.wait_for_selector("#quality .chart", timeout=120_000)
                page.goto(f"{owner.address}/owner{PAGES[name]}")
                page.wait_for_selector("#live[data-state=live]")
                path = folder / f"dashboard-{name}-{look}.png"
                page.screenshot(path=path, full_page=whole)
                shrink(path)
                made.append(path)
                context.close()
    return made


def main(arguments: list[str]) -> None:
    if arguments:
        made = take(Path(arguments[0]), [(name, look) for name in PAGES for look in LOOKS], whole=True)
    else:
        made = take(ROOT / "docs" / "pictures", list(KEPT), whole=False)
    for path in made:
        print(f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}  {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
