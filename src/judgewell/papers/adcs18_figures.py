"""Yang, Moffat and Turpin, ADCS 2018: the figures."""

from __future__ import annotations

import numpy as np
import polars as pl

from judgewell.agreement.effort import assessors_per_document, units_per_assessor
from judgewell.agreement.grades import grade_distributions
from judgewell.agreement.stability import partition_stability
from judgewell.agreement.times import time_against_length, time_and_length, time_distribution, time_histogram
from judgewell.agreement.transitivity import (
    preferences_against_labels,
    repeated_labels,
    transitivity,
    transitivity_summary,
    volume_against_inconsistency,
)
from judgewell.comparison.correlation import tau_p_value
from judgewell.errors import DataError, note
from judgewell.papers.adcs18_data import QUESTIONS, Compared, Data
from judgewell.papers.adcs18_printed import WORKER_TOPICS
from judgewell.papers.charts import bar_panels, box_panels, dot_cloud
from judgewell.papers.items import Made, beside
from judgewell.reports.parts import Figure, Grid
from judgewell.scaling.ratio import ratio_cells
from judgewell.stats.arrays import Floats

LONGEST = 600.0  # seconds for a pair; longer ones were pauses
TOPICS = 9  # panels of a figure by topic
STEPS = 500  # of the iteration that fills the matrix of ratios


def figure_2(data: Data) -> Made:
    """Figure 2: how many documents of each topic were seen by how many workers (§3)."""
    table = assessors_per_document(data.study.pairs)
    frame = table.select(
        panel=pl.format("topic {}", pl.col("topic")),
        low=pl.col("assessors") - 0.5,
        high=pl.col("assessors") + 0.5,
        count="documents",
    )
    chart = bar_panels(frame, "workers", "documents")
    caption = "Documents by the number of different workers who saw them, topic by topic."
    units = units_per_assessor(data.study.pairs)
    grid = Grid("figure-2-units", "Groups for each worker", "How many workers did so many groups.", units)
    rows = [
        ("most groups of one worker", 32.0, _number(units["units"].max())),
        ("workers with one group", 112.0, float(units["assessors"][0])),
    ]
    return Made(
        (Figure("figure-2", "Workers for each document", caption, chart, table), grid), beside("figure-2", rows)
    )


def figure_3(data: Data) -> Made:
    """Figure 3: scores from each question by the experts' grade (§4)."""
    one = data.systems
    if not one.labels:
        raise DataError("there are no labels to sort documents by; give --labels")
    parts = []
    for name, gains in one.gains.items():
        for labels_name, labels in one.labels.items():
            table = grade_distributions(gains, labels)
            parts.append(
                table.with_columns(panel=pl.lit(name), name=pl.format("{} {}", pl.lit(labels_name[0]), "label"))
            )
    frame = pl.concat(parts)
    chart = box_panels(frame, "labels and grade", "score")
    caption = (
        f"Documents' scores by grade ({', '.join(f'{name[0]} {name}' for name in one.labels)}; U without a grade). "
        "The paper draws a dot for each document; boxes hold the same."
    )
    return Made((Figure("figure-3", "Scores by grade", caption, chart, frame.drop("name")),))


