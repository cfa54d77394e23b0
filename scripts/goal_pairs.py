"""Writes docs/evidence/goal-pairs.md: how safe the stop of a goal about pairs is, and what choosing pairs saves.

    python scripts/goal_pairs.py --worlds 1000 --studies 200 --elsewhere 200 --orders 20

`--worlds` are worlds with two equal systems (for each spread of strengths), `--studies` simulated studies of DL21,
`--elsewhere` those of each other collection, `--orders` random orders of the recorded preferences. These come from the
folder of real data (JUDGEWELL_DATA).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # many small solves: threads would only wait for each other

import argparse
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from importlib.resources import as_file, files
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl
from evidence import made_by, markdown, wilson, write
from scipy.special import expit, logit

from judgewell.analysis.goals.look import Rule, Systems
from judgewell.analysis.goals.pairs import FREE, PairLook, PairState, answered, look_at_pairs, next_pairs, strengths_of
from judgewell.analysis.goals.replay import (
    RecordedPairs,
    ranked_only,
    recorded_answers,
    recorded_pairs,
    replay_pairs,
    simulated,
    verdict,
)
from judgewell.analysis.goals.systems import linear_measure, systems_of
from judgewell.formats.gains import read_gains
from judgewell.formats.judgments import read_judgments, read_pairs
from judgewell.formats.runs import open_runs

DATA = Path(os.environ.get("JUDGEWELL_DATA", Path(__file__).parents[2] / "shared" / "data"))
DISCOUNT = 1 / np.log2(np.arange(2, 12)) / (1 / np.log2(np.arange(2, 12))).sum()
DESIGNS = {"even": "random", "pairs": "largest reduction first"}
ORDERS = {"similar_own": "the estimate that stops the study", "similar": "bradley-terry gains"}
DOCUMENT = ["topic", "doc"]
Truth = tuple[list[np.ndarray], Systems]  # the strengths of each topic's documents
SPREADS = (0.35, 0.7, 1.5)  # standard deviations of θ; the model's own prior has .71
TOPICS, SIZE = 10, 20
MOST, LOOKS_PER_ANSWER = 6, 5  # of a world with two equal systems: answers per document
GOALS = {
    "best within 1 point": Rule(within=1.0),
    "best within 2 points": Rule(within=2.0),
    "order": Rule(decide="order"),
}


def collected(
    strengths: list[np.ndarray],
    systems: Systems,
    rule: Rule,
    rng: np.random.Generator,
    batch: int,
    most: int,
    stop: Callable[[PairLook], bool],
) -> PairLook:
    """A study of pairs whose answers follow Bradley and Terry with these strengths, until `stop` or `most` answers."""
    state = PairState(tuple(np.zeros((len(one), len(one))) for one in strengths))
    seen = look_at_pairs(state, rule, systems)
    while state.answers < most:
        chosen = next_pairs(state, seen, batch)
        chances = [expit(strengths[topic][one] - strengths[topic][other]) for topic, one, other in chosen]
        won = (rng.random(len(chosen)) < chances).astype(float)
        state = answered(state, [(*pair, float(win)) for pair, win in zip(chosen, won, strict=True)])
        seen = look_at_pairs(state, rule, systems, seen)
        if stop(seen):
            break
    return seen


def equal_world(spread: float, rng: np.random.Generator) -> tuple[list[np.ndarray], Systems]:
    """Two systems that rank equally good documents, none of them the same, good ones first but for chance."""
    strengths, weights = [], np.zeros((2, TOPICS * SIZE))
    for topic in range(TOPICS):
        theta = rng.normal(0, spread, SIZE // 2)
        order = np.argsort(-(theta + rng.normal(0, spread, SIZE // 2)))
        for system in range(2):
            weights[system, topic * SIZE + 2 * order[:10] + system] = DISCOUNT / TOPICS
        strengths.append(np.repeat(theta, 2))
    return strengths, Systems(("A", "B"), weights, np.zeros(TOPICS * SIZE))


def highest_z(spread: float, world: int, seed: int) -> float:
    """The highest z of any look at two equal systems."""
    rng = np.random.default_rng([seed, 5, world])
    strengths, systems = equal_world(spread, rng)
    z: list[float] = []

    def note(seen: PairLook) -> bool:
        z.append(seen.look.least)
        return False

    collected(strengths, systems, Rule(), rng, TOPICS * SIZE // LOOKS_PER_ANSWER, MOST * TOPICS * SIZE, note)
    return max(z)


def equal_systems(worlds: int, seed: int, pool: Executor) -> str:
    """How often two equal systems are decided between, at any look."""
    rows = []
    for spread in SPREADS:
        highest = np.array(list(pool.map(partial(highest_z, spread, seed=seed), range(worlds))))
        _, high = wilson(int((highest >= 3.0).sum()), worlds)
        shares = [f"{100 * (highest >= limit).mean():.1f} %" for limit in (1.96, 2.58, 3.0)]
        rows.append([f"{spread:g}", *shares, f"{100 * high:.1f} %"])
        print(*rows[-1], sep=" | ", file=sys.stderr)
    heads = ["s.d. of θ", "z ≥ 1.96", "z ≥ 2.58", "z ≥ 3", "at most (95 %)"]
    return (
        f"{worlds} worlds for each row: {TOPICS} topics of {SIZE} documents, {MOST * LOOKS_PER_ANSWER} looks up to "
        f"{MOST} answers per document. The systems have exactly the same score and no document in common.\n\n"
        f"{markdown(heads, rows)}"
    )


def dl21(pairs: RecordedPairs, systems: Systems) -> Truth:
    """The strengths that all recorded preferences give by the method bradley-terry."""
    wins = pairs.state(pairs.answers).wins
    return [one.theta for one in strengths_of(wins, [np.zeros((len(one), 0)) for one in wins])], systems


def trec8(seed: int) -> Truth:
    """The log odds of the mean of each document's recorded answers from 0 to 100, and twenty simulated systems."""
    whole = recorded_answers(read_judgments(DATA / "trec8-s100" / "judgments.csv.gz"), lambda values: values, 10)
    part, systems = ranked_only(whole, simulated(whole.pool, whole.means, 20, seed))
    return by_topic(part.pool, logit(np.clip(part.means / 100, 0.02, 0.98))), systems


