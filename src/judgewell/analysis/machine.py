"""Conclusions about systems from few human judgments and many machine labels (or any other cheap labels).

People judge documents that were drawn with known probabilities; the machine has labelled all. The estimate is unbiased
for every measure that is a weighted sum of gains, however poor the labels are; good labels make it narrower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import polars as pl

from judgewell.analysis.conclusions import Choices, Comparison
from judgewell.comparison.calibration import (
    FOLDS,
    Predictions,
    Sample,
    cross_fit,
    features_of,
    folds_within_topics,
    standardised,
)
from judgewell.comparison.difference import (
    Estimate,
    imputed_grades,
    linear_estimate,
    ndcg_estimate,
    order_scores,
    people_alone,
    pseudo_gains,
)
from judgewell.comparison.scores import ScoreArray, system_number
from judgewell.errors import DataError, InputError, note
from judgewell.evaluation.measures import Measure, nDCG
from judgewell.evaluation.measures.base import Linear
from judgewell.evaluation.resampled import Rankings, cutoff_of, fixed_unit, rank_weights, ranked_items
from judgewell.evaluation.settings import Settings
from judgewell.formats.runs import Run
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.means import mean_intervals
from judgewell.stats.sampling import inclusion_probabilities, shared_out
from judgewell.study.design.importance import LEAST, population
from judgewell.tables import INCLUSION

DOCUMENT = ["topic", "doc"]
FEWEST = 2  # documents that people judge of a topic: a spread needs two
NEARLY_ALL = 0.9  # of the documents judged by people: labels are not needed
GRADES = 10  # distinct gains up to which they are taken as grades
WIDTHS = (0.01, 0.02, 0.05)  # of intervals, for which the documents that people have to judge are counted
STEPS = 24  # sizes of samples that are tried, between the fewest documents and all


@dataclass(frozen=True)
class Evidence:
    """Documents in the order of their topics with labels and people's gains, what was drawn, and where they rank."""

    documents: pl.DataFrame  # topic, doc, label, systems, importance, gain and inclusion where drawn
    sample: Sample
    rankings: Rankings

    @property
    def gains(self) -> Floats:
        """People's gains of the drawn documents."""
        return self.documents["gain"].to_numpy()[self.sample.drawn]


def compare_with_machine(
    runs: Sequence[Run],
    human: tuple[str, pl.DataFrame],
    labels: pl.DataFrame,
    measures: Sequence[Measure],
    choices: Choices,
    settings: Settings,
    inputs: tuple[str, ...] = (),
) -> Comparison:
    """Every system's mean and every pair's difference, with intervals for these topics and for topics as a sample."""
    name, gains = human
    evidence = gather(runs, gains, labels, max(map(cutoff_of, measures)), settings, choices.seed)
    tables: dict[str, list[pl.DataFrame]] = {}
    scores = {}
    for one in measures:
        settled = one.settled(evidence.gains)
        judged = estimate(evidence, settled, np.random.default_rng([choices.seed, 1]))
        rows = np.argsort(evidence.rankings.systems)
        systems = tuple(evidence.rankings.systems[at] for at in rows)
        machine = _machine_means(evidence, settled)
        parts = {
            "systems": _systems(systems, judged, machine, rows, choices, settled.limits),
            "pairs": _pairs(systems, judged, rows, choices),
            "calibration": _calibration(evidence, judged, machine),
            "needed": _needed(evidence, settled, judged, choices),
            "documents": judged.documents,
        }
        for table, part in parts.items():
            tables.setdefault(table, []).append(part.select(pl.lit(str(settled)).alias("measure"), pl.all()))
        topics = tuple(evidence.rankings.topics)
        array = ScoreArray(systems, topics, judged.estimate.scores[rows], str(settled), settled.limits)
        scores[str(settled)] = {name: array}
    whole = {table: pl.concat(parts, how="diagonal_relaxed") for table, parts in tables.items()}
    return Comparison(whole, scores, {measure: {} for measure in scores}, choices, inputs)


