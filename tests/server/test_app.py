"""The server's addresses: sessions, steps, refusals and what must not be possible."""

import re

import pytest
import sqlalchemy as sa
from judging import Clock, Study, good_answer, write_study
from starlette.testclient import TestClient

from judgewell.server import bundles
from judgewell.server.app import make_app
from judgewell.server.judging import invitations as people
from judgewell.server.limits import LARGEST, Rate
from judgewell.server.store.schema import answers, assessors, identities
from judgewell.server.store.transactions import Unavailable
from judgewell.server.web import HEADERS

PANEL = (
    '[platform]\nkind = "panel"\nassessor = "pid"\nsession = "sid"\nstudy = "study"\n'
    'return_link = "https://panel.example/done?c={code}"\n[platform.codes]\ncompleted = "DONE1"\n'
)
FRAGMENT = {"x-fragment": "1"}


@pytest.fixture
def served(begin):
    """A study, its server, and a way to be somebody."""

    class Server:
        def __init__(self, requests_per_second=1000.0, **settings):
            self.study = begin(**settings)
            self.app = make_app(self.study.store, self.study.clock, requests_per_second)

        def visitor(self):
            return TestClient(self.app, follow_redirects=False, base_url="http://testserver")

        def invited(self):
            person = self.study.person()
            client = self.visitor()
            response = client.get(people.invite_path(self.study.served, person.number))
            assert (response.status_code, response.headers["location"]) == (303, "/work")
            return client, person

    return Server


def step_of(response):
    return re.search(r'name="step" value="([^"]+)"', response.text)[1]


def send(client, response, **form):
    return client.post("/work", data={"step": step_of(response), **form}, headers=FRAGMENT)


def test_an_invited_assessor_goes_from_link_to_thanks(served):
    client, person = served().invited()
    response = client.get("/work")
    kinds = []
    while response.headers["x-page"] != "done":
        kinds.append(response.headers["x-page"])
        response = send(client, response, **good_answer(person.page))
        assert response.status_code == 200
        assert "<html" not in response.text
    assert kinds == ["consent", "instructions", "topic", *["document"] * 4, "questionnaire"]
    whole = client.get("/work")
    assert "<html" in whole.text
    assert whole.headers["x-page"] == "done"


def test_plain_forms_are_answered_by_a_redirect_and_refusals_by_the_same_page(served):
    client, person = served().invited()
    person.until("document")
    first = client.get("/work")
    response = client.post("/work", data={"step": step_of(first), "value": "<b>abc"})
    assert (response.status_code, response.headers["x-page"]) == (422, "document")
    assert "<b>abc" not in response.text
    assert "&lt;b&gt;abc" in response.text
    response = client.post("/work", data={"step": step_of(first), "value": "7"})
    assert (response.status_code, response.headers["location"]) == (303, "/work")
    again = client.post("/work", data={"step": step_of(first), "value": "8"})
    assert again.status_code == 303
    assert step_of(client.get("/work")) != step_of(first)


def test_without_a_session_nothing_is_shown_and_nothing_stored(served):
    server = served()
    client = server.visitor()
    for response in (client.get("/work"), client.get("/"), client.post("/work", data={"step": "0.x"})):
        assert (response.status_code, response.headers["x-page"]) == (403, "trouble")
        assert "This link does not work</h1>" in response.text
        assert "Try again" not in response.text.split("<main")[1]
    for path in ("/i/1.forged", "/i/1", "/join?pid=1", "/nothing", "/owner/owner.forged", "/static/../app.py"):
        assert client.get(path).status_code == 404, path
    client.cookies.set("judgewell", "1")
    assert client.get("/work").status_code == 403


def test_nobody_can_take_a_step_of_another(served):
    server = served()
    mine, me = server.invited()
    _, other = server.invited()
    me.until("document")
    page = other.until("document")
    for forged in (page.step, f"{me.number}:0", "", "0", page.step[:-1], step_of(mine.get("/work")) + "x"):
        response = mine.post("/work", data={"step": forged, "value": "5"})
        assert (response.status_code, response.headers["x-page"]) == (403, "trouble")
    assert not server.study.rows(sa.select(answers))


def test_every_answer_carries_the_security_headers(served):
    client, _ = served().invited()
    for path in ("/work", "/nothing", "/healthz", "/static/base.css"):
        response = client.get(path)
        # styles are for everyone: the sandboxed frame of a document has no origin and takes its style from there
        ours = {"cross-origin-resource-policy": "cross-origin"} if path.startswith("/static") else {}
        for name, value in (HEADERS | ours).items():
            assert response.headers.get_list(name) == [value], (path, name)
    assert client.get("/work").headers["cache-control"] == "no-store"
    assert "immutable" in client.get("/static/base.css?v=1").headers["cache-control"]
    cookie = client.get("/work")
    assert "set-cookie" not in cookie.headers


