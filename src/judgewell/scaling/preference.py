"""Preferences to gains: how often preferred, how often called relevant, and Bradley-Terry strengths."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.scaling.graph import Cells, Components, cells_of, refuse_unconnected
from judgewell.scaling.inputs import gains_frame, pairs_of, place
from judgewell.scaling.laplacian import Array, Index, System, components_of, laplacian, summed

Ties = Literal["half", "skip", "error"]

STEPS = 100
TOLERANCE = 1e-10  # largest error left in a log strength


def compared(pairs: Any, ties: Ties = "half") -> pl.DataFrame:
    """The pairs with an answer to which is preferred, and `left_wins`: 1, 0, or a half for "same"."""
    frame = pairs_of(pairs)
    unanswered = frame.filter(pl.col("preferred").is_null())
    if len(unanswered) == len(frame):
        raise DataError("no pair says which document is preferred; fill the column preferred (left, right or same)")
    if len(unanswered):
        warnings.warn(
            f"{len(unanswered)} of {len(frame)} pairs have no answer and are left out ({place(unanswered)})",
            JudgewellWarning,
            stacklevel=2,
        )
    frame = frame.filter(pl.col("preferred").is_not_null())
    tied = frame.filter(pl.col("preferred") == "same")
    if len(tied) and ties == "error":
        raise DataError(f"{len(tied)} pairs are tied ({place(tied)}); count them as half a win each (ties=half)")
    if len(tied) and ties == "skip":
        warnings.warn(f"{len(tied)} of {len(frame)} pairs are tied and left out", JudgewellWarning, stacklevel=2)
        frame = frame.filter(pl.col("preferred") != "same")
    wins = pl.col("preferred").replace_strict({"left": 1.0, "same": 0.5, "right": 0.0}, return_dtype=pl.Float64)
    return frame.with_columns(left_wins=wins)


def _sides(frame: pl.DataFrame, left: pl.Expr, right: pl.Expr) -> pl.DataFrame:
    """Both sides of every pair as one row per presented document."""
    shown = [frame.select("topic", doc="left", yes=left), frame.select("topic", doc="right", yes=right)]
    return pl.concat(shown)


def frequencies(sides: pl.DataFrame, presentations: float | None = None) -> pl.DataFrame:
    """Yes answers over presentations: the document's own number of them, or a constant (the paper's K*X*Y)."""
    counts = sides.group_by("topic", "doc").agg(yes=pl.col("yes").sum(), judgments=pl.len())
    divisor = pl.col("judgments") if presentations is None else pl.lit(float(presentations))
    over = counts.filter(pl.col("judgments") > (presentations or float("inf")))
    if len(over):
        warnings.warn(
            f"{len(over)} documents were shown more often than {presentations:g} times, so a frequency may exceed 1 "
            f"({place(over.sort('topic', 'doc'))}); leave presentations out to divide by the actual number",
            JudgewellWarning,
            stacklevel=2,
        )
    return gains_frame(counts.with_columns(gain=pl.col("yes") / divisor))


def preference_frequency(pairs: Any, *, ties: Ties = "half", presentations: float | None = None) -> pl.DataFrame:
    """Times preferred over times shown (Yang, Moffat and Turpin 2018, Q1)."""
    frame = compared(pairs, ties)
    wins = pl.col("left_wins")
    return frequencies(_sides(frame, wins, 1 - wins), presentations)


def relevance_frequency(pairs: Any, *, presentations: float | None = None) -> pl.DataFrame:
    """Times called relevant over times shown and answered (Yang, Moffat and Turpin 2018, Q2)."""
    frame = pairs_of(pairs)
    sides = _sides(frame, pl.col("left_relevant"), pl.col("right_relevant"))
    answered = sides.filter(pl.col("yes").is_not_null()).with_columns(pl.col("yes").cast(pl.Float64))
    if answered.is_empty():
        raise DataError("no pair says whether its documents are relevant; fill left_relevant and right_relevant")
    if len(answered) < len(sides):
        warnings.warn(
            f"{len(sides) - len(answered)} of {len(sides)} presentations have no answer on relevance and are left out",
            JudgewellWarning,
            stacklevel=2,
        )
    return frequencies(answered, presentations)


@dataclass(frozen=True)
class Strengths:
    """Bradley-Terry log strengths: P(i beats j) = 1 / (1 + exp(theta_j - theta_i)), mean 0 in each component."""

    cells: Cells
    labels: Index
    theta: Array
    prior: float

    @cached_property
    def system(self) -> System:
        """The curvature of the log likelihood at theta: its inverse is the covariance of theta."""
        cells = self.cells
        return System(
            laplacian(cells.size, cells.left, cells.right, self.information, ridge=2 * self.prior), self.labels
        )

    @cached_property
    def information(self) -> Array:
        """What each cell's answers tell about its difference: n p (1 - p)."""
        chance = _objective(self.cells, self.theta, self.prior)[1]
        return self.cells.count * chance * (1 - chance)

    @cached_property
    def standard_errors(self) -> Array:
        """Of theta, from the curvature; estimated in components of more than DENSE documents."""
        return np.asarray(np.sqrt(np.maximum(self.system.spread()[0], 0.0)))

    def drawn(self, generator: np.random.Generator, size: int) -> Array:
        """`size` draws of theta from the normal approximation to its sampling distribution."""
        return np.asarray(self.theta[:, None] + self.system.drawn(generator, size))


