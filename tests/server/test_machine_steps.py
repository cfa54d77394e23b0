"""Machines at the session's own door, on both databases: what they may take, and what only they may send."""

from __future__ import annotations

from functools import partial

import pytest
import sqlalchemy as sa
from judging import Study, check_whole, write_study

from judgewell.server.judging.invitations import new_assessor
from judgewell.server.queries.machines import machine_rows
from judgewell.server.queries.standing_answers import judgments_frame
from judgewell.server.session.assignment import reserve_ahead
from judgewell.server.session.steps import take
from judgewell.server.store.schema import MACHINE, answers, assessors, machines, reservations, units


def new_machine(study, name="m"):
    def make(connection):
        number = new_assessor(connection, MACHINE, study.clock(), name)
        row = {"fingerprint": name, "model": name, "sample": 1, "endpoint": "http://127.0.0.1:1", "prompts": {}}
        connection.execute(sa.insert(machines).values(assessor=number, settings={}, currency="USD", **row))
        return number

    return study.store.write(make).result()


def ahead(study, machine, most):
    job = partial(reserve_ahead, served=study.served, machine=machine, most=most, now=study.clock())
    return study.store.write(job).result()


def send(study, machine, **form):
    turn = study.rows(sa.select(assessors.c.turn).where(assessors.c.number == machine))[0][0]
    sent = {name: (value,) for name, value in form.items()}
    job = partial(take, served=study.served, assessor=machine, turn=turn, form=sent)
    return study.store.write(job).result()


def to_work(study, machine):
    taken = send(study, machine, action="agree")
    while taken.page.kind != "document":
        taken = send(study, machine)
    return taken


def test_a_machine_takes_every_document_once_and_people_take_the_rest(store, tmp_path):
    study = Study(store, write_study(tmp_path / "s", docs=8, size=4, redundancy=3, known=True))
    machine = new_machine(study)
    held = ahead(study, machine, 100)
    query = sa.select(units.c.topic, sa.func.count(), sa.func.sum(units.c.free)).group_by(units.c.topic)
    assert study.rows(query.order_by(units.c.topic)) == [("t0", 9, 6), ("t1", 9, 6)]
    assert len(held) == 6  # of each topic three units with two known and two of six others
    assert ahead(study, machine, 100) == held
    person = study.person()
    person.until("document")
    rows = study.rows(sa.select(reservations.c.unit).where(reservations.c.assessor == person.number))
    assert {row.unit for row in rows}.isdisjoint(held)
    check_whole(study.store)


def test_units_of_a_machine_live_on_together_and_expire_together(store, tmp_path):
    study = Study(store, write_study(tmp_path / "s", docs=8, size=4, redundancy=1))
    machine = new_machine(study)
    held = ahead(study, machine, 3)
    study.clock.move(study.served.silence - 1)
    assert ahead(study, machine, 3) == held
    study.clock.move(study.served.silence - 1)
    assert study.expire() == 0
    study.clock.move(10)
    assert study.expire() == 3
    assert sorted(ahead(study, machine, 3)) == sorted(held)
    check_whole(study.store)


def test_only_a_machine_may_leave_a_place_unrated(store, tmp_path):
    study = Study(store, write_study(tmp_path / "s", docs=4, size=4, redundancy=2))
    machine = new_machine(study)
    to_work(study, machine)
    send(study, machine, unrateable="refused", active="1.5")
    for value in ("10", "20", "30"):
        send(study, machine, value=value, active="2.5", expected="11", spread="0.5")
    person = study.person()
    person.until("document")
    page = person.send(unrateable="refused")
    assert person.outcome == "not taken"
    assert page.problem_field == "value"
    rows = study.rows(sa.select(answers.c.value, answers.c.unrateable, answers.c.seconds).order_by(answers.c.position))
    assert rows == [(None, "refused", 1.5), (10.0, None, 2.5), (20.0, None, 2.5), (30.0, None, 2.5)]
    with store.snapshot() as connection:
        frame = judgments_frame(connection, study.clock())
        (row,) = machine_rows(connection, study.clock())
    assert frame["value"].to_list() == [10.0, 20.0, 30.0]
    assert set(frame["expected"]) == {11.0}
    assert (row.completed, row.answers, row.unrateable) == (1, 3, 1)
    check_whole(study.store)


@pytest.mark.parametrize("kind", ["magnitude", "pairs"])
def test_an_unrated_unit_is_completed_without_an_answer(store, tmp_path, kind):
    study = Study(store, write_study(tmp_path / "s", kind=kind, topics=1, known=True, more="[checks]\nrevisions = 0\n"))
    machine = new_machine(study)
    taken = send(study, machine, action="agree")
    while taken.page.kind not in ("document", "pair"):
        taken = send(study, machine)
    while taken.page.kind in ("document", "pair"):
        taken = send(study, machine, unrateable="unreadable", active="1")
    assert taken.page.kind == "done"
    with store.snapshot() as connection:
        assert judgments_frame(connection, study.clock()).is_empty()
        (row,) = machine_rows(connection, study.clock())
    assert (row.completed, row.answers) == (1, 0)
    assert row.unrateable > 0
