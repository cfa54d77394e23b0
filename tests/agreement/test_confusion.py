"""Confusion and disagreement: the worked example of the predicted relevance paper, and sums that must hold."""

from __future__ import annotations

import polars as pl
import pytest

from judgewell.agreement.confusion import as_judgments, disagreement, label_confusion, label_coverage
from judgewell.errors import DataError

ONE = [2, 2, 1, 0, 1, 1, 0, 1, 2, 1, 1, 1, 2, 0, 1, 0, 1, 1, 0, 0]  # Demeester et al. 2015, Table 1
TWO = [1, 2, 1, 1, 2, 0, 0, 1, 2, 2, 0, 2, 1, 0, 1, 2, 0, 1, 0, 0]


def labels(values: list[int]) -> pl.DataFrame:
    return pl.DataFrame({"topic": "t", "doc": [str(n) for n in range(len(values))], "gain": [float(v) for v in values]})


def test_confusion_of_the_papers_example() -> None:
    table = label_confusion({"U1": labels(ONE), "U2": labels(TWO)})
    assert table["documents"].to_list() == [4, 1, 1, 3, 4, 3, 0, 2, 2]
    assert table.filter(grade=1.0)["share"].to_list() == [0.3, 0.4, 0.3]
    with pytest.raises(DataError, match="share a document"):
        label_confusion({"U1": labels(ONE), "other": labels(TWO).with_columns(topic=pl.lit("z"))})


def test_disagreement_gives_the_papers_probabilities() -> None:
    """p(R | i) at the top threshold, eq. (5): 4/10, 5/17, 1/13."""
    table = disagreement(as_judgments({"U1": labels(ONE), "U2": labels(TWO)}))
    top = table.filter(other=2.0).sort("grade", descending=True)["share"].to_list()
    assert top == pytest.approx([4 / 10, 5 / 17, 1 / 13])
    assert table.group_by("grade").agg(pl.col("share").sum())["share"].to_list() == pytest.approx([1.0] * 3)
    wide = table.pivot(on="other", index="grade", values="pairs").drop("grade").to_numpy()
    assert (wide == wide.T).all()


def test_what_labels_do_not_cover_is_counted() -> None:
    judged = pl.DataFrame({"topic": ["t", "t", "z"], "doc": ["0", "99", "0"]})
    row = label_coverage({"U1": labels(ONE)}, judged).row(0, named=True)
    assert (row["documents"], row["grades"]) == (20, 3)
    assert (row["judged_without_label"], row["topics_without_labels"]) == (2, 1)
