"""Writes docs/evidence/goals.md: what stopping early and asking where it matters save and get wrong.

    python scripts/goals.py --worlds 1000 --studies 200

`--worlds` are worlds with two equal systems, `--studies` simulated studies of each kind. Recorded answers come from the
folder of real data (JUDGEWELL_DATA).
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small products: threads would only wait for each other

import argparse
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl
from evidence import made_by, markdown, wilson, write

from judgewell.analysis.goals.batch import next_batch
from judgewell.analysis.goals.follow import follow, recorded
from judgewell.analysis.goals.look import Look, Mode, Rule, Systems, look
from judgewell.analysis.goals.replay import (
    Recorded,
    ranked_only,
    recorded_answers,
    replay,
    simulated,
    verdict,
)
from judgewell.analysis.goals.state import State, empty_state
from judgewell.analysis.goals.systems import first_state, linear_measure, systems_of
from judgewell.analysis.scores import scores_under
from judgewell.comparison.correlation import tau_b
from judgewell.evaluation.measures import parse
from judgewell.formats.gains import read_gains
from judgewell.formats.judgments import read_judgments
from judgewell.formats.runs import open_runs

DATA = Path(os.environ.get("JUDGEWELL_DATA", Path(__file__).parents[2] / "shared" / "data"))
MODES: tuple[Mode, ...] = ("even", "floor", "sampled")
ORDER_THRESHOLDS = (2.0, 2.5, 3.0, 3.5, 4.0)
THRESHOLDS = (1.96, 2.58, 2.6, 2.81, 3.0, 3.25, 3.5)
NDCG_STUDIES = 20  # studies whose nDCG is estimated, which reads the runs again for each
TOPICS = 25  # of a world with two equal systems
DISCOUNT = 1 / np.log2(np.arange(2, 12)) / (1 / np.log2(np.arange(2, 12))).sum()
Row = dict[str, Any]


def answers_of_documents() -> tuple[pl.DataFrame, np.ndarray]:
    """The documents of trec8-s100 with ten recorded answers each, and Sormunen's grade of each."""
    judgments = read_judgments(DATA / "trec8-s100" / "judgments.csv.gz")
    whole = recorded_answers(judgments, lambda values: values, 10)
    grades = judgments.group_by("topic", "doc").agg(pl.col("sormunen").cast(pl.Float64, strict=False).max())
    pool = whole.pool.join(grades, on=["topic", "doc"], how="left", maintain_order="left")
    full = whole.counts == 10
    return pool.filter(pl.Series(full)), whole.values[full]


