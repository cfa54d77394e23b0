"""From an impression (log odds) to an answer, on any scale.

Functions of arrays, so that one answer and a million are made the same way; what is typed is the text of the number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from judgewell.assessors.people import Person
from judgewell.assessors.population import Population
from judgewell.errors import DataError
from judgewell.stats.arrays import Floats, Ints
from judgewell.study.questions import Scale

SMALLEST = 0.01  # nobody types smaller magnitudes
LARGEST = 1e9


def share(impressions: Any) -> Floats:
    """The share of relevance between 0 and 1."""
    return np.asarray(1 / (1 + np.exp(-np.asarray(impressions, dtype=np.float64))))


def s100(impressions: Any, nothing: Any, everything: Any, tens: Any, fives: Any, rng: np.random.Generator) -> Floats:
    """Ints numbers from 0 to 100; 0 and 100 attract what is nearer than `nothing` and `everything`, tens and fives
    those who like them."""
    exact = 100 * share(impressions)
    habit = rng.random(exact.shape)
    step = np.where(habit < tens, 10, np.where(habit < np.asarray(tens) + fives, 5, 1))
    inner = np.clip(np.round(exact / step) * step, 0, 100)
    high = np.where(exact > 100 - np.asarray(everything), 100.0, inner)
    return np.asarray(np.where(exact < nothing, 0.0, high), dtype=np.float64)


def magnitudes(impressions: Any, modulus: Any, width: Any, tens: Any, fives: Any, rng: np.random.Generator) -> Floats:
    """modulus · e^(width · x) in favourite numbers: one digit (tens), halves of it (fives), or two digits."""
    exact = np.clip(np.asarray(modulus) * np.exp(np.asarray(width) * impressions), SMALLEST, LARGEST)
    habit = rng.random(exact.shape)
    decade = np.power(10.0, np.floor(np.log10(exact)))
    step = decade * np.where(habit < tens, 1.0, np.where(habit < np.asarray(tens) + fives, 0.5, 0.1))
    return np.asarray(np.maximum(np.round(np.round(exact / step) * step, 2), SMALLEST), dtype=np.float64)


def thresholds(count: int, population: Population) -> Floats:
    """Where a person passes from one grade to the next: half-way between the means of expert grades.

    Scales with another number of grades than the experts' divide 0–1 into equal parts; two grades part N from the rest.
    """
    if count == 2 or count == len(population.grades):
        middles = (np.asarray(population.grades[1:]) + np.asarray(population.grades[:-1])) / 2
        return np.asarray(middles[: count - 1], dtype=np.float64)
    parts = np.arange(1, count) / count
    return np.asarray(np.log(parts / (1 - parts)))


def grades(impressions: Any, count: int, population: Population) -> Ints:
    """The number of the grade, counted from 0."""
    return np.searchsorted(thresholds(count, population), np.asarray(impressions, dtype=np.float64))


def typed(scale: Scale, impression: float, person: Person, population: Population, rng: np.random.Generator) -> str:
    """What is typed or chosen for one document; always something that the scale takes."""
    if scale.choices:
        return scale.choices[int(grades(impression, len(scale.choices), population))].key
    low, high = scale.numbers.low, scale.numbers.high
    if low is None or high is None:
        if not scale.numbers.in_logs:
            raise DataError(f"synthetic assessors do not know how to answer on the scale {scale.kind}")
        return number(typed_magnitude(impression, person, rng))
    part = float(s100(impression, person.nothing, person.everything, person.tens_s100, person.fives_s100, rng)) / 100
    if scale.numbers.in_logs:
        return number(low + min(max(part, 0.01), 0.99) * (high - low))  # the ends themselves are excluded
    return number(low + round(part * (high - low)))


def typed_magnitude(impression: float, person: Person, rng: np.random.Generator) -> float:
    """The person's magnitude for an impression."""
    return float(magnitudes(impression, person.modulus, person.width, person.tens_typed, person.fives_typed, rng))


def number(value: float) -> str:
    """A number in the plainest spelling, never one that could be read in two ways (1.125 has three decimals)."""
    return str(int(value)) if value == int(value) else f"{value:.2f}".rstrip("0")
