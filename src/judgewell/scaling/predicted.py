"""Predicted relevance: the chance that a random user finds a document relevant, given what assessors said of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError, note
from judgewell.scaling.double_judgments import MANY_GRADES, Estimate, Tallies, Weight, tallies
from judgewell.scaling.grade_probabilities import (
    MIN_TOPICS,
    Prior,
    conditional,
    enough,
    estimated,
    probabilities,
    split_topics,
    topic_interval,
)
from judgewell.scaling.inputs import gains_frame, judgments_of, listed, settle_repeats
from judgewell.scaling.method import Method
from judgewell.scaling.predicted_curves import resampled_counts
from judgewell.scaling.uncertainty import Draws, with_interval
from judgewell.scaling.votes import VoteModel, vote_model
from judgewell.stats.arrays import Floats, Ints

DEMEESTER = "Demeester, Aly, Hiemstra, Nguyen and Develder, Information Retrieval Journal 2015"
MIN_DOCUMENTS = 20  # fewer doubly judged documents do not show how far votes can be trusted


def at_least(p: Floats, wanted: int, users: int) -> Floats:
    """The chance that at least `wanted` of `users` random users find it relevant (sect. 3.1.7)."""
    from scipy.stats import binom

    if not 0 <= wanted <= users:
        raise InputError(f"{wanted} of {users} users is not possible", cure="ask for 1 to all of the users")
    chance = binom.sf(wanted - 1, users, np.nan_to_num(p))
    return np.where(np.isnan(p), np.nan, chance)


def udm_weights(p: Floats, grades: Floats, wanted: int = 1, users: int = 2) -> Floats:
    """The older user disagreement model: at least `wanted` of `users`, the observed assessor among them, give the top
    grade; 1 for the top grade and p(T|i) below at 1 of 2, and 0 for the lowest grade (sect. 3.4)."""
    if not 1 <= wanted <= users or users < 2:
        raise InputError(f"{wanted} of {users} users is not possible", cure="ask for 1 to all of two or more users")
    below = at_least(p, wanted, users - 1) if wanted < users else np.where(np.isnan(p), np.nan, 0.0)
    weights = np.where(grades == grades[-1], at_least(p, wanted - 1, users - 1), below)
    return np.where(grades == grades[0], 0.0, weights)


def count_relevant(results: pl.DataFrame, table: pl.DataFrame, *, by: Sequence[str]) -> pl.DataFrame:
    """How many results are relevant, for each group: `binary`, at or above the threshold (eq. 1), and `expected`, for
    a random user (eq. 2), with the standard error that the uncertain p bring.

    `results` holds one judged result per row with its grade in the column `gain`; `table` comes from `estimated`.
    """
    known = table.select("threshold", "p", "sigma_pairs", gain="grade")
    counts = results.with_columns(pl.col("gain").cast(pl.Float64)).group_by([*by, "gain"]).agg(results=pl.len())
    joined = counts.sort(*by, "gain").join(known, on="gain", how="left", maintain_order="left")
    lost = joined.filter(pl.col("p").is_null())
    if len(lost):
        raise DataError(
            f"the grade {lost['gain'][0]:g} has no p(R|grade) and {lost['results'].sum()} results have it; "
            "collect double judgments of that grade, or smooth (--smoothing 1)"
        )
    number = pl.col("results")
    return joined.group_by(by, maintain_order=True).agg(
        number.sum().alias("results"),
        number.filter(pl.col("gain") >= pl.col("threshold")).sum().alias("binary"),
        (number * pl.col("p")).sum().alias("expected"),
        (number * pl.col("sigma_pairs")).pow(2).sum().sqrt().alias("sigma"),
    )


def refuse_undefined(documents: pl.DataFrame, votes: Floats, p: Floats, grades: Floats) -> None:
    """A document with a grade whose p is undefined cannot get a gain."""
    needs = (votes > 0) & np.isnan(p)
    bad = np.flatnonzero(needs.any(axis=1))
    if len(bad):
        grade = grades[np.flatnonzero(needs[bad[0]])[0]]
        raise DataError(
            f"the grade {grade:g} was never used in double judgments, so its p(R|grade) is undefined; {len(bad)} "
            f"documents have it ({listed(documents[bad.tolist()])}); judge some of them twice, or smooth "
            "(--smoothing 1)"
        )


def _note_single(judgments: pl.DataFrame, tally: Tallies) -> None:
    """Say how many documents the estimate rests on."""
    total = judgments.select("topic", "doc").n_unique()
    if len(tally.documents) < total:
        note(f"p(R|grade) rests on the {len(tally.documents)} of {total} documents that two assessors judged")


@dataclass(frozen=True)
class Part:
    """The documents of one kind of topic (topic, doc, judgments), the votes each has for each grade, and the double
    judgments that serve them; `kind` is the column that names the kind."""

    documents: pl.DataFrame
    votes: Floats
    tally: Tallies
    kind: list[pl.Expr]

    @property
    def shares(self) -> Floats:
        return np.asarray(self.votes / self.votes.sum(axis=1, keepdims=True))

    @cached_property
    def patterns(self) -> tuple[Floats, Ints]:
        """The different rows of votes, and which of them each document has: votes are often alike."""
        patterns, place = np.unique(self.votes, axis=0, return_inverse=True)
        return patterns, np.asarray(place.ravel())


def grade_votes(judgments: pl.DataFrame, grades: Floats, first: bool) -> tuple[pl.DataFrame, Floats]:
    """Documents with their number of judgments, and how many of each grade they have (of the first alone)."""
    rows = judgments.group_by("topic", "doc", maintain_order=True).agg(pl.col("value"), judgments=pl.len())
    rows = rows.sort("topic", "doc")
    used = pl.col("value").list.head(1) if first else pl.col("value")
    long = rows.with_row_index("number").select("number", used).explode("value")
    at = long["number"].to_numpy().astype(np.int64)
    cell = at * len(grades) + np.searchsorted(grades, long["value"].to_numpy())
    counts = np.bincount(cell, minlength=len(rows) * len(grades)).reshape(len(rows), len(grades))
    return rows.select("topic", "doc", "judgments"), counts.astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class _Disagreement(Method):
    """What both models share: p(R|grade) for each kind of topic, and the grades each document was given."""

    takes = "judgments"
    estimate: Estimate = "both"
    weight: Weight = "pair"
    smoothing: float = 0.0
    prior: Prior = "marginal"
    grades: tuple[float, ...] | None = None
    split: str | None = None
    use: Literal["mean", "first"] = "mean"

    @property
    def cut(self) -> float | None:
        return None

    def gains_of(self, p: Floats, grades: Floats) -> Floats:
        """The gain of each grade from p(R|grade)."""
        raise NotImplementedError

    def parts(self, table: Any) -> list[Part]:
        """The documents of each kind of topic with what serves them."""
        frame = settle_repeats(judgments_of(table), "all")
        result = []
        for kind, rows, grades in split_topics(frame, self.split, self.grades):
            tally = tallies(rows, threshold=self.cut, estimate=self.estimate, weight=self.weight, grades=grades)
            _note_single(rows, tally)
            result.append(Part(*grade_votes(rows, tally.grades, self.use == "first"), tally, kind))
        return result

    def _p(self, tally: Tallies) -> Floats:
        return probabilities(tally.relevant.sum(axis=0), tally.judged.sum(axis=0), self.smoothing, self.prior)

    def part_gains(self, part: Part) -> Floats:
        """The gains of the documents of a part."""
        gains = self.gains_of(self._p(part.tally), part.tally.grades)
        refuse_undefined(part.documents, part.votes, gains, part.tally.grades)
        return np.asarray(part.shares @ np.nan_to_num(gains))

    def part_interval(self, part: Part, level: float) -> tuple[Floats, Floats]:
        """Each p moved to its end, all grades in the same direction: an interval that is on the safe side."""
        low, high, _ = topic_interval(part.tally, level, self.smoothing, self.prior)
        undefined = np.isnan(low)
        if undefined.any():
            note(
                f"p(R|grade) has no interval where fewer than {MIN_TOPICS} topics have double judgments of a grade "
                f"(grade {', '.join(f'{one:g}' for one in part.tally.grades[undefined])})"
            )
        ends = [self.gains_of(end, part.tally.grades) for end in (low, high)]
        lacks = (part.votes[:, np.isnan(ends[0])] > 0).any(axis=1)
        low, high = (np.where(lacks, np.nan, part.shares @ np.nan_to_num(end)) for end in ends)
        return low, high

    def part_draws(
        self, part: Part, relevant: Floats, judged: Floats, joint: Floats, rng: np.random.Generator
    ) -> Floats:
        """The gains of a part from resampled counts; a grade that a draw lacks keeps its estimate from all."""
        p = probabilities(relevant, judged, self.smoothing, self.prior)
        gains = self.gains_of(np.where(np.isnan(p), self._p(part.tally), p), part.tally.grades)
        return np.asarray(np.nan_to_num(gains) @ part.shares.T)

    def gains(self, table: Any) -> pl.DataFrame:
        parts = [part.documents.with_columns(gain=pl.Series(self.part_gains(part))) for part in self.parts(table)]
        return gains_frame(pl.concat(parts))

    def by_formula(self, table: Any, level: float) -> pl.DataFrame:
        filled = []
        for part in self.parts(table):
            gains = part.documents.with_columns(gain=pl.Series(self.part_gains(part)))
            filled.append(with_interval(gains, *self.part_interval(part, level)))
        return gains_frame(pl.concat(filled))

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        """Draws of the gains by resampling topics (of a single topic, its documents)."""
        parts = self.parts(table)
        for part in parts:
            self.part_gains(part)  # refuses what has no gain
        documents = pl.concat([part.documents.select("topic", "doc") for part in parts])
        order = documents.with_row_index("row").sort("topic", "doc")["row"].to_numpy()

        def make(generator: np.random.Generator, count: int) -> Floats:
            blocks = [
                np.stack([self.part_draws(part, *counts, generator) for counts in draws])
                for part, draws in ((part, resampled_counts(part.tally, generator, count)) for part in parts)
            ]
            return np.asarray(np.concatenate(blocks, axis=1)[:, order])

        return Draws(documents.sort("topic", "doc"), size, seed, make)

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        """p(R|grade) with its interval over topics, whether there are enough double judgments, and how often another
        assessor gives each grade."""
        grades, sufficient, others = [], [], []
        for part in self.parts(table):
            params = estimated(part.tally, smoothing=self.smoothing, prior=self.prior)
            gains = self.gains_of(params["p"].fill_null(float("nan")).to_numpy(), part.tally.grades)
            grades.append(params.select(*part.kind, pl.all()).with_columns(gain=pl.Series(gains).fill_nan(None)))
            sufficient.append(enough(part.tally).select(*part.kind, pl.all()))
            if len(part.tally.grades) <= MANY_GRADES:
                others.append(conditional(part.tally).select(*part.kind, pl.all()))
        made = {"parameters": pl.concat(grades), "enough": pl.concat(sufficient)}
        return made | ({"disagreement": pl.concat(others)} if others else {})


@dataclass(frozen=True, kw_only=True)
class Predicted(_Disagreement):
    """P(relevant | all votes of the document), or at least `wanted` of `users` users.

    Formula: μ + (M r)ᵀ (M + (diag π − P)/n)⁻¹ (x − π), where x are the shares of the grades in the document's n
    judgments, π their shares in all judgments, P(i, j) the chance that two assessors of one document give i and j,
    M = P − π πᵀ, r marks the relevant grades and μ = πᵀ r. With one judgment this is p(R | grade); with two grades it
    is (a + k)/(a + b + n). use=mean gives the mean of p(R | grade) over the document's judgments, as the
    paper leaves it; use=first gives p(R | grade) of the first judgment alone.
    Use: If gains should mean something to users: with ExpectedP they give the precision that a random user is expected
    to see. A sample of double judgments (a second assessor for some documents) is enough.
    Traps: It needs double judgments by different assessors at every grade: a grade without them has no p, and its
    documents are refused. With fewer than 20 doubly judged documents it uses use=mean, with a note. The mean of p(R |
    grade) is not a probability for documents with many judgments: it stays near μ. The threshold is part of the result.
    """

    name = "predicted"
    purpose = "the chance that a random user finds the document relevant, learnt from double judgments"
    evidence = "nyt-crowd, each vote from the others: calibration slope .84 to 1.02 (with use=mean 3.3 to 7.8)"
    source = f"{DEMEESTER}; votes as in Bühlmann's credibility theory (Jewell 1974)"
    threshold: float | None = None
    wanted: int = 1
    users: int = 1
    use: Literal["votes", "mean", "first"] = "votes"  # type: ignore[assignment]

    @property
    def cut(self) -> float | None:
        return self.threshold

    def parts(self, table: Any) -> list[Part]:
        parts = super().parts(table)
        grades = parts[0].tally.grades
        if self.threshold is None and len(grades) > 2:
            note(f"no threshold is given: relevant means the highest grade, {grades[-1]:g} (--threshold names a lower)")
        return parts

    def gains_of(self, p: Floats, grades: Floats) -> Floats:
        return p if self.wanted == self.users == 1 else at_least(p, self.wanted, self.users)

    def _by_votes(self, part: Part, noted: bool = False) -> bool:
        if self.use != "votes":
            return False
        documents = len(part.tally.documents)
        if documents < MIN_DOCUMENTS and noted and (part.votes.sum(axis=1) > 1).any():
            note(
                f"{documents} documents were judged by two assessors, fewer than the {MIN_DOCUMENTS} that show how far "
                "several votes can be trusted; gains are the mean of p(R|grade) (use=mean)"
            )
        return documents >= MIN_DOCUMENTS

    def _model(self, tally: Tallies, joint: Floats) -> VoteModel:
        relevant = np.zeros(len(joint))
        relevant[tally.groups] = tally.is_relevant
        half = relevant / (2 * relevant.sum()) + (1 - relevant) / (2 * (1 - relevant).sum())
        return vote_model(joint, relevant, self.smoothing, None if self.prior == "marginal" else half)

    def _chance(self, part: Part, p: Floats, joint: Floats) -> tuple[Floats, Floats]:
        """P(relevant | votes) of each pattern of votes and its precision; with one vote P is p(R|grade) itself."""
        given = part.patterns[0]
        model, count = self._model(part.tally, joint), given.sum(axis=1)
        votes = given @ (part.tally.groups[:, None] == np.arange(len(joint)))
        chance = np.where(count == 1, given / count[:, None] @ np.nan_to_num(p), model.chance(votes))
        return chance, model.precision(count)

    def part_gains(self, part: Part) -> Floats:
        if not self._by_votes(part, noted=True):
            return super().part_gains(part)
        p = self._p(part.tally)
        refuse_undefined(part.documents, part.votes, p, part.tally.grades)
        chance = self._chance(part, p, part.tally.joint.sum(axis=0))[0]
        return self.gains_of(chance, part.tally.grades)[part.patterns[1]]

    def part_interval(self, part: Part, level: float) -> tuple[Floats, Floats]:
        """The middle of the beta distribution that the votes leave of the document's own chance."""
        from scipy.special import betaincinv

        if not self._by_votes(part):
            return super().part_interval(part, level)
        chance, precision = self._chance(part, self._p(part.tally), part.tally.joint.sum(axis=0))
        a, b = _beta(chance, precision)
        if not np.isfinite(a).all():
            note("assessors agree no better than by chance, so predicted relevance has no interval")
        ends = [betaincinv(a, b, tail) for tail in ((1 - level) / 2, (1 + level) / 2)]
        low, high = np.minimum(ends[0], chance), np.maximum(ends[1], chance)
        place = part.patterns[1]
        return self.gains_of(low, part.tally.grades)[place], self.gains_of(high, part.tally.grades)[place]

    def part_draws(
        self, part: Part, relevant: Floats, judged: Floats, joint: Floats, rng: np.random.Generator
    ) -> Floats:
        """Each document's chance drawn from its beta distribution, with what the resampled topics say of votes."""
        if not self._by_votes(part):
            return super().part_draws(part, relevant, judged, joint, rng)
        whole = self._p(part.tally)
        p = probabilities(relevant, judged, self.smoothing, self.prior)
        chance, precision = self._chance(part, np.where(np.isnan(p), whole, p), joint)
        a, b = _beta(chance, np.where(np.isfinite(precision), precision, 1e9))
        place = part.patterns[1]
        drawn: Floats = rng.beta(a[place], b[place])
        return self.gains_of(drawn, part.tally.grades)


