"""Another site can neither act for somebody who is signed in nor send them away; no words get into headers or logs."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from attacking import Place, guard_of, step_of
from payloads import ONE

from judgewell.server.owner import accounts as passwords
from judgewell.server.owner.access import local
from judgewell.server.store.schema import accounts, answers, audit, pauses
from judgewell.server.web import HEADERS

CROSS = {"origin": "https://evil.example", "sec-fetch-site": "cross-site", "referer": "https://evil.example/x"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    made = Place.on_sqlite(tmp_path_factory.mktemp("cross"), more="[checks.review]\n[checks]\ncomment = 1\n")
    yield made
    made.study.store.close()


def paused(place):
    return place.study.rows(sa.select(pauses))


@pytest.mark.parametrize("headers", [{}, CROSS])
def test_forms_of_owners_need_their_own_guard(place, headers):
    owner, other = place.signed_in(), place.signed_in()
    stranger_guard = guard_of(other)
    for guard in ("", stranger_guard, stranger_guard[:-1], "1.x", guard_of(owner)[:-3] + "abc"):
        for path, form in (
            ("/owner/act", {"action": "pause", "reason": "x"}),
            ("/owner/review", {"review": "1", "verdict": "object", "reason": "x"}),
            ("/owner/sign-out", {}),
        ):
            assert owner.post(path, data={**form, "guard": guard}, headers=headers).status_code == 403, (path, guard)
    assert paused(place) == []
    assert owner.get("/owner").status_code == 200  # not signed out


@pytest.mark.parametrize("kind", ["text/plain", "multipart/form-data; boundary=x", "application/json"])
def test_forms_in_other_clothes_are_no_forms(place, kind):
    """What another site can send without asking first never carries a guard."""
    owner = place.signed_in()
    body = (
        '--x\r\nContent-Disposition: form-data; name="action"\r\n\r\npause\r\n--x--'
        if "multi" in kind
        else '{"action":"pause"}'
    )
    answer = owner.post("/owner/act", content=body, headers={"content-type": kind, **CROSS})
    assert answer.status_code == 403
    assert paused(place) == []


def test_no_action_is_done_by_a_link(place):
    owner = place.signed_in()
    guard = guard_of(owner)
    for path in ("/owner/act", "/owner/sign-out"):
        assert owner.get(f"{path}?action=pause&reason=x&guard={guard}").status_code in (404, 405)
    owner.get(f"/owner?action=pause&reason=x&guard={guard}")
    owner.post(f"/owner?action=pause&guard={guard}")
    assert paused(place) == []


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE", "OPTIONS", "CONNECT", "PROPFIND", "BREW"])
def test_other_methods_do_nothing(place, method):
    owner = place.signed_in()
    guard = guard_of(owner)
    for path in ("/owner/act", "/work", "/owner/sign-in", "/api/v1/actions/pause", "/i/x", "/static/app.js"):
        answer = owner.request(method, path, data={"action": "pause", "reason": "x", "guard": guard})
        assert answer.status_code in (401, 404, 405), (method, path, answer.status_code)
        assert guard not in answer.text
    override = {"x-http-method-override": "POST", "x-method-override": "POST"}
    owner.get("/owner/act", headers=override, params={"_method": "POST", "action": "pause", "guard": guard})
    assert paused(place) == []


def test_a_step_from_another_site_stores_nothing(place):
    client, person = place.assessor()
    person.until("document")
    before = place.study.rows(sa.select(sa.func.count()).select_from(answers))
    assert client.post("/work", data={"value": "5", "comment": "x"}, headers=CROSS).status_code == 403
    assert place.study.rows(sa.select(sa.func.count()).select_from(answers)) == before


def with_password(place, name, password):
    """An account that can sign in."""
    place.key("owner")
    stored = passwords.PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash(password)
    newest = sa.select(sa.func.max(accounts.c.number)).scalar_subquery()
    change = sa.update(accounts).values(name=name, password=stored).where(accounts.c.number == newest)
    place.study.store.write(lambda connection: connection.execute(change).rowcount).result()
    return {"name": name, "password": password}


FOREIGN = [
    *({**CROSS, "sec-fetch-site": site} for site in ("cross-site", "same-site", "", "x")),
    {"origin": "http://testserver", "sec-fetch-site": "same-site"},  # a neighbour under the same domain is another site
    *({"origin": origin} for origin in ("https://evil.example", "null", "", "http://testserver.evil.example")),
    *({"origin": origin} for origin in ("http://evil.example/testserver", "http://testserver@evil.example")),
    *({"origin": origin} for origin in ("http://testserver:81", "testserver", "//", "http://sub.testserver")),
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_another_site_signs_nobody_in(place, headers):
    """Not even with the right password: the victim would work in the attacker's account."""
    form = with_password(place, f"Ada {len(place.study.rows(sa.select(accounts)))}", "the right password")
    stranger = place.stranger(headers={})
    for path in ("/owner/sign-in", "/owner/sign-in?sec-fetch-site=same-origin"):
        answer = stranger.post(path, data=form, headers=headers)
        assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    assert stranger.post("/owner/sign-in", data=form).status_code == 403  # neither header: no browser
    ours = {"sec-fetch-site": "same-origin"} if "sec-fetch-site" in headers else {"origin": "http://testserver"}
    assert stranger.post("/owner/sign-in", data=form, headers=ours).is_redirect


