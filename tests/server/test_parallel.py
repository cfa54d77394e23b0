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
from judgewell.server.session.steps import take
from judgewell.server.store.schema import answers, assessors, metadata, reservations, units
from judgewell.server.store.transactions import is_together, open_store

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
                    store.write(lambda c, who=who, turn=state.turn, form=form: take(c, served, who, turn, form), who)
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


def agree(study, who, meanwhile=lambda: None, turn=True):
    """Somebody agrees and takes a unit; `meanwhile` happens before that is committed, where it takes no turn."""

    def job(connection):
        taken = take(connection, study.served, who, 0, {"action": ("agree",)})
        if is_together(connection):
            meanwhile()
        else:
            assert turn, "it took a turn"
        return taken

    return study.store.write(job, who)


def test_two_processes_hand_out_units_at_the_same_time(two_studies):
    both = threading.Barrier(2)  # passed only by two who are in their transactions at once
    who = [study.person().number for study in two_studies]
    jobs = [agree(study, one, lambda: both.wait(HANG), turn=False) for study, one in zip(two_studies, who, strict=True)]
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


WATCH = """
CREATE TABLE changed (transaction text, name text, assessor bigint, unit bigint);
CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was jsonb = to_jsonb(OLD);
  row jsonb = to_jsonb(coalesce(NEW, OLD));
  taken boolean = TG_TABLE_NAME = 'reservations' AND row->'created' IS DISTINCT FROM was->'created';
BEGIN
  IF EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND pid = pg_backend_pid()) THEN
    INSERT INTO changed VALUES (
      pg_current_xact_id()::text, TG_TABLE_NAME,
      (CASE TG_TABLE_NAME WHEN 'assessors' THEN row->'number' ELSE row->'assessor' END)::bigint,
      (CASE WHEN TG_TABLE_NAME = 'units' THEN row->'number' WHEN taken THEN row->'unit' END)::bigint);
  END IF;
  RETURN NULL;
END $$;
"""
TRIGGER = "CREATE TRIGGER watch AFTER INSERT OR UPDATE OR DELETE ON {} FOR EACH ROW EXECUTE FUNCTION watch()"
OWN = {"answers", "assessors", "closing", "events", "reservations", "verdicts"}


def test_without_a_turn_a_step_changes_its_assessors_rows_and_takes_a_unit(tmp_path):
    """A step that changes more has to call `need_turn` first; here PostgreSQL itself notes what steps change."""
    path = write_study(tmp_path / "study", known=True, more="[checks]\nrevisions = 0\n")
    study = Study(open_store(new_database(one_postgres())), path)
    for statement in (WATCH, *(TRIGGER.format(table.name) for table in metadata.sorted_tables)):
        study.store.write(lambda c, text=statement: c.exec_driver_sql(text)).result()
    silent, quick, careless = (study.person() for _ in range(3))
    silent.until("document")
    study.clock.move(700)
    assert study.expire() == 1
    silent.send(**silent.good())  # comes back to its place, which is still free
    careless.until("document")
    for number in range(4):
        careless.send(value=str(number + 1) if careless.page.document.text.split()[-3] != "0" else "0.5")
    assert careless.page.kind == "stopped"  # the place of its unit is free again
    study.clock.move(200)
    quick.until("no_work")  # takes that unit, and then the one of the silent holder
    silent.send(**silent.good())  # comes back to a unit that somebody else has
    silent.until("done")
    rows = study.rows(sa.text("SELECT transaction, name, assessor, unit FROM changed"))
    study.store.close()
    assert {row.name for row in rows} == OWN | {"units"}
    for transaction in {row.transaction for row in rows}:
        mine = [row for row in rows if row.transaction == transaction]
        assert len({row.assessor for row in mine if row.name in OWN}) == 1, mine
        taken = {row.unit for row in mine if row.name == "reservations"}
        assert {row.unit for row in mine if row.name == "units"} <= taken, mine