def gather(
    runs: Sequence[Run], gains: pl.DataFrame, labels: pl.DataFrame, depth: int, settings: Settings, seed: int
) -> Evidence:
    """Labels, people's gains and ranks of the same documents."""
    whole = population(runs, labels)
    topics = whole["topic"].unique().implode()
    without = sorted(set(whole["topic"]) - set(gains["topic"]))
    if without:
        note(f"{len(without)} topics that people did not judge are excluded (the first: {without[0]})")
    gains = _drawn(gains, whole).filter(pl.col("topic").is_in(topics))
    counts = gains.group_by("topic").agg(judged=pl.len(), sure=(pl.col("inclusion") == 1).all())
    few = counts.filter((pl.col("judged") < FEWEST) & ~pl.col("sure"))["topic"].sort().to_list()
    if few:
        note(f"{len(few)} topics with one document judged are excluded (the first: {few[0]})")
    kept = [topic for topic in counts["topic"] if topic not in few]
    if not kept:
        raise DataError("people and machine share no topic with at least two documents that people judged")
    documents = whole.filter(pl.col("topic").is_in(kept)).join(gains, on=DOCUMENT, how="left").sort(DOCUMENT)
    judged = int(documents["gain"].is_not_null().sum())
    if judged > NEARLY_ALL * len(documents):
        note(
            f"people judged {judged:,} of {len(documents):,} documents, so the machine's labels add little: without "
            "--machine, scores are exact and tests are corrected for the number of pairs"
        )
    sizes = documents.group_by("topic", maintain_order=True).len()["len"].to_numpy().astype(np.int64)
    drawn = documents["gain"].is_not_null().arg_true().to_numpy().astype(np.int64)
    label, systems, importance = (
        documents[column].cast(pl.Float64).to_numpy() for column in ("label", "systems", "importance")
    )
    topic = np.repeat(np.arange(len(sizes)), sizes)
    sample = Sample(
        np.append(0, np.cumsum(sizes)),
        features_of(label, systems, importance),
        standardised(label),
        drawn,
        documents["inclusion"].to_numpy()[drawn],
        folds_within_topics(topic[drawn], np.random.default_rng(seed)),
    )
    rankings = ranked_items(runs, documents.select(*DOCUMENT, gain=pl.lit(0.0)), depth, settings)
    return Evidence(documents, sample, rankings)


def _drawn(gains: pl.DataFrame, whole: pl.DataFrame) -> pl.DataFrame:
    """People's gains with their inclusion probabilities: as drawn, or assumed to be equal within a topic."""
    known = gains.join(whole.select(DOCUMENT), on=DOCUMENT, how="semi")
    if len(known) < len(gains):
        lost = len(gains) - len(known)
        note(f"{lost} documents that people judged are excluded: no label, and no run has them among its first 10")
    if INCLUSION.name not in known.columns or known[INCLUSION.name].null_count() == len(known):
        sizes = whole.group_by("topic").agg(documents=pl.len())
        share = pl.len().over("topic") / pl.col("documents")
        known = known.select(*DOCUMENT, "gain").join(sizes, on="topic").with_columns(inclusion=share)
        if (known["inclusion"] < 1).any():
            note(
                "the gains have no column inclusion: the documents that people judged are assumed to be drawn with "
                "equal probability within each topic; if they were chosen in another way, the estimate is biased "
                "(judgewell design --for-machine draws them)"
            )
        return known.select(*DOCUMENT, "gain", "inclusion")
    missing = known[INCLUSION.name].null_count()
    if missing:
        note(
            f"{missing} documents that people judged were not drawn (no inclusion) and are excluded, such as known ones"
        )
    return known.select(*DOCUMENT, "gain", "inclusion").drop_nulls("inclusion")


@dataclass(frozen=True)
class Judged:
    """What one measure gives: the estimate, that of people alone, and each document's part in it."""

    estimate: Estimate
    alone: Estimate | None
    documents: pl.DataFrame
    penalty: float
    interval: bool = True


def estimate(evidence: Evidence, measure: Measure, rng: np.random.Generator) -> Judged:
    """The estimate of a measure; one that is neither a weighted sum of gains nor nDCG gets no interval."""
    sample, gains = evidence.sample, evidence.gains
    if isinstance(measure, Linear) and fixed_unit(measure) is not None:
        value = measure.credit(gains)[:, None]
        fitted = cross_fit(sample, value)
        both = fitted, people_alone(sample, value)
        weights = rank_weights(evidence.rankings, measure)
        first, second = (linear_estimate(weights, sample, value, one) for one in both)
        return Judged(first, second, _documents(evidence, value, fitted, np.ones(1)), fitted.penalty)
    credit = measure.credit(gains) if isinstance(measure, nDCG) else gains
    steps, grade = np.unique(credit, return_inverse=True)
    if not 2 <= len(steps) <= GRADES:
        raise InputError(
            f"{measure} needs grades beside a machine, and people gave {len(steps)} different gains",
            cure="use a measure that is a weighted sum of gains: DCG@10, RBP(p=0.8)@10, or P(rel=…)@10",
        )
    reached = (grade[:, None] >= np.arange(1, len(steps))).astype(np.float64)
    fitted = cross_fit(sample, reached)
    documents = _documents(evidence, reached, fitted, np.diff(steps), steps[0])
    if isinstance(measure, nDCG):
        weights, discounts = rank_weights(evidence.rankings, measure), measure.weights(cutoff_of(measure))
        first, second = (
            ndcg_estimate(weights, sample, grade, steps, one, discounts, rng)
            for one in (fitted, people_alone(sample, reached))
        )
        return Judged(first, second, documents, fitted.penalty)
    note(
        f"{measure} has no interval here: it is neither a weighted sum of gains nor nDCG, and intervals by imputation "
        "did not hold the truth often enough (docs/evidence/machines); its scores are means over imputed gains"
    )
    tables = steps[imputed_grades(sample, reached, fitted, rng)]
    scores = evidence.rankings.scores(measure, tables).mean(axis=0)
    empty = Estimate(scores, np.full((len(scores), len(scores)), np.nan))
    return Judged(empty, None, documents, fitted.penalty, interval=False)


