"""One person's work, pages and actions are out of another's reach."""

from __future__ import annotations

import re

import pytest
import sqlalchemy as sa
from attacking import FRAGMENT, Place, guard_of, step_of
from judging import check_whole

from judgewell.server.owner.actions import ACTIONS
from judgewell.server.store.schema import accounts, answers, assessors, audit, pauses, reservations
from judgewell.server.tokens import signed


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    made = Place.on_sqlite(
        tmp_path_factory.mktemp("who"), redundancy=3, more="[checks]\ncomment = 1\n[checks.review]\n"
    )
    yield made
    made.study.store.close()


def rows(place, *tables):
    """Everything stored, to be the same before and after."""
    return [place.study.rows(sa.select(table).order_by(table.c.number)) for table in tables]


def test_a_step_of_another_is_refused_whatever_is_sent(place):
    (mine, me), (theirs, other) = place.assessor(), place.assessor()
    me.until("document")
    other.until("document")
    before = rows(place, answers, reservations, assessors)
    tokens = [step_of(theirs.get("/work").text), step_of(mine.get("/work").text)]
    for cookie_of, token in ((mine, tokens[0]), (theirs, tokens[1])):
        for path in ("/work", "/work/alive"):
            form = {"step": token, "value": "50", "comment": "x", "assessor": "1", "unit": "1", "position": "2"}
            assert cookie_of.post(path, data=form, headers=FRAGMENT).status_code == 403
    assert rows(place, answers, reservations, assessors) == before


def test_a_form_cannot_name_another_unit_assessor_or_place(place):
    client, person = place.assessor()
    person.until("document")
    held = place.study.rows(sa.select(assessors.c.reservation).where(assessors.c.number == person.number))[0][0]
    more = {"assessor": "1", "unit": "999", "position": "3", "reservation": "1", "doc": "t0d0", "turn": "99"}
    step = step_of(client.get("/work").text)
    assert client.post("/work", data={"step": step, "value": "7", "comment": "mine", **more}).status_code == 303
    stored = place.study.rows(sa.select(answers).where(answers.c.comment == "mine"))
    assert [(row.assessor, row.reservation, row.position) for row in stored] == [(person.number, held, 1)]
    check_whole(place.study.store)


@pytest.mark.parametrize("purpose", ["session", "step", "invite", "guard", "owner", "told"])
def test_a_signature_holds_for_its_own_purpose_only(place, purpose):
    """What one of our own links or forms carries opens nothing else."""
    _, person = place.assessor()
    token = signed(place.study.served.secret, purpose, str(person.number))
    stranger = place.stranger()
    stranger.cookies.set(place.cookie, token)
    assert stranger.get("/work").status_code == (200 if purpose == "session" else 403)
    assert place.stranger().get(f"/i/{token}").status_code == (303 if purpose == "invite" else 404)
    assert place.stranger().get(f"/owner/link/{token}").status_code == 404
    assert place.stranger().get(f"/owner/{token}").status_code in (303, 404)


def test_swapped_cookies_open_nothing(place):
    client, _ = place.assessor()
    session, owner = client.cookies[place.cookie], place.key("owner")
    for name, value in (
        (f"{place.cookie}-owner", session),
        (place.cookie, owner),
        (f"__Host-{place.cookie}-owner", owner),  # over plain HTTP no browser would hold it
        (f"{place.cookie}-owner", place.key("owner", "token", ("read", "write"))),
        (f"{place.cookie}-owner", place.key("owner", "link")),
        (f"{place.cookie}-owner", session[:-2]),
    ):
        stranger = place.stranger()
        stranger.cookies.set(name, value)
        assert stranger.get("/owner").status_code == 303, name
        assert stranger.get("/owner/review").status_code == 303, name
        assert stranger.get("/work").status_code == 403, name


def test_every_address_of_the_owners_needs_the_owners_session(place):
    """Addresses are taken from the server itself, so that a new one is held to it too."""
    open_to_all = {"/owner/sign-in", "/owner/link/{secret}", "/owner/static/{name}", "/owner/"}
    for_reviewers = {"/owner/review", "/owner/sign-out"}
    found = [route for route in _routes(place.app) if route[0].startswith("/owner") and route[0] not in open_to_all]
    assert len(found) > 10
    assessor, _ = place.assessor()
    reviewer = place.signed_in("reviewer")
    for path, method in found:
        address = re.sub(r"\{[^}]*\}", "1", path)
        for nobody in (place.stranger(), assessor):
            answer = nobody.request(method, address)
            assert answer.status_code == 303, (method, path)
            assert answer.headers["location"].startswith("/owner/sign-in")
            assert nobody.request(method, address, headers={"sec-fetch-mode": "cors"}).status_code == 401
        if path not in for_reviewers:
            answer = reviewer.request(method, address)
            elsewhere = (answer.status_code, answer.headers.get("location")) == (303, "/owner/review")
            assert answer.status_code == 403 or elsewhere, (method, path)


def _routes(app):
    from starlette.routing import Route

    def walk(routes):
        for route in routes:
            inner = getattr(route, "routes", None) or getattr(getattr(route, "original_router", None), "routes", None)
            if inner:
                yield from walk(inner)
            elif isinstance(route, Route) or hasattr(route, "methods"):
                yield from ((route.path, method) for method in route.methods if method != "HEAD")

    return list(walk([*app.routes, *app.router.default.app.routes]))


def test_a_reviewer_can_do_nothing_but_review(place):
    client = place.signed_in("reviewer")
    guard = guard_of(client)
    before = rows(place, accounts, audit), place.study.rows(sa.select(pauses))
    for name in ACTIONS:
        form = {
            "action": name,
            "guard": guard,
            "account": "owner 1",
            "reason": "x",
            "assessor": "a",
            "reservation": "1",
        }
        assert client.post("/owner/act", data=form).status_code == 403
    assert (rows(place, accounts, audit), place.study.rows(sa.select(pauses))) == before
    dashboard = client.get("/owner/review").text
    assert "/owner/assessors" not in dashboard


def test_no_part_of_the_api_opens_without_its_scope(place):
    assert place.stranger().get("/openapi.json").status_code in (303, 401)
    paths = place.signed_in().get("/openapi.json").json()["paths"]
    keys = {scope: place.key("owner", "token", (scope,)) for scope in ("read", "write")}
    session, reviewers = place.key("owner"), place.key("reviewer", "token", ("read", "write"))
    calls = [(re.sub(r"\{[^}]*\}", "t0", path), method) for path, found in paths.items() for method in found]
    assert len(calls) > 20
    for path, method in calls:
        needs, lacks = ("read", "write") if method == "get" else ("write", "read")

        def ask(key, path=path, method=method):
            headers = {"authorization": f"Bearer {key}"} if key else {}
            return place.stranger().request(method, path, headers=headers, content=b"{").status_code

        assert [ask(key) for key in (None, "x", session, keys[lacks], reviewers)] == [401, 401, 401, 403, 403], path
        assert ask(keys[needs]) not in (401, 403), path
    owner = place.signed_in()  # a browser's session is no token: no other site can use it for the API
    assert owner.get("/api/v1/study").status_code == 401


def test_an_assessors_own_address_shows_nobody_elses_words(place):
    (mine, me), (_, other) = place.assessor(), place.assessor()
    page = other.until("document")
    other.send(value="7", comment="a secret thought of another")
    me.until("document")
    text = "".join(mine.get(path).text for path in ("/work", "/work?assessor=1", f"/work?unit=1&step={page.step}"))
    assert "secret thought" not in text
    assert page.step not in text
