"""Acting on a running study: places stay right whatever the owner does, and everything is written down."""

import pytest
import sqlalchemy as sa
from judging import check_whole

from judgewell.errors import InputError
from judgewell.server.owner.access import audit_entries
from judgewell.server.owner.action_routes import OUTCOMES, outcome
from judgewell.server.owner.actions import ACTIONS, read_fields, run
from judgewell.server.queries.export import export
from judgewell.server.queries.progress import working
from judgewell.server.queries.standing_answers import judgments_frame
from judgewell.server.queries.status import status, status_text
from judgewell.server.store.schema import answers, assessors, audit, events, items, reservations, units
from judgewell.text import counted


def act(study, name, **fields):
    action = ACTIONS[name]
    given = read_fields(action, fields)
    return study.store.write(lambda c: run(c, study.served, study.clock(), action, given)).result()


def pseudonym(study, person):
    return study.rows(sa.select(assessors.c.pseudonym).where(assessors.c.number == person.number))[0][0]


def free(study):
    return [row.free for row in study.rows(sa.select(units.c.free).order_by(units.c.number))]


def test_a_paused_study_hands_out_nothing_and_work_in_hand_is_finished(begin):
    study = begin(topics=2, redundancy=2)
    working, coming = study.person(), study.person()
    working.until("document")
    act(study, "pause", reason="the instructions are unclear")
    page = coming.send(action="agree")
    assert page.kind == "come_back"
    assert "paused" in page.text
    assert working.until("done").kind == "done"
    assert working.send(action="more").kind in ("come_back", "done")
    assert len(study.rows(sa.select(reservations))) == 1
    act(study, "resume")
    assert coming.send().kind == "instructions"
    check_whole(study.store)


def test_a_paused_topic_leaves_the_others_open(begin):
    study = begin(topics=2)
    act(study, "pause", topic="t0")
    first, second = study.person(), study.person()
    first.send(action="agree")
    assert [row.topic for row in study.rows(sa.select(reservations))] == ["t1"]
    page = second.send(action="agree")
    assert page.kind == "come_back"
    first.until("done")
    assert "paused" in second.page.text
    with pytest.raises(InputError, match="no topic"):
        act(study, "pause", topic="t9")
    with pytest.raises(InputError, match="not paused"):
        act(study, "resume", topic="t1")


def test_released_and_extended_units(begin):
    study = begin(topics=1)
    holder, other = study.person(), study.person()
    holder.until("document", seconds=0)
    other.send(action="agree")
    (held,) = study.store.read(lambda connection: working(connection, study.clock())).result()
    act(study, "extend", assessor=held.pseudonym, unit=held.unit, minutes=120)
    study.clock.move(6000)
    assert study.expire() == 0
    assert other.send().kind == "come_back"
    study.clock.move(1300)
    assert study.expire() == 1
    holder.send(value="20")
    act(study, "release", assessor=held.pseudonym, reason="asked by mail")
    assert free(study) == [1]
    assert other.send().kind == "instructions"
    check_whole(study.store)
    with pytest.raises(InputError, match="does not hold a unit now"):
        act(study, "release", assessor=held.pseudonym)


def test_work_that_is_left_out_is_kept_and_its_place_is_free(begin, tmp_path):
    study = begin(topics=1)
    first, second = study.person(), study.person()
    first.until("done")
    name = pseudonym(study, first)
    assert free(study) == [0]
    act(study, "exclude", assessor=name, unit=study.rows(sa.select(units.c.unit))[0][0], reason="=nonsense")
    assert free(study) == [1]
    check_left_out(study, 1)
    export(study.store, tmp_path / "without")
    assert not (tmp_path / "without" / "judgments.csv").exists()
    assert (tmp_path / "without" / "excluded.csv").read_text().count("excluded") == 4
    assert "'=nonsense" in (tmp_path / "without" / "units.csv").read_text()
    export(study.store, tmp_path / "with", everything=True)
    assert (tmp_path / "with" / "judgments.csv").read_text().count("true") == 4
    second.until("done")
    act(study, "include", assessor=name, unit=study.rows(sa.select(units.c.unit))[0][0])
    assert free(study) == [-1]
    assert study.rows(sa.select(reservations.c.late).where(reservations.c.assessor == first.number)) == [(True,)]
    check_whole(study.store)
    assert len(study.rows(sa.select(answers))) == 8
    kinds = [row.kind for row in study.rows(sa.select(events.c.kind))]
    assert kinds.count("excluded") == kinds.count("included") == 1
    with pytest.raises(InputError, match="excluded"):
        act(study, "include", assessor=name)