def sample(seed: int) -> Truth:
    """The documents among the first ten of the sample collection's runs: .7 for each grade, and noise of s.d. .5."""
    with as_file(files("judgewell") / "sample") as folder:
        runs = open_runs(sorted(str(path) for path in (folder / "runs").glob("*.gz")))
        qrels = read_gains(folder / "levels.qrels")
        firsts = [
            run.frame(ranks=False).sort("score", "doc", descending=True).group_by("topic").head(10).select(DOCUMENT)
            for run in runs
        ]
        pool = pl.concat(firsts).unique().sort(DOCUMENT).join(qrels, on=DOCUMENT, how="left", maintain_order="left")
        systems = systems_of(runs, linear_measure("DCG@10"), pool)
    grades = pool["gain"].fill_null(0.0).to_numpy()
    return by_topic(pool, 0.7 * grades + np.random.default_rng(seed).normal(0, 0.5, len(pool))), systems


def by_topic(pool: pl.DataFrame, strengths: np.ndarray) -> list[np.ndarray]:
    """The strengths of each topic's documents, relative to their mean."""
    sizes = pool.group_by("topic", maintain_order=True).len()["len"].to_numpy()
    return [one - one.mean() for one in np.split(strengths, np.cumsum(sizes)[:-1])]


def simulated_goals(truths: dict[str, Truth], studies: dict[str, int], seed: int, pool: Executor) -> str:
    """Simulated studies of several collections, whose documents have known strengths."""
    rows = []
    for name, (strengths, systems) in truths.items():
        spread = float(np.concatenate(strengths).std())
        for goal, rule in GOALS.items():
            chance = [np.random.default_rng([seed, 6, at]) for at in range(studies[name])]
            ends = list(pool.map(partial(one_study, strengths, systems, rule), chance))
            label = f"{name}: {len(systems.names)} systems, s.d. of θ {spread:.2f}"
            rows.append([label, *_row(goal, pl.DataFrame(ends))])
            print(*rows[-1], sep=" | ", file=sys.stderr)
    heads = ["truth", "goal", "answers per document, median / 90 %", "decided", "wrong", "overstated", "coverage"]
    return markdown(heads, rows, 2)


