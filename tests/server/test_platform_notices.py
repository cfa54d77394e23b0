"""Notices from the platform: signed, each taken once, and what they change."""

import pytest
import sqlalchemy as sa
from judging import Person, check_whole
from stand_in import SECRET, Platform
from starlette.testclient import TestClient

from judgewell.errors import InputError
from judgewell.server.app import make_app
from judgewell.server.platforms.notices import LARGEST, OLDEST, STATUSES, canonical
from judgewell.server.store.schema import answers, assessors, identities, notices, reservations, units
from judgewell.server.store.transactions import open_store

MORE = '[platform]\nkind = "prolific"\nwebhook_secret = "OUR_HOOKS"\n[platform.codes]\ncompleted = "DONE1"\n'


class Hooks:
    def __init__(self, study):
        self.study, self.platform = study, Platform(study.clock)
        self.client = TestClient(make_app(study.store, study.clock, 1000.0), follow_redirects=False)

    def person(self, number=1):
        """Somebody who was sent by the platform, with a unit in hand."""
        link = f"/join?PROLIFIC_PID=person{number}&SESSION_ID=submission{number}&STUDY_ID=study1"
        TestClient(self.client.app, follow_redirects=False).get(link)
        found = self.study.rows(sa.select(identities.c.assessor).where(identities.c.outside == f"person{number}"))
        return Person(self.study, found[0].assessor)

    def post(self, body, headers):
        response = self.client.post("/webhooks/prolific", content=body, headers=headers)
        return response.status_code, response.json().get("taken")

    def tell(self, status, event, number=1, **changed):
        return self.post(*self.platform.notice(number, status, event, **changed))

    def status(self):
        return self.study.rows(sa.select(identities.c.status))[0].status

    def free(self):
        return [row.free for row in self.study.rows(sa.select(units.c.free).order_by(units.c.number))]


@pytest.fixture
def hooks(begin, monkeypatch):
    monkeypatch.setenv("OUR_HOOKS", SECRET)
    return lambda **settings: Hooks(begin(more=MORE, **settings))


def test_every_status_is_kept(hooks):
    server = hooks()
    server.person()
    for number, status in enumerate(STATUSES):
        server.study.clock.move(1)
        assert server.tell(status, f"e{number}")[0] == 200
        assert server.status() == status
    assert [canonical(text) for text in ("TIMED_OUT", "timed-out", "AWAITING_REVIEW", "ODD")] == [
        "TIMED-OUT", "TIMED-OUT", "AWAITING REVIEW", "ODD",
    ]  # fmt: skip


@pytest.mark.parametrize("status", ["RETURNED", "TIMED-OUT"])
def test_who_has_gone_frees_the_unit_at_once_and_late_work_is_kept(hooks, status):
    server = hooks(topics=1)
    person = server.person()
    person.until("document")
    person.send(value="20")
    assert server.free() == [0]
    assert server.tell(status, "e1") == (200, "freed")
    assert server.free() == [1]
    other = server.person(2)
    other.until("document")
    person.until("done")  # comes back all the same: late, and kept
    other.until("done")
    assert len(server.study.rows(sa.select(answers).where(answers.c.current))) == 8
    assert sorted(row.late for row in server.study.rows(sa.select(reservations))) == [False, True]
    check_whole(server.study.store)


def test_a_status_of_somebody_at_work_frees_nothing(hooks):
    server = hooks(topics=1)
    server.person().until("document")
    assert server.tell("ACTIVE", "e1") == (200, "changed")
    assert server.free() == [0]


def test_an_event_is_taken_once(hooks, database):
    server = hooks(topics=1)
    person = server.person()
    person.until("document")
    assert server.tell("RETURNED", "e1") == (200, "freed")
    person.send(value="5")  # back to life
    assert server.free() == [0]
    server.study.clock.move(5)
    assert server.tell("RETURNED", "e1") == (200, "repeated")  # delivered again, signed anew
    assert server.free() == [0]
    other = open_store(database)
    second = TestClient(make_app(other, server.study.clock, 1000.0))
    body, headers = server.platform.notice(1, "RETURNED", "e1")
    assert second.post("/webhooks/prolific", content=body, headers=headers).json() == {"taken": "repeated"}
    other.close()
    assert len(server.study.rows(sa.select(notices))) == 1


def test_a_captured_notice_does_nothing_under_another_event_id(hooks):
    server = hooks(topics=1)
    person = server.person()
    person.until("document")
    body, headers = server.platform.notice(1, "RETURNED", "e1")
    assert server.post(body, headers) == (200, "freed")
    person.send(value="5")
    assert server.post(body, {**headers, "X-Event-ID": "e2"}) == (200, "repeated")
    assert server.free() == [0]


