"""Double judgments: what a second assessor says of documents that a first one gave level i.

p(R|i), the chance that a random user finds relevant what an assessor gave level i, is learnt from documents that two or
more assessors judged independently; a user finds relevant what they would give a level of at least the threshold
(Demeester et al. 2016). `both` is eq. 5, every ordered pair of distinct assessors of a document; `first` is eq. 4, the
first assessor against each later one, right where only chosen documents were judged again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError
from judgewell.scaling.inputs import extra_column, judgments_of, place
from judgewell.stats.laplacian import Array, Index, summed

Estimate = Literal["both", "first"]

Weight = Literal["pair", "document"]

Prior = Literal["marginal", "uniform"]

NO_DOUBLES = "no document was judged by two assessors; predicted relevance is learnt from double judgments"


@dataclass(frozen=True)
class Tallies:
    """Per doubly judged document and level i: `judged`, the pairs whose first judgment is i, and `relevant`, those of
    them whose second is at or above the threshold. Their sums over documents are eq. 4's or 5's denominators and
    numerators. `documents` has topic, doc and, where there is a split, the topic's property."""

    documents: pl.DataFrame
    levels: Array
    threshold: float
    relevant: Array
    judged: Array

    def rows(self, chosen: Any) -> Tallies:
        """The same for some of the documents (a mask or row numbers; a row given twice counts twice)."""
        at: Index = np.flatnonzero(chosen) if np.asarray(chosen).dtype == bool else np.asarray(chosen)
        return Tallies(self.documents[at], self.levels, self.threshold, self.relevant[at], self.judged[at])

    def by_topic(self) -> tuple[Array, Array]:
        """The sums of `relevant` and `judged` for each topic, topics x levels."""
        code = self.documents["topic"].rank("dense").to_numpy().astype(np.int64) - 1
        size = int(code.max(initial=-1)) + 1
        sums = [np.zeros((size, len(self.levels))) for _ in range(2)]
        for total, values in zip(sums, (self.relevant, self.judged), strict=True):
            np.add.at(total, code, values)
        return sums[0], sums[1]


def _check_split(frame: pl.DataFrame, split: str) -> None:
    extra_column(frame, split, "a property of the topic, such as navigational or informational", "split")
    mixed = frame.group_by("topic").agg(kinds=pl.col(split).n_unique(), gaps=pl.col(split).null_count())
    bad = mixed.filter((pl.col("kinds") > 1) | (pl.col("gaps") > 0)).sort("topic")
    if len(bad):
        raise InputError(
            f"the topic {bad['topic'][0]} has {'no' if bad['gaps'][0] else 'more than one'} {split}",
            cure=f"{split} is a property of the topic: give each topic one value",
        )


def levels_of(judgments: pl.DataFrame, levels: Sequence[float] | None) -> Array:
    """The scale's levels: as given (a judgment outside them is an error), else those the judgments use."""
    if levels is None:
        return np.array(sorted(judgments["value"].unique().to_list()), dtype=np.float64)
    given = np.array(sorted(set(map(float, levels))), dtype=np.float64)
    outside = judgments.filter(~pl.col("value").is_in(given.tolist()))
    if len(outside):
        raise InputError(
            f"the level {outside['value'][0]:g} is not one of {', '.join(f'{level:g}' for level in given)} "
            f"({place(outside)}), in {len(outside)} judgments",
            cure="mend or drop these judgments, or name all the scale's levels (levels=…)",
        )
    return given


def tallies(
    judgments: Any,
    *,
    threshold: float | None = None,
    estimate: Estimate = "both",
    weight: Weight = "pair",
    levels: Sequence[float] | None = None,
    split: str | None = None,
) -> Tallies:
    """The double judgments counted per document and level; the threshold is the top level unless given."""
    frame = judgments_of(judgments)
    scale = levels_of(frame, levels)
    least = float(scale[-1]) if threshold is None else float(threshold)
    if not scale[0] < least <= scale[-1]:
        raise InputError(
            f"the threshold {least:g} must lie above the lowest level {scale[0]:g} and not above {scale[-1]:g}",
            cure="everything or nothing would be relevant: choose a level in between",
        )
    if split is not None:
        _check_split(frame, split)
    votes = _votes(frame, scale, least)
    judged, relevant = votes.first_pairs() if estimate == "first" else votes.all_pairs()
    pairs = judged.sum(axis=1)
    if not pairs.any():
        raise DataError(NO_DOUBLES)
    if weight == "document":
        full = np.divide(2.0 if estimate == "both" else 1.0, pairs, out=np.zeros(len(pairs)), where=pairs > 0)[:, None]
        judged, relevant = judged * full, relevant * full
    keys = ["topic", "doc"] if split is None else ["topic", "doc", split]
    documents = votes.documents.select(keys)
    return Tallies(documents, scale, least, relevant, judged).rows(pairs > 0)