def test_the_sign_in_form_says_where_it_comes_from(chromium, tmp_path):
    """A browser that hides the address of a page hides its origin too, which then could not be checked."""
    from owner_server import owner_server

    made = Place.on_sqlite(tmp_path, topics=1)
    form = with_password(made, "Ada", "the right password")
    with owner_server(made.study.store, made.study.clock) as owner:
        page = chromium.new_page()
        page.goto(f"{owner.address}/owner/sign-in")
        for field, text in form.items():
            page.fill(f"#{field}", text)
        with page.expect_request(lambda request: request.method == "POST") as sent:
            page.press("#password", "Enter")
        page.wait_for_url(f"{owner.address}/owner")
        assert sent.value.all_headers()["origin"] == owner.address
        page.close()


def test_cookies_stay_here(place):
    from judgewell.server.judging import invitations as people

    for scheme in ("http", "https"):
        client = place.stranger(base_url=f"{scheme}://testserver")
        given = client.get(people.invite_path(place.study.served, place.study.person().number)).headers["set-cookie"]
        assert "HttpOnly" in given
        assert "samesite=lax" in given.lower()
        assert "domain=" not in given.lower()
        assert ("Secure" in given) == (scheme == "https")


def test_no_other_origin_reads_an_answer(place):
    owner = place.signed_in()
    for path in ("/owner", "/work", "/api/v1/study", "/openapi.json", "/healthz", "/static/app.js"):
        answer = owner.get(path, headers={"origin": "https://evil.example"})
        assert "access-control-allow-origin" not in answer.headers
        asked = owner.options(path, headers={"origin": "https://evil.example", "access-control-request-method": "POST"})
        assert "access-control-allow-origin" not in asked.headers


AWAY = [
    *("https://evil.example", "//evil.example", "///evil.example", "/\\evil.example", "\\/evil.example", "http:evil"),
    *("/\t/evil.example", "/\n/evil.example", " //evil.example", "\u0000//evil.example", "javascript:alert(1)"),
    *(
        "data:text/html,x",
        "/%0d%0aset-cookie:x=1\r\nx: y",
        "/owner\r\nset-cookie: a=b",
        "////evil.example",
        "x//y",
        "@evil",
    ),
    *("/\u2028x", "https:/evil.example", "HTTPS://EVIL.example", "//evil.example@testserver/", "/\u202e/x"),
]