def _documents(
    evidence: Evidence, outputs: Floats, fitted: Predictions, steps: Floats, least: float = 0.0
) -> pl.DataFrame:
    """Each document's part: what people said, π, the fold, the prediction and the pseudo-gain."""
    sample = evidence.sample
    fold: Ints = np.full(len(evidence.documents), -1)
    fold[sample.drawn] = sample.fold + 1
    return evidence.documents.select(*DOCUMENT, "label", "gain", "inclusion").with_columns(
        fold=pl.Series(fold).replace(-1, None),
        predicted=least + fitted.every @ steps,
        pseudo_gain=least + pseudo_gains(sample, outputs, fitted) @ steps,
    )


def _machine_means(evidence: Evidence, measure: Measure) -> Floats | None:
    """Each system's mean under the labels themselves, brought into the range of people's gains where they leave it."""
    label, gains = evidence.documents["label"].cast(pl.Float64).to_numpy(), evidence.gains
    low, high, least, most = np.nanmin(label), np.nanmax(label), gains.min(), gains.max()
    if (low < least or high > most) and high > low:
        label = least + (label - low) / (high - low) * (most - least)
        note(f"labels from {low:g} to {high:g} are scored as {least:g} to {most:g}, the range of people's gains")
    try:
        scores = evidence.rankings.scores(measure, label[None])[0]
    except InputError as problem:
        note(f"the machine alone is not scored: {problem}")
        return None
    return np.asarray(scores.mean(axis=1))


def _systems(
    systems: Sequence[str],
    judged: Judged,
    machine: Floats | None,
    rows: Ints,
    choices: Choices,
    limits: tuple[float, float],
) -> pl.DataFrame:
    """Each system's mean with its intervals, what the machine alone gives, and its place when only the order counts."""
    estimate = judged.estimate
    table = pl.DataFrame({"system": systems, "mean": estimate.means[rows]})
    if judged.interval:
        half = _reach(choices.level) * np.sqrt(estimate.variances[rows])
        over = mean_intervals(estimate.scores[rows], level=choices.level, seed=choices.seed)
        ends = {"low": estimate.means[rows] - half, "high": estimate.means[rows] + half}
        ends |= {"topics_low": over.low, "topics_high": over.high}
        table = table.with_columns(**{name: np.clip(end, *limits) for name, end in ends.items()})
    if machine is not None:
        table = table.with_columns(machine=machine[rows])
        if judged.interval:
            order = pl.Series(order_scores(machine, estimate)[rows])
            table = table.with_columns(order=order.rank("min", descending=True).cast(pl.Int64))
    return table.with_columns(pl.col(pl.Float64).fill_nan(None)).sort("mean", "system", descending=[True, False])


def _pairs(systems: Sequence[str], judged: Judged, rows: Ints, choices: Choices) -> pl.DataFrame:
    """Every pair of systems, the better first, or every system against the baseline."""
    estimate = judged.estimate
    order = sorted(range(len(systems)), key=lambda at: (-estimate.means[rows[at]], systems[at]))
    named = [(one, other) for at, one in enumerate(order) for other in order[at + 1 :]]
    if choices.baseline:
        baseline = system_number(systems, choices.baseline)
        named = [pair for pair in named if baseline in pair]
    first, second = np.array(named, dtype=np.int64).reshape(-1, 2).T
    gaps = estimate.scores[rows[first]] - estimate.scores[rows[second]]
    names = {"first": [systems[at] for at in first], "second": [systems[at] for at in second]}
    table = pl.DataFrame({**names, "difference": gaps.mean(axis=1)})
    if not judged.interval or table.is_empty():
        return table
    half = _reach(choices.level) * np.sqrt(np.maximum(estimate.gap_variances[rows[first], rows[second]], 0.0))
    over = mean_intervals(gaps, level=choices.level, seed=choices.seed)
    middle = gaps.mean(axis=1)
    return (
        table.with_columns(low=middle - half, high=middle + half, topics_low=over.low, topics_high=over.high)
        .with_columns(pl.col("topics_low", "topics_high").fill_nan(None))
        .with_columns(significant=pl.col("low") > 0, significant_topics=(pl.col("topics_low") > 0).fill_null(False))
    )


