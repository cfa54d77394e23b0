"""Predicted relevance: the chance that a random user finds a document relevant, given what assessors said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError, note
from judgewell.scaling.double_judgments import (
    Estimate,
    Prior,
    Tallies,
    Weight,
    estimated,
    probabilities,
    tallies,
)
from judgewell.scaling.inputs import gains_frame, judgments_of, listed, settle_repeats
from judgewell.scaling.method import Method
from judgewell.scaling.predicted_curves import enough, topic_bootstrap, topic_spread
from judgewell.scaling.uncertainty import Draws, with_interval, z_of
from judgewell.stats.laplacian import Array

DEMEESTER = "Demeester, Aly, Hiemstra, Nguyen and Develder, Information Retrieval Journal 2016"


def at_least(p: Array, wanted: int, users: int) -> Array:
    """The chance that at least `wanted` of `users` random users find it relevant (sect. 3.1.7)."""
    from scipy.stats import binom

    if not 0 <= wanted <= users:
        raise InputError(f"{wanted} of {users} users is not possible", cure="ask for 1 to all of the users")
    chance = binom.sf(wanted - 1, users, np.nan_to_num(p))
    return np.where(np.isnan(p), np.nan, chance)


def udm_weights(p: Array, levels: Array, wanted: int = 1, users: int = 2) -> Array:
    """The older user disagreement model: at least `wanted` of `users`, the observed assessor among them, give the top
    level; 1 for the top level and p(T|i) below at 1 of 2, and 0 for the lowest level (sect. 3.4)."""
    if not 1 <= wanted <= users or users < 2:
        raise InputError(f"{wanted} of {users} users is not possible", cure="ask for 1 to all of two or more users")
    below = at_least(p, wanted, users - 1) if wanted < users else np.where(np.isnan(p), np.nan, 0.0)
    weights = np.where(levels == levels[-1], at_least(p, wanted - 1, users - 1), below)
    return np.where(levels == levels[0], 0.0, weights)


def count_relevant(
    results: pl.DataFrame, table: pl.DataFrame, *, by: Sequence[str] = (), level: str = "gain"
) -> pl.DataFrame:
    """How many results are relevant, for each group: `binary`, at or above the threshold (eq. 1), and `expected`, for
    a random user (eq. 2), with the standard error that the uncertain p bring.

    `results` holds one judged result per row with its level in the column `level`; `table` comes from `parameters`.
    """
    known = table.select(pl.col("level").alias(level), "threshold", "p", "sigma")
    keys = list(by)
    counts = results.with_columns(pl.col(level).cast(pl.Float64)).group_by([*keys, level]).agg(results=pl.len())
    counts = counts.sort(*keys, level)
    joined = counts.join(known, on=level, how="left", maintain_order="left")
    lost = joined.filter(pl.col("p").is_null())
    if len(lost):
        raise DataError(
            f"the level {lost[level][0]:g} has no p(R|level) and {lost['results'].sum()} results have it; "
            "collect double judgments of that level, or smooth (--smoothing 1)"
        )
    number = pl.col("results")
    sums = [
        number.sum().alias("results"),
        number.filter(pl.col(level) >= pl.col("threshold")).sum().alias("binary"),
        (number * pl.col("p")).sum().alias("expected"),
        (number * pl.col("sigma")).pow(2).sum().sqrt().alias("sigma"),
    ]
    return joined.group_by(keys, maintain_order=True).agg(sums) if keys else joined.select(sums)


def document_levels(
    judgments: pl.DataFrame, levels: Array, use: Literal["mean", "first"]
) -> tuple[pl.DataFrame, Array]:
    """Documents with their number of judgments, and the share of each level in them (only the first, for `first`)."""
    rows = judgments.group_by("topic", "doc", maintain_order=True).agg(pl.col("value"), judgments=pl.len())
    rows = rows.sort("topic", "doc")
    used = pl.col("value").list.head(1) if use == "first" else pl.col("value")
    long = rows.with_row_index("number").select("number", used).explode("value")
    at = long["number"].to_numpy().astype(np.int64)
    cell = at * len(levels) + np.searchsorted(levels, long["value"].to_numpy())
    counts = np.bincount(cell, minlength=len(rows) * len(levels)).reshape(len(rows), len(levels)).astype(np.float64)
    return rows.select("topic", "doc", "judgments"), counts / counts.sum(axis=1, keepdims=True)


def refuse_undefined(documents: pl.DataFrame, shares: Array, p: Array, levels: Array) -> None:
    """A document with a level whose p is undefined cannot get a gain."""
    needs = (shares > 0) & np.isnan(p)
    bad = np.flatnonzero(needs.any(axis=1))
    if len(bad):
        level = levels[np.flatnonzero(needs[bad[0]])[0]]
        raise DataError(
            f"the level {level:g} was never used in double judgments, so its p(R|level) is undefined; {len(bad)} "
            f"documents have it ({listed(documents[bad.tolist()])}); judge some of them twice, or smooth "
            "(--smoothing 1)"
        )


def tell_single(judgments: pl.DataFrame, found: Tallies) -> None:
    """Say how many documents the estimate rests on."""
    total = judgments.select("topic", "doc").n_unique()
    if len(found.documents) < total:
        note(f"p(R|level) rests on the {len(found.documents)} of {total} documents that two assessors judged")


@dataclass(frozen=True, kw_only=True)
class _Disagreement(Method):
    """What both models share: p(R|level) for each part of the topics, and the levels each document was given."""

    takes = "judgments"
    estimate: Estimate = "both"
    weight: Weight = "pair"
    smoothing: float = 0.0
    prior: Prior = "marginal"
    levels: tuple[float, ...] | None = None
    split: str | None = None
    use: Literal["mean", "first"] = "mean"

    def found(self, table: Any) -> Tallies:
        return tallies(
            table,
            threshold=self.cut,
            estimate=self.estimate,
            weight=self.weight,
            levels=self.levels,
            split=self.split,
        )

    @property
    def cut(self) -> float | None:
        return None

    def worth(self, p: Array, levels: Array) -> Array:
        """The gain of each level from p(R|level)."""
        raise NotImplementedError

    def parts(self, table: pl.DataFrame) -> list[tuple[pl.DataFrame, Tallies]]:
        """The judgments with the tallies that serve them, one entry per value of the split."""
        found = self.found(table)
        tell_single(table, found)
        if self.split is None:
            return [(table, found)]
        kinds = found.documents[self.split]
        known = set(kinds.unique())
        lost = sorted(str(kind) for kind in table[self.split].unique() if kind not in known)
        if lost:
            raise InputError(
                f"no document of a topic whose {self.split} is {lost[0]} was judged twice",
                cure="judge some of them twice, or do without the split",
            )
        return [
            (table.filter(pl.col(self.split) == kind), found.rows((kinds == kind).to_numpy())) for kind in sorted(known)
        ]

    def _p(self, found: Tallies) -> Array:
        totals = found.relevant.sum(axis=0), found.judged.sum(axis=0)
        return probabilities(*totals, self.smoothing, self.prior)

    def _with_gains(self, table: Any) -> list[tuple[pl.DataFrame, Array, Tallies]]:
        result = []
        for rows, found in self.parts(settle_repeats(judgments_of(table), "all")):
            documents, shares = document_levels(rows, found.levels, self.use)
            gains = self.worth(self._p(found), found.levels)
            refuse_undefined(documents, shares, gains, found.levels)
            gain = shares @ np.nan_to_num(gains)
            result.append((documents.with_columns(gain=pl.Series(gain)), shares, found))
        return result

    def gains(self, table: Any) -> pl.DataFrame:
        return gains_frame(pl.concat([documents for documents, _, _ in self._with_gains(table)]))

    def by_formula(self, table: Any, level: float) -> pl.DataFrame:
        """Each p moved by z sigma, all levels in the same direction: an interval that is on the safe side."""
        z, filled = z_of(level), []
        for documents, shares, found in self._with_gains(table):
            params = estimated(found, smoothing=self.smoothing, prior=self.prior)
            p, sigma = (params[name].fill_null(float("nan")).to_numpy() for name in ("p", "sigma"))
            ends = [self.worth(np.clip(p + sign * z * sigma, 0, 1), found.levels) for sign in (-1, 1)]
            low, high = (shares @ np.nan_to_num(end) for end in ends)
            filled.append(with_interval(documents, low, high))
        return gains_frame(pl.concat(filled))

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        """Draws of the gains by resampling topics (of a single topic, its documents); a level that a draw lacks keeps
        its estimate from all."""
        parts = self._with_gains(table)
        documents = pl.concat([documents.select("topic", "doc") for documents, _, _ in parts])
        order = documents.with_row_index("row").sort("topic", "doc")["row"].to_numpy()

        def make(generator: np.random.Generator, count: int) -> Array:
            blocks = []
            for _, shares, found in parts:
                p = topic_bootstrap(found, generator, count, self.smoothing, self.prior, documents_of_one=True)
                whole = np.broadcast_to(self._p(found), p.shape)
                worth = self.worth(np.where(np.isnan(p), whole, p), found.levels)
                blocks.append(np.nan_to_num(worth) @ shares.T)
            return np.asarray(np.concatenate(blocks, axis=1)[:, order])

        return Draws(documents.sort("topic", "doc"), size, seed, make)

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        """p(R|level) with its sigmas (that of a topic bootstrap with seed 0 among them), and whether there are enough
        double judgments."""
        found, sufficient = [], []
        for _, tally in self.parts(judgments_of(table)):
            params = estimated(tally, smoothing=self.smoothing, prior=self.prior)
            kind = [] if self.split is None else [pl.lit(tally.documents[self.split][0]).alias(self.split)]
            sufficient.append(enough(params).select(*kind, pl.all()))
            if tally.documents["topic"].n_unique() > 1:
                topics = topic_spread(tally, np.random.default_rng(0)).select("level", "sigma_topics")
                params = params.join(topics, on="level", how="left", maintain_order="left")
            else:
                params = params.with_columns(sigma_topics=pl.lit(None, dtype=pl.Float64))
            gains = self.worth(params["p"].fill_null(float("nan")).to_numpy(), tally.levels)
            params = params.with_columns(gain=pl.Series(gains).fill_nan(None))
            found.append(params.select(*kind, pl.all()))
        return {"parameters": pl.concat(found), "enough": pl.concat(sufficient)}


@dataclass(frozen=True, kw_only=True)
class Predicted(_Disagreement):
    """p(R|level), averaged over a document's judgments (or its first); at least `wanted` of `users` users.

    Formula: gain = mean over the document's judgments of p(R | level), p(R | i) = relevant second judgments /
    second judgments of documents judged i first.
    Use: Gains that mean something to users: with ExpectedP they give the precision a random user will see. A sample
    of double judgments is enough.
    Traps: p(R | level) needs double judgments by different assessors, and some at every level: a level nobody
    judged twice has no p, and its documents are refused. One judgment per document gives as many different gains as
    there are levels. The threshold is part of the result.
    """

    name = "predicted"
    purpose = "the chance that a random user finds the document relevant, learnt from double judgments"
    source = DEMEESTER
    threshold: float | None = None
    wanted: int = 1
    users: int = 1

    @property
    def cut(self) -> float | None:
        return self.threshold

    def worth(self, p: Array, levels: Array) -> Array:
        return p if self.wanted == self.users == 1 else at_least(p, self.wanted, self.users)


@dataclass(frozen=True, kw_only=True)
class UserDisagreement(_Disagreement):
    """1 for the top level, p(top|level) below it, 0 for the lowest; or at least `wanted` of `users`.

    Formula: gain = 1 for the top level, p(top | level) between, 0 for the lowest (at 1 of 2 users).
    Use: To repeat results of the 2014 model; predicted is its successor.
    Traps: The observed assessor counts as one of the users, so gains depend on whose judgment it was. The lowest
    level is fixed at 0 even where others disagree. The interval is that of p(top | level) alone: the top and the lowest
    level, which are fixed, have none.
    """

    name = "udm"
    purpose = "the older user disagreement model: the observed assessor or a random one gives the top level"
    source = "Demeester, Aly, Hiemstra, Nguyen, Trieschnigg and Develder, WSDM 2014"
    wanted: int = 1
    users: int = 2

    def worth(self, p: Array, levels: Array) -> Array:
        return udm_weights(p, levels, self.wanted, self.users)
