"""Handing out work: never more than needed, never the same topic twice, and never stuck behind those who left."""

import random
from collections import Counter

import pytest
import sqlalchemy as sa
from judging import check_whole

from judgewell.server.judging.routes import sign_of_life
from judgewell.server.queries.status import status
from judgewell.server.session.assignment import LONGEST_IDLE, SILENT, SILENT_UNANSWERED
from judgewell.server.store.schema import answers, events, items, reservations, units
from judgewell.server.tokens import read_step


def alive(person):
    served = person.study.served
    turn = read_step(served.secret, person.number, person.page.step)
    return person.study.store.write(lambda c: sign_of_life(c, served, person.number, turn)).result()


def states(study):
    return [row.state for row in study.rows(sa.select(reservations).order_by(reservations.c.number))]


def test_a_place_is_given_to_as_many_as_are_needed_and_the_next_is_told_when_to_come_back(begin):
    study = begin(topics=1, redundancy=3)
    people = [study.person() for _ in range(4)]
    for person in people[:3]:
        assert person.send(action="agree").kind == "instructions"
    page = people[3].send(action="agree")
    assert (page.kind, page.minutes) == ("come_back", 1)
    check_whole(study.store)
    for person in people[:3]:
        person.until("done")
    assert people[3].page.kind == "no_work"
    assert study.person().page.kind == "no_work"
    assert study.rows(sa.select(sa.func.sum(units.c.free))) == [(0,)]


def test_silence_frees_a_place_and_life_keeps_it(begin):
    study = begin(topics=1)
    holder, waiting = study.person(), study.person()
    holder.until("document")
    waiting.send(action="agree")
    for _ in range(30):
        study.clock.move(100)
        assert alive(holder) == {"alive": True, "current": True, "seconds": study.served.silence}
        assert study.expire() == 0
    assert waiting.send().kind == "come_back"
    study.clock.move(study.served.silence + 1)
    assert study.expire() == 1
    assert waiting.send().kind == "instructions"
    assert states(study) == ["expired", "live"]
    check_whole(study.store)


def test_an_open_page_without_a_step_does_not_hold_its_unit_for_ever(begin):
    study = begin(topics=1)
    holder = study.person()
    holder.until("document")
    until = study.clock() + LONGEST_IDLE * study.served.silence
    while study.clock() < until:
        study.clock.move(300)
        alive(holder)
    assert study.expire() == 1


def test_the_longest_silent_unit_is_handed_out_again_when_nothing_else_is_left(begin):
    study = begin(topics=1, redundancy=2)
    first, second, third = (study.person() for _ in range(3))
    first.until("document", seconds=0)
    first.send(value="20")
    study.clock.move(30)
    second.until("document", seconds=0)
    second.send(value="20")
    study.clock.move(SILENT - 31)
    assert third.send(action="agree").kind == "come_back"
    study.clock.move(31)
    assert third.send().kind == "instructions"
    assert states(study) == ["expired", "live", "live"]
    handed = study.rows(sa.select(events.c.assessor).where(events.c.kind == "handed on"))
    assert handed == [(first.number,)]
    check_whole(study.store)


def test_who_answered_nothing_is_waited_for_less_and_who_answered_longer(begin):
    study = begin(topics=1, redundancy=2)
    answered, opened, waiting = (study.person() for _ in range(3))
    answered.until("document", seconds=0)
    answered.send(value="20")
    opened.until("document", seconds=0)
    study.clock.move(SILENT_UNANSWERED - 1)
    page = waiting.send(action="agree")
    assert (page.kind, page.minutes) == ("come_back", 1)
    study.clock.move(1)
    assert waiting.send().kind == "instructions"
    assert states(study) == ["live", "expired", "live"]
    assert study.person().send(action="agree").kind == "come_back"
    check_whole(study.store)


def test_who_comes_back_to_a_unit_that_was_passed_on_takes_another_and_is_paid_for_that_alone(begin):
    study = begin(topics=2, redundancy=1)
    silent, other = study.person(), study.person()
    silent.until("document", seconds=0)
    other.until("document", seconds=0)
    other.until("done")
    study.clock.move(SILENT_UNANSWERED)
    assert other.send(action="more").kind == "topic"  # the topic that the silent one had opened
    page = silent.send(value="20")
    assert page.kind == "come_back"
    assert page.notice == study.served.say("trouble.gone")
    study.clock.move(SILENT_UNANSWERED)
    assert silent.send().kind == "topic"  # nobody has answered there: the unit comes back
    assert silent.until("done")
    assert other.until("come_back", "no_work")
    assert sorted(states(study)) == ["done", "done", "expired"]
    assert study.rows(sa.select(units.c.free)) == [(0,), (0,)]
    check_whole(study.store)


