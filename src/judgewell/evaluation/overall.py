"""Scores → one line per system, each measure's topics put together as it says: averaged, added up, or geometrically."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.evaluation.measures import Measure
from judgewell.evaluation.summary import summarise_values


def summarise_measures(
    values: NDArray[np.float64], systems: Sequence[str], measures: Sequence[Measure], *, level: float, seed: int
) -> pl.DataFrame:
    """The table of `summarise_values` for systems × topics × measures.

    A sum is the mean times the number of topics, a geometric mean the exponential of the logarithms' mean, and so are
    the ends of their intervals.
    """
    how = [measure.over_topics for measure in measures]
    geometric = np.array([one == "geometric" for one in how])
    logs = np.where(geometric, np.log(np.where(geometric, values, 1.0)), values)
    table = summarise_values(logs, systems, [str(measure) for measure in measures], level=level, seed=seed)
    kind = pl.Series(how * len(systems))
    shown = pl.col("mean", "low", "high")
    return table.with_columns(
        pl.when(kind == "sum")
        .then(shown * pl.col("topics"))
        .when(kind == "geometric")
        .then(shown.exp())
        .otherwise(shown)
    )
