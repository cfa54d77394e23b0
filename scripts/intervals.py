"""How often the tests raise false alarms and the intervals hold the truth, on simulated collections where it is known.

    python scripts/intervals.py

writes docs/evidence/intervals.md.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from evidence import made_by, write
from numpy.typing import NDArray

from judgewell.comparison.significance import corrected, paired_tests
from judgewell.comparison.worlds import all_worlds
from judgewell.evaluation.measures import parse
from judgewell.evaluation.resampled import Rankings

Floats = NDArray[np.float64]

SEED = 1
TESTS = ("t", "wilcoxon", "randomisation", "bootstrap")
TOPICS = (10, 25, 50)
COLLECTIONS = 400
STUDIES = 300
DOCUMENTS, JUDGES, NOISE = 40, 5, 0.7
SKILLS = np.array([0.8, 1.0, 1.2])
MEASURE = parse("nDCG@10")


def main() -> None:
    parts = (HEAD, *alarms(), "", *differences(), "", SYSTEMS, *studies(), "", READING, "")
    write("intervals.md", "\n".join(parts))


HEAD = f"""# How far tests and intervals can be trusted

{made_by("intervals.py", f"seed {SEED}")}
All collections here are simulated, so that the truth is known.

## False alarms

Two equally good systems on topics of unequal difficulty, {COLLECTIONS * 20:,} pairs for each cell. At α = 0.05 a test
should tell 5 % of them apart. The last column: the share of collections of 20 pairs in which at least one pair is told
apart after Holm's correction; it should be at most 5 %.

| test | {" | ".join(f"{count} topics" for count in TOPICS)} | any after Holm, {TOPICS[-1]} topics |
|---|{"---:|" * len(TOPICS)}---:|"""

SYSTEMS = f"""## Intervals of systems' scores

{STUDIES} studies of 30 topics with {DOCUMENTS} documents each; {JUDGES} judges with noise judge every document; three
systems rank 10. The share of 95 % intervals of `compare` that hold the {MEASURE} which studies like this one find on
average over all topics of the population (another study), and the one that judgments without noise would give. Left: of
a system's score; right: of the difference of two systems.

| resampled | score, another study | score, no noise | difference, another study | difference, no noise |
|---|---:|---:|---:|---:|"""


READING = """Judgments alone know nothing of other topics: use their worlds to see what judges change, never as the
interval of a score. With both resampled, the intervals hold for another study; noise in judgments moves scores, so they
hold somewhat less often for what judges without noise would have found."""


def alarms() -> Iterator[str]:
    """A line for each test."""
    for test in TESTS:
        rates, any_left = [], 0.0
        for topics in TOPICS:
            rng = np.random.default_rng([SEED, topics])
            p = np.array([null_p(test, topics, rng) for _ in range(COLLECTIONS)])
            rates.append(float((p < 0.05).mean()))
            any_left = float(np.mean([(corrected(one, "holm") < 0.05).any() for one in p]))
        yield f"| {test} | {' | '.join(percent(rate) for rate in rates)} | {percent(any_left)} |"


def null_p(test: str, topics: int, rng: np.random.Generator) -> Floats:
    """The p of 20 pairs of equally good systems: scores in [0, 1] that share the topics' difficulty."""
    difficulty = rng.beta(2, 3, topics)
    values = np.clip(difficulty + rng.normal(0, 0.15, (40, topics)), 0, 1)
    found = paired_tests(values[0::2] - values[1::2], test, resamples=1000, seed=int(rng.integers(1 << 30)))  # type: ignore[arg-type]
    return found.p


def differences() -> Iterator[str]:
    """How often intervals of a difference over topics hold the population's."""
    yield "## Intervals of a difference between two systems, over topics"
    yield ""
    yield "5,000 samples of topics from a population of skewed differences: how often 95 % intervals hold its mean."
    yield ""
    yield f"| interval | {' | '.join(f'{count} topics' for count in TOPICS)} |"
    yield f"|---|{'---:|' * len(TOPICS)}"
    rng = np.random.default_rng([SEED, 4])
    population = rng.beta(2, 3, 100_000) * rng.choice([0.0, 1.0], 100_000, p=[0.2, 0.8]) - rng.beta(2, 4, 100_000)
    truth = population.mean()
    for test in ("t", "bootstrap"):
        held = []
        for topics in TOPICS:
            drawn = population[rng.integers(0, len(population), (5000, topics))]
            found = paired_tests(drawn, test, resamples=1000, seed=SEED)  # type: ignore[arg-type]
            held.append(float(((found.low <= truth) & (truth <= found.high)).mean()))
        yield f"| {test} | {' | '.join(percent(share) for share in held)} |"


def studies() -> Iterator[str]:
    """How often the intervals over judgments, topics and both hold."""
    rng = np.random.default_rng([SEED, 5])
    gains, rankings = topics_like_these(4000, rng)
    no_noise = mean_scores(rankings, gains.ravel())
    another = np.mean([mean_scores(rankings, judged(gains, rng).mean(axis=1)) for _ in range(5)], axis=0)
    held: dict[str, list[list[float]]] = {"judgments": [], "topics": [], "both": []}
    for study in range(STUDIES):
        gains, rankings = topics_like_these(30, rng)
        said = judged(gains, rng)

        def draws(said: Floats = said) -> Iterator[Floats]:
            for _ in range(4):
                picked = rng.integers(0, JUDGES, (100, len(said), JUDGES))
                yield np.take_along_axis(said[None], picked, 2).mean(axis=2)

        def score(tables: Floats, rankings: Rankings = rankings) -> Floats:
            return rankings.scores(MEASURE, tables)

        values = score(said.mean(axis=1)[None])[0]
        for over, worlds in all_worlds(("a", "b", "c"), values, score, draws(), 400, seed=study).items():
            low, high = worlds.interval()
            _, least, most = worlds.difference("c", "b")
            scores = [float(((low <= truth) & (truth <= high)).mean()) for truth in (another, no_noise)]
            gaps = [float(least <= truth[2] - truth[1] <= most) for truth in (another, no_noise)]
            held[over].append(scores + gaps)
    for over, found in held.items():
        yield f"| {over} | {' | '.join(percent(float(share)) for share in np.mean(found, axis=0))} |"


def topics_like_these(count: int, rng: np.random.Generator) -> tuple[Floats, Rankings]:
    """True gains of some topics (topics × documents), and what three systems of different skill rank first."""
    gains = rng.choice([0.0, 1.0, 2.0, 3.0], size=(count, DOCUMENTS), p=[0.5, 0.25, 0.15, 0.1])
    seen = SKILLS[:, None, None] * gains + rng.normal(0, 1.5, (3, count, DOCUMENTS))
    ranked = np.argsort(-seen, axis=-1)[:, :, :10] + np.arange(count)[:, None] * DOCUMENTS
    rows = tuple(np.arange(at * DOCUMENTS, (at + 1) * DOCUMENTS) for at in range(count))
    return gains, Rankings(list("abc"), [str(at) for at in range(count)], ranked.astype(np.int32), rows)


def judged(gains: Floats, rng: np.random.Generator) -> Floats:
    """What the judges say of each document (documents × judges)."""
    return np.maximum(gains.reshape(-1, 1) + rng.normal(0, NOISE, (gains.size, JUDGES)), 0)


def mean_scores(rankings: Rankings, gains: Floats) -> Floats:
    return rankings.scores(MEASURE, gains[None])[0].mean(axis=1)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


if __name__ == "__main__":
    main()
