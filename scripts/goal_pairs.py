"""Writes docs/evidence/goal-pairs.md: how safe the stop of a goal about pairs is, and what choosing pairs saves.

    python scripts/goal_pairs.py --worlds 300 --studies 100 --orders 20

`--worlds` are worlds with two equal systems (for each spread of strengths), `--studies` simulated studies of
the DL21 runs, `--orders` random orders of the recorded preferences. These come from the folder of real data
(JUDGEWELL_DATA).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # many small solves: threads would only wait for each other

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
import polars as pl
from evidence import made_by, markdown, wilson, write
from scipy.special import expit

from judgewell.analysis.goals.look import Rule, Systems
from judgewell.analysis.goals.pairs import PairLook, PairState, answered, look_at_pairs, next_pairs, strengths_of
from judgewell.analysis.goals.replay import RecordedPairs, recorded_pairs, replay_pairs, verdict
from judgewell.analysis.goals.systems import linear_measure, systems_of
from judgewell.formats.judgments import read_pairs
from judgewell.formats.runs import open_runs

DATA = Path(os.environ.get("JUDGEWELL_DATA", Path(__file__).parents[2] / "shared" / "data"))
DISCOUNT = 1 / np.log2(np.arange(2, 12)) / (1 / np.log2(np.arange(2, 12))).sum()
DESIGNS = {"even": "random", "pairs": "largest reduction first"}
SPREADS = (0.35, 0.7, 1.5)  # standard deviations of θ; the model's own prior has .71
TOPICS, SIZE = 10, 20
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


def equal_systems(worlds: int, seed: int) -> str:
    """How often two equal systems are decided between, at any look."""
    rows, looks = [], 0
    for spread in SPREADS:
        highest = []
        for world in range(worlds):
            rng = np.random.default_rng([seed, 5, world])
            strengths, systems = equal_world(spread, rng)
            z: list[float] = []

            def note(seen: PairLook, z: list[float] = z) -> bool:
                z.append(seen.look.least)
                return False

            collected(strengths, systems, Rule(), rng, TOPICS * SIZE // 5, 6 * TOPICS * SIZE, note)
            highest.append(max(z))
            looks = len(z)
        found = np.array(highest)
        _, high = wilson(int((found >= 3.0).sum()), worlds)
        shares = [f"{100 * (found >= limit).mean():.1f} %" for limit in (1.96, 2.58, 3.0)]
        rows.append([f"{spread:g}", *shares, f"{100 * high:.1f} %"])
    heads = ["s.d. of θ", "z ≥ 1.96", "z ≥ 2.58", "z ≥ 3", "at most (95 %)"]
    return (
        f"{worlds} worlds for each row: {TOPICS} topics of {SIZE} documents, {looks} looks up to 6 answers per "
        f"document. The systems have exactly the same score and no document in common.\n\n{markdown(heads, rows)}"
    )


def simulated_goals(pairs: RecordedPairs, systems: Systems, studies: int, seed: int) -> str:
    """Simulated studies of the DL21 runs whose documents have the strengths that all recorded answers give."""
    wins = pairs.state(pairs.answers).wins
    plain = [np.zeros((len(one), 0)) for one in wins]
    strengths = [one.theta for one in strengths_of(wins, plain)]
    truth = systems.weights @ np.concatenate([100 * expit(one) for one in strengths])
    documents, rows = len(pairs.pool), []
    for goal, rule in GOALS.items():
        ends = []
        for study in range(studies):
            rng = np.random.default_rng([seed, 6, study])
            seen = collected(
                strengths, systems, rule, rng, documents // 10, rule.most * documents,
                lambda one: one.look.status != "collecting",
            )  # fmt: skip
            end = verdict(seen.look.status, seen.look, truth, rule, systems)
            ends.append(end | {"cost": seen.look.answers / documents, "covered": _covered(seen, rule, truth)})
        rows.append(_row(goal, pl.DataFrame(ends)))
    heads = ["goal", "answers per document, median / 90 %", "decided", "wrong", "overstated", "coverage"]
    return markdown(heads, rows)


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
    rows, similar = [], {}
    for goal, rule in list(GOALS.items())[1:]:
        table = replay_pairs(pairs, systems, rule, repeats=orders)
        parts = {design: table.filter(pl.col("design") == design) for design in DESIGNS}
        rows += [[goal, *_row(DESIGNS[design], part)[:-1]] for design, part in parts.items()]
        if rule.decide == "order":
            similar = {design: part["similar"] for design, part in parts.items()}
    heads = ["goal", "pairs", "answers per document, median / 90 %", "decided", "wrong", "overstated"]
    middle = [
        [DESIGNS[design], f"{one.mean():.3f}", f"{one.quantile(0.05):.3f} to {one.quantile(0.95):.3f}"]
        for design, one in similar.items()
    ]
    ratio = similar["pairs"].mean() / similar["even"].mean()
    halves = np.array([similar["pairs"].to_numpy(), similar["even"].to_numpy()])
    picks = np.random.default_rng(0).integers(0, orders, (2000, orders))
    ratios = halves[0][picks].mean(axis=1) / halves[1][picks].mean(axis=1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return (
        f"{len(pairs.answers):,} preferences about {len(pairs.pool):,} passages of {len(pairs.sizes)} topics, "
        f"{len(systems.names)} runs, {orders} random orders. *Wrong*: the conclusion under all answers is another.\n\n"
        f"{markdown(heads, rows, 2)}\n"
        "Share of the answers after which the order of the systems, under the gains of the method *bradley-terry*, has "
        "τ ≥ .95 with the order under all answers (the estimate of the stop hardly shrinks differences, so its order "
        "is noisier at the beginning):\n\n"
        f"{markdown(['pairs', 'mean', 'middle 90 %'], middle)}\n"
        f"The ratio of the two means is {ratio:.2f} (95 % interval {low:.2f} to {high:.2f}).\n"
    )


def page(worlds: int, studies: int, orders: int, seed: int) -> str:
    equal = equal_systems(worlds, seed)
    print("equal", process_time(), file=sys.stderr)
    pairs = recorded_pairs(read_pairs(DATA / "dl21-preferences" / "judgments.txt"))
    runs = open_runs(sorted(str(path) for path in (DATA / "trec-dl21" / "runs").glob("*")))
    systems = systems_of(runs, linear_measure("DCG@10"), pairs.pool)
    truth = simulated_goals(pairs, systems, studies, seed)
    print("truth", process_time(), file=sys.stderr)
    recorded = recorded_goals(pairs, systems, orders)
    settings = f"--worlds {worlds} --studies {studies} --orders {orders} --seed {seed}"
    return f"""# Goals of studies with pairs