def test_a_first_visit_asks_for_one_script_and_one_style_sheet_and_never_again(served):
    client, _ = served(requests_per_second=1000.0).invited()
    page = client.get("/work").text
    scripts, styles = re.findall(r'<script[^>]* src="([^"]+)"', page), re.findall(r'stylesheet" href="([^"]+)"', page)
    assert (len(scripts), len(styles)) == (1, 1)
    script, style = client.get(scripts[0]), client.get(styles[0])
    for response in (script, style):
        assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert all(bundles.files()[name].decode() in style.text for name in bundles.STYLES)
    assert not re.search(r"^(import|export) ", script.text, re.MULTILINE)
    for name in (name for name in bundles.files() if name.endswith(".js")):
        assert f"const {name.removesuffix('.js')}_js = (() => {{" in script.text


def test_under_https_browsers_are_told_to_stay_there(served):
    app = served().app
    for scheme, told in (("http", None), ("https", "max-age=31536000")):
        client = TestClient(app, base_url=f"{scheme}://testserver")
        assert client.get("/readyz").headers.get("strict-transport-security") == told


def test_health_is_that_answers_can_be_stored_and_readiness_that_pages_can_be_shown(served, monkeypatch):
    server = served()
    client = server.visitor()
    store = server.study.store
    assert [client.get(path).status_code for path in ("/healthz", "/readyz")] == [200, 200]

    def full(_):
        raise sa.exc.OperationalError("", {}, OSError("database or disk is full"))

    monkeypatch.setattr("judgewell.server.judging.app.PROBE_EVERY", 0.0)
    write = store.write
    monkeypatch.setattr(store, "_patience", 0.0)
    monkeypatch.setattr(store, "write", lambda job: write(full))
    assert [client.get(path).status_code for path in ("/healthz", "/readyz")] == [503, 200]
    monkeypatch.setattr(store, "write", write)
    assert client.get("/healthz").status_code == 200


def test_asking_for_health_again_and_again_writes_once(served, monkeypatch):
    monkeypatch.setattr("judgewell.server.judging.app.PROBE_EVERY", 1e9)
    server, written = served(), []
    write = server.study.store.write
    monkeypatch.setattr(server.study.store, "write", lambda job: written.append(job) or write(job))
    client = server.visitor()
    assert {client.get("/healthz").status_code for _ in range(5)} == {200}
    assert len(written) == 1


def test_the_session_cookie_is_for_the_server_alone(served):
    server = served()
    path = people.invite_path(server.study.served, server.study.person().number)
    said = server.visitor().get(path).headers["set-cookie"].lower()
    assert "httponly" in said
    assert "samesite=lax" in said
    assert "secure" not in said
    secure = TestClient(server.app, follow_redirects=False, base_url="https://testserver").get(path)
    assert "; secure" in secure.headers["set-cookie"].lower()