def drawn_again(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Ten answers about each document, drawn with replacement from those recorded."""
    return np.take_along_axis(table, rng.integers(0, table.shape[1], table.shape), axis=1)


def equal_world(values: np.ndarray, rng: np.random.Generator) -> tuple[Systems, np.ndarray, np.ndarray]:
    """Two systems of exactly the same score: at each rank the same document, or two with the same answers."""
    order = np.argsort(values.mean(axis=1))
    topic, source, weights = [], [], []
    for at in range(TOPICS):
        for rank, weight in enumerate(DISCOUNT / TOPICS):
            one = order[min(len(order) - 1, int(len(order) * rng.beta(2.5 - 0.12 * rank, 1.5)))]
            rows = [(weight, weight)] if rng.random() < 0.4 else [(weight, 0.0), (0.0, weight)]
            topic += [at] * len(rows)
            source += [one] * len(rows)
            weights += rows
    w = np.array(weights).T
    systems = Systems(("A", "B"), w, np.log(0.05 + w.sum(axis=0) * TOPICS / DISCOUNT[0]))
    return systems, np.array(topic), values[np.array(source)]


def equal_systems(values: np.ndarray, worlds: int, seed: int) -> str:
    """How often two equal systems are decided between, at any look up to ten answers per document."""
    highest: dict[str, list[float]] = {mode: [] for mode in MODES}
    looks = 0
    for world in range(worlds):
        rng = np.random.default_rng([seed, 1, world])
        systems, topic, table = equal_world(values, rng)
        table, lots = drawn_again(table, rng), rng.random(len(topic))
        for mode in MODES:
            ended = follow(empty_state(topic, lots), Rule(mode=mode), systems, recorded(table), stop=False)
            highest[mode].append(max(z for _, z in ended.looks))
            looks = max(looks, len(ended.looks))
    rows = []
    for mode in MODES:
        z = np.array(highest[mode])
        rows.append([mode, *(f"{100 * (z >= limit).mean():.1f} %" for limit in THRESHOLDS)])
    low, high = wilson(int((np.array(highest["sampled"]) >= 3.0).sum()), worlds)
    return (
        f"{worlds} worlds, {TOPICS} topics, up to {looks} looks. The two systems have exactly the same score; a world "
        f"counts where z reaches the threshold at any look.\n\n"
        + markdown(["design", *(f"z ≥ {limit:g}" for limit in THRESHOLDS)], rows)
        + f"\nAt 3.0 the sampled design errs in {100 * low:.1f} to {100 * high:.1f} % (95 % interval).\n"
    )


class Collection:
    """DL21 under DCG@10: 61 systems that differ, their pooled documents, and answers for each by its grade."""

    def __init__(self, documents: pl.DataFrame, values: np.ndarray) -> None:
        self.runs = runs = open_runs(sorted(str(path) for path in (DATA / "trec-dl21" / "runs").glob("*")))
        qrels = read_gains(DATA / "trec-dl21" / "qrels.nist.txt")
        firsts = [
            run.frame(ranks=False).sort("score", "doc", descending=True).group_by("topic", maintain_order=True).head(10)
            for run in runs
        ]
        pool = pl.concat([one.select("topic", "doc") for one in firsts]).unique()
        pool = pool.join(qrels.select("topic").unique(), on="topic", how="semi")
        self.pool = pool.join(qrels, on=["topic", "doc"], how="left").sort("topic", "doc")
        systems = systems_of(runs, linear_measure("DCG@10"), self.pool)
        kept = np.sort(np.unique(systems.weights.round(12), axis=0, return_index=True)[1])  # two rank as others do
        self.systems = Systems(tuple(systems.names[at] for at in kept), systems.weights[kept], systems.importance)
        self.topic = (self.pool["topic"].rank("dense").to_numpy() - 1).astype(np.int64)
        self.grade = self.pool["gain"].fill_null(0).to_numpy()
        self.sources = {g: np.flatnonzero((documents["sormunen"] == g).fill_null(False)) for g in range(4)}
        self.values = values

    def world(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Recorded answers of a document of the same grade for each document: its true gain and ten answers."""
        source = np.zeros(len(self.grade), dtype=np.int64)
        for grade, candidates in self.sources.items():
            rows = np.flatnonzero(self.grade == grade)
            source[rows] = rng.choice(candidates, len(rows))
        table = self.values[source]
        return table.mean(axis=1), drawn_again(table, rng)

    def estimated_ndcg(self, state: State) -> np.ndarray:
        """Mean nDCG@10 of each system as `evaluate` estimates it from what a study has collected."""
        drawn = (state.n > 0) & (state.u < state.pi)
        gains = self.pool.select("topic", "doc").with_columns(
            gain=pl.Series(state.total / np.maximum(state.n, 1)), inclusion=pl.Series(state.pi)
        )
        scores = scores_under(self.runs, gains.filter(pl.Series(drawn)), [parse("nDCG@10")])[0]
        means = dict(zip(scores.systems, scores.means, strict=True))
        return np.array([means[name] for name in self.systems.names])

    def ndcg(self, gains: np.ndarray) -> np.ndarray:
        """Mean nDCG@10 of each system under these gains."""
        starts = np.flatnonzero(np.append(True, np.diff(self.topic) > 0))
        scores = np.add.reduceat(self.systems.weights * gains, starts, axis=1) * len(starts)
        ideal = np.array([np.sort(part)[::-1][:10] @ DISCOUNT for part in np.split(gains, starts[1:])])
        return (scores / ideal).mean(axis=1)


def coverage(last: Look, rule: Rule, truth: np.ndarray) -> float:
    """The share of the reported differences whose 95 % interval holds the true one."""
    kept = last.relevant & np.isfinite(last.z)
    gap = (last.means[last.first] - last.means[last.second])[kept]
    error = (gap + (rule.within if rule.decide == "best" else 0.0)) / last.z[kept]
    real = (truth[last.first] - truth[last.second])[kept]
    return float((np.abs(gap - real) <= 1.96 * error).mean()) if kept.any() else np.nan


def dl21(collection: Collection, rule: Rule, studies: int, seed: int) -> pl.DataFrame:
    rows: list[Row] = []
    for study in range(studies):
        rng = np.random.default_rng([seed, 2, study])
        gains, table = collection.world(rng)
        lots, truth, ndcg = rng.random(len(gains)), collection.systems.weights @ gains, collection.ndcg(gains)
        for mode in MODES:
            own = replace(rule, mode=mode)
            ended = follow(empty_state(collection.topic, lots), own, collection.systems, recorded(table))
            row: Row = {"design": mode, "study": study, "cost": ended.cost, "tau": float(tau_b(truth, ndcg))}
            row |= verdict(ended.last.status, ended.last, truth, own, collection.systems)
            row |= {"covered": coverage(ended.last, own, truth), "ndcg": float(ndcg.max() - ndcg[ended.last.leader])}
            if mode == "sampled" and rule.decide == "best" and study < NDCG_STUDIES:
                error = collection.estimated_ndcg(ended.state) - ndcg
                row |= {
                    "ndcg_error": float(error.mean()),
                    "ndcg_gap_error": float((error[ended.last.leader] - error).mean()),
                }
            rows.append(row | closest(ended.last, truth))
    return pl.DataFrame(rows, infer_schema_length=None)


def closest(last: Look, truth: np.ndarray) -> Row:
    """The mean difference of the fifth of the reported pairs that are closest, as estimated and as it is."""
    gap = (last.means[last.first] - last.means[last.second])[last.relevant]
    real = (truth[last.first] - truth[last.second])[last.relevant]
    near = gap <= np.quantile(gap, 0.2)
    return {"near": float(gap[near].mean()), "near_true": float(real[near].mean())}


def order_thresholds(collection: Collection, studies: int, seed: int) -> str:
    """Declared pairs in the wrong order, had an order stopped at other thresholds; each study is followed once."""
    rows = []
    for mode in ("floor", "sampled"):
        rule = Rule(decide="order", mode=mode)
        ends: dict[float, list[tuple[float, int]]] = {limit: [] for limit in ORDER_THRESHOLDS}
        for study in range(studies):
            rng = np.random.default_rng([seed, 4, study])
            gains, table = collection.world(rng)
            truth, answers = collection.systems.weights @ gains, recorded(table)
            state = empty_state(collection.topic, rng.random(len(gains)))
            left = list(ORDER_THRESHOLDS)
            while left and state.answers < rule.most * state.documents:
                seen = look(state, rule, collection.systems)
                while left and state.answers >= rule.first_test * state.documents and seen.least >= left[0]:
                    wrong = verdict("decided", seen, truth, rule, collection.systems)["wrong_pairs"]
                    ends[left.pop(0)].append((state.answers / state.documents, int(wrong)))
                batch = next_batch(state, seen, rule)
                points = answers(batch.documents, state.n[batch.documents])
                state = state.answered(batch.documents, points, batch.pi)
        for limit, found in ends.items():
            wrong = sum(pairs > 0 for _, pairs in found)
            low, high = wilson(wrong, max(len(found), 1))
            cost = float(np.median([cost for cost, _ in found])) if found else np.nan
            share = f"{wrong} of {len(found)} ({100 * low:.1f} to {100 * high:.1f} %)"
            rows.append([mode, f"{limit:g}", f"{cost:.2f}", share])
    return markdown(
        ["design", "stop at z", "answers per document, median", "studies with a wrong pair (95 %)"], rows, 2
    )


def trec8(documents: pl.DataFrame, values: np.ndarray, rule: Rule, studies: int, seed: int) -> pl.DataFrame:
    """Recorded answers of trec8-s100 in random orders, each with its own twenty simulated systems."""
    counts = np.full(len(values), values.shape[1])
    whole = Recorded(documents.select("topic", "doc"), values, counts)
    parts = []
    for study in range(studies):
        part, systems = ranked_only(whole, simulated(whole.pool, whole.means, 20, 1000 * seed + study))
        table = replay(part, first_state(part.pool, study), systems, rule, MODES, repeats=1, seed=study)
        parts.append(table.with_columns(study=pl.lit(study)))
    return pl.concat(parts)


def costs(name: str, table: pl.DataFrame) -> list[list[str]]:
    """A row for each design: cost, its ratio to the even design's, and how the studies ended."""
    even = table.filter(pl.col("design") == "even").select("study", even="cost")
    joined = table.join(even, on="study").with_columns(ratio=pl.col("cost") / pl.col("even"))
    rows = []
    for mode in MODES:
        part = joined.filter(pl.col("design") == mode)
        decided = part.filter(pl.col("status") == "decided")
        wrong = decided.filter(~pl.col("right")).height
        low, high = wilson(wrong, max(decided.height, 1))
        over = decided["estimated"].sum() / decided["true"].sum() - 1
        near = (
            f"{100 * (decided['near'].sum() / decided['near_true'].sum() - 1):+.1f} %"
            if "near" in part.columns
            else "—"
        )
        held = f"{decided['covered'].mean():.3f}" if "covered" in part.columns else "—"
        rows.append(
            [
                name,
                mode,
                f"{part['cost'].median():.2f}",
                f"{part['ratio'].median():.2f} / {part['ratio'].quantile(0.9):.2f}",
                f"{decided.height} of {part.height}",
                f"{wrong} ({100 * low:.1f} to {100 * high:.1f} %)",
                f"{100 * over:+.1f} %",
                near,
                held,
            ]
        )
    return rows


def page(worlds: int, studies: int, seed: int) -> str:
    documents, values = answers_of_documents()
    equal = equal_systems(values, worlds, seed)
    print("equal", process_time(), file=sys.stderr)
    collection = Collection(documents, values)
    best = dl21(collection, Rule(within=1.0), studies, seed)
    print("dl21 best", process_time(), file=sys.stderr)
    order = dl21(collection, Rule(decide="order"), studies, seed)
    print("dl21 order", process_time(), file=sys.stderr)
    thresholds = order_thresholds(collection, studies, seed)
    print("order thresholds", process_time(), file=sys.stderr)
    crowd = trec8(documents, values, Rule(full=10), studies, seed)
    crowd_order = trec8(documents, values, Rule(decide="order", full=10), studies, seed)
    print("trec8", process_time(), file=sys.stderr)
    rows = [
        *costs("DL21, 61 runs, best within 1 point", best),
        *costs("DL21, 61 runs, order", order),
        *costs("trec8-s100, 20 simulated systems, best, full-design rule", crowd),
        *costs("trec8-s100, the same, order", crowd_order),
    ]
    heads = [
        "study",
        "design",
        "answers per document",
        "ratio, median / 90 %",
        "decided",
        "wrong",
        "overstated",
        "closest fifth",
        "coverage",
    ]
    sampled = best.filter((pl.col("design") == "sampled") & (pl.col("status") == "decided"))
    near = (sampled["ndcg"] <= 0.01).mean()
    return f"""# Goals: how safe stopping is, and what asking where it matters saves

{made_by("goals.py", f"--worlds {worlds} --studies {studies} --seed {seed}")}
The rules are in [Goals](../guide/goals.md). Costs are answers over documents of the pool. The even design asks about
every document equally often, in random order, and stops by the same rule.

## Equal systems are not decided between

{equal}
Before there are answers, nothing is decided: the first test comes after .3 answers per document (1 in the floor
design). The thresholds of a goal are 2.6 (confidence .9), 3.0 (.95) and 3.5 (.99); an order adds .5, because it
declares many pairs.

## Where an order may stop

{studies} DL21 studies with 61 runs for each design, followed until z = 4. An order declares every pair that differs
significantly over topics; a study is wrong if one of them is in the wrong order.

{thresholds}
## What a conclusion costs

DL21: each document has the recorded answers of a random trec8-s100 document of the same grade; their mean is its true
gain, and answers are drawn from them with replacement. trec8-s100: the ten recorded answers of each document in random
order; the question at each look is whether all ten answers of every document would agree (the full-design rule), and
20 new systems are simulated for every study. {studies} studies of each kind.

{markdown(heads, rows, words=2)}
*Wrong*: for *best*, the chosen system is more than the tolerance below the best; for *order*, a study in which at least
one declared pair is in the wrong order; with its 95 % interval. *Overstated*: the sum of the reported differences at
the stop over that of the true ones, less 1; then the same for the fifth of the pairs that are closest. *Coverage*: of
95 % intervals of the reported differences at the stop. All reported differences of a *best* goal contain the same
leader, so within a study they are right or wrong together.

## nDCG beside DCG

A goal decides by DCG, because nDCG divides by what is not known before the best documents are judged. In the
{sampled.height} DL21 studies above that decided (sampled), the chosen system was within .01 of the best mean nDCG@10 in
{100 * float(near or 0):.0f} %; at most {sampled["ndcg"].max():.3f} below it. Kendall's τ between the true orders by
DCG@10 and nDCG@10 is {best["tau"].mean():.3f} on average. So a conclusion about DCG is a good guess about nDCG and no
proof.

`evaluate`, `compare` and `report` estimate nDCG of a sampled study, too. At the stop of the first {NDCG_STUDIES} of
these studies the estimated nDCG@10 of a system was wrong by {sampled["ndcg_error"].mean():+.3f} on average (s.d. over
studies {sampled["ndcg_error"].std():.3f}), and a difference to the leader by {sampled["ndcg_gap_error"].mean():+.3f}
({sampled["ndcg_gap_error"].std():.3f}): means of few answers make the best possible DCG too large. Read differences and
the order of systems, not the value of one system.
"""


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--worlds", type=int, default=1000)
    options.add_argument("--studies", type=int, default=200)
    options.add_argument("--seed", type=int, default=0)
    chosen = vars(options.parse_args())
    warnings.simplefilter("ignore")
    write("goals.md", page(**chosen))