def bradley_terry(
    pairs: Any, *, prior: float = 0.0, ties: Ties = "half", components: Components = "error"
) -> Strengths:
    """The log strengths that make the answers most likely, less prior * sum(theta^2).

    The prior is a normal one with variance 1/(2 prior) on every log strength (choix's alpha); 0 is maximum likelihood,
    which exists only where every document, and every group of them, has both won and lost against the rest.
    """
    if prior < 0:
        raise InputError(f"the prior {prior:g} is below 0", cure="give 0 (maximum likelihood) or a small number")
    frame = compared(pairs, ties)
    cells = cells_of(frame, frame["left_wins"].to_numpy(), lambda wins: 1 - wins, "sum")
    return fit_strengths(cells, prior=prior, components=components)


def fit_strengths(cells: Cells, *, prior: float = 0.0, components: Components = "error") -> Strengths:
    """Newton's method on cells whose value is the left document's wins."""
    labels = components_of(laplacian(cells.size, cells.left, cells.right, cells.count))
    refuse_unconnected(cells.documents, labels, components)
    if prior == 0:
        _refuse_infinite(cells, labels)
    theta = _newton(cells, labels, prior)
    if prior == 0:
        theta = _centred(theta, labels)
    return Strengths(cells, labels, theta, prior)


def _refuse_infinite(cells: Cells, labels: Index) -> None:
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
        said = "won" if never_won[lonely[0]] else "lost"
        example = f"{place(cells.documents, int(lonely[0]))} never {said}"
    else:
        example = f"topic {topics[0]} has documents that only ever lost to the others"
    raise DataError(
        f"the strengths have no finite maximum likelihood in {count} of {sets} sets of compared documents "
        f"({example}; {never_won.sum()} documents never won, {never_lost.sum()} never lost); "
        "give a prior (--prior 0.1), or use preference frequencies"
    )


def _newton(cells: Cells, labels: Index, prior: float) -> Array:
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
        "give a prior (--prior 0.1)"
    )


def _centred(values: Array, labels: Index) -> Array:
    return np.asarray(values - (np.bincount(labels, values) / np.bincount(labels))[labels])


def _first_guess(cells: Cells, labels: Index) -> Array:
    """The log odds of winning, a half added to wins and losses: near the answer where opponents are mixed."""
    lost = cells.count - cells.value
    won = summed(cells.left, cells.value, cells.size) + summed(cells.right, lost, cells.size)
    gone = summed(cells.left, lost, cells.size) + summed(cells.right, cells.value, cells.size)
    return _centred(np.log((won + 0.5) / (gone + 0.5)), labels)


def _objective(cells: Cells, theta: Array, prior: float) -> tuple[float, Array]:
    """The negative log likelihood with the prior's share, and P(left beats right) of every cell."""
    gap = theta[cells.left] - theta[cells.right]
    decay = np.exp(-np.abs(gap))
    chance = np.where(gap >= 0, 1.0, decay) / (1 + decay)
    # sums, not dot products: a threaded dot of long vectors waits for every core of a busy machine
    loss = (cells.count * (np.log1p(decay) + np.maximum(gap, 0)) - cells.value * gap).sum()
    return float(loss + prior * (theta @ theta)), chance