def check_left_out(study, count):
    found = study.store.read(lambda c: status(c, study.clock())).result()
    assert [topic.excluded for topic in found.topics] == [count]
    assert [topic.completed for topic in found.topics] == [0]
    assert found.topics[0].complete == 0
    assert f"excluded: {counted(count, 'unit')} by" in status_text(found)
    frame = study.store.read(lambda c: judgments_frame(c, study.clock())).result()
    assert set(frame["ending"]) == {"excluded"}


def test_an_excluded_assessor_gets_no_more_and_what_is_in_hand_takes_no_place(begin):
    study = begin(topics=2, redundancy=1)
    person = study.person()
    person.until("done")
    person.send(action="more")
    name = pseudonym(study, person)
    assert act(study, "exclude", assessor=name, reason="not one of ours") == {"units": 2}
    assert free(study) == [1, 1]
    assert person.until("done", "no_work").kind in ("done", "no_work")
    assert free(study) == [1, 1]
    assert all(row.excluded for row in study.rows(sa.select(reservations.c.excluded)))
    assert act(study, "include", assessor=name) == {"units": 2}
    assert free(study) == [0, 0]
    check_whole(study.store)


def test_a_place_is_given_back_once_however_often_work_is_left_out(begin):
    study = begin(topics=1)
    person = study.person()
    person.until("done")
    name, unit = pseudonym(study, person), study.rows(sa.select(units.c.unit))[0][0]
    act(study, "exclude", assessor=name, unit=unit, reason="one")
    act(study, "exclude", assessor=name, reason="two")
    assert free(study) == [1]
    act(study, "include", assessor=name)
    assert free(study) == [1]
    act(study, "include", assessor=name, unit=unit)
    assert free(study) == [0]


def unit_docs(study, name):
    query = sa.select(items.c.doc, items.c.known).join(units, units.c.number == items.c.unit)
    return study.rows(query.where(units.c.unit == name).order_by(items.c.position))


def test_more_judgments_of_some_documents_are_extra_units_with_the_known_ones(begin):
    study = begin(topics=2, docs=10, size=5, known=True)
    before = study.rows(sa.select(units))
    made = act(study, "more", topic="t0", docs="t0d2\nt0d3", more=2)
    assert made["raised"] == []
    assert made["extra"] == ["more-1", "more-2"]
    numbers = {row.number: row.doc for row in study.rows(sa.text("SELECT number, doc FROM documents"))}
    asked = [numbers[row.doc] for name in made["extra"] for row in unit_docs(study, name)]
    for doc in ("t0d2", "t0d3"):
        assert asked.count(doc) >= 2
    for name in made["extra"]:
        assert len(unit_docs(study, name)) == 5
        assert {row.known for row in unit_docs(study, name)} == {"H", "N", None}
    assert [tuple(row) for row in study.rows(sa.select(units))][: len(before)] == [tuple(row) for row in before]
    person = study.person()
    person.until("done")
    check_whole(study.store)


def test_the_same_request_makes_the_same_units(begin, tmp_path):
    from judging import Study, write_study

    from judgewell.server.store.transactions import open_store

    study = begin(topics=1, docs=9, size=4)
    made = act(study, "more", topic="t0", docs=["t0d2", "t0d5"], more=3)
    other = open_store(tmp_path / "other.sqlite")
    twin = Study(other, write_study(tmp_path / "twin", topics=1, docs=9, size=4))
    assert act(twin, "more", topic="t0", docs=["t0d2", "t0d5"], more=3) == made
    assert [unit_docs(study, name) for name in made["extra"]] == [unit_docs(twin, name) for name in made["extra"]]
    other.close()