def figure_4(data: Data) -> Made:
    """Figure 4: how often workers' preferences go in circles, and their yes or no changes (§5)."""
    shown: list[Figure | Grid] = []
    tables = []
    for part, one in (("study", data.study), ("workers", data.workers)):
        if part == "workers" and one is data.study:
            continue
        summary, figure = _circles(one, part, data.seed)
        shown.append(figure)
        tables.append(summary)
    rows: list[tuple[str, float | None, float | None]] = []
    pairs = data.study.pairs
    by = transitivity_summary(transitivity(pairs, seed=data.seed), by=("topic", "assessor"))
    rows.append(("Q1: mean share of discords", 0.02, _number(by["share"].mean())))
    rows.append(("Q1: mean share of documents touched", 0.02, _number(by["touched_share"].mean())))
    if pairs["left_relevant"].null_count() < pairs.height:
        changed = repeated_labels(pairs)
        dots = changed.select(x="documents", y="changed_share", kind=pl.col("topic"))
        shown.append(
            Figure(
                "figure-4-q2",
                "Question 2",
                "Documents that a worker saw again and called relevant once and not relevant another time, as a "
                "share of those seen again; a dot for each worker and topic.",
                dot_cloud(dots, "documents judged", "share of documents"),
                dots,
            )
        )
        tested = preferences_against_labels(by, changed)
        rows += [
            ("Q2: mean share of documents changed", 0.11, _number(changed["changed_share"].mean())),
            ("Q2: mean share of showings that differ", 0.11, _number(changed["times_share"].mean())),
            ("Q1 against Q2, paired t-test: p (printed: below)", 0.0001, tested["p"][0]),
        ]
        volume = volume_against_inconsistency(changed, "changed_share")
        rows.append(("documents judged and inconsistency: τ", 0.029, volume["tau"][0]))
    rows.append(("p of the printed τ = 0.029 with 911 dots", 0.188, tau_p_value(0.029, WORKER_TOPICS)))
    shown.append(
        Grid(
            "figure-4-chance",
            "Beside chance",
            "Discords at the best order, what answers by coin would give on the same pairs, and 1 − observed/chance.",
            pl.concat(tables, how="diagonal"),
            (
                "data",
                "groups",
                "comparisons",
                "discords",
                "share",
                "chance_share",
                "consistency",
                "perfect",
                "chance_perfect",
            ),
        )
    )
    notes = (
        "The caption speaks of documents affected, the text of the proportion of discords, and of changes per "
        "document or per time: all four are shown.",
        "With three partners each, a worker who clicks at random has 0.708 discords in 12 pairs (5.9 %), and 39 % "
        "of such groups have none; for question 2 chance is far higher. 0.02 and 0.11 are not on one scale.",
    )
    return Made(tuple(shown), beside("figure-4", rows), notes)


def _circles(one: Compared, part: str, seed: int) -> tuple[pl.DataFrame, Figure]:
    within = "unit" if one.pairs.group_by("topic", "assessor", "unit").len()["len"].max() != 1 else "assessor"
    circles = transitivity(one.pairs, within=within, seed=seed)
    known = (
        circles.drop_nulls("share")
        .group_by("topic", "assessor")
        .agg(pl.col("documents").sum(), share=pl.col("discords").sum() / pl.col("comparisons").sum())
        .sort("topic", "assessor")
    )
    few = known["topic"].n_unique() <= TOPICS
    dots = known.select(x="documents", y="share", kind="topic")
    name = "figure-4-q1" if part == "study" else "figure-4-q1-workers"
    chart = dot_cloud(dots, "documents judged", "share of discords", colour=few)
    caption = (
        f"Preferences against a worker's best order of the documents: a dot for each worker and topic ({one.source})."
    )
    summary = transitivity_summary(circles).with_columns(data=pl.lit(one.source.partition(":")[0]))
    return summary, Figure(name, "Question 1", caption, chart, dots)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def figure_5(data: Data) -> Made:
    """Figure 5: seconds for a pair, with the gamma distribution that fits best (§5)."""
    pairs = data.workers.pairs
    by = ("topic",) if pairs["topic"].n_unique() <= TOPICS else ()
    table = time_histogram(pairs, by=by, width=10, longest=LONGEST)
    frame = table.select(
        panel=pl.format("topic {}", pl.col("topic")) if by else pl.lit("all topics"),
        low=pl.col("seconds") - 5,
        high=pl.col("seconds") + 5,
        count=pl.col("density"),
        middle=pl.col("seconds"),
        curve=pl.col("gamma"),
    )
    fits = time_distribution(pairs, by=by, longest=LONGEST)
    chart = bar_panels(frame, "seconds", "density")
    caption = (
        f"Bars have the area 1; the line is the gamma with origin 0 of the greatest likelihood; up to {LONGEST:g} s."
    )
    mean = _number(time_distribution(pairs, longest=LONGEST)["mean"][0])
    grid = Grid("figure-5-fits", "The fits", "Seconds for a pair.", fits)
    notes = ("The paper does not say how the gamma was fitted, or whether long pauses were excluded.",)
    return Made(
        (Figure("figure-5", "Time for a pair", caption, chart, table), grid),
        beside("figure-5", [("mean seconds for a pair (printed: around)", 60.0, mean)]),
        notes,
    )


def figure_6(data: Data) -> Made:
    """Figure 6: workers' mean time against the mean length of what they read (§5)."""
    dots = time_and_length(data.study.pairs, data.study.lengths, longest=LONGEST)
    relation = time_against_length(dots)
    frame = dots.select(x="length", y="seconds", kind="topic")
    chart = dot_cloud(
        frame, "mean length of documents", "mean seconds for a pair", colour=dots["topic"].n_unique() <= TOPICS
    )
    rows = [
        ("τ between time and length", -0.047, _number(relation["tau"][0])),
        ("p of the printed τ = −0.047 with 911 dots", None, tau_p_value(-0.047, WORKER_TOPICS)),
    ]
    notes = ("The paper calls time and length unrelated; with its 911 dots τ = −0.047 is weak, but p is below 0.05.",)
    caption = "A dot for each worker and topic."
    return Made((Figure("figure-6", "Time and length", caption, chart, frame),), beside("figure-6", rows), notes)


