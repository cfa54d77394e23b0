"""Strengths from preferences, so that beating a strong document counts for more (Bradley and Terry 1952)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError, note
from judgewell.scaling.graph import Cells, Components, cells_of, component_gains, maxima, refuse_unconnected
from judgewell.scaling.inputs import place
from judgewell.scaling.method import Method
from judgewell.scaling.preference import STRENGTH, Graded, Ties, compared
from judgewell.scaling.uncertainty import Draws, with_log_interval
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.laplacian import DENSE, System, components_of, laplacian, summed

STEPS = 100

TOLERANCE = 1e-10  # largest error left in a log strength

Prior = float | Literal["auto"]
MIN_SETS = 5  # fewer sets of compared documents do not show how far strengths lie apart


@dataclass(frozen=True)
class Strengths:
    """Bradley-Terry log strengths: P(i beats j) = 1 / (1 + exp(theta_j - theta_i)), mean 0 in each component."""

    cells: Cells
    labels: Ints
    theta: Floats
    prior: float

    @cached_property
    def system(self) -> System:
        """The curvature of the log likelihood at theta: its inverse is the covariance of theta."""
        cells = self.cells
        return System(
            laplacian(cells.size, cells.left, cells.right, self.information, ridge=2 * self.prior), self.labels
        )

    @cached_property
    def information(self) -> Floats:
        """What each cell's answers tell about its difference: n p (1 - p)."""
        chance = _objective(self.cells, self.theta, self.prior)[1]
        return self.cells.count * chance * (1 - chance)

    @cached_property
    def standard_errors(self) -> Floats:
        """Of theta, from the curvature; estimated in components of more than DENSE documents."""
        return np.asarray(np.sqrt(np.maximum(self.system.spread()[0], 0.0)))

    def drawn(self, generator: np.random.Generator, size: int) -> Floats:
        """`size` draws of theta from the normal approximation to its sampling distribution."""
        return np.asarray(self.theta[:, None] + self.system.drawn(generator, size))


def bradley_terry(
    pairs: Any,
    *,
    prior: Prior = 1.0,
    ties: Ties = "half",
    components: Components = "error",
    graded: Graded = "once",
) -> Strengths:
    """The log strengths that make the answers most likely, less prior * sum(theta^2).

    The prior is a normal one with variance 1/(2 prior) on every log strength (choix's alpha). `auto` chooses it by the
    answers themselves (see `likeliest_prior`). 0 is maximum likelihood, which exists only where every document, and
    every group of them, has both won and lost against the rest. With graded="share" a weak preference is part of a win.
    """
    if prior != "auto" and prior < 0:
        raise InputError(
            f"the prior {prior:g} is below 0", cure="give auto, 0 (maximum likelihood) or a number above 0"
        )
    frame = compared(pairs, ties, graded)
    if graded == "once" and STRENGTH in frame.columns and frame[STRENGTH].n_unique() > 2:
        note("every preference counts once, whatever its strength; --graded share counts weak ones as part of a win")
    cells = cells_of(frame, frame["left_wins"].to_numpy(), lambda wins: 1 - wins, "sum")
    return fit_strengths(cells, prior=prior, components=components)


def fit_strengths(cells: Cells, *, prior: Prior = 1.0, components: Components = "error") -> Strengths:
    """Newton's method on cells whose value is the left document's wins."""
    labels = components_of(laplacian(cells.size, cells.left, cells.right, cells.count))
    refuse_unconnected(cells.documents, labels, components)
    if prior == "auto":
        prior = likeliest_prior(cells, labels)
    if prior == 0:
        _refuse_infinite(cells, labels)
    theta = _newton(cells, labels, prior)
    if prior == 0:
        theta = _centred(theta, labels)
    return Strengths(cells, labels, theta, prior)


