"""Ids as numbers: in order, verified, and right even where two ids share a hash."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.scaling import numbers


@given(st.lists(st.text(max_size=3) | st.none(), min_size=1, max_size=60))
def test_numbers_stand_for_the_ids_in_order(ids: list[str | None]) -> None:
    distinct, number = numbers.numbered(pl.Series(ids, dtype=pl.String))
    assert distinct.gather(number).to_list() == ids
    assert distinct.to_list() == sorted(set(ids), key=lambda text: (text is not None, (text or "").encode()))


def test_several_columns_share_their_numbers() -> None:
    distinct, (left, right) = numbers.numbered_together([pl.Series(["b", "a"]), pl.Series(["c", "b", "b"])])
    assert distinct.to_list() == ["a", "b", "c"]
    assert (left.tolist(), right.tolist()) == ([1, 0], [2, 1, 1])


def test_ids_that_share_a_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    real = pl.Series.hash
    monkeypatch.setattr(pl.Series, "hash", lambda ids, seed: real(ids.str.slice(0, 1) if seed == 0 else ids, seed))
    distinct, number = numbers.numbered(pl.Series(["ab", "aa", "c", "ab"]))
    assert distinct.to_list() == ["aa", "ab", "c"]
    assert number.tolist() == [1, 0, 2, 1]


@given(st.lists(st.sampled_from([0, 1, 7, 2**40, 2**61]), min_size=1, max_size=40))
def test_the_order_of_keys_is_stable(keys: list[int]) -> None:
    array = np.array(keys)
    ordered, rows = numbers.in_order(array)
    assert rows.tolist() == np.argsort(array, kind="stable").tolist()
    assert ordered.tolist() == sorted(keys)


@given(st.lists(st.tuples(st.sampled_from("st"), st.sampled_from("abc"), st.floats(-5, 5)), min_size=1, max_size=40))
def test_means_and_medians_of_documents_are_polars(rows: list[tuple[str, str, float]]) -> None:
    frame = pl.DataFrame(rows, schema=["topic", "doc", "value"], orient="row")
    value = pl.col("value")
    known = frame.group_by("topic", "doc").agg(pl.len(), mean=value.mean(), median=value.median()).sort("topic", "doc")
    found = numbers.documents_of(frame)
    assert found.table.rows() == known.select("topic", "doc", "len").rows()
    values = frame["value"].to_numpy()
    assert found.means(values) == pytest.approx(known["mean"].to_numpy(), abs=1e-9)
    assert found.medians(values) == pytest.approx(known["median"].to_numpy(), abs=1e-12)


@given(st.lists(st.tuples(st.sampled_from("st"), st.sampled_from(["a", "b", None])), min_size=1, max_size=30))
def test_groups_are_found_whether_their_rows_stand_together_or_not(rows: list[tuple[str, str | None]]) -> None:
    frame = pl.DataFrame(rows, schema={"topic": pl.String, "unit": pl.String}, orient="row")
    groups, number = numbers.groups_of(frame, ["topic", "unit"])
    assert len(set(groups.rows())) == len(groups)
    assert [groups.row(at) for at in number] == rows
