"""Worlds of other judgments and topics: counts by hand, bounded memory, intervals that cover."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest

from judgewell.comparison import worlds as module
from judgewell.comparison.worlds import all_worlds, judgment_worlds, topic_worlds
from judgewell.errors import DataError, InputError
from judgewell.evaluation.measures import parse
from judgewell.evaluation.resampled import Rankings


def three_rows(gains: np.ndarray) -> np.ndarray:
    """Three systems on two topics; row r of the gains is what system r finds on both topics."""
    return np.repeat(gains[:, :, None], 2, axis=2)


def test_counts_over_worlds_by_hand() -> None:
    draws = np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [2.0, 2.0, 1.0]])
    found = judgment_worlds(("a", "b", "c"), three_rows, [draws[:3], draws[3:]], reference=np.array([3.0, 2.0, 1.0]))
    assert found.count == 4
    assert found.above("a", "b") == (2 + 0.5) / 4  # once tied
    assert found.above("b", "a") == 1 - found.above("a", "b")
    assert found.above("a", "c") == 3 / 4
    np.testing.assert_allclose(found.mean, draws.mean(axis=0))
    np.testing.assert_allclose(found.spread, draws.std(axis=0, ddof=1))
    assert found.ranks.tolist() == [[3, 0, 1], [1, 3, 0], [1, 0, 3]]
    np.testing.assert_allclose(found.tau, [1, 1, -1, 2 / np.sqrt(2 * 3)])
    table = found.table()
    assert table["system"].to_list() == ["a", "b", "c"]
    assert table["best"].to_list() == [0.75, 0.25, 0.25]
    assert table["rank"].to_list() == [1, 2, 3]
    pairs = found.pairs()
    assert pairs.row(0, named=True) == {"first": "a", "second": "b", "above": 0.625, "over": "judgments", "tied": 0.25}


def test_the_reference_is_the_first_world_unless_given() -> None:
    draws = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    assert judgment_worlds(("a", "b", "c"), three_rows, [draws]).tau.tolist() == [1, 1]


def test_topics_alone_is_the_bootstrap_of_the_mean() -> None:
    rng = np.random.default_rng(0)
    values = rng.random((3, 40)) + np.array([[0.2], [0.1], [0.0]])
    found = topic_worlds(("a", "b", "c"), values, 4000, seed=1)
    np.testing.assert_allclose(found.spread, values.std(axis=1) / np.sqrt(40), rtol=0.05)
    again = topic_worlds(("a", "b", "c"), values, 4000, seed=1)
    assert (found.kept == again.kept).all()
    assert (found.kept != topic_worlds(("a", "b", "c"), values, 4000, seed=2).kept).any()


def noisy(values: np.ndarray, noise: float, size: int, seed: int) -> Iterator[np.ndarray]:
    for number in range(0, size, 50):
        rng = np.random.default_rng([seed, number])
        yield (values + rng.normal(0, noise, (50, *values.shape))).reshape(50, -1)


@pytest.mark.parametrize(("noise", "wider"), [(0.01, "topics"), (2.0, "judgments")])
def test_what_limits_the_conclusion_shows(noise: float, wider: str) -> None:
    values = np.random.default_rng(0).random((4, 10))
    found = all_worlds(
        tuple("abcd"),
        values,
        lambda gains: gains.reshape(-1, 4, 10),
        noisy(values, noise, 1000, 3),
        1000,
    )
    spread = {over: float(one.spread.mean()) for over, one in found.items()}
    assert max(("judgments", "topics"), key=lambda over: spread[over]) == wider
    np.testing.assert_allclose(spread["judgments"], noise / np.sqrt(10), rtol=0.1)
    # the two sources are independent here, so together their variances add up (each drawn topic has its own noise)
    np.testing.assert_allclose(
        spread["both"] ** 2, spread["topics"] ** 2 + spread["judgments"] ** 2 * (1 + 9 / 10), rtol=0.1
    )
    assert {one.count for one in found.values()} == {1000}


def test_memory_does_not_grow_with_the_number_of_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 200)
    values = np.random.default_rng(0).random((20, 10))

    def peak(size: int) -> int:
        tracemalloc.start()
        found = judgment_worlds(
            tuple(f"s{at:02}" for at in range(20)),
            lambda gains: gains.reshape(-1, 20, 10),
            noisy(values, 0.1, size, 1),
        )
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found.count == size
        assert len(found.kept) == 200
        return most

    peak(500)
    assert peak(20_000) < 1.1 * peak(1000)


def test_worlds_kept_beyond_the_limit_are_a_fair_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 400)
    draws = np.arange(8000.0)[:, None] + np.array([0.0, 1.0, 2.0])
    found = judgment_worlds(("a", "b", "c"), three_rows, [draws[at : at + 37] for at in range(0, 8000, 37)])
    assert len(np.unique(found.kept[:, 0])) == 400
    np.testing.assert_allclose(np.quantile(found.kept[:, 0], [0.25, 0.5, 0.75]), [2000, 4000, 6000], atol=500)
    assert found.mean[0] == pytest.approx(draws[:, 0].mean())


def test_quantiles_of_ranks() -> None:
    draws = np.concatenate([np.tile([3.0, 2.0, 1.0], (90, 1)), np.tile([1.0, 2.0, 3.0], (10, 1))])
    table = judgment_worlds(("a", "b", "c"), three_rows, [draws]).table(0.9)
    first = table.row(0, named=True)
    assert (first["system"], first["rank"], first["rank_low"], first["rank_high"]) == ("a", 1, 1, 3)


def test_what_cannot_be_resampled_is_said() -> None:
    with pytest.raises(DataError, match="one topic"):
        topic_worlds(("a", "b"), np.ones((2, 1)))
    with pytest.raises(DataError, match="one system"):
        topic_worlds(("a",), np.ones((1, 3)))
    with pytest.raises(DataError, match="no draws"):
        judgment_worlds(("a", "b", "c"), three_rows, [])
    with pytest.raises(InputError, match="0 worlds"):
        topic_worlds(("a", "b"), np.ones((2, 3)), 0)
    found = topic_worlds(("a", "b"), np.ones((2, 3)), 5)
    with pytest.raises(InputError, match="no system 'c'"):
        found.above("a", "c")
    assert found.above("a", "b") == 0.5  # identical systems
    assert np.isnan(found.tau_interval()[0])


@pytest.mark.long
def test_intervals_of_scores_cover_the_truth_of_simulated_collections() -> None:
    """Topics drawn from a population with known means: 95 % intervals over topics hold the true mean about as often."""
    rng = np.random.default_rng(0)
    truth = np.array([0.3, 0.35, 0.4])
    covered = []
    for _ in range(300):
        difficulty = rng.normal(0, 0.1, 50)
        values = truth[:, None] + difficulty + rng.normal(0, 0.1, (3, 50))
        table = topic_worlds(("a", "b", "c"), values, 500, seed=int(rng.integers(1 << 30))).table().sort("system")
        covered.append((table["low"].to_numpy() <= truth) & (truth <= table["high"].to_numpy()))
    assert 0.91 < np.mean(covered) < 0.97, np.mean(covered)


def test_intervals_stand_around_the_data_s_own_score() -> None:
    """Worlds drawn around the data's values but 0.1 lower: the interval is moved back, and the shift is told."""
    values = np.full((2, 5), 0.5) + np.array([[0.1], [0.0]])

    def draws() -> Iterator[np.ndarray]:
        yield values.ravel() - 0.1 + np.random.default_rng(0).normal(0, 0.05, (800, 10))

    found = all_worlds(("a", "b"), values, lambda gains: gains.reshape(-1, 2, 5), draws(), 800)
    one = found["judgments"]
    low, high = one.interval()
    assert one.mean[0] == pytest.approx(0.5, abs=0.005)
    assert low[0] == pytest.approx(0.6 - 1.96 * 0.05 / np.sqrt(5), abs=0.01)
    assert high[0] == pytest.approx(0.6 + 1.96 * 0.05 / np.sqrt(5), abs=0.01)
    seen, least, most = one.difference("a", "b")
    assert seen == pytest.approx(0.1)
    assert least < 0.1 < most
    table = one.table()
    assert table["score"].to_list() == pytest.approx([0.6, 0.5])
    assert table["shift"].to_list() == pytest.approx([-0.1, -0.1], abs=0.005)


