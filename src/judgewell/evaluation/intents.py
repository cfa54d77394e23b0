"""Gains by intent, prepared for measures that look at every intent of a topic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from judgewell.evaluation.judged import Judged, prepare
from judgewell.evaluation.ranks import JudgedRanks
from judgewell.stats.arrays import Floats, Ints

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Intents:
    """The gains of each judged document for each intent of its topic."""

    gains: Floats  # rows of the gains table × intents, NaN where not judged for it
    order: Ints  # the rows topic by topic, document ids descending
    ends: Ints  # where each topic's rows end in `order`
    counts: Ints  # how many documents of each topic are judged

    def ranked(self, ranks: JudgedRanks, depth: int) -> Floats:
        """The gains in ranked order: topics × intents × ranks, NaN where not judged."""
        table = np.full((len(ranks.topics), depth, self.gains.shape[-1]), np.nan)
        inside = ranks.rank < depth
        table[ranks.row[inside], ranks.rank[inside]] = self.gains[ranks.item[inside]]
        return np.moveaxis(table, -1, -2)

    def judged(self, topics: Ints) -> Floats:
        """All judged documents of these topics: topics × intents × documents, their ids descending."""
        counts = self.counts[topics]
        table = np.full((len(topics), int(counts.max(initial=0)), self.gains.shape[-1]), np.nan)
        row = np.repeat(np.arange(len(topics)), counts)
        place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        table[row, place] = self.gains[self.order[np.repeat(self.ends[topics] - counts, counts) + place]]
        return np.moveaxis(table, -1, -2)


def prepare_intents(table: pl.DataFrame) -> Judged:
    """Gains by intent, ready for runs to be measured with; other measures see each document's largest gain."""
    import polars as pl

    gains = table.group_by("topic", "doc", maintain_order=True).agg(pl.col("gain").max())  # over intents
    judged = prepare(gains)
    rows = table.join(gains.select("topic", "doc").with_row_index("row"), on=["topic", "doc"], how="left")
    number = table.select((pl.col("intent").rank("dense").over("topic") - 1).cast(pl.Int64)).to_series().to_numpy()
    by_intent = np.full((len(gains), int(number.max()) + 1), np.nan)
    by_intent[rows["row"].to_numpy(), number] = table["gain"].to_numpy()
    by_id = gains["doc"].rank("dense", descending=True).to_numpy()
    order = np.lexsort((by_id, judged.number))
    return replace(judged, intents=Intents(by_intent, order, judged.ends, judged.counts))
