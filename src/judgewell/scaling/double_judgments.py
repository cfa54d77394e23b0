"""Double judgments counted: what a second assessor says of documents that a first one gave grade i.

`both` counts every ordered pair of distinct assessors of a document (eq. 5 of Demeester et al. 2015); `first` counts
the first assessor against each later one (eq. 4), right where only chosen documents were judged again. A user finds
relevant what they would give a grade of at least the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError
from judgewell.scaling.inputs import extra_column, judgments_of, place
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.laplacian import summed

Estimate = Literal["both", "first"]

Weight = Literal["pair", "document"]

NO_DOUBLES = "no document was judged by two assessors; predicted relevance is learnt from double judgments"


MANY_GRADES, GROUPS = 20, 5  # with more grades, pairs of them are too thinly used: 5 groups on each side count


@dataclass(frozen=True)
class Tallies:
    """Per doubly judged document and grade i: `judged`, the pairs whose first judgment is i, and `relevant`, those of
    them whose second is at or above the threshold. Their sums over documents are eq. 4's or 5's denominators and
    numerators. `joint` counts, for each topic, the pairs of a first and a second grade; with more than MANY_GRADES
    grades, of neighbouring grades together, as `groups` says."""

    documents: pl.DataFrame
    grades: Floats
    threshold: float
    estimate: Estimate
    relevant: Floats
    judged: Floats
    joint: Floats
    groups: Ints

    @property
    def is_relevant(self) -> Floats:
        """1 for the grades at or above the threshold, 0 for the others."""
        return (self.grades >= self.threshold).astype(np.float64)

    def by_topic(self) -> tuple[Floats, Floats]:
        """The sums of `relevant` and `judged` for each topic, topics x grades."""
        code = self.documents["topic"].rank("dense").to_numpy().astype(np.int64) - 1
        size = int(code.max(initial=-1)) + 1
        sums = [np.zeros((size, len(self.grades))) for _ in range(2)]
        for total, values in zip(sums, (self.relevant, self.judged), strict=True):
            np.add.at(total, code, values)
        return sums[0], sums[1]


def check_split(frame: pl.DataFrame, split: str) -> None:
    extra_column(frame, split, "a property of the topic, such as navigational or informational", "split")
    mixed = frame.group_by("topic").agg(kinds=pl.col(split).n_unique(), gaps=pl.col(split).null_count())
    bad = mixed.filter((pl.col("kinds") > 1) | (pl.col("gaps") > 0)).sort("topic")
    if len(bad):
        raise InputError(
            f"the topic {bad['topic'][0]} has {'no' if bad['gaps'][0] else 'more than one'} {split}",
            cure=f"{split} is a property of the topic: give each topic one value",
        )


def grades_of(judgments: pl.DataFrame, grades: Sequence[float] | None) -> Floats:
    """The scale's grades: as given (a judgment outside them is an error), else those the judgments use."""
    if grades is None:
        return np.array(sorted(judgments["value"].unique().to_list()), dtype=np.float64)
    given = np.array(sorted(set(map(float, grades))), dtype=np.float64)
    outside = judgments.filter(~pl.col("value").is_in(given.tolist()))
    if len(outside):
        raise InputError(
            f"the grade {outside['value'][0]:g} is not one of {', '.join(f'{grade:g}' for grade in given)} "
            f"({place(outside)}), in {len(outside)} judgments",
            cure="correct or drop these judgments, or name all the scale's grades (grades=…)",
        )
    return given


def tallies(
    judgments: Any,
    *,
    threshold: float | None = None,
    estimate: Estimate = "both",
    weight: Weight = "pair",
    grades: Sequence[float] | None = None,
) -> Tallies:
    """The double judgments counted per document and grade; the threshold is the top grade unless given."""
    frame = judgments_of(judgments)
    scale = grades_of(frame, grades)
    least = float(scale[-1]) if threshold is None else float(threshold)
    if not scale[0] < least <= scale[-1]:
        raise InputError(
            f"the threshold {least:g} must lie above the lowest grade {scale[0]:g} and not above {scale[-1]:g}",
            cure="everything or nothing would be relevant: choose a grade in between",
        )
    votes = _votes(frame, scale, least)
    judged, relevant = votes.first_pairs() if estimate == "first" else votes.all_pairs()
    pairs = judged.sum(axis=1)
    if not pairs.any():
        raise DataError(NO_DOUBLES)
    weights = np.ones(len(pairs))
    if weight == "document":
        weights = np.divide(2.0 if estimate == "both" else 1.0, pairs, out=np.zeros(len(pairs)), where=pairs > 0)
    double = pairs > 0
    topic = np.full(len(pairs), -1)
    topic[double] = votes.documents.filter(double)["topic"].rank("dense").to_numpy().astype(np.int64) - 1
    return Tallies(
        votes.documents.filter(double).select("topic", "doc"),
        scale,
        least,
        estimate,
        (relevant * weights[:, None])[double],
        (judged * weights[:, None])[double],
        votes.joint(estimate, topic, weights),
        votes.groups,
    )