def test_fifteen_who_open_a_page_and_leave_do_not_keep_others_waiting(begin):
    study = begin(topics=15, redundancy=1)
    for _ in range(15):
        assert study.person().send(action="agree").kind == "instructions"
    study.clock.move(SILENT_UNANSWERED)
    for _ in range(15):
        study.person().until("done", seconds=0)
    assert sorted(states(study)) == ["done"] * 15 + ["expired"] * 15
    check_whole(study.store)


@pytest.mark.parametrize("kind", ["magnitude", "pairs"])
def test_a_redundancy_of_three_is_three_people_however_many_units_of_a_topic_one_may_do(begin, kind):
    more = "[work]\nunits_per_topic = 9\nmost_units = 99\n"
    study = begin(kind=kind, topics=2, docs=10, size=4, redundancy=3, known=True, more=more)
    for _ in range(12):
        person = study.person()
        while person.until("done", "no_work", "come_back").kind == "done":
            if person.send(action="more").kind == "no_work":
                break
    query = (
        sa.select(answers.c.assessor, units.c.topic, items.c.doc, items.c.other)
        .join_from(answers, items, sa.and_(items.c.unit == answers.c.unit, items.c.position == answers.c.position))
        .join(units, units.c.number == items.c.unit)
        .where(answers.c.current, items.c.known.is_(None))
    )
    judged = [(who, topic, frozenset((doc, other))) for who, topic, doc, other in study.rows(query)]
    assert len(judged) == len(set(judged))
    people = Counter(what for _, *what in judged for what in [tuple(what)])
    assert min(people.values()) >= 3
    if kind == "magnitude":  # some did several units
        assert study.rows(sa.select(sa.func.max(reservations.c.round)))[0][0] > 1
    assert study.person().page.kind == "no_work"


def test_free_units_go_first_and_silent_ones_only_then(begin):
    study = begin(topics=1, redundancy=2)
    first = study.person()
    first.until("document", seconds=0)
    study.clock.move(SILENT + 10)
    assert study.person().send(action="agree").kind == "instructions"
    assert states(study) == ["live", "live"]


def test_who_comes_back_in_time_goes_on_and_who_comes_late_goes_on_too(begin):
    study = begin(topics=1)
    late, other = study.person(), study.person()
    page = late.until("document")
    late.send(value="20")
    study.clock.move(study.served.silence + 1)
    study.expire()
    page = late.send(value="21")
    assert page.progress.position == 3
    assert states(study) == ["live"]
    study.clock.move(study.served.silence + 1)
    study.expire()
    other.until("document")
    page = late.send(value="22")
    assert page.progress.position == 4
    assert states(study) == ["late", "live"]
    assert alive(late)["alive"] is False
    assert late.until("done").kind == "done"
    check_whole(study.store)
    assert other.until("done").kind == "done"
    assert states(study) == ["done", "done"]
    assert study.rows(sa.select(units.c.need, units.c.free)) == [(1, -1)]
    assert study.rows(sa.select(sa.func.count()).select_from(answers)) == [(8,)]
    check_whole(study.store)


def test_late_work_that_falls_silent_is_abandoned_and_can_go_on(begin):
    study = begin(topics=1)
    late, other = study.person(), study.person()
    late.until("document")
    late.send(value="20")
    study.clock.move(study.served.silence + 1)
    study.expire()
    other.until("document")
    late.send(value="22")
    assert states(study) == ["late", "live"]
    for _ in range(3):  # it lives on while its holder is there
        study.clock.move(study.served.silence * 0.6)
        alive(late)
        alive(other)
    study.expire()
    assert states(study) == ["late", "live"]
    study.clock.move(study.served.silence * 0.6)
    alive(other)
    study.clock.move(study.served.silence * 0.6)
    now = study.clock()
    topic = study.store.read(lambda c: status(c, now)).result().topics[0]
    assert (topic.in_progress, topic.abandoned) == (1, 1)
    assert study.expire() == 1
    assert states(study) == ["expired", "live"]
    assert study.rows(sa.select(units.c.need, units.c.free)) == [(1, 0)]
    check_whole(study.store)
    assert late.until("done").kind == "done"
    other.until("done")
    check_whole(study.store)


