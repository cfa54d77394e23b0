"""What every page must be: accessible, readable at any size, free of outside requests, safe with hostile documents."""

import io

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsers import settle
from PIL import Image
from sample_pages import all_pages
from waiting import HANG

PAGES = sorted(all_pages())
NARROW = [(360, 740), (320, 256)]


def violations(page, **options):
    found = Axe().run(page, options=options).response["violations"]
    return [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found]


@pytest.fixture(scope="module")
def window(chromium, sample_address):
    """One window for all pages, with what went wrong in it."""
    page = chromium.new_page(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    page.set_default_timeout(HANG * 1000)
    page.outside, page.complaints = [], []
    page.on("request", lambda r: page.outside.append(r.url) if not r.url.startswith(sample_address) else None)
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    yield page
    page.close()


QUICK = ("consent", "topic", "magnitude", "ordinal", "s100_rtl", "pair_refused", "questionnaire_refused", "trouble")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in PAGES]
)
def test_axe_finds_nothing_in_light_and_dark(window, sample_address, name):
    window.emulate_media(color_scheme="light")
    window.goto(f"{sample_address}/{name}")
    assert violations(window) == []
    window.emulate_media(color_scheme="dark")
    assert violations(window, runOnly=["color-contrast"]) == []
    assert window.outside == []


