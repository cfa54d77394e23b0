"""Values of measures against published figures, other tools and plain definitions written here."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
import pytrec_eval
from scipy.special import polygamma

from judgewell.errors import MeasureError
from judgewell.evaluation.measures import all_measures, parse
from judgewell.evaluation.measures.users import _trigamma

NAN = float("nan")


def value(name, gains, ideal=None):
    gains = np.array(gains, dtype=float)
    known = gains[~np.isnan(gains)] if ideal is None else np.array(ideal, dtype=float)
    return float(parse(name)(gains, np.sort(known)[::-1]))


def scenario(rng, grades=(0, 0, 1, 2, 3), real=False):
    """One topic: the gains of a ranking with unjudged documents in it, and all judged gains."""
    judged = rng.choice(grades, rng.integers(1, 12)).astype(float)
    if real:
        judged = np.where(judged > 0, np.round(rng.random(len(judged)), 3), 0)
    shown = rng.permutation(np.concatenate([judged, np.full(rng.integers(0, 6), NAN)]))
    return shown[: rng.integers(1, len(shown) + 1)], np.sort(judged)[::-1]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DCG", 6.861127),
        ("DCG(gain='exp2')", 13.848264),
        ("nDCG", 0.960808),
        ("ERR(gmax=3)", 0.922002),
        ("ERR(gmax='topic')", 0.922002),
        ("ERR(gmax=6,stop='linear')", 0.5 + 0.5 / 6 + 0.5 * (2 / 3) / 6 + 1 / 180 + (1 / 6) * (5 / 6) / 18),
        ("CG@3", 8.0),
        ("DCG(discount='zipf')@2", 4.0),
    ],
)
def test_the_golden_values_of_one_list(name, expected):
    assert value(name, [3, 2, 3, 0, 1, 2]) == pytest.approx(expected, abs=5e-7)


def test_the_golden_value_of_rbp():
    assert value("RBP(p=0.9)", [1, 0, 1]) == pytest.approx(0.181)


def test_fractional_gains_are_not_cut_to_whole_numbers():
    assert value("nDCG", [0.9, 1.9, 2.5]) == pytest.approx(0.8072, abs=5e-5)
    assert value("nDCG", np.floor([0.9, 1.9, 2.5])) == pytest.approx(0.6199, abs=5e-5)  # what cutting them gives


def test_fractional_gains_that_are_all_below_one_still_count():
    assert value("nDCG", [0.9, 0.2]) == 1.0


def test_ndcg_is_that_of_scikit_learn_on_real_gains_without_ties():
    from sklearn.metrics import ndcg_score

    rng = np.random.default_rng(1)
    gains = rng.random((50, 30))
    scores = -np.arange(30.0)[None, :].repeat(50, axis=0)
    ideal = -np.sort(-gains, axis=-1)
    for k in (1, 5, 30, None):
        ours = parse("nDCG" if k is None else f"nDCG@{k}")(gains, ideal)
        each = [ndcg_score(gains[row : row + 1], scores[row : row + 1], k=k) for row in range(50)]
        np.testing.assert_allclose(ours, each, rtol=1e-12)


PYTREC = {
    "map": "AP",
    "map_cut_10": "AP@10",
    "ndcg": "nDCG",
    "ndcg_cut_5": "nDCG@5",
    "ndcg_cut_100": "nDCG@100",
    "P_5": "P@5",
    "P_30": "P@30",
    "recall_5": "R@5",
    "recip_rank": "RR",
    "Rprec": "Rprec",
    "bpref": "Bpref",
    "success_1": "Success@1",
    "success_5": "Success@5",
    "infAP": "infAP",
    "set_P": "SetP",
    "set_relative_P": "SetRelP",
    "set_recall": "SetR",
    "set_map": "SetAP",
    "set_F": "SetF",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
}


def test_measures_are_those_of_pytrec_eval_on_random_grades():
    rng = np.random.default_rng(2)
    cases = [scenario(rng) for _ in range(300)]
    qrels, runs = {}, {}
    for topic, (shown, judged) in enumerate(cases):
        left = list(judged)
        docs = []
        for place, gain in enumerate(shown):
            docs.append(f"d{place}")
            if not math.isnan(gain):
                left.remove(gain)
        unseen = {f"u{place}": int(gain) for place, gain in enumerate(left)}
        seen = {doc: int(gain) for doc, gain in zip(docs, shown, strict=True) if not math.isnan(gain)}
        qrels[str(topic)] = seen | unseen
        runs[str(topic)] = {doc: float(len(docs) - place) for place, doc in enumerate(docs)}
    families = {name.rstrip("0123456789").rstrip("_") for name in PYTREC}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, families).evaluate(runs)
    for trec, name in PYTREC.items():
        measure = parse(name)
        for topic, (shown, judged) in enumerate(cases):
            given = (shown, judged, np.array(len(shown))) if measure.needs_lengths else (shown, judged)
            assert float(measure(*given)) == pytest.approx(theirs[str(topic)][trec], abs=1e-12), (name, shown, judged)
        assert parse(trec) == measure


def plain_err(gains, top, k):
    total, still = 0.0, 1.0
    for rank, gain in enumerate(gains[:k], start=1):
        stop = 0.0 if math.isnan(gain) else (2**gain - 1) / 2**top
        total += still * stop / rank
        still *= 1 - stop
    return total


def plain_gap(gains, ideal, k):
    shown = [0.0 if math.isnan(gain) else gain for gain in gains[:k]]
    total = 0.0
    for n in range(len(shown)):
        total += sum(min(shown[m], shown[n]) for m in range(n + 1)) / (n + 1)
    return total / sum(ideal) if sum(ideal) else 0.0


def plain_gap_by_users(gains, ideal):
    """Graded average precision as the mean of average precision over the users' thresholds, weighted by relevance."""
    levels = sorted({gain for gain in ideal if gain > 0})
    total = norm = below = 0.0
    for level in levels:
        hits = 0
        for rank, gain in enumerate(gains, start=1):
            if gain >= level:
                hits += 1
                total += (level - below) * hits / rank
        norm += (level - below) * sum(gain >= level for gain in ideal)
        below = level
    return total / norm if norm else 0.0


