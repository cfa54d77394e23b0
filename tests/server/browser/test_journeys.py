"""From consent to code in a real browser on a real server: every scale, by mouse and by keyboard, small and large."""

import pytest
from walk import Keyboard, Mouse, kind, position, wait_for_position, walk

LONG = pytest.mark.long  # a journey for each way to answer is enough for the quick suite
SCALES = [
    "magnitude",
    "pairs",
    *(pytest.param(scale, marks=LONG) for scale in ("binary", "ordinal", "bounded", "s100")),
]


def journey(page, server, person):
    """Go all the way without one reload; the kinds of page, and the assessor's number."""
    link, number = server.invite()
    page.goto(link)
    page.evaluate("window.neverReloaded = true")
    seen = walk(page, person)
    assert page.evaluate("window.neverReloaded") is True
    assert "DONE1" in page.locator(".code").inner_text()
    page.locator(".code button").wait_for(state="visible")
    assert page.locator("a.button").get_attribute("href").endswith("cc=DONE1")
    return seen, number


def check_stored(server, number, scale, value):
    rows = server.answers(number)
    assert [row.position for row in rows] == [1, 2, 3, 4]
    assert len(server.all_answers(number)) == 4
    assert all(row.comment == "because it says so" for row in rows)
    assert all(0 < row.seconds < 60 for row in rows)
    if scale == "pairs":
        assert {(row.preferred, row.left_relevant, row.right_relevant, row.left_score) for row in rows} == {
            ("left", True, True, 3)
        }
    else:
        assert {row.value for row in rows} <= value


@pytest.mark.parametrize("scale", SCALES)
def test_by_mouse(open_page, servers, scale):
    seen, number = journey(open_page(), servers(scale), Mouse())
    check_stored(
        servers(scale), number, scale, {"magnitude": {20}, "bounded": {20}, "s100": {*range(75, 86)}}.get(scale, {1})
    )
    first = {"magnitude": ["practice"] * 3}.get(scale, [])
    last = ["quiz"] if scale == "pairs" else []
    judged = ["pair" if scale == "pairs" else "document"] * 4
    assert seen == ["consent", "instructions", *first, "topic", "comprehension", *last, *judged, "questionnaire"]


@pytest.mark.parametrize(
    "scale",
    ["ordinal", *(pytest.param(one, marks=LONG) for one in ("magnitude", "s100", "pairs", "binary", "bounded"))],
)
def test_by_keyboard_only(open_page, servers, scale):
    _, number = journey(open_page(), servers(scale), Keyboard())
    check_stored(servers(scale), number, scale, {80, 1})


@pytest.mark.parametrize("scale", ["s100", pytest.param("ordinal", marks=LONG), pytest.param("pairs", marks=LONG)])
def test_on_a_phone(open_page, servers, scale):
    page = open_page(360, 740, has_touch=True, is_mobile=True)
    _, number = journey(page, servers(scale), Mouse())
    check_stored(servers(scale), number, scale, {1, *range(75, 86)})


@pytest.mark.parametrize("scale", ["pairs", pytest.param("magnitude", marks=LONG)])
def test_at_four_hundred_percent(open_page, servers, scale):
    _, number = journey(open_page(320, 256), servers(scale), Keyboard())
    check_stored(servers(scale), number, scale, {80})


@pytest.mark.parametrize("scale", ["s100", pytest.param("pairs", marks=LONG)])
def test_without_scripts_plain_forms_do(open_page, servers, scale):
    page = open_page(java_script_enabled=False)
    link, number = servers(scale).invite()
    page.goto(link)
    person = PlainForms()
    for _ in range(20):
        if kind(page) == "done":
            break
        person.answer(page)
    assert "DONE1" in page.locator(".code").inner_text()
    check_stored(servers(scale), number, scale, {20})


class PlainForms(Mouse):
    """Sends whole forms and waits for whole pages."""

    def send(self, page):
        page.locator("button[value=next]").click()

    def consent(self, page):
        page.locator("button[value=agree]").click()

    def document(self, page):
        assert not page.locator("#slider").is_visible()
        page.locator("#value").fill("20")
        page.locator("#comment").fill("because it says so")
        self.send(page)


def test_a_comment_that_was_too_short_is_complained_of_until_it_is_long_enough(open_page, servers):
    page = open_page()
    page.goto(servers("binary").invite()[0])
    walk(page, Mouse(), until="document")
    page.locator("input[name=value]").first.check()
    page.locator("button[value=next]").click()
    page.locator("#problem").wait_for()
    page.locator("#comment").fill("so")
    assert page.locator("#problem").count() == page.locator("#comment[aria-invalid]").count() == 1
    page.locator("#comment").fill("so it is")
    assert page.locator("#problem").count() == page.locator("#comment[aria-invalid]").count() == 0
    assert page.locator("#comment").get_attribute("aria-describedby") == "comment-count"


def test_a_refused_number_is_told_in_the_page_and_focus_goes_there(open_page, servers):
    page = open_page()
    link, number = servers("bounded").invite()
    page.goto(link)
    walk(page, Mouse(), until="document")
    page.locator("#comment").fill("because it says so")
    for typed, said in [("quite a lot", "is not a number"), ("120", "above 0 and below 100"), ("", "type a number")]:
        page.locator("#value").fill(typed)
        page.locator("button[value=next]").click()
        page.locator("#problem", has_text=said).wait_for()
        assert page.evaluate("document.activeElement.id") == "value"
        assert page.locator("#value").input_value() == typed
        assert page.locator("#comment").input_value() == "because it says so"
        assert "problem" in page.locator("#value").get_attribute("aria-describedby")
    assert page.locator("#status").inner_text() == "Not saved yet"
    assert server_has(servers("bounded"), number) == 0
    Mouse().document(page)
    assert position(page) == 2
    assert page.locator("#problem").count() == 0
    assert page.locator("#status").inner_text() == "Saved"


def server_has(server, number):
    return len(server.answers(number))


def test_back_shows_the_answer_and_a_changed_one_takes_its_place(open_page, servers):
    page = open_page()
    server = servers("magnitude")
    link, number = server.invite()
    page.goto(link)
    walk(page, Keyboard(), until="document")
    Keyboard().document(page)
    page.keyboard.press("b")
    wait_for_position(page, 1)
    assert page.locator("#value").input_value() == "80"
    assert page.evaluate("document.activeElement.id") == "title"
    page.locator("#value").fill("7.5")
    page.keyboard.press("Enter")  # in a field: on, never back
    wait_for_position(page, 2)
    assert [row.value for row in server.answers(number)] == [7.5]
    assert [row.value for row in server.all_answers(number)] == [80, 7.5]
    assert "back" in server.events(number)


def test_the_next_page_begins_at_its_top_with_its_title_in_focus(open_page, servers):
    page = open_page(320, 256)
    link, _ = servers("binary").invite()
    page.goto(link)
    walk(page, Mouse(), until="document")
    Mouse().document(page)
    assert page.evaluate("scrollY") == 0
    assert page.evaluate("document.activeElement.id") == "title"
    assert page.locator("#title").inner_text() == "Document: 2 of 4"


def test_careless_answers_are_to_be_looked_at_again_and_end_in_a_closed_task(open_page, servers):
    page = open_page()
    link, _ = servers("known").invite()
    page.goto(link)
    seen = walk(page, Mouse(), until="stopped")
    assert seen[-10:] == ["revise", *["document"] * 4, "revise", *["document"] * 4]
    assert page.locator(".notice").inner_text() == "This task is closed."
    assert page.locator(".code").count() == 0
