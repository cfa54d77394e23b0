"""Synthetic people: one impression behind all scales, the same from the same seed, and what is typed is taken."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.assessors.answers import grades, magnitudes, number, s100, typed
from judgewell.assessors.people import make_people
from judgewell.assessors.population import KINDS, Kind, Population
from judgewell.assessors.session import Session, Sight, _agreeing
from judgewell.assessors.truth import Truth
from judgewell.errors import DataError, InputError
from judgewell.study.checks import PairAgrees
from judgewell.study.questions import S100, Absolute, Binary, Bounded, Magnitude, Ordinal, Preference, Ratio

SCALES = (Binary(), Ordinal(), Magnitude(), Bounded(), Bounded(high=10), S100())


@given(st.floats(-60, 60), st.integers(1, 400), st.sampled_from(SCALES))
def test_every_answer_lies_on_its_scale(impression, seed, scale):
    person = make_people(1, seed)[0]
    scale.read(typed(scale, impression, person, Population(), np.random.default_rng(seed)))


@given(st.floats(0.01, 1e9))
def test_numbers_have_one_reading(value):
    assert Magnitude().read(number(round(value, 2))) == pytest.approx(round(value, 2))


def test_higher_impressions_never_get_lower_answers():
    seen = np.linspace(-8, 8, 400)
    rng = np.random.default_rng(1)
    people = Population()
    for answers in (
        grades(seen, 4, people),
        grades(seen, 7, people),
        s100(seen, people.nothing, people.everything, 1.0, 0.0, rng),
        magnitudes(seen, 10.0, 0.3, 1.0, 0.0, rng),
    ):
        assert (np.diff(answers) >= 0).all()
        assert len(np.unique(answers)) > 3


def test_people_depend_on_the_seed_and_not_on_how_many_come():
    assert make_people(5, 1) == make_people(50, 1)[:5]
    assert make_people(5, 1) != make_people(5, 2)


def test_kinds_come_in_their_shares():
    names = [person.kind.name for person in make_people(2000, 3)]
    for kind in KINDS:
        assert names.count(kind.name) / 2000 == pytest.approx(kind.share, abs=0.03)


def test_shares_that_do_not_add_up_are_refused():
    with pytest.raises(InputError, match=r"add up to 0\.5"):
        Population(kinds=(Kind("careful", 0.5),))


def test_worth_follows_the_grade_and_known_documents_are_clear():
    grade = {("t", f"d{n}"): float(n % 4) for n in range(800)}
    truth = Truth(1, grade, {("t", "d0"): "N", ("t", "d3"): "H"})
    means = [np.mean([truth.relevance("t", f"d{n}") for n in range(grade + 4, 800, 4)]) for grade in range(4)]
    assert means == pytest.approx(truth.population.grades, abs=0.4)
    assert truth.relevance("t", "d3") - truth.relevance("t", "d0") > 3
    assert (
        truth.relevance("t", "d5")
        == Truth(1, grade, {}).relevance("t", "d5")
        != Truth(2, grade, {}).relevance("t", "d5")
    )


def test_grades_beyond_those_of_synthetic_people_are_refused():
    with pytest.raises(DataError, match=r"topic t, document d: grade 2\.5"):
        Truth(1, {("t", "d"): 2.5}, {}).relevance("t", "d")


@given(st.integers(1, 300), st.integers(0, 30))
def test_the_three_answers_about_a_pair_agree(seed, document):
    truth = Truth(seed, {}, {})
    session = Session(make_people(1, seed)[0], truth)
    sight = Sight("pair", "t", docs=(f"d{document}", "other"), questions=("preference", "absolute", "ratio"))
    reply = session.reply(sight)
    if reply is None:
        return
    preferred = Preference().read(reply.form["preferred"])
    relevant = Absolute().read(reply.form["absolute"], preferred)
    scores = Ratio().read(reply.form["left_score"]), Ratio().read(reply.form["right_score"])
    assert PairAgrees()(preferred, relevant, scores), reply.form


def test_equal_numbers_are_parted_for_the_preferred_one():
    assert _agreeing([10.0, 10.0], (True, True), "right") == [10.0, pytest.approx(11.0)]
    assert _agreeing([10.0, 10.0], (False, False), "right") == [0.0, 0.0]


def test_one_impression_serves_all_scales():
    """Without passing noise a person orders documents alike by grades, magnitudes, 0–100 and pairs."""
    people = Population(lasting=1.0, assimilation_spread=0, drift_spread=0, abandons=0, kinds=(Kind("careful", 1.0),))
    person = make_people(1, 4, people)[0]
    docs = [f"d{n}" for n in range(30)]
    order = {}
    for scale in (Ordinal(), Magnitude(), S100()):
        session = Session(person, Truth(4, {}, {}, people))
        order[scale.kind] = [
            scale.read(session.reply(Sight("document", "t", docs=(d,), scale=scale)).form["value"]) for d in docs
        ]
    session = Session(person, Truth(4, {}, {}, people))
    for left, right in pairwise(docs):
        form = session.reply(Sight("pair", "t", docs=(left, right), questions=("preference",))).form
        for values in order.values():
            a, b = values[docs.index(left)], values[docs.index(right)]
            assert a == b or (a > b) == (form["preferred"] == "left")
    assert all(len(set(values)) > 2 for values in order.values())


def test_kinds_do_what_they_are_called():
    def answers(name, **sight):
        kind = next(kind for kind in KINDS if kind.name == name)
        people = Population(kinds=(Kind(**{**kind.__dict__, "share": 1.0}),), abandons=0)
        clear = {("t", "good"): "H", ("t", "bad"): "N"}
        replies = [
            Session(person, Truth(1, {}, clear, people)).reply(Sight("document", "t", scale=S100(), **sight))
            for person in make_people(150, 1, people)
        ]
        return np.mean([float(reply.form["value"]) for reply in replies]), np.median([r.seconds for r in replies])

    good = {name: answers(name, docs=("good",)) for name in [kind.name for kind in KINDS]}
    bad = {name: answers(name, docs=("bad",)) for name in [kind.name for kind in KINDS]}
    assert good["careful"][0] > bad["careful"][0] + 40
    assert good["reversed"][0] < bad["reversed"][0] - 40
    assert abs(good["random"][0] - bad["random"][0]) < 15
    assert bad["generous"][0] > bad["careful"][0] > bad["parsimonious"][0]
    assert good["too fast"][1] < 15 < 40 < good["careful"][1]


def test_those_who_read_do_not_write_one_comment_again_and_again():
    people = make_people(60, 1)
    truth = Truth(1, {("t", f"d{n}"): float(n % 4) for n in range(12)}, {}, Population())

    def shares(careless):
        found = []
        for person in people:
            if (person.kind.sense == 0 or person.kind.name in ("lazy", "too fast")) is careless:
                session = Session(person, truth)
                sights = [Sight("document", "t", docs=(f"d{n}",), scale=Magnitude(), comment=3) for n in range(12)]
                said = [reply.form["comment"] for sight in sights if (reply := session.reply(sight))]
                found.append(max(map(said.count, said)) / len(said))
        return found

    assert max(shares(careless=False)) <= 0.5
    assert min(shares(careless=True)) == 1