def likeliest_prior(cells: Cells, labels: Ints) -> float:
    """The prior between e^-3 and e^3 under which the answers of all sets together are likeliest, by Laplace's method.

    log p(answers | prior) = log likelihood - prior sum(theta^2) + (d/2) log(2 prior) - (1/2) log det(H + 2 prior), H
    being the curvature at theta. For fewer than MIN_SETS sets, or sets of over DENSE documents, it is 1, with a note.
    """
    from scipy.optimize import minimize_scalar

    sizes = np.bincount(labels)
    if len(sizes) < MIN_SETS or sizes.max() > DENSE:
        note(
            f"the prior is 1: choosing it by the answers takes {MIN_SETS} or more sets of compared documents, of at "
            f"most {DENSE} documents each; there are {len(sizes)} of up to {sizes.max()}"
        )
        return 1.0

    def loss(log_prior: float) -> float:
        prior = float(np.exp(log_prior))
        fit = Strengths(cells, labels, _newton(cells, labels, prior), prior)
        blocks = (fit.system.matrix.part(part).array() for part in fit.system.members)
        volume = sum(float(np.linalg.slogdet(block)[1]) for block in blocks)
        return _objective(cells, fit.theta, prior)[0] - cells.size / 2 * log_prior + volume / 2

    return float(np.exp(minimize_scalar(loss, bounds=(-3, 3), method="bounded", options={"maxiter": 8}).x))


def _refuse_infinite(cells: Cells, labels: Ints) -> None:
    """Maximum likelihood is finite only where the graph of wins is strongly connected in every component."""
    from scipy import sparse
    from scipy.sparse import csgraph

    ahead, behind = cells.value > 0, cells.count - cells.value > 0
    winner = np.concatenate([cells.left[ahead], cells.right[behind]])
    loser = np.concatenate([cells.right[ahead], cells.left[behind]])
    wins = sparse.coo_array((np.ones(len(winner)), (winner, loser)), shape=(cells.size, cells.size)).tocsr()
    strong, strong_labels = csgraph.connected_components(wins, connection="strong")
    sets = int(labels.max()) + 1
    if strong == sets:
        return
    never_won = np.bincount(winner, minlength=cells.size) == 0
    never_lost = np.bincount(loser, minlength=cells.size) == 0
    split = pl.DataFrame({"topic": cells.documents["topic"], "weak": labels, "strong": strong_labels})
    broken = split.group_by("topic", "weak").agg(pl.col("strong").n_unique()).filter(pl.col("strong") > 1)
    count, topics = len(broken), sorted(broken["topic"].unique())
    lonely = np.flatnonzero(never_won | never_lost)
    if len(lonely):
        outcome = "won" if never_won[lonely[0]] else "lost"
        example = f"{place(cells.documents, int(lonely[0]))} never {outcome}"
    else:
        example = f"topic {topics[0]} has documents that only ever lost to the others"
    raise DataError(
        f"the strengths have no finite maximum likelihood in {count} of {sets} sets of compared documents "
        f"({example}; {never_won.sum()} documents never won, {never_lost.sum()} never lost); "
        "give a prior (--prior 1), or use preference frequencies"
    )


def _newton(cells: Cells, labels: Ints, prior: float) -> Floats:
    """Newton's method with the steps found by conjugate gradients and halved until the likelihood rises."""
    theta = _first_guess(cells, labels)
    value, chance = _objective(cells, theta, prior)
    first = None
    for _ in range(STEPS):
        slope = cells.net(cells.value - cells.count * chance) - 2 * prior * theta
        if prior == 0:  # rounding must not push a whole component, which nothing holds
            slope = _centred(slope, labels)
        norm = float(np.linalg.norm(slope))
        first = first or norm or 1.0
        exact = max(1e-8, min(0.05, norm / first))
        curvature = laplacian(cells.size, cells.left, cells.right, cells.count * chance * (1 - chance), 2 * prior)
        step, _ = curvature.solved(slope, exact, 20 * cells.size + 100)
        largest = float(np.max(np.abs(step), initial=0.0))
        if largest * max(largest, exact) < TOLERANCE:  # what a further step would still change
            return theta + step
        length = 1.0
        while True:
            nearer, chances = _objective(cells, theta + length * step, prior)
            if nearer <= value + 1e-12 * abs(value) or length < 1e-6:
                break
            length /= 2
        theta, value, chance = theta + length * step, nearer, chances
    raise DataError(
        f"the Bradley-Terry strengths did not settle in {STEPS} steps; the answers almost separate the documents: "
        "give a prior (--prior 1)"
    )


def _centred(values: Floats, labels: Ints) -> Floats:
    return np.asarray(values - (np.bincount(labels, values) / np.bincount(labels))[labels])


def _first_guess(cells: Cells, labels: Ints) -> Floats:
    """The log odds of winning, a half added to wins and losses: near the answer where opponents are mixed."""
    lost = cells.count - cells.value
    won = summed(cells.left, cells.value, cells.size) + summed(cells.right, lost, cells.size)
    gone = summed(cells.left, lost, cells.size) + summed(cells.right, cells.value, cells.size)
    return _centred(np.log((won + 0.5) / (gone + 0.5)), labels)


