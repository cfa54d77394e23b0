"""How often tests of systems raise false alarms and intervals of scores hold the truth.

    python scripts/comparison_intervals.py

writes docs/evidence/comparing.md. One section needs the public data (JUDGEWELL_DATA or ../shared/data).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from evidence import ROOT, made_by, markdown, write
from scipy.stats import wilcoxon

from judgewell import evaluate
from judgewell.comparison.noise import scores_without_noise
from judgewell.comparison.scores import ScoreArray, score_array
from judgewell.comparison.significance import corrected, paired_tests, pairs_of
from judgewell.comparison.top_sets import top_set
from judgewell.errors import JudgewellWarning
from judgewell.evaluation.measures import parse
from judgewell.evaluation.resampled import Rankings
from judgewell.stats.arrays import Floats
from judgewell.stats.means import mean_intervals
from judgewell.stats.resampling import bootstrap_weights, percentile_interval

SEED = 1
TOPICS = (10, 25, 50)
TESTS = ("t", "wilcoxon", "randomisation", "bootstrap")
MEANS, COLLECTIONS, SETS, STUDIES = 4000, 400, 1000, 500
DOCUMENTS, SKILLS = 30, np.array([0.6, 1.0, 1.4])
MEASURE = parse("nDCG@10")


def main() -> None:
    sections = (HEAD, means(), differences(), ties(), alarms(), best_sets(), noise(), "")
    write("comparing.md", "\n".join(sections))


HEAD = f"""# Tests and intervals of systems

{made_by("comparison_intervals.py", f"seed {SEED}")}
The truth is known, because collections are simulated or scores are whole tenths.
"""


def percent(share: Any) -> str:
    return f"{100 * float(share):.1f} %"


def populations(rng: np.random.Generator) -> dict[str, Floats]:
    """Scores of a system on very many topics."""
    size = 200_000
    return {
        "nDCG-like, beta(2, 3)": rng.beta(2, 3, size),
        "AP-like, beta(0.6, 2)": rng.beta(0.6, 2, size),
        "a fifth of topics 0": rng.beta(2, 3, size) * (rng.random(size) > 0.2),
        "near 1, beta(8, 2)": rng.beta(8, 2, size),
        "P@10": rng.binomial(10, rng.beta(1, 1.5, size)) / 10,
        "reciprocal rank": 1 / np.minimum(rng.geometric(0.4, size), 100),
        "P@1, half relevant": (rng.random(size) < 0.5).astype(float),
    }


def means() -> str:
    rng = np.random.default_rng([SEED, 1])
    rows = []
    for name, population in populations(rng).items():
        shares: dict[str, list[str]] = {"percentile": [], "used": []}
        for topics in TOPICS:
            drawn = population[rng.integers(0, len(population), (MEANS, topics))]
            weights = bootstrap_weights(topics, 1000, rng) / topics
            low, high = percentile_interval(weights @ drawn.T)
            used = mean_intervals(drawn, limits=(0, 1))
            for key, ends in (("percentile", (low, high)), ("used", (used.low, used.high))):
                shares[key].append(percent(((ends[0] <= population.mean()) & (population.mean() <= ends[1])).mean()))
        rows.append([name, *(f"{one} / {other}" for one, other in zip(*shares.values(), strict=True))])
    return f"""## Intervals of means over topics

How often do 95 % intervals contain the mean of all topics? Each cell shows the percentile bootstrap / the interval that
`evaluate`, `compare` and `report` print (studentised bootstrap; exact where every topic scores 0 or 1, as under P@1).
{MEANS:,} samples of topics for each cell.

{markdown(["scores", *(f"{count} topics" for count in TOPICS)], rows)}
No interval covers what no topic shows: if nearly all topics score 0, so do all replicates.
"""


def differences() -> str:
    rng = np.random.default_rng([SEED, 4])
    population = rng.beta(2, 3, 100_000) * rng.choice([0.0, 1.0], 100_000, p=[0.2, 0.8]) - rng.beta(2, 4, 100_000)
    rows = []
    for test, name in (("t", "t-test: Student's"), ("wilcoxon", "other tests: studentised bootstrap")):
        held = []
        for topics in TOPICS:
            drawn = population[rng.integers(0, len(population), (MEANS, topics))]
            found = paired_tests(drawn, test, seed=SEED)  # type: ignore[arg-type]
            held.append(percent(((found.low <= population.mean()) & (population.mean() <= found.high)).mean()))
        rows.append([name, *held])
    return f"""## Intervals of a difference between two systems

