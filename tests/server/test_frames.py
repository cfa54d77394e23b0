"""A page put into its frame is the page rendered whole."""

from dataclasses import replace

import pytest

from judgewell.server.frames import Frames
from judgewell.server.web import environment

TEXTS = 'Is 1 < 2 & "so on"? \ue0000\ue001 Document'


@pytest.mark.parametrize("settings", [{"kind": kind} for kind in ("magnitude", "ordinal", "s100", "pairs")])
def test_a_page_in_its_frame_is_the_page_rendered_whole(begin, settings):
    study = begin(topics=3, docs=6, size=3, redundancy=2, text=TEXTS.replace('"', "'"), **settings)
    frames = Frames(environment().get_template("page.html"), static_version="1")
    seen, shapes = 0, set()
    for person in (study.person(), study.person()):
        page = person.until("document", "pair")
        while page.kind != "no_work":
            if page.kind in ("document", "pair"):
                whole = frames.text(replace(page, shape=None))
                assert frames.text(page) == frames.text(page) == whole
                assert page.step in whole
                seen, shapes = seen + 1, shapes | {page.shape}
            study.clock.move(30)
            page = person.send(**person.good(page))
    assert 1 < len(shapes) < seen


def test_a_problem_and_what_was_typed_show_on_a_page_with_a_frame(begin):
    person = begin(topics=1).person()
    frames = Frames(environment().get_template("body.html"), static_version="1")
    frames.text(person.until("document"))
    refused = frames.text(person.send(value="-5"))
    assert 'value="-5"' in refused
