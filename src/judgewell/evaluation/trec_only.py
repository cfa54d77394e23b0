"""Measures that are here because trec_eval prints them; everyone else asks for others.

They follow trec_eval's definitions, oddities included, so that its output can be printed to the last digit. All are
called with `lengths`, the number of retrieved documents of each ranking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from judgewell.evaluation.measures.base import largest_of, ratio, setting, unjudged_as_zero
from judgewell.evaluation.measures.binary import best_precision
from judgewell.evaluation.measures.graded import to_depth
from judgewell.evaluation.measures.ranks import Array, Truth, hits_so_far, weighted_sum
from judgewell.evaluation.measures.sets import OfRetrieved

STRING_CHARACTERS = "\0" + "0123456789" + ">-."
LONGEST_STRING = 13  # 14^13 still is a whole number in double precision


class TrecOnly(OfRetrieved):
    """A measure of trec_eval's that only its output needs."""

    source: ClassVar[str] = "trec_eval, National Institute of Standards and Technology"
    listed: ClassVar[bool] = False
    takes_cutoff: ClassVar[bool] = False
    laws: ClassVar[frozenset[str]] = frozenset({"finite"})


@dataclass(frozen=True, kw_only=True)
class TrecIPrec(TrecOnly):
    """Interpolated precision where the recall to reach is rounded to a whole number of relevant documents."""

    recall: float = setting(0.0, "the recall to reach", least=0)
    version: int = setting(10, "of trec_eval: 10 rounds to the nearest, 9 up", least=9, most=10)

    name: ClassVar[str] = "iprec_at_recall"

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        needed = np.floor(self.recall * np.asarray(self.known(ideal)) + (0.5 if self.version == 10 else 0.9))
        return best_precision(self.relevant(gains), needed)


@dataclass(frozen=True, kw_only=True)
class ElevenPoint(TrecOnly):
    """The mean of the interpolated precision at several recall levels."""

    levels: tuple[float, ...] = tuple(level / 10 for level in range(11))
    version: int = setting(10, "of trec_eval: 10 rounds to the nearest, 9 up", least=9, most=10)

    name: ClassVar[str] = "11pt_avg"

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        total = np.zeros(())
        for level in self.levels:
            at_level = TrecIPrec(rel=self.rel, recall=level, version=self.version)
            total = total + at_level.of_lengths(gains, ideal, lengths)
        return np.divide(total, len(self.levels))


@dataclass(frozen=True, kw_only=True)
class RprecMult(TrecOnly):
    """Precision at a multiple of R, the number of relevant documents the topic has."""

    multiple: float = setting(1.0, "the multiple of R", least=0)

    name: ClassVar[str] = "Rprec_mult"

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        rank = np.floor(self.multiple * np.asarray(self.known(ideal)) + 0.9)
        within = np.arange(gains.shape[-1]) < rank[..., None]
        return ratio(np.count_nonzero(self.relevant(gains) & within, axis=-1), rank)


@dataclass(frozen=True, kw_only=True)
class RelativeP(TrecOnly):
    """Precision at a rank divided by the best precision there could be."""

    rank: int = setting(10, "the rank down to which it looks", least=1)

    name: ClassVar[str] = "relative_P"

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        hits = np.count_nonzero(self.relevant(gains[..., : self.rank]), axis=-1)
        return ratio(hits, np.minimum(self.known(ideal), self.rank))


@dataclass(frozen=True, kw_only=True)
class Utility(TrecOnly):
    """A weighted sum of the relevant retrieved, the others retrieved and the relevant not retrieved documents."""

    utilities: tuple[float, float, float] = (1.0, -1.0, 0.0)

    name: ClassVar[str] = "utility"

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        both = np.asarray(self.retrieved_relevant(gains), dtype=np.float64)
        hit, wrong, missed = self.utilities
        return hit * both + wrong * (lengths - both) + missed * (np.asarray(self.known(ideal)) - both)


class BinG(TrecOnly):
    """(1/R) Σ over the relevant documents found of 1 / log2(2 + the number of others above it)."""

    name: ClassVar[str] = "binG"

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        hit = self.relevant(gains)
        others = np.arange(1, hit.shape[-1] + 1) - hits_so_far(hit)
        return ratio(np.sum(1 / np.log2(2.0 + others), axis=-1, where=hit), self.known(ideal))


class NormalizedG(TrecOnly):
    """Σ g_i / log2(2 + cost_i − cg_i) divided by the topic's gains; a rank costs the ideal gain there, at least 1."""

    name: ClassVar[str] = "G"

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        gain, best = unjudged_as_zero(gains), unjudged_as_zero(ideal)
        depth = gain.shape[-1]
        rank = np.arange(1, depth + 1)
        dear = to_depth(np.cumsum(np.maximum(best, 1.0) - 1.0, axis=-1), depth) + rank
        discounted = gain / np.log2(2 + dear - np.cumsum(gain, axis=-1))
        return ratio(discounted.sum(axis=-1), best.sum(axis=-1))


