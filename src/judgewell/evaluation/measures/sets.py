"""Counts and measures of the set of retrieved documents, whatever their order, and the share that is judged."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from judgewell.evaluation.measures.base import SUMMED, USUAL, Linear, Measure, given_lengths, ratio, setting
from judgewell.evaluation.measures.binary import Binary
from judgewell.evaluation.measures.ranks import Array
from judgewell.values import dataclass

SOURCE = "van Rijsbergen, Information Retrieval, 1979"


class Judged(Linear):
    """The share of the first k retrieved documents that are judged; without a cutoff, of all retrieved documents.

    Formula: Judged@k = |{i ≤ min(k, n) : document i is judged}| / min(k, n), n the number of retrieved documents.
    Use: How far other measures at k can be trusted: below about 0.9 a system may be better than its value says.
    Traps: It says nothing about quality. A ranking shorter than k is measured over its own length, as in ir_measures; a
    topic that a run misses has 0.
    """

    name: ClassVar[str] = "Judged"
    source: ClassVar[str] = "MacAvaney, Macdonald & Ounis, ECIR 2022 (ir_measures)"
    needs_lengths: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = frozenset({"range01"})

    def credit(self, gains: Array) -> Array:
        return (~np.isnan(gains)).astype(np.float64)

    def weights(self, depth: int) -> Array:
        return np.ones(depth)

    def __call__(self, gains: Array, ideal: Array, lengths: Any = None) -> Array:
        return self.total(self.credit(self.top(gains)), ideal, lengths=lengths)

    def total(self, credit: Array, ideal: Array, weights: Array | None = None, lengths: Any = None) -> Array:
        return ratio(super().total(credit, ideal, weights), given_lengths(self, lengths))


class NumRel(Binary):
    """The number of relevant documents the topic has.

    Formula: R = |{j : gain_j ≥ rel}| over the topic's judged documents.
    Use: To see how many relevant documents a topic has, as trec_eval prints it.
    Traps: It is a property of the gains, not of the system. It is summed over topics, not averaged.
    """

    name: ClassVar[str] = "NumRel"
    trec_names: ClassVar[tuple[str, ...]] = ("num_rel",)
    over_topics: ClassVar[str] = "sum"
    takes_cutoff: ClassVar[bool] = False
    laws: ClassVar[frozenset[str]] = frozenset({"nonnegative", "zero_without_relevant", "same_for_every_ranking"})

    def __call__(self, gains: Array, ideal: Array) -> Array:
        known = np.asarray(self.known(ideal), dtype=np.float64)
        return np.broadcast_to(known, np.broadcast_shapes(known.shape, gains.shape[:-1])).copy()


class NumRelRet(Binary):
    """The number of relevant documents that were retrieved.

    Formula: |{i : g_i ≥ rel}| over the ranking, down to the cutoff.
    Use: To see how many relevant documents a run holds, as trec_eval prints it.
    Traps: Runs of different depths are not comparable by it; give a cutoff. It is summed over topics.
    """

    name: ClassVar[str] = "NumRelRet"
    other_names: ClassVar[tuple[str, ...]] = ("hits",)
    trec_names: ClassVar[tuple[str, ...]] = ("num_rel_ret",)
    over_topics: ClassVar[str] = "sum"
    laws: ClassVar[frozenset[str]] = SUMMED - {"range01"} | {"nonnegative"}

    def __call__(self, gains: Array, ideal: Array) -> Array:
        return np.asarray(np.count_nonzero(self.hits(gains), axis=-1), dtype=np.float64)


class SetR(Binary):
    """The share of the topic's relevant documents that were retrieved.

    Formula: SetR = |relevant retrieved| / R.
    Use: Boolean search and screening, where the result is a set.
    Traps: A longer result never scores worse: read it with SetP.
    """

    name: ClassVar[str] = "SetR"
    source: ClassVar[str] = SOURCE
    trec_names: ClassVar[tuple[str, ...]] = ("set_recall",)
    laws: ClassVar[frozenset[str]] = USUAL - {"best_is_one"} | {"best_is_one_uncut"}

    def __call__(self, gains: Array, ideal: Array) -> Array:
        return ratio(np.count_nonzero(self.hits(gains), axis=-1), self.known(ideal))


class OfRetrieved(Binary):
    """A measure of the number of retrieved documents, which gains do not tell: it is called with `lengths` too."""

    source: ClassVar[str] = SOURCE
    needs_lengths: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = frozenset({"range01", "unjudged_is_zero", "zero_without_relevant"})

    def __call__(self, gains: Array, ideal: Array, lengths: Any = None) -> Array:
        return self.of_lengths(self.top(gains), ideal, given_lengths(self, lengths))

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        raise NotImplementedError

    def retrieved_relevant(self, gains: Array) -> Any:
        return np.count_nonzero(self.relevant(gains), axis=-1)


class NumRet(OfRetrieved):
    """The number of documents that were retrieved; with `rel`, of those with that gain or more.

    Formula: The number of documents of the run for the topic.
    Use: To find runs that are cut short.
    Traps: It counts unjudged documents too, unless rel is given. It is summed over topics.
    """

    name: ClassVar[str] = "NumRet"
    in_example: ClassVar[str] = ""
    takes_level: ClassVar[bool] = False
    trec_names: ClassVar[tuple[str, ...]] = ("num_ret",)
    over_topics: ClassVar[str] = "sum"
    laws: ClassVar[frozenset[str]] = frozenset({"nonnegative", "monotone_append"})

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        counted = lengths if self.rel is None else self.retrieved_relevant(gains)
        return np.asarray(counted, dtype=np.float64)

    def check(self, gains: Array) -> None:
        """Any gains will do."""


@dataclass(frozen=True, kw_only=True)
class SetP(OfRetrieved):
    """The share of the retrieved documents that are relevant; `relative` to the best share so many could have.

    Formula: SetP = |relevant retrieved| / |retrieved|.
    Use: The precision of a result that is a set, not a ranking.
    Traps: A run of 1,000 documents per topic scores close to 0 whatever its order: this is not for rankings.
    """

    relative: bool = setting(False, "divide by the best share that so many retrieved documents could have")

    name: ClassVar[str] = "SetP"
    trec_names: ClassVar[tuple[str, ...]] = ("set_P",)
    shorthands: ClassVar = {"SetRelP": {"relative": True}, "set_relative_P": {"relative": True}}

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        most = np.minimum(lengths, self.known(ideal)) if self.relative else lengths
        return ratio(self.retrieved_relevant(gains), most)


@dataclass(frozen=True, kw_only=True)
class SetF(OfRetrieved):
    """The weighted harmonic mean of SetP and SetR: (β + 1) P R / (β P + R), β as trec_eval and ir_measures use it.

    Formula: SetF = (β + 1) P R / (β P + R), P = SetP, R = SetR.
    Use: One number for a set between its precision and its recall.
    Traps: β is not squared here, as in trec_eval and ir_measures; textbooks square it. SetF(beta=4) is their F₂.
    """

    beta: float = setting(1.0, "the weight of recall against precision", least=0)

    name: ClassVar[str] = "SetF"
    trec_names: ClassVar[tuple[str, ...]] = ("set_F",)
    dotted: ClassVar[str] = "beta"

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        return ratio((self.beta + 1) * self.retrieved_relevant(gains), self.beta * self.known(ideal) + lengths)


class F1(OfRetrieved):
    """The harmonic mean of P@k and R@k; without a cutoff, of SetP and SetR.

    Formula: F1@k = 2 |{i ≤ k : g_i ≥ rel}| / (k + R), R the topic's number of relevant documents.
    Use: One number between precision and recall at a rank, as ranx has it.
    Traps: Ranks that a short ranking leaves empty count against it, as in P@k; SetF@k counts retrieved documents only.
    """

    name: ClassVar[str] = "F1"

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        known = np.asarray(self.known(ideal))
        looked = lengths if self.cutoff is None else np.full_like(lengths, self.cutoff)
        return ratio(2 * self.retrieved_relevant(gains) * (known > 0), looked + known)


class NumQ(Measure):
    """1 for every topic: the sum is the number of topics.

    Formula: 1.
    Use: To see over how many topics a result is averaged, as trec_eval and ir_measures print it.
    Traps: It depends on which topics count (--topics), not on the ranking.
    """

    name: ClassVar[str] = "NumQ"
    source: ClassVar[str] = SOURCE
    trec_names: ClassVar[tuple[str, ...]] = ("num_q",)
    takes_cutoff: ClassVar[bool] = False
    over_topics: ClassVar[str] = "sum"
    laws: ClassVar[frozenset[str]] = frozenset({"nonnegative", "same_for_every_ranking"})

    def __call__(self, gains: Array, ideal: Array) -> Array:
        return np.ones(np.broadcast_shapes(gains.shape[:-1], ideal.shape[:-1]))


class SetAP(OfRetrieved):
    """The average precision of the retrieved set: SetP × SetR.

    Formula: SetAP = SetP × SetR = |relevant retrieved|² / (|retrieved| R).
    Use: trec_eval's set_map, the average precision of a set whose order is unknown.
    Traps: It is not AP, and is not comparable with it.
    """

    name: ClassVar[str] = "SetAP"
    trec_names: ClassVar[tuple[str, ...]] = ("set_map",)

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        both = np.asarray(self.retrieved_relevant(gains), dtype=np.float64)
        return ratio(both * both, lengths * self.known(ideal))  # as trec_eval, to the last digit
