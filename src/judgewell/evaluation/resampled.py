"""The same runs under many gain tables: documents are looked up once, then every table is array work.

`ranked_items` says which row of the gains table stands at each rank; `Rankings.scores` measures any number of
alternative gains for those rows (draws × rows) at once, in blocks of bounded memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.errors import DataError
from judgewell.evaluation.evaluate import Settings, condensed
from judgewell.evaluation.judged import Judged, prepare
from judgewell.evaluation.kernel import judged_ranks
from judgewell.evaluation.measures import Measure
from judgewell.formats.runs import Run

Floats = NDArray[np.float64]
BLOCK_CELLS = 4_000_000  # gains held at once: 32 MB


@dataclass(frozen=True)
class Rankings:
    """Which row of a gains table stands at each rank: systems × topics × ranks, −1 where unjudged."""

    systems: list[str]
    topics: list[str]
    items: NDArray[np.int32]
    rows: tuple[NDArray[np.int64], ...]  # of each topic: its rows in the gains table

    def scores(self, measure: Measure, gains: Floats) -> Floats:
        """The measure under alternative gains for the table's rows (…, rows): (…, systems, topics)."""
        if measure.cutoff is None or measure.cutoff > self.items.shape[-1]:
            raise DataError(f"{measure} looks deeper than the {self.items.shape[-1]} ranks kept; rank to its depth")
        flat = gains.reshape(-1, gains.shape[-1])
        scores = np.empty((len(flat), len(self.systems), len(self.topics)))
        block = max(1, BLOCK_CELLS // max(1, self.items.size // max(1, len(self.topics))))
        for topic, rows in enumerate(self.rows):
            ranked = self.items[:, topic, : measure.cutoff]
            for start in range(0, len(flat), block):
                some = flat[start : start + block]
                unjudged = np.full((len(some), 1), np.nan)
                ideal = np.sort(some[:, rows], axis=-1)[:, None, ::-1]
                table = np.concatenate([some, unjudged], axis=1)[:, ranked]  # −1 is the NaN behind the last row
                scores[start : start + block, :, topic] = measure(table, ideal)
        return scores.reshape(*gains.shape[:-1], len(self.systems), len(self.topics))


def ranked_items(runs: Sequence[Run], gains: pl.DataFrame, depth: int, settings: Settings | None = None) -> Rankings:
    """Look the judged documents of every run's first `depth` ranks up once."""
    settings = settings or Settings()
    judged = prepare(gains)
    items = np.full((len(runs), len(judged.topics), depth), -1, np.int32)
    for system, run in enumerate(runs):
        for part in run.whole().parts:
            _fill(items[system], part.read(), judged, settings)
    number = (
        gains["topic"].replace_strict(judged.topics, list(range(len(judged.topics))), return_dtype=pl.Int64).to_numpy()
    )
    rows = tuple(np.flatnonzero(number == topic) for topic in range(len(judged.topics)))
    return Rankings([run.system for run in runs], judged.topics, items, rows)


def _fill(items: NDArray[np.int32], part: pl.DataFrame, judged: Judged, settings: Settings) -> None:
    found = judged_ranks(part, judged, order=settings.order, precision=settings.precision)
    if settings.unjudged == "condense":
        found = condensed(found)
    inside = found.rank < items.shape[-1]
    items[found.topics[found.row[inside]], found.rank[inside]] = found.item[inside]
