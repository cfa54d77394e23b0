"""The owner's pages in a real browser: accessible, in any width, alive without a reload."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from axe_playwright_python.sync_playwright import Axe
from owner_server import Owner, owner_server
from owner_studies import write_graded_study
from waiting import HANG

from judgewell.assessors.people import make_people
from judgewell.assessors.simulation import BEGIN, fill
from judgewell.server.store.schema import assessors, events
from judgewell.server.store.transactions import Store, open_store

PAGES = (
    "",
    "/topics",
    "/topic?topic=topic-000",
    "/assessors",
    "/assessors/3",
    "/documents",
    "/checks",
    "/money",
    "/log",
)


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Owner, Store]]:
    folder = tmp_path_factory.mktemp("browser")
    study = write_graded_study(folder, topics=4, docs=10, size=5, redundancy=4, most=4, topic="topic-{0:03d}")
    docs = folder / "docs.csv"
    docs.write_text(docs.read_text().replace("A text", f"A {'long' * 100} text"))  # a word wider than any screen
    store = open_store(folder / "study.sqlite")
    fill(store, study, make_people(16, 3), seed=3)
    with owner_server(store, lambda: BEGIN + 900) as running:
        yield running, store


@pytest.fixture(scope="module")
def window(chromium, owner):
    running, _ = owner
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.add_cookies([{"name": running.cookie[0], "value": running.cookie[1], "url": running.address}])
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto(f"{running.address}/owner")
    page.wait_for_selector(
        "#quality .chart", timeout=HANG * 1000
    )  # computed in a process of its own, and shown by itself
    yield page
    context.close()


def violations(page, **options):
    found = Axe().run(page, options=options).response["violations"]
    return [(one["id"], [node["html"][:160] for node in one["nodes"]][:3]) for one in found]


@pytest.mark.parametrize("path", [PAGES[0], *(pytest.param(path, marks=pytest.mark.long) for path in PAGES[1:])])
def test_axe_finds_nothing_and_nothing_is_too_wide(window, owner, path):
    window.set_viewport_size({"width": 1280, "height": 900})
    window.emulate_media(color_scheme="light")
    window.goto(f"{owner[0].address}/owner{path}")
    window.wait_for_selector("#live[data-state=live]")
    assert violations(window) == []
    window.set_viewport_size({"width": 1180, "height": 900})
    cut = "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.ariaLabel)"
    assert window.locator(".scroll").evaluate_all(cut) == []
    window.emulate_media(color_scheme="dark")
    assert violations(window, runOnly=["color-contrast"]) == []
    window.set_viewport_size({"width": 375, "height": 740})
    assert window.evaluate("document.documentElement.scrollWidth") <= 375
    assert window.complaints == []


@pytest.mark.parametrize(
    ("path", "heads"), [("/topics", ["topic", "completed"]), ("/money", ["topic", "paid units", "so far"])]
)
def test_the_columns_that_matter_are_in_view_on_a_phone(window, owner, path, heads):
    window.set_viewport_size({"width": 390, "height": 844})
    window.goto(f"{owner[0].address}/owner{path}")
    window.wait_for_selector("#live[data-state=live]")
    shown = (
        "all => all.filter(one => one.getBoundingClientRect().right <= innerWidth).map(one => one.textContent.trim())"
    )
    texts = window.locator("main table[data-whole] > thead th").evaluate_all(shown)
    assert all(text.startswith(head) for text, head in zip(texts, heads, strict=False)), texts
    assert len(texts) >= len(heads)


def test_it_lives_and_keeps_what_one_did(window, owner):
    running, store = owner
    window.set_viewport_size({"width": 1280, "height": 500})
    window.goto(f"{running.address}/owner/assessors/3")
    window.wait_for_selector("#live[data-state=live]")
    window.locator("#events summary").click()
    heads = window.locator("#answers-table thead th")
    heads.nth(4).locator("button").click()
    assert heads.nth(4).get_attribute("aria-sort") == "descending"
    window.locator("#answers-table").scroll_into_view_if_needed()
    top = window.evaluate("scrollY")
    before = window.locator("#events tbody tr").count()

    def happen(connection: sa.Connection) -> None:
        told = {"at": BEGIN + 899, "kind": "looked away", "assessor": 3, "data": {"why": "<b>test</b>"}}
        connection.execute(sa.insert(events), told)
        connection.execute(sa.update(assessors).where(assessors.c.number == 3).values(moved=BEGIN + 899))

    store.write(happen).result()
    window.wait_for_function(
        "n => document.querySelectorAll('#events tbody tr').length > n", arg=before, timeout=HANG * 1000
    )
    assert window.locator("#events").get_attribute("open") is not None
    assert window.locator("#answers-table thead th").nth(4).get_attribute("aria-sort") == "descending"
    cells = window.locator("#answers-table tbody tr > :nth-child(5)").evaluate_all(
        "all => all.map(c => +c.dataset.value)"
    )
    assert cells == sorted(cells, reverse=True)
    assert abs(window.evaluate("scrollY") - top) < 5
    assert window.locator("#events b").count() == 0


def test_words_being_typed_are_not_swept_away(window, owner):
    running, store = owner
    window.goto(f"{running.address}/owner/assessors/3")
    window.wait_for_selector("#live[data-state=live]")
    window.locator("#who .ask summary").click()
    window.locator("#who input[name=reason]").fill("half a reas")
    change = sa.update(assessors).where(assessors.c.number == 3).values(moved=BEGIN + 898)
    store.write(lambda connection: connection.execute(change).rowcount).result()
    with window.expect_response(
        lambda answer: answer.status == 200 and "assessors/3" in answer.url, timeout=HANG * 1000
    ):
        pass
    assert window.locator("#who input[name=reason]").input_value() == "half a reas"


def test_sorting_works_by_keyboard_and_without_scripts(chromium, window, owner):
    running, _ = owner
    window.goto(f"{running.address}/owner/topics")
    window.wait_for_selector("#topics-table button.sort")
    button = window.locator("#topics-table thead th").first.locator("button")
    button.focus()
    window.keyboard.press("Enter")
    first = window.locator("#topics-table tbody th").first
    assert first.get_attribute("data-value") == "topic-003"
    context = chromium.new_context(java_script_enabled=False)
    context.add_cookies([{"name": running.cookie[0], "value": running.cookie[1], "url": running.address}])
    page = context.new_page()
    page.goto(f"{running.address}/owner/topics")
    page.locator("#topics-table thead a").first.click()
    assert page.locator("#topics-table tbody th").first.get_attribute("data-value") == "topic-003"
    context.close()
