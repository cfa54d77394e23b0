"""Lost connections, killed servers, double clicks, reloads and second windows: nothing is lost and nothing is twice."""

from urllib.parse import parse_qs, urlsplit

import pytest
from browsers import settle
from walk import Mouse, kind, position, step, wait_for_next, wait_for_position, walk


@pytest.fixture
def at_work(open_page, servers):
    """Somebody with the first document before them."""

    def make(scale="bounded"):
        server, page = servers(scale), open_page()
        link, number = server.invite()
        page.goto(link)
        walk(page, Mouse(), until="document")
        return server, page, number

    return make


def fill(page, value="20"):
    page.locator("#value").fill(value)
    page.locator("#comment").fill("because it says so")


def test_a_lost_connection_is_told_and_the_answer_follows_by_itself(at_work):
    server, page, number = at_work()
    Mouse().document(page)
    page.context.set_offline(True)
    fill(page, "33")
    page.locator("button[value=next]").click()
    page.locator("#banner", has_text="Not saved yet").wait_for()
    assert page.evaluate("document.getElementById('sheet').inert") is True
    assert len(server.answers(number)) == 1
    page.context.set_offline(False)
    wait_for_position(page, 3)
    assert not page.locator("#banner").is_visible()
    assert page.locator("#status").inner_text() == "Saved"
    assert [row.value for row in server.all_answers(number)] == [20, 33]
    assert page.evaluate("localStorage.getItem('judgewell.unsent')") is None


@pytest.mark.long
def test_an_answer_given_offline_survives_the_window(at_work):
    server, page, number = at_work()
    page.context.set_offline(True)
    fill(page, "44")
    page.locator("button[value=next]").click()
    page.locator("#banner", has_text="Not saved yet").wait_for()
    page.close()
    page.context.set_offline(False)
    again = page.context.new_page()
    again.goto(f"{server.address}/work")
    wait_for_position(again, 2)
    assert [row.value for row in server.all_answers(number)] == [44]


def test_a_server_that_was_killed_gets_the_answer_when_it_is_back(at_work):
    server, page, number = at_work("ordinal")
    server.stop(kill=True)
    page.locator(".card").nth(2).click()
    page.locator("#comment").fill("because it says so")
    page.locator("button[value=next]").click()
    page.locator("#banner", has_text="Not saved yet").wait_for()
    server.start()
    page.locator("#banner button").click()
    wait_for_position(page, 2)
    assert [row.value for row in server.all_answers(number)] == [2]


def test_an_answer_whose_receipt_was_lost_is_stored_once(at_work):
    server, page, number = at_work()
    lost = []

    def lose(route):
        route.fetch()  # the server takes it, the browser never hears of it
        lost.append(route.request.post_data)
        route.abort()

    page.route("**/work", lose, times=1)
    fill(page, "55")
    page.locator("button[value=next]").click()
    wait_for_position(page, 2)
    assert len(lost) == 1
    assert [row.value for row in server.all_answers(number)] == [55]
    assert "repeated" in server.events(number)


def test_a_page_that_is_not_ours_is_no_receipt(at_work):
    server, page, number = at_work()
    page.route(
        "**/work", lambda route: route.fulfill(status=200, body="<h1>Please log in to this network</h1>"), times=1
    )
    fill(page, "66")
    page.locator("button[value=next]").click()
    wait_for_position(page, 2)
    assert [row.value for row in server.all_answers(number)] == [66]


def count_posts(page):
    posts = []
    page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
    return posts


def test_two_clicks_while_the_answer_is_under_way_are_one(at_work):
    server, page, number = at_work()
    fill(page)
    posts = count_posts(page)
    page.evaluate("""() => {
        const next = document.querySelector('button[value=next]');
        next.click(); next.click();
    }""")
    wait_for_position(page, 2)
    assert len(posts) == 1
    assert len(server.all_answers(number)) == 1


