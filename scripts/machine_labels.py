"""How far conclusions from few human judgments and many machine labels can be believed.

    python scripts/machine_labels.py --results results.json          # works out the cells that are missing, then
    python scripts/machine_labels.py --results results.json --write  # writes docs/evidence/machines.md

Needs the public data (JUDGEWELL_DATA or ../shared/data). `--only WORD` works out the cells whose name holds the word,
`--draws N` changes the number of samples in each cell.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from evidence import ROOT, made_by, markdown, write

from judgewell.analysis.machine import rank_weights
from judgewell.comparison.calibration import Sample, cross_fit, features_of, folds_within_topics, standardised
from judgewell.comparison.correlation import tau_b
from judgewell.comparison.difference import (
    Estimate,
    linear_estimate,
    ndcg_estimate,
    order_scores,
    people_alone,
)
from judgewell.evaluation.measures import Measure, parse
from judgewell.evaluation.resampled import ranked_items
from judgewell.formats.gains import read_gains
from judgewell.formats.runs import open_runs
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.means import mean_intervals
from judgewell.stats.sampling import inclusion_probabilities, pareto_sample, shared_out
from judgewell.study.design.importance import LEAST, population

DATA = Path(os.environ.get("JUDGEWELL_DATA", ROOT.parent / "shared" / "data"))
SEED, DRAWS = 1, 500
SHARES = (0.05, 0.1, 0.2, 0.4)
MEASURES = {"RBP(p=0.8)@10": 3.0, "P(rel=2)@10": 1.0, "nDCG@10": 1.0}  # with what grades are divided by
UMBRELA = "umbrella_gpt-4_zeroshot_dl21.txt.gz"


@dataclass(frozen=True)
class World:
    """DL21 with every document judged: what a sample of documents is drawn from."""

    starts: Ints
    human: Floats
    importance: Floats
    systems: Floats
    label: Floats
    weights: dict[str, list[Floats]]
    names: list[str]


@cache
def world() -> World:
    folder = DATA / "trec-dl21"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs = open_runs(sorted(map(str, (folder / "runs").iterdir())))
        truth, labels = read_gains(folder / "qrels.nist.txt"), read_gains(folder / "labels" / UMBRELA)
        whole = population(runs, labels).join(truth.select("topic", "doc", "gain"), on=["topic", "doc"])
        whole = whole.sort("topic", "doc")
        rankings = ranked_items(runs, whole.select("topic", "doc", "gain"), 10)
    weights = {name: rank_weights(rankings, parse(name)) for name in MEASURES}
    topics = whole.group_by("topic", maintain_order=True).len()["len"].to_numpy().astype(np.int64)
    columns = {name: whole[name].cast(pl.Float64).to_numpy() for name in ("gain", "importance", "systems", "label")}
    return World(
        np.append(0, np.cumsum(topics)),
        columns["gain"],
        columns["importance"],
        columns["systems"],
        columns["label"],
        weights,
        rankings.systems,
    )


def labels_of(kind: str) -> Floats:
    """The machine's labels, or labels that mislead."""
    here = world()
    rng = np.random.default_rng([SEED, 99])
    if kind == "random":
        return rng.integers(0, 4, len(here.human)).astype(np.float64)
    if kind == "constant":
        return np.ones(len(here.human))
    if kind == "reversed":
        return 3 - here.label
    if kind == "biased":  # toward five runs: what they rank among the first ten is labelled one grade higher
        weights = here.weights["P(rel=2)@10"]
        favoured = np.concatenate([weight[:5].any(axis=0) for weight in weights])
        return np.where(favoured, np.minimum(here.label + 1, 3), here.label)
    return here.label


def drawn_sample(share: float, label: Floats, rng: np.random.Generator, even: bool = False) -> Sample:
    """One drawing of documents for people to judge."""
    here = world()
    sizes = np.diff(here.starts)
    counts = shared_out(round(share * len(here.human)), sizes, LEAST)
    drawn, inclusion = [], []
    for start, end, count in zip(here.starts[:-1], here.starts[1:], counts.tolist(), strict=True):
        chance = inclusion_probabilities(np.ones(end - start) if even else here.importance[start:end], count)
        chosen = pareto_sample(chance, rng.random(end - start), count)
        drawn.append(start + chosen)
        inclusion.append(chance[chosen])
    rows = np.concatenate(drawn)
    topic = np.repeat(np.arange(len(sizes)), counts)
    features = features_of(label, here.systems, here.importance)
    fold = folds_within_topics(topic, rng)
    return Sample(here.starts, features, standardised(label), rows, np.concatenate(inclusion), fold)


def credit(measure: Measure, divisor: float, grades: Floats) -> Floats:
    return measure.credit(grades / divisor)