How often do 95 % intervals contain the mean of a skewed population of differences? {MEANS:,} samples of topics for each
cell.

{markdown(["interval", *(f"{count} topics" for count in TOPICS)], rows)}"""


def ties() -> str:
    hits = dl21_hits()
    first, second = pairs_of(len(hits))
    rows = []
    for topics in (53, 25, 10):
        one, other = hits[first, :topics], hits[second, :topics]
        floats, whole = one / 10 - other / 10, one - other
        counts = []
        for test in ("wilcoxon", "randomisation"):
            p, exact = (paired_tests(one.astype(float), test, seed=SEED).p for one in (floats, whole))  # type: ignore[arg-type]
            counts.append(int(((p < 0.05) != (exact < 0.05)).sum()))
        exact = paired_tests(whole.astype(float), "wilcoxon").p
        naive = np.array([1.0 if not row.any() else wilcoxon(row).pvalue for row in floats])
        rows.append([topics, int(((naive < 0.05) != (exact < 0.05)).sum()), *counts])
    heads = ["topics", "Wilcoxon on floats as they are", "Wilcoxon here", "randomisation here"]
    return f"""## Ties of floats

P@10 of the 63 runs of TREC Deep Learning 2021 (grade 2 or more is relevant): of {len(first):,} pairs of systems,
decisions at α = 0.05 that differ from those on whole tenths, where 3 − 2 is 1 − 0.

{markdown(heads, rows)}"""


def dl21_hits() -> Any:
    """How many of the first ten documents of each run are relevant, topic by topic."""
    data = Path(os.environ.get("JUDGEWELL_DATA", ROOT.parent / "shared" / "data")) / "trec-dl21"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JudgewellWarning)
        runs = sorted(map(str, (data / "runs").iterdir()))
        scores = evaluate(runs, str(data / "qrels.nist.txt"), "P(rel=2)@10")
    return np.rint(10 * score_array(scores).values).astype(int)


def null_scores(systems: int, topics: int, rng: np.random.Generator) -> Floats:
    """Equally good systems: scores in [0, 1] that share the topics' difficulty."""
    return np.clip(rng.beta(2, 3, topics) + rng.normal(0, 0.15, (systems, topics)), 0, 1)


def alarms() -> str:
    rows = []
    for test in TESTS:
        rates, any_left = [], 0.0
        for topics in TOPICS:
            rng = np.random.default_rng([SEED, topics])
            p = []
            for number in range(COLLECTIONS):
                values = null_scores(40, topics, rng)
                p.append(paired_tests(values[0::2] - values[1::2], test, replicates=1000, seed=number).p)  # type: ignore[arg-type]
            rates.append(percent((np.array(p) < 0.05).mean()))
            any_left = float(np.mean([(corrected(one, "holm") < 0.05).any() for one in p]))
        rows.append([test, *rates, percent(any_left)])
    heads = ["test", *(f"{count} topics" for count in TOPICS), f"any after Holm, {TOPICS[-1]} topics"]
    return f"""## False alarms

Two equally good systems on topics of unequal difficulty, {COLLECTIONS * 20:,} pairs for each cell: how often p < 0.05.
The last column is the share of collections of 20 pairs with any significant pair after Holm's correction; it should be
at most 5 %.

{markdown(heads, rows)}"""


def best_sets() -> str:
    rows = []
    counts = (8, 18, 50)
    for test, name in (("joint", "joint test (default)"), ("wilcoxon", "Wilcoxon against the best mean")):
        held = []
        for topics in counts:
            rng = np.random.default_rng([SEED, topics, 6])
            inside = 0
            for number in range(SETS):
                values = null_scores(10, topics, rng)
                scores = ScoreArray(tuple("abcdefghij"), tuple(map(str, range(topics))), values)
                members = top_set(scores, test, replicates=1000, seed=number).members  # type: ignore[arg-type]
                inside += "d" in members
            held.append(percent(inside / SETS))
        rows.append([name, *held])
    return f"""## The set that contains the best system

Ten systems are equally good, so each is the best. How often does the set contain a given one? {SETS:,} collections for
each cell; the joint test promises 95 %; the test of Turpin et al. (2015) promises nothing.

{markdown(["set", *(f"{count} topics" for count in counts)], rows)}"""