@dataclass(frozen=True)
class _Votes:
    """Every judgment as the number of its document, of its document and assessor, and of its level."""

    documents: pl.DataFrame
    doc: Index
    person: Index
    level: Index
    relevant_level: Array
    first: Index

    def all_pairs(self) -> tuple[Array, Array]:
        """Per document and first level, the ordered pairs of judgments, less those of one assessor with itself."""
        whole, own = self._products(self.doc), self._products(self.person)
        owner = np.zeros(len(own[0]), dtype=np.int64)
        owner[self.person] = self.doc
        for total, same in zip(whole, own, strict=True):
            np.subtract.at(total, owner, same)
        return whole

    def _products(self, group: Index) -> tuple[Array, Array]:
        """c_i * n and c_i * (the relevant ones of n) for the counts c_i of each level in each group."""
        width, size = len(self.relevant_level), int(group.max()) + 1
        counts = summed(group * width + self.level, np.ones(len(group)), size * width).reshape(size, width)
        hits = counts @ self.relevant_level
        return counts * counts.sum(axis=1, keepdims=True), counts * hits[:, None]

    def first_pairs(self) -> tuple[Array, Array]:
        """Per document, its first judgment with each judgment by another assessor."""
        width, size = len(self.relevant_level), len(self.documents)
        others = self.person != self.person[self.first][self.doc]
        given = self.doc * width + self.level[self.first][self.doc]
        hit = self.relevant_level[self.level]
        sums = [summed(given, values, size * width).reshape(size, width) for values in (others * 1.0, others * hit)]
        return sums[0], sums[1]


def _votes(frame: pl.DataFrame, scale: Array, least: float) -> _Votes:
    documents = frame.unique(["topic", "doc"], keep="first", maintain_order=True)
    numbered = documents.select("topic", "doc").with_row_index("number")
    keyed = frame.join(numbered, on=["topic", "doc"], how="left", maintain_order="left")
    who = pl.coalesce("assessor", pl.format("row {}", pl.int_range(pl.len())))
    person = keyed.select(pl.struct("number", who=who).rank("dense"))["number"].to_numpy().astype(np.int64) - 1
    doc = keyed["number"].to_numpy().astype(np.int64)
    level = np.searchsorted(scale, frame["value"].to_numpy())
    first = np.unique(doc, return_index=True)[1]
    return _Votes(documents, doc, person, level, (scale >= least).astype(np.float64), first)


def probabilities(relevant: Array, judged: Array, smoothing: float = 0.0, prior: Prior = "marginal") -> Array:
    """p(R|i) from counts whose last axis is the level; NaN where a level was never used.

    (N_relevant + a * m) / (N_judged + a): a the smoothing, m the share of relevant judgments overall (`marginal`) or a
    half (`uniform`).
    """
    share = 0.5
    if prior == "marginal" and smoothing > 0:
        share = relevant.sum(axis=-1, keepdims=True) / judged.sum(axis=-1, keepdims=True)
    total = judged + smoothing
    top = relevant + smoothing * share
    return np.asarray(np.divide(top, total, out=np.full(np.shape(total), np.nan), where=total > 0))


def estimated(found: Tallies, *, smoothing: float = 0.0, prior: Prior = "marginal") -> pl.DataFrame:
    """The table of p(R|level): level, threshold, relevant, judged, p, sigma, sigma_printed.

    `sigma_printed` is the binomial sqrt(p(1-p)/N) of the paper; it is too small for eq. 5, where a pair (i, i) counts
    twice. `sigma` is sqrt(sum (a - p b)^2) / sum b over the documents' contributions a, b. Both ignore
    that documents of one topic are alike: see `topic_bootstrap`.
    """
    relevant, judged = found.relevant.sum(axis=0), found.judged.sum(axis=0)
    p = probabilities(relevant, judged, smoothing, prior)
    total = judged + smoothing
    with np.errstate(invalid="ignore", divide="ignore"):
        printed = np.sqrt(p * (1 - p) / total)
        sigma = np.sqrt(((found.relevant - p * found.judged) ** 2).sum(axis=0)) / total
    return pl.DataFrame(
        {
            "level": found.levels,
            "threshold": np.full(len(p), found.threshold),
            "relevant": relevant,
            "judged": judged,
            "p": p,
            "sigma": sigma,
            "sigma_printed": printed,
        }
    ).with_columns(pl.col("p", "sigma", "sigma_printed").fill_nan(None))


def parameters(
    judgments: Any,
    *,
    threshold: float | None = None,
    estimate: Estimate = "both",
    weight: Weight = "pair",
    smoothing: float = 0.0,
    prior: Prior = "marginal",
    levels: Sequence[float] | None = None,
    split: str | None = None,
) -> pl.DataFrame:
    """p(R|level) with both sigmas, one row per level (and per value of the topic property `split`).

    A level nobody used in double judgments is missing (null), never 0.
    """
    found = tallies(judgments, threshold=threshold, estimate=estimate, weight=weight, levels=levels, split=split)
    if split is None:
        return estimated(found, smoothing=smoothing, prior=prior)
    kinds = found.documents[split]
    tables = []
    for kind in kinds.unique().sort():
        table = estimated(found.rows((kinds == kind).to_numpy()), smoothing=smoothing, prior=prior)
        tables.append(table.select(pl.lit(kind).alias(split), pl.all()))
    return pl.concat(tables)


def conditional(judgments: Any, *, levels: Sequence[float] | None = None, estimate: Estimate = "both") -> pl.DataFrame:
    """P(another assessor gives j | one gave i), as the differences of p at successive thresholds."""
    frame = judgments_of(judgments)
    scale = levels_of(frame, levels)
    above = [np.ones(len(scale))]
    for threshold in scale[1:]:
        found = tallies(frame, threshold=float(threshold), estimate=estimate, levels=scale.tolist())
        above.append(probabilities(found.relevant.sum(axis=0), found.judged.sum(axis=0)))
    never = np.isnan(above[-1])
    above.append(np.zeros(len(scale)))
    steps = [np.where(never, np.nan, here - next_) for here, next_ in pairwise(above)]
    size = len(scale)
    return pl.DataFrame(
        {"level": np.repeat(scale, size), "other": np.tile(scale, size), "p": np.stack(steps, axis=1).ravel()}
    ).with_columns(pl.col("p").fill_nan(None))