def one_study(strengths: list[np.ndarray], systems: Systems, rule: Rule, rng: np.random.Generator) -> dict[str, object]:
    """How a study ends: its cost, and whether its conclusion and its intervals hold."""
    documents = sum(map(len, strengths))
    truth = systems.weights @ np.concatenate([100 * expit(one) for one in strengths])
    seen = collected(
        strengths, systems, rule, rng, documents // 10, rule.most * documents,
        lambda one: one.look.status != "collecting",
    )  # fmt: skip
    end = verdict(seen.look.status, seen.look, truth, rule, systems)
    return end | {"cost": seen.look.answers / documents, "covered": _covered(seen, rule, truth)}


def _covered(seen: PairLook, rule: Rule, truth: np.ndarray) -> float:
    """The share of the reported differences whose 95 % interval holds the true one."""
    last = seen.look
    kept = last.relevant & np.isfinite(last.z) & (last.z > 0)
    gap = (last.means[last.first] - last.means[last.second])[kept]
    error = (gap + (rule.within if rule.decide == "best" else 0.0)) / last.z[kept]
    real = (truth[last.first] - truth[last.second])[kept]
    return float((np.abs(gap - real) <= 1.96 * error).mean()) if kept.any() else float("nan")


def _row(name: str, ends: pl.DataFrame) -> list[str]:
    decided = ends.filter(pl.col("status") == "decided")
    wrong = decided.filter(~pl.col("right")).height
    low, high = wilson(wrong, max(decided.height, 1))
    return [
        name,
        f"{ends['cost'].median():.2f} / {ends['cost'].quantile(0.9):.2f}",
        f"{decided.height} of {ends.height}",
        f"{wrong} ({100 * low:.1f} to {100 * high:.1f} %)",
        f"{100 * (decided['estimated'].sum() / decided['true'].sum() - 1):+.1f} %",
        f"{decided['covered'].mean():.3f}" if "covered" in ends.columns else "—",
    ]


def recorded_goals(pairs: RecordedPairs, systems: Systems, orders: int) -> str:
    """The stop over recorded answers, and the share of answers until the order of systems is similar."""
    rows, similar = [], []
    for goal, rule in list(GOALS.items())[1:]:
        table = replay_pairs(pairs, systems, rule, repeats=orders)
        parts = {design: table.filter(pl.col("design") == design) for design in DESIGNS}
        rows += [[goal, *_row(DESIGNS[design], part)[:-1]] for design, part in parts.items()]
        if rule.decide == "order":
            similar = [_similar(parts, column, order) for column, order in ORDERS.items()]
    heads = ["goal", "pairs", "answers per document, median / 90 %", "decided", "wrong", "overstated"]
    return (
        f"{len(pairs.answers):,} preferences about {len(pairs.pool):,} passages of {len(pairs.sizes)} topics, "
        f"{len(systems.names)} runs, {orders} random orders. *Wrong*: the conclusion under all answers is another.\n\n"
        f"{markdown(heads, rows, 2)}\n"
        "Share of the answers after which the order of the systems has τ ≥ .95 with the order under all answers, mean "
        "and middle 90 % of the random orders:\n\n"
        + markdown(["order of the systems by", *DESIGNS.values(), "ratio of the means (95 %)"], similar)
    )


def _similar(parts: dict[str, pl.DataFrame], column: str, name: str) -> list[str]:
    """The answers until an order is similar, of each design, and the ratio of the two with its bootstrap interval."""
    shares = {design: part[column].to_numpy() for design, part in parts.items()}
    cells = [
        f"{one.mean():.3f} ({np.quantile(one, 0.05):.3f} to {np.quantile(one, 0.95):.3f})" for one in shares.values()
    ]
    picks = np.random.default_rng(0).integers(0, len(shares["even"]), (2000, len(shares["even"])))
    low, high = np.quantile(shares["pairs"][picks].mean(axis=1) / shares["even"][picks].mean(axis=1), [0.025, 0.975])
    return [name, *cells, f"{shares['pairs'].mean() / shares['even'].mean():.2f} ({low:.2f} to {high:.2f})"]


