"""The methods that learn from assessors' disagreement: classes whose fields are their options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.errors import InputError
from judgewell.scaling import predicted
from judgewell.scaling.inputs import gains_frame, judgments_of, settle_repeats
from judgewell.scaling.laplacian import Array
from judgewell.scaling.method import Method
from judgewell.scaling.predicted_curves import enough, topic_bootstrap, topic_spread
from judgewell.scaling.uncertainty import Draws, with_interval, z_of

DEMEESTER = "Demeester, Aly, Hiemstra, Nguyen and Develder, Information Retrieval Journal 2016"


@dataclass(frozen=True, kw_only=True)
class _Disagreement(Method):
    """What both models share: p(R|level) for each part of the topics, and the levels each document was given."""

    takes = "judgments"
    estimate: predicted.Estimate = "both"
    weight: predicted.Weight = "pair"
    smoothing: float = 0.0
    prior: predicted.Prior = "marginal"
    levels: tuple[float, ...] | None = None
    split: str | None = None
    use: Literal["mean", "first"] = "mean"

    def found(self, table: Any) -> predicted.Tallies:
        return predicted.tallies(
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

    def parts(self, table: pl.DataFrame) -> list[tuple[pl.DataFrame, predicted.Tallies]]:
        """The judgments with the tallies that serve them, one entry per value of the split."""
        found = self.found(table)
        predicted.tell_single(table, found)
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

    def _p(self, found: predicted.Tallies) -> Array:
        totals = found.relevant.sum(axis=0), found.judged.sum(axis=0)
        return predicted.probabilities(*totals, self.smoothing, self.prior)

    def _with_gains(self, table: Any) -> list[tuple[pl.DataFrame, Array, predicted.Tallies]]:
        result = []
        for rows, found in self.parts(settle_repeats(judgments_of(table), "all")):
            documents, shares = predicted.document_levels(rows, found.levels, self.use)
            gains = self.worth(self._p(found), found.levels)
            predicted.refuse_undefined(documents, shares, gains, found.levels)
            gain = shares @ np.nan_to_num(gains)
            result.append((documents.with_columns(gain=pl.Series(gain)), shares, found))
        return result

    def gains(self, table: Any) -> pl.DataFrame:
        return gains_frame(pl.concat([documents for documents, _, _ in self._with_gains(table)]))

    def by_formula(self, table: Any, level: float) -> pl.DataFrame:
        """Each p moved by z sigma, all levels in the same direction: an interval that is on the safe side."""
        z, filled = z_of(level), []
        for documents, shares, found in self._with_gains(table):
            params = predicted.estimated(found, smoothing=self.smoothing, prior=self.prior)
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
            params = predicted.estimated(tally, smoothing=self.smoothing, prior=self.prior)
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
        return p if self.wanted == self.users == 1 else predicted.at_least(p, self.wanted, self.users)


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
        return predicted.udm_weights(p, levels, self.wanted, self.users)
