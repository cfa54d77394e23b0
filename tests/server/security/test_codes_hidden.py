"""The code that is worth money is nowhere to be read before the work is done, nor by those who did not do it."""

from __future__ import annotations

import pytest
from attacking import FRAGMENT, Place
from judging import good_answer

CODES = {"completed": "GOOD77", "no_consent": "NOCO77", "failed_quality": "POOR77", "failed_comprehension": "COMP77"}
STUDY = (
    '[platform]\nkind = "panel"\nassessor = "pid"\nsession = "sid"\nstudy = "study"\n'
    'return_link = "https://panel.example/done?c={code}"\n[platform.codes]\nno_work = "NONE77"\n'
    + "".join(f'{name} = "{code}"\n' for name, code in CODES.items())
    + '[checks]\nrevisions = 1\n[[checks.question]]\ntopic = "t0"\nquestion = "What?"\n'
    + 'answers = ["this", "that"]\nright = 1\n'
)
PATHS = ("/work", "/", "/openapi.json", "/healthz", "/static/app.js", "/static/send.js", "/api/v1/study")


@pytest.fixture
def place(tmp_path):
    made = Place.on_sqlite(tmp_path, topics=1, redundancy=5, known=True, more=STUDY)
    yield made
    made.study.store.close()


def come(place, name):
    client = place.stranger()
    client.get("/join", params={"pid": name, "sid": "s", "study": "x"})
    return client


def everything(client):
    """All that a visitor can read just now."""
    found = [client.get(path) for path in PATHS] + [client.get("/work", headers=FRAGMENT)]
    return "".join(answer.text + str(answer.headers) for answer in found)


def walk(place, name, answer):
    """From the door to the end, as `answer` says; what was readable at each stage, and the last kind of page."""
    client, seen = come(place, name), []
    person = place.study.person()
    person.number -= 1  # the one who just came by the platform's link
    page = person.page
    while page.kind not in ("done", "stopped", "no_work"):
        seen.append((page.kind, everything(client)))
        place.study.clock.move(30)
        page = person.send(**answer(page))
    return seen, page.kind, client.get("/work").text


def test_no_stage_before_the_end_tells_any_code(place):
    seen, kind, last = walk(place, "one", good_answer)
    assert kind == "done"
    assert {"consent", "instructions", "topic", "comprehension", "document", "questionnaire"} <= {k for k, _ in seen}
    for stage, text in seen:
        for code in (*CODES.values(), "NONE77"):
            assert code not in text, (stage, code)
    assert CODES["completed"] in last
    assert CODES["failed_quality"] not in last


def careless(page):
    """The same number for all: the known documents give it away."""
    return {**good_answer(page), **({"value": "50"} if page.kind == "document" else {})}


def wrong(page):
    return {**good_answer(page), **({"choice": "2"} if page.kind == "comprehension" else {})}


def refusing(page):
    return {"action": "disagree"}


@pytest.mark.parametrize(
    ("answer", "own"), [(careless, "failed_quality"), (wrong, "failed_comprehension"), (refusing, "no_consent")]
)
def test_who_does_not_do_the_work_never_sees_its_code(place, answer, own):
    seen, kind, last = walk(place, "one", answer)
    assert kind == "stopped"
    for stage, text in seen:
        assert not any(code in text for code in CODES.values()), stage
    assert CODES[own] in last
    assert [code for code in CODES.values() if code in last] == [CODES[own]]
