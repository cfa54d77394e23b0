"""One part of a run: read, ranked and measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.errors import DataError, InputError
from judgewell.evaluation.judged import Judged
from judgewell.evaluation.kernel import JudgedRanks, judged_ranks
from judgewell.evaluation.measures import JudgedOnly, Measure, Residual, expected_over_ties, spread_over_ties
from judgewell.evaluation.settings import Settings
from judgewell.formats.runs import FilePart, FramePart

Floats = NDArray[np.float64]
BLOCK_CELLS = 4_000_000  # gains of one padded table: 32 MB


@dataclass(frozen=True)
class PartScores:
    """The values of the topics of one part of a run."""

    topics: NDArray[np.int64]
    lengths: NDArray[np.int64]
    values: Floats  # topics × measures
    unknown: int
    tags: tuple[str, ...]  # the first two different ones
    rows: int


def score_part(
    part: FilePart | FramePart, judged: Judged, measures: Sequence[Measure], settings: Settings
) -> PartScores:
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
    return PartScores(found.topics, found.lengths, values, found.unknown, _tags(frame), len(frame))


def gain_table(found: JudgedRanks, values: Floats, depth: int) -> Floats:
    """The gains in ranked order, topics × ranks, NaN where unjudged; `values` are the gains table's."""
    table = np.full((len(found.topics), depth), np.nan)
    inside = found.rank < depth
    table.ravel()[found.row[inside] * depth + found.rank[inside]] = values[found.item[inside]]
    return table


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
            columns = [of_ties(measure, table, ideal, groups, found.lengths) for measure in measures]
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
    if isinstance(measure, JudgedOnly):
        return None
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
