"""Forgetting: who somebody was is gone everywhere, what they did stays, and nothing of the old opens anything."""

import pytest
import sqlalchemy as sa
from judging import Study, check_whole, write_study
from starlette.testclient import TestClient
from waiting import wait_until

from judgewell.errors import InputError
from judgewell.server.app import make_app
from judgewell.server.judging import invitations as people
from judgewell.server.owner import privacy
from judgewell.server.owner.access import find_key, hashed
from judgewell.server.owner.accounts import add_account, new_token
from judgewell.server.owner.actions import ACTIONS, perform, read_fields, run
from judgewell.server.owner.privacy import DAY, retain
from judgewell.server.queries.export import export
from judgewell.server.store.backup import backup, restore
from judgewell.server.store.schema import answers, assessors, audit, closing, identities, keys, metadata, reservations
from judgewell.server.store.transactions import open_store


def act(study, name, **fields):
    action = ACTIONS[name]
    given = read_fields(action, fields)
    return study.store.write(lambda c: run(c, study.served, study.clock(), action, given)).result()


def someone(study, label="Ada Lovelace", outside="5f0c0ffee0ddba11"):
    """An assessor with a label and a platform's id, at work."""
    person = study.person()

    def known(connection):
        mine = assessors.c.number == person.number
        connection.execute(sa.update(assessors).where(mine).values(label=label))
        row = {"platform": "panel", "outside": outside, "assessor": person.number, "arrived": study.clock()}
        connection.execute(sa.insert(identities), row)

    study.store.write(known).result()
    return person


def everything(study):
    """All that the database holds, as text."""
    return repr([study.rows(sa.select(table)) for table in metadata.sorted_tables])


def pseudonym(study, person):
    return study.rows(sa.select(assessors.c.pseudonym).where(assessors.c.number == person.number))[0][0]


def test_forgetting_leaves_no_trace_of_the_person_and_keeps_the_judgments(begin, tmp_path):
    study = begin(topics=1)
    person = someone(study)
    person.until("done")
    old = pseudonym(study, person)
    act(study, "exclude", assessor=old, reason="for a while")
    act(study, "include", assessor=old)
    export(study.store, tmp_path / "before")
    assert act(study, "forget", assessor=old) == {"assessors": 1, "answers": 4, "invited": True}
    held = everything(study)
    for trace in (old, "Ada", "Lovelace", "5f0c0ffee0ddba11"):
        assert trace not in held, trace
    assert study.rows(sa.select(closing)) == []
    assert len(study.rows(sa.select(answers))) == 4
    export(study.store, tmp_path / "after")
    before, after = ((tmp_path / name / "judgments.csv").read_text() for name in ("before", "after"))
    assert before.replace(old, pseudonym(study, person)) == after
    assert old not in (tmp_path / "after" / "log.jsonl").read_text()
    assert "because it says so" in after
    check_whole(study.store)
    with pytest.raises(InputError, match="no assessor"):
        act(study, "forget", assessor=old)


def traces(folder, *words):
    """Which words stand in which files of a folder, whatever the files are."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [(path.name, word) for path in files for word in words if word.encode() in path.read_bytes()]


def test_nothing_of_the_forgotten_stays_in_file_log_or_backup(tmp_path):
    """While the server's connections are open, so that SQLite keeps its log."""
    (tmp_path / "data").mkdir()
    store = open_store(tmp_path / "data/study.sqlite")
    study = Study(store, write_study(tmp_path / "study", topics=1, more="[checks]\ncomment = 3\n"))
    person = someone(study)
    person.until("done")
    old = pseudonym(study, person)
    words = ("Lovelace", "5f0c0ffee0ddba11", "because it says so", old)
    assert {word for _, word in traces(tmp_path / "data", *words)} == set(words)
    action = ACTIONS["forget"]
    fields = read_fields(action, {"assessor": old, "comments": True})
    assert perform(store, study.served, action, fields)["assessors"] == 1
    assert traces(tmp_path / "data", *words) == []
    backup(store, tmp_path / "data/new.backup")
    assert traces(tmp_path / "data", *words) == []
    store.close()


