"""People invited and the report made from the browser, with one button each."""

import csv
import html
import io
import re
import subprocess

import pytest
import sqlalchemy as sa
from owner_server import let_in
from starlette.testclient import TestClient
from waiting import HANG

from judgewell.server.app import make_app
from judgewell.server.judging.invitations import new_assessor
from judgewell.server.owner import report_routes
from judgewell.server.owner.accounts import new_token
from judgewell.server.owner.report_routes import SANDBOX, Reporter, ReportFailed
from judgewell.server.process import Server
from judgewell.server.store.schema import SYNTHETIC, assessors, audit


@pytest.fixture
def owner(begin, monkeypatch, tmp_path):
    """Somebody signed in, on a study of two topics."""
    monkeypatch.setattr(report_routes.tempfile, "gettempdir", lambda: str(tmp_path))

    class Owner:
        def __init__(self, **settings):
            self.study = begin(**settings)
            self.client = TestClient(make_app(self.study.store, self.study.clock, 1000.0), follow_redirects=False)
            server = Server(self.study.store, self.study.served, None, None)
            self.client.cookies.set(f"{server.cookie}-owner", let_in(self.study.store, self.study.clock()))

        def page(self, path):
            answer = self.client.get(path)
            assert answer.status_code == 200, answer.text[:300]
            return answer.text

        def send(self, path, **fields):
            guard = re.search(r'name="guard" value="([^"]+)"', self.page(path))[1]
            return self.client.post(path, data={"guard": guard, **fields})

    return Owner


def test_the_api_invites_each_label_once(owner):
    one = owner()
    now = one.study.clock()
    token = one.study.store.write(lambda c: new_token(c, now, "owner one", ("write",), 1, "tests")).result()
    headers = {"authorization": f"Bearer {token}"}

    def invited(*labels):
        answer = one.client.post("/api/v1/invitations", json={"labels": labels}, headers=headers)
        assert answer.status_code == 201, answer.text
        return answer.json()

    links = invited("Ann", "Ben")
    assert [link["new"] for link in links] == [True, True]
    assert invited("Ann") == [{**links[0], "new": False}]
    assert TestClient(one.client.app, follow_redirects=False).get(links[0]["path"]).headers["location"] == "/work"


def test_people_are_invited_by_name_and_by_number(owner):
    one = owner()
    assert "No one has been invited yet" in one.page("/owner/invitations")
    answer = one.send("/owner/invitations", names="Ada\n\n  Grace \nAda\n", count="2")
    assert answer.headers["location"] == "/owner/invitations"
    page = one.page("/owner/invitations")
    assert "Done: 4 new links" in page
    assert "Done: 4 new links" not in one.page("/owner/invitations")
    links = re.findall(r"<code>(http://testserver/i/[^<]+)</code>", page)
    assert len(links) == 4
    listed = one.page("/owner/assessors")
    assert (listed.count("; not opened yet"), listed.count("reading the consent page")) == (4, 0)
    one.study.clock.now += 60
    visitor = TestClient(one.client.app, follow_redirects=False)
    assert visitor.get(links[0].removeprefix("http://testserver")).headers["location"] == "/work"
    listed = one.page("/owner/assessors")
    assert (listed.count("; not opened yet"), listed.count("; reading the consent page")) == (3, 1)
    assert one.page("/owner/invitations").count("not opened yet") == 3
    one.send("/owner/invitations", names="Grace\nBarbara", count="")
    assert "Done: 1 new link" in one.page("/owner/invitations")  # whoever has a link keeps it
    rows = list(csv.DictReader(io.StringIO(one.page("/owner/invitations.csv"))))
    assert [row["label"] for row in rows] == ["Ada", "Grace", "assessor 3", "assessor 4", "Barbara"]
    assert set(links) < {row["link"] for row in rows}
    logged = one.study.rows(sa.select(audit.c.action, audit.c.data).order_by(audit.c.number))
    assert [tuple(row) for row in logged] == [
        ("invite", {"count": 4}),
        ("invite", {"count": 1}),
        ("links listed", {"count": 5}),
    ]


