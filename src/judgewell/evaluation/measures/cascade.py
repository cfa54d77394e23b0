"""Measures of a user who reads down the list and stops when satisfied: ERR, nERR."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar, Self

import numpy as np

from judgewell.errors import MeasureError
from judgewell.evaluation.measures.base import (
    LN2,
    SUMMED,
    USUAL,
    Measure,
    largest_of,
    ratio,
    refuse_negative,
    setting,
    unjudged_as,
)
from judgewell.evaluation.measures.ranks import Array, keep, weighted_sum
from judgewell.values import dataclass

GRADES = 4.0  # gdeval's largest grade, and so that of ir_measures' ERR@k


@dataclass(frozen=True, kw_only=True)
class ERR(Measure):
    """Expected reciprocal rank: Σ_i (1/i) R_i Π_{j<i} (1 − R_j), with R = (2^g − 1) / 2^gmax.

    gmax is the gain that satisfies a user: a number, or with `gmax="topic"` the topic's largest gain. Whole grades from
    0 to 4 have gmax = 4 where it is not given, as in gdeval and ir_measures; all other gains need it. With
    `stop="linear"` the probability of stopping is g / gmax. The name of a result always holds the gmax used.

    Formula: ERR = Σ_i (1/i) R_i Π_{j<i} (1 − R_j), R_i = (2^{g_i} − 1) / 2^gmax.
    Use: A user who stops when satisfied: a good document makes those below it matter less.
    Traps: Values with different gmax are not comparable. The exponent is meant for grades up to about 4: with gains up
    to 100 all but the very best count almost 0, so use stop='linear' or rescale them. There is no default for
    magnitudes, because one document with a very large gain would decide. With gmax = 1 the best document satisfies only
    with probability 1/2. NTCIREVAL's ERR is ERR(gmax=G,stop='linear') with G one above the largest grade.
    """

    gmax: float | str | None = setting(
        None,
        "the gain that satisfies: a number, or 'topic' for each topic's largest; 4 for whole grades from 0 to 4",
        choices=("topic",),
        least=0,
    )
    stop: str = setting(
        "exp2", "the probability of stopping: (2^g − 1) / 2^gmax, or g / gmax", choices=("exp2", "linear")
    )

    name: ClassVar[str] = "ERR"
    source: ClassVar[str] = "Chapelle, Metzler, Zhang & Grinspan, CIKM 2009"
    in_example: ClassVar[str] = "gmax=1"
    settled_by_gains: ClassVar[tuple[str, ...]] = ("gmax",)
    has_residual: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = SUMMED

    def __call__(self, gains: Array, ideal: Array) -> Array:
        return self._expected(self.top(gains), self._gmax(ideal))

    def _gmax(self, ideal: Array) -> Any:
        if self.gmax == "topic":
            return largest_of(ideal, by_topic=True)
        return GRADES if self.gmax is None else self.gmax

    def stops(self, gains: Array, gmax: Any) -> Array:
        """The chance to stop at documents with these gains, none below 0 or above gmax."""
        if self.stop == "linear":
            return ratio(gains, gmax)
        least = np.exp2(-np.asarray(gmax, dtype=np.float64))
        small = np.expm1(np.minimum(gains, 0.01) * LN2) * least  # without cancelling where gains are tiny
        return np.where(gains < 0.01, small, np.exp2(np.minimum(gains - gmax, 0.0)) - least)

    def _expected(self, gains: Array, gmax: Any) -> Array:
        worthy = keep(gains > 0, self.cutoff)
        stops = self.stops(worthy.values(gains), gmax)
        reached = np.cumprod(1 - stops, axis=-1)
        stops[..., 1:] *= reached[..., :-1]
        return weighted_sum(stops, worthy.inverse_rank, self.cutoff)

    def residual(self, gains: Array, ideal: Array) -> Array:
        gmax = self._gmax(ideal)
        top = self.top(gains)
        missing = max(self.cutoff or 0, top.shape[-1]) - top.shape[-1]
        padded = np.concatenate([top, np.full((*top.shape[:-1], missing), np.nan)], axis=-1)
        return self._expected(unjudged_as(gmax, padded), gmax) - self._expected(top, gmax)

    def settled(self, gains: Array) -> Self:
        one = super().settled(gains)
        return one if self.gmax is not None else dataclasses.replace(one, gmax=GRADES)

    def check(self, gains: Array) -> None:
        refuse_negative(self, gains)
        highest = float(np.max(gains, initial=0.0))
        bound = float(max(1, math.ceil(highest)))
        if isinstance(self.gmax, float | int) and highest > self.gmax:
            raise MeasureError(
                f"{self}: there is a gain of {highest:g}, above gmax; give the largest gain there can be, "
                f"e.g. {dataclasses.replace(self, gmax=bound)}"
            )
        other = gains[(gains > GRADES) | (gains != np.floor(gains))] if self.gmax is None else gains[:0]
        if other.size:
            raise MeasureError(
                f"{self} needs gmax, the gain that satisfies: only whole grades from 0 to 4 have one (4, as in "
                f"gdeval), and there is a gain of {other.flat[0]:g}; write "
                f"{dataclasses.replace(self, gmax=bound)} for the same gain in all topics, or "
                f"{dataclasses.replace(self, gmax='topic')} for each topic's largest"
            )


class nERR(ERR):
    """ERR divided by the ERR of the topic's best possible ranking; 0 where that is 0.

    Formula: nERR = ERR of the ranking / ERR of the topic's judged gains in descending order.
    Use: ERR on a scale where every topic can reach 1.
    Traps: It hardly changes near the top: after one perfect document little is left to gain. The traps of ERR about
    gmax apply here too.
    """

    name: ClassVar[str] = "nERR"
    has_residual: ClassVar[bool] = False
    laws: ClassVar[frozenset[str]] = USUAL

    def __call__(self, gains: Array, ideal: Array) -> Array:
        return ratio(super().__call__(gains, ideal), super().__call__(ideal, ideal))

    def residual(self, gains: Array, ideal: Array) -> Array:
        return Measure.residual(self, gains, ideal)
