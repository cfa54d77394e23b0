"""Pictures of the owner's pages, filled by synthetic people: light, dark and on a phone.

    python scripts/dashboard_pictures.py [folder]

Without a folder two small ones are made for docs/pictures. With one, all pages in all looks go there: of a study that
nearly spent its budget, of one with long texts, and of one where nothing happened yet; and all pages of assessors.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("", "server/owner", "server/browser")]

import page_pictures  # noqa: E402
from browsers import browser  # noqa: E402
from owner_server import Owner, owner_server  # noqa: E402
from owner_studies import write_graded_study  # noqa: E402
from page_pictures import shrink  # noqa: E402

from judgewell.assessors.people import make_people  # noqa: E402
from judgewell.assessors.simulation import BEGIN, fill  # noqa: E402
from judgewell.server.judging.invitations import invite  # noqa: E402
from judgewell.server.owner.accounts import new_link  # noqa: E402
from judgewell.server.session.served import load_served  # noqa: E402
from judgewell.server.store.setup import prepare  # noqa: E402
from judgewell.server.store.transactions import Store, open_store  # noqa: E402

LOOKS = {
    "light": {"viewport": {"width": 1180, "height": 860}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1180, "height": 860}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 375, "height": 740}, "color_scheme": "light", "has_touch": True, "is_mobile": True},
}
PAGES = {
    "overview": "",
    "topics": "/topics",
    "topic": "/topic?topic={topic}",
    "assessors": "/assessors",
    "assessor": "/assessors/3",
    "invitations": "/invitations",
    "documents": "/documents",
    "documents-all": "/documents?only=all",
    "checks": "/checks",
    "money": "/money",
    "report": "/report",
    "log": "/log",
    "review": "/review",
}
SCENES = ("full", "long", "empty")
KEPT = (("overview", "light"), ("assessors", "dark"))
NOW = BEGIN + 12_000
LONG = "a-rather-long-identifier-that-somebody-made-from-a-whole-question-and-its-date-2026-05-31-{0:03d}"
TITLE = "How useful would each of these texts be to a person who asked this question in a library at the end of a day?"


@contextmanager
def scene(name: str, place: Path) -> Iterator[tuple[Owner, Store, str]]:
    """A server with a study in one of the states, and the name of a topic."""
    topic = LONG if name == "long" else "t{0:03d}"
    title = TITLE if name == "long" else "How useful are these texts?"
    size = {"full": (10, 5), "long": (3, 3), "empty": (2, 2)}[name]
    study = write_graded_study(place, topics=size[0], redundancy=size[1], topic=topic, title=title)
    budget, review = "budget = 170\n" if name == "full" else "", "" if name == "empty" else "[checks.review]\n"
    study.write_text(study.read_text().replace("[pay]\n", f"[pay]\n{budget}") + f"comment = 3\n{review}")
    store = open_store(place / "study.sqlite")
    if name == "empty":
        prepare(store, study, lambda: NOW)
    else:
        fill(store, study, make_people(60 if name == "full" else 10, 3), seed=3)
        served = store.read(lambda connection: load_served(connection, lambda: NOW)).result()
        invite(store, served, ["Ada", "Grace", "Somebody with a very long name that does not end where one expects it"])
    with owner_server(store, lambda: NOW) as owner:
        yield owner, store, topic.format(0)


def take(folder: Path, of: str, wanted: list[tuple[str, str]], whole: bool) -> list[Path]:
    """One PNG for each page and look of a scene, named after all three."""
    made = []
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as place,
        scene(of, Path(place)) as (owner, store, topic),
        browser() as opened,
    ):
        link = store.write(lambda connection: new_link(connection, NOW, "owner one")).result()
        for look in dict.fromkeys(look for _, look in wanted):
            context = opened.new_context(**LOOKS[look], locale="en-GB", timezone_id="UTC")
            page = context.new_page()
            names = [name for name, at in wanted if at == look]
            for name, path in (("sign-in", "/owner/sign-in"), ("link", link)) if whole else ():
                page.goto(f"{owner.address}{path}")
                made.append(_shot(page, folder / f"{of}-{name}-{look}.png", whole))
            context.add_cookies([{"name": owner.cookie[0], "value": owner.cookie[1], "url": owner.address}])
            page.goto(f"{owner.address}/owner")
            if of != "empty":
                page.wait_for_selector("#quality .chart", timeout=120_000)
            for name in names:
                response = page.goto(f"{owner.address}/owner{PAGES[name].format(topic=topic)}")
                if response is None or not response.ok:
                    continue  # an empty study has no third assessor
                if page.locator("#live").count():
                    page.wait_for_selector("#live[data-state=live]")
                if name in ("documents", "documents-all") and page.locator(".read summary").count():
                    page.locator(".read summary").first.click()
                before = "dashboard" if not whole else f"{of}-dashboard"
                made.append(_shot(page, folder / f"{before}-{name}-{look}.png", whole))
            context.close()
    return made


def _shot(page, path: Path, whole: bool) -> Path:  # type: ignore[no-untyped-def]
    page.screenshot(path=path, full_page=whole)
    shrink(path)
    return path


def main(arguments: list[str]) -> None:
    if arguments:
        folder, every = Path(arguments[0]), [(name, look) for name in PAGES for look in LOOKS]
        made = [path for of in SCENES for path in take(folder, of, every, whole=True)]
        names = [(name, look) for name in page_pictures.all_pages() for look in page_pictures.LOOKS]
        made += page_pictures.take(folder, names, whole=True)
    else:
        made = take(ROOT / "docs" / "pictures", "full", list(KEPT), whole=False)
    for path in made:
        print(f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}  {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
