"""What judgments look like in a few numbers, to hold synthetic ones beside real ones; and the fit of the population.

The figures are read off any judgments table with a column of expert levels; the synthetic table for them is made by
:func:`synthetic_table` with the same design: units of eight, of which two are known.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgewell.assessors.arrays import Crowd, ScaleName, answered, crowd_of, impressions, seconds
from judgewell.assessors.people import make_people
from judgewell.assessors.population import Population

Floats = NDArray[np.float64]
LEVELS = (0, 1, 2, 3)


def synthetic_table(
    scale: ScaleName,
    *,
    seed: int,
    topics: int = 10,
    documents: int = 80,
    redundancy: int = 10,
    people: int = 300,
    size: int = 8,
    population: Population | None = None,
) -> pl.DataFrame:
    """A judgments table with `level`, `known` and `worth`; levels are equally common, failed units are done again."""
    population = population or Population()
    rng = np.random.default_rng(seed)
    crowd = crowd_of(make_people(people, seed, population), population)
    parts = [
        _topic(f"t{number}", scale, crowd, documents, redundancy, size, rng).with_columns(
            unit=pl.format("t{}/{}", pl.lit(number), "unit")
        )
        for number in range(1, topics + 1)
    ]
    return pl.concat(parts)


def _topic(
    topic: str, scale: ScaleName, crowd: Crowd, documents: int, redundancy: int, size: int, rng: np.random.Generator
) -> pl.DataFrame:
    people = crowd.population
    level = rng.integers(0, len(people.levels), documents)
    worth = np.asarray(people.levels)[level] + people.document * rng.normal(size=documents)
    worth = np.concatenate([[people.known_high, people.known_low] + people.known * rng.normal(size=2), worth])
    deck = np.concatenate([rng.permutation(documents) for _ in range(redundancy)]) + 2
    deck = deck[: len(deck) // (size - 2) * (size - 2)].reshape(-1, size - 2)
    units = np.concatenate([np.tile([0, 1], (len(deck), 1)), deck], axis=1)
    units = rng.permuted(units, axis=1)
    who, values = judged_units(scale, worth, units, crowd, rng)
    spent = seconds(crowd, who, size, rng)
    at = units.ravel()
    return pl.DataFrame(
        {
            "topic": topic,
            "doc": [f"d{number}" for number in at],
            "assessor": [f"a{person}" for person in np.repeat(who, size)],
            "unit": np.repeat(np.arange(len(units)), size),
            "position": np.tile(np.arange(1, size + 1), len(units)),
            "scale": scale,
            "value": values.ravel(),
            "seconds": spent.ravel(),
            "worth": worth[at],
            "level": pl.Series(
                [None if one < 2 else int(level[one - 2]) for one in at], dtype=pl.Float64, strict=False
            ),
            "known": [("H", "N", None)[min(one, 2)] for one in at],
        }
    )


def judged_units(
    scale: ScaleName, worth: Floats, units: NDArray[np.int64], crowd: Crowd, rng: np.random.Generator, tries: int = 6
) -> tuple[NDArray[np.int64], Floats]:
    """Who did each unit and their answers; document 0 is the known H and 1 the known N, and a unit in which H does not
    stand above N goes to somebody else. What still fails after some tries is kept."""
    who = rng.integers(0, len(crowd), len(units))
    values = np.zeros(units.shape)
    todo = np.arange(len(units))
    for _ in range(tries):
        who[todo] = rng.integers(0, len(crowd), len(todo))
        seen = impressions(worth[units[todo]], crowd, who[todo], rng)
        values[todo] = answered(scale, seen, crowd, who[todo], rng)
        rows, part = np.arange(len(todo)), units[todo]
        high = values[todo][rows, np.argmax(part == 0, axis=1)]
        low = values[todo][rows, np.argmax(part == 1, axis=1)]
        todo = todo[high <= low]
        if not len(todo):
            break
    return who, values


def figures(judgments: pl.DataFrame, level: str = "level") -> dict[str, float]:
    """The numbers that synthetic judgments must share with real ones; `known` documents apart, where there are any."""
    value = pl.col("value")
    own = judgments.filter(pl.col("known").is_null())
    graded = own.drop_nulls(level)
    found: dict[str, float] = {}
    for number in LEVELS:
        part = graded.filter(pl.col(level) == number)
        means = part.group_by("topic", "doc").agg(value.mean(), value.var().alias("within"))
        found |= {
            f"mean {number}": _number(part["value"].mean()),
            f"zeros {number}": _number((part["value"] == 0).mean()),
            f"hundreds {number}": _number((part["value"] == 100).mean()),
            f"between documents {number}": _number(means["value"].std()),
            f"within documents {number}": _number(means["within"].mean()) ** 0.5,
        }
    inner = own.filter((value > 0) & (value != 100))["value"]
    time = judgments.filter(pl.col("seconds") > 0)
    by_person = time.group_by("assessor").agg(pl.col("seconds").log().std().alias("sd"), pl.len())
    unit_sd = judgments.with_columns(log=(value + 1).log()).group_by("topic", "unit").agg(pl.col("log").std())["log"]
    return found | {
        "tens": _number((inner % 10 == 0).mean()),
        "fives": _number((inner % 5 == 0).mean()),
        "unit log sd": _number(unit_sd.mean()),
        "seconds": _number(time["seconds"].median()),
        "seconds log sd": _number(time["seconds"].log().std()),
        "seconds log sd within": _number(by_person.filter(pl.col("len") >= 8)["sd"].mean()),
        "width": _width(judgments),
    }


def _width(judgments: pl.DataFrame) -> float:
    """The median of known H over known N within units, both raised by one where N may be 0."""
    sides = [
        judgments.filter(pl.col("known") == side).select("topic", "unit", pl.col("value").alias(side)) for side in "HN"
    ]
    both = sides[0].join(sides[1], on=["topic", "unit"])
    offset = 1.0 if (judgments["value"] == 0).any() else 0.0
    return _number(((both["H"] + offset) / (both["N"] + offset)).median())


def _number(value: object) -> float:
    return float("nan") if value is None else float(value)  # type: ignore[arg-type]


_MOMENTS = ("mean", "zeros", "hundreds", "between documents", "within documents")


def fit(target: dict[str, float], *, seed: int = 0, steps: int = 600, start: Population | None = None) -> Population:
    """The population whose figures by level come nearest to the target's (method of simulated moments).

    Nelder–Mead on the sum of squared differences, scores in hundredths, the random numbers held fixed. Everybody is
    careful here: the kinds' shares cannot be told from these figures, nor can a person's own part of the noise, which
    is kept as it is.
    """
    from scipy.optimize import minimize

    start = start or Population()
    wanted = np.array([_scaled(target, name, number) for name in _MOMENTS for number in LEVELS])
    rng = np.random.default_rng(seed)
    shape = (len(start.levels), 200, 10)
    draws = rng.normal(size=(*shape[:2], 1)), rng.normal(size=shape)

    def distance(point: Floats) -> float:
        return float(np.sum((_moments(point, draws) - wanted) ** 2))

    whole = np.hypot(start.person, start.noise)
    first = np.array([*start.levels, start.document, whole, start.nothing, start.everything])
    corners = np.vstack([first, first + np.eye(len(first)) * 0.5])  # scipy's own would hardly move a start of 0
    found = minimize(
        distance,
        first,
        method="Nelder-Mead",
        options={"maxiter": steps, "adaptive": True, "initial_simplex": corners},
    ).x
    count = len(start.levels)
    document, whole, nothing, everything = np.abs(found[count:]).tolist()
    noise = float(np.sqrt(max(whole**2 - start.person**2, 0.0)))
    levels = tuple(float(one) for one in found[:count])
    return replace(start, levels=levels, document=document, noise=noise, nothing=nothing, everything=everything)


def _scaled(target: dict[str, float], name: str, number: int) -> float:
    value = target[f"{name} {number}"]
    return value if name in ("zeros", "hundreds") else value / 100


def _moments(point: Floats, draws: tuple[Floats, Floats]) -> Floats:
    levels, (document, noise, nothing, everything) = point[:-4], np.abs(point[-4:])
    exact = 100 / (1 + np.exp(-(levels[:, None, None] + document * draws[0] + noise * draws[1])))
    scores = np.where(exact < nothing, 0, np.where(exact > 100 - everything, 100, np.round(exact)))
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
