"""Measures that only ask whether a document is relevant: P, R, Success, RR, Rprec, AP, Bpref, infAP, IPrec."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from judgewell.errors import MeasureError
from judgewell.evaluation.measures.base import SUMMED, USUAL, Linear, Measure, cut_known, given_lengths, ratio, setting
from judgewell.evaluation.measures.ranks import Array, Truth, added_up, keep, weighted_sum
from judgewell.values import dataclass

GEOMETRIC_FLOOR = 0.00001  # trec_eval's least value in a geometric mean


@dataclass(frozen=True, kw_only=True)
class Binary(Measure):
    """A measure for which a document is relevant from the gain `rel` on; without it from 1 on, for whole gains only."""

    rel: float | None = setting(None, "the lowest gain that counts as relevant; 1 if all gains are whole numbers")

    in_example: ClassVar[str] = "rel=0.5"
    source: ClassVar[str] = "Buckley & Voorhees, in TREC: Experiment and Evaluation in Information Retrieval, 2005"

    def relevant(self, gains: Array) -> Truth:
        """Which documents are relevant; unjudged ones are not."""
        return gains >= (1.0 if self.rel is None else self.rel)

    def hits(self, gains: Array) -> Truth:
        """Which ranks down to the cutoff hold a relevant document."""
        return self.relevant(self.top(gains))

    def known(self, ideal: Array) -> Any:
        """How many relevant documents the topic has."""
        return np.count_nonzero(self.relevant(ideal), axis=-1)

    def check(self, gains: Array) -> None:
        if self.rel is not None:
            return
        fractional = gains[gains != np.floor(gains)]
        if fractional.size:
            raise MeasureError(
                f"{self} counts relevant documents, and there is a gain of {fractional.flat[0]:g}; "
                f"name the lowest gain of a relevant document, e.g. {type(self).example(0.5)}"
            )

    @classmethod
    def example(cls, rel: float) -> str:
        """How to write this measure with a least relevant gain."""
        behind = "" if cls.at == "cutoff" and not cls.needs_cutoff else "@10" if cls.at == "cutoff" else "@0.1"
        return f"{cls.name}(rel={rel:g}){behind}"


class Counted(Binary, Linear):
    """A measure that counts the relevant documents of the first k ranks, each rank alike."""

    needs_cutoff: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = SUMMED

    def credit(self, gains: Array) -> Array:
        return self.relevant(gains).astype(np.float64)

    def weights(self, depth: int) -> Array:
        return np.ones(depth)


class P(Counted):
    """Precision: the share of the first k ranks that hold a relevant document.

    Formula: P@k = |{i ≤ k : g_i ≥ rel}| / k.
    Use: How much of the first page is relevant, when every rank of it counts the same.
    Traps: A topic with fewer than k relevant documents cannot reach 1. Ranks that a short ranking leaves empty
    count as not relevant. With fractional gains the result depends on rel, so it must be given.
    """

    name: ClassVar[str] = "P"
    other_names: ClassVar[tuple[str, ...]] = ("Precision", "precision")
    uncut: ClassVar = {"precision": "SetP"}
    trec_names: ClassVar[tuple[str, ...]] = ("P",)
    has_residual: ClassVar[bool] = True

    def total(self, credit: Array, ideal: Array, weights: Array | None = None) -> Array:
        return super().total(credit, ideal, weights) / (self.cutoff or 1)

    def residual_total(self, unjudged: Array, ideal: Array, weights: Array | None = None) -> Array:
        return super().residual_total(unjudged, ideal, weights) / (self.cutoff or 1)


class Recall(Counted):
    """Recall: the share of the topic's relevant documents that are in the first k ranks.

    Formula: R@k = |{i ≤ k : g_i ≥ rel}| / R, R the number of the topic's judged documents with a gain of rel or
    more.
    Use: How many of the known relevant documents a first stage passes on to a reranker.
    Traps: R counts judged documents only: with a shallow pool, recall is too high for all systems, and most of all for
    those that were pooled. A topic with R > k cannot reach 1.
    """

    name: ClassVar[str] = "R"
    other_names: ClassVar[tuple[str, ...]] = ("Recall",)
    uncut: ClassVar = {"recall": "SetR"}
    trec_names: ClassVar[tuple[str, ...]] = ("recall",)

    def total(self, credit: Array, ideal: Array, weights: Array | None = None) -> Array:
        return ratio(super().total(credit, ideal, weights), self.known(ideal))


class Success(Binary):
    """1 where a relevant document is in the first k ranks, else 0; without a cutoff, anywhere in the ranking.

    Formula: Success@k = 1 if some i ≤ k has g_i ≥ rel, else 0.
    Use: Tasks with one answer, where the user needs any one good document in the first k.
    Traps: A topic has only two values, so a significant difference takes many more topics than with a graded measure.
    """

    name: ClassVar[str] = "Success"
    other_names: ClassVar[tuple[str, ...]] = ("hit_rate",)
    trec_names: ClassVar[tuple[str, ...]] = ("success",)
    has_residual: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = USUAL

    def __call__(self, gains: Array, ideal: Array) -> Array:
        return np.asarray(self.hits(gains).any(axis=-1), dtype=np.float64)

    def residual(self, gains: Array, ideal: Array) -> Array:
        top = self.top(gains)
        open_end = top.shape[-1] < (self.cutoff or 0)
        possible = np.isnan(top).any(axis=-1) | open_end
        return np.where(possible, 1 - self(gains, ideal), 0.0)


class RR(Binary):
    """Reciprocal rank: 1 / the rank of the first relevant document, 0 without one.

    Formula: RR = 1 / min{i : g_i ≥ rel}; with a cutoff only ranks down to it count.
    Use: Known-item search and question answering: how high the first relevant document is ranked.
    Traps: Nothing after the first relevant document counts. Falling from rank 1 to 2 costs as much as falling from 2 to
    the end, so its mean depends on few ranks. An unjudged document above the first relevant one counts as not relevant;
    the residual says how much that could change.
    """

    name: ClassVar[str] = "RR"
    source: ClassVar[str] = "Kantor & Voorhees, Information Retrieval 2, 2000"
    other_names: ClassVar[tuple[str, ...]] = ("MRR",)
    trec_names: ClassVar[tuple[str, ...]] = ("recip_rank",)
    has_residual: ClassVar[bool] = True
    residual_needs_cutoff: ClassVar[bool] = False
    laws: ClassVar[frozenset[str]] = USUAL

    def __call__(self, gains: Array, ideal: Array) -> Array:
        return self._reciprocal(self.hits(gains))

    @staticmethod
    def _reciprocal(hit: Truth) -> Array:
        if not hit.shape[-1]:
            return np.zeros(hit.shape[:-1])
        value: Array = hit.any(axis=-1) / (1.0 + hit.argmax(axis=-1))
        return value

    def residual(self, gains: Array, ideal: Array) -> Array:
        top = self.top(gains)
        possible = self.relevant(top) | np.isnan(top)
        if self.cutoff is None or top.shape[-1] < self.cutoff:  # the rank behind the end may hold one
            possible = np.concatenate([possible, np.ones((*top.shape[:-1], 1), dtype=bool)], axis=-1)
        return self._reciprocal(possible) - self(gains, ideal)


class Rprec(Binary):
    """Precision at rank R, the number of relevant documents the topic has.

    Formula: Rprec = |{i ≤ R : g_i ≥ rel}| / R, R the topic's number of relevant documents.
    Use: One cutoff that fits each topic: precision and recall are equal there.
    Traps: R counts judged documents, so a deeper pool moves the cutoff of every topic. Topics with R = 1 ask only
    for rank 1.
    """

    name: ClassVar[str] = "Rprec"
    other_names: ClassVar[tuple[str, ...]] = ("RPrec", "r-precision")
    trec_names: ClassVar[tuple[str, ...]] = ("Rprec",)
    takes_cutoff: ClassVar[bool] = False
    laws: ClassVar[frozenset[str]] = USUAL

    def __call__(self, gains: Array, ideal: Array) -> Array:
        known = np.asarray(self.known(ideal))
        deepest = int(known.max(initial=0))
        top = gains[..., :deepest]
        within = np.arange(top.shape[-1]) < known[..., None]
        return ratio(np.count_nonzero(self.relevant(top) & within, axis=-1), known)


@dataclass(frozen=True, kw_only=True)
class AP(Binary):
    """Average precision: Σ of the precision at the rank of each relevant document found, divided by all relevant.

    Formula: AP = (1/R) Σ_{i : g_i ≥ rel} P@i; a cutoff ends the sum, not R.
    Use: The classic summary of a whole ranking with binary relevance: the mean precision at the ranks of the relevant
    documents.
    Traps: Unjudged documents count as not relevant, so a system unlike those that were pooled is measured too low;
    look at Judged@k. AP(rel=…) under different thresholds are different measures. Cut at k, a topic with R > k
    cannot reach 1; NTCIR and many recommender tools divide by min(k, R): AP(norm='min')@k.
    """

    norm: str = setting("all", "what the sum is divided by: all R, or min(k, R)", choices=("all", "min"))

    name: ClassVar[str] = "AP"
    other_names: ClassVar[tuple[str, ...]] = ("MAP",)
    trec_names: ClassVar[tuple[str, ...]] = ("map", "map_cut")
    laws: ClassVar[frozenset[str]] = SUMMED | {"best_is_one_uncut"}

    def __call__(self, gains: Array, ideal: Array) -> Array:
        hits = keep(self.hits(gains), self.cutoff)
        known = cut_known(self.known(ideal), self.norm, self.cutoff)
        return ratio(weighted_sum(hits.inverse_rank, hits.number.astype(np.float64), self.cutoff), known)


class GMAP(AP):
    """The geometric mean of AP over topics; values below 0.00001 count as 0.00001.

    Formula: exp(mean over topics of ln max(AP, 0.00001)); the value of a topic is max(AP, 0.00001).
    Use: Robust retrieval: a topic that goes from 0.01 to 0.02 weighs as much as one that goes from 0.4 to 0.8.
    Traps: Topics where nothing is found decide most of it. Compare two systems by the ratio of their values, not the
    difference.
    """

    name: ClassVar[str] = "GMAP"
    source: ClassVar[str] = "Robertson, CIKM 2006"
    other_names: ClassVar[tuple[str, ...]] = ()
    trec_names: ClassVar[tuple[str, ...]] = ("gm_map",)
    over_topics: ClassVar[str] = "geometric"
    laws: ClassVar[frozenset[str]] = frozenset({"nonnegative", "monotone_append", "unjudged_is_zero", "swap_up"})

    @property
    def limits(self) -> tuple[float, float]:
        return 0.0, 1.0

    def __call__(self, gains: Array, ideal: Array) -> Array:
        return np.maximum(super().__call__(gains, ideal), GEOMETRIC_FLOOR)


class Bpref(Binary):
    """Binary preference: (1/R) Σ over the relevant documents found of 1 − min(n, R) / min(N, R).

    n is the number of judged non-relevant documents above the relevant one, N their number in the topic; unjudged
    documents do not count.

    Formula: bpref = (1/R) Σ_{relevant found} (1 − min(n, R) / min(N, R)), n the judged non-relevant documents above the
    relevant one, N all of the topic.
    Use: Incomplete judgments: it looks only at the order of judged documents.
    Traps: It needs documents judged not relevant: with qrels that hold only relevant documents it is recall. It
    ignores the ranks below, so its value cannot be compared with AP's.
    """

    name: ClassVar[str] = "Bpref"
    source: ClassVar[str] = "Buckley & Voorhees, SIGIR 2004"
    other_names: ClassVar[tuple[str, ...]] = ("BPref",)
    trec_names: ClassVar[tuple[str, ...]] = ("bpref",)
    takes_cutoff: ClassVar[bool] = False
    laws: ClassVar[frozenset[str]] = USUAL - {"unjudged_is_zero"} | {"condense_invariant"}

    def __call__(self, gains: Array, ideal: Array) -> Array:
        known = np.asarray(self.known(ideal))
        against = np.minimum(np.count_nonzero(~np.isnan(ideal), axis=-1) - known, known)
        judged = keep(~np.isnan(gains), None)
        hit = self.relevant(judged.values(gains, np.nan))
        above = judged.number - np.cumsum(hit, axis=-1)  # at a relevant document, those that are not
        lost = np.where(hit, np.minimum(above, known[..., None]), 0.0)
        kept = np.count_nonzero(hit, axis=-1) - ratio(added_up(lost), against)
        return ratio(kept, known)


class InfAP(Binary):
    """Inferred average precision: AP with each precision estimated from a random sample of the pool that was judged.

    A grade below 0 is a pooled document that was not judged. Above a relevant document at rank k, the share
    (pooled / (k − 1)) of the ranks was in the pool, and of those (relevant + ε) / (judged + 2ε), ε = 0.00001, are taken
    as relevant.

    Formula: infAP = (1/R) Σ_{relevant at k} [1/k + ((k − 1)/k) · (pooled above / (k − 1)) · (relevant above + ε) /
    (judged above + 2ε)], ε = 0.00001.
    Use: Judgments that are a random sample of the pool: AP estimated without bias from them.
    Traps: The estimate holds for a random sample, not for a shallow pool. Without grades below 0 the judged documents
    are the pool.
    """

    name: ClassVar[str] = "infAP"
    source: ClassVar[str] = "Yilmaz & Aslam, CIKM 2006"
    trec_names: ClassVar[tuple[str, ...]] = ("infAP",)
    takes_cutoff: ClassVar[bool] = False
    sees_pool: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = frozenset({"range01", "monotone_append", "zero_without_relevant"})

    def __call__(self, gains: Array, ideal: Array) -> Array:
        small = 0.00001
        pooled = keep(~np.isnan(gains), None)
        grade = pooled.values(gains, np.nan)
        hit = self.relevant(grade)
        relevant, judged = (np.cumsum(one, axis=-1) - 1.0 for one in (hit, grade >= 0))  # above a relevant document
        precision = 1 + (pooled.number - 1.0) * (relevant + small) / (judged + 2 * small)
        return ratio(weighted_sum(np.where(hit, precision, 0.0), pooled.inverse_rank), self.known(ideal))


class Accuracy(Binary):
    """Of the pairs of a relevant and a non-relevant retrieved document, the share ranked in the right order.

    Formula: 1 − Σ_{relevant i ≤ k} |others above i| / (n_rel · n_other), over the first k retrieved documents.
    Use: To compare how well a ranker orders training, validation and test data: it is the area under the ROC curve.
    Traps: Unjudged documents count as not relevant. It looks at retrieved documents only: a topic without a relevant
    one among them scores 0 here and is excluded by ir_measures; a topic with only relevant ones scores 1.
    """

    name: ClassVar[str] = "Accuracy"
    source: ClassVar[str] = "MacAvaney, Macdonald & Ounis, ECIR 2022 (ir_measures)"
    needs_lengths: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = frozenset({"range01", "unjudged_is_zero", "zero_without_relevant"})

    def __call__(self, gains: Array, ideal: Array, lengths: Any = None) -> Array:
        looked = given_lengths(self, lengths)
        hits = keep(self.hits(gains), self.cutoff)
        rank = np.where(hits.there, hits.ranks() + 1.0 - hits.number, 0.0)  # others above each
        relevant = np.count_nonzero(hits.there, axis=-1)
        right = 1 - ratio(added_up(rank), relevant * (looked - relevant))
        return np.where(relevant > 0, right, 0.0)


@dataclass(frozen=True, kw_only=True)
class IPrec(Binary):
    """Interpolated precision: the best precision at any rank where the recall is `recall` or more.

    Formula: IPrec@ρ = max{P@i : hits at i ≥ ⌊ρR + 0.9⌋}, 0 where so many hits are never reached.
    Use: Precision–recall curves: the eleven levels 0, 0.1, …, 1 make trec_eval's curve.
    Traps: The recall to reach is rounded to a number of documents as in trec_eval 9 and so in ir_measures; version 10
    rounds to the nearest. What follows the @ is a recall from 0 to 1, not a rank. At high recall it is 0 for every
    system whose ranking ends early.
    """

    recall: float | None = setting(None, "the recall to reach, from 0 to 1", least=0, most=1)

    name: ClassVar[str] = "IPrec"
    source: ClassVar[str] = "Salton & McGill, Introduction to Modern Information Retrieval, 1983"
    trec_names: ClassVar[tuple[str, ...]] = ("iprec_at_recall",)
    at: ClassVar[str] = "recall"
    takes_cutoff: ClassVar[bool] = False
    laws: ClassVar[frozenset[str]] = USUAL

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.recall is None:
            raise MeasureError("IPrec needs the recall to reach; write IPrec@0.1")

    def __call__(self, gains: Array, ideal: Array) -> Array:
        needed = np.floor((self.recall or 0) * np.asarray(self.known(ideal)) + 0.9)
        return best_precision(self.hits(gains), needed)


def best_precision(hit: Truth, needed: Any) -> Array:
    """The best precision at any rank with as many hits as needed; 0 where there are never so many."""
    hits = keep(hit, None)
    enough = hits.there & (hits.number >= np.asarray(needed)[..., None])
    best: Array = np.max(hits.number / (hits.ranks() + 1.0), axis=-1, initial=0.0, where=enough)
    return best