def test_a_notice_that_was_overtaken_changes_nothing(hooks):
    server = hooks()
    server.person()
    now = server.study.clock()
    for status, event, at, became in (("APPROVED", "e2", now, "changed"), ("ACTIVE", "e1", now - 90, "overtaken")):
        body, headers = server.platform.notice(1, status, event)
        assert server.post(body, {**headers, "X-Timestamp": str(int(at))}) == (200, became)
    assert server.status() == "APPROVED"


def test_a_notice_that_comes_before_its_person_waits_for_them(hooks):
    server = hooks()
    for status, event in (("RESERVED", "e1"), ("ACTIVE", "e2")):
        server.study.clock.move(1)
        assert server.tell(status, event, 2) == (200, "unknown")
    assert "person2" not in str([row.data for row in server.study.rows(sa.select(notices))])
    server.person(1)
    assert server.status() is None
    found = server.person(2)
    kept = server.study.rows(sa.select(identities.c.status).where(identities.c.outside == "person2"))
    assert [row.status for row in kept] == ["ACTIVE"]
    assert [row.assessor for row in server.study.rows(sa.select(notices))] == [found.number] * 2
    body, headers = server.platform.notice(2, "RESERVED", "e3")
    early = {**headers, "X-Timestamp": str(int(server.study.clock()) - 90)}
    assert server.post(body, early) == (200, "overtaken")


def test_unknown_submissions_are_noted_and_answered_well(hooks):
    server = hooks(topics=1)
    server.person().until("document")
    assert server.tell("RETURNED", "e1", 7) == (200, "unknown")
    assert server.tell("RETURNED", "e2", 1, resource_id="an earlier submission") == (200, "unknown")
    assert server.tell("COMPLETED", "e3", 1, event_type="study.status.change") == (200, "unknown")
    assert server.free() == [0]
    assert server.status() is None
    assert len(server.study.rows(sa.select(notices))) == 3


def test_forged_and_old_notices_are_refused(hooks):
    server = hooks(topics=1)
    server.person().until("document")
    body, headers = server.platform.notice(1, "RETURNED", "e1")
    now = server.study.clock()
    assert server.post(body.replace(b"RETURNED", b"APPROVED"), headers)[0] == 401
    assert server.post(body, server.platform.signed(body, "e1", secret="guessed"))[0] == 401
    assert server.post(body, {**headers, "X-Prolific-Request-Timestamp": str(int(now) + 1)})[0] == 401
    for missing in ("X-Prolific-Request-Signature", "X-Prolific-Request-Timestamp"):
        assert server.post(body, {name: value for name, value in headers.items() if name != missing})[0] == 401
    assert server.post(body, {**headers, "X-Prolific-Request-Signature": ""})[0] == 401
    for at in (now - OLDEST - 1, now + OLDEST + 2):
        assert server.post(body, server.platform.signed(body, "e1", at))[0] == 401
    assert server.free() == [0]
    assert not server.study.rows(sa.select(notices))


@pytest.mark.parametrize(
    ("body", "code"),
    [(b"[" * 60_000, 400), (b"x", 400), (b"[]", 400), (b'{"status": 5}', 400), (b'{"status": "\\u0000"}', 400)],
)
def test_what_is_no_notice_is_refused_even_when_signed(hooks, body, code):
    server = hooks()
    assert server.post(body, server.platform.signed(body, "e1"))[0] == code


def test_a_large_notice_is_not_read_to_its_end(hooks):
    server = hooks()
    body = b"x" * (LARGEST + 1)
    assert server.post(body, server.platform.signed(body, "e1"))[0] == 413


def test_without_a_secret_there_is_no_such_address_and_without_its_value_no_start(begin, monkeypatch):
    monkeypatch.delenv("OUR_HOOKS", raising=False)
    study = begin(more=MORE)
    with pytest.raises(InputError, match="OUR_HOOKS"):
        make_app(study.store, study.clock)
    monkeypatch.setenv("OUR_HOOKS", "")
    with pytest.raises(InputError, match="OUR_HOOKS"):
        make_app(study.store, study.clock)


def test_a_study_without_webhooks_takes_none(begin):
    study = begin()
    client = TestClient(make_app(study.store, study.clock))
    platform = Platform(study.clock)
    body, headers = platform.notice(1, "RETURNED", "e1")
    assert client.post("/webhooks/prolific", content=body, headers=headers).status_code == 404
    assert not study.rows(sa.select(assessors))