def noise() -> str:
    rows = []
    for scale in ("magnitudes", "0–100", "grades 0–3"):
        for count in (2, 3, 5):
            for topics in (10, 25):
                rows.append([scale, count, topics, *coverage(scale, count, topics)])
    heads = ["scale", "judgments", "topics", "plain mean", "without noise", "plain bias", "bias without noise"]
    heads += ["plain difference", "difference without noise"]
    return f"""## Scores without judgment noise

Three systems rank ten of {DOCUMENTS} documents; 2, 3 or 5 noisy judgments are pooled for each document. How often does
the 95 % interval of {MEASURE} contain the score that gains without noise would give over all topics? The table compares
the interval of the plain mean with the interval of `without_noise` (`compare --draws`, `report`), also for the
difference of two systems. {STUDIES} studies for each row; bias is the mean error of the score.

{markdown(heads, rows, words=3)}
Noise biases the plain mean, so an interval around it often misses the truth.

Deviations of resampled gains are scaled on the gains' own scale and kept inside the range of the resampled gains.
"""


def topics_of(count: int, scale: str, rng: np.random.Generator) -> tuple[Floats, Rankings]:
    """True gains of some topics, and the first ten documents of three systems of different skill."""
    worth = rng.normal(0, 1, (count, DOCUMENTS)) + rng.normal(0, 0.3, (count, 1))
    seen = SKILLS[:, None, None] * worth + rng.normal(0, 1.2, (3, count, DOCUMENTS))
    ranked = np.argsort(-seen, axis=-1)[:, :, :10] + np.arange(count)[:, None] * DOCUMENTS
    rows = tuple(np.arange(at * DOCUMENTS, (at + 1) * DOCUMENTS) for at in range(count))
    gains = {
        "magnitudes": np.exp(worth),
        "0–100": 100 / (1 + np.exp(0.75 - 1.5 * worth)),
        "grades 0–3": 3 / (1 + np.exp(0.75 - 1.5 * worth)),
    }[scale]
    return gains.ravel(), Rankings(list("abc"), [str(at) for at in range(count)], ranked.astype(np.int32), rows)


def judged(gains: Floats, scale: str, count: int, rng: np.random.Generator) -> Floats:
    """Noisy judgments (documents × judgments), whose expected pooled gain is the true one."""
    if scale == "magnitudes":
        return np.log(gains)[:, None] + rng.normal(0, 0.8, (len(gains), count))
    top = 100 if scale == "0–100" else 3
    share = gains[:, None] / top
    if top == 3:
        return rng.binomial(3, np.broadcast_to(share, (len(gains), count))).astype(float)
    size = 1 / 0.45 - 1
    return top * rng.beta(share * size + 1e-3, (1 - share) * size + 1e-3, (len(gains), count))


def pooled(judgments: Floats, scale: str) -> Floats:
    return np.exp(judgments.mean(axis=-1)) if scale == "magnitudes" else judgments.mean(axis=-1)


def coverage(scale: str, count: int, topics: int) -> Iterator[str]:
    rng = np.random.default_rng([SEED, count, topics])
    gains, rankings = topics_of(6000, scale, rng)
    truth = rankings.scores(MEASURE, gains[None])[0].mean(axis=1)
    held, gaps, errors = [], [], []
    for _ in range(STUDIES):
        plain, clean = study(scale, count, topics, rng)
        found = [mean_intervals(one, limits=(0, 1)) for one in (plain, clean)]
        held.append([((one.low <= truth) & (truth <= one.high)).mean() for one in found])
        errors.append([(one.mean - truth).mean() for one in found])
        gap = [mean_intervals(one[2] - one[1]) for one in (plain, clean)]
        gaps.append([float(one.low[0] <= truth[2] - truth[1] <= one.high[0]) for one in gap])
    yield from map(percent, np.mean(held, axis=0))
    yield from (f"{error:+.3f}" for error in np.mean(errors, axis=0))
    yield from map(percent, np.mean(gaps, axis=0))


def study(scale: str, count: int, topics: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """The plain scores of one study and those without noise: systems × topics."""
    gains, rankings = topics_of(topics, scale, rng)
    judgments = judged(gains, scale, count, rng)
    picked = rng.integers(0, count, (60, len(gains), count))
    draws = pooled(np.take_along_axis(judgments[None], picked, 2), scale)

    def score(tables: Floats) -> Floats:
        return rankings.scores(MEASURE, tables)

    point = pooled(judgments, scale)
    return score(point[None])[0], scores_without_noise(score, point, [draws], np.full(len(gains), count))


if __name__ == "__main__":
    main()