def test_an_older_backup_revives_nobody(begin, tmp_path):
    study = begin(topics=2, more="[checks]\ncomment = 3\n")
    person, other = someone(study), someone(study, "Grace Hopper", "77")
    person.until("done")
    other.until("done")
    now = study.clock()
    study.store.write(lambda c: add_account(c, now, "Olga", "owner")).result()
    token, kept = (study.store.write(lambda c: new_token(c, now, "Olga", ["read"], 9, "")).result() for _ in range(2))
    path = backup(study.store, tmp_path / "old.backup")
    old = pseudonym(study, person)
    act(study, "forget", assessor=old, comments=True)
    new = pseudonym(study, person)
    number = study.rows(sa.select(keys.c.number).where(keys.c.hash == hashed(token)))[0].number
    act(study, "revoke-key", key=number)
    restore(study.store, path, replace=True)
    held = everything(study)
    assert not [word for word in (old, "Lovelace", "5f0c0ffee0ddba11") if word in held]
    assert pseudonym(study, person) == new
    comments = study.rows(sa.select(answers.c.comment, answers.c.assessor))
    assert {row.comment is None for row in comments if row.assessor == person.number} == {True}
    assert {row.comment is None for row in comments if row.assessor == other.number} == {False}
    assert "Hopper" in held
    for secret, opens in ((token, False), (kept, True)):
        key = study.store.read(lambda c, secret=secret: find_key(c, secret, "token", now)).result()
        assert (key is not None) == opens
    check_whole(study.store)


def test_comments_go_too_when_asked(begin):
    study = begin(topics=1, more="[checks]\ncomment = 3\n")
    person = someone(study)
    person.until("done")
    act(study, "forget", assessor=pseudonym(study, person), comments=True)
    assert "because it says so" not in everything(study)


def test_link_and_session_of_the_forgotten_open_nothing(begin):
    study = begin(topics=1)
    person = someone(study)
    client = TestClient(make_app(study.store, study.clock, 1000.0), follow_redirects=False)
    client.get(people.invite_path(study.served, person.number))
    assert client.get("/work").status_code == 200
    person.until("document")
    act(study, "forget", assessor=pseudonym(study, person))
    assert client.get("/work").status_code == 403
    assert client.post("/work", data={"step": "1:1.x"}).status_code == 403
    client.get(people.invite_path(study.served, person.number))
    assert client.get("/work").status_code == 403
    assert [row.state for row in study.rows(sa.select(reservations.c.state))] == ["expired"]
    check_whole(study.store)


def test_after_the_retention_time_those_who_left_are_forgotten(begin):
    study = begin(topics=2, redundancy=2)
    gone = someone(study)
    gone.until("done")
    old = pseudonym(study, gone)
    entry = sa.insert(audit).values(at=study.clock(), action="x", data={}, address="1.2.3.4")
    study.store.write(lambda c: c.execute(entry)).result()
    study.clock.move(31 * DAY)
    here = someone(study, "Grace Hopper", "77")
    here.until("document")
    keep = pseudonym(study, here)
    assert study.store.write(lambda c: retain(c, study.clock(), 30)).result() == 1
    assert study.store.write(lambda c: retain(c, study.clock(), 30)).result() == 0
    held = everything(study)
    assert old not in held
    assert "Lovelace" not in held
    assert "1.2.3.4" not in held
    assert "Hopper" in held
    assert pseudonym(study, here) == keep
    assert study.rows(sa.select(audit.c.action).where(audit.c.action == "retention")) == [("retention",)]


def test_the_server_carries_retention_out(begin, monkeypatch):
    monkeypatch.setattr(privacy, "EVERY", 0.05)
    study = begin(topics=1, more="[privacy]\nretention_days = 10\n")
    gone = someone(study)
    gone.until("done")
    with TestClient(make_app(study.store, study.clock, 1000.0)):
        assert "Lovelace" in everything(study)
        study.clock.move(11 * DAY)
        wait_until(lambda: "Lovelace" not in everything(study))
