"""Parameters of people that can be read off judgments by a formula: round numbers, time, order, differences of persons.

Each function takes a judgments table and gives names of :class:`Population` with values; a standard error and the ends
of a 95 % interval stand under the same name with `_error`, `_low` and `_high` where they are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from population_figures import known_ratios

from judgewell.assessors.population import Population
from judgewell.assessors.synthetic_tables import synthetic_table
from judgewell.errors import DataError

Floats = NDArray[np.float64]
# A study of hardly anything but known documents, of which there are but two in a topic.
KNOWN_ONLY = {"topics": 80, "documents": 6, "people": 2000}
LEAST = 16  # judgments of a person whose spread is looked at
CLIP = 1.0  # a score of 0 or 100 is taken as 1 or 99 where log odds are needed


def round_numbers(values: pl.Series) -> tuple[float, float]:
    """The shares of answers given in tens and in fives, from how many of them are divisible by 10 and by 5.

    With a share t in tens, f in fives and the rest in ones, 10 divides t + f/2 + (1 − t − f)/10 of the answers and 5
    divides t + f + (1 − t − f)/5 of them. The ends of a scale should be excluded before.
    """
    if not len(values):
        raise DataError("there are no answers to read habits from; give some that are not an end of the scale")
    by_ten, by_five = float((values % 10 == 0).mean()), float((values % 5 == 0).mean())  # type: ignore[arg-type]
    rounded = max(0.0, (by_five - 0.2) / 0.8)
    tens = float(np.clip(2 * (by_ten - rounded / 2 - (1 - rounded) / 10), 0, rounded))
    return tens, rounded - tens


def times(judgments: pl.DataFrame) -> dict[str, float]:
    """How long people take: log seconds = log pace of the person − faster · log place + noise.

    The slope is that within persons; the spread between persons is the variance of their means less its sampling error.
    """
    seconds, place = pl.col("seconds"), pl.col("position")
    frame = judgments.filter((seconds > 0) & (place > 0)).select("assessor", y=seconds.log(), x=place.log())
    within = frame.with_columns(pl.col("x", "y") - pl.col("x", "y").mean().over("assessor"))
    x, y = within["x"].to_numpy(), within["y"].to_numpy()
    slope = float(x @ y / (x @ x))
    people = frame["assessor"].n_unique()
    noise = float(((y - slope * x) ** 2).sum() / (len(y) - people - 1))
    flat = frame.with_columns(pace=pl.col("y") - slope * pl.col("x"))
    means = flat.group_by("assessor").agg(pl.col("pace").mean(), pl.len())
    between = float(means["pace"].var() or 0) - noise * float((1 / means["len"]).mean() or 0)  # type: ignore[arg-type]
    first = judgments.filter((seconds > 0) & (place == 1))["seconds"].median()
    return {
        "seconds": float(first or 0.0),  # type: ignore[arg-type]
        "faster": -slope,
        "faster_error": float(np.sqrt(noise / (x @ x))),
        "pace_spread": float(np.sqrt(max(between, 0.0))),
        "time_noise": float(np.sqrt(noise)),
    }


SHUFFLES = 20  # of every unit's order, to see what the formula gives where order does nothing


def order(judgments: pl.DataFrame, *, replicates: int = 1000, seed: int = 0) -> dict[str, float]:
    """How far the document before and the place move an answer on 0–100, in log odds.

    Least squares of an answer on what others gave to the same document, what others gave to the document before
    (assimilation above 0, contrast below) and the place (drift), less what the same gives with the order of every unit
    shuffled: a unit holds one known H, so that what follows it is lower, and what others gave tells a document's worth
    only roughly, which together looks like contrast. A person's answers hang together, so errors and 95 % intervals
    (`_low`, `_high`) come from resampling persons.
    """
    rng = np.random.default_rng(seed)
    frame = _odds(judgments).sort("assessor", "topic", "unit", "position")
    squares, products = _normal_equations(frame)
    found = np.linalg.solve(squares.sum(axis=0), products.sum(axis=0))
    people = len(squares)
    weights = rng.multinomial(people, np.full(people, 1 / people), replicates)
    drawn = np.linalg.solve(np.tensordot(weights, squares, 1), (weights @ products)[..., None])[..., 0]
    bias = np.mean([_without_order(frame, rng) for _ in range(SHUFFLES)], axis=0)
    told: dict[str, float] = {}
    for place, name in ((2, "assimilation"), (3, "drift")):
        low, high = (np.quantile(drawn[:, place], [0.025, 0.975]) - bias[place]).tolist()
        error = float(drawn[:, place].std(ddof=1))
        told |= {name: float((found - bias)[place]), f"{name}_error": error, f"{name}_low": low, f"{name}_high": high}
    return told


def _without_order(frame: pl.DataFrame, rng: np.random.Generator) -> Floats:
    """The same coefficients with the order of every unit shuffled."""
    within = ("assessor", "topic", "unit")
    shuffled = frame.with_columns(chance=pl.Series(rng.random(frame.height))).sort(*within, "chance")
    places = pl.col("position").sort().over(within)  # the same places in another order
    squares, products = _normal_equations(shuffled.with_columns(position=places))
    return np.asarray(np.linalg.solve(squares.sum(axis=0), products.sum(axis=0)))


def _normal_equations(frame: pl.DataFrame) -> tuple[Floats, Floats]:
    """Each person's sums of squares and products of: 1, what others gave, what they gave to the one before, place."""
    before = pl.col("others").shift(1).over("assessor", "topic", "unit")
    rows = frame.with_columns(before=before).drop_nulls("before")
    design = np.column_stack([np.ones(rows.height), rows["others"], rows["before"], rows["position"]])
    starts = np.flatnonzero(rows["assessor"].rle_id().diff().fill_null(1).to_numpy())
    squares = np.add.reduceat(design[:, :, None] * design[:, None, :], starts)
    return squares, np.add.reduceat(design * rows["odds"].to_numpy()[:, None], starts)


