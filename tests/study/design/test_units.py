"""Units: enough judgments of every document, none twice in a unit, known documents in each, as few as can be."""

import gzip
from math import ceil

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.errors import DataError, InputError
from judgewell.study.design.chance import generator
from judgewell.study.design.colouring import edge_colours
from judgewell.study.design.units import make_units, units_needed


def promises(units, documents, size, redundancy, known):
    counts = np.bincount(units.ravel(), minlength=documents)
    others = np.setdiff1d(np.arange(documents), known)
    assert units.shape == (units_needed(documents, size, redundancy, len(known)), min(size, documents))
    assert all(len(set(unit)) == len(unit) for unit in units.tolist())
    assert (counts[list(known)] == len(units)).all()
    if len(others):
        assert counts[others].min() >= redundancy
        assert counts[others].max() <= max(redundancy + 1, len(units) if len(others) < size else 0)


@given(
    st.integers(1, 60),
    st.integers(3, 10),
    st.integers(1, 15),
    st.integers(0, 2),
    st.sampled_from(["random", "balanced"]),
    st.integers(0, 2**32),
)
def test_every_promise_holds_for_any_pool(documents, size, redundancy, known, order, seed):
    anchors = tuple(range(min(known, documents)))
    units = make_units(documents, size, redundancy, generator(seed), known=anchors, order=order)
    promises(units, documents, size, redundancy, anchors)
    if order == "balanced":
        for doc in range(documents):
            at = np.bincount(np.nonzero(units == doc)[1], minlength=units.shape[1])
            assert at.max() - at.min() <= 1


@pytest.mark.parametrize(("documents", "order"), [(1000, "random"), (3000, "random"), (3000, "balanced")])
def test_every_promise_holds_for_large_pools(documents, order):
    promises(make_units(documents, 8, 10, generator(5), known=(7, 11), order=order), documents, 8, 10, (7, 11))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(2, 8), st.integers(0, 999))
def test_documents_may_need_different_numbers_of_judgments(need, size, seed):
    needs = np.array(need)
    units = make_units(len(need), size, needs, generator(seed))
    room = min(size, len(need))
    assert len(units) == (max(ceil(needs.sum() / room), needs.max()) if needs.any() else 0)
    assert (np.bincount(units.ravel(), minlength=len(need)) >= needs).all()
    assert all(len(set(unit)) == len(unit) for unit in units.tolist())


def test_the_same_seed_gives_the_same_units_and_another_seed_others():
    one, two, three = (make_units(40, 8, 10, generator(seed), known=(0, 1)) for seed in (1, 1, 2))
    assert (one == two).all()
    assert (one != three).any()


def test_random_order_favours_no_position():
    units = make_units(300, 8, 40, generator(3), known=(0, 1))
    at = np.bincount(np.nonzero(units == 0)[1], minlength=8)
    expected = len(units) / 8
    assert ((at - expected) ** 2 / expected).sum() < 24.3  # chi-squared, 7 degrees of freedom, p = .001


def test_documents_are_mixed_rather_than_kept_together():
    units = make_units(60, 8, 10, generator(3), known=(0, 1))
    together = np.zeros((60, 60), int)
    for unit in units:
        together[np.ix_(unit, unit)] += 1
    assert together[2:, 2:][~np.eye(58, dtype=bool)].max() <= 6


def test_what_cannot_be_is_refused():
    with pytest.raises(DataError, match="nothing to judge"):
        make_units(0, 8, 10, generator(1))
    with pytest.raises(InputError, match="at least 3"):
        make_units(9, 2, 10, generator(1), known=(0, 1))
    with pytest.raises(InputError, match="known documents"):
        make_units(9, 8, 10, generator(1), known=(0, 9))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), unique=True, max_size=40), st.integers(0, 99))
def test_as_many_colours_as_the_largest_degree_suffice(edges, seed):
    left, right = [edge[0] for edge in edges], [edge[1] for edge in edges]
    degree = max([left.count(v) for v in left] + [right.count(v) for v in right], default=1)
    colours = edge_colours(left, right, degree, generator(seed))
    assert all(0 <= colour < degree for colour in colours)
    for ends in (left, right):
        assert len(set(zip(ends, colours, strict=True))) == len(edges)


@pytest.mark.realdata
def test_the_units_of_the_magnitude_study_come_out(data):
    source = gzip.decompress((data / "trec8-s100" / "judgments.csv.gz").read_bytes())
    judged = pl.read_csv(source, columns=["topic_id", "unit_id", "document_id"])
    topics = judged.group_by("topic_id").agg(
        pl.col("document_id").n_unique().alias("documents"), pl.col("unit_id").n_unique().alias("units")
    )
    needed = [units_needed(documents, 8, 10) for documents in topics["documents"]]
    assert needed == topics["units"].to_list()
    assert sum(needed) == 7059
