"""Comparisons as a graph: documents as numbers, cells (pairs compared at least once), components that hang together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from judgewell.errors import DataError
from judgewell.scaling.inputs import gains_frame
from judgewell.scaling.numbers import distinct_keys, in_order, numbered_runs, numbered_together
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.laplacian import summed

Components = Literal["error", "separate"]


@dataclass(frozen=True)
class Cells:
    """Documents (topic, doc, judgments; one row each) and the cells between them, all topics in one graph.

    `left` and `right` are rows of `documents`, left < right; `count` is the number of answers in the cell, and
    `value` what they say for left over right: a sum of wins or a mean log ratio.
    """

    documents: pl.DataFrame
    left: Ints
    right: Ints
    count: Floats
    value: Floats

    @property
    def size(self) -> int:
        return len(self.documents)

    def net(self, flows: Floats) -> Floats:
        """What the cells' flows add up to at each document: + at the left end, - at the right."""
        return summed(self.left, flows, self.size) - summed(self.right, flows, self.size)


def cells_of(
    pairs: pl.DataFrame, value: Floats, mirrored: Callable[[Floats], Floats], combine: Literal["sum", "mean"]
) -> Cells:
    """The cells of a pairs frame; `value` is what each row says for left over right, and `mirrored` makes of it what
    the row says for right over left. Cells are sorted by left and then right."""
    documents, left, right = _numbered(pairs)
    cell = np.minimum(left, right) * len(documents) + np.maximum(left, right)
    cells, count, total = _summed_by(cell, np.where(left < right, value, mirrored(value)))
    value_of = total if combine == "sum" else total / count
    return Cells(documents, cells // len(documents), cells % len(documents), count, value_of)


def _numbered(rows: pl.DataFrame) -> tuple[pl.DataFrame, Ints, Ints]:
    """The documents in topic and id order with how often each was shown, and the number of each row's two documents."""
    topics, topic = numbered_runs(rows["topic"])
    ids, sides = numbered_together([rows["left"], rows["right"]])
    sides = [topic * len(ids) + side for side in sides]
    shown, counts, numbers = distinct_keys(np.concatenate(sides), len(topics) * len(ids))
    documents = pl.DataFrame(
        {"topic": topics.gather(shown // len(ids)), "doc": ids.gather(shown % len(ids)), "judgments": counts}
    )
    return documents, numbers[: len(rows)], numbers[len(rows) :]


def _summed_by(keys: Ints, values: Floats) -> tuple[Ints, Floats, Floats]:
    """The distinct keys in order, how many there are of each, and the sum of their values.

    Sorting and adding in the rows' order gives the same last digit every time; a parallel group-by would not.
    """
    ordered, order = in_order(keys)
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    count = np.diff(np.append(starts, len(keys))).astype(np.float64)
    return ordered[starts], count, np.add.reduceat(values[order], starts)


def component_numbers(documents: pl.DataFrame, labels: Ints) -> Ints:
    """Each document's component, numbered from 1 within its topic."""
    frame = pl.DataFrame({"topic": documents["topic"], "label": labels})
    return frame.select(pl.col("label").rank("dense").over("topic"))["label"].to_numpy().astype(np.int64)


def component_gains(documents: pl.DataFrame, labels: Ints, rule: Components) -> pl.DataFrame:
    """The gains table of documents with a gain, and with their component where each is scaled alone."""
    if rule != "separate":
        return gains_frame(documents)
    numbered = documents.with_columns(component=component_numbers(documents, labels))
    return gains_frame(numbered, ["component"])


def maxima(values: Floats, groups: Ints) -> Floats:
    """Each column's maximum in each row's group, documents x draws."""
    top = np.full((int(groups.max()) + 1, values.shape[1]), -np.inf)
    np.maximum.at(top, groups, values)
    return np.asarray(top[groups])


def refuse_unconnected(documents: pl.DataFrame, labels: Ints, rule: Components) -> None:
    """An unconnected topic is an error that names its components, unless each is to be scaled alone."""
    if rule == "separate":
        return
    frame = documents.with_columns(component=component_numbers(documents, labels))
    parts = frame.group_by("topic", "component").agg(pl.len(), example=pl.col("doc").first())
    parts = parts.with_columns(number=pl.len().over("topic")).filter(pl.col("number") > 1).sort("topic", "component")
    if parts.is_empty():
        return
    topic = parts["topic"][0]
    mine = parts.filter(pl.col("topic") == topic)
    named = [f"{row['len']} documents with {row['example']}" for row in mine.head(4).iter_rows(named=True)]
    named += ["…"] if len(mine) > 4 else []
    others = parts["topic"].n_unique() - 1
    raise DataError(
        f"topic {topic}: its comparisons fall into {len(mine)} components that were never compared with each other "
        f"({'; '.join(named)})"
        + (f", and so do {others} other topics" if others else "")
        + "; add comparisons between them, or scale each alone (--components separate)"
    )