def test_intervals_do_not_pass_what_a_topic_can_score() -> None:
    """Scores that end at 1, all near it, and noise that moves them down: the interval moved back ends at 1 too."""
    values = np.full((2, 4), 0.99)

    def draws() -> Iterator[np.ndarray]:
        yield np.minimum(values.ravel() + np.random.default_rng(0).normal(-0.1, 0.1, (900, 8)), 1.0)

    for over in ("judgments", "both"):
        one = all_worlds(("a", "b"), values, lambda gains: gains.reshape(-1, 2, 4), draws(), 900)[over]
        low, high = one.interval()
        assert (one.mean < 0.95).all()
        assert (low < 0.99).all()
        assert (high >= 0.99).all()
        assert (high <= 1).all()


DOCUMENTS, JUDGES = 40, 5
SKILLS = np.array([0.8, 1.0, 1.2])


def topics_like_these(count: int, rng: np.random.Generator) -> tuple[np.ndarray, Rankings]:
    """True gains of some topics (topics × documents), and what three systems of different skill rank first."""
    gains = rng.choice([0.0, 1.0, 2.0, 3.0], size=(count, DOCUMENTS), p=[0.5, 0.25, 0.15, 0.1])
    seen = SKILLS[:, None, None] * gains + rng.normal(0, 1.5, (3, count, DOCUMENTS))
    ranked = np.argsort(-seen, axis=-1)[:, :, :10] + np.arange(count)[:, None] * DOCUMENTS
    rows = tuple(np.arange(at * DOCUMENTS, (at + 1) * DOCUMENTS) for at in range(count))
    return gains, Rankings(list("abc"), [str(at) for at in range(count)], ranked.astype(np.int32), rows)


