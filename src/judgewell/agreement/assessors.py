"""Assessors against each other, against the rest, and against documents whose answer is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from judgewell.agreement.common import (
    DOCUMENT,
    judgments_of,
    pairs_of,
    require,
    with_number,
)
from judgewell.agreement.overlap import LEAST_DOCUMENTS, shared_documents
from judgewell.agreement.unit_grades import with_unit_number
from judgewell.errors import DataError, InputError, note
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.concordance import count_concordance
from judgewell.text import agrees, counted

KNOWN = ("H", "N")


def assessor_tau(judgments: Any, *, by: Sequence[str] = (), least_documents: int = LEAST_DOCUMENTS) -> pl.DataFrame:
    """Kendall's tau-b of each two assessors over the document pairs of a topic that both judged.

    Documents of different topics are not compared; a pair's topics are pooled. The mean over pairs with its interval is
    :func:`judgewell.agreement.overlap.mean_over_pairs`.
    """
    shared = shared_documents(judgments, by=by, least_documents=least_documents)
    order = _order_by_group(shared.first, shared.second, shared.pair, shared.topic)
    return pl.concat([shared.pairs, order], how="horizontal").sort(
        [*by, "documents"], descending=[False] * len(by) + [True], maintain_order=True
    )


def against_the_rest(judgments: Any, *, least_documents: int = 5) -> pl.DataFrame:
    """Each assessor's values against the mean of everybody else's for the same documents, least agreeing first.

    tau_b orders documents of a topic by the assessor and by the rest; bias is the mean of own − rest. A careless
    assessor shows a tau near 0, a reversed one a tau below it. Values must be comparable between assessors
    (magnitudes: normalised ones).
    """
    frame = judgments_of(judgments)
    require(frame, "assessor", "comparing assessors with the rest")
    named = frame.filter(pl.col("assessor").is_not_null()).group_by(*DOCUMENT, "assessor", maintain_order=True)
    own = named.agg(value=pl.col("value").mean())
    others = pl.len().over(DOCUMENT) - 1
    rest = (pl.col("value").sum().over(DOCUMENT) - pl.col("value")) / others
    compared = own.with_columns(rest=pl.when(others > 0).then(rest)).drop_nulls("rest")
    if compared.is_empty():
        raise DataError(f"comparing assessors with the rest needs two per document; {own.height} documents have one")
    enough = compared.filter(pl.len().over("assessor") >= least_documents)
    lost = compared["assessor"].n_unique() - enough["assessor"].n_unique()
    if enough.is_empty():
        raise DataError(f"no assessor shares {least_documents} documents with the rest")
    if lost:
        few = f"{counted(lost, 'assessor')} sharing fewer than {least_documents} documents"
        note(f"{few} {agrees(lost, 'is', 'are')} not compared with the rest")
    coded = with_number(with_number(enough, ["assessor"], "who"), ["topic"], "number")
    order = _order_by_group(*(coded[name].to_numpy() for name in ("value", "rest", "who", "number")))
    table = coded.group_by("assessor", maintain_order=True).agg(
        documents=pl.len().cast(pl.Int64),
        topics=pl.col("topic").n_unique().cast(pl.Int64),
        bias=(pl.col("value") - pl.col("rest")).mean(),
    )
    return pl.concat([table, order], how="horizontal").sort("tau_b", nulls_last=True, maintain_order=True)


def known_accuracy(judgments: Any) -> pl.DataFrame:
    """By topic and assessor, how often a known H document got a higher value than a known N document of the same unit.

    `known` is an extra column of the judgments with H and N; equal values do not pass.
    """
    frame = judgments_of(judgments)
    _check_known(frame, "known")
    numbered = with_unit_number(frame)
    high = numbered.filter(pl.col("known") == "H").select("unit_number", "topic", "assessor", high="value")
    low = numbered.filter(pl.col("known") == "N").select("unit_number", low="value")
    both = high.join(low, on="unit_number", maintain_order="left")
    if both.is_empty():
        raise DataError("no unit holds both a known H and a known N document")
    return _accuracy(both, pl.col("high") > pl.col("low"), pl.col("high") == pl.col("low"))


def known_pair_accuracy(pairs: Any) -> pl.DataFrame:
    """By topic and assessor, how often the known H document was preferred to the known N document it was shown with.

    `left_known` and `right_known` are extra columns of the pairs with H and N (Yang et al. 2018, Table 3).
    """
    frame = pairs_of(pairs)
    _check_known(frame, "left_known")
    _check_known(frame, "right_known")
    left = (pl.col("left_known") == "H") & (pl.col("right_known") == "N")
    right = (pl.col("left_known") == "N") & (pl.col("right_known") == "H")
    gold = frame.filter((left | right) & pl.col("preferred").is_not_null())
    if gold.is_empty():
        raise DataError("no answered pair shows a known H with a known N document")
    chose_high = pl.when(left).then(pl.col("preferred") == "left").otherwise(pl.col("preferred") == "right")
    return _accuracy(gold, chose_high, pl.col("preferred") == "same")


def accuracy_summary(accuracy: pl.DataFrame) -> pl.DataFrame:
    """By topic, assessors' accuracy: its mean and standard deviation over assessors."""
    columns = [
        pl.len().cast(pl.Int64).alias("assessors"),
        pl.col("checks").sum(),
        pl.col("accuracy").mean().alias("mean"),
        pl.col("accuracy").std().alias("sd"),
        (pl.col("passed").sum() / pl.col("checks").sum()).alias("pooled"),
    ]
    return accuracy.group_by("topic").agg(columns).sort("topic")


def _accuracy(frame: pl.DataFrame, passed: pl.Expr, tied: pl.Expr) -> pl.DataFrame:
    return (
        frame.group_by("topic", "assessor")
        .agg(checks=pl.len().cast(pl.Int64), passed=passed.sum().cast(pl.Int64), tied=tied.sum().cast(pl.Int64))
        .sort("topic", "assessor")
        .with_columns(accuracy=pl.col("passed") / pl.col("checks"))
    )


def _check_known(frame: pl.DataFrame, column: str) -> None:
    require(frame, column, "accuracy on known documents")
    wrong = frame.filter(pl.col(column).is_not_null() & ~pl.col(column).is_in(KNOWN))
    if not wrong.is_empty():
        raise InputError(f"{column} {wrong[column][0]!r} is neither H nor N", cure="leave it empty for other documents")


def _order_by_group(first: Floats, second: Floats, group: Ints, topic: Ints) -> pl.DataFrame:
    """Tau-b of each group (0, 1, 2 …) over pairs of documents of the same topic, and the counts behind it."""
    cells, cell = np.unique(group * (topic.max() + 1) + topic, return_inverse=True)
    order = count_concordance(first, second, cell.ravel()).added(cells // (topic.max() + 1))
    columns = {"pairs": order.pairs, "agree": order.agree, "disagree": order.disagree, "tau_b": order.tau_b}
    undefined = pl.lit("tau is undefined: one of the two ties every pair of documents")
    return pl.DataFrame(columns, nan_to_null=True).with_columns(note=pl.when(pl.col("tau_b").is_null()).then(undefined))
