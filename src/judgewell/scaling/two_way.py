"""The two-way log model of magnitudes: log score = unit offset + document value, by least squares.

Geometric averaging lifts a unit that holds only poor documents to the topic's mean; this model does not, because it
compares documents through the units they share. Where every unit holds the same documents it is geometric averaging
followed by the geometric mean. :mod:`judgewell.stats.two_way` has the system it solves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from judgewell.scaling.graph import Components, component_numbers, refuse_unconnected
from judgewell.scaling.inputs import GROUP, Repeated
from judgewell.scaling.magnitude import log_scores
from judgewell.scaling.numbers import documents_of, groups_of
from judgewell.stats.arrays import Ints
from judgewell.stats.two_way import TwoWayFit


@dataclass(frozen=True)
class TwoWay(TwoWayFit):
    """The fit to log scores, with its `documents` (topic, doc, judgments) and `units`."""

    documents: pl.DataFrame
    units: pl.DataFrame

    @cached_property
    def components(self) -> Ints:
        return component_numbers(self.documents, self.labels)


def two_way(
    judgments: Any,
    *,
    offset: float | None = None,
    bound: float | None = None,
    components: Components = "error",
    repeated: Repeated = "all",
) -> TwoWay:
    """The least-squares fit of unit offsets and document values to the log scores of every topic."""
    frame = log_scores(judgments, offset=offset, bound=bound, repeated=repeated)
    documents = documents_of(frame)
    units, unit = groups_of(frame, GROUP)
    fit = TwoWay(unit, documents.number, frame["log"].to_numpy(), documents.table, units)
    refuse_unconnected(fit.documents, fit.labels, components)
    return fit
