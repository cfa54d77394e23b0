"""Measures of a user who reads down the list and stops when satisfied: ERR, nERR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from judgewell.errors import MeasureError
from judgewell.evaluation.measures.base import (
    LN2,
    Measure,
    largest_of,
    ratio,
    refuse_below,
    setting,
    unjudged_as,
)
from judgewell.evaluation.measures.ranks import Array, keep, weighted_sum


@dataclass(frozen=True, kw_only=True)
class ERR(Measure):
    """Expected reciprocal rank: Σ_i (1/i) R_i Π_{j<i} (1 − R_j), with R = (2^g − 1) / 2^gmax.

    gmax is the largest gain of the whole gains table, a number, or with `gmax="topic"` the topic's largest gain.
    Computed as 2^(g − gmax) − 2^(−gmax), which no gain overflows.

    Formula: ERR = Σ_i (1/i) R_i Π_{j<i} (1 − R_j), R_i = (2^{g_i} − 1) / 2^gmax.
    Use: A user who stops when satisfied: a good document makes those below it matter less.
    Traps: gmax must be the largest gain there can be, the same in every comparison: by default it is the largest of
    the gains table, so two gains tables may differ in it. The exponent is meant for grades up to about 4; with
    gains up to 100 all but the very best vanish, so rescale first. With gmax = 1 the best document satisfies with
    1/2 only.
    """

    gmax: float | str | None = setting(
        None,
        "the gain that always satisfies: a number, or 'topic' for each topic's largest",
        choices=("topic",),
        least=0,
    )

    name: ClassVar[str] = "ERR"
    source: ClassVar[str] = "Chapelle, Metzler, Zhang & Grinspan, CIKM 2009"
    has_residual: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = frozenset(
        {"range01", "monotone_append", "swap_up", "unjudged_is_zero", "zero_without_relevant", "ideal_is_best"}
    )

    def __call__(self, gains: Array, ideal: Array) -> Array:
        return self._expected(self.top(gains), self._gmax(ideal))

    def _gmax(self, ideal: Array) -> Any:
        if self.gmax == "topic":
            return largest_of(ideal, by_topic=True)
        if self.gmax is not None:
            return self.gmax
        return largest_of(ideal) if self.largest is None else self.largest

    def _expected(self, gains: Array, gmax: Any) -> Array:
        worthy = keep(gains > 0, self.cutoff)
        found = worthy.values(gains)
        least = np.exp2(-np.asarray(gmax, dtype=np.float64))
        stops = np.where(found < 0.01, np.expm1(found * LN2) * least, np.exp2(found - gmax) - least)
        reached = np.cumprod(1 - stops, axis=-1)
        stops[..., 1:] *= reached[..., :-1]
        return weighted_sum(stops, worthy.inverse_rank, self.cutoff)

    def residual(self, gains: Array, ideal: Array) -> Array:
        gmax = self._gmax(ideal)
        top = self.top(gains)
        missing = max(self.cutoff or 0, top.shape[-1]) - top.shape[-1]
        padded = np.concatenate([top, np.full((*top.shape[:-1], missing), np.nan)], axis=-1)
        return self._expected(unjudged_as(gmax, padded), gmax) - self._expected(top, gmax)

    def check(self, gains: Array) -> None:
        refuse_below(self, gains)
        highest = float(np.max(gains, initial=0.0))
        if isinstance(self.gmax, float | int) and highest > self.gmax:
            raise MeasureError(
                f"{self}: there is a gain of {highest:g}, above gmax; give the largest gain there can be, "
                f"e.g. {type(self)(cutoff=self.cutoff, gmax=highest)}"
            )


class nERR(ERR):
    """ERR divided by the ERR of the topic's best possible ranking; 0 where that is 0.

    Formula: nERR = ERR of the ranking / ERR of the topic's judged gains in descending order.
    Use: ERR on a scale where every topic can reach 1.
    Traps: Very flat near the top: after one perfect document little is left to gain. The traps of ERR about gmax
    hold here too.
    """

    name: ClassVar[str] = "nERR"
    has_residual: ClassVar[bool] = False
    laws: ClassVar[frozenset[str]] = frozenset(
        {"range01", "best_is_one", "monotone_append", "swap_up", "unjudged_is_zero", "zero_without_relevant"}
    )

    def __call__(self, gains: Array, ideal: Array) -> Array:
        return ratio(super().__call__(gains, ideal), super().__call__(ideal, ideal))

    def residual(self, gains: Array, ideal: Array) -> Array:
        return Measure.residual(self, gains, ideal)
