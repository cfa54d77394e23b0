"""What a machine's labels do to conclusions about systems, beside people's gains of the same documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from judgewell.analysis.scores import score_sets
from judgewell.comparison.calibration import Sample, cross_fit, features_of, folds_within_topics, standardised
from judgewell.comparison.correlation import tau_ap, tau_b
from judgewell.comparison.scores import ScoreArray
from judgewell.comparison.significance import corrected, paired_tests
from judgewell.comparison.top_sets import FEWEST_TOPICS, overlap, top_set
from judgewell.errors import note
from judgewell.evaluation.drawn import is_drawn
from judgewell.evaluation.measures import Measure
from judgewell.evaluation.settings import Settings
from judgewell.formats.runs import Run
from judgewell.stats.arrays import Floats
from judgewell.stats.means import mean_intervals
from judgewell.study.design.importance import DEPTH
from judgewell.study.design.pools import first_of_run

DOCUMENT = ["topic", "doc"]
WIDTHS = (0.01, 0.02, 0.05)
LEAST = 50  # documents with both labels from which the calibration's error is estimated
DEEP = 30


def system_tables(
    people: pl.DataFrame,
    machines: Mapping[str, pl.DataFrame],
    *,
    runs: Sequence[Run] = (),
    measures: Sequence[Measure] = (),
    settings: Settings | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, pl.DataFrame]:
    """Tables by name: machine_systems, machine_order and ranks (with runs), and machine_needed."""
    tables = {"machine_needed": _needed_table(people, machines, seed)}
    if runs:
        tables["ranks"] = best_ranks(runs)
        systems, order = [], []
        for name, labels in machines.items():
            for measure, (own, other) in _scored(people, labels, runs, measures, settings).items():
                named = [pl.lit(measure).alias("measure"), pl.lit(name).alias("machine")]
                systems.append(favours(own, other, level, seed).select(*named, pl.all()))
                order.append({"measure": measure, "machine": name} | order_of(own, other, seed))
        tables |= {"machine_systems": pl.concat(systems), "machine_order": pl.DataFrame(order)} if order else {}
    return {name: table for name, table in tables.items() if table.height}


def best_ranks(runs: Sequence[Run]) -> pl.DataFrame:
    """Each document's best rank among the first 30 of any run, and how many runs have it among their first 10."""
    firsts = pl.concat(
        first_of_run(run.frame(ranks=False), run.system, DEEP).with_columns(
            rank=pl.int_range(1, pl.len() + 1).over("topic")
        )
        for run in runs
    )
    return firsts.group_by(DOCUMENT).agg(
        rank=pl.col("rank").min(), systems=(pl.col("rank") <= DEPTH).sum().cast(pl.Int64)
    )


def _scored(
    people: pl.DataFrame,
    labels: pl.DataFrame,
    runs: Sequence[Run],
    measures: Sequence[Measure],
    settings: Settings | None,
) -> dict[str, tuple[ScoreArray, ScoreArray]]:
    """Each measure under people's gains and the machine's, of the documents that both have.

    Where people's documents were drawn, their scores are estimates for all documents, and they are compared with
    the machine's labels of all documents.
    """
    shared = people.select(DOCUMENT).join(labels.select(DOCUMENT), on=DOCUMENT)
    if shared.is_empty():
        return {}
    sets = {"people": people, "machine": labels}
    if not is_drawn(people):
        sets = {name: table.join(shared, on=DOCUMENT, how="semi") for name, table in sets.items()}
    scores = score_sets(runs, sets, measures, settings, common=True)
    return {measure: (both["people"], both["machine"]) for measure, both in scores.items()}


