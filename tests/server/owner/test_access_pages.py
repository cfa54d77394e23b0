"""The door and the reviewers' page in a real browser: readable for everybody, quick by keyboard, whole on a phone."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from judging import Clock, Study, write_study
from owner_server import owner_server

from judgewell.server.store.transactions import open_store

LONG = "A text that goes on for a while about many things. " * 20


@pytest.fixture(scope="module")
def owner(tmp_path_factory):
    """A study with two finished units to be reviewed."""
    folder = tmp_path_factory.mktemp("reviewed")
    store = open_store(folder / "reviewed.sqlite")
    more = "[checks]\ncomment = 3\n[checks.review]\n"
    study = Study(store, write_study(folder, topics=1, redundancy=2, more=more, text=LONG), Clock())
    for person in [study.person() for _ in range(2)]:
        person.until("done")
    with owner_server(store, study.clock) as found:
        yield found


@pytest.fixture
def window(chromium, owner, request):
    width, scheme = request.param
    context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    context.add_cookies([{"name": owner.cookie[0], "value": owner.cookie[1], "url": owner.address}])
    page = context.new_page()
    page.problems = []
    page.on("console", lambda message: page.problems.append(message.text))
    yield page
    context.close()


@pytest.mark.parametrize("window", [(1200, "light"), (1200, "dark"), (375, "light")], indirect=True)
@pytest.mark.parametrize("path", ["/owner/sign-in", "/owner/review"])
def test_axe_finds_nothing_and_nothing_runs_out_of_the_page(window, owner, path):
    window.goto(owner.address + path)
    found = Axe().run(window)
    assert found.violations_count == 0, found.generate_report()
    assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert window.problems == []


@pytest.mark.parametrize("window", [(1200, "light")], indirect=True)
def test_review_by_keyboard_alone(window, owner):
    window.goto(owner.address + "/owner/review")
    window.keyboard.press("o")  # an objection needs a reason, so that is asked for first
    assert window.evaluate("document.activeElement.id") == "reason"
    window.keyboard.type("a copied phrase")
    window.keyboard.press("Enter")
    window.locator(".progress", has_text=re.compile(r"^\s*1 read")).wait_for()
    window.wait_for_load_state()  # the keys answer only then
    window.keyboard.press("a")
    window.locator(".progress", has_text=re.compile(r"^\s*2 read")).wait_for()
    assert "There is nothing to review right now" in window.inner_text("main")