def test_a_program_invites_people(owner):
    one = owner()
    now = one.study.clock()
    token = one.study.store.write(lambda c: new_token(c, now, "owner one", ("write",), 1, "tests")).result()
    ask = {"headers": {"authorization": f"Bearer {token}"}}
    links = one.client.post("/api/v1/invitations", json={"labels": ["Ann", "Ben"]}, **ask).json()
    assert [link["new"] for link in links] == [True, True]
    again = one.client.post("/api/v1/invitations", json={"labels": ["Ann"]}, **ask).json()
    assert again == [{**links[0], "new": False}]
    assert TestClient(one.client.app, follow_redirects=False).get(links[0]["path"]).status_code == 303


def test_nobody_is_invited_into_a_rehearsal(owner):
    one = owner()
    assert "Rehearsal" not in one.page("/owner")
    one.study.store.write(lambda c: new_assessor(c, SYNTHETIC, 1.0, "careful")).result()
    assert "Rehearsal with synthetic assessors" in one.page("/owner")
    one.send("/owner/invitations", names="Ada", count="")
    assert "Not done: this database holds a rehearsal" in one.page("/owner/invitations")
    assert len(one.study.rows(sa.select(assessors.c.number))) == 1


@pytest.mark.parametrize(
    ("names", "count", "problem"),
    [
        ("", "", "0 links"),
        ("", "1001", "1001 links"),
        ("", "-3", "not a number"),
        ("a\x07b", "", "not a name"),
        ("x" * 201, "", "not a name"),
    ],
)
def test_what_cannot_be_invited_is_refused(owner, names, count, problem):
    one = owner()
    one.send("/owner/invitations", names=names, count=count)
    assert re.search(f"Not done: [^<]*{problem}", one.page("/owner/invitations"))
    assert one.study.rows(sa.select(assessors)) == []


def test_nobody_else_invites_or_reports(owner):
    one = owner()
    stranger = TestClient(one.client.app, follow_redirects=False)
    for path in ("/owner/invitations", "/owner/invitations.csv", "/owner/report", "/owner/report.html"):
        assert stranger.get(path).headers["location"].startswith("/owner/sign-in")
        assert stranger.post(path.removesuffix(".csv").removesuffix(".html"), data={"count": "1"}).status_code == 303
    for path in ("/owner/invitations", "/owner/report"):
        assert one.client.post(path, data={"count": "1", "guard": "forged"}).status_code == 403
    assert one.study.rows(sa.select(assessors)) == []


def test_a_panel_reads_where_to_send_people(owner):
    one = owner(more='[platform]\nkind = "prolific"\n[platform.codes]\ncompleted = "DONE1"\n')
    page = one.page("/owner/invitations")
    assert "http://testserver/join" in page
    assert "PROLIFIC_PID" in page


def test_the_report_is_made_when_asked_for_opened_and_downloaded(owner, monkeypatch):
    made = []

    def make(study, database, page, title):
        made.append((study, database, title))
        page.write_text(f"<h1>report {len(made)}</h1>", "utf-8")

    monkeypatch.setattr(report_routes.router, "__defaults__", (make,))
    one = owner(topics=1)
    assert one.client.get("/owner/report.html").status_code == 404
    assert "Make the report" in one.page("/owner/report")
    assert made == []  # opening the page starts nothing
    one.send("/owner/report")
    settled(one, made, 1)
    page = one.page("/owner/report")
    assert "Open the report" in page
    assert "no answers since" in page
    assert made == [(one.study.store.url, one.study.store.url, "small")]
    shown = one.client.get("/owner/report.html")
    assert (shown.text, shown.headers["content-security-policy"]) == ("<h1>report 1</h1>", SANDBOX)
    assert "allow-same-origin" not in SANDBOX
    assert shown.headers["content-disposition"].startswith("inline")
    kept = one.client.get("/owner/report.html?download=1").headers["content-disposition"]
    assert kept == 'attachment; filename="small-report.html"'
    one.study.person().until("done")
    assert "there have been answers since" in one.page("/owner/report")
    one.send("/owner/report")
    settled(one, made, 2)
    assert one.client.get("/owner/report.html").text == "<h1>report 2</h1>"


def settled(one, made, count):
    """Wait until so many reports are made, and none is in the making."""
    for _ in range(1000):
        if "it will appear here" not in one.page("/owner/report") and len(made) == count:
            return
    raise AssertionError("the report is not made")


