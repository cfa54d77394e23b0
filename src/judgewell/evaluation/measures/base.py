"""What a measure is: a value that prints and parses back, called on gains whose last axis is the rank.

`gains` holds, in ranked order, the gain of each document, NaN where it is unjudged or the ranking has ended; `ideal`
holds all judged gains of the topic in descending order, NaN behind the last. Leading axes broadcast, so the same few
lines serve one ranking, systems × topics, and resamples × systems × topics. The result loses the last axis.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from judgewell.errors import MeasureError

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """The base of all measures; a subclass adds its parameters as fields and its formula as `__call__`."""

    cutoff: int | None = None  # the k of "@k": ranks below it do not count

    name: ClassVar[str]  # as printed; ir_measures' spelling where it has one
    source: ClassVar[str]  # the paper it comes from
    other_names: ClassVar[tuple[str, ...]] = ()
    needs_cutoff: ClassVar[bool] = False
    takes_cutoff: ClassVar[bool] = True
    laws: ClassVar[frozenset[str]] = frozenset()  # checked for every measure by the tests

    def __post_init__(self) -> None:
        if self.cutoff is None and self.needs_cutoff:
            raise MeasureError(f"{self.name} needs a cutoff; write {self.name}@10")
        if self.cutoff is not None and not self.takes_cutoff:
            raise MeasureError(f"{self.name} takes no cutoff; write {self.name}")
        if self.cutoff is not None and self.cutoff < 1:
            raise MeasureError(f"{self.name}@{self.cutoff}: a cutoff is a whole number from 1 on")

    def __call__(self, gains: Array, ideal: Array) -> Array:
        raise NotImplementedError

    def check(self, gains: Array) -> None:
        """Refuse gains (all those of the collection) that this measure has no meaning for."""

    def prepared(self, largest: float) -> Measure:
        """This measure with what it takes from the whole collection filled in: `largest`, the largest gain."""
        return self

    def __str__(self) -> str:
        given = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name != "cutoff" and getattr(self, field.name) != field.default
        }
        inside = ",".join(f"{name}={_spelled(value)}" for name, value in given.items())
        return self.name + (f"({inside})" if inside else "") + ("" if self.cutoff is None else f"@{self.cutoff}")

    def top(self, gains: Array) -> Array:
        """The gains down to the cutoff."""
        return gains if self.cutoff is None else gains[..., : self.cutoff]


def _spelled(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    return f"{value:g}" if isinstance(value, float) else str(value)
