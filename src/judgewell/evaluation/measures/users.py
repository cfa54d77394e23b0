"""Measures of a user who continues to the next rank with some probability (C/W/L): INST, INSQ, BPM, SDCG, NERR.

The value is the expected gain of a document that is looked at: Σ W_i g_i, W_i = Π_{j<i} C_j / Σ_k Π_{j<k} C_j, C_j the
chance of going on behind rank j.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from judgewell.errors import MeasureError
from judgewell.evaluation.measures.base import (
    SUMMED,
    Linear,
    Measure,
    ratio,
    refuse_outside_unit,
    setting,
    unjudged_as,
    unjudged_as_zero,
)
from judgewell.evaluation.measures.ranks import Array, weighted_sum
from judgewell.values import dataclass

LONGEST = 1000  # ranks that cwl_eval and ir_measures look at
NEARLY = "Azzopardi, Mackenzie & Moffat, ICTIR 2021"
LAWS = frozenset({"range01", "unjudged_is_zero", "zero_without_relevant"})


@dataclass(frozen=True, kw_only=True)
class Scaled(Measure):
    """A measure of gains from 0 to 1, or with `max_rel` of grades that are brought there.

    With `max_rel` the list ends at rank 1000, as in cwl_eval and so in ir_measures; without it, it has no end.
    """

    min_rel: float = setting(0.0, "the grade whose gain is 0, with max_rel")
    max_rel: float | None = setting(None, "the best grade; without it gains must lie between 0 and 1")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_rel is not None and self.min_rel >= self.max_rel:
            raise MeasureError(f"{self.name}: min_rel={self.min_rel:g} is not below max_rel={self.max_rel:g}")

    @property
    def end(self) -> float:
        """The last rank there is."""
        return math.inf if self.max_rel is None else LONGEST

    def scaled(self, gains: Array) -> Array:
        """The gains between 0 and 1, NaN where unjudged."""
        if self.max_rel is None:
            return gains
        share: Array = np.clip((gains - self.min_rel) / (self.max_rel - self.min_rel), 0.0, 1.0)
        return share

    def check(self, gains: Array) -> None:
        if self.max_rel is None:
            refuse_outside_unit(self, gains)
        elif (highest := float(np.max(gains, initial=0.0))) > self.max_rel:
            raise MeasureError(f"{self}: there is a gain of {highest:g}, above max_rel; give the largest there can be")


class GoingOn(Scaled):
    """A measure defined by the chance of continuing; a subclass gives it for each rank, and where it changes behind
    the last one, the weights there."""

    laws: ClassVar[frozenset[str]] = LAWS

    def going_on(self, gain: Array) -> Array:
        """The chance of going on behind each rank."""
        raise NotImplementedError

    def behind(self, gain: Array) -> Any:
        """The weights of all ranks behind the last, where gains are 0, as multiples of the first of them: all alike."""
        return self.left(gain.shape[-1])

    def looked_at(self, gains: Array) -> Array:
        """The gains between 0 and 1 down to the cutoff and the list's end."""
        top = self.scaled(self.top(gains))
        return top if self.max_rel is None else top[..., :LONGEST]

    def reached(self, gain: Array) -> Array:
        """How likely each rank, and the one behind the last, is looked at."""
        seen = np.ones((*gain.shape[:-1], gain.shape[-1] + 1))
        np.cumprod(self.going_on(gain), axis=-1, out=seen[..., 1:])
        return seen

    def __call__(self, gains: Array, ideal: Array) -> Array:
        gain = unjudged_as_zero(self.looked_at(gains))
        seen = self.reached(gain)
        total = seen[..., :-1].sum(axis=-1) + seen[..., -1] * self.behind(gain)
        return ratio(weighted_sum(seen[..., :-1], gain), total)

    def left(self, depth: int) -> float:
        """How many ranks there are behind this one, down to the cutoff and the list's end."""
        last = self.end if self.cutoff is None else min(self.end, self.cutoff)
        return max(last - depth, 0)