def plain_q(gains, ideal, k, beta):
    shown = [0.0 if math.isnan(gain) else gain for gain in gains[:k]]
    known = sum(gain > 0 for gain in ideal)
    total = 0.0
    for r in range(1, len(shown) + 1):
        if shown[r - 1] > 0:
            count = sum(gain > 0 for gain in shown[:r])
            total += (count + beta * sum(shown[:r])) / (r + beta * sum(ideal[:r]))
    return total / known if known else 0.0


def plain_inst(gains, wanted, depth, behind):
    """INST summed to a great depth, every rank behind the list with the gain `behind`."""
    total = weights = seen = 0.0
    reached = 1.0
    for rank in range(1, depth + 1):
        gain = gains[rank - 1] if rank <= len(gains) else behind
        total += reached * gain
        weights += reached
        seen += gain
        left = wanted - seen
        reached *= ((rank + wanted + left - 1) / (rank + wanted + left)) ** 2
    return total / weights


def plain_bpref(gains, ideal, rel):
    known = sum(gain >= rel for gain in ideal)
    others = len(ideal) - known
    above, total = 0, 0.0
    for gain in gains:
        if gain >= rel:
            total += 1 - (min(above, known) / min(others, known) if above else 0)
        elif gain < rel:
            above += 1
    return total / known if known else 0.0


