"""The fit of synthetic people to judgments on 0–100, by simulated moments with the random numbers held fixed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from population_figures import GRADES

from judgewell.assessors.arrays import answered, crowd_of
from judgewell.assessors.people import make_people
from judgewell.assessors.population import Population

Floats = NDArray[np.float64]

_MOMENTS = ("mean", "zeros", "hundreds", "between documents", "within documents")


def fit(target: dict[str, float], *, seed: int = 0, steps: int = 600, start: Population | None = None) -> Population:
    """The population whose figures by grade come nearest to the target's (method of simulated moments).

    Nelder–Mead on the sum of squared differences, scores in hundredths, the random numbers held fixed. Everybody is
    careful here: the kinds' shares cannot be told from these figures, nor can a person's own part of the noise, which
    is kept as it is.
    """
    from scipy.optimize import minimize
    from scipy.stats import norm

    start = start or Population()
    wanted = np.array([_scaled(target, name, number) for name in _MOMENTS for number in GRADES])
    rng = np.random.default_rng(seed)
    shape = (len(start.grades), 300, 12)
    habit = rng.random(shape)
    step = np.where(habit < start.tens_s100, 10, np.where(habit < start.tens_s100 + start.fives_s100, 5, 1))
    documents = np.broadcast_to(norm.ppf((np.arange(shape[1]) + 0.5) / shape[1])[:, None], (*shape[:2], 1))
    draws = documents, rng.normal(size=shape), rng.exponential(size=(2, *shape)) ** 2, step

    def distance(point: Floats) -> float:
        return float(np.sum((_moments(point, draws) - wanted) ** 2))

    whole = np.hypot(start.person, start.noise)
    first = np.array([*start.grades, start.document, whole, start.nothing, start.everything])
    corners = np.vstack([first, first + np.eye(len(first)) * 0.5])  # scipy's own would hardly move a start of 0
    found = minimize(
        distance,
        first,
        method="Nelder-Mead",
        options={"maxiter": steps, "adaptive": True, "initial_simplex": corners},
    ).x
    count = len(start.grades)
    document, whole, nothing, everything = np.abs(found[count:]).tolist()
    noise = float(np.sqrt(max(whole**2 - start.person**2, 0.0)))
    grades = tuple(float(one) for one in found[:count])
    return replace(start, grades=grades, document=document, noise=noise, nothing=nothing, everything=everything)


def _scaled(target: dict[str, float], name: str, number: int) -> float:
    value = target[f"{name} {number}"]
    return value if name in ("zeros", "hundreds") else value / 100


def _moments(point: Floats, draws: tuple[Floats, Floats, Floats, NDArray[Any]]) -> Floats:
    grades, (document, noise, nothing, everything) = point[:-4], np.abs(point[-4:])
    exact = 100 / (1 + np.exp(-(grades[:, None, None] + document * draws[0] + noise * draws[1])))
    none, all_of_it = nothing * draws[2][0], everything * draws[2][1]
    scores = np.where(exact < none, 0, np.where(exact > 100 - all_of_it, 100, np.round(exact / draws[3]) * draws[3]))
    both = (1, 2)
    return np.concatenate(
        [
            scores.mean(both) / 100,
            (scores == 0).mean(both),
            (scores == 100).mean(both),
            scores.mean(2).std(1, ddof=1) / 100,
            np.sqrt(scores.var(2, ddof=1).mean(1)) / 100,
        ]
    )


def known_figures(judgments: pl.DataFrame) -> dict[str, float]:
    """Scores of known documents: means, the shares of 100 (H) and 0 (N), and how those differ between topics."""
    found: dict[str, float] = {}
    for side, end in (("H", 100), ("N", 0)):
        part = judgments.filter(pl.col("known") == side).with_columns(end=pl.col("value") == end)
        topics = part.group_by("topic").agg(pl.col("end").mean())["end"].to_numpy()
        found |= {f"mean {side}": float(part["value"].to_numpy().mean()) / 100}
        found |= {f"end {side}": float(part["end"].to_numpy().mean()), f"between {side}": float(topics.std(ddof=1))}
    return found


def fit_known(target: dict[str, float], *, seed: int = 0, start: Population | None = None) -> Population:
    """The known documents whose figures come nearest to the target's, all kinds of people judging them.

    Units in which H does not stand above N do not count, as in the data.
    """
    from scipy.optimize import minimize

    start = start or Population()
    rng = np.random.default_rng(seed)
    crowd = crowd_of(make_people(400, seed, start), start)
    topics, units = 150, 120
    who = rng.integers(0, len(crowd), (topics, units))
    documents, passing = rng.normal(size=(topics, 1, 2)), rng.normal(size=(topics, units, 2))
    anywhere = rng.normal(0, 3, size=passing.shape)

    def moments(point: Floats) -> dict[str, float]:
        worth = np.array([point[0], point[1]]) + abs(point[2]) * documents
        person = who[..., None]
        seen = crowd.sense[person] * (worth + crowd.noise[person] * passing)
        seen = np.where(crowd.sense[person] == 0, anywhere, seen) + crowd.shift[person]
        flat = answered("s100", seen.reshape(-1, 2), crowd, who.ravel(), np.random.default_rng(seed))
        values = flat.reshape(topics, units, 2)
        passed = values[..., 0] > values[..., 1]
        found: dict[str, float] = {}
        for place, (side, end) in enumerate((("H", 100), ("N", 0))):
            ends = (values[..., place] == end) & passed
            found |= {f"mean {side}": float(values[..., place][passed].mean()) / 100}
            found |= {f"end {side}": float(ends.sum() / passed.sum())}
            found |= {f"between {side}": float((ends.sum(axis=1) / passed.sum(axis=1)).std(ddof=1))}
        return found

    def distance(point: Floats) -> float:
        return float(sum((value - target[name]) ** 2 for name, value in moments(point).items()))

    first = np.array([start.known_high, start.known_low, start.known])
    corners = np.vstack([first, first + np.eye(3) * 0.4])
    high, low, known = minimize(distance, first, method="Nelder-Mead", options={"initial_simplex": corners}).x.tolist()
    return replace(start, known_high=high, known_low=low, known=abs(known))