def test_late_work_that_fails_gives_no_place_back(begin):
    study = begin(topics=1, known=True, more="[checks]\nrevisions = 0\n")
    late, other = study.person(), study.person()
    late.until("document")
    page = late.send(value="5")
    study.clock.move(study.served.silence + 1)
    study.expire()
    other.until("document")
    while page.kind == "document":
        page = late.send(value="5")
    assert page.kind == "stopped"
    assert states(study) == ["failed", "live"]
    check_whole(study.store)


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
def test_a_clock_that_jumps_loses_nothing_and_blocks_nobody(begin, jump):
    study = begin(topics=1)
    holder, waiting = study.person(), study.person()
    holder.until("document")
    waiting.send(action="agree")
    study.clock.move(jump)
    assert holder.send(value="20").progress.position == 2
    assert study.rows(sa.select(answers.c.seconds))[0].seconds >= 0
    study.clock.move(jump)
    study.expire()
    study.clock.move(study.served.silence + 2)
    study.expire()
    assert waiting.send().kind == "instructions"
    assert holder.until("done").kind == "done"
    check_whole(study.store)


def test_people_who_open_a_page_and_leave_cost_nothing_in_the_end(begin):
    study = begin(topics=3, redundancy=2, more="[work]\nmost_units = 3\n")
    for _ in range(6):
        assert study.person().send(action="agree").kind == "instructions"
    assert study.person().send(action="agree").kind == "come_back"
    study.clock.move(study.served.silence + 1)
    for _ in range(2):
        person = study.person()
        for _ in range(3):
            if person.page.kind == "consent":
                person.send(action="agree")
            if person.page.kind == "come_back":
                study.expire()
                person.send()
            person.until("done")
            person.send(action="more")
    assert sorted(states(study)) == ["done"] * 6 + ["expired"] * 6
    assert study.person().page.kind == "no_work"
    check_whole(study.store)


def test_more_units_of_a_topic_where_the_study_allows_them(begin):
    study = begin(topics=1, docs=4, size=2, redundancy=1, more="[work]\nunits_per_topic = 2\n")
    person = study.person()
    person.until("done")
    assert person.send(action="more").kind == "topic"
    person.until("done")
    assert person.send(action="more").kind == "no_work"
    rows = study.rows(sa.select(reservations.c.round, reservations.c.unit).order_by("number"))
    assert [row.round for row in rows] == [1, 2]
    assert rows[0].unit != rows[1].unit


def test_a_double_click_a_second_tab_and_a_replay_store_once(begin):
    study = begin()
    person = study.person()
    first = person.until("document")
    second = person.send(value="20")
    again = person.send(step=first.step, value="99")
    assert person.outcome == "repeated"
    assert (again.step, again.progress.position) == (second.step, 2)
    third = person.send(value="30")
    for old in (first.step, second.step):
        assert person.send(step=old, value="99").step == third.step
    assert [row.value for row in study.rows(sa.select(answers).order_by("number"))] == [20, 30]
    assert len(study.rows(sa.select(events).where(events.c.kind == "repeated"))) == 3
    assert person.page.step == third.step


def test_the_database_itself_refuses_the_same_topic_and_two_standing_answers(begin, store):
    study = begin()
    person = study.person()
    person.until("document")
    person.send(value="20")
    for table, change in ((reservations, {"unit": 2}), (answers, {"revision": 2})):

        def twice(connection, table=table, change=change):
            row = dict(connection.execute(sa.select(table)).first()._mapping) | change
            row.pop("number")
            connection.execute(sa.insert(table).values(row))

        with pytest.raises(sa.exc.IntegrityError):
            store.write(twice).result()
    check_whole(store)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_whatever_people_do_in_whatever_order_the_counts_hold(begin, seed):
    study = begin(topics=3, docs=6, size=3, redundancy=2, known=True, more="[checks]\nrevisions = 1\n")
    rng = random.Random(seed)
    people = [study.person() for _ in range(5)]
    old = {person.number: [] for person in people}
    for _ in range(250):
        person = rng.choice(people)
        page = person.page
        old[person.number].append(page.step)
        action = rng.choice(["good"] * 12 + ["bad", "same", "back", "replay", "alive", "wait", "leave", "expire"])
        if action == "good":
            study.clock.move(rng.uniform(0, 30))
            person.send(**person.good(page))
        elif action == "bad":
            person.send(value="-1", choice="x", action="nonsense")
        elif action == "same" and page.kind == "document":
            person.send(value="5")
        elif action == "back":
            person.send(action="back", value="5")
        elif action == "replay":
            step = rng.choice(old[person.number][:-1] or [page.step])
            person.send(step=step, value="77")
            assert (person.outcome == "repeated") == (step != page.step)
        elif action == "alive":
            alive(person)
        elif action == "wait":
            study.clock.move(rng.choice([-4000, 50, 130, 700]))
        elif action == "leave":
            people[people.index(person)] = newcomer = study.person()
            old[newcomer.number] = []
        elif action == "expire":
            study.expire()
        check_whole(study.store)
    assert "done" in states(study)