def favours(own: ScoreArray, other: ScoreArray, level: float = 0.95, seed: int = 0) -> pl.DataFrame:
    """Each system's mean under both gains, the difference, and its favour: that less its mean over systems."""
    gap = other.values - own.values
    favour = gap - gap.mean(axis=0)
    table = {"system": own.systems, "people": own.means, "machine_mean": other.means}
    for name, values in (("difference", gap), ("favour", favour)):
        ends = mean_intervals(values, level=level, seed=seed)
        table |= {name: ends.mean, f"{name}_low": ends.low, f"{name}_high": ends.high}
    names = {"difference_low": "low", "difference_high": "high"}
    frame = pl.DataFrame(table).rename(names).with_columns(pl.col(pl.Float64).fill_nan(None))
    if gap.shape[1] > 1:  # favours are many tests at once: Holm's correction over systems
        frame = frame.with_columns(p=corrected(paired_tests(favour, "t").p, "holm"))
    return frame.sort("favour", "system", descending=[True, False])


def order_of(own: ScoreArray, other: ScoreArray, seed: int = 0) -> dict[str, Any]:
    """How far both gains order systems alike: τ-b, τ-AP, the best systems and the sets that contain the best."""
    row: dict[str, Any] = {
        "systems": len(own.systems),
        "topics": len(own.topics),
        "tau_b": float(tau_b(own.means, other.means)),
        "tau_ap": float(tau_ap(own.means, other.means)),
        "people_best": own.systems[int(np.argmax(own.means))],
        "machine_best": other.systems[int(np.argmax(other.means))],
    }
    if len(own.topics) >= FEWEST_TOPICS and len(own.systems) > 1:
        first, second = (top_set(one, seed=seed) for one in (own, other))
        row |= {"people_top": len(first.members), "machine_top": len(second.members)}
        row["overlap"] = overlap(first, second).jaccard
    return row


def _needed_table(people: pl.DataFrame, machines: Mapping[str, pl.DataFrame], seed: int) -> pl.DataFrame:
    rows = []
    for name, labels in machines.items():
        chance = pl.col("inclusion") if is_drawn(people) else pl.lit(1.0)
        own = people.select(*DOCUMENT, "gain", inclusion=chance).drop_nulls("inclusion")
        both = labels.select(*DOCUMENT, label="gain").join(own, on=DOCUMENT).sort(DOCUMENT)
        span = float(np.ptp(both["gain"].to_numpy())) if both.height else 0.0
        if both.height < LEAST or span <= 0:
            note(
                f"{name}: the number of judgments needed takes {LEAST} documents with both labels, and gains "
                "that differ"
            )
            continue
        topics = labels.filter(pl.col("topic").is_in(both["topic"].unique().implode()))
        alone, left = residual_variances(both, span, seed)
        rows += [
            {"machine": name, "documents": topics.height, "width": width,
             "people_alone": judgments_needed(alone, topics.height, width),
             "with_machine": judgments_needed(left, topics.height, width)}
            for width in WIDTHS
        ]  # fmt: skip
    return pl.DataFrame(rows)


def residual_variances(both: pl.DataFrame, span: float, seed: int = 0) -> tuple[float, float]:
    """The variance of people's gains in units of `span`, and what is left of it after calibration out of fold.

    A document that was drawn with probability π (column inclusion) counts 1/π.
    """
    weight = 1 / both["inclusion"].to_numpy() if "inclusion" in both.columns else np.ones(both.height)
    gain: Floats = (both["gain"] / span).to_numpy()
    label = both["label"].cast(pl.Float64).to_numpy()
    sizes = both.group_by("topic", maintain_order=True).len()["len"].to_numpy().astype(np.int64)
    every, nothing = np.arange(len(gain)), np.zeros(len(gain))
    fold = folds_within_topics(np.repeat(np.arange(len(sizes)), sizes), np.random.default_rng(seed))
    features = features_of(label, nothing, nothing)
    sample = Sample(np.append(0, np.cumsum(sizes)), features, standardised(label), every, np.ones(len(gain)), fold)
    left = np.square(gain - cross_fit(sample, gain[:, None]).own[:, 0])
    whole = np.square(gain - np.average(gain, weights=weight))
    return float(np.average(whole, weights=weight)), float(np.average(left, weights=weight))


def judgments_needed(variance: float, documents: int, width: float) -> int:
    """How many of the documents, drawn at random, give a 95 % interval of the mean of ± width."""
    return round(1 / (1 / documents + (width / 1.96) ** 2 / variance)) if variance > 0 else 1
