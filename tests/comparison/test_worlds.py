"""Worlds of other judgments and topics: counts by hand, bounded memory."""

from __future__ import annotations

import pickle
import tracemalloc
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from judgewell.comparison.noise import scores_without_noise
from judgewell.comparison.scores import ScoreArray
from judgewell.comparison.significance import compare_systems
from judgewell.comparison.top_sets import top_set
from judgewell.comparison.worlds import Worlds, all_worlds, topic_worlds
from judgewell.errors import DataError, InputError
from judgewell.executors import Executor, Threads


def three_rows(gains: np.ndarray) -> np.ndarray:
    """Three systems on two topics; row r of the gains is what system r finds on both topics."""
    return np.repeat(gains[:, :, None], 2, axis=2)


def judgment_worlds(draws: Iterable[np.ndarray], reference: tuple[float, ...] = (3.0, 2.0, 1.0)) -> Worlds:
    values = np.repeat(np.array(reference)[:, None], 2, axis=1)
    return all_worlds(("a", "b", "c"), values, three_rows, draws, 5)["judgments"]


def test_counts_over_worlds_by_hand() -> None:
    draws = np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [2.0, 2.0, 1.0]])
    found = judgment_worlds([draws[:3], draws[3:]])
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


def test_topics_alone_is_the_bootstrap_of_the_mean() -> None:
    rng = np.random.default_rng(0)
    values = rng.random((3, 40)) + np.array([[0.2], [0.1], [0.0]])
    found = topic_worlds(("a", "b", "c"), values, 4000, seed=1)
    np.testing.assert_allclose(found.spread, values.std(axis=1) / np.sqrt(40), rtol=0.05)
    again = topic_worlds(("a", "b", "c"), values, 4000, seed=1)
    assert (found.higher == again.higher).all()
    assert (found.higher != topic_worlds(("a", "b", "c"), values, 4000, seed=2).higher).any()


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


def test_memory_grows_by_no_more_than_a_tau_for_each_world() -> None:
    values = np.random.default_rng(0).random((20, 10))

    def peak(size: int) -> int:
        tracemalloc.start()
        names = tuple(f"s{at:02}" for at in range(20))
        found = all_worlds(names, values, lambda gains: gains.reshape(-1, 20, 10), noisy(values, 0.1, size, 1), 5)[
            "both"
        ]
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found.count == len(found.tau) == size
        return most

    peak(500)
    taus = 2 * 2 * 8 * 20_000  # over judgments and both, in pieces and joined
    assert peak(20_000) < 1.1 * peak(1000) + 1.5 * taus


def test_every_world_has_a_tau() -> None:
    draws = np.arange(8000.0)[:, None] + np.array([2.0, 1.0, 0.0])
    draws[:2000] = draws[:2000, ::-1]  # the first quarter has the opposite order
    found = judgment_worlds([draws[at : at + 37] for at in range(0, 8000, 37)])
    assert (found.tau < 0).mean() == 0.25
    assert found.mean[0] == pytest.approx(draws[:, 0].mean())


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_worlds_and_tests_do_not_depend_on_the_number_of_workers(workers: int) -> None:
    values = np.random.default_rng(4).random((6, 20))
    scores = ScoreArray(tuple("abcdef"), tuple(map(str, range(20))), values)
    draws = list(noisy(values, 0.3, 700, 2))

    def all_of(executor: Executor | None) -> list[Any]:
        worlds = all_worlds(scores.systems, values, reshaped, draws, 1100, seed=3, executor=executor)
        pairs = [
            compare_systems(scores, test, replicates=1700, seed=3, executor=executor)["p"].to_list()
            for test in ("randomisation", "bootstrap")
        ]
        best = top_set(scores, replicates=1700, seed=3, executor=executor).p
        clean = scores_without_noise(reshaped, values.ravel(), draws, np.full(120, 5), executor)
        return [*(pickle.dumps(one) for one in worlds.values()), pairs, best, clean.tobytes()]

    with Threads(workers) as threads:
        assert all_of(threads) == all_of(None)


def reshaped(gains: Any) -> Any:
    return gains.reshape(-1, 6, 20)


def test_quantiles_of_ranks() -> None:
    draws = np.concatenate([np.tile([3.0, 2.0, 1.0], (90, 1)), np.tile([1.0, 2.0, 3.0], (10, 1))])
    table = judgment_worlds([draws]).table(0.9)
    first = table.row(0, named=True)
    assert (first["system"], first["rank"], first["rank_low"], first["rank_high"]) == ("a", 1, 1, 3)


def test_what_cannot_be_resampled_is_said() -> None:
    with pytest.raises(DataError, match="one topic"):
        topic_worlds(("a", "b"), np.ones((2, 1)))
    with pytest.raises(DataError, match="one system"):
        topic_worlds(("a",), np.ones((1, 3)))
    with pytest.raises(DataError, match="no draws"):
        judgment_worlds([])
    with pytest.raises(InputError, match="0 worlds"):
        topic_worlds(("a", "b"), np.ones((2, 3)), 0)
    found = topic_worlds(("a", "b"), np.ones((2, 3)), 5)
    with pytest.raises(InputError, match="no system 'c'"):
        found.above("a", "c")
    assert found.above("a", "b") == 0.5  # identical systems
    assert np.isnan(found.tau_interval()[0])
