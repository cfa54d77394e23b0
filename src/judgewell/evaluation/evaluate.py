"""Runs × gains → scores: any measure, real-valued gains, all choices named."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from judgewell.errors import DataError, Information, InputError, JudgewellInformation, JudgewellWarning, note
from judgewell.evaluation import compiled
from judgewell.evaluation.judged import Judged, prepare
from judgewell.evaluation.measures import Measure, measure_text, parse_all, with_rel
from judgewell.evaluation.part import PartScores, measured, score_part
from judgewell.evaluation.settings import Settings
from judgewell.executors import PROCESSORS, Executor, Threads, executor_of
from judgewell.formats.runs import Run, open_runs
from judgewell.stats.arrays import Floats, Ints
from judgewell.values import dataclass

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class SystemScores:
    """One system's values: topics × measures, NaN where a topic does not count; and how many it ranked."""

    system: str
    measures: tuple[Measure, ...]  # settled by the gains, so that their names say all
    values: Floats
    lengths: Ints


def evaluate(
    runs: Any,
    gains: Any,
    measures: str | Measure | Sequence[str | Measure],
    *,
    order: str = "score",
    precision: str = "double",
    ties: str = "doc",
    unjudged: str = "zero",
    topics: str = "judged",
    negative: str = "unjudged",
    columns: Mapping[str, str] | None = None,
    strict: bool = False,
    executor: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> pl.DataFrame:
    """The scores table (system, topic, measure, value) of runs under gains.

    `runs` and `gains`: paths, polars or pandas frames, dicts; `columns` says how a table's columns are called there
    ({"topic": "qid"}). Every assumption is reported as a JudgewellWarning; `strict=True` makes it an error. `executor`
    (Threads, Processes, a Dask client) does the work; `progress` is called with (parts done, parts in all).

    >>> evaluate({"q1": {"a": 2.0, "b": 1.0}}, {"q1": {"a": 0.7, "b": 1.4}}, ["nDCG@10"])["value"].round(4).to_list()
    [0.8597]
    """
    from judgewell.evaluation.drawn import with_estimates
    from judgewell.evaluation.intents import prepare_intents
    from judgewell.formats.gains import read_gains, read_intents, without_negatives

    settings = Settings(order, precision, ties, unjudged, topics)
    with warnings.catch_warnings():
        if strict:
            warnings.simplefilter("error", JudgewellWarning)
            warnings.simplefilter("default", JudgewellInformation)
        try:
            wanted = measures_of(measures)
            executor = None if executor is None else executor_of(executor)
            systems = open_runs(runs, columns, executor=executor)
            if any(measure.by_intent for measure in wanted):
                judged = prepare_intents(read_intents(gains, columns=columns, negative=negative))
                results = list(system_scores(systems, judged, wanted, settings, executor, progress))
                return scores_table(results, judged.topics, wanted)
            pool = read_gains(gains, columns=columns, negative="keep")
            table = without_negatives(pool, negative, str(gains) if isinstance(gains, str | Path) else None)
            pooled = pool if negative == "unjudged" else None
            scored = scores_with_pool(systems, table, pooled, wanted, settings, executor, progress)
            results = list(with_estimates(scored, table, systems, wanted, settings, executor))
        except JudgewellWarning as refused:
            raise DataError(f"{refused} (refused because strict)") from None
    return scores_table(results, topic_names(table), wanted)


def measures_of(asked: str | Measure | Sequence[str | Measure]) -> list[Measure]:
    """The measures asked for, each once; other tools' measures are read by the name they print."""
    items = [asked] if isinstance(asked, str | Measure) or not isinstance(asked, Iterable) else list(asked)
    measures = [
        one for item in items for one in ([item] if isinstance(item, Measure) else parse_all([measure_text(item)]))
    ]
    if not measures:
        raise InputError("no measure is asked for", cure="name at least one, e.g. nDCG@10")
    return list(dict.fromkeys(measures))


def system_scores(
    runs: Sequence[Run],
    gains: pl.DataFrame | Judged,
    measures: Sequence[Measure],
    settings: Settings | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[SystemScores]:
    """Each system's values in turn, so that memory does not grow with the number of runs."""
    settings = settings or Settings()
    measures = ready(measures, gains, settings)
    judged = gains if isinstance(gains, Judged) else prepare(gains)
    _note_topics_without_gain(judged)
    gaps = _Gaps()
    if executor is None and len(runs) == len(runs[0].parts) == 1:
        executor = Executor()
    if executor is not None:
        yield from _shared_out(runs, judged, measures, settings, executor, progress, gaps)
    else:
        with Threads(PROCESSORS if compiled.extension() else 2 * PROCESSORS) as threads:
            yield from _shared_out(runs, judged, measures, settings, threads, progress, gaps)
    gaps.say(len(runs), judged, settings)


def scores_with_pool(
    runs: Sequence[Run],
    gains: pl.DataFrame | Judged,
    pool: pl.DataFrame | None,
    measures: Sequence[Measure],
    settings: Settings | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[SystemScores]:
    """`system_scores` of `gains`; measures that see the pool are given that of `pool`, the gains with those below 0,
    which mean pooled documents that were not judged.

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


def topic_names(gains: pl.DataFrame) -> pl.Series:
    """The judged topics in the order in which values are laid out."""
    return gains["topic"].unique(maintain_order=True)


def scores_table(
    results: Sequence[SystemScores], topics: pl.Series | Sequence[str], measures: Sequence[Measure]
) -> pl.DataFrame:
    """System by system, topic by topic, measure by measure as a scores table; topics that do not count are excluded.

    Results may hold the values of further measures behind these; they are not in the table.
    """
    import polars as pl

    values = np.stack([result.values[:, : len(measures)] for result in results])
    systems, count, asked = values.shape
    flat = values.ravel()
    names = pl.Series([str(measure) for measure in results[0].measures[:asked]])
    frame = pl.DataFrame(
        {
            "system": pl.Series([result.system for result in results]).gather(
                np.repeat(np.arange(systems), count * asked)
            ),
            "topic": pl.Series(topics).gather(np.tile(np.repeat(np.arange(count), asked), systems)),
            "measure": names.gather(np.tile(np.arange(asked), systems * count)),
            "value": flat,
        }
    )
    return frame.filter(pl.col("value").is_not_nan()) if np.isnan(flat).any() else frame


def ready(measures: Sequence[Measure], gains: pl.DataFrame | Judged, settings: Settings) -> list[Measure]:
    """The measures with what they take from the gains filled in; those that have no meaning for them are refused."""
    values = gains.gains if isinstance(gains, Judged) else gains["gain"].to_numpy()
    if not len(values):
        raise DataError("the gains table is empty; there is nothing to measure against")
    for measure in measures:
        if measure.by_intent and not (isinstance(gains, Judged) and gains.intents is not None):
            raise DataError(f"{measure} needs gains by intent; give qrels whose second field is the intent")
        if settings.ties != "doc" and not measure.linear:
            raise DataError(
                f"{measure} is not linear in the gains, so {settings.ties} ties have no exact value; "
                "use ties=doc, or CG, DCG, nDCG, P, R, RBP, Judged"
            )
    settled = [measure.settled(values) for measure in measures]
    _note_threshold(measures, float(values.max()))
    return settled


def _note_threshold(measures: Sequence[Measure], highest: float) -> None:
    """From which grade on binary measures count a document as relevant, where that could be another or none is."""
    for measure in measures:
        least = getattr(measure, "rel", None) if measure.takes_level else None
        if least is not None and least > highest:
            note(f"every score of {measure} is 0: no document is relevant to it, the highest gain is {highest:g}")
    counting = [measure for measure in measures if measure.takes_level and getattr(measure, "rel", highest) is None]
    if counting and highest > 1:
        each = list(map(str, counting)) if len(counting) < 5 else list(dict.fromkeys(one.name for one in counting))
        names = f"{', '.join(each)} {'counts' if len(each) == 1 else 'count'}"
        rule = f"documents with a gain of 1 or more as relevant (the highest is {highest:g})"
        note(Information(f"{names} {rule}; for another threshold write {with_rel(counting[0], 2.0)}"))


def _shared_out(
    runs: Sequence[Run],
    judged: Judged,
    measures: Sequence[Measure],
    settings: Settings,
    executor: Executor,
    progress: Callable[[int, int], None] | None,
    gaps: _Gaps,
) -> Iterator[SystemScores]:
    """Parts go out a few ahead of the run being finished; results come back run by run."""
    total = sum(len(run.parts) for run in runs)
    shared = executor.share((judged, measures, settings))
    scores = executor.map(score_part, (part for run in runs for part in run.parts), shared, total=total)
    done = 0
    for run in runs:
        values = np.full((len(judged.topics), len(measures)), np.nan)
        lengths = np.zeros(len(judged.topics), np.int64)
        parts = []
        for _ in run.parts:
            parts.append(_result(scores, run).put(values, lengths))
            done += 1
            if progress:
                progress(done, total)
        if np.bincount(np.concatenate([part.topics for part in parts])).max(initial=0) > 1:
            whole = executor.map(score_part, run.whole().parts, shared)  # topics are not together in the file
            parts = [_result(whole, run).put(values, lengths)]
        yield _joined(run, parts, values, lengths, judged, measures, settings, gaps)


def _result(scores: Iterator[PartScores], run: Run) -> PartScores:
    try:
        return next(scores)
    except InputError as error:
        if error.file is not None or run.source is None:
            raise
        raise InputError(error.problem, cure=error.cure, file=run.source) from None


def _joined(
    run: Run,
    parts: Sequence[PartScores],
    values: Floats,
    lengths: Ints,
    judged: Judged,
    measures: Sequence[Measure],
    settings: Settings,
    gaps: _Gaps,
) -> SystemScores:
    """One system's values, of which its parts are there, with what its missing topics score."""
    topics = np.concatenate([part.topics for part in parts])
    _refuse_empty(run, parts, topics, judged)
    ranked = np.zeros(len(judged.topics), bool)
    ranked[topics] = True
    missing = np.flatnonzero(~ranked)
    if len(missing) and settings.topics == "judged":
        nothing = np.full((len(missing), 1), np.nan)
        ideal = judged.ideal(missing)
        columns = [
            np.zeros(len(missing)) if measure.by_intent else measured(measure, nothing, ideal, lengths[missing])
            for measure in measures
        ]
        values[missing] = np.stack(columns, axis=-1)
    gaps.hear(run, parts, len(missing))
    return SystemScores(run.system, tuple(measures), values, lengths)


def _refuse_empty(run: Run, parts: Sequence[PartScores], topics: Ints, judged: Judged) -> None:
    if not sum(part.lines for part in parts):
        raise InputError("the run is empty", cure="a run needs at least one line", file=run.source)
    if not len(topics):
        unknown = _unknown(parts)
        raise InputError(
            f"none of the {len(unknown)} topics of run {run.system} has judgments",
            cure=f"check that gains and run use the same topic ids: the run has {min(unknown)}, the gains have "
            f"{min(judged.topics)}",
            file=run.source,
        )


def _unknown(parts: Sequence[PartScores]) -> frozenset[str]:
    return frozenset().union(*(part.unknown for part in parts))


class _Gaps:
    """Topics that runs lack, collected so that one note reports them."""

    def __init__(self) -> None:
        self.missing: list[tuple[int, str]] = []
        self.unknown: list[tuple[int, str]] = []
        self.rising: list[str] = []
        self.level: list[str] = []
        self.unjudged: list[str] = []

    def hear(self, run: Run, parts: Sequence[PartScores], missing: int) -> None:
        if missing:
            self.missing.append((missing, run.system))
        if unknown := len(_unknown(parts)):
            self.unknown.append((unknown, run.system))
        if run.rising:
            self.rising.append(run.system)
        if run.level:
            self.level.append(run.system)
        if not any(part.judged for part in parts):
            self.unjudged.append(run.system)
        tags = list(dict.fromkeys(tag for part in parts for tag in part.tags))
        if len(tags) > 1:
            note(f"{run.source}: tags {tags[0]!r} and {tags[1]!r} in one file; taken as one system, {run.system!r}")

    def say(self, runs: int, judged: Judged, settings: Settings) -> None:
        if self.rising and settings.order == "score":
            note(
                f"{of_runs(len(self.rising), runs, 'has', 'have')} scores that rise with the ranks, as distances do "
                f"(the first: {self.rising[0]}); the highest score ranks first all the same: where the lowest is best, "
                "rank by the ranks (--order rank)"
            )
        if self.level and settings.order == "score" and settings.ties == "doc":
            note(
                f"{of_runs(len(self.level), runs, 'has', 'have')} the same score in all first lines (the first: "
                f"{self.level[0]}); tied documents are ranked by id; to rank by the ranks: --order rank"
            )
        if self.missing:
            most, system = max(self.missing)
            missed = of_runs(len(self.missing), runs, "misses", "miss")
            then = "the score there is 0" if settings.topics == "judged" else "the mean is over fewer topics"
            note(f"{missed} judged topics: {then} (most: {system}, {most} of {len(judged.topics)})")
        if self.unjudged:
            note(
                f"{of_runs(len(self.unjudged), runs, 'ranks', 'rank')} no judged document (the first: "
                f"{self.unjudged[0]}); check that gains and runs use the same document ids: the gains have "
                f"{judged.docs.data[: judged.docs.ends[0]].decode()}"
            )
        if self.unknown:
            (most, system), least = max(self.unknown), min(self.unknown)[0]
            same = least == most and len(self.unknown) == runs
            some = f"{most}{' each' if runs > 1 else ''}" if same else f"most: {system}, {most}"
            note(
                f"{of_runs(len(self.unknown), runs, 'ranks', 'rank')} topics without judgments ({some}); these topics "
                "are ignored"
            )


def of_runs(number: int, runs: int, one: str, many: str) -> str:
    """`2 of 3 runs miss`, `1 of 3 runs misses`, `the run misses`."""
    return f"the run {one}" if runs == 1 else f"{number} of {runs} runs {one if number == 1 else many}"


def _note_topics_without_gain(judged: Judged) -> None:
    starts = np.append(0, judged.ends[:-1])
    worthless = np.flatnonzero(judged.sorted_gains[starts] <= 0)
    if len(worthless):
        first = judged.topics[worthless[0]]
        note(
            f"{len(worthless)} of {len(judged.topics)} topics have no document with a gain above 0 "
            f"(the first: {first}); measures are 0 there"
        )
