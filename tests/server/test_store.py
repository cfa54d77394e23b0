"""Jobs and their transactions."""

import os
import stat
import threading

import pytest
import sqlalchemy as sa
from databases import new_database, one_postgres, waits_for_a_turn
from judging import Study, write_study
from waiting import HANG, wait_until

from judgewell.server.queries.export import export
from judgewell.server.store.backup import backup
from judgewell.server.store.schema import topics
from judgewell.server.store.transactions import READERS, is_together, need_turn, open_store


class Broken(Exception):
    pass


def names(connection):
    return list(connection.execute(sa.select(topics.c.topic).order_by(topics.c.topic)).scalars())


def add(name):
    return lambda connection: connection.execute(sa.insert(topics), {"topic": name})


def break_off(connection):
    """A query with rows still to come, in the hands of what is raised."""
    cursor = connection.exec_driver_sql("SELECT topic FROM topics").cursor
    cursor.fetchone()
    raise Broken(cursor)


def test_a_read_that_failed_leaves_no_old_snapshot_behind(store):
    for name in ("a", "b", "c"):
        store.write(add(name)).result()
    held = []
    for _ in range(2 * READERS):
        with pytest.raises(Broken) as broken:
            store.read(break_off).result()
        held.append(broken.value)
    store.write(add("d")).result()
    assert [store.read(names).result() for _ in range(4 * READERS)] == [["a", "b", "c", "d"]] * 4 * READERS
    assert len(held) == 2 * READERS


def test_a_write_that_failed_is_undone_and_the_next_is_stored(store):
    def half(connection):
        add("a")(connection)
        break_off(connection)

    failed = store.write(half)
    with pytest.raises(Broken):
        failed.result()
    store.write(add("b")).result()
    assert store.read(names).result() == ["b"]


def test_jobs_beside_one_that_fails_are_stored_once(store):
    waiting = [store.write(job) for job in (add("a"), break_off, add("b"), add("a"), add("c"))]
    outcomes = [type(job.exception(30)).__name__ for job in waiting]
    assert outcomes == ["NoneType", "Broken", "NoneType", "IntegrityError", "NoneType"]
    assert store.read(names).result() == ["a", "b", "c"]


def test_jobs_that_come_while_a_process_waits_for_its_turn_share_a_commit():
    database = new_database(one_postgres())
    first, second = open_store(database), open_store(database)
    transaction = sa.text("SELECT pg_current_xact_id()::text")

    def ask(_):
        jobs = [second.write(lambda connection: connection.execute(transaction).scalar())]
        wait_until(lambda: first.read(waits_for_a_turn).result())
        return jobs + [second.write(lambda connection: connection.execute(transaction).scalar()) for _ in range(3)]

    jobs = first.write(ask).result(HANG)
    assert len({job.result(HANG) for job in jobs}) == 1
    first.close()
    second.close()


def test_processes_write_one_after_another():
    """Each takes two rows in the other's order: at once, they would wait for each other until one is broken off."""
    database = new_database(one_postgres())
    first, second, order = open_store(database), open_store(database), []
    for name in ("a", "b"):
        first.write(add(name)).result()

    def change(connection, store, *names):
        for name in names:
            order.append((store, name))
            connection.execute(sa.update(topics).where(topics.c.topic == name).values(title=store))
            if len(order) == 1:
                other = second.write(lambda connection: change(connection, "second", "b", "a"))
                wait_until(lambda: len(order) > 1 or first.read(waits_for_a_turn).result())
        return other if store == "first" else None

    first.write(lambda connection: change(connection, "first", "a", "b")).result(HANG).result(HANG)
    assert order == [("first", "a"), ("first", "b"), ("second", "b"), ("second", "a")]
    first.close()
    second.close()


@pytest.fixture
def two_stores():
    """Two processes' stores on one PostgreSQL."""
    database = new_database(one_postgres())
    first, second = open_store(database), open_store(database)
    yield first, second
    first.close()
    second.close()


def together(job):
    """A job that fails where it runs at a turn."""

    def alone(connection):
        assert is_together(connection), "it took a turn"
        return job(connection)

    return alone


def at_turn(job):
    """A job that finds out on the way that it needs a turn."""
    return lambda connection: (need_turn(connection), job(connection))


def test_jobs_about_single_assessors_run_while_other_processes_run_theirs(two_stores):
    both = threading.Barrier(2)  # passed only by two who are in their transactions at once
    jobs = [store.write(together(lambda _: both.wait(HANG)), 1) for store in two_stores]
    assert sorted(job.result(HANG) for job in jobs) == [0, 1]


def test_a_turn_waits_for_jobs_about_single_assessors(two_stores):
    first, second = two_stores
    order = []

    def own(_):
        job = second.write(lambda _: order.append("turn"))
        wait_until(lambda: order or first.read(waits_for_a_turn).result())
        order.append("own")
        return job

    first.write(together(own), 1).result(HANG).result(HANG)
    assert order == ["own", "turn"]


def test_a_job_that_needs_a_turn_or_fails_runs_again_at_its_turn(two_stores):
    first, _ = two_stores
    done = [
        first.write(at_turn(add("a")), 2),
        first.write(lambda c: break_off(c) if is_together(c) else add("b")(c), 1),
        first.write(break_off, 3),
        first.write(add("c"), 4),
    ]
    assert [type(job.exception(HANG)).__name__ for job in done[:3]] == ["NoneType", "NoneType", "Broken"]
    assert first.read(names).result() == ["a", "b", "c"]


@pytest.mark.parametrize("others", [False, True])
def test_a_large_write_is_there_for_all_and_the_log_is_back(store, database, others):
    other = open_store(database) if others else None
    if other is not None:
        assert other.read(names).result() == []
    store.read(names).result()
    store.write_alone(add("a"))
    store.write(add("b")).result()
    for one in filter(None, (store, other)):
        assert one.read(names).result() == ["a", "b"]
    if store.is_sqlite:
        mode = sa.text("PRAGMA journal_mode")
        assert store.read(lambda connection: connection.execute(mode).scalar()).result() == "wal"
    with pytest.raises(Broken):
        store.write_alone(break_off)
    if other is not None:
        other.close()


def test_nobody_else_may_read_database_backup_and_exports(tmp_path):
    umask = os.umask(0o022)
    try:
        old = tmp_path / "old.sqlite"
        old.touch(0o644)
        for path in (tmp_path / "new.sqlite", old):
            store = open_store(path)
            study = Study(store, write_study(tmp_path / path.stem, topics=1))
            study.person().until("done")
            files = [backup(store, tmp_path / f"{path.stem}.backup"), *export(store, tmp_path / f"{path.stem}-out")]
            files += tmp_path.glob(f"{path.name}*")  # with the log and its index
            assert len(files) > 6
            assert {oct(stat.S_IMODE(file.stat().st_mode)) for file in files} == {"0o600"}
            store.close()
    finally:
        os.umask(umask)