@pytest.mark.parametrize("real", [False, True])
def test_measures_are_their_plain_definitions(real):
    rng = np.random.default_rng(3)
    for _ in range(200):
        gains, ideal = scenario(rng, real=real)
        assert value("ERR(gmax='topic')", gains, ideal) == pytest.approx(plain_err(gains, max(ideal), None))
        assert value("ERR@7", gains, ideal) == pytest.approx(plain_err(gains, 4, 7))
        assert value("ERR(gmax=4)@3", gains, ideal) == pytest.approx(plain_err(gains, 4, 3))
        assert value("GAP", gains, ideal) == pytest.approx(plain_gap(gains, ideal, None))
        assert value("GAP", gains, ideal) == pytest.approx(plain_gap_by_users(gains, ideal))
        assert value("GAP@4", gains, ideal) == pytest.approx(plain_gap(gains, ideal, 4))
        assert value("Q", gains, ideal) == pytest.approx(plain_q(gains, ideal, None, 1))
        assert value("Q(beta=10)@5", gains, ideal) == pytest.approx(plain_q(gains, ideal, 5, 10))
        assert value("Bpref(rel=0.5)", gains, ideal) == pytest.approx(plain_bpref(gains, ideal, 0.5))


def test_inst_is_the_sum_over_an_endless_list():
    rng = np.random.default_rng(4)
    for wanted in (0.5, 1, 3.5):
        gains = np.where(rng.random(7) < 0.3, NAN, rng.random(7).round(2))
        measure = parse(f"INST(T={wanted})")
        low = plain_inst(np.nan_to_num(gains), wanted, 400_000, 0.0)
        high = plain_inst(np.nan_to_num(gains, nan=1.0), wanted, 400, 1.0)
        assert float(measure(gains, gains)) == pytest.approx(low, rel=1e-4)  # the plain sum is cut
        assert float(measure.residual(gains, gains)) == pytest.approx(high - low, rel=1e-3)


def test_inst_of_a_list_without_end_of_best_documents_is_one():
    gains = np.ones(3000)
    assert float(parse("INST")(gains, gains)) == pytest.approx(1, abs=1e-3)


def test_trigamma_is_scipys():
    x = np.array([0.3, 0.5, 1.0, 1.7, 5, 40, 1e4])
    np.testing.assert_allclose(_trigamma(x), polygamma(1, x), rtol=1e-14)


def test_q_of_binary_gains_with_no_weight_on_gain_is_average_precision():
    rng = np.random.default_rng(5)
    for _ in range(50):
        gains, ideal = scenario(rng, grades=(0, 1))
        assert value("Q(beta=0)", gains, ideal) == pytest.approx(value("AP", gains, ideal))
        assert value("GAP", gains, ideal) == pytest.approx(value("AP", gains, ideal))


def test_err_does_not_overflow_with_large_gains():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert value("ERR(gmax='topic')", [5000, 4999, 0]) == pytest.approx(1, abs=1e-12)
        assert value("ERR(gmax=5000)", [4999, 5000]) == pytest.approx(0.5 + 0.5 * 0.5)


def test_err_takes_gmax_from_gdeval_the_topic_or_a_number():
    gains = np.array([[1.0, 0], [3, 0]])
    ideal = np.array([[1.0, 0], [3, 0]])
    assert parse("ERR")(gains, ideal) == pytest.approx([1 / 16, 7 / 16])
    assert parse("ERR(stop='linear')")(gains, ideal) == pytest.approx([1 / 4, 3 / 4])
    assert parse("ERR(gmax='topic')")(gains, ideal) == pytest.approx([1 / 2, 7 / 8])
    assert parse("ERR(gmax=4)")(gains, ideal) == pytest.approx([1 / 16, 7 / 16])
    assert str(parse("ERR@10").settled(gains)) == "ERR(gmax=4)@10"
    assert str(parse("ERR@10.residual").settled(gains)) == "ERR(gmax=4)@10.residual"
    assert str(parse("ERR(gmax='topic')@10").settled(gains)) == "ERR(gmax='topic')@10"


def test_iprec_is_the_best_precision_from_a_recall_on():
    assert [value(f"IPrec@{level}", [0, 1, 0, 1, 1], [1, 1, 1, 1, 0, 0]) for level in (0, 0.25, 0.3, 0.75, 1)] == [
        pytest.approx(each) for each in (0.6, 0.6, 0.6, 0.6, 0)
    ]
    assert value("IPrec@0.1", [1, 0, 0], [1] * 10) == 1.0  # 0.1 × 10 is one document, whatever its last bit says


