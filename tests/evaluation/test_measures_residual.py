"""The residual bounds what judging the unjudged documents can do to a value."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.evaluation.measures import all_measures, parse

NAN = float("nan")
ASKED = [
    "RBP(p=0.8)", "RBP(p=0.8)@3", "RBP(p=0.5,rel=0.5)", "INST", "INST(T=0.5)@4", "INST(T=4)", "P(rel=0.5)@4", "CG@5",
    "DCG@5", "DCG(gain='exp2',discount='zipf')@5", "ERR(gmax='topic')@5", "ERR(gmax=1)@3", "RR(rel=0.5)",
    "RR(rel=0.5)@4", "ERR(gmax=1,stop='linear')@4", "Success(rel=0.5)@3", "ExpectedRel@4",
    "ExpectedP@4", "INSQ", "INSQ(T=3)@4", "SDCG@5", "INST(max_rel=1)",
]  # fmt: skip
GAIN = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0, 1)


@st.composite
def completions(draw):
    """A ranking with unjudged documents, and the same ranking judged and longer."""
    ranking = draw(st.lists(GAIN | st.just(NAN), max_size=8))
    found = [draw(GAIN) if np.isnan(gain) else gain for gain in ranking]
    return np.array(ranking), np.array(found + draw(st.lists(GAIN, max_size=4)))


@pytest.mark.parametrize("name", ASKED)
@given(case=completions())
def test_every_completion_lies_between_value_and_value_plus_residual(name, case):
    ranking, completed = case
    measure = parse(name).prepared(1.0)
    ideal = np.array([1.0])
    low, residual = float(measure(ranking, ideal)), float(measure.residual(ranking, ideal))
    value = float(measure(completed, ideal))
    assert low - 1e-9 <= value <= low + residual + 1e-9


@pytest.mark.parametrize("name", ASKED)
def test_the_residual_is_reached_when_all_that_is_unjudged_is_best(name):
    measure = parse(name).prepared(1.0)
    ranking = np.array([0.25, NAN, 0.0, NAN, 1.0, NAN])
    ideal = np.array([1.0])
    reached = float(measure(ranking, ideal)) + float(measure.residual(ranking, ideal))
    best = np.concatenate([np.nan_to_num(measure.top(ranking), nan=1.0), np.ones(20_000)])
    if not measure.residual_needs_cutoff and measure.name != "RR":  # which count what lies behind the cutoff too
        measure = dataclasses.replace(measure, cutoff=None)
    assert reached == pytest.approx(float(measure(best, ideal)), abs=1e-3 if measure.name in ("INST", "INSQ") else 1e-9)


def test_the_residual_of_a_whole_judged_ranking_is_its_tail():
    gains, ideal = np.array([1.0, 0, 1]), np.array([1.0, 1, 0])
    assert float(parse("RBP(p=0.9).residual")(gains, ideal)) == pytest.approx(0.9**3)
    assert float(parse("RBP(p=0.9)@2.residual")(gains, ideal)) == pytest.approx(0.9**2)
    assert float(parse("P@3.residual")(gains, ideal)) == 0
    assert float(parse("P@10.residual")(gains, ideal)) == pytest.approx(0.7)
    assert float(parse("RR.residual")(np.array([0.0, NAN, 1]), ideal)) == pytest.approx(1 / 2 - 1 / 3)


def test_the_best_gain_is_that_of_the_collection():
    gains, ideal = np.array([NAN, 1.0]), np.array([1.0])
    measure = parse("DCG@2.residual")
    assert float(measure(gains, ideal)) == pytest.approx(1.0)
    assert float(measure.prepared(3.0)(gains, ideal)) == pytest.approx(3.0)
    assert measure.prepared(3.0) == measure


def test_every_measure_with_a_residual_is_tried_here():
    tried = {parse(name).name for name in ASKED}
    assert tried == {name for name, cls in all_measures().items() if cls.has_residual}
