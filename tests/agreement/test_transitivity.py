"""The best order is exact, its chance value is that of the graph, and random clickers are told from careful people."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgewell.agreement.best_order import (
    ChanceByShape,
    best_order_by_parts,
    best_orders,
    biconnected_parts,
    isomorphic,
)
from judgewell.agreement.transitivity import (
    preferences_against_labels,
    repeated_judgments,
    repeated_labels,
    transitivity,
    transitivity_summary,
    volume_against_inconsistency,
)
from judgewell.errors import DataError, InputError, JudgewellWarning


def discords(wins: np.ndarray, order: np.ndarray | tuple[int, ...]) -> int:
    return int(np.tril(wins[np.ix_(order, order)], -1).sum())


@given(st.integers(2, 6), st.integers(0, 100_000), st.floats(0.1, 0.9))
def test_best_order_equals_brute_force(size: int, seed: int, filled: float) -> None:
    rng = np.random.default_rng(seed)
    wins = rng.integers(1, 3, (size, size)) * (rng.random((size, size)) < filled)
    np.fill_diagonal(wins, 0)
    fewest = min(discords(wins, order) for order in permutations(range(size)))
    found, orders = best_orders(wins[None])
    assert found[0] == fewest == discords(wins, orders[0])
    in_parts = best_order_by_parts(wins)
    assert in_parts is not None
    assert in_parts[0] == fewest == discords(wins, in_parts[1])


def test_more_documents_than_twelve() -> None:
    with pytest.raises(InputError, match="13 documents takes too long"):
        best_orders(np.zeros((1, 13, 13), dtype=np.int64))
    ladder = np.triu(np.ones((20, 20), dtype=np.int64), 1)
    ladder[4, 2] += 1  # one answer against the order
    assert best_order_by_parts(ladder)[0] == 1
    ring = np.roll(np.eye(13, dtype=np.int64), 1, axis=1)
    assert best_order_by_parts(ring) is None


def cubic_graphs() -> list[np.ndarray]:
    """Every labelled connected cubic graph on eight vertices."""
    found = []

    def extend(graph: np.ndarray) -> None:
        degree = graph.sum(axis=1)
        open_vertices = np.flatnonzero(degree < 3)
        if not len(open_vertices):
            found.append(graph)
            return
        first = open_vertices[0]
        for others in combinations([v for v in open_vertices[1:] if not graph[first, v]], int(3 - degree[first])):
            grown = graph.copy()
            grown[first, list(others)] = grown[list(others), first] = 1
            extend(grown)

    extend(np.zeros((8, 8), dtype=np.int64))
    reached = np.linalg.matrix_power((np.stack(found) + np.eye(8)), 7)
    return [graph for graph, all_reached in zip(found, (reached > 0).all(axis=(1, 2)), strict=True) if all_reached]


def test_chance_of_cubic_groups_of_eight() -> None:
    graphs = cubic_graphs()
    assert len(graphs) == 19_320
    walks = [np.linalg.matrix_power(np.stack(graphs).astype(float), length) for length in (3, 4)]
    looks = np.concatenate([np.sort(np.diagonal(power, axis1=1, axis2=2), axis=1) for power in walks], axis=1)
    _, look = np.unique(looks, axis=0, return_inverse=True)  # how many closed walks pass each vertex
    shapes = []
    for number in range(look.max() + 1):
        same = [graphs[place] for place in np.flatnonzero(look == number)]
        assert all(isomorphic(same[0], graph) for graph in same[::40])
        shapes.append((same[0], len(same)))
    assert len(shapes) == 5
    chance = ChanceByShape(0, np.random.default_rng(0))
    values = [(chance(graph), count) for graph, count in shapes]
    assert all(value.exact for value, _ in values)
    mean = sum(value.discords * count for value, count in values) / len(graphs)
    perfect = sum(value.perfect * count for value, count in values) / len(graphs)
    assert round(mean, 4) == 0.7083
    assert round(perfect, 3) == 0.394


@settings(max_examples=15)
@given(st.integers(3, 6), st.integers(0, 10_000))
def test_chance_in_parts_equals_all_orientations(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = np.triu(rng.integers(0, 2, (size, size)) * rng.integers(1, 3, (size, size)), 1)
    first, second = np.nonzero(graph)
    ends = [pair for a, b in zip(first, second, strict=True) for pair in [(a, b)] * graph[a, b]][:9]
    graph = np.zeros_like(graph)
    for a, b in ends:
        graph[a, b] += 1
        graph[b, a] += 1
    every = np.zeros((2 ** len(ends), size, size), dtype=np.int64)
    for turn, wins in enumerate(every):
        for place, (a, b) in enumerate(ends):
            wins[(b, a) if turn >> place & 1 else (a, b)] += 1
    fewest = best_orders(every)[0]
    chance = ChanceByShape(0, rng)(graph)
    assert chance is not None
    assert chance.discords == pytest.approx(np.mean(fewest))
    assert chance.perfect == pytest.approx(np.mean(fewest == 0))


def test_biconnected_parts_of_two_triangles_and_a_bridge() -> None:
    graph = np.zeros((8, 8), dtype=np.int64)
    for a, b in [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (3, 5), (5, 6)]:
        graph[a, b] = graph[b, a] = 1
    assert sorted(biconnected_parts(graph)) == [[0, 1, 2], [3, 4, 5]]
    graph[5, 6] = graph[6, 5] = 2  # compared twice: a cycle of two
    assert sorted(biconnected_parts(graph)) == [[0, 1, 2], [3, 4, 5], [5, 6]]


RING = [(a, (a + step) % 8) for step in (1, 4) for a in range(8) if step == 1 or a < 4]  # a cubic graph, 12 pairs


def made_pairs(seed: int, *, careful: bool, groups: int = 150) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for group in range(groups):
        worth = rng.normal(size=8)
        for a, b in RING:
            left_better = bool(worth[a] > worth[b] if careful else rng.random() < 0.5)
            labels = (worth[[a, b]] > 0) if careful else rng.random(2) < 0.5
            rows.append((f"{group}-{a}", f"{group}-{b}", f"w{group % 10}", str(group), left_better, *labels.tolist()))
    frame = pl.DataFrame(
        rows, schema=["left", "right", "assessor", "unit", "better", "left_relevant", "right_relevant"], orient="row"
    )
    preferred = pl.when("better").then(pl.lit("left")).otherwise(pl.lit("right"))
    return frame.with_columns(topic=pl.lit("t"), preferred=preferred).drop("better")


def test_careful_people_are_consistent_and_random_clickers_are_at_chance() -> None:
    careful = transitivity_summary(transitivity(made_pairs(0, careful=True)))
    assert careful["consistency"][0] == 1
    assert careful["perfect"][0] == 1
    table = transitivity(made_pairs(1, careful=False, groups=600))
    assert table["comparisons"].unique().to_list() == [12]
    clicking = transitivity_summary(table).row(0, named=True)
    assert abs(clicking["consistency"]) < 0.12  # 0 in truth; 600 groups leave an error of about 0.04
    assert clicking["perfect"] == pytest.approx(clicking["chance_perfect"], abs=0.07)
    assert table["chance_exact"].all()
    # told apart by assessor: every clicker below one half, every careful worker above it
    both = [
        transitivity_summary(transitivity(made_pairs(s, careful=c)), by=["assessor"])
        for s, c in ((2, True), (3, False))
    ]
    assert both[0]["consistency"].min() > 0.5
    assert (both[1]["consistency"] < 0.5).mean() >= 0.9


def test_repeated_labels() -> None:
    frame = {
        "topic": ["t"] * 4,
        "left": ["a", "a", "a", "b"],
        "right": ["b", "c", "b", "d"],
        "assessor": ["x", "x", "y", "y"],
        "left_relevant": [True, False, True, True],
        "right_relevant": [False, True, True, True],
    }
    table = repeated_labels(frame)
    assert table.select("assessor", "documents", "repeated", "changed", "two_showings", "different").rows() == [
        ("x", 3, 1, 1, 1, 1),
        ("y", 3, 1, 0, 1, 0),
    ]
    random = repeated_labels(made_pairs(4, careful=False), by=["topic"]).row(0, named=True)
    assert random["times_share"] == pytest.approx(random["chance_share"], abs=0.03)
    with pytest.raises(DataError, match="none did"):
        repeated_labels({name: values[:1] for name, values in frame.items()})


def test_volume_and_paired_test() -> None:
    pairs = made_pairs(5, careful=False)
    preferences = transitivity_summary(transitivity(pairs), by=["topic", "assessor"])
    labels = repeated_labels(pairs)
    row = preferences_against_labels(preferences, labels).row(0, named=True)
    assert row["points"] == 10
    assert row["p"] < 0.001  # random labels change far more often than random preferences can show
    flat = volume_against_inconsistency(preferences, "share", "comparisons").row(0, named=True)
    assert flat["tau"] is None
    assert "two different values" in flat["note"]


def test_ties_are_no_preference() -> None:
    frame = made_pairs(6, careful=True, groups=3).with_columns(
        preferred=pl.when(pl.col("unit") == "0").then(pl.lit("same")).otherwise("preferred")
    )
    with pytest.warns(JudgewellWarning, match="excludes 1 group without a preference"):
        assert transitivity(frame).height == 2
    with pytest.raises(DataError, match="every answer is 'same'"):
        transitivity(frame.filter(pl.col("unit") == "0"))


@pytest.mark.realdata
def test_music_preferences(music: pl.DataFrame) -> None:
    with pytest.warns(JudgewellWarning, match="84 groups without a preference"):
        table = transitivity(music, within="assessor", samples=100)
    assert table["note"].null_count() == table.height
    assert table["comparisons"].sum() == 1400
    summary = transitivity_summary(table).row(0, named=True)
    assert summary["discords"] < summary["chance_discords"] / 2


@pytest.mark.realdata
def test_units_of_trec8_that_repeat_a_document(trec8: tuple[pl.DataFrame, object]) -> None:
    table = repeated_judgments(trec8[0])
    assert table.height == 6
    assert (table["times"] == 2).all()
