"""Logarithmic least squares: consistent matrices come back, spanning trees agree, literal columns are wrong."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.scaling.ratio import Ratio, log_ratio_fit
from judgewell.stats import laplacian


def pairs_of(rows: list[tuple[int, int, float, float]], topic: str = "t") -> pl.DataFrame:
    """Pairs from (left, right, left score, right score)."""
    columns = ["left", "right", "left_score", "right_score"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    names = [pl.format("d{}", pl.col(side).cast(pl.String).str.zfill(4)).alias(side) for side in ("left", "right")]
    return frame.with_columns(*names, topic=pl.lit(topic))


@st.composite
def connected(draw: st.DrawFn, most: int = 7) -> tuple[int, list[tuple[int, int]]]:
    """A connected graph: a random tree and some more edges."""
    size = draw(st.integers(2, most))
    tree = [(draw(st.integers(0, node - 1)), node) for node in range(1, size)]
    more = draw(st.sets(st.sampled_from(list(combinations(range(size), 2)))))
    return size, sorted(set(tree) | more)


@given(connected(), st.lists(st.floats(0.1, 50), min_size=7, max_size=7))
def test_consistent_ratios_are_recovered(graph: tuple[int, list[tuple[int, int]]], worth: list[float]) -> None:
    size, edges = graph
    fit = log_ratio_fit(pairs_of([(i, j, worth[i], worth[j]) for i, j in edges]), epsilon=0)
    expected = np.log(worth[:size]) - np.mean(np.log(worth[:size]))
    assert fit.y == pytest.approx(expected, abs=1e-9)
    assert fit.consistency["inconsistency"][0] == pytest.approx(0, abs=1e-15)


def spanning_tree_mean(size: int, cells: dict[tuple[int, int], float]) -> np.ndarray:
    """The mean over all spanning trees of the log scores that each tree alone gives."""
    found = []
    for tree in combinations(cells, size - 1):
        matrix, right = np.zeros((size, size)), np.zeros(size)
        for row, (i, j) in enumerate(tree):
            matrix[row, i], matrix[row, j], right[row] = 1, -1, cells[i, j]
        matrix[-1] = 1
        if np.linalg.matrix_rank(matrix) == size:
            found.append(np.linalg.solve(matrix, right))
    return np.mean(found, axis=0)


@given(connected(5), st.integers(0, 10**6))
def test_equals_the_geometric_mean_over_spanning_trees(graph: tuple[int, list[tuple[int, int]]], seed: int) -> None:
    size, edges = graph
    scores = np.random.default_rng(seed).uniform(0.5, 20, (len(edges), 2))
    fit = log_ratio_fit(pairs_of([(i, j, *scores[n]) for n, (i, j) in enumerate(edges)]), epsilon=0)
    cells = {edge: float(np.log(scores[n, 0] / scores[n, 1])) for n, edge in enumerate(edges)}
    assert fit.y == pytest.approx(spanning_tree_mean(size, cells), abs=1e-9)


def iterated(size: int, cells: dict[tuple[int, int], float], axis: int, steps: int = 3000) -> np.ndarray:
    """The paper's loop: fill unknown cells with S_u/S_v, take geometric means along an axis (1 rows, 0 columns)."""
    log = np.zeros((size, size))
    known = np.eye(size, dtype=bool)
    for (i, j), value in cells.items():
        log[i, j], log[j, i] = value, -value
        known[i, j] = known[j, i] = True
    y = log.mean(axis=axis)
    for _ in range(steps):
        filled = np.where(known, log, y[:, None] - y[None, :])
        y = filled.mean(axis=axis)
        y = y - y.mean()
    return y


def test_the_papers_loop_reaches_it_by_rows_and_misses_it_by_columns() -> None:
    """With M_ij = "i over j" the scores are geometric means of rows; means of columns, as printed, come out wrong."""
    rng = np.random.default_rng(2)
    size, worth = 24, rng.normal(0, 1, 24)
    edges = [edge for edge in combinations(range(size), 2) if rng.random() < 0.3]
    cells = {(i, j): worth[i] - worth[j] + rng.normal(0, 0.3) for i, j in edges}
    fit = log_ratio_fit(pairs_of([(i, j, float(np.exp(v)), 1.0) for (i, j), v in cells.items()]), epsilon=0)
    rows, columns = iterated(size, cells, axis=1), iterated(size, cells, axis=0)
    assert rows == pytest.approx(fit.y, abs=1e-9)
    assert np.corrcoef(columns, fit.y)[0, 1] < -0.9
    assert np.corrcoef(fit.y, worth)[0, 1] > 0.9