def page(worlds: int, studies: int, elsewhere: int, orders: int, seed: int, pool: Executor) -> str:
    pairs = recorded_pairs(read_pairs(DATA / "dl21-preferences" / "judgments.txt"))
    runs = open_runs(sorted(str(path) for path in (DATA / "trec-dl21" / "runs").glob("*")))
    systems = systems_of(runs, linear_measure("DCG@10"), pairs.pool)
    replayed = pool.submit(recorded_goals, pairs, systems, orders)
    equal = equal_systems(worlds, seed, pool)
    truths = {"DL21": dl21(pairs, systems), "trec8-s100": trec8(seed), "sample collection": sample(seed)}
    truth = simulated_goals(truths, dict.fromkeys(truths, elsewhere) | {"DL21": studies}, seed, pool)
    recorded = replayed.result()
    settings = f"--worlds {worlds} --studies {studies} --elsewhere {elsewhere} --orders {orders} --seed {seed}"
    return f"""# Goals of studies with pairs

{made_by("goal_pairs.py", settings)}
The rules are in [Goals](../guide/goals.md). The gain of a document is 100 / (1 + exp(−θ)) points, θ its log strength by
Bradley and Terry relative to the topic's mean. θ = Xγ + ε: X holds the document's weight in each system and its
importance, γ is the same for all topics and almost free, and only ε, what is left of a single document, has the prior
of the method *bradley-terry*. So documents without answers are predicted, and differences between systems are hardly
shrunken. The next pair is the one whose answer reduces the variance of the contested differences most.

Three choices were made by simulated studies:

- How free γ is (its prior variance, {FREE:g}): so that intervals hold with the DL21 truth below.
- X holds the share of each system in a document: 1/n where n systems rank it. Without shares, coverage on trec8-s100
  was .76 to .80, and differences were understated by 12 to 18 %: what a poor system alone ranks was predicted by the
  good documents that it has in common with others. The width of the prior of ε was not the cause. The exact posterior
  (Gibbs sampling) covered .78 of the differences between all systems in four such studies, with the prior's width fixed
  or learned, and Laplace's approximation .80; where the residuals were drawn by chance, Laplace's covered .99. Three
  columns for each system were tried (8 studies for each goal and collection). Shares gave a coverage of .93 to .99, a
  mark for documents that this system alone ranks .88 to .98, and the importance of its documents .87 to .97.
- The chance p of an answer, by which pairs are chosen, is that of the strengths Xγ, without the documents' own
  answers. With them, two equal systems were decided between in 10 % of 150 worlds with a s.d. of .35: a document that
  lost by chance met fewer of the documents that could have corrected it.

These choices were made with seed 0. Here the answers are new, and so are the simulated systems of trec8-s100 and the
strengths of the sample collection.

## Equal systems are not decided between

{equal}
The stop of a study with confidence .95 is at z ≥ 3. The prior of ε has a s.d. of .71; the other rows show strengths
that spread less or more than it says.

## Studies with a known truth

{studies} simulated studies for each row of DL21, {elsewhere} for each of the others. Answers are drawn by the model of
Bradley and Terry from known strengths, a tenth as many as documents for each batch. DL21: the runs, and passages with
the strengths that all recorded preferences give. trec8-s100: strengths are the log odds of the mean recorded answer on
the scale from 0 to 100, and the systems are simulated. Sample collection: its runs, and strengths of .7 for each grade
with noise of s.d. .5.

{truth}
*Wrong*: for *best*, the chosen system is more than the tolerance below the best; for *order*, at least one declared
pair is in the wrong order; with its 95 % interval. *Overstated*: the sum of the reported differences at the stop over
that of the true ones, less 1. *Coverage*: of 95 % intervals of the reported differences at the stop.

## Recorded preferences

{recorded}
The estimate that stops the study hardly shrinks differences, so its order is noisier at the beginning, and choosing
pairs saves less until that order is similar. Which of the two orders is read was not fixed before both were seen.
"""


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--worlds", type=int, default=1000)
    options.add_argument("--studies", type=int, default=200)
    options.add_argument("--elsewhere", type=int, default=200)
    options.add_argument("--orders", type=int, default=20)
    options.add_argument("--seed", type=int, default=0)
    chosen = vars(options.parse_args())
    warnings.simplefilter("ignore")
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:  # polars does not survive a fork
        write("goal-pairs.md", page(**chosen, pool=pool))
