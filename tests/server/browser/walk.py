"""People in a browser: one uses the mouse (or a finger), the other touches nothing but the keyboard."""

from __future__ import annotations

from playwright.sync_api import Page

WHY = "because it says so"


def kind(page: Page) -> str:
    return page.locator("#sheet").get_attribute("data-kind") or ""


def position(page: Page) -> int:
    return int(page.locator("progress").get_attribute("value") or 0)


def wait_for_position(page: Page, number: int) -> None:
    page.locator(f'progress[value="{number}"]').wait_for()


def step(page: Page) -> str:
    return page.locator("#sheet").get_attribute("data-step") or ""


def wait_for_next(page: Page, before: str) -> None:
    page.wait_for_function("before => document.getElementById('sheet')?.dataset.step !== before", arg=before)


class Mouse:
    """Clicks what is to be clicked and types into the fields it has clicked."""

    def answer(self, page: Page) -> None:
        getattr(self, kind(page))(page)

    def send(self, page: Page) -> None:
        before = step(page)
        page.locator("button[value=next]").click()
        wait_for_next(page, before)

    def consent(self, page: Page) -> None:
        before = step(page)
        page.locator("button[value=agree]").click()
        wait_for_next(page, before)

    def instructions(self, page: Page) -> None:
        self.send(page)

    topic = revise = instructions

    def practice(self, page: Page) -> None:
        page.locator("#value").fill(page.locator("rect").get_attribute("width") or "")
        self.send(page)

    def comprehension(self, page: Page) -> None:
        page.get_by_text("this", exact=True).click()
        self.send(page)

    def quiz(self, page: Page) -> None:
        page.locator(".card").first.click()
        self.send(page)

    def document(self, page: Page) -> None:
        if page.locator(".card").count():
            page.locator(".card").nth(1).click()
        elif page.locator("#slider").count():
            box = page.locator("#slider").bounding_box()
            assert box
            page.locator("#slider").click(position={"x": box["width"] * 0.8, "y": box["height"] / 2})
        else:
            page.locator("#value").fill("20")
        page.locator("#comment").fill(WHY)
        self.send(page)

    def pair(self, page: Page) -> None:
        page.locator(".asks-preference .card").first.click()
        page.locator(".asks-absolute .card").last.click()
        page.locator("#left_score").fill("3")
        page.locator("#right_score").fill("1.5")
        page.locator("#comment").fill(WHY)
        self.send(page)

    def questionnaire(self, page: Page) -> None:
        if page.locator(".card").count():
            page.locator(".card").first.click()
        page.locator("textarea").fill("All fine.")
        self.send(page)


class Keyboard(Mouse):
    """Presses keys and nothing else; the keys are the ones printed on the buttons."""

    def press(self, page: Page, *keys: str) -> None:
        for key in keys:
            page.keyboard.press(key)

    def send(self, page: Page, key: str = "Enter") -> None:
        before = step(page)
        page.keyboard.press(key)
        wait_for_next(page, before)

    def consent(self, page: Page) -> None:
        self.send(page, "1")

    def practice(self, page: Page) -> None:
        self.press(page, *(page.locator("rect").get_attribute("width") or ""))
        self.send(page)

    def comprehension(self, page: Page) -> None:
        self.press(page, "1")
        self.send(page)

    quiz = comprehension

    def document(self, page: Page) -> None:
        self.press(page, *(["1"] if page.locator(".card").count() else ["8", "0", "Escape"]), "c")
        page.keyboard.type(WHY)
        self.send(page, "Control+Enter")

    def pair(self, page: Page) -> None:
        self.press(page, "1", "5", "l", "3", "Escape", "r", "1", "Escape", "c")
        page.keyboard.type(WHY)
        self.send(page, "Control+Enter")

    def questionnaire(self, page: Page) -> None:
        if page.locator(".card").count():
            first = page.locator(".card input").first
            self.press(page, first.get_attribute("data-key") or "")
            assert first.is_checked()
        self.press(page, page.locator("textarea").get_attribute("data-key") or "")
        page.keyboard.type("All fine.")
        self.send(page, "Control+Enter")


def walk(page: Page, person: Mouse, until: str = "done", most: int = 40) -> list[str]:
    """Answer page after page until one of this kind shows; the kinds that were seen."""
    seen = []
    for _ in range(most):
        if kind(page) == until:
            return seen
        seen.append(kind(page))
        person.answer(page)
        assert page.locator("#problem").count() == 0, page.locator("#problem").inner_text()
    raise AssertionError(f"still at {kind(page)}")
