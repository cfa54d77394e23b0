"""The owner's pages over HTTP: who may look, what they show, that they live, and that nothing hostile gets through."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import sqlalchemy as sa
from databases import new_database
from judging import Clock, Person, Study, write_study
from owner_server import let_in
from owner_studies import write_graded_study
from starlette.testclient import TestClient

from judgewell.assessors.people import make_people
from judgewell.assessors.simulation import BEGIN, fill
from judgewell.server.app import make_app
from judgewell.server.judging.invitations import new_assessor
from judgewell.server.owner import live_cache
from judgewell.server.owner.live_analysis import insight
from judgewell.server.queries.export import export
from judgewell.server.store.schema import MACHINE, assessors, machines, topics
from judgewell.server.store.transactions import Store, open_store

PAGES = ("", "/topics", "/assessors", "/documents", "/checks", "/money", "/log")
HOSTILE = "<script>alert(1)</script>\"'<img src=x onerror=alert(2)>"


@dataclass(frozen=True)
class Looking:
    """Somebody signed in, and the study they look at."""

    client: TestClient
    store: Store

    def get(self, path: str, **headers: str) -> str:
        response = self.client.get(f"/owner{path}", headers=headers)
        assert response.status_code == 200, (path, response.text[:300])
        return response.text


def sign_in(store: Store, now: float, clock: Callable[[], float], role: str = "owner") -> TestClient:
    app = make_app(store, clock, 1000.0)
    client = TestClient(app, follow_redirects=False)
    name = re.search(r"judgewell-[0-9a-f]{8}", client.get("/owner").headers.get("set-cookie", "")) or cookie_of(store)
    client.cookies.set(f"{name}-owner", let_in(store, now, role))
    return client


def cookie_of(store: Store) -> str:
    import hashlib

    from judgewell.server.store.schema import study

    secret = store.read(lambda connection: connection.execute(sa.select(study.c.secret)).scalar_one()).result()
    return f"judgewell-{hashlib.sha256(secret.encode()).hexdigest()[:8]}"


@pytest.fixture(scope="module")
def looking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Looking]:
    """A filled study of which everything that people can name is hostile."""
    folder = tmp_path_factory.mktemp("looking")
    study = write_graded_study(folder, topics=4, docs=10, size=5, redundancy=4, most=4)
    store = open_store(folder / "study.sqlite")
    fill(store, study, make_people(14, 3), seed=3)

    def spoil(connection: sa.Connection) -> None:
        connection.execute(sa.update(topics).values(title=HOSTILE))
        connection.execute(sa.update(assessors).values(label=HOSTILE))
        from judgewell.server.store.schema import answers, verdicts

        connection.execute(sa.update(answers).values(comment=HOSTILE))
        connection.execute(sa.update(verdicts).values(reason=HOSTILE))

    store.write(spoil).result()
    now = BEGIN + 3600
    client = sign_in(store, now, lambda: now)
    yield Looking(client, store)
    store.close()


def test_only_owners_look(looking, tmp_path):
    stranger = TestClient(looking.client.app, follow_redirects=False)
    reviewer = TestClient(looking.client.app, follow_redirects=False)
    reviewer.cookies.set(f"{cookie_of(looking.store)}-owner", let_in(looking.store, BEGIN + 3600, "reviewer"))
    for path in (*PAGES, "/assessors/1", "/topic?topic=t000"):
        answer = stranger.get(f"/owner{path}")
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/owner/sign-in")
        refused = reviewer.get(f"/owner{path}")
        if path:
            assert refused.status_code == 403
        else:  # a reviewer's first page is the review
            assert (refused.status_code, refused.headers["location"]) == (303, "/owner/review")


@pytest.mark.parametrize("path", [*PAGES, "/assessors/3", "/topic?topic=t000"])
def test_pages_hold_nothing_hostile_and_nothing_inline(looking, path):
    text = looking.get(path)
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "style=" not in text
    assert not re.search(r"\son\w+\s*=\s*[\"'\w]", re.sub(r"&[#\w]+;", "", text.replace("onerror=alert(2)", "")))
    scripts = re.findall(r"<script[^>]*>", text)
    assert all('src="/owner/static/' in script for script in scripts)


def test_what_is_hostile_is_shown_as_text(looking):
    assert "&lt;script&gt;alert(1)" in looking.get("/topics")
    assert "&lt;script&gt;alert(1)" in looking.get("/assessors")
    trail = looking.get("/assessors/3")
    assert trail.count("&lt;script&gt;alert(1)") > 5


def test_an_unchanged_page_is_answered_in_a_word(looking):
    first = looking.client.get("/owner/checks", headers={"X-Fragment": "1"})
    assert "<html" not in first.text
    again = looking.client.get("/owner/checks", headers={"X-Fragment": "1", "If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.text) == (304, "")
    change = sa.update(assessors).where(assessors.c.number == 1).values(moved=BEGIN + 3599)
    before = looking.client.get("/owner/assessors/1").headers["etag"]
    looking.store.write(lambda connection: connection.execute(change).rowcount).result()
    after = looking.client.get("/owner/assessors/1", headers={"If-None-Match": before})
    assert after.status_code == 200


@pytest.mark.parametrize(
    "query", ["sort=password", "sort=__class__", "page=999", "page=-1", "down=x", "text=%00", "all=1"]
)
def test_odd_orders_and_pages_are_not_followed(looking, query):
    for path in ("/topics", "/assessors", "/documents"):
        looking.get(f"{path}?{query}")


def test_sorting_and_finding_on_the_server(looking):
    def order(query: str) -> list[str]:
        return re.findall(r'data-value="(t\d+)"', looking.get(f"/topics?{query}"))

    assert order("sort=topic&down=1") == sorted(order("sort=topic"), reverse=True)
    assert len(order("sort=topic")) == 4
    assert order("text=t002") == ["t002"]
    assert "No topic matches this search" in looking.get("/topics?text=nothing+like+it")


def test_what_is_not_there_is_not_found(looking):
    for path in (
        "/assessors/999999",
        "/assessors/x",
        "/assessors/1e3",
        "/topic?topic=none",
        "/topic",
        "/static/app.py",
    ):
        assert looking.client.get(f"/owner{path}").status_code == 404, path


def test_static_files_are_served_and_kept(looking):
    for name in ("dashboard.css", "dashboard.js", "sorting.js", "times.js"):
        response = looking.client.get(f"/owner/static/{name}")
        assert response.status_code == 200
        assert "immutable" in response.headers["cache-control"]
        assert response.headers["content-type"].startswith(("text/css", "text/javascript"))


def test_many_topics_come_in_pages(tmp_path):
    store = open_store(tmp_path / "many.sqlite")
    study = Study(store, write_study(tmp_path / "study", topics=230, docs=2, size=2), Clock())
    client = sign_in(store, study.clock(), study.clock)
    first = client.get("/owner/topics").text
    assert first.count('<tr>\n      <th scope="row"') == 100
    assert "Page 1 of 3" in first
    assert client.get("/owner/topics?page=3").text.count('<tr>\n      <th scope="row"') == 30
    assert client.get("/owner/topics?all=1").text.count('<tr>\n      <th scope="row"') == 230
    assert "No judgments yet" in client.get("/owner").text
    assert "No one has been invited" in client.get("/owner").text
    store.close()


def test_who_works_is_shown_and_released(begin, clock):
    study = begin(topics=1, docs=4, size=4, redundancy=2)
    person = study.person()
    person.until("document")
    person.send(**person.good())
    client = sign_in(study.store, clock(), clock)
    text = client.get("/owner").text
    name = study.rows(sa.select(assessors.c.pseudonym))[0][0]
    assert name in text
    assert "2 of 4" in text
    guard = re.search(r'name="guard" value="([^"]+)"', text)[1]
    form = {"action": "release", "guard": guard, "next": "/owner", "assessor": name}
    assert client.post("/owner/act", data=form).status_code == 303
    after = client.get("/owner").text
    assert "No one is working right now" in after
    assert "1 unit is released; someone else can take over." in after
    assert "release" in client.get("/owner/log").text


def test_every_form_of_the_pages_is_an_action_that_takes_its_fields(looking):
    from judgewell.server.owner.actions import ACTIONS, read_fields

    found = set()
    for path in ("", "/topics", "/assessors", "/assessors/3", "/documents"):
        for form in re.findall(r'<form class="act".*?</form>', looking.get(path), re.DOTALL):
            fields = dict(re.findall(r'<input type="(?:hidden|number)" name="(\w+)" value="([^"]*)"', form))
            if 'name="reason"' in form:
                fields["reason"] = "because"
            action = ACTIONS[fields.pop("action")]
            assert fields.pop("guard")
            assert fields.pop("next").startswith("/owner")
            read_fields(action, fields)
            found.add(action.name)
    assert found >= {"pause", "exclude"}


def test_two_servers_on_postgresql_show_the_same_truth_at_once(postgres, tmp_path: Path):
    address = new_database(postgres)
    one, other = open_store(address), open_store(address)
    clock = Clock()
    study = Study(one, write_study(tmp_path / "study", topics=2, docs=4, size=4, redundancy=2), clock)
    first = sign_in(one, clock(), clock)
    second = TestClient(make_app(other, clock, 1000.0), follow_redirects=False)
    for name, value in first.cookies.items():
        second.cookies.set(name, value)
    seen = set()
    for _ in range(3):
        person = study.person()
        person.until("document")
        person.send(**person.good())
        for path in ("", "/topics", "/assessors", "/money"):
            texts = [client.get(f"/owner{path}").text for client in (first, second)]
            assert "</html>" in texts[0]
            assert _counted(texts[0]) == _counted(texts[1]), path
        seen.add(_counted(texts[0]) + _counted(first.get("/owner").text))
    assert len(seen) == 3  # and the truth changed each time
    other.close()
    one.close()


def _counted(text: str) -> str:
    """A page without what is computed, which says its own time."""
    return re.sub(
        r'<section data-live id="(quality|look-at)">.*?</section>|<p class="small as-of".*?</p>',
        "",
        text,
        flags=re.DOTALL,
    )


def test_nothing_is_claimed_before_it_is_computed_and_failed_checks_show_at_once(begin, clock):
    study = begin(topics=2, known=True, more="[checks]\nrevisions = 0\n")
    client = sign_in(study.store, clock(), clock)
    person = study.person()
    page = person.until("document")
    while page.kind == "document":
        page = person.send(value="5", comment="all the same")
    first = client.get("/owner").text
    assert "No unusual assessor" not in first
    assert "failed “known documents in order”" in first
    assert "no one has worked since" in first
    study.person().until("document")
    assert "no one has worked since" not in client.get("/owner").text


def test_only_those_who_judged_are_counted_as_usual(begin, clock, monkeypatch):
    asked = '[[checks.question]]\ntopic = "t{}"\nquestion = "?"\nanswers = ["a", "b", "c"]\nright = 1\n'
    study = begin(topics=2, more="".join(asked.format(topic) for topic in range(2)))
    study.person().until("done")
    wrong = study.person()
    wrong.until("comprehension")
    wrong.send(choice="2")
    computed = study.store.read(lambda connection: insight(connection, clock())).result()
    assert len(computed.assessors) == 2
    monkeypatch.setattr(live_cache, "in_a_process", lambda url, now: computed)
    client = sign_in(study.store, clock(), clock)
    page = next(text for _ in range(1000) if "No unusual" in (text := client.get("/owner").text))
    assert "No unusual assessor among 1 assessor who judged" in page
    assert "Checks that failed are listed below." in page


def test_a_message_is_shown_once_and_topics_by_their_names(begin, clock):
    study = begin(topics=1)
    client = sign_in(study.store, clock(), clock)
    guard = re.search(r'name="guard" value="([^"]+)"', client.get("/owner").text)[1]
    client.post("/owner/act", data={"action": "pause", "topic": "", "guard": guard, "next": "/owner"})
    assert 'class="message"' in client.get("/owner").text
    assert 'class="message"' not in client.get("/owner").text
    for path in ("/owner", "/owner/topics", "/owner/topic?topic=t0"):
        assert re.search(r"(<h1>|\">)Title 0<", client.get(path).text), path


def test_everything_collected_is_downloaded_with_one_button(begin, clock, tmp_path):
    study = begin(topics=1)
    study.person().until("done")
    client = sign_in(study.store, clock(), clock)
    assert 'href="/owner/export.zip"' in client.get("/owner").text
    answer = client.get("/owner/export.zip")
    assert answer.headers["content-disposition"] == 'attachment; filename="small.zip"'
    export(study.store, tmp_path / "out", now=clock())
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == written
    assert "export" in client.get("/owner/log").text


def test_machines_are_shown_as_such_and_earn_nothing(tmp_path):
    store = open_store(tmp_path / "study.sqlite")
    study = Study(store, write_study(tmp_path / "s", topics=1, more="[pay]\namount = 2.0\n"))
    number = study.store.write(lambda connection: new_machine(connection, study.clock())).result()
    machine = Person(study, number)
    machine.until("document")
    machine.send(unrateable="refused", active="1")
    for _ in range(3):
        machine.send(value="10", active="1")
    looking = Looking(sign_in(store, study.clock(), study.clock), store)
    listed, page = looking.get("/assessors"), looking.get(f"/assessors/{number}")
    assert '<span class="mark">machine</span>' in listed
    assert "1 unrateable; 0 tokens; 0.00 USD" in listed
    assert "unrateable (refused)" in page
    assert "cost of replies" in page
    assert "earned" not in page
    assert "2.00 USD" not in looking.get("/money").split("to come")[0]
    store.close()


def new_machine(connection: sa.Connection, now: float) -> int:
    number = new_assessor(connection, MACHINE, now, "some model")
    row = {"fingerprint": "f", "model": "some model", "sample": 1, "endpoint": "http://127.0.0.1:1", "prompts": {}}
    connection.execute(sa.insert(machines).values(assessor=number, settings={}, currency="USD", **row))
    return number
