"""Sentences of the report about systems."""

import numpy as np
import polars as pl

from judgewell.comparison.scores import ScoreArray
from judgewell.reports.system_findings import best_elsewhere


def scores(*means):
    values = np.repeat(np.array(means)[:, None], 4, axis=1)
    return ScoreArray(("a", "b", "c"), ("1", "2", "3", "4"), values, "nDCG@10", (0.0, 1.0))


TABLE = pl.DataFrame({"system": ["a", "b", "c"], "top": [True, True, False]})


def test_one_system_that_is_best_under_every_set():
    finding = best_elsewhere({"crowd": scores(3, 2, 1), "experts": scores(9, 2, 1)}, TABLE)
    assert finding.text == "The system a also has the best mean under experts."


def test_another_best_system_within_the_first_top_set():
    finding = best_elsewhere({"crowd": scores(3, 2, 1), "experts": scores(1, 2, 0), "pairs": scores(3, 1, 1)}, TABLE)
    assert finding.text == (
        "The best mean is that of b under experts and a under pairs; under crowd, too, these systems may be the best."
    )


def test_another_best_system_outside_the_first_top_set():
    finding = best_elsewhere({"crowd": scores(3, 2, 1), "experts": scores(1, 2, 8)}, TABLE)
    assert finding.text == (
        "The best mean is that of c under experts; under crowd, c is not among the systems that may be the best: "
        "the sets disagree about the best system."
    )


def test_one_set_alone_has_nothing_to_add():
    assert best_elsewhere({"crowd": scores(3, 2, 1)}, TABLE) is None
