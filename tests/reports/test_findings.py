"""Sentences of a report about the collection."""

from __future__ import annotations

import polars as pl

from judgewell.reports.findings import checks


def test_each_check_has_its_own_rate_of_failures():
    table = pl.DataFrame(
        {
            "check": ["known documents in order", "minimum reading time", "quiz"],
            "verdicts": [60, 900, 10],
            "first attempts": [40, 800, 10],
            "failed at first": [10, 8, 0],
            "share": [0.25, 0.01, 0.0],
        }
    )
    said = (
        "First attempts that failed, by check: known documents in order 25.0 % (of 40) and minimum reading time 1.0 % "
    )
    assert checks(table).text == said + "(of 800)."
    assert checks(table.tail(1)).text == "No check failed at the first attempt."
