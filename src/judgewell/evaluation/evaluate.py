"""Runs × gains → scores: any measure, real-valued gains, all choices named."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.evaluation.judged import Judged, prepare
from judgewell.evaluation.kernel import JudgedRanks, judged_ranks
from judgewell.evaluation.measures import Measure, Residual, expected_over_ties, parse_all, spread_over_ties
from judgewell.evaluation.measures.binary import InfAP
from judgewell.formats.gains import read_gains, without_negatives
from judgewell.formats.runs import FilePart, FramePart, Run, open_runs

Floats = NDArray[np.float64]
BLOCK_CELLS = 4_000_000  # gains of one padded table: 32 MB


@dataclass(frozen=True)
class Settings:
    """The choices that change scores, with our defaults; every result records them."""

    order: str = "score"  # rank by score, or by the ranks written in the file
    precision: str = "double"  # of the scores; trec_eval 9 and pytrec_eval rank by single precision
    ties: str = "doc"  # document id descending; shared: the expected value over all orders; spread: as rbp_eval
    unjudged: str = "zero"  # gain 0, condense (left out of the ranking), or error
    topics: str = "judged"  # averaged over all judged topics (a missing one scores 0), or those in the run

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "order": ("score", "rank"),
        "precision": ("double", "single"),
        "ties": ("doc", "shared", "spread"),
        "unjudged": ("zero", "condense", "error"),
        "topics": ("judged", "run"),
    }

    def __post_init__(self) -> None:
        for name, choices in self.CHOICES.items():
            if getattr(self, name) not in choices:
                raise InputError(f"{name} {getattr(self, name)!r} is not one of {', '.join(choices)}")


@dataclass(frozen=True)
class SystemScores:
    """One system's values: topics × measures, NaN where a topic does not count; and how many it ranked."""

    system: str
    values: Floats
    lengths: NDArray[np.int64]


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
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pl.DataFrame:
    """The scores table (system, topic, measure, value) of runs under gains.

    `runs` and `gains`: paths, polars or pandas frames, dicts; `columns` says how a table's columns are called there
    ({"topic": "qid"}). What is left out or assumed is told as a
    JudgewellWarning; `strict=True` makes it an error. `executor` (threads, processes, a cluster) shares the work out;
    `progress` is called with (parts done, parts in all).

    >>> evaluate({"q1": {"a": 2.0, "b": 1.0}}, {"q1": {"a": 0.7, "b": 1.4}}, ["nDCG@10"])["value"].round(4).to_list()
    [0.8597]
    """
    settings = Settings(order, precision, ties, unjudged, topics)
    wanted = measures_of(measures)
    with warnings.catch_warnings():
        if strict:
            warnings.simplefilter("error", JudgewellWarning)
        try:
            table = read_gains(gains, columns=columns, negative="keep")
            table = settle_negatives(table, negative, wanted)
            systems = open_runs(runs, columns)
            results = list(system_scores(systems, table, wanted, settings, executor, progress))
        except JudgewellWarning as refused:
            raise DataError(f"{refused} (refused because strict)") from None
    return scores_table(results, topic_names(table), wanted)


def measures_of(asked: str | Measure | Sequence[str | Measure]) -> list[Measure]:
    """The measures asked for, each once; other tools' measures are read by the name they print."""
    items = [asked] if isinstance(asked, str | Measure) or not isinstance(asked, Iterable) else list(asked)
    found = [one for item in items for one in ([item] if isinstance(item, Measure) else parse_all([str(item)]))]
    if not found:
        raise InputError("no measure is asked for", cure="name at least one, e.g. nDCG@10")
    return list(dict.fromkeys(found))


def settle_negatives(gains: pl.DataFrame, negative: str, measures: Sequence[Measure]) -> pl.DataFrame:
    """The gains with what a grade below 0 means settled; infAP would have to tell such documents from unpooled ones."""
    had = bool((gains["gain"] < 0).any())
    if had and negative == "unjudged" and any(isinstance(measure, InfAP) for measure in measures):
        raise DataError("infAP tells pooled documents (grades below 0) from others, which gains do not; use AP")
    return without_negatives(gains, negative)