@pytest.mark.parametrize("size", [LARGEST + 1, 20_000_000])
def test_a_request_too_large_is_refused(served, size):
    client, person = served().invited()
    person.until("document")
    step = step_of(client.get("/work"))
    assert client.post("/work", data={"step": step, "value": "5" * size}).status_code == 413

    def parts():
        yield b"step=" + step.encode() + b"&value="
        for _ in range(size // 1000 + 1):
            yield b"5" * 1000

    assert client.post("/work", content=parts()).status_code == 413
    many = "&".join(f"f{number}=1" for number in range(200))
    assert client.post("/work", content=many).status_code == 413
    assert not person.study.rows(sa.select(answers))


def test_nul_bytes_and_broken_text_are_kept_as_far_as_a_database_can(served):
    client, person = served(more="[checks]\ncomment = 3\n").invited()
    person.until("document")
    body = f"step={step_of(client.get('/work'))}&value=5&comment=ab%00cd%ff%f0".encode()
    assert client.post("/work", content=body, headers=FRAGMENT).status_code == 200
    assert person.study.rows(sa.select(answers.c.comment))[0].comment.startswith("ab�cd")


def test_many_requests_at_once_are_held_back(served):
    client, _ = served(requests_per_second=0.5).invited()
    codes = [client.get("/work").status_code for _ in range(40)]
    assert codes[:2] == [200, 200]
    assert 429 in codes
    assert client.get("/i/forged").status_code == 404
    assert 429 in [client.get("/i/forged").status_code for _ in range(40)]


def test_a_bucket_fills_again_with_time_and_each_visitor_has_their_own():
    clock = Clock(0.0)
    rate = Rate(2.0, 4.0, clock)
    assert [rate.wait("a") for _ in range(6)] == [0, 0, 0, 0, 1, 1]
    assert rate.wait("b") == 0
    clock.move(1.0)
    assert [rate.wait("a") for _ in range(3)] == [0, 0, 1]
    clock.move(3600)
    assert [rate.wait("a") for _ in range(5)] == [0, 0, 0, 0, 1]


def test_a_platform_sends_people_by_its_own_parameters(served):
    server = served(more=PANEL)
    client = server.visitor()
    assert client.get("/join").status_code == 404
    assert client.get("/join?pid=").status_code == 404
    assert client.get(f"/join?pid={'x' * 300}").status_code == 404
    response = client.get("/join?pid=P1&sid=S1&study=X&next=https://evil.example")
    assert (response.status_code, response.headers["location"]) == (303, "/work")
    assert client.get("/work").headers["x-page"] == "consent"
    server.visitor().get("/join?pid=P1&sid=S2")
    server.visitor().get("/join?pid=P2")
    rows = server.study.rows(sa.select(identities).order_by(identities.c.outside))
    assert [(row.outside, row.session) for row in rows] == [("P1", "S2"), ("P2", None)]
    assert len(server.study.rows(sa.select(assessors))) == 2
    assert all("P1" not in row.pseudonym for row in server.study.rows(sa.select(assessors)))


def test_invitations_only_where_the_study_has_no_platform(served):
    assert served().visitor().get("/join?PROLIFIC_PID=P1").status_code == 404


def test_the_code_is_nowhere_before_the_end(served):
    server = served(more=PANEL)
    client = server.visitor()
    client.get("/join?pid=P1")
    number = server.study.rows(sa.select(assessors.c.number))[0].number
    from judging import Person

    person = Person(server.study, number)
    response = client.get("/work")
    while response.headers["x-page"] != "done":
        assert "DONE1" not in response.text + str(response.headers)
        response = send(client, response, **good_answer(person.page))
    assert "https://panel.example/done?c=DONE1" in response.text


def test_the_open_page_reports_itself(served):
    client, person = served().invited()
    person.until("document")
    step = step_of(client.get("/work"))
    assert client.post("/work/alive", data={"step": step}).json() == {"alive": True, "current": True, "seconds": 600.0}
    person.send(value="5")
    assert client.post("/work/alive", data={"step": step}).json()["current"] is False
    assert client.post("/work/alive", data={"step": "1"}).status_code == 403


def test_a_database_that_is_away_is_told_as_503_and_nothing_is_lost(served, monkeypatch):
    server = served()
    client, person = server.invited()
    person.until("document")
    first = client.get("/work")
    with monkeypatch.context() as broken:

        def away(job, own=None):
            raise Unavailable("gone")

        broken.setattr(server.study.store, "write", away)
        response = send(client, first, value="5")
    assert (response.status_code, response.headers["retry-after"]) == (503, "2")
    assert send(client, first, value="5").status_code == 200


def test_a_fault_of_ours_is_told_in_words_and_stores_nothing(served, monkeypatch):
    server = served()
    client, person = server.invited()
    person.until("document")
    first = client.get("/work")
    quiet = TestClient(server.app, follow_redirects=False, raise_server_exceptions=False, cookies=client.cookies)
    with monkeypatch.context() as broken:
        broken.setattr("judgewell.server.session.stage.move", lambda *_, **__: 1 / 0)
        response = send(quiet, first, value="5")
    assert (response.status_code, response.headers["x-page"]) == (500, "trouble")
    assert "Your answers up to here are safe" in response.text
    assert "Try again" in response.text
    assert not server.study.rows(sa.select(answers))
    assert send(client, first, value="5").status_code == 200


def test_an_assessor_is_no_owner(served):
    client, _ = served().invited()
    response = client.get("/owner")
    assert (response.status_code, response.headers["location"]) == (303, "/owner/sign-in?next=%2Fowner")


def test_each_database_has_its_own_secret(tmp_path):
    from judgewell.server.store.transactions import open_store

    secrets = []
    for number in range(2):
        store = open_store(tmp_path / f"{number}.sqlite")
        study = Study(store, write_study(tmp_path / "study"), Clock())
        secrets.append(study.served.secret)
        store.close()
    assert secrets[0] != secrets[1]
    assert all(len(secret) == 64 for secret in secrets)


def test_overdue_places_are_freed_when_somebody_asks_for_work(served):
    server = served(topics=1)
    leaver = server.study.person()
    client, _ = server.invited()
    leaver.until("document")
    server.study.clock.move(server.study.served.silence + 1)
    response = send(client, client.get("/work"), action="agree")
    assert response.headers["x-page"] == "instructions"