def test_more_of_a_whole_unit_raises_its_need(begin):
    study = begin(topics=1, docs=4, size=4)
    made = act(study, "more", topic="t0", docs=[f"t0d{number}" for number in range(4)], more=2)
    assert (len(made["raised"]), made["extra"]) == (1, [])
    assert [tuple(row) for row in study.rows(sa.select(units.c.need, units.c.free))] == [(3, 3)]
    with pytest.raises(InputError, match="not judged for topic"):
        act(study, "more", topic="t0", docs=["t1d0"])


def test_more_judgments_in_a_study_of_pairs_raise_groups(begin):
    study = begin(kind="pairs", topics=1, docs=8)
    needs = sum(row.need for row in study.rows(sa.select(units.c.need)))
    made = act(study, "more", topic="t0", docs=["t0d2", "t0d3"], more=1)
    assert made["extra"] == []
    assert 1 <= len(made["raised"]) <= 2
    assert sum(row.need for row in study.rows(sa.select(units.c.need))) == needs + len(made["raised"])
    check_whole(study.store)


def test_every_action_is_written_down_and_a_failed_one_is_not(begin):
    study = begin(topics=1)
    act(study, "pause", reason="lunch")
    with pytest.raises(InputError):
        act(study, "release", assessor="a-nobody")
    with pytest.raises(InputError, match="assessor is missing; release takes assessor"):
        act(study, "release")
    entries = study.store.read(audit_entries).result()
    assert [(entry.action, entry.target, entry.account) for entry in entries] == [("pause", "the study", None)]
    assert entries[0].data["reason"] == "lunch"
    assert study.store.read(lambda c: audit_entries(c, before=entries[0].number)).result() == []
    assert len(study.rows(sa.select(audit))) == 1


@pytest.mark.parametrize(
    "given",
    [
        {"minutes": "nan", "assessor": "a"},
        {"minutes": "1e9", "assessor": "a"},
        {"assessor": "", "minutes": 5},
        {"assessor": "a", "minutes": 5, "strange": 1},
        {},
    ],
)
def test_fields_that_make_no_sense_are_refused_in_one_line(given):
    with pytest.raises(InputError, match="takes assessor, unit, minutes") as refused:
        read_fields(ACTIONS["extend"], given)
    assert "\n" not in str(refused.value)


def test_the_owner_reads_what_an_action_did(begin):
    study = begin(topics=2, redundancy=2)
    assert set(OUTCOMES) == set(ACTIONS)
    person = study.person()
    person.until("done")
    name = pseudonym(study, person)
    done = [
        outcome(ACTIONS[action], act(study, action, **fields))
        for action, fields in (
            ("pause", {"topic": "t1"}),
            ("resume", {"topic": "t1"}),
            ("exclude", {"assessor": name, "reason": "asked to"}),
            ("include", {"assessor": name}),
        )
    ]
    assert done == [
        "Topic t1 is paused: no new units are handed out.",
        "Topic t1 is resumed: units are handed out again.",
        "Work is excluded: 1 unit.",
        "Work is included again: 1 unit.",
    ]
    more = outcome(ACTIONS["more"], act(study, "more", topic="t0", docs=["t0d2"], more=1))
    assert more.startswith("More judgments of 1 document are asked for (")
    forgotten = {"assessors": 1, "answers": 4, "invited": True, "still in the log": "somebody reads the database"}
    later = outcome(ACTIONS["forget"], forgotten)
    assert later.endswith("Not deleted from the database's own log: somebody reads the database.")


def test_a_topic_or_scale_that_is_not_there_is_named_with_those_that_are(begin):
    study = begin(topics=2)
    with pytest.raises(InputError, match=r"^there is no topic 'zz'; judgewell status shows the topics$"):
        act(study, "more", topic="zz", docs=["t0d2"])
    with pytest.raises(InputError, match=r"^topic 't0' has no units on the scale 'zz'; its units are on magnitude$"):
        act(study, "more", topic="t0", docs=["t0d2"], scale="zz")