@dataclass(frozen=True, kw_only=True)
class INST(GoingOn):
    """The expected rate of gain of a user who wants a total gain of T: Σ W_i g_i, for gains from 0 to 1.

    The probability of continuing after rank i is ((i − 1 + T + T_i) / (i + T + T_i))² with T_i = T − Σ_{j≤i} g_j. After
    the ranking's end gains are 0, and the weights there add up to y² ψ₁(y) times the next weight, y = depth + T +
    T_depth. The residual compares with a list whose unjudged documents, and all ranks after its end, have gain 1.

    Formula: INST = Σ_i W_i g_i, W_i = W_1 Π_{j<i} C_j.
    Use: A user who wants a total gain of T, and who is more likely to continue the more of it is missing.
    Traps: Gains must lie between 0 and 1, or max_rel says which grade is 1; with max_rel the list ends at rank 1000 as
    in cwl_eval and ir_measures, which makes values about 0.1 % larger. T is the expected need, not a cutoff. The order
    by descending gain is not always the best one, because a good document early also ends the search.
    """

    T: float = setting(1.0, "how much gain the user looks for; at least 0.5", least=0.5)

    name: ClassVar[str] = "INST"
    source: ClassVar[str] = "Moffat, Bailey, Scholer & Thomas, ACM TOIS 35(3), 2017"
    has_residual: ClassVar[bool] = True
    residual_needs_cutoff: ClassVar[bool] = False
    laws: ClassVar[frozenset[str]] = LAWS | {"monotone_append"}

    def going_on(self, gain: Array) -> Array:
        left = np.arange(gain.shape[-1]) + 2 * self.T - np.cumsum(gain, axis=-1)
        return np.square(left / (left + 1))

    def behind(self, gain: Array) -> Any:
        y = gain.shape[-1] + 2 * self.T - gain.sum(axis=-1)
        return inverse_squares(y, self._rest(gain))

    def _rest(self, gain: Array) -> float:
        return max(self.end - int(gain.shape[-1]), 0)  # gains behind a cutoff are 0, but the user goes on there

    def residual(self, gains: Array, ideal: Array) -> Array:
        gain = unjudged_as(1.0, self.looked_at(gains))
        seen = self.reached(gain)
        left = gain.shape[-1] - 1 + 2 * self.T - gain.sum(axis=-1)
        on = np.square(left / (left + 1))  # gains of 1 keep the chance of going on as it is
        behind = seen[..., -1] * (1 - on ** self._rest(gain)) / (1 - on)
        most: Array = (weighted_sum(seen[..., :-1], gain) + behind) / (seen[..., :-1].sum(axis=-1) + behind)
        return np.subtract(most, self(gains, ideal))


@dataclass(frozen=True, kw_only=True)
class INSQ(Scaled, Linear):
    """The expected rate of gain of a user whose probability of continuing grows with rank and T, whatever the gains.

    Formula: INSQ = Σ_i W_i g_i, W_i ∝ 1 / (i + 2T − 1)².
    Use: A user who wants a total gain of about T and does not know the gain so far.
    Traps: Gains must lie between 0 and 1, or max_rel says which grade is 1; with max_rel the list ends at rank 1000 as
    in cwl_eval and ir_measures. INST, its successor, takes the gain so far into account.
    """

    T: float = setting(1.0, "how much gain the user looks for", least=0, ends=False)

    name: ClassVar[str] = "INSQ"
    source: ClassVar[str] = "Moffat, Scholer & Thomas, ADCS 2012"
    has_residual: ClassVar[bool] = True
    residual_needs_cutoff: ClassVar[bool] = False
    laws: ClassVar[frozenset[str]] = SUMMED

    def credit(self, gains: Array) -> Array:
        return unjudged_as_zero(self.scaled(gains))

    def weights(self, depth: int) -> Array:
        rank = np.arange(depth, dtype=np.float64)
        inside = rank < self.end
        return inside / np.square(rank + 2 * self.T) / self._total(0)

    def _total(self, depth: int) -> float:
        y = np.array(depth + 2 * self.T)
        return float(inverse_squares(y, max(self.end - depth, 0)) / y**2)

    def tail(self, depth: int) -> float:
        return self._total(depth) / self._total(0)


@dataclass(frozen=True, kw_only=True)
class SDCG(Scaled, Linear):
    """Scaled DCG: DCG divided by the DCG of k documents of gain 1.

    Formula: SDCG@k = Σ_{i≤k} (g_i / log2(i + 1)) / Σ_{i≤k} (1 / log2(i + 1)).
    Use: DCG between 0 and 1 that does not depend on how many good documents the topic has.
    Traps: A topic with few good documents cannot reach 1. Gains must lie between 0 and 1, or max_rel says which is 1.
    """

    name: ClassVar[str] = "SDCG"
    source: ClassVar[str] = "Azzopardi, Thomas & Moffat, SIGIR 2019 (cwl_eval)"
    needs_cutoff: ClassVar[bool] = True
    has_residual: ClassVar[bool] = True
    other_settings: ClassVar = {("dcg", "log2"): {}}
    laws: ClassVar[frozenset[str]] = SUMMED

    def credit(self, gains: Array) -> Array:
        return unjudged_as_zero(self.scaled(gains))

    def weights(self, depth: int) -> Array:
        discount = 1 / np.log2(np.arange(2, max(depth, self.cutoff or 0) + 2))
        share: Array = discount[:depth] / discount[: self.cutoff].sum()
        return share


