"""Synthetic judgments by arrays, without a server: for fits, expectations and tables, where millions are needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from judgewell.assessors import answers
from judgewell.assessors.people import Person
from judgewell.assessors.population import Population
from judgewell.stats.arrays import Floats, Ints

ScaleName = Literal["magnitude", "s100", "ordinal", "binary"]
ANYWHERE = 3.0  # sd of the impressions of those who answer at random


@dataclass(frozen=True)
class Crowd:
    """People as arrays, one entry each."""

    population: Population
    modulus: Floats
    width: Floats
    shift: Floats
    noise: Floats
    sense: Floats
    drift: Floats
    pace: Floats
    typed: Floats  # people × (tens, fives)
    s100: Floats
    ends: Floats  # people × (nothing, everything)

    def __len__(self) -> int:
        return len(self.modulus)


def crowd_of(people: Sequence[Person], population: Population | None = None) -> Crowd:
    """People as arrays."""

    def of(name: str) -> Floats:
        return np.array([getattr(person, name) for person in people], dtype=np.float64)

    return Crowd(
        population=population or Population(),
        **{name: of(name) for name in ("modulus", "width", "shift", "noise", "drift", "pace")},
        sense=np.array([person.kind.sense for person in people]),
        typed=np.stack([of("tens_typed"), of("fives_typed")], axis=-1),
        s100=np.stack([of("tens_s100"), of("fives_s100")], axis=-1),
        ends=np.stack([of("nothing"), of("everything")], axis=-1),
    )


def impressions(relevance: Floats, crowd: Crowd, who: Ints, rng: np.random.Generator) -> Floats:
    """How relevant documents look: `relevance` is units × documents, `who` says whose each unit is."""
    person = who[:, None]
    seen = crowd.sense[person] * (relevance + crowd.noise[person] * rng.normal(size=relevance.shape))
    seen = np.where(crowd.sense[person] == 0, rng.normal(0, ANYWHERE, relevance.shape), seen)
    return seen + crowd.shift[person] + crowd.drift[person] * np.arange(relevance.shape[1])


def answered(scale: ScaleName, seen: Floats, crowd: Crowd, who: Ints, rng: np.random.Generator) -> Floats:
    """Impressions as answers on a scale; grades count from 0."""
    person = who[:, None]
    if scale == "magnitude":
        habits = crowd.typed[person, 0], crowd.typed[person, 1]
        return answers.magnitudes(seen, crowd.modulus[person], crowd.width[person], *habits, rng)
    if scale == "s100":
        return answers.s100(
            seen, crowd.ends[person, 0], crowd.ends[person, 1], crowd.s100[person, 0], crowd.s100[person, 1], rng
        )
    return answers.grades(seen, 4 if scale == "ordinal" else 2, crowd.population).astype(np.float64)


def seconds(crowd: Crowd, who: Ints, size: int, rng: np.random.Generator) -> Floats:
    """The time of each document of each unit."""
    people = crowd.population
    place = np.arange(1, size + 1) ** -people.faster
    return np.asarray(crowd.pace[who][:, None] * place * np.exp(rng.normal(0, people.time_noise, (len(who), size))))
