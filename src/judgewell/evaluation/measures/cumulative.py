"""Measures that add up gains, discounted by rank or not: CG, DCG, nDCG, and the expectations of predicted relevance."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from judgewell.errors import MeasureError
from judgewell.evaluation.measures.base import (
    SUMMED,
    USUAL,
    Linear,
    exp2_less_one,
    largest_of,
    ratio,
    refuse_negative,
    refuse_outside_unit,
    setting,
    unjudged_as,
    unjudged_as_zero,
)
from judgewell.evaluation.measures.ranks import Array
from judgewell.values import dataclass

LARGEST_EXPONENT = 1000.0  # 2^gain stays finite, and so do sums of thousands of them


class CG(Linear):
    """Cumulative gain: Σ g_i, unjudged documents counting 0.

    Formula: CG@k = Σ_{i≤k} g_i.
    Use: The total gain down to a rank, whatever the order.
    Traps: Not normalised: topics with many good documents dominate its mean. Gains below 0 lower it, as they should
    where a document costs the reader something.
    """

    name: ClassVar[str] = "CG"
    source: ClassVar[str] = "Järvelin & Kekäläinen, ACM TOIS 20(4), 2002"
    has_residual: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = SUMMED - {"range01"} | {"nonnegative"}

    def credit(self, gains: Array) -> Array:
        return unjudged_as(0.0, gains)

    def weights(self, depth: int) -> Array:
        return np.ones(depth)

    def top_credit(self, ideal: Array) -> float | Array:
        return float(self.credit(np.array(largest_of(ideal) if self.largest is None else self.largest)))


@dataclass(frozen=True, kw_only=True)
class DCG(CG):
    """Discounted cumulative gain: Σ g_i / log2(i + 1), unjudged documents counting 0.

    `gain="exp2"` uses 2^g − 1 instead of g; `discount="zipf"` divides by i instead of log2(i + 1), and `discount="jk"`
    by max(1, log_b(i)), Järvelin and Kekäläinen's own with `base` b.

    Formula: DCG@k = Σ_{i≤k} g_i / log2(i + 1).
    Use: The expected gain of readers, fewer of whom continue at each rank, in the unit of the gains.
    Traps: Not normalised: topics with many good documents dominate its mean. Järvelin and Kekäläinen's own discount,
    discount='jk', leaves the first b ranks undiscounted; log2(i + 1) is usual since. gain="exp2" is
    meant for grades: real-valued gains already say how much better a document is.
    """

    gain: str = setting("linear", "the gain as given, or 2^gain − 1", choices=("linear", "exp2"))
    discount: str = setting(
        "log2",
        "what rank i is divided by: log2(i + 1), i (zipf), or max(1, log_b i) (jk)",
        choices=("log2", "zipf", "jk"),
    )
    base: float = setting(2.0, "the base b of discount='jk': ranks below it are not discounted", least=1, ends=False)
    gains: tuple[tuple[float, float], ...] | None = setting(None, "the gain of each grade, {0:0,1:1,2:3}; others stay")

    name: ClassVar[str] = "DCG"
    other_settings: ClassVar = {("dcg", "log2"): {"gain": "linear"}, ("dcg", "exp-log2"): {"gain": "exp2"}}
    shorthands: ClassVar = {"dcg_burges": {"gain": "exp2"}}

    def credit(self, gains: Array) -> Array:
        return self._raised(unjudged_as(0.0, self.given(gains)))

    def given(self, gains: Array) -> Array:
        """The gains that grades are given, where `gains` says so."""
        if self.gains is None:
            return gains
        grades = [gains == grade for grade, _ in self.gains]
        return np.select(grades, [gain for _, gain in self.gains], gains)

    def _raised(self, credit: Array) -> Array:
        return exp2_less_one(credit) if self.gain == "exp2" else credit

    def weights(self, depth: int) -> Array:
        rank = np.arange(1, depth + 1)
        if self.discount == "jk":
            return 1 / np.maximum(1.0, np.log(rank) / math.log(self.base))
        return 1 / (np.log2(rank + 1) if self.discount == "log2" else rank)

    def check(self, gains: Array) -> None:
        highest = float(np.max(self.given(gains), initial=0.0))
        if self.gain == "exp2" and highest > LARGEST_EXPONENT:
            raise MeasureError(
                f"{self} raises 2 to the gain, and there is a gain of {highest:g} (at most {LARGEST_EXPONENT:g}); "
                "use gain='linear' or rescale the gains"
            )


class nDCG(DCG):
    """DCG divided by the DCG of the topic's best possible ranking, all judged documents cut at k; 0 where that is 0.

    Formula: nDCG@k = DCG@k of the ranking / DCG@k of the topic's judged gains in descending order.
    Use: The usual graded measure, and the natural first choice for real-valued gains: between 0 and 1, and
    unchanged when all gains are multiplied by a constant.
    Traps: The ideal ranking holds judged documents only. Judging more documents can lower the value of every
    system. Linear and exp2 gains give different numbers and sometimes different orders; a result should name which.
    A constant added to all gains (a scale that begins at 1) changes it.
    """

    name: ClassVar[str] = "nDCG"
    other_names: ClassVar[tuple[str, ...]] = ("NDCG",)
    shorthands: ClassVar = {"ndcg_burges": {"gain": "exp2"}}
    trec_names: ClassVar[tuple[str, ...]] = ("ndcg", "ndcg_cut")
    has_residual: ClassVar[bool] = False  # judging a document changes the best possible ranking too
    laws: ClassVar[frozenset[str]] = USUAL | {"scale_invariant"}  # with linear gains

    def credit(self, gains: Array) -> Array:
        return self._raised(unjudged_as_zero(self.given(gains)))

    def total(self, credit: Array, ideal: Array, weights: Array | None = None) -> Array:
        best = self.credit(self.top(ideal)) if self.gains is None else -np.sort(-self.credit(ideal), axis=-1)
        return ratio(super().total(credit, ideal, weights), super().total(best, ideal))

    def check(self, gains: Array) -> None:
        super().check(gains)
        refuse_negative(self, self.given(gains))


class ExpectedRel(CG):
    """The expected number of relevant documents when each gain is the probability that its document is relevant: Σ p_i.

    Predicted relevance gives such gains; the measure is then linear in them, so it is the exact expectation.

    Formula: Σ_{i≤k} p_i, p_i the gain as a probability.
    Use: Gains that are probabilities of relevance, as predicted relevance gives them: how many of the first k a
    random user would call relevant.
    Traps: Gains must lie between 0 and 1 and be probabilities: dividing grades by the largest grade does not make
    them so.
    """

    name: ClassVar[str] = "ExpectedRel"
    source: ClassVar[str] = "Demeester et al., Information Retrieval Journal 2015"

    def credit(self, gains: Array) -> Array:
        return unjudged_as_zero(gains)

    def top_credit(self, ideal: Array) -> float | Array:
        return 1.0

    def check(self, gains: Array) -> None:
        refuse_outside_unit(self, gains)


class ExpectedP(ExpectedRel):
    """The expected precision at k when each gain is the probability that its document is relevant: Σ p_i / k.

    Formula: Σ_{i≤k} p_i / k.
    Use: Precision without a threshold: the share of the first k that a random user is expected to call relevant.
    Traps: Gains must be probabilities, from 0 to 1. Unjudged documents count 0, which is lower than their expected
    value.
    """

    name: ClassVar[str] = "ExpectedP"
    needs_cutoff: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = ExpectedRel.laws | {"range01"}

    def total(self, credit: Array, ideal: Array, weights: Array | None = None) -> Array:
        return super().total(credit, ideal, weights) / (self.cutoff or 1)

    def residual_total(self, unjudged: Array, ideal: Array, weights: Array | None = None) -> Array:
        return super().residual_total(unjudged, ideal, weights) / (self.cutoff or 1)