@given(st.permutations(range(6)))
def test_names_and_order_do_not_matter(order: list[int]) -> None:
    rng = np.random.default_rng(0)
    rows = [(i, j, *rng.uniform(0, 9, 2)) for i, j in combinations(range(6), 2)]
    renamed = [(order[i], order[j], left, right) for i, j, left, right in rows][::-1]
    before, after = log_ratio_fit(pairs_of(rows)).y, log_ratio_fit(pairs_of(renamed)).y
    assert after[order] == pytest.approx(before, abs=1e-9)


@pytest.mark.parametrize(
    ("scores", "ratio"), [((10, 5), 11 / 6), ((100, 50), 101 / 51), ((1, 0.5), 2 / 1.5), ((0, 0), 1)]
)
def test_epsilon_of_one_is_the_default_and_not_scale_free(scores: tuple[float, float], ratio: float) -> None:
    fit = log_ratio_fit(pairs_of([(0, 1, *scores)]))
    assert np.exp(fit.y[0] - fit.y[1]) == pytest.approx(ratio)


REPEATED = [(0, 1, 8.0, 1.0), (1, 0, 1.0, 8.0), (0, 1, 1.0, 1.0), (1, 2, 1.0, 1.0), (0, 2, 1.0, 1.0)]


def test_a_cell_counts_once_however_often_it_was_answered() -> None:
    fit = log_ratio_fit(pairs_of(REPEATED), epsilon=0)
    cell = 2 * np.log(8) / 3
    once = np.linalg.lstsq(np.array([[1, -1, 0], [0, 1, -1], [1, 0, -1], [1, 1, 1]]), np.array([cell, 0, 0, 0]))[0]
    assert fit.y == pytest.approx(once)
    assert fit.cells.count.tolist() == [3.0, 1.0, 1.0]


def test_weighted_cells_count_every_answer() -> None:
    fit = log_ratio_fit(pairs_of(REPEATED), epsilon=0, weighted=True)
    matrix = np.array([[1, -1, 0], [1, -1, 0], [1, -1, 0], [0, 1, -1], [1, 0, -1], [1, 1, 1]])
    each = np.linalg.lstsq(matrix, np.array([np.log(8), np.log(8), 0, 0, 0, 0]))[0]
    assert fit.y == pytest.approx(each)


def random_fit(seed: int, size: int = 15, share: float = 0.5, noise: float = 0.4):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    worth = rng.normal(0, 1, size)
    edges = [(i, j) for i, j in combinations(range(size), 2) if rng.random() < share or j == i + 1]
    rows = [(i, j, float(np.exp(worth[i] - worth[j] + rng.normal(0, noise))), 1.0) for i, j in edges]
    return log_ratio_fit(pairs_of(rows), epsilon=0), edges


def test_standard_errors_inconsistency_and_connectivity_are_those_of_least_squares() -> None:
    fit, edges = random_fit(4)
    incidence = np.zeros((len(edges), 15))
    for row, (i, j) in enumerate(edges):
        incidence[row, [i, j]] = 1, -1
    lap = incidence.T @ incidence
    squares = (fit.residuals**2).sum()
    sigma = np.sqrt(squares / (len(edges) - 15 + 1))
    row = fit.consistency.row(0, named=True)
    assert (row["documents"], row["cells"]) == (15, len(edges))
    assert row["inconsistency"] == pytest.approx(squares)
    assert row["sigma"] == pytest.approx(sigma)
    assert row["lambda2"] == pytest.approx(np.linalg.eigvalsh(lap)[1])
    assert fit.standard_errors == pytest.approx(sigma * np.sqrt(np.diag(np.linalg.pinv(lap))))


def test_draws_have_the_covariance_of_the_estimate() -> None:
    fit, _ = random_fit(5)
    drawn = fit.drawn(np.random.default_rng(0), 4000)
    assert drawn.std(axis=1) == pytest.approx(fit.standard_errors, rel=0.1)