@pytest.mark.parametrize("where", AWAY)
def test_nobody_is_sent_away(place, where):
    assert local(where) == "/owner"
    owner = place.signed_in()
    form = {"action": "resume", "guard": guard_of(owner), "next": where}
    answer = owner.post("/owner/act", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/owner")
    assert 'name="next" value="/owner"' in place.stranger().get("/owner/sign-in", params={"next": where}).text


def test_inner_paths_are_gone_to():
    for where in ("/owner", "/owner/topic?topic=a%20b&x=//y", "/owner/review#x"):
        assert local(where) == where


@pytest.mark.parametrize("host", ["evil.example", "evil.example:99", "testserver@evil.example"])
def test_a_forged_host_leads_nowhere(place, host):
    for path in ("/owner", "/owner/", "/", "/work/", "/owner/topics/", "/i/x", "/static"):
        answer = place.stranger().get(path, headers={"host": host, "x-forwarded-host": host})
        location = answer.headers.get("location", "/")
        assert location.startswith("/"), (path, location)
        assert not location.startswith("//"), (path, location)


def test_headers_hold_no_word_of_a_visitor(place):
    """Line breaks in whatever is sent end up in no header of the answer."""
    owner = place.signed_in()
    bad = "x\r\nset-cookie: evil=1\r\n\r\n<script>"
    answers_given = [
        owner.get("/owner/topics", params={"text": bad, "sort": bad}),
        owner.post("/owner/act", data={"action": "resume", "guard": guard_of(owner), "next": bad, "topic": bad}),
        owner.post("/owner/act", data={"action": bad, "guard": guard_of(owner)}),
        place.stranger().get("/join", params={"pid": bad}),
        place.stranger().get("/owner/x%0d%0aset-cookie:%20evil=1"),
        place.stranger().get("/static/%0d%0aset-cookie:%20evil=1"),
    ]
    for answer in answers_given:
        assert "evil" not in answer.cookies
        assert not any("\n" in value or "\r" in value for value in answer.headers.values())
        assert answer.status_code < 500


def test_the_log_holds_one_line_for_one_act(place):
    """Line breaks in names and reasons stay inside their own entry."""
    owner = place.signed_in()
    forged = "done\n2027-01-01 root disabled account owner\r\n" + ONE
    before = len(place.study.rows(sa.select(audit)))
    owner.post("/owner/act", data={"action": "pause", "guard": guard_of(owner), "reason": forged})
    place.stranger().post("/owner/sign-in", data={"name": forged, "password": "x" * 20})
    owner.post("/owner/act", data={"action": "resume", "guard": guard_of(owner)})
    written = place.study.rows(sa.select(audit))[before:]
    assert [row.action for row in written] == ["pause", "sign-in refused", "resume"]
    assert written[1].target is None  # a name that nobody has is not written: it may be a mistyped password


def test_every_answer_has_the_whole_policy(place):
    owner, (client, person) = place.signed_in(), place.assessor()
    person.until("document")
    for answer in (
        *(owner.get(f"/owner{path}") for path in ("", "/topics", "/assessors", "/log", "/review", "/none")),
        *(client.get(path) for path in ("/work", "/none", "/static/app.js", "/static/none.js", "/healthz", "/join")),
        client.post("/work", data={"step": step_of(client.get("/work").text), "value": "x"}),
        place.stranger().get("/api/v1/study"),
        place.stranger().get("/openapi.json"),
        place.stranger().post("/work", content=b"x", headers={"content-length": "99999999"}),
    ):
        policy = answer.headers["content-security-policy"]
        assert policy == HEADERS["content-security-policy"], answer.url
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "cache-control" in answer.headers
    rules = dict(part.strip().split(" ", 1) for part in HEADERS["content-security-policy"].split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == "'self'"
    assert rules["base-uri"] == rules["frame-ancestors"] == "'none'"
    assert not any(word in str(rules) for word in ("unsafe", "*", "http"))
