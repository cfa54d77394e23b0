"""How far conclusions from few human judgments and many machine labels can be believed.

    python scripts/machine_labels.py --results results.json          # works out the cells that are missing, then
    python scripts/machine_labels.py --results results.json --write  # writes docs/evidence/machines.md

Needs the public data (JUDGEWELL_DATA or ../shared/data). `--only WORD` works out the cells whose name holds the word,
`--draws N` changes the number of samples in each cell. Set OPENBLAS_NUM_THREADS=1: the products are many and small, and
threads only wait for each other (500 samples of all cells take about 12 minutes of CPU then).
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
from judgewell.evaluation.resampled import rank_weights, ranked_items
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
    return named | {f"{name} 0.2 {kind}": (name, 0.2, kind) for name in MEASURES for kind in misled}


WIDTH = 0.02  # the half-width asked for on LLMJudge
TRIALS = 10


def labels_needed() -> list[dict[str, Any]]:
    """For each label set of LLMJudge: how many human labels give ±.02 on the mean gain (grades / 3) of all pairs."""
    folder = DATA / "llmjudge"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        human = read_gains(folder / "human.qrels").select("topic", "doc", human="gain")
        sets = {path.stem: read_gains(path) for path in sorted((folder / "submissions").iterdir())}
    rows = []
    for name, labels in {"people alone": None, **sets}.items():
        whole = (
            human
            if labels is None
            else human.join(labels.select("topic", "doc", label="gain"), on=["topic", "doc"], how="left")
        )
        whole = whole.sort("topic", "doc")
        label = np.ones(len(whole)) if labels is None else whole["label"].cast(pl.Float64).to_numpy()
        gain = whole["human"].to_numpy() / 3
        sizes = whole.group_by("topic", maintain_order=True).len()["len"].to_numpy().astype(np.int64)
        starts, topic = np.append(0, np.cumsum(sizes)), np.repeat(np.arange(len(sizes)), sizes)
        spread = []
        for trial in range(TRIALS):
            rng = np.random.default_rng([SEED, trial])
            drawn = np.sort(rng.permutation(len(whole))[:600])
            if labels is None:
                spread.append(gain[drawn].var())
                continue
            features = features_of(label, np.zeros(len(gain)), np.zeros(len(gain)))
            fold = folds_within_topics(topic[drawn], rng)
            sample = Sample(starts, features, standardised(label), drawn, np.full(600, 600 / len(gain)), fold)
            spread.append(float(np.square(gain[drawn][:, None] - cross_fit(sample, gain[drawn][:, None]).own).mean()))
        needed = 1 / (1 / len(gain) + (WIDTH / 1.96) ** 2 / np.mean(spread))
        rows.append({"labels": name, "needed": round(needed)})
    return rows


HEAD = f"""# Few human judgments and many machine labels

{made_by("machine_labels.py", f"seed {SEED}; the tables name the samples of documents drawn for each row")}
`judgewell compare --machine` estimates the scores of systems from people's gains for some documents and labels for all.
Here TREC Deep Learning 2021 passages serve as the truth: 63 runs, 53 topics, and NIST's grades of 10,828 documents. A
sample of these documents counts as judged by people, drawn as `judgewell design --for-machine` draws it. The labels
come from UMBRELA with GPT-4. Coverage is the share of systems, or of pairs of systems, whose 95 % interval for these
topics contains the score with everything judged. Width is the width of the interval of a system's mean. "Of people
alone" is its ratio to the width from the same sample without labels, with each topic's weighted mean as prediction;
"held alone" is the coverage of those intervals. τ is Kendall's, with the order under all of NIST's grades.
"""


COLUMNS = ("coverage, scores", "pairs", "worst system", "bias", "width", "of people alone", "held alone", "samples")


def row_of(result: dict[str, Any]) -> list[str]:
    ratio = result["width"] / result["alone"]
    numbers = [f"{result[name]:.3f}" for name in ("score", "pair", "worst")]
    return [
        *numbers,
        f"{result['mean_bias']:+.4f}",
        f"{result['width']:.3f}",
        f"{ratio:.2f}",
        f"{result['alone_score']:.3f}",
        str(result["draws"]),
    ]


def page(results: dict[str, Any]) -> str:
    heads = ["measure", "people judge", *COLUMNS]
    rows = [
        [name, f"{100 * share:g} %", *row_of(results[key])]
        for name in MEASURES
        for share in SHARES
        if (key := f"{name} {share:g} umbrela") in results
    ]
    parts = [HEAD, "## Coverage and width\n", markdown(heads, rows, 2)]
    machine = {name: next(one for key, one in results.items() if key.startswith(name)) for name in MEASURES}
    parts.append(
        "The labels alone are too high by "
        + ", ".join(f"{one['machine_bias']:.3f} ({name})" for name, one in machine.items())
        + " on average over systems.\n"
    )
    heads = [
        "measure",
        "people judge",
        "labels alone",
        "estimate",
        "order (both together)",
        "width, topics as a sample",
    ]
    rows = [
        [name, f"{100 * share:g} %", *(f"{results[key][one]:.3f}" for one in ("machine_tau", "tau", "order")),
         f"{results[key]['topics_width']:.2f}"]
        for name in MEASURES
        for share in SHARES
        if (key := f"{name} {share:g} umbrela") in results
    ]  # fmt: skip
    parts += ["## Order of systems\n", markdown(heads, rows, 2)]
    parts.append("The last column is the width of intervals over topics against judging everything.\n")
    heads = ["measure", "labels", *COLUMNS]
    misled = ("random", "constant", "reversed", "biased")
    rows = [
        [name, kind, *row_of(results[key])]
        for name in MEASURES
        for kind in misled
        if (key := f"{name} 0.2 {kind}") in results
    ]
    parts += ["## Labels that mislead, people judge 20 %\n", markdown(heads, rows, 2)]
    parts.append(
        "Constant labels carry no information: their row shows what the number of runs that retrieve a document gives "
        "alone. Biased labels are one grade higher for all documents that five of the runs rank among the first ten.\n"
    )
    needed = results["needed"]
    ordered = [needed[0], *sorted(needed[1:], key=lambda one: one["needed"])]
    parts += [
        "## How many human labels\n",
        f"For ±{WIDTH} on the mean gain (grade / 3) of the 4,423 pairs of LLMJudge, drawn evenly, with each of its "
        "label sets:\n",
        markdown(["labels", "human labels"], [[one["labels"], one["needed"]] for one in ordered]),
        LIMITS,
    ]
    return "\n".join(parts)


LIMITS = """## What is not supported

ERR and AP are not weighted sums of gains. Imputing the missing gains gives them a score, but intervals by imputation
alone contained the truth far too rarely, so `compare --machine` gives none. The mean of a system under nDCG depends on
how many documents of each grade nobody judged; where the coverage of scores above is below .93, trust the pairs.
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--results", default="machine_labels.json")
    parser.add_argument("--only", default="")
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    path = Path(given.results)
    results: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    if given.only in "needed" and "needed" not in results:
        results["needed"] = labels_needed()
        path.write_text(json.dumps(results, indent=1))
    for name, settings in cells().items():
        if given.only in name and results.get(name, {}).get("draws") != given.draws:
            results[name] = cell(*settings, given.draws)
            path.write_text(json.dumps(results, indent=1))
            print(name, {key: round(value, 4) for key, value in results[name].items()}, flush=True)
    if given.write:
        write("machines.md", page(results))


if __name__ == "__main__":
    main()
