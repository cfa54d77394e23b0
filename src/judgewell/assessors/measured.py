"""Parameters of people that can be read off judgments by a formula: round numbers, time, order, differences of persons.

Each function takes a judgments table and gives names of :class:`Population` with values; standard errors stand under
the same name with `_error` where a formula gives them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.assessors.figures import figures, synthetic_table
from judgewell.assessors.population import Population
from judgewell.errors import DataError

LEAST = 16  # judgments of a person whose spread is looked at
CLIP = 1.0  # a score of 0 or 100 is taken as 1 or 99 where log odds are needed


def round_numbers(values: pl.Series) -> tuple[float, float]:
    """The shares of answers given in tens and in fives, from how many of them are divisible by 10 and by 5.

    With a share t in tens, f in fives and the rest in ones, 10 divides t + f/2 + (1 − t − f)/10 of the answers and 5
    divides t + f + (1 − t − f)/5 of them. The ends of a scale should be left out before.
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


def order(judgments: pl.DataFrame) -> dict[str, float]:
    """How far the document before and the place move an answer on 0–100, in log odds.

    Least squares of an answer on what others gave to the same document, what others gave to the document before
    (assimilation above 0, contrast below) and the place (drift).
    """
    within = ("topic", "unit", "assessor")
    frame = _odds(judgments).sort(*within, "position").with_columns(before=pl.col("others").shift(1).over(within))
    rows = frame.drop_nulls("before")
    ones = np.ones(rows.height)
    design = np.column_stack([ones, rows["others"], rows["before"], rows["position"]])
    return _least_squares(design, rows["odds"].to_numpy(), ("", "", "assimilation", "drift"))


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


def solved_width(ratio: float, *, seed: int = 1, population: Population | None = None, steps: int = 12) -> float:
    """The exponent with which the median of known H over known N is `ratio`, by halving; the ratio rises with it."""
    low, high = 0.02, 1.5
    for _ in range(steps):
        middle = (low + high) / 2
        changed = replace(population or Population(), width=middle)
        found = figures(synthetic_table("magnitude", seed=seed, topics=4, population=changed))["width"]
        low, high = (middle, high) if found < ratio else (low, middle)
    return (low + high) / 2


def _odds(judgments: pl.DataFrame) -> pl.DataFrame:
    """Scores on 0–100 as log odds (`odds`) beside the mean of the same document's other scores (`others`)."""
    share = pl.col("value").clip(CLIP, 100 - CLIP) / 100
    document = ("topic", "doc")
    frame = judgments.with_columns(odds=(share / (1 - share)).log()).filter(pl.len().over(document) > 1)
    total, number = pl.col("odds").sum().over(document), pl.len().over(document)
    return frame.with_columns(others=(total - pl.col("odds")) / (number - 1))


def _least_squares(design: NDArray[Any], y: NDArray[Any], names: tuple[str, ...]) -> dict[str, float]:
    """The coefficients that have a name, with their standard errors."""
    found = np.linalg.lstsq(design, y, rcond=None)[0]
    left = y - design @ found
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * (left @ left) / (len(y) - len(names)))
    told: dict[str, float] = {}
    for name, value, error in zip(names, found, errors, strict=True):
        if name:
            told |= {name: float(value), f"{name}_error": float(error)}
    return told
