"""One synthetic person, drawn from the population."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgewell.assessors.population import Kind, Population
from judgewell.study.design.chance import generator


@dataclass(frozen=True)
class Person:
    """Who judges: a scale of one's own, noise, pace and habits. The seed and number tell all chance apart."""

    seed: int
    number: int
    kind: Kind
    modulus: float  # the magnitude of a half-way relevant document
    width: float  # the exponent of magnitudes
    shift: float  # added to every impression
    noise: float  # sd of an impression
    assimilation: float  # share of the impression before that is added to the next
    drift: float  # added for each place in a unit
    pace: float  # median seconds for a unit's first document
    tens_typed: float
    fives_typed: float
    tens_s100: float
    fives_s100: float
    units: int  # leaves after so many
    nothing: float  # on 0–100: below this it is 0
    everything: float  # on 0–100: so near to 100 it is 100

    @property
    def name(self) -> str:
        return f"s{self.seed}-{self.number:04d}"

    def chance(self, *names: str) -> np.random.Generator:
        """The person's own random numbers for a purpose."""
        return generator(self.seed, "synthetic", str(self.number), *names)


def make_people(count: int, seed: int, population: Population | None = None) -> list[Person]:
    """Persons in the order in which they arrive; the first ones are the same however many are made."""
    population = population or Population()
    return [_person(number, seed, population) for number in range(1, count + 1)]


def _person(number: int, seed: int, population: Population) -> Person:
    rng = generator(seed, "synthetic person", str(number))
    kind = population.kinds[int(rng.choice(len(population.kinds), p=[kind.share for kind in population.kinds]))]
    moduli = np.asarray(population.modulus_weights) / sum(population.modulus_weights)
    tens = (population.tens_typed, population.tens_s100) if kind.tens is None else (kind.tens, kind.tens)
    return Person(
        seed=seed,
        number=number,
        kind=kind,
        modulus=float(rng.choice(population.moduli, p=moduli)),
        width=population.width * float(np.exp(rng.normal(0, population.width_spread))),
        shift=kind.shift + float(rng.normal(0, population.person)),
        noise=population.noise * kind.noise * float(np.exp(rng.normal(0, population.noise_spread))),
        assimilation=float(rng.normal(population.assimilation, population.assimilation_spread)),
        drift=float(rng.normal(population.drift, population.drift_spread)),
        pace=population.seconds * kind.pace * float(np.exp(rng.normal(0, population.pace_spread))),
        tens_typed=tens[0],
        fives_typed=min(population.fives_typed, 1 - tens[0]),
        tens_s100=tens[1],
        fives_s100=min(population.fives_s100, 1 - tens[1]),
        units=max(1, round(float(np.exp(rng.normal(np.log(population.units), population.units_spread))))),
        nothing=population.nothing * float(rng.exponential()) ** 2,
        everything=population.everything * float(rng.exponential()) ** 2,
    )
