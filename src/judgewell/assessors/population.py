"""Every parameter of synthetic people in one place, with its source.

A document's relevance and a person's impression of it are log odds: 0 is half-way relevant. On 0–100 an impression x is
100 / (1 + e^-x); as a magnitude it is modulus · e^(width · x), Stevens' power law of the odds with the width as the
exponent.

Sources: *fitted* parameters come from `scripts/population_fitting.py` on 7,714 crowd judgments on a 0–100
scale of documents with expert grades (the TREC-8 judgments of Roitero et al. 2018, without known documents);
*measured* ones are read off the same data, and RankME's, by the formulas of `scripts/population_measured.py`;
*solved* ones make one published figure come out, by halving; *tuned* ones were set by hand until one figure of
synthetic judgments came near the one named, which therefore is no evidence for them; *assumed* ones have no source but
judgment, and are ours to defend. docs/evidence/population.md holds all of them beside what the data give.

Of the fitted ones only the proportions are well determined (grades and documents in units of the noise): all of them
stretched by up to a fifth, with `nothing` and `everything` made smaller, fit as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from judgewell.errors import InputError


@dataclass(frozen=True)
class Kind:
    """How a kind of person differs from a careful one. All of it is assumed; the names are those of METHODS 2."""

    name: str
    share: float  # of the population
    shift: float = 0.0  # added to every impression: generous above 0, parsimonious below
    noise: float = 1.0  # times the population's
    pace: float = 1.0  # times the population's seconds
    sense: float = 1.0  # 1 sees relevance, 0 answers at random, -1 has it upside down
    understands: float = 0.97  # chance to answer a question about the topic, or a quiz pair, rightly
    tens: float | None = None  # the share of answers in full tens, where it is the kind's own


KINDS = (
    Kind("careful", 0.66),
    Kind("generous", 0.08, shift=1.2),
    Kind("parsimonious", 0.08, shift=-1.2),
    Kind("lazy", 0.07, noise=1.5, pace=0.5, understands=0.9, tens=0.95),
    Kind("random", 0.05, pace=0.35, sense=0.0, understands=0.25, tens=0.6),
    Kind("reversed", 0.02, sense=-1.0, understands=0.6),
    Kind("too fast", 0.04, noise=1.3, pace=0.1, understands=0.8),
)


@dataclass(frozen=True)
class Population:
    """Synthetic people and documents as a whole."""

    # Documents, in log odds.
    grades: tuple[float, ...] = (-1.1, 1.06, 2.33, 2.8)  # fitted: means of expert grades N, M, R, H
    document: float = 1.76  # fitted: sd of documents within a grade
    known_high: float = 3.3  # fitted, to known documents: mean of known H
    known_low: float = -2.8  # fitted, to known documents: mean of known N
    known: float = 1.0  # fitted, to known documents: sd of either between topics
    mixture: tuple[float, ...] = (0.6, 0.2, 0.13, 0.07)  # assumed: grades of documents without a grade

    # Impressions, in log odds.
    person: float = 0.71  # tuned: persons differ by 0.78 there, and here with the kinds' own shifts
    noise: float = 2.35  # fitted: sd of one impression around the document's relevance
    noise_spread: float = 0.2  # measured: sd of the logarithm of a person's own noise
    lasting: float = 0.8  # assumed: share of the noise's variance that stays when the document is seen again
    assimilation: float = 0.0  # measured: no effect of the previous document was found
    assimilation_spread: float = 0.03  # assumed: sd between persons
    drift: float = 0.014  # measured: for each place; standard error 0.004
    drift_spread: float = 0.03  # assumed: sd between persons, for each place

    # From an impression to an answer.
    nothing: float = 4.5  # fitted: below this on 0–100 people answer 0, times an exponential squared of their own
    everything: float = 0.65  # fitted: so near to 100 they answer 100, times the like
    tens_s100: float = 0.226  # measured: 32 % of answers from 1 to 99 are tens
    fives_s100: float = 0.043  # measured: 42 % are fives
    tens_typed: float = 0.548  # measured: RankME's plain magnitudes (Novikova et al. 2018), without 100
    fives_typed: float = 0.369  # measured: there too
    moduli: tuple[float, ...] = (1.0, 5.0, 10.0, 20.0, 50.0, 100.0)  # assumed: what half-way relevant is called
    modulus_weights: tuple[float, ...] = (0.08, 0.12, 0.35, 0.1, 0.2, 0.15)  # assumed
    width: float = 0.257  # solved: the median of known H over known N is 5 as published (Turpin et al. 2015)
    width_spread: float = 0.5  # assumed: sd of the logarithm of a person's width

    # Time and work.
    seconds: float = 81.0  # measured: median of a unit's first document
    pace_spread: float = 0.43  # measured: sd of the logarithm between persons, less its sampling error
    time_noise: float = 0.61  # measured: sd of the logarithm within a person, less the effect of the place
    faster: float = 0.255  # measured: time falls with the place to this power
    pair_time: float = 0.6  # assumed: a pair, one of its documents known already, takes so much of a document's time
    units: float = 3.0  # measured: median of the units that a person does
    units_spread: float = 0.97  # measured: sd of its logarithm
    abandons: float = 0.01  # assumed: chance that a unit is left half done
    arrivals: float = 120.0  # assumed: mean seconds between the arrivals of two persons

    kinds: tuple[Kind, ...] = field(default=KINDS)

    def __post_init__(self) -> None:
        total = sum(kind.share for kind in self.kinds)
        if abs(total - 1) > 1e-6:
            raise InputError(f"the kinds' shares add up to {total:g}", cure="let them add up to 1")
        if len(self.mixture) != len(self.grades):
            raise InputError(
                f"{len(self.mixture)} shares are given for {len(self.grades)} grades", cure="give one for each"
            )
