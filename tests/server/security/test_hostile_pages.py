"""Everything that people write is shown in a real browser, and nothing of it comes alive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

import pytest
from browsers import settle
from hostile_study import Hostile, hostile_documents, hostile_server
from payloads import HANDLERS, HOST, ONE, TEMPLATES
from playwright.sync_api import Browser, BrowserContext, Page
from waiting import HANG, wait_until

from judgewell.server.judging import invitations as people

OWNERS = ("", "/topics", "/assessors", "/assessors/1", "/assessors/2", "/documents", "/checks", "/money", "/log")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    with hostile_server(tmp_path_factory.mktemp("hostile")) as server:
        yield server


@dataclass
class Window:
    """A browser window that notes everything that must not happen."""

    context: BrowserContext
    page: Page
    address: str
    seen: list[str] = field(default_factory=list)

    def look(self, path: str) -> int:
        """Open a page, try what a person may do by mistake, and give its status."""
        response = self.page.goto(self.address + path, timeout=HANG * 1000)
        assert response is not None
        self.calm(path)
        return response.status

    def calm(self, where: str) -> None:
        settle(self.page)
        self.page.mouse.move(200, 200)
        left = [] if self.page.url.startswith(f"{self.address}/") else [f"left for {self.page.url}"]
        assert self.seen + left == [], where
        assert (
            self.page.evaluate(
                "document.querySelectorAll('main script, main img, main object, main form[action^=h]').length"
            )
            == 0
        )
        assert self.page.locator("main").count() == 1, where


def watched(chromium: Browser, address: str) -> Window:
    context = chromium.new_context(viewport={"width": 1100, "height": 800})
    window = Window(context, context.new_page(), address)
    context.expose_function("hit", lambda *_: window.seen.append("a script ran"))

    def asked(route, request) -> None:
        if not request.url.startswith((address, "about:", "data:")):
            window.seen.append(f"asked {request.url}")
            return route.abort()
        return route.continue_()

    context.route("**/*", asked)
    context.on("page", lambda page: window.seen.append(f"opened {page.url}"))
    window.page.on("dialog", lambda dialog: (window.seen.append("a dialog"), dialog.dismiss()))
    return window


@pytest.fixture
def window(chromium: Browser, hostile: Hostile) -> Iterator[Window]:
    window = watched(chromium, hostile.address)
    yield window
    window.context.close()


def sign_in(window: Window, hostile: Hostile, role: str) -> None:
    name = f"{hostile.place.cookie}-owner"
    window.context.add_cookies([{"name": name, "value": hostile.place.key(role), "url": hostile.address}])


def test_the_trap_works(chromium, hostile):
    """Without a policy and without escaping, these payloads do what they say."""
    window = watched(chromium, hostile.address)
    open_door = "".join(f"<div>{text}</div>" for text in [*HANDLERS[:9], f"<img src=https://{HOST}/p.png>"])
    window.page.set_content(f"<main>{open_door}</main>")
    wait_until(
        lambda: window.page.title() == "" and "a script ran" in window.seen and any(HOST in one for one in window.seen)
    )
    window.context.close()


@pytest.mark.long
def test_the_assessors_pages_show_attacks_as_text(window, hostile):
    person = hostile.person
    assert window.look(people.invite_path(hostile.study.served, person.number)) == 200
    shown = []
    page = person.send(action="agree")
    while page.kind != "questionnaire":
        assert window.look("/work") == 200
        if page.kind == "document":
            shown.append(_frame_or_text(window))
        hostile.study.clock.move(30)
        page = person.send(**({"value": "N", "comment": ONE} if page.kind == "document" else {}))
    assert window.look("/work") == 200
    assert len(shown) == len(hostile_documents())
    assert max(map(len, shown)) > 1_900_000  # the giant ones are shown whole
    everything = "".join(shown)
    assert "the bottom" in everything
    assert all(text in everything for text in TEMPLATES)
    assert "1337" not in everything


def _frame_or_text(window: Window) -> str:
    """What is seen of the document; a frame of it can do nothing."""
    frame = window.page.locator("article.document iframe")
    if window.page.locator("article.document p.empty").count():
        return ""  # nothing but an attack was in it
    if not frame.count():
        return window.page.locator("article.document [data-text]").text_content() or ""
    assert frame.get_attribute("sandbox") == ""
    inside = next(one for one in window.page.frames if one != window.page.main_frame)
    return inside.locator("body").text_content() or ""


def test_what_is_typed_comes_back_as_text(window, hostile):
    person = hostile.study.person()
    person.until("document")
    window.look(people.invite_path(hostile.study.served, person.number))
    window.page.locator("textarea[name=comment]").fill(ONE)
    window.page.keyboard.press("Escape")
    window.page.evaluate("document.querySelector('form.answer, form').requestSubmit && true")
    window.page.locator("button[value=next]").first.click()
    window.page.locator("#problem").wait_for()
    window.calm("the refused answer")
    assert window.page.locator("textarea[name=comment]").input_value() == ONE


@pytest.mark.long
@pytest.mark.parametrize("path", OWNERS)
def test_the_owners_pages_show_attacks_as_text(window, hostile, path):
    sign_in(window, hostile, "owner")
    assert window.look(f"/owner{path}") == 200


def test_a_topic_with_a_hostile_id_and_a_hostile_search(window, hostile):
    sign_in(window, hostile, "owner")
    assert window.look("/owner/topic?topic=" + quote("t<svg/onload=hit()>")) == 200
    for path in ("/topics", "/assessors", "/documents"):
        assert window.look(f"/owner{path}?text={quote(ONE)}&sort={quote(ONE)}&page={quote(ONE)}") == 200


def test_the_review_shows_attacks_as_text(window, hostile):
    sign_in(window, hostile, "reviewer")
    assert window.look("/owner/review") == 200
    assert window.page.locator("blockquote.comment").count() == len(hostile_documents())
    for frame in window.page.locator("iframe").all():
        assert frame.get_attribute("sandbox") == ""


@pytest.mark.parametrize(
    "path", ["/owner/sign-in?next={}", "/{}", "/i/{}", "/join?pid={}", "/static/{}", "/owner/link/{}", "/work?x={}#{}"]
)
def test_refusals_reflect_nothing(window, path):
    for text in (ONE, "javascript:hit()", "//outside.example/"):
        window.look(path.replace("{}", quote(text, safe="")))


def test_a_wrong_name_comes_back_as_text(window):
    window.look("/owner/sign-in")
    window.page.fill("#name", ONE[:80])
    window.page.fill("#password", ONE[:80])
    with window.page.expect_navigation():
        window.page.click("main button")
    window.calm("sign-in")
    assert window.page.input_value("#name") == ONE[:80]