def test_the_second_click_of_a_double_click_does_not_answer_the_next_page(at_work):
    server, page, number = at_work()
    Mouse().document(page)  # from here on the button stays in its place
    fill(page)
    posts = count_posts(page)
    box = page.locator("button[value=next]").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
    page.mouse.down(click_count=1)
    page.mouse.up(click_count=1)
    wait_for_position(page, 3)
    page.mouse.down(click_count=2)
    page.mouse.up(click_count=2)
    settle(page)
    assert page.locator("#problem").count() == 0
    Mouse().document(page)
    assert len(posts) == 2
    assert len(server.all_answers(number)) == 3


def test_a_reload_loses_nothing_that_was_typed(at_work):
    server, page, number = at_work()
    Mouse().document(page)
    fill(page, "12.5")
    page.wait_for_function("start => performance.now() > start + 200", arg=page.evaluate("performance.now()"))
    page.reload()
    before = page.evaluate("""() => {
        const now = performance.now();
        performance.now = () => now;  // no time is counted after the reload
        return JSON.parse(sessionStorage.getItem('judgewell.clock')).active / 1000;
    }""")
    assert (kind(page), position(page)) == ("document", 2)
    assert page.locator("#value").input_value() == "12.5"
    assert page.locator("#comment").input_value() == "because it says so"
    Mouse.send(Mouse(), page)
    row = server.answers(number)[-1]
    assert row.value == 12.5
    assert before >= 0.2
    assert row.seconds >= before - 0.05  # the time before the reload counts; it is sent in tenths


@pytest.mark.long
def test_a_second_window_follows_the_first(at_work):
    server, page, number = at_work()
    second = page.context.new_page()
    second.goto(f"{server.address}/work")
    assert step(second) == step(page)
    Mouse().document(page)
    second.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    second.locator("#banner button", has_text="Go to your current page").click()
    wait_for_position(second, 2)
    assert not second.locator("#banner").is_visible()
    assert step(second) == step(page)
    Mouse().document(second)
    before = step(page)
    fill(page, "99")
    page.locator("button[value=next]").click()  # an answer to what the other window has answered
    wait_for_next(page, before)
    assert position(page) == 3
    assert [row.value for row in server.all_answers(number)] == [20, 20]


def test_idle_time_is_told_apart(at_work):
    _, page, _ = at_work()
    page.evaluate("""() => {
        let now = performance.now();
        performance.now = () => now;
        document.dispatchEvent(new Event("focusin"));
        now += 300000; // five minutes without a sign
    }""")
    fill(page)
    with page.expect_request("**/work") as asked:
        Mouse().send(page)
    sent = parse_qs(asked.value.post_data)
    active, idle = float(sent["active"][0]), float(sent["idle"][0])
    assert active >= 120
    assert idle == 180
    assert "highlight" not in sent


def test_the_next_document_shows_after_one_request(at_work):
    _, page, _ = at_work()
    fill(page)
    asked = []
    page.on("request", lambda request: asked.append((request.method, urlsplit(request.url).path)))
    before = page.locator("main").inner_text()
    page.evaluate("""() => new Promise(resolve => {
        new MutationObserver(resolve).observe(document.getElementById('main'), {childList: true});
        document.querySelector('button[value=next]').click();
    })""")
    assert page.locator("main").inner_text() != before
    assert asked == [("POST", "/work")]


@pytest.mark.long
def test_that_words_were_marked_is_stored_with_the_answer(at_work):
    server, page, number = at_work()
    page.keyboard.press("h")
    Mouse().document(page)
    assert page.locator("#highlight").is_checked()  # as the assessor left it
    page.keyboard.press("h")
    Mouse().document(page)
    Mouse().document(page)
    assert [row.highlight for row in server.answers(number)] == [True, True, False]


def test_who_was_away_too_long_is_told_and_goes_on(at_work):
    server, page, number = at_work()
    page.route("**/work/alive", lambda route: route.fulfill(json={"alive": False, "current": True, "seconds": 0}))
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.locator("#banner", has_text="You were away").wait_for()
    Mouse().document(page)
    assert not page.locator("#banner").is_visible()
    assert len(server.answers(number)) == 1


@pytest.mark.long
def test_the_open_page_reports_itself(at_work):
    _, page, _ = at_work()
    with page.expect_response("**/work/alive") as answered:
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert answered.value.json() == {"alive": True, "current": True, "seconds": 600}
    settle(page)
    assert not page.locator("#banner").is_visible()
