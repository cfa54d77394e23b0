"""Do the documents' gains follow the grades of a label set?"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import polars as pl

from judgewell.agreement import common, failures, grade_tests, grades, scale_use
from judgewell.agreement.evidence import Evidence, given
from judgewell.agreement.section import FILE, LABELS, OPEN, SCORED, Get, Section
from judgewell.errors import DataError, note
from judgewell.text import counted, fractions, percent, plain

MOST_FAILURES = 50
LEAST_PAIRS = 50  # pairs of documents before two grades are called those with the lowest or highest agreement


def _against(evidence: Evidence, analysis: Callable[..., pl.DataFrame], **options: object) -> pl.DataFrame:
    gains = evidence.document_gains()
    return evidence.against_labels(lambda labels: analysis(gains, labels, **options))


def _medians(table: pl.DataFrame) -> list[str]:
    sentences = []
    for (labels,), part in table.partition_by("labels", as_dict=True, maintain_order=True).items():
        graded = part.filter(pl.col("grade").is_not_null()).sort("grade")
        medians = graded["median"].to_list()
        if len(medians) > 1:
            rises = all(lower < upper for lower, upper in pairwise(medians))
            verb = "rise" if rises else "do not rise"
            each = zip(fractions(medians), graded["grade"].to_list(), strict=True)
            values = ", ".join(f"{gain} at grade {plain(grade)}" for gain, grade in each)
            sentences.append(f"Median gains {verb} with every grade of the label set {labels}: {values}.")
    return sentences


def _order(table: pl.DataFrame) -> list[str]:
    sentences = []
    for (labels,), part in table.partition_by("labels", as_dict=True, maintain_order=True).items():
        pooled = part.filter(pl.col("figure") == "pooled").row(0, named=True)
        text = (
            f"The gains order {percent(pooled['half'])} of {counted(pooled['pairs'], 'pair')} of documents with "
            f"different grades as the label set {labels} does (ties count half; 50 % is chance)"
        )
        steps = part.filter(pl.col("lower").is_not_null() & (pl.col("pairs") >= LEAST_PAIRS)).sort("half")
        if steps.height > 1:
            low, high = steps.row(0, named=True), steps.row(-1, named=True)
            text += f"; as means over topics, from {percent(low['half'])} between grades {_pair(low)}"
            text += f" to {percent(high['half'])} between {_pair(high)}"
        sentences.append(text + ".")
    return sentences


def _pair(row: dict[str, float]) -> str:
    return f"{plain(row['lower'])} and {plain(row['upper'])}"


_TESTS = "labels lower upper lower_count upper_count lower_median upper_median"

SECTION = Section(
    "grades",
    "do documents' gains follow the grades of label sets",
    "relevance",
    order=30,
    needs=(SCORED, LABELS),
    other_names=("levels",),
)


@SECTION.table(
    "Gains by grade", finding=_medians, columns="labels label documents least q1 median q3 greatest mean sd", shown=OPEN
)
def grade_distributions(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Gains of the documents of each grade; U: documents without a label."""
    return _against(evidence, grades.grade_distributions)


@SECTION.table("Gains by grade and topic", columns="labels topic label documents q1 median q3 mean sd")
def grade_distributions_by_topic(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Gains of the documents of each grade within each topic."""
    return _against(evidence, grades.grade_distributions, by=["topic"])


@SECTION.table(
    "Do neighbouring grades differ?",
    finding=grade_tests.finding,
    columns="labels lower upper topics difference low high p note",
    shown=OPEN,
)
def grade_differences(evidence: Evidence, get: Get) -> pl.DataFrame:
    """The mean difference of gains between neighbouring grades over topics, with a 95 % interval and a test that hold
    for other documents and topics."""
    gains = evidence.document_gains()
    log = evidence.judgments is not None and evidence.kind.in_logs and bool((gains["gain"] > 0).all())
    return evidence.against_labels(lambda labels: grade_tests.grade_differences(gains, labels, log=log))


@SECTION.table("Neighbouring grades, all topics pooled", columns=f"{_TESTS} p_rank_sum p_welch note")
def adjacent_grade_tests(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Tests that treat all documents as one sample, as in the papers: descriptive, because documents of one topic are
    alike."""
    return _against(evidence, grades.adjacent_grade_tests)


@SECTION.table("Medians out of order")
def exception_counts(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Pairs of grades of one topic whose median gains are in the wrong order."""
    return _against(evidence, grades.exception_counts)


@SECTION.table("Medians of every two grades, by topic", shown=FILE)
def exceptions(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Median gains of every two grades of a topic, and whether they are out of order."""
    return _against(evidence, grades.exceptions)


@SECTION.table(
    "Agreement on the order of documents",
    finding=_order,
    columns="labels figure pairs in_order tied strict half lenient topics",
    shown=OPEN,
)
def order_agreement(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Pairs of documents of one topic with different grades that the gains put in the grades’ order; “mean” averages
    the pairs of grades, “pooled” counts all pairs of documents alike."""
    return _against(evidence, grades.order_agreement_summary)


@SECTION.table("Agreement on the order of documents, by topic")
def order_agreement_by_topic(evidence: Evidence, get: Get) -> pl.DataFrame:
    """The same within each topic."""
    return _against(evidence, grades.order_agreement)


@SECTION.table("Ratios of gains between grades")
def document_ratios(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Gains of two documents of one topic with different grades, as ratios."""
    gains = evidence.document_gains()
    lowest = float(common.gains_of(gains)["gain"].to_numpy().min())
    if lowest < 0:
        raise DataError(f"ratios of gains need gains of 0 or more; the lowest is {lowest:g} (log gains have no ratios)")
    if lowest == 0:
        note("some documents have a gain of 0: ratios of gains are taken after adding 1")
    offset = 1.0 if lowest == 0 else 0.0
    return evidence.against_labels(lambda labels: scale_use.document_ratios(gains, labels, offset=offset))


@SECTION.table(
    "Documents scored like another grade",
    columns="labels topic doc gain grade own_median nearest nearest_median misfit",
)
def _failures(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Documents whose gain is closer to another grade of their topic than to their own, largest misfit first. Read them
    again: the label, the judgments or the topic may be at fault."""
    return _against(evidence, failures.failures, most=MOST_FAILURES)


@SECTION.table("Judgments of documents scored like another grade", shown=FILE)
def failure_judgments(evidence: Evidence, get: Get) -> pl.DataFrame:
    """The judgments behind these documents, with their comments."""
    listed = get("failures")
    frame = given(evidence.judgments)
    if listed.is_empty():
        raise DataError("no document is scored like another grade")
    parts = listed.partition_by("labels", as_dict=True, maintain_order=True)
    behind = {name: failures.failure_judgments(part, frame) for (name,), part in parts.items()}
    return pl.concat([part.select(pl.lit(name).alias("labels"), pl.all()) for name, part in behind.items()])
