"""Scores where grades below 0 mean pooled documents that were not judged, which infAP tells from unpooled ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from judgewell.errors import JudgewellWarning
from judgewell.evaluation.evaluate import SystemScores, system_scores
from judgewell.evaluation.judged import Judged, prepare
from judgewell.evaluation.measures import Measure
from judgewell.evaluation.settings import Settings
from judgewell.executors import Executor
from judgewell.formats.runs import Run

if TYPE_CHECKING:
    import polars as pl


def scores_with_pool(
    runs: Sequence[Run],
    gains: pl.DataFrame | Judged,
    pool: pl.DataFrame | None,
    measures: Sequence[Measure],
    settings: Settings | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[SystemScores]:
    """`system_scores` of `gains`; measures that see the pool are given that of `pool`, the gains with those below 0.

    The runs are read a second time for those measures, and only where there are gains below 0. Rankings without their
    unjudged documents hold none of these, as trec_eval -J has it.
    """
    seeing = [place for place, measure in enumerate(measures) if measure.sees_pool]
    condensed = settings is not None and settings.unjudged == "condense"
    if pool is None or condensed or not seeing or not (pool["gain"] < 0).any():
        yield from system_scores(runs, gains, measures, settings, executor, progress)
        return
    judged = gains if isinstance(gains, Judged) else prepare(gains)
    pooled = prepare(pool.filter(pool["topic"].is_in(judged.topics)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JudgewellWarning)  # the same notes come with the others
        second = list(system_scores(runs, pooled, [measures[place] for place in seeing], settings, executor))
    number = {topic: row for row, topic in enumerate(pooled.topics)}
    rows = np.array([number[topic] for topic in judged.topics])
    first = system_scores(runs, judged, measures, settings, executor, progress)
    for plain, other in zip(first, second, strict=True):
        values = plain.values.copy()
        values[:, seeing] = other.values[rows]
        yield replace(plain, values=values)
