"""Tables of synthetic judgments, made by arrays: units of eight documents, of which two are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from judgewell.assessors.arrays import Crowd, ScaleName, answered, crowd_of, impressions, seconds
from judgewell.assessors.people import make_people
from judgewell.assessors.population import Population
from judgewell.stats.arrays import Bools, Floats, Ints

# Units, and who does each; their answers, and which of them pass.
Attempt = Callable[[Ints, Ints], tuple[Floats, Bools]]
TRIES = 8  # with one in five failing, two units in a million fail as often


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
    """A judgments table with `grade`, `known` and `relevance`; grades are equally common, failed units are redone."""
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
    grade = rng.integers(0, len(people.grades), documents)
    relevance = np.asarray(people.grades)[grade] + people.document * rng.normal(size=documents)
    relevance = np.concatenate([[people.known_high, people.known_low] + people.known * rng.normal(size=2), relevance])
    deck = np.concatenate([rng.permutation(documents) for _ in range(redundancy)]) + 2
    deck = deck[: len(deck) // (size - 2) * (size - 2)].reshape(-1, size - 2)
    units = np.concatenate([np.tile([0, 1], (len(deck), 1)), deck], axis=1)
    units = rng.permuted(units, axis=1)
    who, values, _ = judged_units(scale, relevance, units, crowd, rng)
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
            "relevance": relevance[at],
            "grade": pl.Series(
                [None if one < 2 else int(grade[one - 2]) for one in at], dtype=pl.Float64, strict=False
            ),
            "known": [("H", "N", None)[min(one, 2)] for one in at],
        }
    )


def judged_units(
    scale: ScaleName, relevance: Floats, units: Ints, crowd: Crowd, rng: np.random.Generator
) -> tuple[Ints, Floats, Ints]:
    """Who did each unit, their answers, and how many tried; document 0 is the known H and 1 the known N, and a unit in
    which H is not scored above N goes to somebody else. What still fails after some tries is kept."""

    def attempt(todo: Ints, who: Ints) -> tuple[Floats, Bools]:
        seen = impressions(relevance[units[todo]], crowd, who, rng)
        values = answered(scale, seen, crowd, who, rng)
        rows, part = np.arange(len(todo)), units[todo]
        high, low = (values[rows, np.argmax(part == known, axis=1)] for known in (0, 1))
        return values, high > low

    return done_again(units.shape, crowd, attempt, rng)


def done_again(
    shape: tuple[int, ...], crowd: Crowd, attempt: Attempt, rng: np.random.Generator
) -> tuple[Ints, Floats, Ints]:
    """Units done by people at random until a check is passed: who passed it, with which answers, and how many tried."""
    who, tries, values = np.zeros(shape[0], dtype=np.int64), np.zeros(shape[0], dtype=np.int64), np.zeros(shape)
    todo = np.arange(shape[0])
    for _ in range(TRIES):
        who[todo] = rng.integers(0, len(crowd), len(todo))
        tries[todo] += 1
        values[todo], passed = attempt(todo, who[todo])
        todo = todo[~passed]
        if not len(todo):
            break
    return who, values, tries