def _beta(chance: Floats, precision: Floats) -> tuple[Floats, Floats]:
    """The parameters of the beta distribution with that mean and precision; NaN where the precision is not finite."""
    s = np.where(np.isfinite(precision), precision, np.nan)
    inside = np.clip(chance, 0.5 / (s + 1), 1 - 0.5 / (s + 1))
    return inside * s, (1 - inside) * s


@dataclass(frozen=True, kw_only=True)
class UserDisagreement(_Disagreement):
    """1 for the top grade, p(top|grade) below it, 0 for the lowest; or at least `wanted` of `users`.

    Formula: gain = 1 for the top grade, p(top | grade) between, 0 for the lowest (at 1 of 2 users).
    Use: To repeat results of the 2014 model; predicted is its successor.
    Traps: The observed assessor counts as one of the users, so gains depend on whose judgment it was. The lowest grade
    is fixed at 0 even where others disagree. The interval comes from p(top | grade). The gains of the top and the
    lowest grade are fixed, so theirs has no width.
    """

    name = "udm"
    purpose = "the older user disagreement model: the observed assessor or a random one gives the top grade"
    source = "Demeester, Aly, Hiemstra, Nguyen, Trieschnigg and Develder, WSDM 2014"
    wanted: int = 1
    users: int = 2

    def gains_of(self, p: Floats, grades: Floats) -> Floats:
        return udm_weights(p, grades, self.wanted, self.users)