def system_scores(
    runs: Sequence[Run],
    gains: pl.DataFrame,
    measures: Sequence[Measure],
    settings: Settings | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[SystemScores]:
    """Each system's values in turn, so that memory does not grow with the number of runs."""
    settings = settings or Settings()
    measures = ready(measures, gains, settings)
    judged = prepare(gains)
    _tell_of_worthless_topics(judged)
    told = _Told()
    if executor is not None:
        yield from _shared_out(runs, judged, measures, settings, executor, progress, told)
    else:
        with ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as threads:
            yield from _shared_out(runs, judged, measures, settings, threads, progress, told)
    told.say(len(runs), len(judged.topics), settings)


def topic_names(gains: pl.DataFrame) -> pl.Series:
    """The judged topics in the order in which values are laid out."""
    return gains["topic"].unique(maintain_order=True)


def scores_table(results: Sequence[SystemScores], topics: pl.Series, measures: Sequence[Measure]) -> pl.DataFrame:
    """System by system, topic by topic, measure by measure as a scores table; topics that do not count are left out.

    Results may hold the values of further measures behind these; they are not in the table.
    """
    values = np.stack([result.values[:, : len(measures)] for result in results])
    systems, count, asked = values.shape
    flat = values.ravel()
    names = pl.Series([str(measure) for measure in measures])
    frame = pl.DataFrame(
        {
            "system": pl.Series([result.system for result in results]).gather(
                np.repeat(np.arange(systems), count * asked)
            ),
            "topic": topics.gather(np.tile(np.repeat(np.arange(count), asked), systems)),
            "measure": names.gather(np.tile(np.arange(asked), systems * count)),
            "value": flat,
        }
    )
    return frame.filter(pl.col("value").is_not_nan()) if np.isnan(flat).any() else frame


def ready(measures: Sequence[Measure], gains: pl.DataFrame, settings: Settings) -> list[Measure]:
    """The measures with what they take from the gains filled in, or an error where they have no meaning for them."""
    if not len(gains):
        raise DataError("the gains table is empty; there is nothing to measure against")
    values = gains["gain"].to_numpy()
    for measure in measures:
        measure.check(values)
        if settings.ties != "doc" and not measure.linear:
            raise DataError(
                f"{measure} is not linear in the gains, so {settings.ties} ties have no exact value; "
                "use ties=doc, or CG, DCG, nDCG, P, R, RBP, Judged"
            )
    return [measure.prepared(float(values.max())) for measure in measures]


def gain_table(found: JudgedRanks, values: Floats, depth: int) -> Floats:
    """The gains in ranked order, topics × ranks, NaN where unjudged; `values` are the gains table's."""
    table = np.full((len(found.topics), depth), np.nan)
    inside = found.rank < depth
    table.ravel()[found.row[inside] * depth + found.rank[inside]] = values[found.item[inside]]
    return table


def _shared_out(
    runs: Sequence[Run],
    judged: Judged,
    measures: Sequence[Measure],
    settings: Settings,
    executor: Executor,
    progress: Callable[[int, int], None] | None,
    told: _Told,
) -> Iterator[SystemScores]:
    """Parts go out a few ahead of the run being finished; results come back run by run."""
    total = sum(len(run.parts) for run in runs)
    queue = [(run, part) for run in runs for part in run.parts]
    pending: list[Future[_PartScores]] = []
    sent = done = 0
    for run in runs:
        parts = []
        for _ in run.parts:
            while sent < len(queue) and len(pending) < 8 * (os.cpu_count() or 1):
                pending.append(executor.submit(score_part, queue[sent][1], judged, measures, settings))
                sent += 1
            parts.append(_result(pending.pop(0), run))
            done += 1
            if progress:
                progress(done, total)
        yield _joined(run, parts, judged, measures, settings, told)


def _result(future: Future[_PartScores], run: Run) -> _PartScores:
    try:
        return future.result()
    except InputError as error:
        if error.file is not None or run.source is None:
            raise
        raise InputError(error.problem, cure=error.cure, file=run.source) from None


@dataclass(frozen=True)
class _PartScores:
    topics: NDArray[np.int64]
    lengths: NDArray[np.int64]
    values: Floats  # topics × measures
    unknown: int
    tags: tuple[str, ...]  # the first two different ones
    rows: int


def score_part(
    part: FilePart | FramePart, judged: Judged, measures: Sequence[Measure], settings: Settings
) -> _PartScores:
    """Read one part of a run and measure it."""
    frame = part.read(ranks=settings.order == "rank")
    try:
        found = judged_ranks(frame, judged, order=settings.order, precision=settings.precision)
    except InputError as error:
        raise part.located(error) from None
    if settings.unjudged == "condense":
        found = condensed(found)
    values = np.empty((len(found.topics), len(measures)))
    for rows in blocks(np.maximum(found.lengths, judged.counts[found.topics])):
        some = found.only(rows)
        values[rows] = _measured_block(some, judged, measures, settings)
    _refuse_infinite(values, found, judged, measures)
    return _PartScores(found.topics, found.lengths, values, found.unknown, _tags(frame), len(frame))


def blocks(widths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Rows in groups of like width, so that a padded table of each group fits into BLOCK_CELLS."""
    if len(widths) * int(widths.max(initial=0)) <= BLOCK_CELLS:
        yield np.arange(len(widths))
        return
    order = np.argsort(widths, kind="stable")[::-1]
    start = 0
    while start < len(order):
        size = max(1, BLOCK_CELLS // max(1, int(widths[order[start]])))
        yield np.sort(order[start : start + size])
        start += size


def _measured_block(found: JudgedRanks, judged: Judged, measures: Sequence[Measure], settings: Settings) -> Floats:
    depth = _depth_needed(measures, int(found.lengths.max(initial=0)), settings)
    if settings.unjudged == "error":
        _refuse_unjudged(found, depth, judged)
    table = gain_table(found, judged.gains, depth)
    ideal = judged.ideal(found.topics)
    with np.errstate(over="ignore", invalid="ignore"):  # told by _refuse_infinite
        if settings.ties == "doc":
            columns = [measured(measure, table, ideal, found.lengths) for measure in measures]
        else:
            of_ties = expected_over_ties if settings.ties == "shared" else spread_over_ties
            groups = tie_table(found, depth)
            columns = [of_ties(measure, table, ideal, groups) for measure in measures]
    return np.stack(columns, axis=-1)


def _refuse_infinite(values: Floats, found: JudgedRanks, judged: Judged, measures: Sequence[Measure]) -> None:
    """NaN means that a topic does not count, so a value that overflowed must not pass as one."""
    row, column = np.nonzero(~np.isfinite(values))
    if len(row):
        topic = judged.topics[found.topics[row[0]]]
        raise DataError(
            f"{measures[column[0]]} of topic {topic} is too large for a number; its gains reach "
            f"{judged.ideal(found.topics[row[:1]]).max():g}: divide them first (--gains-as unit)"
        )


def measured(measure: Measure, table: Floats, ideal: Floats, lengths: NDArray[np.int64]) -> Floats:
    """A measure's values, given the number of ranked documents where it asks for that too."""
    return measure(table, ideal, lengths) if measure.needs_lengths else measure(table, ideal)  # type: ignore[call-arg]


def depth_of(measure: Measure) -> int | None:
    """How many ranks a measure looks at; None for all."""
    return depth_of(measure.of) if isinstance(measure, Residual) else measure.cutoff


def _depth_needed(measures: Sequence[Measure], longest: int, settings: Settings) -> int:
    depths = [depth_of(measure) for measure in measures]
    if None in depths or settings.ties != "doc":  # a tie can reach across a cutoff
        return longest
    return min(longest, max((depth for depth in depths if depth is not None), default=0))


def condensed(found: JudgedRanks) -> JudgedRanks:
    """The rankings without their unjudged documents; judged ones that tied still tie."""
    order = np.lexsort((found.rank, found.row))
    row, first = found.row[order], found.first_of_tie()[order]
    counts = np.bincount(row, minlength=len(found.topics))
    place = np.arange(len(order))
    rank = place - np.repeat(np.cumsum(counts) - counts, counts)
    begins = np.append(True, (row[1:] != row[:-1]) | (first[1:] != first[:-1]))[: len(order)]
    begun = np.maximum.accumulate(np.where(begins, place, 0))
    tied = np.isin(begun, begun[~begins])
    ties = (row[tied], rank[tied], rank[begun[tied]])
    return JudgedRanks(found.topics, counts, row, rank, found.item[order], ties, found.unknown)


def tie_table(found: JudgedRanks, depth: int) -> NDArray[np.int64]:
    """Topics × ranks: the first rank of the tie that a rank belongs to, itself where it is not tied."""
    table = np.tile(np.arange(depth), (len(found.topics), 1))
    row, rank, first = found.tied
    table[row, rank] = first
    return table


def _tags(frame: pl.DataFrame) -> tuple[str, ...]:
    tags = frame["tag"]
    if not len(tags) or tags[0] is None or (tags == tags[0]).all():
        return ()
    return (tags[0], tags.filter(tags != tags[0])[0])


def _refuse_unjudged(found: JudgedRanks, depth: int, judged: Judged) -> None:
    counts = np.bincount(found.row[found.rank < depth], minlength=len(found.topics))
    short = np.flatnonzero(counts < np.minimum(found.lengths, depth))
    if len(short):
        looked = min(int(found.lengths[short[0]]), depth)
        missing = looked - counts[short[0]]
        raise InputError(
            f"topic {judged.topics[found.topics[short[0]]]}: {missing} of the first {looked} documents are unjudged",
            cure="judge them, or count them as 0 (unjudged=zero) or leave them out (unjudged=condense)",
        )


def _joined(
    run: Run,
    parts: Sequence[_PartScores],
    judged: Judged,
    measures: Sequence[Measure],
    settings: Settings,
    told: _Told,
) -> SystemScores:
    """One system's parts put together, with what its missing topics score."""
    topics = np.concatenate([part.topics for part in parts])
    if len(parts) > 1 and len(np.unique(topics)) < len(topics):  # topics not together in the file: read it as one
        parts = [score_part(run.whole().parts[0], judged, measures, settings)]
        topics = parts[0].topics
    _refuse_empty(run, parts, topics)
    values = np.full((len(judged.topics), len(measures)), np.nan)
    lengths = np.zeros(len(judged.topics), np.int64)
    for part in parts:
        values[part.topics] = part.values
        lengths[part.topics] = part.lengths
    ranked = np.zeros(len(judged.topics), bool)
    ranked[topics] = True
    missing = np.flatnonzero(~ranked)
    if len(missing) and settings.topics == "judged":
        nothing = np.full((len(missing), 1), np.nan)
        ideal = judged.ideal(missing)
        columns = [measured(measure, nothing, ideal, lengths[missing]) for measure in measures]
        values[missing] = np.stack(columns, axis=-1)
    told.hear(run, parts, len(missing))
    return SystemScores(run.system, values, lengths)


def _refuse_empty(run: Run, parts: Sequence[_PartScores], topics: NDArray[np.int64]) -> None:
    if not sum(part.rows for part in parts):
        raise InputError("the run is empty", cure="a run needs at least one line", file=run.source)
    if not len(topics):
        raise InputError(
            f"none of the {sum(part.unknown for part in parts)} topics of run {run.system} has judgments",
            cure="check that gains and run use the same topic ids",
            file=run.source,
        )


class _Told:
    """What runs leave out, gathered so that it is told once."""

    def __init__(self) -> None:
        self.missing: list[tuple[int, str]] = []
        self.unknown: list[tuple[int, str]] = []

    def hear(self, run: Run, parts: Sequence[_PartScores], missing: int) -> None:
        if missing:
            self.missing.append((missing, run.system))
        if unknown := sum(part.unknown for part in parts):
            self.unknown.append((unknown, run.system))
        tags = next((part.tags for part in parts if part.tags), ())
        if tags:
            _tell(f"{run.source}: tags {tags[0]!r} and {tags[1]!r} in one file; taken as one system, {run.system!r}")

    def say(self, runs: int, topics: int, settings: Settings) -> None:
        if self.missing:
            most, system = max(self.missing)
            does = "score 0 there" if settings.topics == "judged" else "are averaged over fewer topics"
            _tell(
                f"{len(self.missing)} of {runs} runs miss judged topics and {does} (most: {system}, {most} of {topics})"
            )
        if self.unknown:
            most, system = max(self.unknown)
            _tell(
                f"{len(self.unknown)} of {runs} runs rank topics without judgments, which do not count "
                f"(most: {system}, {most})"
            )


def _tell_of_worthless_topics(judged: Judged) -> None:
    starts = np.append(0, judged.ends[:-1])
    worthless = np.flatnonzero(judged.sorted_gains[starts] <= 0)
    if len(worthless):
        first = judged.topics[worthless[0]]
        _tell(
            f"{len(worthless)} of {len(judged.topics)} topics have no document with a gain above 0 "
            f"(the first: {first}); measures are 0 there"
        )


def _tell(text: str) -> None:
    warnings.warn(text, JudgewellWarning, stacklevel=2)
