"""One part of a run: read, ranked and measured."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgewell.errors import DataError, InputError
from judgewell.evaluation import compiled
from judgewell.evaluation.judged import Judged
from judgewell.evaluation.measures import JudgedOnly, Measure, Residual, expected_over_ties, spread_over_ties
from judgewell.evaluation.ranks import JudgedRanks
from judgewell.evaluation.settings import Settings
from judgewell.formats.runs import Part, Piece
from judgewell.formats.trec_lines import junk_note
from judgewell.stats.arrays import Floats, Ints
from judgewell.values import dataclass

BLOCK_CELLS = 500_000  # gains of one padded table: 4 MB


@dataclass(frozen=True)
class PartScores:
    """The values of the topics of one part of a run."""

    topics: Ints
    lengths: Ints
    values: Floats  # topics × measures
    unknown: frozenset[str]  # topics without judgments
    tags: tuple[str, ...]  # the first two different ones
    lines: int
    judged: int  # ranked documents that have judgments

    def put(self, values: Floats, lengths: Ints) -> PartScores:
        """Write the values of its topics among those of all topics; what is left holds none."""
        values[self.topics], lengths[self.topics] = self.values, self.lengths
        return PartScores(
            self.topics, self.topics[:0], np.empty((0, 0)), self.unknown, self.tags, self.lines, self.judged
        )

    def dump(self) -> list[Any]:
        """Plain values for JSON, from which `load` gives the same to the last bit."""
        arrays = [_text(one) for one in (self.topics, self.lengths, self.values)]
        return [*arrays, self.values.shape[1], sorted(self.unknown), list(self.tags), self.lines, self.judged]

    @classmethod
    def load(cls, dumped: list[Any]) -> PartScores:
        """The scores that `dump` gave."""
        topics, lengths, values, measures, unknown, tags, lines, judged = dumped
        numbers = _array(values, np.float64).reshape(-1, measures)
        whole = _array(topics, np.int64), _array(lengths, np.int64)
        return cls(*whole, numbers, frozenset(map(str, unknown)), tuple(map(str, tags)), int(lines), int(judged))


def _text(array: NDArray[Any]) -> str:
    return b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _array(text: str, kind: type[Any]) -> NDArray[Any]:
    return np.frombuffer(b64decode(text), kind).copy()


def score_part(part: Part, shared: tuple[Judged, Sequence[Measure], Settings]) -> PartScores:
    """Read one part of a run, piece by piece, and measure it."""
    judged, measures, settings = shared
    scores = [_score(ranks, judged, measures, settings) for ranks in part_ranks(part, judged, settings)]
    if len(scores) == 1:
        return scores[0]
    none = np.empty(0, np.int64)
    return PartScores(
        np.concatenate([none, *(one.topics for one in scores)]),
        np.concatenate([none, *(one.lengths for one in scores)]),
        np.concatenate([np.empty((0, len(measures))), *(one.values for one in scores)]),
        frozenset().union(*(one.unknown for one in scores)),
        tuple(dict.fromkeys(tag for one in scores for tag in one.tags))[:2],
        sum(one.lines for one in scores),
        sum(one.judged for one in scores),
    )


def part_ranks(part: Part, judged: Judged, settings: Settings) -> Iterator[JudgedRanks]:
    """The ranks of the judged documents in each piece of a part."""
    for piece in part.pieces():
        yield _piece_ranks(piece, judged, settings)


def _piece_ranks(piece: Piece, judged: Judged, settings: Settings) -> JudgedRanks:
    """By the compiled kernel; by numpy where there is none, or where it turns the piece down."""
    answer = None if piece.data is None else compiled.judged_ranks(piece.data, judged, settings)
    if answer is not None:
        ranks, junk = answer
        junk_note(junk, piece.path)
    else:
        from judgewell.evaluation.kernel import judged_ranks

        frame = piece.frame(ranks=settings.order == "rank")
        try:
            ranks = judged_ranks(frame, judged, settings)
        except InputError as error:
            raise piece.located(error) from None
    if settings.most is not None:
        ranks = ranks.cut(settings.most)
    return ranks.condensed() if settings.unjudged == "condense" else ranks


def _score(ranks: JudgedRanks, judged: Judged, measures: Sequence[Measure], settings: Settings) -> PartScores:
    values = np.empty((len(ranks.topics), len(measures)))
    for rows in blocks(np.maximum(ranks.lengths, judged.counts[ranks.topics])):
        values[rows] = _measured_block(ranks.only(rows), judged, measures, settings)
    _refuse_infinite(values, ranks, judged, measures)
    return PartScores(ranks.topics, ranks.lengths, values, ranks.unknown, ranks.tags, ranks.lines, len(ranks.row))


def blocks(widths: Ints) -> Iterator[Ints]:
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


def _measured_block(ranks: JudgedRanks, judged: Judged, measures: Sequence[Measure], settings: Settings) -> Floats:
    depth = _depth_needed(measures, int(ranks.lengths.max(initial=0)), settings)
    if settings.unjudged == "error":
        _refuse_unjudged(ranks, depth, judged)
    table = ranks.gain_table(judged.gains, depth)
    ideal = judged.ideal(ranks.topics)
    with np.errstate(over="ignore", invalid="ignore"):  # reported by _refuse_infinite
        if settings.ties == "doc":
            both = {False: (table, ideal)}
            if judged.intents is not None:
                both[True] = (judged.intents.ranked(ranks, depth), judged.intents.judged(ranks.topics))
            columns = [measured(measure, *both[measure.by_intent], ranks.lengths) for measure in measures]
        else:
            of_ties = expected_over_ties if settings.ties == "shared" else spread_over_ties
            groups = ranks.tie_table(depth)
            columns = [of_ties(measure, table, ideal, groups, ranks.lengths) for measure in measures]
    return np.stack(columns, axis=-1)


def _refuse_infinite(values: Floats, ranks: JudgedRanks, judged: Judged, measures: Sequence[Measure]) -> None:
    """NaN means that a topic does not count, so a value that overflowed must not pass as one."""
    row, column = np.nonzero(~np.isfinite(values))
    if len(row):
        topic = judged.topics[ranks.topics[row[0]]]
        raise DataError(
            f"{measures[column[0]]} of topic {topic} is too large for a number; its gains reach "
            f"{judged.ideal(ranks.topics[row[:1]]).max():g}: divide them first (--gains-as unit)"
        )


def measured(measure: Measure, table: Floats, ideal: Floats, lengths: Ints) -> Floats:
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


def _refuse_unjudged(ranks: JudgedRanks, depth: int, judged: Judged) -> None:
    counts = np.bincount(ranks.row[ranks.rank < depth], minlength=len(ranks.topics))
    short = np.flatnonzero(counts < np.minimum(ranks.lengths, depth))
    if len(short):
        looked = min(int(ranks.lengths[short[0]]), depth)
        missing = looked - counts[short[0]]
        raise InputError(
            f"topic {judged.topics[ranks.topics[short[0]]]}: {missing} of the first {looked} documents are unjudged",
            cure="judge them, or count them as 0 (unjudged=zero) or leave them out (unjudged=condense)",
        )
