"""A study with a goal: it makes units while it runs, keeps the rules of the design, and stops when it is sure."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import polars as pl
import pytest
import sqlalchemy as sa
from databases import new_database, new_file
from judging import recomputed
from starlette.testclient import TestClient
from waiting import HANG, wait_until

from judgewell.analysis.goals.look import Rule
from judgewell.assessors.people import make_people
from judgewell.assessors.simulation import Clock, fill, truth_of
from judgewell.sample import folder
from judgewell.server.app import make_app
from judgewell.server.judging.invitations import new_assessor
from judgewell.server.limits import Rate
from judgewell.server.owner.access import make_key
from judgewell.server.owner.accounts import add_account
from judgewell.server.owner.webhook import happened
from judgewell.server.process import Server
from judgewell.server.queries.goal import ContestedPair, GoalProgress
from judgewell.server.queries.progress import overview
from judgewell.server.queries.standing_answers import counting, judgments_frame
from judgewell.server.queries.status import status, status_text
from judgewell.server.session import goal
from judgewell.server.session.goal_evidence import collected
from judgewell.server.session.limits import limits_of, more_to_come
from judgewell.server.session.served import load_served
from judgewell.server.store.schema import assessors, batches, events, goals, items, pauses, reservations, topics, units
from judgewell.server.store.schema import study as study_table
from judgewell.server.store.setup import prepare
from judgewell.server.store.transactions import open_store
from judgewell.server.web import Pages

STUDY = f"""[study]
name = "goal"
seed = 7
[topics]
file = "{folder()}/topics.jsonl"
[documents]
file = "{folder()}/documents.jsonl"
[pool]
runs = "{folder()}/runs/*.run.gz"
depth = 5
[grades]
file = "{folder()}/levels.qrels"
[known]
high = [3]
low = [0]
[scale]
kind = "s100"
[units]
documents = 8
redundancy = 6
[work]
most_units = 50
units_per_topic = 4
[checks]
known = "strict"
[pay]
amount = 1.5
[goal]
systems = "{folder()}/runs/*.run.gz"
within = 0.05
"""


def write(path: Path, *changes: tuple[str, str]) -> Path:
    text = STUDY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def filled(request, tmp_path_factory):
    """A study that synthetic assessors have taken to its end."""
    path = tmp_path_factory.mktemp("goal")
    file = new_file(path / "goal.sqlite")
    place = file if request.param == "sqlite" else new_database(request.getfixturevalue("postgres"))
    store = open_store(place)
    study = write(path / "study.toml")
    fill(store, study, make_people(80, 1), seed=1)
    served = store.read(lambda connection: load_served(connection, lambda: 1_700_100_000.0)).result()
    yield store, served
    store.close()


_LOOKED = batches.c.completed.is_not(None)


def rows(store, query):
    return store.read(lambda connection: connection.execute(query).all()).result()


def test_the_study_stops_by_itself_and_says_why(filled):
    store, _ = filled
    (pause,) = rows(store, sa.select(pauses))
    assert "is the best system, or within 5 points of the best, by DCG@10" in pause.reason
    assert "overstated by 2 to 7 %" in pause.reason
    last = rows(store, sa.select(batches.c.look).where(_LOOKED).order_by(batches.c.number))[-1]
    assert last.look["status"] == "decided"
    assert rows(store, sa.select(goals.c.ended))[0].ended == pause.at


def test_the_owner_is_told_the_conclusion_when_it_ends(filled):
    store, served = filled
    news = {one.kind: one.text for one in store.read(lambda connection: happened(connection, served)).result()}
    (pause,) = rows(store, sa.select(pauses))
    assert news["ended"] == pause.reason


def test_the_conclusion_about_two_systems_names_both():
    systems, rule = SimpleNamespace(names=("A", "B")), Rule(within=2.0)
    plan = SimpleNamespace(systems=systems, rule=rule, low=0.0, measure="DCG@10")
    said = goal.sentence(plan, SimpleNamespace(status="decided", leader=1, answers=1252))
    better = "B is better than A, or within 2 points of it, by DCG@10"
    assert said.startswith(
        f"{better} after 1,252 judgments, not counting known documents shown only as checks. Differences"
    )


def test_it_asks_for_a_fraction_of_the_even_design(filled):
    store, _ = filled
    given = rows(store, sa.select(sa.func.count()).select_from(reservations).where(reservations.c.state == "done"))
    pool = len(rows(store, sa.select(goals.c.plan))[0].plan["pool"]["doc"])
    assert given[0][0] * 6 < 0.5 * 6 * pool


def test_nobody_judges_a_document_twice_and_every_unit_holds_the_known_documents(filled):
    store, served = filled
    frame = store.read(lambda connection: judgments_frame(connection, served.clock())).result()
    own = frame.filter(pl.col("known").is_null())
    assert not own.select("assessor", "topic", "doc").is_duplicated().any()
    in_units = rows(
        store,
        sa.select(items.c.unit, sa.func.count(items.c.known)).group_by(items.c.unit),
    )
    assert {count for _, count in in_units} == {2}


def test_a_replay_gives_the_same_batches(filled):
    store, served = filled
    compared = recomputed(store, served)
    assert len(compared) > 3
    assert all(stored == again for stored, again in compared)


def test_answers_that_were_read_before_stop_counting_when_their_unit_is_excluded(filled):
    store, served = filled

    def answers():
        return store.read(lambda connection: collected(connection, served, served.clock())).result().answers

    before = answers()
    done = sa.select(reservations.c.number, units.c.size).join_from(reservations, units)
    one, size = rows(store, done.where(reservations.c.state == "done").limit(1))[0]
    mine = sa.update(reservations).where(reservations.c.number == one)
    store.write(lambda connection: connection.execute(mine.values(excluded=True))).result()
    fewer = answers()
    store.write(lambda connection: connection.execute(mine.values(excluded=False))).result()
    assert len(fewer) == len(before) - size
    assert answers().equals(before)


def test_the_log_holds_every_batch_and_look(filled):
    store, _ = filled
    kinds = [row.kind for row in rows(store, sa.select(events.c.kind).where(events.c.kind.like("goal %")))]
    made, looked = len(rows(store, sa.select(batches))), len(rows(store, sa.select(batches).where(_LOOKED)))
    assert kinds.count("goal batch") == made - 1  # the first one comes with the study
    assert kinds.count("goal look") == looked
    assert kinds.count("goal ended") == 1


def test_inclusion_probabilities_travel_with_the_export(filled):
    store, served = filled
    frame = counting(store.read(lambda connection: judgments_frame(connection, served.clock())).result())
    drawn = frame.filter(pl.col("known").is_null(), pl.col("inclusion").is_not_null())
    assert drawn.height > 50
    assert drawn["inclusion"].is_between(0, 1, closed="right").all()
    assert drawn.group_by("topic", "doc").agg(pl.col("inclusion").n_unique())["inclusion"].max() == 1
    known = frame.filter(pl.col("known").is_not_null())  # in every unit of their topics
    assert known.height > 50
    assert (known["inclusion"] == 1).all()


def test_status_and_overview_show_the_goal(filled):
    store, served = filled
    state = store.read(lambda connection: status(connection, served.clock())).result()
    assert state.goal is not None
    assert state.goal.status == "decided"
    assert "is the best system" in status_text(state)
    assert "ended: the goal is reached" in status_text(state)
    assert "paused" not in status_text(state)
    glance = store.read(lambda connection: overview(connection, served, served.clock())).result()
    assert glance.goal == state.goal
    assert glance.remaining == 0


def test_the_page_keeps_the_pairs_and_their_probabilities_when_the_study_has_ended(filled):
    store, served = filled
    state = store.read(lambda connection: status(connection, served.clock())).result()
    client = TestClient(make_app(store, served.clock, 1000.0))
    name, now = Server(store, served, Rate(1, 1), Pages()).cookie, served.clock()
    key = store.write(lambda c: make_key(c, add_account(c, now, "Ada", "owner"), "session", now, 600.0)).result()
    client.cookies.set(f"{name}-owner", key)
    page = client.get("/owner").text
    assert "Pairs of systems when the study ended" in page
    assert state.goal.contested
    for pair in state.goal.contested[:10]:
        assert pair.first == state.goal.leader
        assert f"ahead of {pair.second}" in page
    sure = [pair.probability for pair in state.goal.contested]
    assert sure == sorted(sure)
    assert sure[0] > 0.99  # which is why it ended
    heads = re.findall(r'<th scope="col"[^>]*>(\w+)', page.split("when the study ended")[-1])
    assert heads[:3] == ["pair", "probability", "difference"]
    assert "99.87 % needed" in page


def test_places_that_come_free_after_the_end_are_closed(filled):
    store, served = filled
    store.write(lambda c: c.execute(sa.update(units).where(units.c.number == 1).values(free=1, need=2))).result()
    assert goal.advance(store, served) is False
    assert rows(store, sa.select(units.c.free, units.c.need).where(units.c.number == 1)) == [(0, 1)]


@pytest.fixture
def begun(database, tmp_path):
    store = open_store(database)
    clock = Clock()
    prepare(store, write(tmp_path / "study.toml"), clock)
    served = store.read(lambda connection: load_served(connection, clock)).result()
    yield store, served, clock, database
    store.close()


def test_synthetic_assessors_know_the_known_documents_of_units_still_to_be_made(begun, tmp_path):
    store, *_ = begun
    of_topics = rows(store, sa.select(goals.c.known))[0].known
    store.write(lambda connection: connection.execute(sa.update(items).values(known=None))).result()
    known = truth_of(store, tmp_path / "study.toml", 1).known
    assert known == {(topic, doc): side for topic, docs in of_topics.items() for doc, side in docs.items()}
    assert len(of_topics) == 8


def test_before_the_first_answer_there_is_one_batch_and_no_leader(begun):
    store, served, clock, _ = begun
    assert [row.number for row in rows(store, sa.select(batches.c.number))] == [1]
    state = store.read(lambda connection: status(connection, clock())).result()
    assert (state.goal.leader, state.goal.complete, state.goal.batches) == (None, 0, 1)
    assert "The systems are compared for the first time when the first batch is complete." in status_text(state)
    assert goal.advance(store, served) is False


def test_the_money_to_come_is_that_of_the_way_to_the_end(begun):
    """Not only that of the units made so far."""
    store, served, clock, _ = begun
    made = store.read(lambda connection: overview(connection, served, clock())).result()
    assert made.money.units_to_come == made.remaining
    seen = {"next": {"answers": 100, "contested": 1, "to_end": 600, "units": 100, "completed": 0}}
    store.write(lambda c: c.execute(sa.update(batches).values(completed=clock(), look=seen))).result()
    far = store.read(lambda connection: overview(connection, served, clock())).result()
    assert far.money.units_to_come == far.goal.units_to_end == 100 > made.remaining
    assert far.goal.money_to_end == far.money.still_to_come == 150.0

    def complete(connection):
        row = {"assessor": new_assessor(connection, "invite", clock()), "unit": 1, "round": 1, "state": "done"}
        row |= {"topic": "kettle", "created": 0, "seen": 0, "expires": 0, "late": False, "revisions": 0, "backs": 0}
        connection.execute(sa.insert(reservations), row | {"finished": clock()})

    store.write(complete).result()
    later = store.read(lambda connection: overview(connection, served, clock())).result()
    assert (later.goal.to_end, later.goal.units_to_end, later.money.units_to_come) == (594, 99, 99)


def test_status_warns_of_a_budget_below_the_way_to_the_end(begun):
    """By the same units as the overview, not by those made so far."""
    store, _served, clock, _ = begun
    seen = {"next": {"answers": 100, "contested": 1, "to_end": None, "units": 100, "completed": 0}, "leader": "a"}
    store.write(lambda c: c.execute(sa.update(batches).values(completed=clock(), look=seen))).result()
    frozen = rows(store, sa.select(study_table.c.frozen))[0].frozen
    frozen["settings"]["pay"]["budget"] = 15
    store.write(lambda c: c.execute(sa.update(study_table).values(frozen=frozen))).result()
    text = status_text(store.read(lambda connection: status(connection, clock())).result())
    assert "The budget pays for 10 of the 100 units still needed" in text
    assert "the study will use all units of its design (100 units more, 150.00 USD) without reaching its goal." in text


def test_what_is_expected_until_the_stop_includes_units_that_are_not_complete(filled):
    """At each look: the units expected then, and those completed, are never more than the whole design."""
    store, _served = filled
    whole = rows(store, sa.select(goals.c.plan))[0].plan["rule"]["most_units"]
    ended = rows(store, sa.select(sa.func.count()).select_from(units))[0][0]
    assert ended <= whole
    for row in rows(store, sa.select(batches.c.look).where(_LOOKED).order_by(batches.c.number))[:-1]:
        coming = row.look["next"]
        assert coming["units"] > 0
        assert coming["completed"] + coming["units"] <= whole


def test_units_are_full_while_their_topics_have_documents(filled):
    """Known documents, which are in every unit, take no place of the others."""
    store, _ = filled
    sizes = [row.size for row in rows(store, sa.select(units.c.size))]
    assert sum(size == 8 for size in sizes) >= 0.8 * len(sizes)


def test_nobody_waits_for_units_of_a_topic_in_which_their_work_was_excluded(begun):
    """A unit that was given up before its first answer counts for nothing, unless it is excluded."""
    store, served, clock, _ = begun

    names = [row.topic for row in rows(store, sa.select(topics.c.topic))]
    size = {"size": 1, "need": 1, "free": 0}
    made = [
        {"number": at, "place": at, "unit": f"of {topic}", "topic": topic, **size}
        for at, topic in enumerate(names, 900)
    ]
    store.write(lambda connection: connection.execute(sa.insert(units), made)).result()

    def hopes(connection, excluded):
        who, now = new_assessor(connection, "invite", clock()), clock()
        row = {"assessor": who, "round": 1, "state": "expired", "created": now, "seen": now, "expires": now}
        row |= {"late": False, "excluded": excluded, "revisions": 0, "backs": 0}
        connection.execute(
            sa.insert(reservations), [row | {"topic": one["topic"], "unit": one["number"]} for one in made]
        )
        return more_to_come(connection, served, replace(limits_of(connection, served, who), most=1))

    assert store.write(lambda c: [hopes(c, True), hopes(c, False)]).result() == [False, True]


def test_units_are_made_when_none_is_free_and_two_processes_make_them_once(begun):
    store, served, _, database = begun
    store.write(lambda c: c.execute(sa.update(units).values(free=0))).result()
    other = open_store(database)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda one: goal.advance(one, served), (store, other)))
    other.close()
    made = rows(store, sa.select(batches).order_by(batches.c.number))
    assert len(made) >= 2
    assert [row.number for row in made] == list(range(1, len(made) + 1))
    names = [row.unit for row in rows(store, sa.select(units.c.unit))]
    assert len(names) == len(set(names))
    assert all(stored == again for stored, again in recomputed(store, served))


def test_as_many_units_are_made_as_people_wait_for(begun):
    store, served, clock, _ = begun
    store.write(lambda c: c.execute(sa.update(units).values(free=0))).result()

    def let_wait(connection):
        for _ in range(30):
            number = new_assessor(connection, "invite", clock())
            connection.execute(sa.update(assessors).where(assessors.c.number == number).values(stage="waiting"))

    store.write(let_wait).result()
    assert goal.advance(store, served) is True
    assert len(rows(store, sa.select(units).where(units.c.free > 0))) >= 31


def test_a_round_waits_for_what_was_finished_before_it(begun):
    """Else a batch would be made without answers that a replay finds to be older than it."""
    store, served, clock, _ = begun
    writing, done = Event(), Event()

    def finish(connection):
        finished = clock()
        writing.set()
        done.wait(HANG)
        connection.execute(sa.update(units).values(free=0))
        return finished

    finishing = store.write(finish)
    writing.wait(HANG)
    clock.now += 1
    with ThreadPoolExecutor(1) as pool:
        round_ = pool.submit(goal.advance, store, served)
        wait_until(lambda: store.waiting or round_.done())
        assert not round_.done()
        done.set()
        assert round_.result() is True  # it saw that no unit was free
    assert finishing.result() < clock.now


def test_a_batch_does_not_wait_for_somebody_who_has_gone(begun):
    store, served, clock, _ = begun

    def leave(connection):
        number = new_assessor(connection, "invite", clock())
        gone = {"assessor": number, "unit": 1, "topic": "kettle", "round": 1, "state": "live", "late": False}
        gone |= {"created": clock(), "seen": clock(), "expires": clock() + 9999, "revisions": 0, "backs": 0}
        connection.execute(sa.insert(reservations), gone)
        connection.execute(sa.update(units).where(units.c.number == 1).values(free=0))

    store.write(leave).result()
    goal.advance(store, served)
    assert rows(store, sa.select(reservations.c.state)) == [("live",)]
    clock.now += 46
    goal.advance(store, served)
    assert rows(store, sa.select(reservations.c.state)) == [("expired",)]
    assert rows(store, sa.select(units.c.free).where(units.c.number == 1)) == [(1,)]


def test_a_cap_that_is_reached_is_no_conclusion(tmp_path):
    """Systems that are equal but for noise cannot be told apart, and the study says so instead of guessing."""
    store = open_store(new_file(tmp_path / "goal.sqlite"))
    changes = (("redundancy = 6", "redundancy = 1"), ("within = 0.05", "within = 0.0"))
    fill(store, write(tmp_path / "study.toml", *changes), make_people(60, 2), seed=2)
    served = store.read(lambda connection: load_served(connection, time.time)).result()
    state = store.read(lambda connection: status(connection, served.clock())).result()
    store.close()
    assert state.goal.status == "not separable"
    assert "not separable at this cost" in state.goal.reason
    assert state.completed <= state.needed


def test_a_study_of_pairs_asks_for_the_pairs_that_matter(tmp_path):
    groups = '[groups]\ndocuments = 4\npartners = 3\nshare = 0.5\nassessors = 2\nquestions = ["preference"]\n'
    study = write(
        tmp_path / "study.toml",
        ('[scale]\nkind = "s100"\n[units]\ndocuments = 8\nredundancy = 6\n', groups),
        ("within = 0.05", "within = 0.1"),
    )
    store = open_store(new_file(tmp_path / "goal.sqlite"))
    filled = fill(store, study, make_people(80, 1), seed=1)
    served = store.read(lambda connection: load_served(connection, lambda: 1_700_100_000.0)).result()
    state = store.read(lambda connection: status(connection, served.clock())).result()
    compared = recomputed(store, served)
    pairs = rows(store, sa.select(items.c.unit, items.c.doc, items.c.other, items.c.known))
    looks = [row.look for row in rows(store, sa.select(batches.c.look).order_by(batches.c.number)) if row.look]
    store.close()
    assert filled.done > 10
    assert state.goal.complete >= 1
    assert state.goal.status == "decided"
    assert "differences at such a stop were off by -6 to +6 %" in state.goal.reason
    assert looks[0]["next"]["answers"] == 100
    assert looks[0]["next"]["units"] == -(-looks[0]["next"]["to_end"] // 5)  # 5 pairs a unit beside the known one
    assert len(compared) > 1
    assert all(stored == again for stored, again in compared)
    in_units = {row.unit for row in pairs}
    assert {row.unit for row in pairs if row.known is not None} == in_units  # each has the known pair
    own = [(row.unit, frozenset((row.doc, row.other))) for row in pairs if row.known is None]
    assert len(own) == len(set(own))


@pytest.mark.parametrize(("difference", "lead"), [(0.04, "No system is ahead of all others yet."), (2.0, "a leads.")])
def test_a_system_leads_only_when_it_is_ahead(difference, lead):
    progress = GoalProgress(
        *("best", "DCG@10", "collecting", "more is needed", 10, 3, 1, "a", (ContestedPair("a", "b", difference, 0.6),)),
        *(1, 100, 1, None, None, None, "EUR", None),
    )
    unknown = replace(progress, contested=(ContestedPair("a", "b", difference, 0.5),))
    assert unknown.sentences[1:] == ["It is too early to say which system is ahead: every topic needs judgments first."]
    text = progress.sentences
    assert text[1] == f"{lead} More is needed."
    assert text[2:] == ["1 pair of systems is still open."]
    told = replace(progress, to_end=12, units_to_end=3, money_to_end=4.5, needed=0.99865).sentences
    assert told[2] == (
        "The study tests after every batch. Each test needs a probability of 99.87 % for every pair, so that all tests "
        "together are right with 95 % confidence."
    )
    assert told[-1].startswith("About 12 more judgments in 3 units are expected until the study can stop (4.50 EUR)")
