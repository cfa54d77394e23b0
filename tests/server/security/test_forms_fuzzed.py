"""Whatever is sent to a form is answered in words: no failure, and nothing that must hold breaks."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
import sqlalchemy as sa
from argon2 import PasswordHasher
from attacking import FRAGMENT, Place, guard_of, step_of
from databases import new_database
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judging import Clock, Study, check_whole, write_study
from payloads import ALL

from judgewell.server.owner import accounts as passwords
from judgewell.server.owner.actions import ACTIONS
from judgewell.server.store.schema import accounts
from judgewell.server.store.transactions import open_store

FUZZED = settings(suppress_health_check=list(HealthCheck))
NUMBERS = [
    "0",
    "-1",
    "1e400",
    "NaN",
    "inf",
    "-inf",
    "9" * 30,
    "9" * 5000,
    "0x10",
    "1_000",
    "\u0661",
    "1" * 12,
    "2147483648",
    "1e-400",
]
TEXTS = st.one_of(st.text(max_size=60), st.sampled_from([*ALL, *NUMBERS, "", "\0", "a\0b", "\ud7ff\ue000", "x" * 3000]))
NAMES = st.sampled_from(
    [
        *("step", "action", "value", "comment", "active", "idle", "highlight", "preferred", "absolute", "left_score"),
        *("guard", "next", "reason", "topic", "docs", "more", "scale", "assessor", "unit", "reservation", "minutes"),
        *("account", "key", "comments", "name", "password", "again", "review", "verdict", "feedback", "choice", ""),
    ]
)
FORMS = st.lists(st.tuples(NAMES | st.text(max_size=8), TEXTS), max_size=12)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Hashing that costs little."""
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher(time_cost=1, memory_cost=64, parallelism=1))
    passwords._nobody.cache_clear()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def place(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    sqlite = request.param == "sqlite"
    url = str(folder / "test.sqlite") if sqlite else new_database(request.getfixturevalue("postgres"))
    store = open_store(url)
    path = write_study(folder / "study", redundancy=50, more="[checks]\ncomment = 1\n[checks.review]\n")
    made = Place(Study(store, path, Clock()))
    made.study.person().until("done")  # something to review
    yield made
    store.close()


def encoded(form):
    return urlencode([(name.encode("utf-8", "replace"), value.encode("utf-8", "replace")) for name, value in form])


def fine(answer):
    assert answer.status_code < 500, answer.text[:300]
    assert "Traceback" not in answer.text


@FUZZED
@given(FORMS, st.sampled_from(["consent", "instructions", "document", "questionnaire"]), st.booleans())
def test_steps(place, form, stage, at_its_turn):
    client, person = place.assessor()
    person.until(stage)
    own = [("step", step_of(client.get("/work").text))] if at_its_turn else []
    for path in ("/work", "/work/alive"):
        headers = {**FRAGMENT, "content-type": "application/x-www-form-urlencoded"}
        fine(client.post(path, content=encoded([*own, *form]), headers=headers))
    fine(client.get("/work"))
    check_whole(place.study.store)


@FUZZED
@given(FORMS, st.sampled_from([*ACTIONS, "nothing"]))
def test_actions(place, form, action):
    owner = place.signed_in()
    before = len(place.study.rows(sa.select(accounts)))
    own = [("guard", guard_of(owner)), ("action", action)]
    fields = ACTIONS[action].fields.model_fields if action in ACTIONS else {}
    chosen = [(name, form[place_ % len(form)][1]) for place_, name in enumerate(fields) if form]
    for sent in ([*own, *form], [*own, *chosen]):
        headers = {"content-type": "application/x-www-form-urlencoded"}
        answer = owner.post("/owner/act", content=encoded(sent), headers=headers)
        fine(answer)
        fine(owner.get("/owner/log"))
    check_whole(place.study.store)
    assert len(place.study.rows(sa.select(accounts))) == before


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_that_no_database_holds(place, number):
    owner = place.signed_in()
    own = {"guard": guard_of(owner), "reason": "x"}
    fine(owner.post("/owner/act", data={**own, "action": "revoke-key", "key": number}))
    fine(owner.post("/owner/act", data={**own, "action": "extend", "assessor": "a", "minutes": number}))
    fine(owner.post("/owner/act", data={**own, "action": "more", "topic": "t0", "docs": "t0d0", "more": number}))
    fine(owner.post("/owner/review", data={**own, "review": number, "verdict": "accept"}))
    for path in ("/owner/assessors/{}", "/owner/log?before={}", "/owner/topics?page={}"):
        fine(owner.get(path.format(number)))


@FUZZED
@given(FORMS, st.text(max_size=40))
def test_doors(place, form, text):
    client = place.stranger(client=("10.0.0.1", 1))
    headers = {"content-type": "application/x-www-form-urlencoded"}
    for path in ("/owner/sign-in", "/owner/link/x", "/owner/sign-out", "/webhooks/prolific"):
        fine(client.post(path, content=encoded(form), headers=headers))
    for path in ("/owner/sign-in", "/join", "/owner/topics", "/i/x"):
        fine(client.get(path, params={name or "x": value for name, value in form}))
    fine(client.get("/work", headers={"cookie": f"{place.cookie}={text.encode('utf-8').hex()}"}))


@FUZZED
@given(FORMS)
def test_reviews(place, form):
    reviewer = place.signed_in("reviewer")
    headers = {"content-type": "application/x-www-form-urlencoded"}
    fine(reviewer.post("/owner/review", content=encoded([("guard", guard_of(reviewer)), *form]), headers=headers))
    fine(reviewer.get("/owner/review"))


@FUZZED
@given(
    st.binary(max_size=400),
    st.sampled_from(["application/x-www-form-urlencoded", "application/json", "x/y; charset=utf-7"]),
)
def test_bytes(place, body, kind):
    client, person = place.assessor()
    owner = place.signed_in()
    for who, path in ((client, "/work"), (owner, "/owner/act"), (owner, "/owner/review"), (owner, "/owner/sign-in")):
        fine(who.post(path, content=body, headers={"content-type": kind}))
    step = step_of(client.get("/work").text)
    fine(client.post("/work", content=f"step={step}&comment=".encode() + body, headers={"content-type": kind}))
    assert person.page.kind


@FUZZED
@given(
    st.lists(
        st.tuples(st.sampled_from(["sort", "text", "page", "down", "all", "before", "topic", "only"]), TEXTS),
        max_size=5,
    )
)
def test_lists(place, query):
    owner = place.signed_in()
    for path in ("/topics", "/topic", "/assessors", "/assessors/999999999999", "/documents", "/log"):
        fine(owner.get(f"/owner{path}?{encoded(query)}"))
