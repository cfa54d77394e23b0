"""The evidence that the agreement stage looks at: judgments, pairs, labels, gains and what else is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from judgewell.agreement import common, machines, stability
from judgewell.agreement.machines import FEW_GRADES
from judgewell.errors import DataError, kept_notes, note
from judgewell.scales import Kind, kind_of
from judgewell.stats.footing import Footing, footing_of

SystemTables = Callable[[pl.DataFrame, Mapping[str, pl.DataFrame]], Mapping[str, pl.DataFrame]]


@dataclass(frozen=True)
class Evidence:
    """What there is to look at; leave out what is not known.

    `labels` holds expert grades or other labels by name, `gains` the documents' gains (where none are given, what
    `scaled` makes of the judgments, or their medians), `scores` systems' scores (for topic difficulty), `likes` answers
    to which question was liked, `lengths` documents' lengths, and `score` the function that turns pairs into gains.
    `averaged_by` says how several judgments become one gain, where it is not as usual for their kind.
    `machine` holds label sets by machines, and `systems` what later stages make of people's gains and these: tables of
    systems and documents' ranks.
    """

    judgments: pl.DataFrame | None = None
    pairs: pl.DataFrame | None = None
    labels: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    gains: pl.DataFrame | None = None
    scores: pl.DataFrame | None = None
    likes: pl.DataFrame | None = None
    lengths: pl.DataFrame | None = None
    score: stability.Score | None = None
    averaged_by: stability.Average | None = None
    scaled: Callable[[pl.DataFrame], pl.DataFrame] | None = None
    machine: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    systems: SystemTables | None = None
    progress: Callable[[int, int], None] | None = None
    replicates: int = 1000
    seed: int = 0
    made: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def has_gains(self) -> bool:
        return self.gains is not None or self.judgments is not None

    def by_scale(self) -> dict[str, Evidence]:
        """The evidence of each scale alone; judgments on different scales are never mixed."""
        if self.judgments is None or "scale" not in self.judgments.columns:
            return {}
        parts = self.judgments.partition_by("scale", as_dict=True, maintain_order=True)
        named = {"without a name" if scale is None else str(scale): part for (scale,), part in parts.items()}
        return {name: replace(self, judgments=part) for name, part in named.items()}

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        """A value that is computed once and used by many sections; its notes are repeated for each of them."""
        if name not in self.made:
            with kept_notes() as notes:
                self.made[name] = make(), notes
        result, notes = self.made[name]
        for text in notes:
            note(text)
        return result

    @property
    def checked(self) -> pl.DataFrame:
        """The judgments as a checked table."""
        table: pl.DataFrame = self._once("checked", lambda: common.judgments_of(given(self.judgments)))
        return table

    @cached_property
    def kind(self) -> Kind:
        """What the values mean; the judgments of one scale have one kind."""
        return kind_of(self.checked)

    @property
    def footing(self) -> Footing:
        """The values on the common footing, on which assessors are compared."""
        footing: Footing = self._once("footing", lambda: footing_of(self.checked))
        return footing

    @property
    def footed(self) -> pl.DataFrame:
        """The judgments with values on the common footing."""
        return self.footing.judgments

    def comparable(self) -> list[tuple[pl.DataFrame, str, str, int]]:
        """The values that alpha is computed for, the one that fits first, without known documents.

        Each comes with its metric, what the values are in words, and how many offsets were removed from them.
        """
        raw = (self.compared_judgments(), "ratio", "as given", 0)
        try:
            fitting = (self.without_known_documents(), self.kind.metric, self.footing.words, self.footing.removed)
        except DataError as reason:  # without units or assessors the modulus cannot be removed
            note(f"alpha is computed for the values as given only: {reason}")
            return [raw]
        return [fitting, raw] if self.kind.in_logs else [fitting]

    @property
    def average(self) -> stability.Average:
        """How several judgments become one gain."""
        return self.averaged_by or ("median" if self.kind.in_logs else "mean")

    @cached_property
    def graded(self) -> dict[str, pl.DataFrame]:
        """The label sets that have grades: at most FEW_GRADES different values."""
        return {name: labels for name, labels in self.labels.items() if is_graded(labels)}

    def document_gains(self) -> pl.DataFrame:
        if self.gains is not None:
            return self.gains
        if self.scaled is not None:
            scaled, judgments = self.scaled, given(self.judgments)
            return self._once("gains", lambda: scaled(judgments))  # type: ignore[no-any-return]
        note(f"no gains are given: documents are scored by the median of their values ({self.footing.words})")
        return common.document_medians(given(self.judgments))

    @cached_property
    def people(self) -> pl.DataFrame:
        """People's side of each document beside machines: its gain, the lower median of its judgments, or the first
        label set's grade."""
        if self.judgments is not None and (self.gains is None or self.kind.name in ("ordinal", "nominal")):
            return machines.people_of(self.judgments)
        if self.gains is None and self.labels:
            name, labels = next(iter(self.labels.items()))
            note(f"the label set {name} is taken as the judgments of people")
            return common.gains_of(labels)
        gains = given(self.gains, "judgments, gains or labels")
        return machines.with_inclusion(common.gains_of(gains), gains)

    @cached_property
    def system_tables(self) -> Mapping[str, pl.DataFrame]:
        """What later stages make of people's gains and machines' labels; nothing without runs."""
        return {} if self.systems is None else self.systems(self.people, self.machine)

    def offset(self) -> float:
        """1 where values of 0 would spoil ratios (a scale from 0 to 100), else 0."""
        if self.judgments is None or self.checked["value"].min() != 0:
            return 0.0
        note("some values are 0: ratios are taken after adding 1 to all values")
        return 1.0

    def without_known_documents(self) -> pl.DataFrame:
        """The judgments without known documents, on the common footing."""
        return common.without_known(self.footed)

    def compared_judgments(self) -> pl.DataFrame:
        """The judgments as given that comparisons of assessors use: without known documents."""
        return common.without_known(self.checked)

    def compared_pairs(self) -> pl.DataFrame:
        """The pairs that comparisons of assessors use: without known pairs."""
        return common.without_known(given(self.pairs, "pairs"))

    def against_labels(self, analysis: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
        """One analysis against each label set, below each other; sets that do not allow it are reported."""
        parts, reasons = [], []
        for name, labels in self.labels.items():
            try:
                if name not in self.graded:
                    values = labels["gain"].n_unique()
                    raise DataError(f"it has {values} different values and so no grades to compare")
                parts.append(analysis(labels).select(pl.lit(name).alias("labels"), pl.all()))
            except DataError as reason:
                reasons.append(f"{name}: {reason}")
        if not parts:
            raise DataError("; ".join(reasons) or "needs labels to compare with")
        for reason_text in reasons:
            note(f"not compared with {reason_text}")
        return pl.concat(parts, how="diagonal_relaxed")


def is_graded(labels: pl.DataFrame) -> bool:
    """Whether labels are grades rather than continuous values."""
    return labels["gain"].n_unique() <= FEW_GRADES


def are_grades(gains: pl.DataFrame) -> bool:
    """Whether gains are the grades of a scale: few documents have few different gains of any kind."""
    return is_graded(gains) and bool((gains["gain"] % 1 == 0).all())


def given(frame: pl.DataFrame | None, name: str = "judgments") -> pl.DataFrame:
    """A table that is there, or an error that names it."""
    if frame is None:
        raise DataError(f"needs {name}, which are not given")
    return frame


def has(frame: pl.DataFrame | None, column: str) -> bool:
    """Whether a table is there with any value in a column."""
    return frame is not None and column in frame.columns and frame[column].null_count() < frame.height
