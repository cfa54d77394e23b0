"""Scores written as delimited text, whatever their digits."""

import csv
import io
from itertools import product

import numpy as np
import pytest

from judgewell.formats import csv_text
from judgewell.formats.csv_text import csv_scores


@pytest.mark.parametrize("block", [3, 20_000])
def test_every_value_is_written_with_all_its_digits(monkeypatch, block):
    """Columns whose values repeat, all differ, are missing for some topics, or are 0 with either sign."""
    monkeypatch.setattr(csv_text, "BLOCK", block)
    rng = np.random.default_rng(0)
    some = rng.random(50)
    missing = np.where(rng.random(50) < 0.3, np.nan, rng.integers(0, 2, 50))
    zeros = np.where(rng.random(50) < 0.5, -0.0, 0.0)
    values = np.stack([some, rng.integers(0, 3, 50) / 3, missing, zeros], axis=-1)
    topics, measures = [f"t,{at}" for at in range(50)], ["AP", 'P"@1', "R", "Z"]
    text = "".join(csv_scores([("a", values), ("b", 1 - values)], topics, measures))
    rows = list(csv.reader(io.StringIO(text)))
    expected = [
        [system, topic, measure, repr(float(value) + 0.0)]
        for system, table in (("a", values), ("b", 1 - values))
        for (topic, measure), value in zip(product(topics, measures), table.ravel(), strict=True)
        if not np.isnan(value)
    ]
    assert rows == [["system", "topic", "measure", "value"], *expected]