def persons(judgments: pl.DataFrame) -> dict[str, float]:
    """How persons differ on 0–100, in log odds: `person` is the sd of their means above what others gave to the same
    documents, `noise_spread` that of the logarithm of their own sd around it, both less their sampling error."""
    frame = _odds(judgments).with_columns(difference=pl.col("odds") - pl.col("others"))
    each = frame.group_by("assessor").agg(pl.len(), mean=pl.col("difference").mean(), sd=pl.col("difference").std())
    each = each.filter((pl.col("len") >= LEAST) & (pl.col("sd") > 0))
    if each.height < 2:
        raise DataError(f"fewer than two persons have {LEAST} judgments of documents that others judged too; give more")
    count = each["len"].to_numpy()
    between = np.var(each["mean"].to_numpy(), ddof=1) - np.mean(each["sd"].to_numpy() ** 2 / count)
    spread = np.var(np.log(each["sd"].to_numpy()), ddof=1) - np.mean(1 / (2 * (count - 1)))
    return {"person": float(np.sqrt(max(between, 0.0))), "noise_spread": float(np.sqrt(max(spread, 0.0)))}


def work(judgments: pl.DataFrame) -> dict[str, float]:
    """How many units persons do: the median, and the sd of the logarithm."""
    units = judgments.group_by("assessor").agg(pl.struct("topic", "unit").n_unique())["topic"]
    return {"units": float(units.median() or 0.0), "units_spread": float(units.log().std() or 0.0)}  # type: ignore[arg-type]


def geometric_mean(ratios: Floats) -> float:
    """e to the mean logarithm: unlike a median it does not jump where ratios are thin."""
    return float(np.exp(np.log(ratios).mean()))


def width_interval(
    judgments: pl.DataFrame, *, middle: Callable[[Floats], Any] = np.median, replicates: int = 1000, seed: int = 0
) -> tuple[float, float]:
    """Between which values the median of known H over known N lies, in 95 % of replicates of the topics."""
    topics = [known_ratios(part).to_numpy() for part in judgments.partition_by("topic")]
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(topics), (replicates, len(topics)))
    middles = [middle(np.concatenate([topics[one] for one in row])) for row in drawn]
    low, high = np.quantile(middles, [0.025, 0.975]).tolist()
    return low, high


def solved_width(ratio: float, *, seed: int = 1, population: Population | None = None, steps: int = 12) -> float:
    """The exponent with which the median of known H over known N is `ratio`, by halving; the ratio rises with it."""
    low, high = 0.02, 1.5
    for _ in range(steps):
        middle = (low + high) / 2
        changed = replace(population or Population(), width=middle)
        found = float(
            np.median(known_ratios(synthetic_table("magnitude", seed=seed, population=changed, **KNOWN_ONLY)))
        )
        low, high = (middle, high) if found < ratio else (low, middle)
    return (low + high) / 2


def _odds(judgments: pl.DataFrame) -> pl.DataFrame:
    """Scores on 0–100 as log odds (`odds`) beside the mean of the same document's other scores (`others`)."""
    share = pl.col("value").clip(CLIP, 100 - CLIP) / 100
    document = ("topic", "doc")
    frame = judgments.with_columns(odds=(share / (1 - share)).log()).filter(pl.len().over(document) > 1)
    total, number = pl.col("odds").sum().over(document), pl.len().over(document)
    return frame.with_columns(others=(total - pl.col("odds")) / (number - 1))