def test_a_large_component_is_iterated_to_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    exact, _ = random_fit(6, size=60, share=0.2)
    monkeypatch.setattr(laplacian, "EXACT", 10)
    monkeypatch.setattr(laplacian, "DENSE", 10)
    iterated_fit, _ = random_fit(6, size=60, share=0.2)
    assert iterated_fit.y == pytest.approx(exact.y, abs=1e-8)
    assert iterated_fit.consistency["lambda2"].is_nan().all()


def test_the_standard_errors_of_a_large_component_are_an_estimate_of_the_exact_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exact = random_fit(6, size=60, share=0.2)[0].standard_errors
    monkeypatch.setattr(laplacian, "EXACT", 10)
    monkeypatch.setattr(laplacian, "DENSE", 10)
    ratio = random_fit(6, size=60, share=0.2)[0].standard_errors / exact
    assert ratio == pytest.approx(np.ones(60), abs=0.2)
    assert np.sqrt(np.mean((ratio - 1) ** 2)) == pytest.approx(0.05, abs=0.02)  # 1 / sqrt(2 * 200)


def test_several_right_sides_are_solved_as_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplacian, "EXACT", 10)
    fit, _ = random_fit(7, size=80, share=0.1)
    rhs = fit.system.matrix.noise(np.random.default_rng(1), 5)
    rhs[:, 2] = 0  # one that is settled from the start
    together = fit.system.solve(rhs)
    assert together == pytest.approx(np.stack([fit.system.solve(column) for column in rhs.T], axis=1), abs=1e-9)
    assert fit.system.matrix @ together == pytest.approx(rhs, abs=1e-7)


def test_a_system_that_does_not_settle_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplacian, "EXACT", 10)
    monkeypatch.setattr(laplacian, "STEPS", 5)
    chain = [(i, i + 1, 2.0, 1.0) for i in range(200)]
    with pytest.raises(DataError, match=r"201 documents did not converge in 5 steps"):
        log_ratio_fit(pairs_of(chain), epsilon=0)


TWO_PARTS = [(0, 1, 2.0, 1.0), (2, 3, 8.0, 1.0), (3, 4, 1.0, 1.0)]


def test_unconnected_comparisons_are_refused_by_name_or_scaled_apart() -> None:
    with pytest.raises(DataError, match=r"topic t: .* 2 components .*2 documents with d0000; 3 documents with d0002"):
        Ratio()(pairs_of(TWO_PARTS))
    gains = Ratio(components="separate", epsilon=0)(pairs_of(TWO_PARTS))
    assert gains["component"].to_list() == [1, 1, 2, 2, 2]
    assert gains["gain"].to_list() == pytest.approx([1, 1 / 2, 1, 1 / 8, 1 / 8])


def test_a_tree_of_comparisons_has_no_standard_errors_and_says_so() -> None:
    with pytest.warns(JudgewellWarning, match=r"3 of 3 documents have no interval.*needs every comparison"):
        found = Ratio().interval(pairs_of([(0, 1, 2.0, 1.0), (1, 2, 2.0, 1.0)]))
    assert found["low"].null_count() == 3


def test_topics_are_scaled_each_alone() -> None:
    both = pl.concat([pairs_of([(0, 1, 3.0, 1.0)], "s"), pairs_of([(0, 1, 1.0, 7.0)], "t")])
    gains = Ratio()(both)
    assert gains["gain"].to_list() == pytest.approx([1.0, 0.5, 0.25, 1.0])
    assert gains["judgments"].to_list() == [1, 1, 1, 1]


def test_pairs_without_numbers_are_left_out_and_told() -> None:
    pairs = pairs_of([(0, 1, 3.0, 1.0)]).select("topic", "left", "right", "left_score", "right_score")
    without = pairs.with_columns(left_score=pl.lit(None, dtype=pl.Float64))
    with pytest.warns(JudgewellWarning, match=r"1 of 2 pairs lack a number"):
        assert len(Ratio()(pl.concat([pairs, without]))) == 2
    with pytest.raises(DataError, match=r"no pair has both"):
        Ratio()(without)


def test_a_zero_needs_an_epsilon() -> None:
    with pytest.raises(InputError, match=r"a number of 0 has no ratio .topic t, left d0000, right d0001.*epsilon=1"):
        log_ratio_fit(pairs_of([(0, 1, 0.0, 1.0)]), epsilon=0)


def test_a_document_against_itself_is_refused() -> None:
    with pytest.raises(InputError, match=r"compared with itself"):
        log_ratio_fit(pairs_of([(1, 1, 1.0, 1.0)]))
