"""Ids as numbers: in order, verified, and right even where two ids share a hash."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgewell.scaling import graph, numbers


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
    ordered, rows = graph._in_order(array)
    assert rows.tolist() == np.argsort(array, kind="stable").tolist()
    assert ordered.tolist() == sorted(keys)