def test_expected_precision_is_the_mean_over_all_worlds():
    chances = [0.9, 0.2, 0.5]
    expected = 0.0
    for world in itertools.product([0, 1], repeat=3):
        likely = math.prod(p if there else 1 - p for p, there in zip(chances, world, strict=True))
        expected += likely * sum(world) / 5
    assert value("ExpectedP@5", chances) == pytest.approx(expected)
    assert value("ExpectedRel@5", chances) == pytest.approx(expected * 5)


def test_judged_divides_by_what_was_retrieved_where_that_is_less_than_the_cutoff():
    gains = np.array([1, NAN, 0])
    assert parse("Judged@10")(gains, gains, np.array(3)) == pytest.approx(2 / 3)
    assert parse("Judged@2")(gains, gains, np.array(3)) == pytest.approx(1 / 2)
    assert parse("Judged")(gains, gains, np.array(3)) == pytest.approx(2 / 3)
    assert parse("Judged@5")(gains[:0], gains, np.array(0)) == 0


def test_equal_rankings_have_equal_values_wherever_they_stand():
    rng = np.random.default_rng(6)
    one = rng.random(1000)
    gains = np.tile(one, (37, 1))
    ideal = -np.sort(-one)
    for name in ("nDCG", "RBP(p=0.9)", "ERR", "AP(rel=0.5)", "GAP", "Q", "INST"):
        assert len(set(parse(name)(gains, ideal).tolist())) == 1, name


@pytest.mark.parametrize(
    ("name", "gains", "message"),
    [
        ("RBP(p=0.9)", [0, 3], "from 0 to 1, and there is a gain of 3; rescale"),
        ("RBP(p=0.9)", [-0.5, 1], "from 0 to 1, and there is a gain of -0.5; rescale"),
        ("INST", [0, 1.5], "rescale to \\[0, 1\\] first"),
        ("ExpectedRel@10", [0, 2], "rescale to \\[0, 1\\] first"),
        ("AP", [0, 0.7], "there is a gain of 0.7; .* AP\\(rel=0.5\\)$"),
        ("P@5", [0, 0.7], "P\\(rel=0.5\\)@10"),
        ("IPrec@0.2", [0, 0.7], "IPrec\\(rel=0.5\\)@0.1"),
        ("SetP", [0.7], "SetP\\(rel=0.5\\)"),
        ("nDCG@10", [-1, 2], "gains from 0 on, and there is a gain of -1"),
        ("ERR", [-1, 2], "gains from 0 on"),
        ("ERR(gmax=2)@5", [3], "a gain of 3, above gmax; .* ERR\\(gmax=3\\)@5"),
        ("GAP", [-1], "gains from 0 on"),
        ("Q", [-1], "gains from 0 on"),
        ("DCG(gain='exp2')", [2000], "use gain='linear'"),
        ("RBP(p=0.9).residual", [2], "rescale"),
    ],
)
def test_gains_a_measure_has_no_meaning_for_are_refused(name, gains, message):
    with pytest.raises(MeasureError, match=message):
        parse(name).check(np.array(gains, dtype=float))


@pytest.mark.parametrize(
    ("name", "gains"),
    [
        ("AP(rel=0.5)", [0, 0.7]),
        ("AP", [-1, 0, 2]),
        ("DCG", [-1, 0.5]),
        ("RBP(p=0.9,rel=2)", [0, 3]),
        ("NumRet", [0.7]),
    ],
)
def test_gains_a_measure_can_take_are_taken(name, gains):
    parse(name).check(np.array(gains, dtype=float))


def test_no_gains_at_all_are_refused_by_no_measure():
    for cls in all_measures().values():
        at = {"recall": 0.5} if cls.at == "recall" else {"cutoff": 10} if cls.needs_cutoff else {}
        cls(**at).check(np.empty(0))
