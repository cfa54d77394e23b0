"""Counts and measures of the set of retrieved documents, whatever their order, and the share that is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from judgewell.errors import MeasureError
from judgewell.evaluation.measures.base import Linear, ratio, setting
from judgewell.evaluation.measures.binary import Binary
from judgewell.evaluation.measures.ranks import Array

SOURCE = "van Rijsbergen, Information Retrieval, 1979"


class Judged(Linear):
    """The share of the first k ranks that hold a judged document; ranks behind the ranking's end hold none.

    Formula: Judged@k = |{i ≤ k : document i is judged}| / k.
    Use: How far other measures at k can be trusted: below about 0.9 a system may be better than its value says.
    Traps: It says nothing about quality. Ranks that a short ranking leaves empty count as not judged.
    """

    name: ClassVar[str] = "Judged"
    source: ClassVar[str] = "MacAvaney, Macdonald & Ounis, ECIR 2022 (ir_measures)"
    needs_cutoff: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = frozenset({"range01", "monotone_append"})

    def credit(self, gains: Array) -> Array:
        return (~np.isnan(gains)).astype(np.float64)

    def weights(self, depth: int) -> Array:
        return np.ones(depth)

    def total(self, credit: Array, ideal: Array, weights: Array | None = None) -> Array:
        return super().total(credit, ideal, weights) / (self.cutoff or 1)


class NumRel(Binary):
    """The number of relevant documents the topic has.

    Formula: R = |{j : gain_j ≥ rel}| over the topic's judged documents.
    Use: To see how many relevant documents a topic has, as trec_eval prints it.
    Traps: It is a property of the gains, not of the system. Its mean over topics is printed; trec_eval prints the
    sum.
    """

    name: ClassVar[str] = "NumRel"
    trec_names: ClassVar[tuple[str, ...]] = ("num_rel",)
    takes_cutoff: ClassVar[bool] = False
    laws: ClassVar[frozenset[str]] = frozenset({"nonnegative", "zero_without_relevant", "same_for_every_ranking"})

    def __call__(self, gains: Array, ideal: Array) -> Array:
        known = np.asarray(self.known(ideal), dtype=np.float64)
        return np.broadcast_to(known, np.broadcast_shapes(known.shape, gains.shape[:-1])).copy()


class NumRelRet(Binary):
    """The number of relevant documents that were retrieved.

    Formula: |{i : g_i ≥ rel}| over the ranking, down to the cutoff.
    Use: To see how many relevant documents a run holds, as trec_eval prints it.
    Traps: Runs of different depths are not comparable by it; give a cutoff.
    """

    name: ClassVar[str] = "NumRelRet"
    trec_names: ClassVar[tuple[str, ...]] = ("num_rel_ret",)
    laws: ClassVar[frozenset[str]] = frozenset(
        {"nonnegative", "monotone_append", "unjudged_is_zero", "zero_without_relevant", "swap_up", "ideal_is_best"}
    )

    def __call__(self, gains: Array, ideal: Array) -> Array:
        return np.asarray(np.count_nonzero(self.found(gains), axis=-1), dtype=np.float64)


class SetR(Binary):
    """The share of the topic's relevant documents that were retrieved.

    Formula: SetR = |relevant retrieved| / R.
    Use: Boolean search and screening, where the result is a set.
    Traps: A longer result never scores worse: read it with SetP.
    """

    name: ClassVar[str] = "SetR"
    source: ClassVar[str] = SOURCE
    trec_names: ClassVar[tuple[str, ...]] = ("set_recall",)
    takes_cutoff: ClassVar[bool] = False
    laws: ClassVar[frozenset[str]] = frozenset(
        {"range01", "monotone_append", "unjudged_is_zero", "zero_without_relevant", "swap_up", "best_is_one"}
    )

    def __call__(self, gains: Array, ideal: Array) -> Array:
        return ratio(np.count_nonzero(self.found(gains), axis=-1), self.known(ideal))


class OfRetrieved(Binary):
    """A measure of the number of retrieved documents, which gains do not tell: it is called with `lengths` too."""

    source: ClassVar[str] = SOURCE
    takes_cutoff: ClassVar[bool] = False
    needs_lengths: ClassVar[bool] = True

    def __call__(self, gains: Array, ideal: Array, lengths: Any = None) -> Array:
        if lengths is None:
            raise MeasureError(
                f"{self.name} counts the retrieved documents, which gains do not tell; give their lengths"
            )
        return self.of_lengths(gains, ideal, np.asarray(lengths, dtype=np.float64))

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        raise NotImplementedError

    def retrieved_relevant(self, gains: Array) -> Any:
        return np.count_nonzero(self.relevant(gains), axis=-1)


class NumRet(OfRetrieved):
    """The number of documents that were retrieved; with `rel`, of those with that gain or more.

    Formula: The number of documents of the run for the topic.
    Use: To find runs that are cut short.
    Traps: It counts unjudged documents too, unless rel is given.
    """

    name: ClassVar[str] = "NumRet"
    trec_names: ClassVar[tuple[str, ...]] = ("num_ret",)
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
    laws: ClassVar[frozenset[str]] = frozenset({"range01", "unjudged_is_zero", "zero_without_relevant"})

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
    laws: ClassVar[frozenset[str]] = frozenset({"range01", "unjudged_is_zero", "zero_without_relevant"})

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        return ratio((self.beta + 1) * self.retrieved_relevant(gains), self.beta * self.known(ideal) + lengths)


class SetAP(OfRetrieved):
    """The average precision of the retrieved set: SetP × SetR.

    Formula: SetAP = SetP × SetR.
    Use: trec_eval's set_map, the average precision of a set whose order is unknown.
    Traps: It is not AP, and is not comparable with it.
    """

    name: ClassVar[str] = "SetAP"
    trec_names: ClassVar[tuple[str, ...]] = ("set_map",)
    laws: ClassVar[frozenset[str]] = frozenset({"range01", "unjudged_is_zero", "zero_without_relevant"})

    def of_lengths(self, gains: Array, ideal: Array, lengths: Array) -> Array:
        both = self.retrieved_relevant(gains)
        return ratio(both, lengths) * ratio(both, self.known(ideal))
