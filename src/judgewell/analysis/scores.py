"""Scores of the same systems on the same topics: from runs under several sets of gains, or from tables of scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from judgewell.comparison.scores import Missing, ScoreArray, aligned, score_array, shared_names
from judgewell.evaluation.drawn import is_biased, with_estimates
from judgewell.evaluation.evaluate import system_scores, topic_names
from judgewell.evaluation.intents import prepare_intents
from judgewell.evaluation.measures import Measure, find_measure
from judgewell.evaluation.settings import Settings
from judgewell.evaluation.summary import measure_limits
from judgewell.executors import Executor
from judgewell.formats.files import named_files
from judgewell.formats.runs import Run
from judgewell.tables import SCORES, check

Sets = dict[str, ScoreArray]  # scores of one measure by the name of their gains
Progress = Callable[[int, int], None]


def named_sets(data: Any, read: Callable[[Any], pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Tables by name: a mapping of names to tables or files, files ("NAME=FILE" too), or one table."""
    if isinstance(data, Mapping) and all(isinstance(name, str) for name in data) and _holds_tables(data):
        return {name: read(source) for name, source in data.items()}
    items = [data] if isinstance(data, str) or not isinstance(data, Iterable | Sequence) or _is_table(data) else data
    words = [str(item) for item in items if not _is_table(item)]
    tables = [item for item in items if _is_table(item)]
    named = {name: read(path) for name, path in named_files(words).items()}
    return named | {f"gains {number}" if number > 1 else "gains": read(one) for number, one in enumerate(tables, 1)}


def scores_under(
    runs: Sequence[Run],
    gains: pl.DataFrame,
    measures: Sequence[Measure],
    settings: Settings | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> list[ScoreArray]:
    """The scores of runs under one set of gains, by intent too, a table for each measure; its name says what the gains
    settled."""
    judged = prepare_intents(gains) if "intent" in gains.columns else gains
    scored = system_scores(runs, judged, measures, settings, executor, progress)
    estimated = with_estimates(scored, gains, runs, measures, settings, executor)
    results = sorted(estimated, key=lambda one: one.system)
    topics = topic_names(gains).to_list()
    order = sorted(range(len(topics)), key=topics.__getitem__)
    values = np.stack([one.values for one in results])[:, order]
    names = tuple(one.system for one in results), tuple(topics[at] for at in order)
    return [
        ScoreArray(*names, values[..., at], str(one), one.limits, is_biased(one, gains, settings))
        for at, one in enumerate(results[0].measures)
    ]


def score_sets(
    runs: Sequence[Run],
    sets: Mapping[str, pl.DataFrame],
    measures: Sequence[Measure],
    settings: Settings | None = None,
    *,
    common: bool = False,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> dict[str, Sets]:
    """The scores of runs under several sets of gains, by measure and set, all on the same topics.

    Sets that do not judge the same topics are refused before anything is scored; with `common=True` the topics they
    share are kept, with a note.
    """
    tables = on_shared_topics(sets, common=common)
    scored = {name: scores_under(runs, table, measures, settings, progress, executor) for name, table in tables.items()}
    first = next(iter(scored.values()))
    return {one.measure: {name: scores[at] for name, scores in scored.items()} for at, one in enumerate(first)}


def on_shared_topics(sets: Mapping[str, pl.DataFrame], *, common: bool) -> dict[str, pl.DataFrame]:
    """The sets of gains over the topics that all of them judge; sets that differ are an error, or a note."""
    topics = {name: table["topic"].unique().to_list() for name, table in sets.items()}
    shared = shared_names(topics, "topics", common=common)
    return {
        name: table if len(topics[name]) == len(shared) else table.filter(pl.col("topic").is_in(shared))
        for name, table in sets.items()
    }


def sets_of_scores(
    tables: Mapping[str, pl.DataFrame],
    measures: Sequence[str] = (),
    *,
    missing: Missing = "error",
    common: bool = False,
) -> dict[str, Sets]:
    """Tables of scores by measure and set, over the same systems and topics.

    A measure is looked up by its meaning: `ndcg_cut_10` is nDCG@10.
    """
    checked = {name: check(table, SCORES) for name, table in tables.items()}
    result = {}
    for asked in measures or (None,):
        arrays = {}
        for name, table in checked.items():
            called = None if asked is None else find_measure(asked, table["measure"].unique(maintain_order=True))
            one = score_array(table, called, missing=missing)
            arrays[name] = ScoreArray(one.systems, one.topics, one.values, one.measure, measure_limits(one.measure))
        result[next(iter(arrays.values())).measure] = aligned(arrays, common=common)
    return result


def _is_table(data: Any) -> bool:
    return isinstance(data, pl.DataFrame) or hasattr(data, "columns")


def _holds_tables(data: Mapping[Any, Any]) -> bool:
    return all(isinstance(value, str) or _is_table(value) or hasattr(value, "__fspath__") for value in data.values())
