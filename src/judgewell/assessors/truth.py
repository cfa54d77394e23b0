"""How relevant each document really is: drawn once from its known grade, the same for everybody and every scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import polars as pl

from judgewell.assessors.population import Population
from judgewell.errors import DataError
from judgewell.study.design.chance import generator


@dataclass(frozen=True)
class Truth:
    """The relevance of documents in log odds, by topic and document."""

    seed: int
    grades: Mapping[tuple[str, str], float]  # expert grades, where there are any
    known: Mapping[tuple[str, str], str]  # H or N, for documents that checks rest on
    population: Population = field(default_factory=Population)

    def relevance(self, topic: str, doc: str) -> float:
        """The document's relevance for the topic: its grade's mean and its own part."""
        rng = generator(self.seed, "worth", topic, doc)
        own, grade_chance = float(rng.normal()), float(rng.random())
        people = self.population
        known = self.known.get((topic, doc))
        if known in ("H", "N"):
            return (people.known_high if known == "H" else people.known_low) + people.known * own
        return people.grades[self._grade((topic, doc), grade_chance)] + people.document * own

    def _grade(self, pair: tuple[str, str], chance: float) -> int:
        if pair not in self.grades:
            shares = self.population.mixture
            return next((n for n in range(len(shares)) if chance < sum(shares[: n + 1])), len(shares) - 1)
        grade, top = self.grades[pair], len(self.population.grades) - 1
        if not self.takes([grade]):
            raise DataError(
                f"topic {pair[0]}, document {pair[1]}: grade {grade:g} is no grade of synthetic assessors; "
                f"use whole grades from 0 to {top}"
            )
        return int(grade)

    @staticmethod
    def takes(grades: Iterable[float]) -> bool:
        """Whether synthetic assessors know these grades: whole ones from 0 to 3."""
        return set(grades) <= set(range(len(Population().grades)))

    def table(self, pairs: Iterable[tuple[str, str]]) -> pl.DataFrame:
        """Documents as a gains table: 1 / (1 + e^-relevance), a share between 0 and 1."""
        from math import exp

        rows = [(topic, doc, 1 / (1 + exp(-self.relevance(topic, doc)))) for topic, doc in pairs]
        return pl.DataFrame(rows, schema={"topic": pl.String, "doc": pl.String, "gain": pl.Float64}, orient="row")