def as_judged(gains: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What five noisy judges say of each document (documents × judges)."""
    return np.maximum(gains.reshape(-1, 1) + rng.normal(0, 0.7, (gains.size, JUDGES)), 0)


@pytest.mark.long
def test_worlds_of_both_cover_what_another_study_would_find() -> None:
    """Studies of 30 topics and 5 noisy judges per document, from a population whose nDCG@10 under 5 judges is known."""
    rng = np.random.default_rng(0)
    measure = parse("nDCG@10")
    gains, rankings = topics_like_these(4000, rng)
    truth = rankings.scores(measure, as_judged(gains, rng).mean(axis=1)[None])[0].mean(axis=1)
    score_held: dict[str, list[float]] = {"judgments": [], "topics": [], "both": []}
    gap_held: dict[str, list[bool]] = {over: [] for over in score_held}
    for study in range(120):
        gains, rankings = topics_like_these(30, rng)
        judged = as_judged(gains, rng)

        def draws(judged: np.ndarray = judged) -> Iterator[np.ndarray]:
            for _ in range(3):
                picked = rng.integers(0, JUDGES, (100, len(judged), JUDGES))
                yield np.take_along_axis(judged[None], picked, 2).mean(axis=2)

        def score(tables: np.ndarray, rankings: Rankings = rankings) -> np.ndarray:
            return rankings.scores(measure, tables)

        values = score(judged.mean(axis=1)[None])[0]
        for over, found in all_worlds(tuple("abc"), values, score, draws(), 300, seed=study).items():
            low, high = found.interval()
            assert ((low <= found.score) & (found.score <= high)).all()
            score_held[over].append(float(((low <= truth) & (truth <= high)).mean()))
            _, least, most = found.difference("c", "b")
            gap_held[over].append(bool(least <= truth[2] - truth[1] <= most))
    assert 0.91 < np.mean(score_held["both"]) < 0.985, np.mean(score_held["both"])
    assert 0.90 < np.mean(gap_held["both"]) < 0.99
    assert np.mean(score_held["judgments"]) < 0.6  # they know nothing of other topics
    assert np.mean(gap_held["judgments"]) < 0.6