def _objective(cells: Cells, theta: Floats, prior: float) -> tuple[float, Floats]:
    """The negative log likelihood with the prior's share, and P(left beats right) of every cell."""
    gap = theta[cells.left] - theta[cells.right]
    decay = np.exp(-np.abs(gap))
    chance = np.where(gap >= 0, 1.0, decay) / (1 + decay)
    # sums, not dot products: a threaded dot of long vectors waits for every core of a busy machine
    loss = (cells.count * (np.log1p(decay) + np.maximum(gap, 0)) - cells.value * gap).sum()
    return float(loss + prior * (theta @ theta)), chance


@dataclass(frozen=True, kw_only=True)
class BradleyTerry(Method):
    """Log strengths θ by penalised maximum likelihood; the penalty is a normal prior of variance 1/(2 prior).

    Formula: P(a beats b) = 1 / (1 + exp(θ_b − θ_a)); θ maximises the likelihood less prior · Σ θ²; gain = exp(θ −
    max θ).
    prior=auto chooses the prior under which all answers together are likeliest; prior=0 is maximum likelihood.
    graded=share uses the strength s of graded preferences: the preferred document gets 1/2 + s/(2 S) of a win, S the
    largest strength, and the other the rest, as a tie gives half to each.
    Use: For preferences if documents are compared with others of different strength: a win over a strong document
    counts more.
    Traps: The prior pulls strengths together, most for documents with few answers. Without a prior (prior=0) a document
    that never won or never lost has no finite strength; this is an error that names the document. Strengths decrease
    fast, so all but the best documents get gains near 0; gain=probability decreases less. The interval comes from draws
    of all strengths together, each divided by its largest; for gain=log it compares a document with the mean document.
    """

    name = "bradley-terry"
    purpose = "strengths from preferences, so that beating a strong document counts for more"
    source = "Bradley and Terry, Biometrika 1952; ties as half a win each"
    evidence = (
        "dl21-preferences, held-out log loss: .657 with a prior of 1, .658 with auto, .687 with 0.1 (chance: .693)"
    )
    takes = "pairs"
    prior: Prior = 1.0
    ties: Ties = "half"
    components: Components = "error"
    gain: Literal["strength", "probability", "log"] = "strength"
    graded: Graded = "once"

    def fit(self, table: Any) -> Strengths:
        return bradley_terry(table, prior=self.prior, ties=self.ties, components=self.components, graded=self.graded)

    def scaled(self, fit: Strengths, theta: Floats) -> Floats:
        """Gains from log strengths, documents x draws: exp(theta) over the set's largest, the mean chance to beat its
        other documents, or theta itself."""
        if self.gain == "log":
            return theta
        if self.gain == "strength":
            return np.asarray(np.exp(theta - maxima(theta, fit.labels)))
        result = np.full_like(theta, 0.5)
        for members in fit.system.members:
            if len(members) > 1:
                result[members] = np.stack([_mean_chance(column) for column in theta[members].T], axis=1)
        return result

    def _documents(self, fit: Strengths) -> pl.DataFrame:
        gain = self.scaled(fit, fit.theta[:, None])[:, 0]
        return fit.cells.documents.with_columns(gain=pl.Series(gain))

    def gains(self, table: Any) -> pl.DataFrame:
        fit = self.fit(table)
        return component_gains(self._documents(fit), fit.labels, self.components)

    def by_formula(self, table: Any, level: float) -> pl.DataFrame | None:
        """For log strengths; a gain over the largest or a chance to win depends on other documents' errors too, so
        its interval comes from draws of all strengths together."""
        if self.gain != "log":
            return None
        fit = self.fit(table)
        gains = with_log_interval(self._documents(fit), fit.theta, fit.standard_errors, level)
        gains = gains.with_columns(pl.col("low", "high").log())
        return component_gains(gains, fit.labels, self.components)

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


def _mean_chance(theta: Floats) -> Floats:
    """The mean chance of each to beat the others, without a square array of more than a block of rows."""
    from scipy.special import expit

    count = len(theta)
    chances = [expit(theta[start : start + 512, None] - theta).sum(axis=1) for start in range(0, count, 512)]
    return np.asarray((np.concatenate(chances) - 0.5) / (count - 1))