def figure_7(data: Data) -> Made:
    """Figure 7: τ between documents' order from some partitions and from all, for each question (§6)."""
    one = data.study
    if "partition" not in one.pairs.columns:
        raise DataError("the pairs do not say which partition they are of; give a column partition")
    pairs = whole_partitions(one.pairs)
    parts = []
    for name, method in QUESTIONS.items():
        if name in one.gains:
            table = partition_stability(pairs, method.gains, orders=10, seed=data.seed)
            parts.append(table.with_columns(question=pl.lit(name)))
    taus = pl.concat(parts, how="diagonal").select("question", pl.exclude("question"))
    bars = taus.drop_nulls("tau_mean").select(
        panel=pl.format("{}, topic {}", "question", "topic"),
        low=pl.col("partitions") - 0.4,
        high=pl.col("partitions") + 0.4,
        count=pl.col("tau_mean"),
    )
    chart = bar_panels(bars, "partitions", "mean τ-b")
    caption = (
        "τ-b with the order from all partitions: mean over ten random orders of the partitions, by question and topic."
    )
    about = "Means and quartiles over ten orders; undefined counts orders that leave documents unconnected."
    grid = Grid("figure-7-topics", "Topic by topic", about, taus)
    notes = (
        "One partition alone leaves groups unconnected, so ratios have no common scale there; the paper does not "
        "say how it scored them.",
        "The paper's ratios take geometric means of columns; with its own definition of the matrix it must be rows. "
        "Columns give nearly the opposite scores.",
    )
    shown: list[Figure | Grid] = [Figure("figure-7", "More partitions", caption, chart, bars), grid]
    if "Ratio" in one.gains:
        text = (
            "The correlation of log scores by rows of the matrix of ratios (right) and by columns, as the paper says."
        )
        shown.append(Grid("figure-7-readings", "Rows or columns", text, both_readings(pairs)))
    return Made(tuple(shown), None, notes)


def whole_partitions(pairs: pl.DataFrame) -> pl.DataFrame:
    """The pairs of the partitions that show every document of their topic; others are excluded, with a note."""
    key = ["topic", "partition"]
    shown = pl.concat(pairs.select(*key, doc=side) for side in ("left", "right"))
    documents = shown.group_by("topic").agg(documents=pl.col("doc").n_unique())
    partitions = shown.group_by(key).agg(pl.col("doc").n_unique()).join(documents, on="topic")
    whole = partitions.filter(pl.col("doc") == pl.col("documents"))
    if whole.is_empty():
        raise DataError("no partition shows all documents of its topic; collect the missing groups")
    if whole.height < partitions.height:
        lacking = partitions.height - whole.height
        note(f"{lacking} of {partitions.height} partitions lack documents of their topic and are excluded")
    return pairs.join(whole, on=key, how="semi", maintain_order="left")


def both_readings(pairs: pl.DataFrame) -> pl.DataFrame:
    """Log scores by the paper's iteration with row means and with column means, compared topic by topic.

    y_i ← mean over j of log M_ij, where M_ij is the geometric mean of the answers, or S_i/S_j where there are none.
    """
    cells = ratio_cells(pairs)
    topics = cells.documents["topic"].to_numpy()
    rows = []
    for topic in dict.fromkeys(topics.tolist()):
        own = np.flatnonzero(topics == topic)
        at = np.flatnonzero(np.isin(cells.left, own))
        left, right = cells.left[at] - own[0], cells.right[at] - own[0]
        log = np.full((len(own), len(own)), np.nan)
        log[left, right], log[right, left] = cells.value[at], -cells.value[at]
        np.fill_diagonal(log, 0.0)
        by_row, by_column = (_iterated(log, axis) for axis in (1, 0))
        rows.append({"topic": topic, "documents": len(own), "correlation": float(np.corrcoef(by_row, by_column)[0, 1])})
    return pl.DataFrame(rows)


def _iterated(log: Floats, axis: int) -> Floats:
    known = ~np.isnan(log)
    y: Floats = np.zeros(len(log))
    for _ in range(STEPS):
        y = np.asarray(np.where(known, np.nan_to_num(log), y[:, None] - y[None, :]).mean(axis=axis))
    centred: Floats = y - y.mean()
    return centred
