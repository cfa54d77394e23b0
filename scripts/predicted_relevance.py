"""How far predicted relevance can be trusted: p(R|grade) over topics, P(relevant | votes), and "enough"; writes
docs/evidence/predicted.md.

    JUDGEWELL_DATA=… python scripts/predicted_relevance.py [--seed 1] [--studies 500]
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from evidence import ROOT, made_by, markdown, write
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtr
from scipy.stats import betabinom

from judgewell.errors import JudgewellWarning
from judgewell.formats.judgments import read_judgments
from judgewell.scaling.double_judgments import Tallies, tallies
from judgewell.scaling.grade_probabilities import enough, estimated
from judgewell.scaling.predicted import Predicted, grade_votes
from judgewell.scaling.predicted_curves import topic_bootstrap
from judgewell.scaling.votes import VoteModel, vote_model

Floats = NDArray[np.float64]
CUTS = np.array([0.0, 0.8])
EFFECTS = {"none": 0.0, "medium": 0.5, "strong": 1.0}
TOPICS = (10, 25)
DATA = Path(os.environ.get("JUDGEWELL_DATA", ROOT.parent / "shared" / "data"))


def double_topics(rng: np.random.Generator, topics: int, effect: float, size: int = 40) -> pl.DataFrame:
    """Documents of unequal worth, better ones in some topics; two assessors with noise give each a grade 0 to 2."""
    worth = rng.normal(0, 1, (topics, size)) + rng.normal(0, effect, (topics, 1))
    given = (worth + rng.normal(0, 0.8, (2, topics, size)))[..., None] > CUTS
    names = np.indices((2, topics, size)).reshape(3, -1).astype(str)
    columns = {"assessor": names[0], "topic": names[1], "doc": names[2], "value": given.sum(axis=-1).ravel()}
    return pl.DataFrame(columns).with_columns(pl.col("value").cast(pl.Float64))


def over_topics(seed: int, studies: int) -> Iterator[list[str]]:
    """For each effect and number of topics: the coverage at the worst grade, now and by pairs."""
    for number, (name, effect) in enumerate(EFFECTS.items()):
        truth = estimated(tallies(double_topics(np.random.default_rng([seed, number]), 6000, effect)))["p"].to_numpy()
        row = [name]
        for topics in TOPICS:
            held, pairs = [], []
            for turn in range(studies):
                table = estimated(tallies(double_topics(np.random.default_rng([seed, 9, turn]), topics, effect)))
                p, low, high, sigma = (table[name].to_numpy() for name in ("p", "low", "high", "sigma_pairs"))
                held.append((low <= truth) & (truth <= high))
                pairs.append(np.abs(p - truth) <= 1.96 * sigma)
            row += [_share(np.mean(held, axis=0).min()), _share(np.mean(pairs, axis=0).min())]
        yield row


def own_chance(seed: int, studies: int) -> Iterator[list[str]]:
    """How often the interval of P(relevant | votes) holds the document's own chance, for each number of votes."""
    for votes in (1, 2, 3, 5, 15):
        held = []
        for turn in range(max(10, studies // 10)):
            rng = np.random.default_rng([seed, votes, turn])
            worth, size = rng.normal(0, 1, 400), np.where(np.arange(400) < 200, votes, 2)
            doc = np.repeat(np.arange(400), size)
            level = (worth[doc, None] + rng.normal(0, 1, len(doc))[:, None] > CUTS).sum(axis=1)
            judgments = pl.DataFrame({"number": doc, "value": level.astype(float)}).with_columns(
                topic=pl.format("t{}", pl.col("number") // 10), doc=pl.format("{}", "number")
            )
            gains = Predicted().interval(judgments).filter(pl.col("doc").cast(pl.Int64) < 200)
            truth = ndtr(worth[gains["doc"].cast(pl.Int64).to_numpy()] - CUTS[-1])
            held.append(((gains["low"].to_numpy() <= truth) & (truth <= gains["high"].to_numpy())).mean())
        yield [str(votes), _share(float(np.mean(held)))]


def calibration(chance: Floats, came: Floats) -> float:
    """The slope of what came true on the predicted log odds: 1 for a probability."""
    x = logit(np.clip(chance, 1e-3, 1 - 1e-3))

    def loss(c: Floats) -> float:
        z = c[0] + c[1] * x
        return float(-np.log(np.where(came, expit(z), expit(-z))).sum())

    return float(minimize(loss, [0.0, 1.0]).x[1])


@dataclass(frozen=True)
class Pilot:
    """An interface of nyt-crowd: its judgments, the votes of each document, and what all of them teach."""

    name: str
    judgments: pl.DataFrame

    @cached_property
    def tally(self) -> Tallies:
        return tallies(self.judgments)

    @cached_property
    def model(self) -> VoteModel:
        return vote_model(self.tally.joint.sum(axis=0), self.tally.is_relevant)

    def votes(self, judgments: pl.DataFrame) -> Floats:
        return grade_votes(judgments, self.tally.grades, first=False)[1]


def pilots() -> list[Pilot]:
    judgments = read_judgments(DATA / "nyt-crowd" / "judgments.csv.gz")
    return [Pilot(name, judgments.filter(pl.col("pilot") == name)) for name in sorted(judgments["pilot"].unique())]


def last_vote() -> Iterator[list[str]]:
    """Each vote from the others of its document: Brier score and calibration slope of three predictions."""
    for pilot in pilots():
        p = estimated(pilot.tally)["p"].to_numpy()
        chances: dict[str, list[Floats]] = {"mean": [], "share": [], "votes": []}
        came = []
        for level, relevant in enumerate(pilot.tally.is_relevant):
            votes = pilot.votes(pilot.judgments)
            others = np.repeat(votes, votes[:, level].astype(int), axis=0)  # a row for each vote of the grade
            others[:, level] -= 1
            total = others.sum(axis=1)
            chances["mean"].append(others @ p / total)
            chances["share"].append(others @ pilot.tally.is_relevant / total)
            chances["votes"].append(pilot.model.chance(others))
            came.append(np.full(len(others), relevant))
        row = [pilot.name.removeprefix("Pilot_")]
        for parts in chances.values():
            chance, truth = np.concatenate(parts), np.concatenate(came)
            row += [f"{((chance - truth) ** 2).mean():.4f}", f"{calibration(chance, truth):.2f}"]
        yield row


def other_votes(seed: int, turns: int = 20) -> Iterator[list[str]]:
    """From n votes of a document, how many of the others say relevant: the coverage of the middle 95 %."""
    for seen in (1, 3, 5):
        held = []
        for pilot, turn in product(pilots(), range(turns)):
            drawn = pilot.judgments.sample(fraction=1, shuffle=True, seed=seed + turn)
            known = drawn.filter(pl.int_range(pl.len()).over("topic", "doc") < seen)
            votes = pilot.votes(known)
            rest = pilot.votes(pilot.judgments) - votes
            k, n = rest @ pilot.tally.is_relevant, rest.sum(axis=1).astype(int)
            m, s = pilot.model.chance(votes), pilot.model.precision(votes.sum(axis=1))
            m = np.clip(m, 0.5 / (s + 1), 1 - 0.5 / (s + 1))
            beta = betabinom(n, m * s, (1 - m) * s)
            place = beta.cdf(k - 1) + np.random.default_rng([seed, turn]).random(len(k)) * beta.pmf(k)
            held.append((place > 0.025) & (place < 0.975))
        yield [str(seen), _share(float(np.mean(np.concatenate(held))))]


def machine_judges(seed: int) -> tuple[int, int, int, int]:
    """Gaps between neighbouring grades of 33 machine judges: all, apart by pairs, of these refuted by a topic
    bootstrap, and enough now."""
    human, counts = _labels(DATA / "llmjudge" / "human.qrels"), np.zeros(4, dtype=int)
    for path in sorted((DATA / "llmjudge" / "submissions").glob("*.txt")):
        judge = _labels(path).filter(pl.col("value").is_in([0.0, 1.0, 2.0, 3.0]))
        found = tallies(pl.concat([human, judge]), threshold=2, grades=[0, 1, 2, 3])
        table = estimated(found)
        gap, sigma = np.diff(table["p"].to_numpy()), table["sigma_pairs"].to_numpy()
        apart = gap > 1.96 * (sigma[1:] + sigma[:-1])
        drawn = np.diff(topic_bootstrap(found, np.random.default_rng(seed), 2000), axis=1)
        refuted = np.nanquantile(drawn, 0.025, axis=0) <= 0
        said = enough(found)["enough"].fill_null(False).to_numpy()
        counts += [len(gap), apart.sum(), (apart & refuted).sum(), said.sum()]
    return int(counts[0]), int(counts[1]), int(counts[2]), int(counts[3])


def _labels(path: Path) -> pl.DataFrame:
    names = ["topic", "zero", "doc", "value"]
    frame = pl.read_csv(path, separator=" ", has_header=False, new_columns=names, infer_schema=False)
    return frame.select("topic", "doc", pl.col("value").cast(pl.Float64), assessor=pl.lit(path.name))


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"


def page(seed: int, studies: int) -> str:
    heads = ["topic effect", *(f"{topics} topics{what}" for topics in TOPICS for what in ("", ", by pairs"))]
    gaps, apart, refuted, now = machine_judges(seed)
    nyt = ["interface"] + [f"{name}: {what}" for name in ("mean", "share", "votes") for what in ("Brier", "slope")]
    return f"""# How reliable predicted relevance is

{made_by("predicted_relevance.py", f"seed {seed} and {studies} studies a cell")}
## p(R | grade) of other topics

p(R | grade) is the probability that another assessor finds a document of this grade relevant. The studies are
simulated: 40 documents per topic, each graded 0 to 2 by two assessors; topics differ in how good their documents are.
The table shows how often the 95 % interval contains the value in 6,000 topics, at the grade where it does so least
often. "By pairs" is p ± 1.96 σ with the σ that takes pairs of judgments as independent (`sigma_pairs`).

{markdown(heads, over_topics(seed, studies))}
## Enough double judgments

LLMJudge: 33 machine judges beside the human grades, relevant from grade 2 on: {gaps} gaps between neighbouring grades.
By pairs of judgments {apart} of them are larger than required. A topic bootstrap refutes {refuted} of these. `enough`,
whose standard error is over topics, keeps {now}, and none that the bootstrap refutes.

## P(relevant | all votes)

nyt-crowd: 120 documents with 15 votes each on four interfaces. Each vote is predicted from the 14 others of its
document; how far assessors agree is learnt from all votes. The slope comes from a regression of the actual votes on the
predicted log odds. It is 1 for a calibrated probability and above 1 for predictions that are too cautious. `mean` is
the mean of p(R | grade) (`use=mean`), `share` the share of relevant votes, `votes` the default.

{markdown(nyt, last_vote())}
From some votes of a document the method predicts the number of relevant votes among the others. How often do the middle
95 % of this prediction contain the true number (ties broken at random)?

{markdown(["votes seen", "coverage"], other_votes(seed), words=0)}
For simulated documents of three grades, half of them judged twice: how often does the 95 % interval of a gain contain
the document's own probability of being found relevant?

{markdown(["votes", "coverage"], own_chance(seed, studies), words=0)}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--studies", type=int, default=500)
    given = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JudgewellWarning)
        write("predicted.md", page(given.seed, given.studies))


if __name__ == "__main__":
    main()
