"""The methods over pairs: classes whose fields are their options."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.errors import InputError, JudgewellWarning
from judgewell.scaling import preference
from judgewell.scaling.combine import combine
from judgewell.scaling.graph import Components, component_numbers
from judgewell.scaling.inputs import gains_frame, listed
from judgewell.scaling.laplacian import Array, Index
from judgewell.scaling.method import Kind, Method
from judgewell.scaling.ratio import Fit, log_ratio_fit
from judgewell.scaling.uncertainty import Draws, wilson, with_interval, with_log_interval

YANG = "Yang, Moffat and Turpin, ADCS 2018"


def _share_interval(gains: pl.DataFrame, level: float) -> pl.DataFrame:
    """A frequency with Wilson's interval; only where it is a share of the document's own presentations."""
    low, high = wilson(gains["gain"].to_numpy(), gains["judgments"].to_numpy().astype(np.float64), level)
    return with_interval(gains, low, high)


@dataclass(frozen=True, kw_only=True)
class Preference(Method):
    """The share of its comparisons that a document won.

    Formula: (wins + ties/2) / times shown.
    Use: Designs in which every document meets about equally strong others: simple, and never fails.
    Traps: A document that met weak ones looks strong. Documents shown rarely have wide intervals.
    """

    name = "preference"
    purpose = "how often a document was preferred, of the times it was shown"
    source = YANG
    takes = "pairs"
    ties: preference.Ties = "half"
    presentations: float | None = None

    def gains(self, table: Any) -> pl.DataFrame:
        return preference.preference_frequency(table, ties=self.ties, presentations=self.presentations)

    def by_formula(self, table: Any, level: float) -> pl.DataFrame | None:
        return _share_interval(self.gains(table), level) if self.presentations is None else None


@dataclass(frozen=True, kw_only=True)
class Relevance(Method):
    """The share of its comparisons in which a document was called relevant.

    Formula: times called relevant / times shown.
    Use: Pairs whose assessors also said which of the two are relevant: an absolute anchor that preferences lack.
    Traps: Most documents end near 0 or 1; combine it with preferences to tell those apart.
    """

    name = "relevance"
    purpose = "how often a document was called relevant, of the times it was shown"
    source = YANG
    takes = "pairs"
    presentations: float | None = None

    def gains(self, table: Any) -> pl.DataFrame:
        return preference.relevance_frequency(table, presentations=self.presentations)

    def by_formula(self, table: Any, level: float) -> pl.DataFrame | None:
        return _share_interval(self.gains(table), level) if self.presentations is None else None


def _maxima(values: Array, groups: Index) -> Array:
    """Each column's maximum in each row's group, documents x draws."""
    top = np.full((int(groups.max()) + 1, values.shape[1]), -np.inf)
    np.maximum.at(top, groups, values)
    return np.asarray(top[groups])


@dataclass(frozen=True, kw_only=True)
class BradleyTerry(Method):
    """Log strengths theta by maximum likelihood, less prior * sum(theta^2) (a normal prior of variance 1/(2 prior)).

    Formula: P(a beats b) = 1 / (1 + exp(θ_b − θ_a)); θ maximises the likelihood less prior · Σ θ²; gain = exp(θ −
    max θ).
    Use: Designs in which documents meet others of different strength.
    Traps: Without a prior there is no finite answer when a document never won or never lost: it refuses and says
    which. Strengths fall off fast, so all but the best get gains near 0; gain=probability is flatter. The interval
    comes from draws of all strengths together, each over its largest; that of gain=log is against the mean document.
    """

    name = "bradley-terry"
    purpose = "strengths from preferences, so that beating a strong document counts for more"
    source = "Bradley and Terry, Biometrika 1952; ties as half a win each"
    takes = "pairs"
    prior: float = 0.0
    ties: preference.Ties = "half"
    components: Components = "error"
    gain: Literal["strength", "probability", "log"] = "strength"

    def fit(self, table: Any) -> preference.Strengths:
        return preference.bradley_terry(table, prior=self.prior, ties=self.ties, components=self.components)

    def scaled(self, fit: preference.Strengths, theta: Array) -> Array:
        """Gains from log strengths, documents x draws: exp(theta) over the set's largest, the mean chance to beat its
        other documents, or theta itself."""
        if self.gain == "log":
            return theta
        if self.gain == "strength":
            return np.asarray(np.exp(theta - _maxima(theta, fit.labels)))
        result = np.full_like(theta, 0.5)
        for members in fit.system.members:
            if len(members) > 1:
                result[members] = np.stack([_mean_chance(column) for column in theta[members].T], axis=1)
        return result

    def _documents(self, fit: preference.Strengths) -> pl.DataFrame:
        gain = self.scaled(fit, fit.theta[:, None])[:, 0]
        number = component_numbers(fit.cells.documents, fit.labels)
        return fit.cells.documents.with_columns(gain=pl.Series(gain), component=pl.Series(number))

    def gains(self, table: Any) -> pl.DataFrame:
        return gains_frame(self._documents(self.fit(table)), ["component"] if self.components == "separate" else [])

    def by_formula(self, table: Any, level: float) -> pl.DataFrame | None:
        """For log strengths; a gain over the largest or a chance to win depends on other documents' errors too, so
        its interval comes from draws of all strengths together."""
        if self.gain != "log":
            return None
        fit = self.fit(table)
        found = with_log_interval(self._documents(fit), fit.theta, fit.standard_errors, level)
        found = found.with_columns(pl.col("low", "high").log())
        return gains_frame(found, ["component"] if self.components == "separate" else [])

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        fit = self.fit(table)
        documents = fit.cells.documents.select("topic", "doc")
        return Draws(documents, size, seed, lambda rng, count: self.scaled(fit, fit.drawn(rng, count)).T)

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        fit = self.fit(table)
        strengths = fit.cells.documents.with_columns(
            log_strength=pl.Series(fit.theta), standard_error=pl.Series(fit.standard_errors)
        )
        return {"strengths": strengths}


def _mean_chance(theta: Array) -> Array:
    """The mean chance of each to beat the others, without a square array of more than a block of rows."""
    from scipy.special import expit

    count = len(theta)
    chances = [expit(theta[start : start + 512, None] - theta).sum(axis=1) for start in range(0, count, 512)]
    return np.asarray((np.concatenate(chances) - 0.5) / (count - 1))


@dataclass(frozen=True, kw_only=True)
class Ratio(Method):
    """Logarithmic least squares on the two numbers of each pair; the best document of a topic has gain 1.

    Formula: y minimises Σ (ln((s_left + ε) / (s_right + ε)) − (y_left − y_right))²; gain = exp(y − max y).
    Use: Pairs with a number for each document: how many times better, not only which.
    Traps: ε stands for what a 0 is worth: with the default 1 a ratio of 50 to 0 counts as 51. Documents that no
    chain of pairs connects have no common scale.
    """

    name = "ratio"
    purpose = "worth from the two numbers given to each pair, by logarithmic least squares on their ratios"
    source = f"{YANG}; Bozóki, Fülöp and Rónyai, Mathematical and Computer Modelling 2010"
    takes = "pairs"
    epsilon: float = 1.0
    weighted: bool = False
    components: Components = "error"

    def fit(self, table: Any) -> Fit:
        return log_ratio_fit(table, epsilon=self.epsilon, weighted=self.weighted, components=self.components)

    def _documents(self, fit: Fit) -> pl.DataFrame:
        top = _maxima(fit.y[:, None], fit.labels)[:, 0]
        number = component_numbers(fit.cells.documents, fit.labels)
        return fit.cells.documents.with_columns(gain=pl.Series(np.exp(fit.y - top)), component=pl.Series(number))

    def gains(self, table: Any) -> pl.DataFrame:
        return gains_frame(self._documents(self.fit(table)), ["component"] if self.components == "separate" else [])

    def interval(
        self, table: Any, *, level: float = 0.95, kind: Kind | None = None, draws: int = 200, seed: int = 0
    ) -> pl.DataFrame:
        """From draws of all scores together, since a gain over the largest depends on the largest's error too; missing,
        and told, where no comparison is to spare."""
        found = super().interval(table, level=level, kind=kind, draws=draws, seed=seed)
        fit = self.fit(table)
        sure = pl.Series(np.isfinite(fit.sigma))
        without = found.filter(~sure)
        if len(without):
            warnings.warn(
                f"{len(without)} of {len(found)} documents have no interval: their component has no comparison to "
                f"spare ({listed(without)}); compare more pairs",
                JudgewellWarning,
                stacklevel=2,
            )
        return found.with_columns(pl.when(sure).then(pl.col("low", "high")))

    def draws(self, table: Any, size: int, *, seed: int) -> Draws:
        fit = self.fit(table)

        def make(generator: np.random.Generator, count: int) -> Array:
            y = fit.drawn(generator, count)
            return np.asarray(np.exp(y - _maxima(y, fit.labels)).T)

        return Draws(fit.cells.documents.select("topic", "doc"), size, seed, make)

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        return {"consistency": self.fit(table).consistency}


@dataclass(frozen=True, kw_only=True)
class Combined(Method):
    """The geometric mean of other methods over the same pairs, at their default options.

    Formula: (g_1 g_2 … g_m)^(1/m), each g over its topic's maximum.
    Use: Pairs with all three questions: Yang et al.'s gains.
    Traps: A 0 in any part makes the gain 0. Documents that a part lacks are left out and told. The interval is from
    resampled units or assessors; the best document's gain is near 1 in every resample, so its interval is short.
    """

    name = "combined"
    purpose = "the geometric mean of preference, relevance and ratio (or some of them), each over its topic's maximum"
    source = YANG
    takes = "pairs"
    of: tuple[str, ...] = ("preference", "relevance", "ratio")
    scaled: bool = True
    epsilon: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = [name for name in self.of if name not in self.parts()]
        if unknown or len(set(self.of)) < 2:
            raise InputError(
                f"combined: of={';'.join(self.of)} is not possible",
                cure=f"name two or more of {', '.join(self.parts())}",
            )

    def parts(self) -> dict[str, Method]:
        return {part.name: part for part in (Preference(), Relevance(), Ratio(epsilon=self.epsilon), BradleyTerry())}

    def gains(self, table: Any) -> pl.DataFrame:
        chosen = [self.parts()[name] for name in self.of]
        return combine([part.gains(table) for part in chosen], scaled=self.scaled)