{made_by("goal_pairs.py", settings)}
The rules are in [Goals](../guide/goals.md). The gain of a document is 100 / (1 + exp(−θ)) points, θ its log strength by
Bradley and Terry relative to the topic's mean. θ = Xγ + ε: X holds the document's weight in each system and its
importance, γ is the same for all topics and almost free, and only ε, what is left of a single document, has the prior
of the method *bradley-terry*. So documents without answers are predicted, and differences between systems are hardly
shrunken. The next pair is the one whose answer reduces the variance of the contested differences most.

## Equal systems are not decided between

{equal}
The stop of a study with confidence .95 is at z ≥ 3. The prior of ε has a s.d. of .71; the other rows show strengths
that spread less or more than it says.

## Studies with a known truth

{studies} simulated studies for each row: the DL21 runs, and passages with the strengths that all recorded preferences
give; answers are drawn by the model, a tenth as many as passages for each batch.

{truth}
*Wrong*: for *best*, the chosen system is more than the tolerance below the best; for *order*, at least one declared
pair is in the wrong order; with its 95 % interval. *Overstated*: the sum of the reported differences at the stop over
that of the true ones, less 1. *Coverage*: of 95 % intervals of the reported differences at the stop.

## Recorded preferences

{recorded}"""


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--worlds", type=int, default=300)
    options.add_argument("--studies", type=int, default=50)
    options.add_argument("--orders", type=int, default=100)
    options.add_argument("--seed", type=int, default=0)
    chosen = vars(options.parse_args())
    warnings.simplefilter("ignore")
    write("goal-pairs.md", page(**chosen))
