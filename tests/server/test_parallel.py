"""Many processes and threads on one database: exactly the work that is needed, each once."""

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from databases import new_database, one_postgres, waits_for_a_turn
from judging import Study, check_whole, write_study
from serving import Browser, running
from waiting import HANG, wait_until

from judgewell.server.judging import invitations as people
from judgewell.server.judging.routes import current_page
from judgewell.server.session.served import load_served
from judgewell.server.session.steps import take, take_own
from judgewell.server.store.schema import answers, assessors, reservations, units
from judgewell.server.store.transactions import Own, open_store

PROCESSES, THREADS = 8, 6


def work_through(database, told):
    """One process: threads that take assessors through units at once, some of whom leave in the middle."""
    store = open_store(database)
    served = store.read(load_served).result()
    problems = []

    def run(number):
        from judging import good_answer

        for _ in range(40):
            who = store.write(lambda c: people.new_assessor(c, "invite", served.clock())).result(HANG)
            for steps in range(100):
                state = store.read(
                    lambda c, who=who: c.execute(sa.select(assessors).where(assessors.c.number == who)).one()
                ).result(HANG)
                page = store.read(lambda c, who=who: current_page(c, served, who)).result(HANG)
                if page.kind == "no_work":
                    return
                if page.kind == "come_back" or (who % 7 == 0 and steps == 4):
                    break
                form = {name: (value,) for name, value in good_answer(page).items()}
                jobs = [
                    store.write(
                        lambda c, who=who, turn=state.turn, form=form: take(c, served, who, turn, form),
                        Own(who, lambda c, who=who, turn=state.turn, form=form: take_own(c, served, who, turn, form)),
                    )
                    for _ in range(2)
                ]
                outcomes = sorted(job.result(HANG).outcome for job in jobs)
                if outcomes not in (["repeated", "taken"], ["repeated", "waiting"]):
                    problems.append(f"{page.kind}: {outcomes}")

    with ThreadPoolExecutor(THREADS) as pool:
        for future in [pool.submit(run, number) for number in range(THREADS)]:
            try:
                future.result()
            except Exception as error:  # told to the parent, which fails
                problems.append(repr(error))
    store.close()
    told.put(problems)


@pytest.mark.long
def test_assignment_under_eight_processes(database, tmp_path):
    path = write_study(tmp_path / "study", topics=30, docs=8, size=4, redundancy=3, more="[work]\nmost_units = 4\n")
    store = open_store(database)
    study = Study(store, path)
    context = multiprocessing.get_context("spawn")
    told = context.Queue()
    processes = [context.Process(target=work_through, args=(database, told)) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    problems = [problem for _ in processes for problem in told.get(timeout=HANG)]
    for process in processes:
        process.join(HANG)
    assert problems == []
    check_whole(store)
    rows = study.rows(sa.select(reservations.c.state, sa.func.count()).group_by(reservations.c.state))
    counts = dict(tuple(row) for row in rows)
    needed = study.rows(sa.select(sa.func.sum(units.c.need)))[0][0]
    assert counts.get("live", 0) + counts.get("done", 0) <= needed
    assert counts["done"] >= 20
    print(counts, needed)
    store.close()


def test_twelve_browsers_on_one_server_get_exactly_what_is_needed(database, tmp_path):
    path = write_study(tmp_path / "study", topics=6, docs=4, size=4, redundancy=3)
    store = open_store(database)
    study = Study(store, path)
    numbers = [study.person().number for _ in range(12)]
    with running(path, database) as server:
        browsers = [Browser(server.port, study.served, number) for number in numbers]
        threads = [threading.Thread(target=browser.judge) for browser in browsers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(HANG)
    assert [trouble for browser in browsers for trouble in browser.troubles] == []
    check_whole(store)
    assert study.rows(sa.select(sa.func.count()).select_from(answers)) == [(6 * 4 * 3,)]
    assert study.rows(sa.select(units.c.free).distinct()) == [(0,)]
    store.close()


@pytest.fixture
def two_studies(tmp_path):
    """A study of two units as two processes serve it from one PostgreSQL."""
    database = new_database(one_postgres())
    path = write_study(tmp_path / "study", topics=2, docs=4, size=4, redundancy=1)
    both = Study(open_store(database), path), Study(open_store(database), path)
    yield both
    for study in both:
        study.store.close()


def agree(study, who, meanwhile=lambda: None, turn=None):
    """Somebody agrees and takes a unit; `meanwhile` happens before that is committed."""
    form = {"action": ("agree",)}

    def own(connection):
        taken = take_own(connection, study.served, who, 0, form)
        meanwhile()
        return taken

    return study.store.write(turn or (lambda c: take(c, study.served, who, 0, form)), Own(who, own))


def never(_):
    raise AssertionError("it took a turn")


def test_two_processes_hand_out_units_at_the_same_time(two_studies):
    both = threading.Barrier(2)  # passed only by two who are in their transactions at once
    who = [study.person().number for study in two_studies]
    jobs = [agree(study, one, lambda: both.wait(HANG), never) for study, one in zip(two_studies, who, strict=True)]
    assert [job.result(HANG).page.kind for job in jobs] == ["instructions", "instructions"]
    check_whole(two_studies[0].store)
    assert two_studies[0].rows(sa.select(units.c.free)) == [(0,), (0,)]


def test_a_unit_that_another_process_hands_out_is_not_handed_out_again(two_studies):
    first, second = two_studies
    who = [first.person().number for _ in range(3)]
    agree(first, who[0]).result(HANG)
    others = []

    def ask_for_the_last_unit():
        others.append(agree(second, who[1]))
        wait_until(lambda: others[0].done() or first.store.read(waits_for_a_turn).result())

    assert agree(first, who[2], ask_for_the_last_unit).result(HANG).page.kind == "instructions"
    assert others[0].result(HANG).page.kind == "come_back"
    check_whole(first.store)
