"""Measures of topics with several intents (subtopics): novelty and diversity.

They are called on gains by intent: `gains` is (…, intents, ranks) and `ideal` holds all judged documents as
(…, intents, documents), their ids descending; both are NaN where a document is not judged for an intent. A document is
relevant to an intent from the gain `rel` on. Intents without a relevant document do not count; the others count alike.
Values are those of ndeval, the tool of TREC's Web tracks.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from judgewell.evaluation.measures.base import ratio, setting
from judgewell.evaluation.measures.binary import AP, Binary
from judgewell.evaluation.measures.ranks import Array, Truth
from judgewell.values import dataclass

WEB_TRACK = "Clarke, Craswell, Soboroff & Ashkan, WSDM 2011 (ndeval)"


class ByIntent(Binary):
    """A measure of a ranking by the intents of its topic."""

    by_intent: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = frozenset({"range01", "zero_without_relevant"})

    def there(self, ideal: Array) -> Array:
        """How many intents have a relevant document."""
        return np.asarray(self.relevant(ideal).any(axis=-1).sum(axis=-1), dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class Novelty(ByIntent):
    """A measure that credits a document with (1 − α)^c for each of its intents, c the documents above it with that one.

    A subclass gives the weight of each rank.
    """

    alpha: float = setting(0.5, "the share of the gain that an intent loses with each document for it", least=0, most=1)

    normalised: ClassVar[bool] = False

    @property
    def limits(self) -> tuple[float, float]:
        """Divided by the greedy ranking's value at most 1 / (1 − (1 − 1/k)^k), e/(e − 1) without a cutoff: so far the
        best k documents can be above the greedy ones (Nemhauser, Wolsey & Fisher, 1978), and weights fall with rank."""
        if not self.normalised:
            return super().limits
        k = self.cutoff
        return 0.0, 1 / (1 - (math.exp(-1) if k is None else (1 - 1 / k) ** k))

    def rank_weights(self, depth: int) -> Array:
        raise NotImplementedError

    def best_possible(self, depth: int) -> float:
        """Σ over the ranks for an intent that every document has."""
        return float(np.sum(self.rank_weights(depth) * np.power(1 - self.alpha, np.arange(depth, dtype=np.float64))))

    def summed(self, hit: Truth) -> Array:
        above: Array = np.cumsum(hit, axis=-1) - hit
        credit = np.sum(np.power(1 - self.alpha, above), axis=-2, where=hit)
        total: Array = (credit * self.rank_weights(credit.shape[-1])).sum(axis=-1)
        return total

    def __call__(self, gains: Array, ideal: Array) -> Array:
        top = self.relevant(self.top(gains))
        if self.normalised:
            depth = ideal.shape[-1] if self.cutoff is None else min(self.cutoff, ideal.shape[-1])
            return ratio(self.summed(top), self.summed(self.greedy(self.relevant(ideal), depth)))
        deepest = self.cutoff if self.cutoff is not None else top.shape[-1]
        return ratio(self.summed(top), self.there(ideal) * self.best_possible(deepest))

    def greedy(self, hit: Truth, depth: int) -> Truth:
        """The intents of the documents of the ideal ranking: each rank takes what adds most, of equals the first."""
        *lead, intents, documents = hit.shape
        rest = hit.reshape(math.prod(lead), intents, documents)
        chosen = np.zeros((len(rest), intents, depth), dtype=bool)
        weights = np.ones((len(rest), intents))
        taken = np.zeros((len(rest), documents), dtype=bool)
        rows = np.arange(len(rest))
        for rank in range(depth if documents else 0):
            gain = np.where(taken, -1.0, np.einsum("ri,rid->rd", weights, rest.astype(np.float64)))
            best = gain.argmax(axis=-1)
            chosen[..., rank] = rest[rows, :, best]
            taken[rows, best] = True
            weights *= np.where(chosen[..., rank], 1 - self.alpha, 1.0)
        return chosen.reshape(*lead, intents, depth)


class AlphaDCG(Novelty):
    """α-DCG: credit for intents that the documents above did not cover, discounted by log2(i + 1).

    Formula: α-DCG@k = Σ_{i≤k} Σ_{intents of i} (1 − α)^c / log2(i + 1), c the documents above with the intent, divided
    by the value of a list whose documents all have every intent.
    Use: Rankings that should serve several meanings of a query early.
    Traps: The divisor does not depend on the collection, so few topics can reach 1; alpha_nDCG divides by the best
    ranking there is. Gains by intent are needed: qrels whose second field is the intent.
    """

    name: ClassVar[str] = "alpha_DCG"
    other_names: ClassVar[tuple[str, ...]] = ("α_DCG",)
    source: ClassVar[str] = "Clarke et al., SIGIR 2008"
    needs_cutoff: ClassVar[bool] = True

    def rank_weights(self, depth: int) -> Array:
        return 1 / np.log2(np.arange(2, depth + 2))


class AlphaNDCG(AlphaDCG):
    """α-nDCG: α-DCG divided by the α-DCG of the ideal ranking, which is built greedily.

    Formula: α-nDCG@k = α-DCG@k of the ranking / α-DCG@k of the ideal ranking.
    Use: The usual measure of diversity: rankings that should serve several meanings of a query early.
    Traps: The ideal ranking is hard to compute; a greedy one is used instead, ties broken by document id, as in ndeval.
    A ranking can beat it and score above 1, at most 1 / (1 − (1 − 1/k)^k): 1.33 at k = 2, 1.58 for large k.
    """

    name: ClassVar[str] = "alpha_nDCG"
    other_names: ClassVar[tuple[str, ...]] = ("α_nDCG",)
    normalised: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = frozenset({"nonnegative", "zero_without_relevant"})  # greedy can be beaten


class ErrIA(Novelty):
    """Intent-aware ERR, for documents that are relevant to an intent or not.

    Formula: ERR-IA@k = Σ_{i≤k} (1/i) Σ_{intents of i} (1 − α)^c, c the documents above with the intent, divided by the
    value of a list whose documents all have every intent.
    Use: A user with one of several intents who stops when satisfied.
    Traps: With binary relevance a relevant document satisfies with α = 1/2. ndeval does not divide at k = 1.
    """

    name: ClassVar[str] = "ERR_IA"
    source: ClassVar[str] = "Chapelle, Metzler, Zhang & Grinspan, CIKM 2009; " + WEB_TRACK
    needs_cutoff: ClassVar[bool] = True

    def rank_weights(self, depth: int) -> Array:
        return 1 / np.arange(1.0, depth + 1)


class NErrIA(ErrIA):
    """ERR-IA divided by the ERR-IA of the ideal ranking, which is built greedily.

    Formula: nERR-IA@k = ERR-IA@k of the ranking / ERR-IA@k of the ideal ranking.
    Use: ERR-IA on a scale on which every topic can get close to 1.
    Traps: It hardly changes near the top: after one document for each intent little is left to gain.
    """

    name: ClassVar[str] = "nERR_IA"
    normalised: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = frozenset({"nonnegative", "zero_without_relevant"})


@dataclass(frozen=True, kw_only=True)
class NRBP(Novelty):
    """Novelty- and rank-biased precision: credit for new intents, weighted as in RBP.

    Formula: NRBP = (1 − (1 − α) β) / S · Σ_i β^(i−1) Σ_{intents of i} (1 − α)^c, S the number of intents, c the
    documents above with the intent.
    Use: α-DCG\'s credit for a user who continues with probability β.
    Traps: Only an endless list of documents with every intent reaches 1; nNRBP divides by the ideal ranking\'s value.
    """

    beta: float = setting(0.5, "the probability of going on to the next rank", least=0, most=1, ends=False)

    name: ClassVar[str] = "NRBP"
    source: ClassVar[str] = "Clarke, Kolla & Vechtomova, ICTIR 2009"
    takes_cutoff: ClassVar[bool] = False

    def rank_weights(self, depth: int) -> Array:
        return np.power(self.beta, np.arange(depth, dtype=np.float64))

    def best_possible(self, depth: int) -> float:
        return 1 / (1 - (1 - self.alpha) * self.beta)


class NNRBP(NRBP):
    """NRBP divided by the NRBP of the ideal ranking, which is built greedily.

    Formula: nNRBP = NRBP of the ranking / NRBP of the ideal ranking.
    Use: NRBP on a scale on which every topic can get close to 1.
    Traps: The ideal ranking is the greedy one, ties broken by document id, as in ndeval.
    """

    name: ClassVar[str] = "nNRBP"
    normalised: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = frozenset({"nonnegative", "zero_without_relevant"})


class ApIA(ByIntent):
    """Intent-aware average precision: the mean of AP over the intents that have a relevant document.

    Formula: AP-IA = (1/S) Σ_{intents} AP of the ranking for the intent.
    Use: How well a ranking serves each intent on its own.
    Traps: It does not reward diversity: a ranking that serves one intent perfectly may beat one that serves all.
    """

    name: ClassVar[str] = "AP_IA"
    other_names: ClassVar[tuple[str, ...]] = ("MAP_IA",)
    source: ClassVar[str] = "Agrawal, Gollapudi, Halverson & Ieong, WSDM 2009"

    def __call__(self, gains: Array, ideal: Array) -> Array:
        each = AP(rel=self.rel, cutoff=self.cutoff)(gains, ideal)
        return ratio(each.sum(axis=-1), self.there(ideal))


class PIA(ByIntent):
    """Intent-aware precision: the mean over the intents of the share of the first k ranks that are relevant to it.

    Formula: P-IA@k = (1/(k S)) Σ_{i≤k} |intents of i|.
    Use: How much of the first page serves the intents, when every rank of it counts the same.
    Traps: It does not reward diversity, and intents with few relevant documents keep it low.
    """

    name: ClassVar[str] = "P_IA"
    source: ClassVar[str] = "Agrawal, Gollapudi, Halverson & Ieong, WSDM 2009"
    needs_cutoff: ClassVar[bool] = True

    def __call__(self, gains: Array, ideal: Array) -> Array:
        hits = self.hits(gains).sum(axis=(-1, -2))
        return ratio(hits, self.there(ideal) * (self.cutoff or 1))


class StRecall(ByIntent):
    """Subtopic recall: the share of the intents that a document of the first k ranks is relevant to.

    Formula: StRecall@k = |intents of the first k documents| / S.
    Use: How many meanings of a query the first page covers.
    Traps: The order within the first k does not matter. S counts intents with a relevant judged document only.
    """

    name: ClassVar[str] = "StRecall"
    source: ClassVar[str] = "Zhai, Cohen & Lafferty, SIGIR 2003"
    laws: ClassVar[frozenset[str]] = frozenset({"range01", "monotone_append", "zero_without_relevant"})

    def __call__(self, gains: Array, ideal: Array) -> Array:
        return ratio(self.hits(gains).any(axis=-1).sum(axis=-1), self.there(ideal))