@dataclass(frozen=True, kw_only=True)
class BPM(GoingOn):
    """The Bejeweled player model: the mean gain of the documents down to where T is reached, or to rank k.

    Formula: BPM@k = (1/n) Σ_{i≤n} g_i, n the first rank with Σ_{j≤n} g_j ≥ T, at most k.
    Use: A user with a goal and limited patience.
    Traps: Gains must lie between 0 and 1, or max_rel says which grade is 1. It is the static model: T and k do not
    change during the search.
    """

    T: float = setting(1.0, "the gain at which the user stops", least=0, ends=False)

    name: ClassVar[str] = "BPM"
    source: ClassVar[str] = "Zhang, Liu, Li, Zhang, Xu & Ma, SIGIR 2017"
    needs_cutoff: ClassVar[bool] = True

    def going_on(self, gain: Array) -> Array:
        return (np.cumsum(gain, axis=-1) < self.T).astype(np.float64)


class NERR8(GoingOn):
    """Nearly ERR, equation 8: the user stops at a document with its gain as the probability, at the latest at rank k.

    Formula: NERR8@k = Σ_i W_i g_i, C_i = 1 − g_i for i < k.
    Use: A measure like ERR for which value and weights follow from one user model.
    Traps: It is not ERR. Gains are chances of stopping, from 0 to 1, or max_rel says which grade is 1.
    """

    name: ClassVar[str] = "NERR8"
    source: ClassVar[str] = NEARLY
    needs_cutoff: ClassVar[bool] = True

    def going_on(self, gain: Array) -> Array:
        return 1 - gain


class NERR9(GoingOn):
    """Nearly ERR, equation 9: as NERR8, and the probability of continuing also has ERR's discount i / (i + 1).

    Formula: NERR9@k = Σ_i W_i g_i, C_i = (i / (i + 1)) (1 − g_i) for i < k.
    Use: A measure like ERR for which value and weights follow from one user model.
    Traps: It is not ERR. Gains are chances of stopping, from 0 to 1, or max_rel says which grade is 1.
    """

    name: ClassVar[str] = "NERR9"
    source: ClassVar[str] = NEARLY
    needs_cutoff: ClassVar[bool] = True

    def going_on(self, gain: Array) -> Array:
        rank = np.arange(1.0, gain.shape[-1] + 1)
        chance: Array = rank / (rank + 1) * (1 - gain)
        return chance

    def behind(self, gain: Array) -> Any:
        depth = gain.shape[-1]
        rest = np.arange(depth + 1, depth + int(self.left(depth)) + 1)
        return float(((depth + 1) / rest).sum())


@dataclass(frozen=True, kw_only=True)
class NERR10(GoingOn):
    """Nearly ERR, equation 10: the user stops with probability g, and otherwise continues with probability p.

    Formula: NERR10 = Σ_i W_i g_i, C_i = p (1 − g_i).
    Use: RBP's patience and ERR's satisfaction in one user model.
    Traps: It is not ERR. Gains are chances of stopping, from 0 to 1, or max_rel says which grade is 1.
    """

    p: float = setting(0.9, "the probability of continuing if unsatisfied", least=0, most=1, ends=False)

    name: ClassVar[str] = "NERR10"
    source: ClassVar[str] = NEARLY

    def going_on(self, gain: Array) -> Array:
        return self.p * (1 - gain)

    def behind(self, gain: Array) -> Any:
        return (1 - self.p ** self.left(gain.shape[-1])) / (1 - self.p)


@dataclass(frozen=True, kw_only=True)
class NERR11(GoingOn):
    """Nearly ERR, equation 11: the user stops with probability g, and otherwise continues as in INSQ.

    Formula: NERR11 = Σ_i W_i g_i, C_i = ((i + 2T − 1) / (i + 2T))² (1 − g_i).
    Use: INSQ's goal and ERR's satisfaction in one user model.
    Traps: It is not ERR. Gains are chances of stopping, from 0 to 1, or max_rel says which grade is 1; with max_rel the
    list ends at rank 1000 as in cwl_eval and ir_measures.
    """

    T: float = setting(1.0, "how much gain the user looks for", least=0, ends=False)

    name: ClassVar[str] = "NERR11"
    source: ClassVar[str] = NEARLY

    def going_on(self, gain: Array) -> Array:
        start = np.arange(gain.shape[-1]) + 2 * self.T
        return np.square(start / (start + 1)) * (1 - gain)

    def behind(self, gain: Array) -> Any:
        depth = gain.shape[-1]
        return inverse_squares(np.array(depth + 2 * self.T), self.left(depth))


def inverse_squares(y: Array, count: float) -> Array:
    """Σ (y / (y + m))² over m = 0 … count − 1, count possibly infinite."""
    rest = 0.0 if math.isinf(count) else _trigamma(y + count)
    return y * y * (_trigamma(y) - rest)


def _trigamma(x: Array) -> Array:
    """ψ₁(x) = Σ_{k≥0} 1/(x + k)² for x > 0: twenty terms, then the asymptotic series (DLMF 5.15.8)."""
    terms = 20
    start = sum((1 / (x + k) ** 2 for k in range(terms)), np.zeros_like(x))
    y = 1 / (x + terms)
    z = y * y
    return start + y * (1 + y / 2 + z * (1 / 6 - z * (1 / 30 - z * (1 / 42 - z / 30))))