class NdcgRel(TrecOnly):
    """nDCG averaged over the ranks of the relevant documents; one that is not found counts nDCG at the end."""

    name: ClassVar[str] = "ndcg_rel"

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        reached, best = discounted_sums(gains), discounted_sums(ideal)
        hit = unjudged_as_zero(gains) > 0
        known = np.count_nonzero(ideal > 0, axis=-1)
        at_hits = np.sum(ratio(reached, to_depth(best, reached.shape[-1])), axis=-1, where=hit)
        missed = known - np.count_nonzero(hit, axis=-1)
        return ratio(at_hits + missed * ratio(last(reached), last(best)), known)


class Rndcg(TrecOnly):
    """nDCG averaged over the ranks where the best ranking's gain changes, and the end if two or more ranks later."""

    name: ClassVar[str] = "Rndcg"

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        reached, best, gain = discounted_sums(gains), discounted_sums(ideal), unjudged_as_zero(ideal)
        changes = gain > 0
        changes[..., :-1] &= gain[..., :-1] != gain[..., 1:]
        at_changes = np.sum(ratio(to_depth(reached, best.shape[-1]), best), axis=-1, where=changes)
        known = np.count_nonzero(gain > 0, axis=-1)
        ends = (lengths > known + 1) & (np.asarray(known) > 0)
        at_end = ratio(last(reached), last(best)) * ends
        return ratio(at_changes + at_end, np.count_nonzero(changes, axis=-1) + ends) * (
            np.asarray(self.known(ideal)) > 0
        )


class NonrelJudged(TrecOnly):
    """The number of judged documents retrieved that are not relevant."""

    name: ClassVar[str] = "num_nonrel_judged_ret"

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        judged = np.count_nonzero(~np.isnan(gains), axis=-1)
        return np.asarray(judged - self.retrieved_relevant(gains), dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class TrecRBP(TrecOnly):
    """RBP whose gains are divided by the topic's largest where that is above 1."""

    p: float = setting(0.9, "the chance of going on to the next rank", least=0, most=1, ends=False)

    name: ClassVar[str] = "rbp"

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        share = unjudged_as_zero(gains) / np.maximum(largest_of(ideal, by_topic=True), 1.0)
        return (1 - self.p) * weighted_sum(share, self.p ** np.arange(share.shape[-1], dtype=np.float64))


@dataclass(frozen=True, kw_only=True)
class TrecRBPResidual(TrecOnly):
    """RBP's residual, but 0 where no retrieved document is unjudged."""

    p: float = setting(0.9, "the chance of going on to the next rank", least=0, most=1, ends=False)

    name: ClassVar[str] = "rbp_resid"

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        open_ = unjudged(gains, lengths)
        powers = self.p ** np.arange(gains.shape[-1], dtype=np.float64)
        residual = self.p**lengths + (1 - self.p) * weighted_sum(open_.astype(np.float64), powers)
        return np.where(open_.any(axis=-1), residual, 0.0)


@dataclass(frozen=True, kw_only=True)
class Unjudged(TrecOnly):
    """The share of the first ranks that hold a retrieved document without a judgment."""

    rank: int = setting(10, "the rank down to which it looks", least=1)

    name: ClassVar[str] = "unj"

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        counts = np.count_nonzero(unjudged(gains[..., : self.rank], lengths), axis=-1)
        share: Array = np.asarray(counts) / self.rank
        return share


@dataclass(frozen=True, kw_only=True)
class RelString(TrecOnly):
    """The grades of the first documents, one character each, as the digits of a number: `quoted_string` shows them."""

    rank: int = setting(10, "the rank down to which it looks", least=1)

    name: ClassVar[str] = "relstring"
    sees_pool: ClassVar[bool] = True

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        top = gains[..., : self.rank]
        digit = np.where(np.isnan(top), len(STRING_CHARACTERS) - 2, np.minimum(np.floor(unjudged_as_zero(top)), 10) + 1)
        digit[top < 0] = len(STRING_CHARACTERS) - 1
        digit *= np.arange(top.shape[-1]) < lengths[..., None]
        return weighted_sum(digit, np.power(float(len(STRING_CHARACTERS)), np.arange(top.shape[-1], dtype=np.float64)))


def quoted_string(number: float) -> str:
    """The characters that RelString packed, as trec_eval prints them.

    A digit is a grade, > one above 9, - an unjudged document, . one that was pooled and not judged.
    """
    rest, characters = int(number), []
    while rest:
        rest, digit = divmod(rest, len(STRING_CHARACTERS))
        characters.append(STRING_CHARACTERS[digit])
    return f"'{''.join(characters)}'"


def unjudged(gains: Array, lengths: Array) -> Truth:
    """Which ranks hold a retrieved document without a judgment."""
    return np.isnan(gains) & (np.arange(gains.shape[-1]) < lengths[..., None])


def discounted_sums(gains: Array) -> Array:
    """DCG down to each rank."""
    discount = np.log2(np.arange(2, gains.shape[-1] + 2))
    sums: Array = np.cumsum(unjudged_as_zero(gains) / discount, axis=-1)
    return sums


def last(sums: Array) -> Array:
    """The last of running sums, 0 where there are none."""
    return to_depth(sums, max(sums.shape[-1], 1))[..., -1]