@dataclass(frozen=True)
class _Votes:
    """Every judgment as the number of its document, of its document and assessor, and of its grade."""

    documents: pl.DataFrame
    doc: Ints
    person: Ints
    grade: Ints
    relevant_grade: Floats
    first: Ints

    def all_pairs(self) -> tuple[Floats, Floats]:
        """Per document and first grade, the ordered pairs of judgments, less those of one assessor with itself."""
        whole, own = self._products(self.doc), self._products(self.person)
        owner = np.zeros(len(own[0]), dtype=np.int64)
        owner[self.person] = self.doc
        for total, same in zip(whole, own, strict=True):
            np.subtract.at(total, owner, same)
        return whole

    def _products(self, group: Ints) -> tuple[Floats, Floats]:
        """c_i * n and c_i * (the relevant ones of n) for the counts c_i of each grade in each group."""
        width, size = len(self.relevant_grade), int(group.max()) + 1
        counts = summed(group * width + self.grade, np.ones(len(group)), size * width).reshape(size, width)
        hits = counts @ self.relevant_grade
        return counts * counts.sum(axis=1, keepdims=True), counts * hits[:, None]

    def first_pairs(self) -> tuple[Floats, Floats]:
        """Per document, its first judgment with each judgment by another assessor."""
        width, size = len(self.relevant_grade), len(self.documents)
        others = self.person != self.person[self.first][self.doc]
        given = self.doc * width + self.grade[self.first][self.doc]
        hit = self.relevant_grade[self.grade]
        sums = [summed(given, values, size * width).reshape(size, width) for values in (others * 1.0, others * hit)]
        return sums[0], sums[1]

    @cached_property
    def groups(self) -> Ints:
        """The group of each grade: itself, or one of GROUPS of about equal use on each side of the threshold."""
        if len(self.relevant_grade) <= MANY_GRADES:
            return np.arange(len(self.relevant_grade))
        used = np.bincount(self.grade, minlength=len(self.relevant_grade))
        groups = np.zeros(len(used), dtype=np.int64)
        for side in (0, 1):
            own = np.flatnonzero(self.relevant_grade == side)
            before = np.cumsum(used[own]) - used[own] / 2
            groups[own] = GROUPS * side + np.floor(GROUPS * before / max(used[own].sum(), 1)).astype(np.int64)
        return np.unique(groups, return_inverse=True)[1].astype(np.int64)

    def joint(self, estimate: Estimate, topic: Ints, weights: Floats) -> Floats:
        """Pairs of a first and a second grade, topics x grades x grades; `topic` is each document's, -1 for none."""
        group_of, width = self.groups[self.grade], int(self.groups.max()) + 1

        def counts(group: Ints, size: int, chosen: Any = slice(None)) -> Floats:
            cells = group[chosen] * width + group_of[chosen]
            return summed(cells, np.ones(len(cells)), size * width).reshape(size, width)

        if estimate == "first":
            others = self.person != self.person[self.first][self.doc]
            leading = np.zeros((len(self.documents), width))
            leading[np.arange(len(leading)), group_of[self.first]] = 1.0
            return _products_by_topic(leading, counts(self.doc, len(self.documents), others), topic, weights)
        whole = counts(self.doc, len(self.documents))
        persons = int(self.person.max()) + 1
        owner = np.zeros(persons, dtype=np.int64)
        owner[self.person] = self.doc
        own = counts(self.person, persons)
        same = _products_by_topic(own, own, topic[owner], weights[owner])
        return _products_by_topic(whole, whole, topic, weights) - same


def _products_by_topic(left: Floats, right: Floats, topic: Ints, weights: Floats) -> Floats:
    """The sum over each topic's rows of weight * outer(left, right)."""
    order = np.argsort(topic, kind="stable")
    ends = np.cumsum(np.bincount(topic + 1, minlength=1))
    rows = [order[start:end] for start, end in pairwise(ends)]
    return np.stack([left[at].T @ (weights[at, None] * right[at]) for at in rows])


def _votes(frame: pl.DataFrame, scale: Floats, least: float) -> _Votes:
    documents = frame.unique(["topic", "doc"], keep="first", maintain_order=True)
    numbered = documents.select("topic", "doc").with_row_index("number")
    keyed = frame.join(numbered, on=["topic", "doc"], how="left", maintain_order="left")
    who = pl.coalesce("assessor", pl.format("row {}", pl.int_range(pl.len())))
    person = keyed.select(pl.struct("number", who=who).rank("dense"))["number"].to_numpy().astype(np.int64) - 1
    doc = keyed["number"].to_numpy().astype(np.int64)
    grade = np.searchsorted(scale, frame["value"].to_numpy())
    first = np.unique(doc, return_index=True)[1]
    return _Votes(documents, doc, person, grade, (scale >= least).astype(np.float64), first)
