"""Each measure declares the laws it keeps; here all of them are checked, and what every measure must do."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from judgewell.errors import MeasureError
from judgewell.evaluation.measures import all_measures, parse, residual_of
from judgewell.evaluation.measures.base import Linear
from judgewell.evaluation.measures.binary import Binary
from judgewell.evaluation.measures.intents import ByIntent
from judgewell.evaluation.measures.users import Scaled
from judgewell.evaluation.trec_only import TrecOnly

NAN = float("nan")
GAINS = np.array([0, 0, 0.25, 0.5, 0.5, 0.75, 1])  # which every measure takes
EXTRA = {
    "nDCG": ["nDCG(gain='exp2')@3", "nDCG(discount='zipf')"],
    "DCG": ["DCG(discount='jk',base=3)", "DCG(gain='exp2',discount='zipf')@4"],
    "ERR": ["ERR(gmax='topic')@3", "ERR(gmax=2)"],
    "nERR": ["nERR(gmax='topic')@3"],
    "RBP": ["RBP(p=0.5)@3", "RBP(p=0.7,rel=0.5)"],
    "INST": ["INST(T=0.5)", "INST(T=3)@4", "INST(max_rel=1)"],
    "Q": ["Q(beta=5)@4", "Q(norm='min')@4"],
    "AP": ["AP(rel=0.5,norm='min')@3"],
    "NCU": ["NCU(stop='rank',gamma=0.8,beta=0)", "NCU(stop='rank',gamma=1)@4"],
    "INSQ": ["INSQ(T=3)", "INSQ(max_rel=1)@4"],
    "SDCG": ["SDCG(min_rel=0.25,max_rel=1)@5"],
    "BPM": ["BPM(T=0.75)@4"],
    "NERR10": ["NERR10(p=0.5)"],
    "NERR11": ["NERR11(T=0.5)", "NERR11(max_rel=2)"],
    "alpha_nDCG": ["alpha_nDCG(rel=0.5,alpha=0.2)@3"],
    "NRBP": ["NRBP(rel=0.5,alpha=0,beta=0.9)"],
    "Compat": ["Compat(p=0.5)", "Compat(p=0.8,normalize=False)"],
    "IPrec": ["IPrec(rel=0.5)@0", "IPrec(rel=0.5)@1"],
    "SetP": ["SetP(rel=0.5,relative=True)"],
    "SetF": ["SetF(rel=0.5,beta=3)"],
    "NumRet": ["NumRet"],
}


def samples(cls):
    """Measures of a class: with and without a cutoff, and with other parameters."""
    settings = {"rel": 0.5} if issubclass(cls, Binary) else {}
    if cls.at == "recall":
        settings["recall"] = 0.4
    cutoffs = [{"cutoff": k} for k in (1, 3, 20)] if cls.takes_cutoff else []
    plain = [] if cls.needs_cutoff else [{}]
    return [cls(**settings, **each) for each in [*plain, *cutoffs]] + [parse(text) for text in EXTRA.get(cls.name, [])]


ALL = [measure for cls in all_measures().values() for measure in samples(cls)]
WITH_RESIDUALS = ALL + [residual for measure in ALL if (residual := residual_of(measure))]


def topic(rng):
    """The judged gains of a topic, descending, and a ranking of some of them among unjudged documents."""
    judged = rng.choice(GAINS, rng.integers(1, 9))
    shown = rng.permutation(np.concatenate([judged, np.full(rng.integers(0, 5), NAN)]))
    return shown[: rng.integers(0, len(shown) + 1)], -np.sort(-judged)


def value(measure, gains, ideal, length=None):
    measure = measure.prepared(1.0)
    if measure.by_intent:
        return float(measure(gains[None], ideal[None]))
    if measure.needs_lengths:
        return float(measure(gains, ideal, np.array(len(gains) if length is None else length)))
    return float(measure(gains, ideal))


def no_less(more, less):
    return more >= less - 1e-12


def range01(measure, gains, ideal, rng):
    assert -1e-12 <= value(measure, gains, ideal) <= 1 + 1e-12


def nonnegative(measure, gains, ideal, rng):
    assert value(measure, gains, ideal) >= -1e-12


def monotone_append(measure, gains, ideal, rng):
    for end in range(len(gains)):
        assert no_less(value(measure, gains[: end + 1], ideal), value(measure, gains[:end], ideal))


def swap_up(measure, gains, ideal, rng):
    """Putting the better of two neighbours first never costs anything."""
    if len(gains) < 2:
        return
    place = rng.integers(0, len(gains) - 1)
    above, below = np.fmax(gains[place : place + 2], 0)
    if below >= above:
        swapped = gains.copy()
        swapped[place : place + 2] = gains[place : place + 2][::-1]
        assert no_less(value(measure, swapped, ideal), value(measure, gains, ideal))


def unjudged_is_zero(measure, gains, ideal, rng):
    assert value(measure, np.nan_to_num(gains), ideal) == pytest.approx(value(measure, gains, ideal))


def condense_invariant(measure, gains, ideal, rng):
    assert value(measure, gains[~np.isnan(gains)], ideal) == pytest.approx(value(measure, gains, ideal))


def zero_without_relevant(measure, gains, ideal, rng):
    assert value(measure, gains * 0, ideal * 0) == 0


def ideal_is_best(measure, gains, ideal, rng):
    assert no_less(value(measure, ideal, ideal), value(measure, gains, ideal))


def best_is_one(measure, gains, ideal, rng):
    worth = getattr(measure, "rel", None) or 1e-9
    assert value(measure, ideal, ideal) == pytest.approx(1.0 if ideal[0] >= worth else 0.0)


def best_is_one_uncut(measure, gains, ideal, rng):
    if measure.cutoff is None:
        best_is_one(measure, gains, ideal, rng)


def scale_invariant(measure, gains, ideal, rng):
    if getattr(measure, "gain", "linear") == "linear":
        assert value(measure, gains * 7.3, ideal * 7.3) == pytest.approx(value(measure, gains, ideal))


def same_for_every_ranking(measure, gains, ideal, rng):
    assert value(measure, rng.permutation(gains), ideal) == value(measure, gains[:0], ideal)


LAWS = {
    law.__name__: law
    for law in (
        range01, nonnegative, monotone_append, swap_up, unjudged_is_zero, condense_invariant, zero_without_relevant,
        ideal_is_best, best_is_one, best_is_one_uncut, scale_invariant, same_for_every_ranking,
    )
}  # fmt: skip


def try_law(law, measure):
    rng = np.random.default_rng(7)
    for _ in range(40):
        LAWS[law](measure, *topic(rng), rng)


@pytest.mark.parametrize("measure", WITH_RESIDUALS, ids=str)
def test_the_laws_a_measure_declares_hold(measure):
    assert measure.laws, f"{measure} declares no law"
    for law in sorted(measure.laws):
        try_law(law, measure)


def test_every_law_is_declared_by_some_measure():
    assert set(LAWS) == {law for measure in ALL for law in measure.laws}


def test_laws_that_do_not_hold_are_seen_to_fail():
    for law, name in [("scale_invariant", "ERR(gmax='topic')"), ("best_is_one", "P(rel=0.5)@20"), ("range01", "CG")]:
        with pytest.raises(AssertionError):
            try_law(law, parse(name))


def padded(rows, width):
    out = np.full((len(rows), width), NAN)
    for place, row in enumerate(rows):
        out[place, : len(row)] = row
    return out


def called(measure, gains, ideal, lengths):
    if measure.by_intent:
        return measure(gains[..., None, :], ideal[..., None, :])
    return measure(gains, ideal, lengths) if measure.needs_lengths else measure(gains, ideal)


TREC = [cls() for cls in TrecOnly.__subclasses__()]


@pytest.mark.parametrize("measure", [*WITH_RESIDUALS, *TREC], ids=str)
def test_one_call_on_systems_and_topics_is_one_call_for_each(measure):
    rng = np.random.default_rng(9)
    measure = measure.prepared(1.0)
    cases = [[topic(rng) for _ in range(6)] for _ in range(4)]
    ideals = [ideal for _, ideal in cases[0]]
    rankings = [[gains for gains, _ in row] for row in cases]
    gains = np.stack([padded(row, 14) for row in rankings])
    ideal = padded(ideals, 10)
    lengths = np.array([[len(each) for each in row] for row in rankings])
    together = called(measure, gains, ideal, lengths)
    assert together.shape == (4, 6)
    assert np.isfinite(together).all()
    for system, row in enumerate(rankings):
        for place, each in enumerate(row):
            alone = called(measure, each, ideals[place], np.array(len(each)))
            exact = measure in ALL and not isinstance(measure, Scaled | ByIntent)  # whose tails are added up otherwise
            assert abs(float(alone) - together[system, place]) <= (0 if exact else 1e-12), (each, ideals[place])
    resampled = called(measure, np.stack([gains, gains[::-1]]), ideal, np.stack([lengths, lengths[::-1]]))
    np.testing.assert_array_equal(resampled, np.stack([together, together[::-1]]))


@pytest.mark.parametrize("measure", ALL, ids=str)
def test_a_long_rankings_value_does_not_depend_on_its_company_to_the_last_bit(measure):
    rng = np.random.default_rng(13)
    gains = np.where(rng.random((9, 150)) < 0.5, NAN, rng.random((9, 150)).round(3))
    ideal = -np.sort(-rng.random((9, 170)).round(3), axis=-1)
    measure, lengths = measure.prepared(1.0), np.full(9, 150)
    together = called(measure, gains, ideal, lengths)
    close = 1e-12 if isinstance(measure, Scaled | ByIntent) else 0
    wider = [np.concatenate([each, np.full((9, more), NAN)], axis=-1) for each, more in ((gains, 77), (ideal, 41))]
    assert np.abs(called(measure, *wider, lengths) - together).max() <= close
    for row in range(9):
        alone = called(measure, gains[row : row + 1], ideal[row : row + 1], lengths[:1])
        assert abs(alone[0] - together[row]) <= close


@pytest.mark.parametrize("measure", [*WITH_RESIDUALS, *TREC], ids=str)
def test_nothing_retrieved_nothing_judged_and_no_topics(measure):
    nothing = np.full((2, 3), NAN)
    lengths = np.zeros(2)
    for gains in (np.empty((2, 0)), nothing):
        for ideal in (np.empty((2, 0)), nothing, np.array([[1.0, 0, NAN]] * 2)):
            out = called(measure, gains, ideal, lengths)
            assert out.shape == (2,)
            assert np.isfinite(out).all()
            if "range01" in measure.laws and not str(measure).startswith("INST"):
                assert (out == 0).all()
    assert called(measure, np.empty((0, 5)), np.empty((0, 4)), np.empty(0)).shape == (0,)


@pytest.mark.parametrize("measure", WITH_RESIDUALS, ids=str)
def test_measures_leave_their_input_alone(measure):
    rng = np.random.default_rng(10)
    gains, ideal = padded([topic(rng)[0] for _ in range(5)], 13), padded([topic(rng)[1] for _ in range(5)], 9)
    before = gains.copy(), ideal.copy()
    called(measure, gains, ideal, np.full(5, 3))
    if measure.linear:
        measure.credit(gains)
    np.testing.assert_array_equal(gains, before[0])
    np.testing.assert_array_equal(ideal, before[1])


def test_linear_measures_say_so():
    assert {measure.name for measure in ALL if measure.linear} == {
        "CG", "DCG", "nDCG", "P", "R", "RBP", "Judged", "ExpectedRel", "ExpectedP", "INSQ", "SDCG",
    }  # fmt: skip
    assert all(isinstance(measure, Linear) == measure.linear for measure in ALL)
    with pytest.raises(MeasureError, match="not a sum over ranks"):
        parse("AP").credit(np.zeros(3))


def test_measures_of_the_retrieved_set_ask_for_its_size():
    with pytest.raises(MeasureError, match="give their lengths"):
        parse("SetP")(np.zeros(3), np.zeros(3))


@pytest.mark.parametrize("name", ["alpha_nDCG(rel=1)@2", "alpha_nDCG(rel=1)@3", "nERR_IA(rel=1)@3", "nNRBP(rel=1)"])
def test_measures_divided_by_a_greedy_ranking_stay_inside_their_limits(name):
    """The best of all orders of four documents of random intents can beat the greedy one, but not by more."""
    measure, rng, highest = parse(name), np.random.default_rng(3), 0.0
    for _ in range(300):
        documents = (rng.random((6, 4)) < 0.5).astype(float)
        best = max(float(measure(documents[:, list(order)], documents)) for order in permutations(range(4)))
        highest = max(highest, best)
    low, high = measure.limits
    assert (low, parse("alpha_nDCG(rel=1)@2").limits[1]) == (0.0, pytest.approx(4 / 3))
    assert 1 < highest <= high < 1.6