def _calibration(evidence: Evidence, judged: Judged, machine: Floats | None) -> pl.DataFrame:
    """How the estimate was made, and how much narrower the labels make it."""
    sample, alone = evidence.sample, judged.alone
    width = float(np.sqrt(judged.estimate.variances).mean())
    return pl.DataFrame(
        {
            "topics": [len(sample.starts) - 1],
            "documents": [int(sample.starts[-1])],
            "judged": [len(sample.drawn)],
            "certain": [int((sample.inclusion == 1).sum())],
            "folds": [FOLDS],
            "penalty": [judged.penalty],
            "machine_bias": [None if machine is None else float((machine - judged.estimate.means).mean())],
            "standard_error": [width if judged.interval else None],
            "people_alone": [None if alone is None else float(np.sqrt(alone.variances).mean())],
        }
    )


def _needed(evidence: Evidence, measure: Measure, judged: Judged, choices: Choices) -> pl.DataFrame:
    """How many documents people judge for intervals of given widths: of a mean, and of a difference of two systems."""
    if not judged.interval or not isinstance(measure, Linear):
        return pl.DataFrame(schema={"width": pl.Float64})
    drawn = judged.documents[evidence.sample.drawn.tolist()]
    residual = ((drawn["pseudo_gain"] - drawn["predicted"]) * drawn["inclusion"]).to_numpy()
    pairs = np.triu_indices(len(evidence.rankings.systems), 1)
    spreads = {"mean": judged.estimate.variances, "difference": judged.estimate.gap_variances[pairs]}
    half = {
        name: _reach(choices.level) * float(np.sqrt(np.maximum(one, 0.0)).mean())
        for name, one in spreads.items()
        if len(one)
    }
    importance = evidence.documents["importance"].to_numpy()
    return documents_needed(evidence.sample, residual, rank_weights(evidence.rankings, measure), importance, half)


def documents_needed(
    sample: Sample, residual: Floats, weights: Sequence[Floats], importance: Floats, half: dict[str, float]
) -> pl.DataFrame:
    """Per width the documents that people judge, drawn by importance, until the typical interval (`half` has its
    half-width now, by name) is ± width; nothing where no residual is left.

    The variance of another sample with probabilities π' is estimated from the documents at hand as
    Σ (1/π)(1/π' − 1)(w r)², r what people said less its prediction, w the documents' weights in the systems' scores.
    """
    weight = np.concatenate([np.square(part).mean(axis=0) for part in weights])  # over systems
    squares = weight[sample.drawn] * np.square(residual) / sample.inclusion
    now = float((squares * (1 / sample.inclusion - 1)).sum())
    if now <= 0:
        return pl.DataFrame(schema={"width": pl.Float64})
    documents, topics = int(sample.starts[-1]), len(sample.starts) - 1
    tried = np.unique(np.geomspace(min(LEAST * topics, documents), documents, STEPS).astype(np.int64))
    spread = []
    for size in tried.tolist():
        inclusion = _probabilities(sample, importance, size)[sample.drawn]
        spread.append(np.sqrt(float((squares * (1 / inclusion - 1)).sum()) / now))
    rows = []
    for width in WIDTHS:
        row: dict[str, float | int | None] = {"width": width}
        for name, now_half in half.items():
            row[name] = _first(tried, np.array(spread) * now_half, width)
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def _probabilities(sample: Sample, importance: Floats, size: int) -> Floats:
    """The probabilities with which a design of so many documents draws each."""
    sizes = np.diff(sample.starts)
    counts = shared_out(size, sizes, LEAST)
    parts = [
        inclusion_probabilities(importance[start:end], count)
        for start, end, count in zip(sample.starts[:-1], sample.starts[1:], counts.tolist(), strict=True)
    ]
    return np.concatenate(parts)


def _first(sizes: Ints, half: Floats, width: float) -> int | None:
    """The first size whose half-width is small enough, straight between the sizes tried."""
    enough = np.flatnonzero(half <= width)
    if not len(enough):
        return None
    at = int(enough[0])
    if at == 0:
        return int(sizes[0])
    share = (half[at - 1] - width) / (half[at - 1] - half[at])
    return round(float(sizes[at - 1] + share * (sizes[at] - sizes[at - 1])))


def _reach(level: float) -> float:
    return NormalDist().inv_cdf((1 + level) / 2)
