"""A real browser, hand-made pages, and real servers of small studies."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from judging import write_study
from page_server import page_server
from playwright.sync_api import Browser, Page
from real_server import RealServer
from sample_pages import all_pages, unsafe_text
from waiting import HANG

QUESTIONS = "".join(
    f'[[checks.question]]\ntopic = "t{topic}"\nquestion = "What is it about?"\nanswers = ["this", "that"]\nright = 1\n'
    for topic in range(2)
)
SETTINGS = (
    '[work]\nhighlight = true\n[platform]\nkind = "panel"\ncodes = {completed = "DONE1"}\n'
    "[checks]\ncomment = 3\n" + QUESTIONS
)
PRACTICE = "[checks.practice]\nlengths = [40.0, 120.0, 260.0]\n"
QUIZ = '[checks.quiz]\npass_mark = 0.5\n[[checks.quiz.pair]]\nleft = "good"\nright = "bad"\nbetter = "left"\n'


@pytest.fixture(scope="session")
def sample_address() -> Iterator[str]:
    with page_server({**all_pages(), "unsafe": unsafe_text()}) as address:
        yield address


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """A new window of its own person; everything that a page complains about fails the test."""
    contexts, complaints = [], []

    def make(width: int = 1280, height: int = 800, **options: object) -> Page:
        context = chromium.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce", **options)  # type: ignore[arg-type]
        context.set_default_timeout(HANG * 1000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield make
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], RealServer]]:
    """A server for each kind of study, started when it is first asked for; every test brings its own assessor."""
    running: dict[str, RealServer] = {}

    def serve(kind: str) -> RealServer:
        if kind not in running:
            folder = tmp_path_factory.mktemp(kind)
            checks = {"magnitude": PRACTICE, "pairs": QUIZ}.get(kind, "")
            known = kind == "known"  # a study that finds out who gives every document the same
            scale = "binary" if known else kind
            study = write_study(folder, kind=scale, known=known, redundancy=20, more=SETTINGS + checks)
            running[kind] = RealServer(study, folder / "test.sqlite")
            running[kind].start()
        return running[kind]

    yield serve
    for server in running.values():
        server.stop()
