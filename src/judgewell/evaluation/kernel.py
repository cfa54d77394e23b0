"""The one place a compiled kernel would go: a part of a run and the judged documents in, judged ranks out.

Everything here is array work over all topics of the part at once. Most runs come sorted, and ids only matter where
scores tie around a judged document, so it looks before it sorts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.errors import InputError
from judgewell.evaluation.judged import Judged, Keys

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class JudgedRanks:
    """Where the judged documents of some topics stand in one system's rankings."""

    topics: Ints  # the number of each topic, among the judged ones
    lengths: Ints  # how many documents were ranked for it
    row: Ints  # of each judged document: its topic, as a row of `topics`
    rank: Ints  # its rank, from 0
    item: Ints  # its row in the gains table
    tied: tuple[Ints, Ints, Ints]  # documents that share their score: row, rank, first rank of their tie
    unknown: int  # topics of the part that have no judgments

    def first_of_tie(self) -> Ints:
        """Of each judged document: the first rank of the tie it stands in, its own where it is not tied."""
        row, rank, first = self.tied
        width = int(self.lengths.max(initial=0)) + 1
        keys, mine = row * width + rank, self.row * width + self.rank  # ties come in this order
        at = np.searchsorted(keys, mine)
        match = at < len(keys)
        match[match] = keys[at[match]] == mine[match]
        firsts = self.rank.copy()
        firsts[match] = first[at[match]]
        return firsts

    def only(self, rows: Ints) -> JudgedRanks:
        """The same for some of the topics."""
        if len(rows) == len(self.topics):
            return self
        number = np.full(len(self.topics), -1)
        number[rows] = np.arange(len(rows))
        kept, tied = number[self.row] >= 0, number[self.tied[0]] >= 0
        ties = (number[self.tied[0][tied]], self.tied[1][tied], self.tied[2][tied])
        judged = (number[self.row[kept]], self.rank[kept], self.item[kept])
        return JudgedRanks(self.topics[rows], self.lengths[rows], *judged, ties, self.unknown)


def judged_ranks(part: pl.DataFrame, judged: Judged, *, order: str, precision: str) -> JudgedRanks:
    """Rank a part's documents (topic, doc, score, and rank as text) and find the judged ones.

    Ranking: by score descending (`order="score"`; `"rank"`: by the file's ranks), then by document id descending.
    """
    runs = part["topic"].rle().struct.unnest()
    names = runs["value"].to_list()
    topics = np.fromiter((judged.index.get(name, -1) for name in names), np.int64, len(names))
    lengths = runs["len"].cast(pl.Int64).to_numpy()
    if len(set(names)) < len(names):
        return judged_ranks(part.sort("topic", maintain_order=True), judged, order=order, precision=precision)
    unknown = int((topics < 0).sum())
    if unknown:
        part = part.filter(pl.Series(np.repeat(topics >= 0, lengths)))
        topics, lengths = topics[topics >= 0], lengths[topics >= 0]
    row = np.repeat(np.arange(len(topics)), lengths)
    keys = judged.key(part["doc"], np.repeat(topics, lengths))
    refuse_repeats(part, keys)
    found, item = judged.find(part["doc"], keys)
    rank, tied = ranks(part["doc"], sort_values(part, order, precision), row, lengths, found)
    return JudgedRanks(topics, lengths, row[found], rank[found], item, tied, unknown)


def sort_values(part: pl.DataFrame, order: str, precision: str) -> Floats | NDArray[np.float32]:
    """What the ranking is sorted by, descending."""
    if order == "rank":
        ranks = part["rank"].cast(pl.Float64, strict=False).fill_nan(None)
        if ranks.null_count():
            at = ranks.is_null().arg_true()[0]
            raise InputError(
                f"topic {part['topic'][at]}: rank {part['rank'][at]!r} of document {part['doc'][at]} is not a number",
                cure="rank by score instead",
                row=(part["topic"][at], part["doc"][at]),
            )
        return -ranks.to_numpy()
    scores = part["score"].to_numpy()
    return scores.astype(np.float32) if precision == "single" else scores


def ranks(
    docs: pl.Series, values: Floats | NDArray[np.float32], row: Ints, lengths: Ints, judged: Ints
) -> tuple[Ints, tuple[Ints, Ints, Ints]]:
    """Each document's rank (from 0) within its row, and the ties: row, rank and first rank of each tied document.

    Ties are ordered by document id descending, but only those that hold a judged document: in others any order gives
    the same scores.
    """
    starts = np.cumsum(lengths) - lengths
    within = row[1:] == row[:-1]
    order = None
    if ((values[1:] > values[:-1]) & within).any():
        order = np.lexsort((-values, row))
        values = values[order]
    same = (values[1:] == values[:-1]) & within
    place = np.arange(len(values))
    tied_places, firsts = tied_groups(same)
    if len(tied_places):
        rows_at = place if order is None else order
        is_judged = np.zeros(len(values), bool)
        is_judged[judged] = True
        holds_judged = np.zeros(len(values), bool)
        holds_judged[firsts[is_judged[rows_at[tied_places]]]] = True
        matters = holds_judged[firsts]
        places = tied_places[matters]
        if len(places):
            rows = rows_at[places]
            by_doc = docs.gather(rows).arg_sort(descending=True).to_numpy()
            by_tie = by_doc[np.argsort(firsts[matters][by_doc], kind="stable")]
            order = place.copy() if order is None else order
            order[places] = rows[by_tie]
    start = np.repeat(starts, lengths)
    tied = (row[tied_places], tied_places - start[tied_places], firsts - start[tied_places])
    if order is None:
        return place - start, tied
    rank = np.empty(len(values), np.int64)
    rank[order] = place - start
    return rank, tied


def tied_groups(same: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Places that share their value with a neighbour, and for each the first place of its tie."""
    if not same.any():
        return np.empty(0, np.int64), np.empty(0, np.int64)
    in_tie = np.append(same, False) | np.append(False, same)
    begins = np.append(True, ~same)
    places = np.flatnonzero(in_tie)
    firsts = np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))[places]
    return places, firsts


def refuse_repeats(part: pl.DataFrame, keys: Keys) -> None:
    """A document twice in one ranking is an error: no rule says which place counts."""
    sorted_keys = np.sort(keys)
    doubtful = sorted_keys[1:][sorted_keys[1:] == sorted_keys[:-1]]
    if not len(doubtful):
        return
    rows = part.filter(pl.Series(np.isin(keys, doubtful))).filter(pl.struct("topic", "doc").is_duplicated())
    if len(rows):
        topic, doc = rows["topic"][0], rows["doc"][0]
        raise InputError(
            f"topic {topic}: document {doc} is ranked twice",
            cure="keep one line for each document of a topic; runs of several systems belong in several files",
            row=(topic, doc),
        )
