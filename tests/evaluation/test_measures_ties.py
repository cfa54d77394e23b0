"""Tied documents share their ranks: the exact expected value, and rbp_eval's worked cases."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from judgewell.evaluation.measures import average_over_ties, expected_over_ties, parse, spread_over_ties

NAN = float("nan")
LINEAR = [
    "CG@3", "DCG@3", "nDCG@3", "nDCG(gain='exp2')@4", "DCG(discount='zipf')", "P(rel=0.5)@3", "R(rel=0.5)@3",
    "RBP(p=0.7)@3", "RBP(p=0.7,rel=0.5)", "Judged@3", "Judged@10",
    "SDCG@3", "INSQ(T=2)@3", "INSQ(max_rel=1)", "ExpectedRel@3", "ExpectedP@3",
    "RBP(p=0.7)@3.residual", "P(rel=0.5)@3.residual", "DCG@3.residual", "CG@8.residual",
]  # fmt: skip


def orders(gains, ties):
    """Every order of a ranking that breaks its ties in some way."""
    groups = [list(group) for _, group in itertools.groupby(range(len(gains)), key=lambda place: ties[place])]
    for each in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield gains[[place for group in each for place in group]]


@pytest.mark.parametrize("name", LINEAR)
def test_the_shared_value_is_the_mean_over_all_orders_of_the_tied(name):
    rng = np.random.default_rng(11)
    for _ in range(5):
        judged = rng.choice([0, 0.25, 0.5, 1], 6)
        gains = rng.permutation(np.concatenate([judged[:4], [NAN, NAN]]))
        ties = np.sort(rng.integers(0, 3, 6))
        ideal = -np.sort(-judged)
        measure = parse(name).prepared(1.0)
        lengths = np.array(len(gains))
        more = (lengths,) if measure.needs_lengths else ()
        mean = np.mean([measure(order, ideal, *more) for order in orders(gains, ties)])
        assert float(expected_over_ties(measure, gains, ideal, ties, lengths)) == pytest.approx(float(mean))


def test_averages_stay_within_their_row_and_leave_single_ranks_as_they_are():
    values = np.array([[1.0, 2, 3, 4], [5, 6, 7, 9]])
    ties = np.array([[0, 1, 1, 3], [3, 3, 4, 5]])
    np.testing.assert_array_equal(average_over_ties(values, ties), [[1, 2.5, 2.5, 4], [5.5, 5.5, 7, 9]])
    np.testing.assert_array_equal(average_over_ties(values, np.arange(4)), values)
    assert average_over_ties(np.empty((3, 0)), np.empty((3, 0))).shape == (3, 0)


def test_ties_broadcast_over_resamples():
    rng = np.random.default_rng(12)
    values, ties = rng.random((3, 2, 5)), np.array([[0, 0, 1, 1, 1], [0, 1, 1, 2, 3]])
    together = average_over_ties(values, ties)
    for each, out in zip(values, together, strict=True):
        np.testing.assert_allclose(out, average_over_ties(each, ties))


def read_spec(path):
    """The options of a worked case and its figures, in the order they are printed."""
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    return lines[0].split(), [line.split() for line in lines[1:]]


def by_topic(path, columns):
    rows = {}
    for line in path.read_text().splitlines():
        fields = line.split()
        rows.setdefault(fields[0], []).append([fields[column] for column in columns])
    return rows


def printed_so(printed, value):
    """Whether a value is the printed one, rounded or cut at its last digit."""
    unit = 10.0 ** -len(printed.partition(".")[2])
    return abs(float(printed) - value) <= unit / 2 + 1e-9 or 0 <= value - float(printed) < unit


def tied_ranking(run, judged, by_rank):
    """The gains of a topic's ranking and its ties, by rank or by score."""
    keyed = [(float(rank) if by_rank else -float(score), doc) for doc, rank, score in run]
    keyed.sort(key=lambda entry: entry[0])
    return np.array([judged.get(doc, NAN) for _, doc in keyed]), np.array([key for key, _ in keyed])


def options(words):
    known = dict(itertools.pairwise(words))
    folded, scaled = ("-B" in words) * 1.0 or float(known.get("-b", 0)), float(known.get("-f", 1))
    depths = [int(each) for each in known["-d"].split(",")]
    chances = [float(each) for each in known["-p"].split(",")]
    return folded, scaled, depths, chances, words[-2], words[-1]


@pytest.mark.realdata
@pytest.mark.parametrize("number", range(1, 12))
def test_the_worked_cases_of_rbp_eval(data, number):
    folder = data / "rbp_eval"
    words, figures = read_spec(folder / f"{number}.spec")
    folded, scaled, depths, chances, qrels, run = options(words)
    grades = {
        topic: {doc: float(grade) * scaled if not folded else float(float(grade) >= folded) for doc, grade in rows}
        for topic, rows in by_topic(folder / qrels, (2, 3)).items()
    }
    told = iter(figures)
    seen = {}

    def agrees(key, *values):
        for printed, value in zip(next(told), values, strict=True):
            assert printed_so(printed, value), (number, key, printed, value)
        seen.setdefault(key, []).append(values)

    rankings = by_topic(folder / run, (2, 3, 4))
    for topic, rows in sorted(rankings.items()):
        gains, ties = tied_ranking(rows, grades[topic], by_rank="-r" in words)
        ideal = -np.sort(-np.array(list(grades[topic].values())))
        agrees("num_rel", ideal.sum())
        agrees("num_ret", len(gains))
        for depth in depths:
            agrees(("num_rel_ret", depth), float(expected_over_ties(parse(f"CG@{depth}"), gains, ideal, ties)))
            for p in chances:
                measure = parse(f"RBP(p={p})@{depth}")
                residual = parse(f"RBP(p={p})@{depth}.residual")
                value, rest = (float(spread_over_ties(each, gains, ideal, ties)) for each in (measure, residual))
                agrees((p, depth), value, rest)
                inside = depth < len(ties) and ties[depth - 1] == ties[depth]
                if not inside:  # the cutoff cuts no tie: the same as the expected value
                    assert float(expected_over_ties(measure, gains, ideal, ties)) == pytest.approx(value)
                    assert float(expected_over_ties(residual, gains, ideal, ties)) == pytest.approx(rest)
    for key, values in seen.items():  # the last block: counts added up, values averaged
        together = np.sum(values, axis=0) if "num" in str(key) else np.mean(values, axis=0)
        for printed, value in zip(next(told), together, strict=True):
            assert printed_so(printed, value), (number, key, printed, value)
    assert next(told, None) is None


def test_rbp_eval_differs_from_the_expected_value_only_where_the_cutoff_cuts_a_tie():
    gains, ties, ideal = np.array([1.0, NAN, 0]), np.array([0, 1, 1]), np.array([1.0, 0])
    residual = parse("RBP(p=0.5)@2.residual")
    assert float(expected_over_ties(residual, gains, ideal, ties)) == pytest.approx(0.25 + 0.25 * 0.5)
    assert float(spread_over_ties(residual, gains, ideal, ties)) == pytest.approx(0.25 + 0.1875 * 0.5)