def truth_of(name: str, grades: Floats) -> Floats:
    """The scores (systems × topics) with all documents judged by these grades."""
    here, measure = world(), parse(name)
    value = credit(measure, MEASURES[name], grades)
    scores = []
    for start, end, weight in zip(here.starts[:-1], here.starts[1:], here.weights[name], strict=True):
        score = weight @ value[start:end]
        if name.startswith("nDCG"):
            best = -np.sort(-value[start:end])[:10] @ measure.weights(10)
            score = score / best if best > 0 else score
        scores.append(score)
    return np.stack(scores, axis=1)


def estimates(name: str, sample: Sample, rng: np.random.Generator) -> tuple[Estimate, Estimate]:
    """With the machine's labels, and from people alone with the same sample."""
    here, measure = world(), parse(name)
    gains = here.human[sample.drawn]
    if name.startswith("nDCG"):
        grade, levels = gains.astype(np.int64), np.arange(4.0)
        reached = (grade[:, None] >= np.arange(1, 4)).astype(np.float64)
        both = cross_fit(sample, reached), people_alone(sample, reached)
        first, second = (
            ndcg_estimate(here.weights[name], sample, grade, levels, one, measure.weights(10), rng) for one in both
        )
        return first, second
    value = credit(measure, MEASURES[name], gains)[:, None]
    both = cross_fit(sample, value), people_alone(sample, value)
    first, second = (linear_estimate(here.weights[name], sample, value, one) for one in both)
    return first, second


def cell(name: str, share: float, labels: str, draws: int, even: bool = False) -> dict[str, Any]:
    """What one cell of the tables needs, over many drawings."""
    label, truth = labels_of(labels), truth_of(name, world().human).mean(axis=1)
    machine = truth_of(name, np.clip(label, 0, 3)).mean(axis=1)
    first, second = np.triu_indices(len(truth), 1)
    gap = truth[first] - truth[second]
    got: dict[str, list[Any]] = {key: [] for key in ("score", "pair", "width", "alone", "alone_score", "tau", "order")}
    errors, topic_width = [], []
    for draw in range(draws):
        rng = np.random.default_rng([SEED, draw, round(1000 * share)])
        sample = drawn_sample(share, label, rng, even)
        used, alone = estimates(name, sample, rng)
        half, half_alone = 1.96 * np.sqrt(used.variances), 1.96 * np.sqrt(alone.variances)
        half_pair = 1.96 * np.sqrt(np.maximum(used.gap_variances[first, second], 0))
        got["score"].append(np.abs(used.means - truth) <= half + 1e-12)
        got["alone_score"].append(np.abs(alone.means - truth) <= half_alone + 1e-12)
        got["pair"].append(np.mean(np.abs(used.means[first] - used.means[second] - gap) <= half_pair + 1e-12))
        got["width"].append(2 * half.mean())
        got["alone"].append(2 * half_alone.mean())
        got["tau"].append(tau_b(truth, used.means))
        got["order"].append(tau_b(truth, order_scores(machine, used)))
        errors.append(used.means - truth)
        if draw < 40:
            over = mean_intervals(used.scores)
            topic_width.append(float((over.high - over.low).mean()))
    scores = np.stack(got["score"])
    whole = mean_intervals(truth_of(name, world().human))
    return {
        "score": float(scores.mean()),
        "worst": float(scores.mean(axis=0).min()),
        "pair": float(np.mean(got["pair"])),
        "bias": float(np.abs(np.mean(errors, axis=0)).max()),
        "mean_bias": float(np.mean(errors)),
        "width": float(np.mean(got["width"])),
        "alone": float(np.mean(got["alone"])),
        "alone_score": float(np.stack(got["alone_score"]).mean()),
        "tau": float(np.mean(got["tau"])),
        "order": float(np.mean(got["order"])),
        "machine_tau": float(tau_b(truth, machine)),
        "machine_bias": float((machine - truth).mean()),
        "topics_width": float(np.mean(topic_width) / (whole.high - whole.low).mean()),
        "draws": draws,
    }


def cells() -> dict[str, tuple[Any, ...]]:
    """The name of each cell and what it is made of."""
    named = {f"{name} {share:g} umbrela": (name, share, "umbrela") for share in SHARES for name in MEASURES}
    misled = ("random", "constant", "reversed", "biased")
    named |= {f"{name} 0.2 {kind}": (name, 0.2, kind) for name in MEASURES for kind in misled}
    return named


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--results", default="machine_labels.json")
    parser.add_argument("--only", default="")
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    path = Path(given.results)
    results: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    for name, settings in cells().items():
        if given.only in name and results.get(name, {}).get("draws") != given.draws:
            results[name] = cell(*settings, given.draws)
            path.write_text(json.dumps(results, indent=1))
            print(name, {key: round(value, 4) for key, value in results[name].items()}, flush=True)


if __name__ == "__main__":
    main()
