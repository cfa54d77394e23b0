"""The ranks of judged documents: what both kernels return and what measures are computed from."""

from __future__ import annotations

import numpy as np

from judgewell.stats.arrays import Floats, Ints
from judgewell.values import dataclass


@dataclass(frozen=True)
class JudgedRanks:
    """The ranks of the judged documents of some topics in one system's run."""

    topics: Ints  # the number of each topic, among the judged ones
    lengths: Ints  # how many documents were ranked for it
    row: Ints  # of each judged document: its topic, as a row of `topics`
    rank: Ints  # its rank, from 0
    item: Ints  # its row in the gains table
    first: Ints  # the first rank of its tie, its own where it is not tied
    size: Ints  # how many documents share its score, itself included
    unknown: frozenset[str] = frozenset()  # topics that have no judgments
    tags: tuple[str, ...] = ()  # the tags of the lines, the first two that differ
    lines: int = 0  # how many documents were ranked, for topics without judgments too

    def only(self, rows: Ints) -> JudgedRanks:
        """The same for some of the topics."""
        if len(rows) == len(self.topics):
            return self
        number = np.full(len(self.topics), -1)
        number[rows] = np.arange(len(rows))
        kept = number[self.row] >= 0
        columns = (self.rank[kept], self.item[kept], self.first[kept], self.size[kept])
        return JudgedRanks(self.topics[rows], self.lengths[rows], number[self.row[kept]], *columns)

    def cut(self, depth: int) -> JudgedRanks:
        """The first `depth` documents of each ranking."""
        kept = self.rank < depth
        columns = (self.row[kept], self.rank[kept], self.item[kept], self.first[kept])
        size = np.minimum(self.size[kept], depth - self.first[kept])
        lengths = np.minimum(self.lengths, depth)
        return JudgedRanks(self.topics, lengths, *columns, size, self.unknown, self.tags, self.lines)

    def condensed(self) -> JudgedRanks:
        """The rankings without their unjudged documents; judged ones that tied still tie."""
        order = np.lexsort((self.rank, self.row))
        row, first = self.row[order], self.first[order]
        lengths = np.bincount(row, minlength=len(self.topics))
        place = np.arange(len(order))
        start = np.repeat(np.cumsum(lengths) - lengths, lengths)
        begins = np.append(True, (row[1:] != row[:-1]) | (first[1:] != first[:-1]))[: len(order)]
        tie = np.cumsum(begins) - 1
        size = np.bincount(tie)[tie] if len(order) else tie
        return JudgedRanks(
            *(self.topics, lengths, row, place - start, self.item[order], place[begins][tie] - start, size),
            *(self.unknown, self.tags, self.lines),
        )

    def gain_table(self, gains: Floats, depth: int) -> Floats:
        """The gains in ranked order, topics × ranks, NaN where unjudged; `gains` are the gains table's."""
        table = np.full((len(self.topics), depth), np.nan)
        inside = self.rank < depth
        table.ravel()[self.row[inside] * depth + self.rank[inside]] = gains[self.item[inside]]
        return table

    def tie_table(self, depth: int) -> Ints:
        """Topics × ranks: the first rank of the tie that a rank belongs to, itself where it is not tied.

        Ties without a judged document are excluded: their order does not change the score.
        """
        table = np.tile(np.arange(depth), (len(self.topics), 1))
        tied = np.flatnonzero(self.size > 1)
        width = int(self.lengths.max(initial=0))
        _, at = np.unique(self.row[tied] * width + self.first[tied], return_index=True)
        row, first, size = self.row[tied[at]], self.first[tied[at]], self.size[tied[at]]
        within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        rank = np.repeat(first, size) + within
        inside = rank < depth
        table[np.repeat(row, size)[inside], rank[inside]] = np.repeat(first, size)[inside]
        return table
