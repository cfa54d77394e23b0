"""Servers that die in the middle, databases that restart or run full: what was acknowledged is there, once."""

import os
import signal
import threading

import pytest
import sqlalchemy as sa
from databases import postgres_server
from judging import Study, check_whole, good_answer, recomputed, write_study
from serving import Browser, running
from waiting import HANG, wait_until

from judgewell.server.store import transactions
from judgewell.server.store.schema import answers, assessors, reservations
from judgewell.server.store.transactions import Unavailable, open_store

KILLS = int(os.environ.get("JUDGEWELL_KILLS", "20"))  # of the long test, for each database


def survive(database, path, kills, people=8, workers=(), patient=False):
    """Kill the server again and again while people judge; afterwards all of them finish and nothing is missing."""
    store = open_store(database)
    study = Study(store, path)
    numbers = [study.person().number for _ in range(people)]
    with running(path, database, *workers) as server:
        browsers = [Browser(server.port, study.served, number) for number in numbers]
        threads = [threading.Thread(target=browser.judge, args=("", patient), daemon=True) for browser in browsers]
        for thread in threads:
            thread.start()
        killed = 0
        while killed < kills and any(thread.is_alive() for thread in threads):
            before = sum(len(browser.acknowledged) for browser in browsers)
            enough = before + 5 + killed % 7
            wait_until(
                lambda enough=enough: (
                    sum(len(browser.acknowledged) for browser in browsers) >= enough
                    or not any(thread.is_alive() for thread in threads)
                )
            )
            server.kill()
            killed += 1
            server.start()
        for thread in threads:
            thread.join(HANG)
        assert not any(thread.is_alive() for thread in threads)
    assert [trouble for browser in browsers for trouble in browser.troubles] == []
    assert killed == kills
    acknowledged = sorted(comment for browser in browsers for comment in browser.acknowledged)
    stored = sorted(row.comment for row in study.rows(sa.select(answers.c.comment)))
    assert stored == acknowledged
    check_whole(store)
    assert {row.state for row in study.rows(sa.select(reservations.c.state).distinct())} == {"done"}
    store.close()
    return acknowledged


@pytest.mark.slow
@pytest.mark.parametrize("kills", [2, pytest.param(KILLS, marks=pytest.mark.long)])
def test_every_acknowledged_answer_survives_kill_minus_nine(database, tmp_path, kills):
    docs = 8
    topics = 4 if kills == 2 else 24
    path = write_study(
        tmp_path / "study", topics=topics, docs=docs, size=docs, redundancy=8, more="[work]\nmost_units = 30\n"
    )
    acknowledged = survive(database, path, kills)
    assert len(acknowledged) == len(set(acknowledged)) == topics * docs * 8


@pytest.mark.long
def test_several_workers_are_killed_too(database, tmp_path):
    path = write_study(tmp_path / "study", topics=8, docs=8, size=8, redundancy=8, more="[work]\nmost_units = 30\n")
    assert len(survive(database, path, 3, workers=("--workers", "2"))) == 8 * 8 * 8


@pytest.mark.long
def test_units_that_are_made_while_servers_are_killed_are_whole(database, tmp_path):
    """Two equal systems: the study asks until its cap, and makes its batches while the server dies again and again."""
    topics, docs = 24, 16
    goal = '[work]\nmost_units = 30\n[goal]\nsystems = ["a.run", "b.run"]\nwithin = 0.0\n'
    path = write_study(tmp_path / "study", kind="s100", topics=topics, docs=docs, size=4, redundancy=8, more=goal)
    for system, turn in (("a", 1), ("b", -1)):
        lines = [f"t{t} Q0 t{t}d{d} 1 {turn * d + docs} {system}\n" for t in range(topics) for d in range(docs)]
        (path.parent / f"{system}.run").write_text("".join(lines))
    acknowledged = survive(database, path, KILLS, patient=True)
    assert len(acknowledged) == len(set(acknowledged))
    store = open_store(database)
    assert all(stored == again for stored, again in recomputed(store, Study(store, path).served))
    store.close()


def fill(person):
    """Send long answers for as long as they are taken; a page at the end goes back to the first document."""
    while person.send(value="6", comment="lost " * 5000).kind == "document":
        pass


def test_a_full_database_takes_nothing_and_loses_nothing(tmp_path):
    store = open_store(tmp_path / "full.sqlite")
    study = Study(store, write_study(tmp_path / "study", more="[checks]\ncomment = 3\n"))
    person = study.person()
    person.until("document")
    person.send(value="5", comment="kept")

    def bound(connection, pages):
        return connection.exec_driver_sql(f"PRAGMA max_page_count={pages}").scalar()

    now = store.write(lambda c: c.exec_driver_sql("PRAGMA page_count").scalar()).result()
    store.write(lambda c: bound(c, now)).result()
    with pytest.raises(Unavailable, match="full"):
        fill(person)
    given = study.rows(sa.select(answers.c.comment))
    assert person.page.progress.position == len(given) + 1
    check_whole(store)
    store.write(lambda c: bound(c, 1_000_000)).result()
    assert person.send(value="7", comment="after").progress.position == len(given) + 2
    store.close()


def test_a_job_that_fails_takes_no_other_with_it(tmp_path):
    store = open_store(tmp_path / "test.sqlite")
    study = Study(store, write_study(tmp_path / "study"))
    held = threading.Event()
    blocker = store.write(lambda c: held.wait(HANG))

    def broken(connection):
        connection.execute(sa.update(assessors).values(stage="nowhere"))
        raise ZeroDivisionError

    from judgewell.server.judging import invitations as people

    good = [store.write(lambda c: people.new_assessor(c, "invite", 0.0)) for _ in range(2)]
    bad = store.write(broken)
    more = store.write(lambda c: people.new_assessor(c, "invite", 0.0))
    held.set()
    blocker.result(HANG)
    with pytest.raises(ZeroDivisionError):
        bad.result(HANG)
    assert len({future.result(HANG) for future in (*good, more)}) == 3
    assert {row.stage for row in study.rows(sa.select(assessors.c.stage))} == {"consent"}
    store.close()


def test_a_postgresql_that_restarts_under_load_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(transactions, "PATIENCE", HANG)  # a busy machine needs longer to start it
    with postgres_server() as server:
        store = open_store(server.get_uri())
        study = Study(store, write_study(tmp_path / "study", topics=6, docs=8, size=8, redundancy=4))
        people = [study.person() for _ in range(4)]
        troubles = []

        def judge(person):
            try:
                page = person.page
                while page.kind not in ("no_work", "come_back") and not (page.kind == "done" and not page.more):
                    page = person.send(**good_answer(page))
            except BaseException as error:
                troubles.append(error)

        threads = [threading.Thread(target=judge, args=(person,)) for person in people]
        for thread in threads:
            thread.start()
        for count in (20, 60):
            wait_until(lambda count=count: len(study.rows(sa.select(answers.c.number))) >= count)
            os.kill(server.get_pid(), signal.SIGQUIT)  # an immediate stop, as a crash
            wait_until(lambda: not (server.pgdata / "postmaster.pid").exists())
            server.ensure_postgres_running()
        for thread in threads:
            thread.join(HANG)
        assert troubles == []
        check_whole(store)
        assert study.rows(sa.select(sa.func.count()).select_from(answers)) == [(6 * 8 * 4,)]
        store.close()
