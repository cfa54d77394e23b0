"""Preferences: frequencies add up, Bradley-Terry equals choix and refuses what has no finite answer."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import choix
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.scaling.bradley_terry import BradleyTerry, Strengths, bradley_terry
from judgewell.scaling.preference import Preference, Relevance, preference_frequency, relevance_frequency


def wins(data: list[tuple[int, int]], topic: str = "t") -> pl.DataFrame:
    """Pairs in which the first always won, half of them shown the other way round."""
    rows = [
        (f"d{w:04d}", f"d{loser:04d}", "left") if n % 2 else (f"d{loser:04d}", f"d{w:04d}", "right")
        for n, (w, loser) in enumerate(data)
    ]
    frame = pl.DataFrame(rows, schema=["left", "right", "preferred"], orient="row")
    return frame.with_columns(topic=pl.lit(topic))


@st.composite
def answers(draw: st.DrawFn) -> pl.DataFrame:
    documents = st.sampled_from("abcde")
    pair = st.tuples(documents, documents).filter(lambda two: two[0] != two[1])
    rows = draw(st.lists(st.tuples(pair, st.sampled_from(["left", "right", "same"])), min_size=1, max_size=30))
    return pl.DataFrame(
        {
            "topic": ["t"] * len(rows),
            "left": [left for (left, _), _ in rows],
            "right": [right for (_, right), _ in rows],
            "preferred": [answer for _, answer in rows],
        }
    )


@given(answers())
def test_wins_add_up_to_the_pairs(pairs: pl.DataFrame) -> None:
    gains = preference_frequency(pairs)
    assert (gains["gain"] * gains["judgments"]).sum() == pytest.approx(len(pairs))
    assert gains["gain"].is_between(0, 1).all()
    assert gains["judgments"].sum() == 2 * len(pairs)


@given(st.lists(st.sampled_from(["left", "right", "same"]), min_size=10, max_size=10))
def test_the_mean_is_a_half_where_all_are_shown_equally_often(preferred: list[str]) -> None:
    two = list(combinations("abcde", 2))
    pairs = pl.DataFrame(
        {
            "topic": ["t"] * 10,
            "left": [left for left, _ in two],
            "right": [right for _, right in two],
            "preferred": preferred,
        }
    )
    assert preference_frequency(pairs)["gain"].mean() == pytest.approx(0.5)


def test_a_constant_number_of_presentations_may_go_beyond_one_and_says_so() -> None:
    pairs = wins([(0, 1), (0, 1), (0, 2)])
    with pytest.warns(JudgewellWarning, match=r"1 documents were shown more often than 2 times.*document d0000"):
        gains = preference_frequency(pairs, presentations=2)
    assert gains["gain"].to_list() == [1.5, 0.0, 0.0]


def test_ties_can_be_left_out_or_refused() -> None:
    pairs = pl.DataFrame({"topic": ["t"] * 2, "left": ["a"] * 2, "right": ["b"] * 2, "preferred": ["same", "left"]})
    assert preference_frequency(pairs)["gain"].to_list() == [0.75, 0.25]
    with pytest.warns(JudgewellWarning, match=r"1 of 2 pairs are tied and excluded"):
        assert preference_frequency(pairs, ties="skip")["gain"].to_list() == [1.0, 0.0]
    with pytest.raises(DataError, match=r"1 pairs are tied .topic t, left a, right b"):
        preference_frequency(pairs, ties="error")


def test_unanswered_pairs_are_left_out_and_told() -> None:
    pairs = pl.DataFrame({"topic": ["t"] * 2, "left": ["a"] * 2, "right": ["b"] * 2, "preferred": [None, "left"]})
    with pytest.warns(JudgewellWarning, match=r"1 of 2 pairs have no answer"):
        assert preference_frequency(pairs)["judgments"].to_list() == [1, 1]
    with pytest.raises(DataError, match=r"no pair says which document is preferred"):
        preference_frequency(pairs.head(1))


def test_relevance_frequency_is_the_share_of_yes() -> None:
    pairs = pl.DataFrame(
        {
            "topic": ["t"] * 3,
            "left": ["a", "b", "a"],
            "right": ["b", "a", "c"],
            "left_relevant": [True, True, False],
            "right_relevant": [False, True, None],
        }
    )
    with pytest.warns(JudgewellWarning, match=r"1 of 6 presentations"):
        gains = relevance_frequency(pairs)
    assert gains.select("doc", "gain", "judgments").rows() == [("a", pytest.approx(2 / 3), 3), ("b", 0.5, 2)]


def test_a_frequency_has_wilsons_interval() -> None:
    gains = Preference().interval(wins([(0, 1)] * 8 + [(1, 0)] * 2))
    low, high = gains.row(0)[3:5]
    assert (low, high) == (pytest.approx(0.4901625, abs=1e-6), pytest.approx(0.9433178, abs=1e-6))


def random_wins(seed: int, items: int = 12, count: int = 300) -> list[tuple[int, int]]:
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, 1, items)
    data = [(i, (i + 1) % items) for i in range(items)]  # a cycle: everyone wins and loses
    for _ in range(count):
        i, j = rng.choice(items, 2, replace=False)
        data.append((int(i), int(j)) if rng.random() < 1 / (1 + np.exp(theta[j] - theta[i])) else (int(j), int(i)))
    return data


@pytest.mark.parametrize("seed", range(5))
def test_maximum_likelihood_equals_choix(seed: int) -> None:
    data = random_wins(seed)
    expected = choix.ilsr_pairwise(12, data)
    assert bradley_terry(wins(data), prior=0).theta == pytest.approx(expected - expected.mean(), abs=1e-7)


@pytest.mark.parametrize("prior", [1e-6, 0.1, 2.0])
def test_with_a_prior_it_equals_choix_at_the_same_alpha(prior: float) -> None:
    data = random_wins(7, items=6, count=40)
    expected = choix.opt_pairwise(6, data, alpha=prior, tol=1e-10)
    assert bradley_terry(wins(data), prior=prior).theta == pytest.approx(expected, abs=1e-5)


@pytest.mark.realdata
@pytest.mark.parametrize("case", ["testcase-pairwise-1", "testcase-pairwise-2"])
def test_shared_cases_at_default_settings(data: Path, case: str) -> None:
    known = json.loads((data / "choix" / f"{case}.json").read_text())
    assert bradley_terry(wins([tuple(pair) for pair in known["data"]]), prior=0).theta == pytest.approx(
        known["ml_est"], abs=1e-7
    )


def test_a_long_chain_is_solved_as_well() -> None:
    """Neighbours beat each other 3 to 1 along a chain: the log strengths differ by log 3 at every link."""
    data = [pair for n in range(300) for pair in [(n, n + 1)] * 3 + [(n + 1, n)]]
    assert np.diff(bradley_terry(wins(data), prior=0).theta) == pytest.approx(np.full(300, -np.log(3)), abs=1e-7)


def test_a_tie_is_half_a_win_for_each() -> None:
    data = random_wins(3, items=5, count=30)
    tied = (
        wins(data)
        .with_row_index()
        .with_columns(preferred=pl.when(pl.col("index") % 3 == 0).then(pl.lit("same")).otherwise("preferred"))
    )
    twice = []
    for n, (winner, loser) in enumerate(data):
        twice += [(winner, loser), (loser, winner)] if n % 3 == 0 else [(winner, loser)] * 2
    expected = choix.ilsr_pairwise(5, twice)
    assert bradley_terry(tied.drop("index"), prior=0).theta == pytest.approx(expected - expected.mean(), abs=1e-7)


def graded(strengths: list[float | None], preferred: list[str]) -> pl.DataFrame:
    """The same pair again and again, with graded answers."""
    rows = {"topic": "t", "left": "a", "right": "b", "preferred": preferred}
    return pl.DataFrame(rows).with_columns(pl.Series("strength", strengths, pl.Float64))


def test_a_weak_preference_is_part_of_a_win() -> None:
    """Wins of 3/4, 1, 1/2 and 1/4: the odds of a are 2.5 to 1.5."""
    pairs = graded([1, 2, 0, 1], ["left", "left", "same", "right"])
    shared = bradley_terry(pairs, prior=0, graded="share").theta
    assert shared[0] - shared[1] == pytest.approx(np.log(2.5 / 1.5))
    with pytest.warns(JudgewellWarning, match="--graded share counts weak ones as part of a win"):
        once = bradley_terry(pairs, prior=0).theta
    assert once[0] - once[1] == pytest.approx(np.log(2.5 / 1.5))  # 1, 1, 1/2, 0
    strong = bradley_terry(graded([2, 2, 1], ["left", "right", "right"]), prior=0, graded="share").theta
    assert strong[0] - strong[1] == pytest.approx(np.log(1.25 / 1.75))


def test_answers_of_equal_strength_are_what_they_are_without_it() -> None:
    pairs = graded([3, 3, 3, None], ["left", "left", "right", "same"])
    plain = bradley_terry(pairs.drop("strength")).theta
    assert bradley_terry(pairs, graded="share").theta == pytest.approx(plain)


def test_strengths_that_are_missing_or_below_zero_are_refused() -> None:
    with pytest.raises(DataError, match="needs the column strength"):
        bradley_terry(graded([1], ["left"]).drop("strength"), graded="share")
    for wrong in (None, -1.0):
        with pytest.raises(DataError, match=f"the strength {wrong} is not 0 or more .topic t"):
            bradley_terry(graded([1, wrong], ["left", "left"]), graded="share")


def test_standard_errors_are_those_of_the_information_matrix() -> None:
    fit = bradley_terry(wins(random_wins(1)), prior=0)
    assert fit.standard_errors == pytest.approx(np.sqrt(np.diag(np.linalg.pinv(information(fit)))), rel=1e-6)


def test_a_prior_does_not_widen_differences_by_its_hold_on_the_mean() -> None:
    fit = bradley_terry(wins(random_wins(1)), prior=0.01)
    centre = np.eye(12) - 1 / 12
    covariance = centre @ np.linalg.inv(information(fit) + 0.02 * np.eye(12)) @ centre
    assert fit.standard_errors == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-6)
    drawn = fit.drawn(np.random.default_rng(0), 4000)
    assert drawn.std(axis=1) == pytest.approx(fit.standard_errors, rel=0.1)


def information(fit: Strengths) -> np.ndarray:
    matrix = np.zeros((12, 12))
    for i, j, count in zip(fit.cells.left, fit.cells.right, fit.cells.count, strict=True):
        chance = 1 / (1 + np.exp(fit.theta[j] - fit.theta[i]))
        matrix[[i, j, i, j], [i, j, j, i]] += count * chance * (1 - chance) * np.array([1, 1, -1, -1])
    return matrix


def test_a_document_that_never_won_has_no_finite_maximum_likelihood() -> None:
    data = [*random_wins(2, items=5, count=20), (0, 9), (1, 9)]
    with pytest.raises(
        DataError, match=r"topic t, document d0009 never won; 1 documents never won, 0 never lost.*--prior "
    ):
        bradley_terry(wins(data), prior=0)
    assert np.argmin(bradley_terry(wins(data), prior=0.1).theta) == 5


def test_a_group_that_always_lost_to_the_rest_has_none_either() -> None:
    data = [(0, 1), (1, 0), (2, 3), (3, 2), (0, 2), (1, 3)]
    with pytest.raises(DataError, match=r"no finite maximum likelihood in 1 of 1 .*only ever lost"):
        bradley_terry(wins(data), prior=0)


def test_unconnected_documents_are_refused_or_scaled_apart() -> None:
    data = [(0, 1), (1, 0), (0, 1), (2, 3), (3, 2)]
    with pytest.raises(DataError, match=r"2 components.*--components separate"):
        BradleyTerry(prior=0)(wins(data))
    gains = BradleyTerry(prior=0, components="separate")(wins(data))
    assert gains["component"].to_list() == [1, 1, 2, 2]
    assert gains["gain"].to_list() == pytest.approx([1.0, 0.5, 1.0, 1.0])


def test_gains_are_strengths_probabilities_or_logs() -> None:
    data = random_wins(8, items=4, count=50)
    theta = bradley_terry(wins(data), prior=0).theta
    strength = BradleyTerry(prior=0)(wins(data))["gain"].to_numpy()
    assert strength == pytest.approx(np.exp(theta - theta.max()))
    chance = 1 / (1 + np.exp(theta[None, :] - theta[:, None]))
    probability = BradleyTerry(prior=0, gain="probability")(wins(data))["gain"].to_numpy()
    assert probability == pytest.approx((chance.sum(axis=1) - 0.5) / 3)
    assert BradleyTerry(prior=0, gain="log")(wins(data))["gain"].to_numpy() == pytest.approx(theta)


@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_topics_do_not_touch_each_other(seed: int) -> None:
    first, second = random_wins(seed, 4, 30), random_wins(seed + 1, 5, 40)
    both = BradleyTerry(prior=0, gain="log")(pl.concat([wins(first, "s"), wins(second, "t")]))["gain"].to_numpy()
    alone = [bradley_terry(wins(data), prior=0).theta for data in (first, second)]
    assert both == pytest.approx(np.concatenate(alone), abs=1e-7)


def test_a_negative_prior_is_refused() -> None:
    with pytest.raises(InputError, match=r"prior -1 is below 0"):
        bradley_terry(wins([(0, 1), (1, 0)]), prior=-1)


def test_relevance_needs_its_columns() -> None:
    with pytest.raises(DataError, match=r"left_relevant"):
        Relevance()(wins([(0, 1)]))


def test_the_prior_can_be_chosen_by_the_answers() -> None:
    """Strengths of variance 1/(2 prior) in 40 sets: the chosen prior is near the one they were drawn with."""
    rng = np.random.default_rng(8)
    for true in (0.25, 2.0):
        parts = []
        for topic in range(40):
            theta = rng.normal(0, np.sqrt(1 / (2 * true)), 10)
            chosen = rng.integers(0, 10, (120, 2))
            chosen = chosen[chosen[:, 0] != chosen[:, 1]]
            first = rng.random(len(chosen)) < 1 / (1 + np.exp(theta[chosen[:, 1]] - theta[chosen[:, 0]]))
            won = np.where(first[:, None], chosen, chosen[:, ::-1])
            parts.append(wins([tuple(pair) for pair in won.tolist()], f"t{topic}"))
        fit = bradley_terry(pl.concat(parts), prior="auto")
        assert fit.prior == pytest.approx(true, rel=0.25)


def test_few_sets_get_a_prior_of_one() -> None:
    with pytest.warns(JudgewellWarning, match=r"the prior is 1: .* 5 or more sets .* there are 1 of up to 2"):
        assert bradley_terry(wins([(0, 1), (1, 0)]), prior="auto").prior == 1
