"""The documents that two assessors share, for every two of them, and means over such pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from judgewell.agreement.common import (
    DOCUMENT,
    check_columns,
    each_group,
    judgments_of,
    require,
    rows_table,
    with_number,
)
from judgewell.agreement.jackknife import LEAST_ASSESSORS
from judgewell.errors import DataError, InputError, note
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.resampling import jackknife_variance
from judgewell.text import agrees, count, counted

LEAST_DOCUMENTS = 10  # with fewer shared documents a pair's statistic is mostly noise


@dataclass(frozen=True)
class Overlap:
    """The pairs of assessors, a row each (`by`, first, second, documents), and the documents they share.

    `pair` is the row in `pairs` that each shared document belongs to, `topic` a number for its topic, `first` and
    `second` the two values.
    """

    pairs: pl.DataFrame
    pair: Ints
    topic: Ints
    first: Floats
    second: Floats


def shared_documents(judgments: Any, *, by: Sequence[str] = (), least_documents: int = LEAST_DOCUMENTS) -> Overlap:
    """The documents every two assessors share, for pairs that share `least_documents` of them.

    Where an assessor judged a document again, the first judgment counts.
    """
    frame = judgments_of(judgments)
    check_columns(frame, by)
    require(frame, "assessor", "comparing assessors")
    keys = list(dict.fromkeys([*by, *DOCUMENT]))
    once = _first_judgments(frame.filter(pl.col("assessor").is_not_null()), keys)
    for columns, number in ((keys, "document"), (["topic"], "topic_number"), (list(by) or ["topic"], "split")):
        once = with_number(once, columns, number)
    names = once["assessor"].unique().sort()
    once = once.with_columns(who=pl.col("assessor").rank("dense").cast(pl.Int64) - 1)
    rows = once.select("document", "who", "value")
    both = rows.join(rows, on="document", suffix="_second").filter(pl.col("who") < pl.col("who_second"))
    if both.is_empty():
        lonely = counted(once["document"].n_unique(), "document")
        raise DataError(f"comparing assessors needs two assessors per document; {lonely} have one")
    places = once.unique("document", maintain_order=True).select("document", "topic_number", "split").sort("document")
    document = both["document"].to_numpy()
    code = both["who"].to_numpy() * len(names) + both["who_second"].to_numpy()
    if by:
        code = code + places["split"].to_numpy()[document] * len(names) ** 2
    codes, pair, counts = _enough(code, least_documents, by)
    kept = pair >= 0
    pairs = _named_pairs(codes, counts, names, once.unique("split", maintain_order=True).select(*by) if by else None)
    topic = places["topic_number"].to_numpy()[document[kept]]
    return Overlap(pairs, pair[kept], topic, both["value"].to_numpy()[kept], both["value_second"].to_numpy()[kept])


def mean_over_pairs(table: pl.DataFrame, statistic: str, *, by: Sequence[str] = ()) -> pl.DataFrame:
    """The mean of a statistic over pairs of assessors, weighted by shared documents, with its 95 % interval.

    `table` has a row for each two assessors (first, second, documents and the statistic). Each assessor is excluded in
    turn with all its pairs, so the interval speaks for other assessors and the same documents.
    """
    if statistic not in table.columns:
        raise InputError(f"there is no column {statistic!r}", cure=f"the columns are {', '.join(table.columns)}")
    rows = []
    for key, part in each_group(table, by):
        known = part.filter(pl.col(statistic).is_not_null())
        rows.append(key | {"statistic": statistic} | _mean_row(known, statistic))
    return rows_table(rows, "mean", "low", "high")


def _first_judgments(frame: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    named = frame.select(*keys, "assessor", "value")
    once = named.unique([*keys, "assessor"], keep="first", maintain_order=True)
    repeats = named.height - once.height
    if repeats:
        again = f"{count(repeats)} {agrees(repeats, 'judgment repeats', 'judgments repeat')}"
        note(f"{again} an earlier one by the same assessor; in comparisons of two assessors the first counts")
    return once


def _enough(code: Ints, least_documents: int, by: Sequence[str]) -> tuple[Ints, Ints, Ints]:
    """The codes of pairs that share enough, each row's place among them (−1 where not), and how many they share."""
    codes, place, counts = np.unique(code, return_inverse=True, return_counts=True)
    enough = counts >= least_documents
    if not enough.any():
        raise DataError(
            f"comparing assessors needs two who share {least_documents} documents; of {counted(len(codes), 'pair')} "
            f"the best shares {counts.max()}"
        )
    if not enough.all():
        few = int((~enough).sum())
        where = f", counted for each {' and '.join(by)}," if by else ""
        share = f"{agrees(few, 'shares', 'share')} fewer than {least_documents} documents"
        note(f"{counted(few, 'pair')} of assessors{where} {share} and {agrees(few, 'is', 'are')} not compared")
    renumbered = np.where(enough, np.cumsum(enough) - 1, -1)
    return codes[enough], renumbered[place.ravel()], counts[enough]


def _named_pairs(codes: Ints, counts: Ints, names: pl.Series, splits: pl.DataFrame | None) -> pl.DataFrame:
    """Codes turned back into the values of `by` and the assessors' names."""
    split, code = np.divmod(codes, len(names) ** 2)
    first, second = np.divmod(code, len(names))
    pairs = pl.DataFrame([names.gather(first).alias("first"), names.gather(second).alias("second")]).with_columns(
        pl.Series("documents", counts, dtype=pl.Int64)
    )
    return pairs if splits is None else pl.concat([splits[split], pairs], how="horizontal")


def _mean_row(pairs: pl.DataFrame, statistic: str) -> dict[str, Any]:
    from scipy.stats import t

    row: dict[str, Any] = dict.fromkeys(("mean", "low", "high", "speaks_for"))
    row |= {"pairs": pairs.height, "assessors": 0, "note": None}
    if pairs.is_empty():
        return row | {"note": f"no pair of assessors has a {statistic}"}
    names, codes = np.unique(np.concatenate([pairs["first"], pairs["second"]]), return_inverse=True)
    first, second = np.split(codes.ravel(), 2)
    shared, values = pairs["documents"].to_numpy().astype(np.float64), pairs[statistic].to_numpy()
    row |= {"mean": float(shared @ values / shared.sum()), "assessors": len(names)}
    if len(names) < LEAST_ASSESSORS:
        return row | {"note": f"no interval: {len(names)} assessors, at least {LEAST_ASSESSORS} are needed"}
    without = [_without(weights, first, second, len(names)) for weights in (shared * values, shared)]
    if not (without[1] > 0).all():
        return row | {"note": "no interval: all pairs share one assessor"}
    reach = float(t.ppf(0.975, len(names) - 1)) * np.sqrt(jackknife_variance(without[0] / without[1]))
    ends = {"low": row["mean"] - reach, "high": min(row["mean"] + reach, 1.0)}
    return row | ends | {"speaks_for": "other assessors, the same documents"}


def _without(weights: Floats, first: Ints, second: Ints, size: int) -> Floats:
    """The sum of weights over the pairs that each assessor is not part of."""
    own = np.bincount(first, weights=weights, minlength=size) + np.bincount(second, weights=weights, minlength=size)
    return np.asarray(weights.sum() - own, dtype=np.float64)