def test_a_report_that_cannot_be_made_says_why_and_keeps_the_last_one(owner):
    one, fails = owner(), []

    def make(study, database, page, title):
        if fails:
            raise ReportFailed("there is nothing to report on")
        page.write_text("fine", "utf-8")

    server = Server(one.study.store, one.study.served, None, None)
    reporter, other = Reporter(server, None, make), Reporter(server, None, make)
    reporter.start("1")
    reporter.worker.join(HANG)
    assert (other.page.read_text(), other.is_old("1"), other.is_old("2")) == ("fine", False, True)
    assert other.trouble("1") is None
    fails.append(True)
    reporter.start("2")
    reporter.worker.join(HANG)
    assert (other.page.read_text(), other.trouble("2")[0]) == ("fine", "there is nothing to report on")
    assert other.trouble("3") is None  # after new answers it may no longer hold
    assert oct(reporter.folder.stat().st_mode & 0o777) == "0o700"


def test_the_review_page_says_when_a_review_can_be_asked_for(owner):
    page = owner().page("/owner/review")
    assert "<h1>Review</h1>" in page
    assert "before judging begins" in page


def test_the_reason_of_a_failed_report_is_a_plain_sentence(monkeypatch, tmp_path):
    def fail(*_, **__):
        raise subprocess.CalledProcessError(2, "judgewell", stderr="note\njudgewell: no unit is completed yet\n")

    monkeypatch.setattr(report_routes.subprocess, "run", fail)
    with pytest.raises(ReportFailed, match=r"^no unit is completed yet$"):
        report_routes.run_report("study", "database", tmp_path / "page.html", "A title")


def test_one_report_is_made_at_a_time(owner):
    import threading

    one, begun, go, made = owner(), threading.Event(), threading.Event(), []

    def make(study, database, page, title):
        begun.set()
        assert go.wait(HANG)
        made.append(page)
        page.write_text("fine", "utf-8")

    server = Server(one.study.store, one.study.served, None, None)
    reporter, other = Reporter(server, None, make), Reporter(server, None, make)
    reporter.start("1")
    assert begun.wait(HANG)
    assert other.busy
    other.start("1")
    go.set()
    reporter.worker.join(HANG)
    assert other.worker is None
    assert len(made) == 1
    assert not other.busy


@pytest.mark.long
def test_the_command_makes_the_report(owner, tmp_path):
    one = owner(topics=1, redundancy=2)
    for _ in range(2):
        one.study.person().until("done")
    page = tmp_path / "page.html"
    url = one.study.store.url
    if "://" in url:  # no one who reads a report may learn the password
        url = sa.make_url(url).set(password="hunter2").render_as_string(hide_password=False)
    report_routes.run_report(url, url, page, "A title")
    assert "A title" in page.read_text()
    assert "hunter2" not in page.read_text()
    with pytest.raises(ReportFailed, match="no such database"):
        report_routes.run_report("/nowhere.sqlite", "/nowhere.sqlite", page, "A title")


def test_the_invite_page_has_the_whole_address_for_prolific(owner):
    platform = '[pay]\namount = 1.2\n[platform]\nkind = "prolific"\n[platform.codes]\ncompleted = "DONE1"\n'
    page = html.unescape(owner(more=platform).page("/owner/invitations"))
    ids = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    assert f"http://testserver/join?{ids}<" in page


def test_a_failed_unit_is_evidence(owner):
    one = owner(known=True, topics=1, more="[checks]\nrevisions = 0\n")
    person = one.study.person()
    page = person.until("document")
    while page.kind == "document":
        page = person.send(value="5")
    for path in ("/owner/assessors", f"/owner/assessors/{person.number}"):
        text = " ".join(re.sub(r"<[^>]+>", " ", one.page(path)).split())
        assert "failed 1 unit: known documents in order" in text


def test_an_excluded_unit_is_not_offered_for_exclusion(owner):
    one = owner(topics=1, redundancy=2)
    person = one.study.person()
    person.until("done")
    path = f"/owner/assessors/{person.number}"
    assert "Exclude this unit" in one.page(path)
    pseudonym = one.study.rows(sa.select(assessors.c.pseudonym))[0].pseudonym
    fields = {"action": "exclude", "assessor": pseudonym, "reason": "copied", "next": path}
    guard = re.search(r'name="guard" value="([^"]+)"', one.page(path))[1]
    assert one.client.post("/owner/act", data={"guard": guard, **fields}).status_code == 303
    assert "Exclude this unit" not in one.page(path)