@pytest.mark.long
@pytest.mark.parametrize(("width", "height"), NARROW)
def test_nothing_is_wider_than_a_small_screen(open_page, sample_address, width, height):
    page = open_page(width, height)
    for name in PAGES:
        page.goto(f"{sample_address}/{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        hidden = page.evaluate("""() => [...document.querySelectorAll('button, .card, .number')]
            .filter(one => one.getClientRects().length)
            .filter(one => one.getBoundingClientRect().right > innerWidth || one.scrollWidth > one.clientWidth + 1)
            .map(one => one.outerHTML)""")
        assert hidden == [], name


@pytest.mark.parametrize("name", ["consent", "ordinal", "pair"])
def test_axe_finds_nothing_on_a_phone(open_page, sample_address, name):
    page = open_page(360, 740)
    page.goto(f"{sample_address}/{name}")
    assert violations(page) == []


def test_the_topic_stays_in_sight_unless_the_window_is_too_low(open_page, sample_address):
    page = open_page(1280, 600)
    page.goto(f"{sample_address}/ordinal")
    page.mouse.wheel(0, 500)
    page.wait_for_function("() => scrollY > 100")
    assert page.locator("#topic").bounding_box()["y"] >= 0
    page.set_viewport_size({"width": 320, "height": 256})
    assert page.evaluate("getComputedStyle(document.getElementById('topic')).position") == "static"


def test_lines_are_sixty_to_seventy_five_letters_long(open_page, sample_address):
    page = open_page(1600, 900)
    page.goto(f"{sample_address}/ordinal")
    longest = page.evaluate("""() => {
        const text = document.querySelectorAll('.text p')[1].firstChild;
        const range = document.createRange(), lines = {};
        for (let at = 0; at < text.length; at++) {
            range.setStart(text, at); range.setEnd(text, at + 1);
            const top = Math.round(range.getBoundingClientRect().top);
            lines[top] = (lines[top] ?? 0) + 1;
        }
        const full = Object.values(lines).slice(0, -1);
        return full.reduce((a, b) => a + b) / full.length;
    }""")
    assert 60 <= longest <= 75


def test_a_pair_and_its_questions_fit_in_one_view(open_page, sample_address):
    page = open_page(1280, 800)
    for name in ("pair_first", "pair"):
        page.goto(f"{sample_address}/{name}")
        assert page.evaluate("document.documentElement.scrollHeight") <= 800, name
    assert page.locator("button[value=next]").bounding_box()["y"] < 780
    left, right = page.locator("#left .document-body"), page.locator("#right .document-body")
    left.evaluate("pane => pane.scrollTop = 50")
    assert (left.evaluate("p => p.scrollTop"), right.evaluate("p => p.scrollTop")) == (50, 0)
    assert left.bounding_box()["y"] == right.bounding_box()["y"]
    assert page.locator("#right .mark").inner_text() == "New"
    assert page.locator("#left .mark").inner_text() == "Same as before"


def test_the_result_of_the_quiz_is_above_the_first_pair(open_page, sample_address):
    page = open_page(1280, 800)
    page.goto(f"{sample_address}/pair_after_quiz")
    assert page.locator(".notice").bounding_box()["y"] < page.locator(".topic").first.bounding_box()["y"]


def test_left_stays_left_where_pages_are_read_from_the_right(open_page, sample_address):
    page = open_page(1280, 800)
    page.goto(f"{sample_address}/pair_rtl")
    assert page.locator("html").get_attribute("dir") == "rtl"
    sides = [("#left", "#right"), ("input[value=left]", "input[value=right]"), ("#left_score", "#right_score")]
    for left, right in sides:
        assert page.locator(left).bounding_box()["x"] < page.locator(right).bounding_box()["x"]
    back, forth = page.locator("button[value=back]"), page.locator("button[value=next]")
    assert back.bounding_box()["x"] > forth.bounding_box()["x"]
    assert page.locator("#left .text p").first.evaluate("p => getComputedStyle(p).direction") == "ltr"
    page.goto(f"{sample_address}/s100_rtl")
    page.locator("#slider").focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator("#value").input_value() == "0"
    page.keyboard.press("ArrowLeft")
    assert page.locator("#value").input_value() == "1"


@pytest.mark.parametrize(
    ("name", "field"), [("refused", "value"), ("comprehension", "choice"), ("pair_refused", "left_score")]
)
def test_a_problem_is_tied_to_its_field_which_has_the_focus(open_page, sample_address, name, field):
    page = open_page()
    page.goto(f"{sample_address}/{name}")
    settle(page)  # a page gives its focus with its first frame
    assert page.evaluate("document.activeElement.name") == field
    wrong = page.locator('[aria-invalid="true"]')
    assert wrong.count() == 1
    assert "problem" in wrong.get_attribute("aria-describedby").split()
    assert page.locator('[aria-describedby~="problem"]').count() == 1
    focused = page.locator(":focus")
    page.keyboard.press("Space") if focused.get_attribute("type") == "radio" else focused.fill("7")
    for gone in ("#problem", "[aria-invalid]", '[aria-describedby~="problem"]'):
        assert page.locator(gone).count() == 0, gone


def test_keys_rest_while_one_types(open_page, sample_address):
    page = open_page()
    page.goto(f"{sample_address}/ordinal")
    page.keyboard.press("c")
    page.keyboard.type("1 t b h")
    assert page.locator("#comment").input_value() == "1 t b h"
    assert page.locator("input[value=R]").is_checked()
    page.locator(".typing").wait_for(state="visible")
    page.keyboard.press("Escape")
    page.keyboard.press("0")  # the grade's own number
    assert page.locator("input[value=N]").is_checked()
    page.keyboard.press("t")
    assert page.locator("#topic").evaluate("topic => topic.open") is False


def test_a_digit_of_several_scales_is_for_the_one_in_focus(open_page, sample_address):
    page = open_page()
    page.goto(f"{sample_address}/questionnaire_scales")
    page.keyboard.press("4")
    page.locator("input[name=clear][value='1']").focus()
    page.keyboard.press("2")
    checked = page.locator("input:checked").evaluate_all("all => all.map(one => one.name + one.value)")
    assert checked == ["hard4", "clear2"]
    assert page.locator(".card kbd").count() == 0  # the points are named by their keys


def test_the_topic_stays_in_sight_on_a_phone(open_page, sample_address):
    page = open_page(390, 740, has_touch=True, is_mobile=True)
    page.goto(f"{sample_address}/ordinal")
    page.evaluate("scrollTo(0, 400)")
    settle(page)
    parts = page.locator("#topic .topic-parts").bounding_box()
    assert parts["y"] >= 0
    assert parts["y"] + parts["height"] < 740 / 3


def test_the_slider_has_no_handle_until_it_is_touched(open_page, sample_address):
    page = open_page()
    page.goto(f"{sample_address}/s100")
    slider, field = page.locator("#slider"), page.locator("#value")
    assert not shows_handle(slider)
    assert slider.get_attribute("aria-valuetext") == "Touch the slider or type a number."
    assert field.input_value() == ""
    slider.click()  # the middle, where the browser's own value is already
    assert (shows_handle(slider), field.input_value()) == (True, "50")
    field.fill("7")
    assert slider.input_value() == "7"
    field.fill("700")
    assert not shows_handle(slider)
    field.fill("")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert field.input_value() == "0"
    page.keyboard.press("ArrowRight")
    assert field.input_value() == "1"
    page.keyboard.press("End")
    assert (field.input_value(), slider.get_attribute("aria-valuetext")) == ("100", None)


def shows_handle(slider):
    """Whether anything on the track has the accent's colour."""
    slider.evaluate("slider => slider.blur()")
    picture = Image.open(io.BytesIO(slider.screenshot())).convert("RGB")
    return (12, 106, 95) in {colour for _, colour in picture.getcolors(1 << 20)}


def test_marking_words_is_off_until_asked_for(open_page, sample_address):
    page = open_page()
    page.goto(f"{sample_address}/ordinal")
    assert page.locator(".text mark").count() == 0
    before = page.locator(".text").inner_text()
    page.keyboard.press("h")
    assert set(page.locator(".text mark").all_inner_texts()) >= {"kettle"}
    assert page.locator(".text").inner_text() == before
    assert page.locator("#sheet").get_attribute("data-highlighted") == "1"
    page.keyboard.press("h")
    assert page.locator(".text mark").count() == 0


def test_hostile_texts_stay_texts(open_page, sample_address):
    page = open_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{sample_address}/unsafe")
    page.keyboard.press("h")
    settle(page)
    assert page.title().startswith("<script>")
    assert page.locator("main script, main img").count() == 0
    assert not [url for url in asked if url.endswith("/x")]
    assert page.locator("#comment").input_value().startswith("<script>")


def test_html_documents_live_in_a_frame_that_can_do_nothing(open_page, sample_address):
    page = open_page()
    page.goto(f"{sample_address}/html")
    frame = page.locator("iframe")
    assert frame.get_attribute("sandbox") == ""
    inside = page.frame_locator("iframe")
    assert "Soft water" in inside.locator("body").inner_text()
    settle(page)
    assert "broken" not in page.title()
    assert inside.locator("body").evaluate("() => document.title") == ""
    assert page.evaluate("document.querySelector('iframe').contentDocument") is None


def test_nothing_inline_is_needed(window, sample_address):
    window.complaints.clear()
    for name in ("consent", "s100_touched", "pair", "practice", "done"):
        window.goto(f"{sample_address}/{name}")
    assert window.complaints == []


def test_the_code_is_copied(open_page, sample_address):
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{sample_address}/done")
    page.locator("[data-copy]").click()
    page.locator("[data-copy]", has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "C1X2K9"


def test_plain_text_flows_and_lists_and_tables_keep_their_shape(open_page, sample_address):
    page = open_page()
    page.goto(f"{sample_address}/ordinal")
    look = "p => getComputedStyle(p).whiteSpace"
    assert page.locator(".text p", has_text="Limescale is what").evaluate(look) == "normal"
    assert page.locator(".text p", has_text="the juice of two lemons").evaluate(look) == "pre-line"
    assert page.locator(".text pre").inner_text().startswith("Substance        Amount")


def test_a_printed_pair_shows_all_of_both_documents(open_page, sample_address):
    page = open_page()
    page.goto(f"{sample_address}/pair")
    page.emulate_media(media="print")
    hidden = page.evaluate("""() => [...document.querySelectorAll('.document-body, .topic-parts')]
        .filter(part => part.scrollHeight > part.clientHeight + 1).length""")
    assert hidden == 0
    assert not page.locator("button[value=next]").is_visible()
