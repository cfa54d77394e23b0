"""How far do label sets agree with each other, and with the documents' gains?"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from judgewell.agreement import alpha, confusion, kappa, label_sets
from judgewell.agreement.common import judgments_of, pairs_of
from judgewell.agreement.evidence import Evidence
from judgewell.agreement.machines import FEW_GRADES
from judgewell.agreement.section import LABELS, OPEN, Get, Need, Section
from judgewell.errors import DataError, note
from judgewell.text import agrees, counted, interval, listing, plain

MOST_SETS = 6  # whose correlation with the first set a sentence lists


def _all_sets(evidence: Evidence) -> dict[str, pl.DataFrame]:
    """The label sets, with the documents' own gains first where there are any."""
    own = {"gains": evidence.document_gains()} if evidence.has_gains else {}
    return own | dict(evidence.labels)


def _graded(evidence: Evidence, purpose: str) -> dict[str, pl.DataFrame]:
    if len(evidence.graded) < 2:
        have = len(evidence.graded)
        raise DataError(f"{purpose} needs two label sets with at most {FEW_GRADES} grades; there are {have}")
    return evidence.graded


def _refuse_two_scales(sets: Mapping[str, pl.DataFrame], purpose: str) -> None:
    """Labels 0 and 1 beside labels with higher grades: a 1 does not mean the same in both."""
    binary, graded = _binary_and_graded(sets)
    if binary and graded:
        raise DataError(
            f"{purpose} needs label sets on one scale; {listing(binary)} {agrees(len(binary), 'has', 'have')} grades "
            f"0 and 1 only and {listing(graded)} {agrees(len(graded), 'has', 'have')} higher ones, so equal numbers do "
            "not mean equal grades; the table concordance compares how they rank documents"
        )


def _binary_and_graded(sets: Mapping[str, pl.DataFrame]) -> tuple[list[str], list[str]]:
    binary = [name for name, labels in sets.items() if labels["gain"].is_in([0.0, 1.0]).all()]
    return binary, [name for name in sets if name not in binary]


def _alpha_finding(table: pl.DataFrame) -> str:
    row = table.row(0, named=True)
    around = f" {interval(row['low'], row['high'])}" if row["low"] is not None else ""
    whom = f"; the interval is for {row['speaks_for']}" if row["speaks_for"] else ""
    return (
        f"Krippendorff’s α of {counted(row['label_sets'], 'label set')} is {plain(row['alpha'])}{around} over "
        f"{counted(row['documents'], 'document')} (ordinal{whom})."
    )


def _concordance(table: pl.DataFrame) -> str | None:
    known = pl.col("macro_tau_b").is_not_null() & ~pl.col("macro_tau_b").is_nan()
    rows = table.filter(known).sort("macro_tau_b", descending=True)
    if rows.is_empty():
        return None
    best, worst = rows.row(0, named=True), rows.row(-1, named=True)
    over = f"mean over {counted(best['topics'], 'topic')}"
    if rows.height == 1:
        return (
            f"The rankings of a topic’s documents by {best['first']} and {best['second']} correlate at τ-b = "
            f"{plain(best['macro_tau_b'])} ({over})."
        )
    own = table.filter(known, pl.col("first") == table["first"][0])
    if 1 < own.height <= MOST_SETS:
        taus = [f"{plain(tau)} with that by {name}" for name, tau in own.select("second", "macro_tau_b").iter_rows()]
        with_others = listing(taus, MOST_SETS)
        return f"The ranking of a topic’s documents by {own['first'][0]} correlates at τ-b = {with_others} ({over})."
    return (
        f"{best['first']} and {best['second']} rank a topic’s documents most alike (τ-b = "
        f"{plain(best['macro_tau_b'])}, {over}), {worst['first']} and {worst['second']} least "
        f"({plain(worst['macro_tau_b'])})."
    )


def _kappa_finding(table: pl.DataFrame) -> str | None:
    rows = table.filter(pl.col("kappa").is_not_null() & ~pl.col("kappa").is_nan()).sort("kappa", descending=True)
    if rows.is_empty():
        return None
    best, worst = rows.row(0, named=True), rows.row(-1, named=True)
    text = f"{best['first']} and {best['second']} agree on grades at κ = {plain(best['kappa'])}"
    text += f" ({plain(best['weighted_kappa'])} with quadratic weights; {counted(best['documents'], 'document')})"
    if rows.height > 1:
        text += f"; {worst['first']} and {worst['second']} least, at {plain(worst['kappa'])}"
    return f"The label sets {text}."


_TWO = Need("two sets of labels (gains count as one)", lambda e: len(e.labels) + e.has_gains >= 2)

SECTION = Section(
    "label sets",
    "how far label sets agree with each other and with the gains",
    "agreement",
    order=20,
    needs=(LABELS, _TWO),
)


@SECTION.table(
    "Label sets against each other",
    finding=_concordance,
    columns="first second topics pairs micro_agree micro_disagree micro_unknown micro_tau_a macro_tau_b",
    shown=OPEN,
)
def concordance(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Pairs of documents of one topic that two sets order alike, in opposite order, or that one of them ties
    (unknown)."""
    return label_sets.concordance(_all_sets(evidence))


@SECTION.table(
    "Agreement of all label sets",
    finding=_alpha_finding,
    columns="alpha low high speaks_for label_sets documents note",
    across_scales=True,
)
def label_alpha(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Krippendorff’s α (ordinal) with every label set as an assessor, with its 95 % interval."""
    sets = _graded(evidence, "alpha over label sets")
    _refuse_two_scales(sets, "alpha over label sets")
    used = {name: sorted(labels["gain"].unique().to_list()) for name, labels in sets.items()}
    if len({(grades[0], grades[-1]) for grades in used.values()}) > 1:
        ranges = ", ".join(f"{name} {grades[0]:g} to {grades[-1]:g}" for name, grades in used.items())
        note(f"the label sets use different grades ({ranges}); alpha takes equal numbers for equal grades")
    table = alpha.krippendorff_alpha(confusion.as_judgments(sets), "ordinal").rename({"assessors": "label_sets"})
    return table.with_columns(pl.col("speaks_for", "note").str.replace("assessors", "label sets"))


@SECTION.table(
    "κ between label sets",
    finding=_kappa_finding,
    columns="first second documents observed kappa low high weighted_kappa note",
    across_scales=True,
)
def label_kappa(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Cohen’s κ and κ with quadratic weights over the documents that both sets label, with 95 % intervals for other
    documents. Labels 0 and 1 are not compared with labels that have more grades."""
    sets = _graded(evidence, "kappa")
    on_one_scale = [{name: sets[name] for name in names} for names in _binary_and_graded(sets) if len(names) > 1]
    if not on_one_scale:
        _refuse_two_scales(sets, "kappa")
    unweighted, weighted = (
        pl.concat(
            kappa.kappa_between(some, weights, replicates=evidence.replicates, seed=evidence.seed)
            for some in on_one_scale
        )
        for weights in ("none", "quadratic")
    )
    return unweighted.with_columns(
        weighted_kappa=weighted["kappa"], weighted_low=weighted["low"], weighted_high=weighted["high"]
    )


@SECTION.table("Confusion matrix of label sets", across_scales=True)
def label_confusion(evidence: Evidence, get: Get) -> pl.DataFrame:
    """How many documents got each two grades; the share is of the first set’s grade."""
    return confusion.label_confusion(_graded(evidence, "a confusion matrix"))


@SECTION.table("What the label sets cover", across_scales=True)
def label_coverage(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Topics, documents and grades of each label set, and the judged documents and topics without a label."""
    judged = None
    if evidence.judgments is not None:
        judged = judgments_of(evidence.judgments).select("topic", "doc").unique()
    elif evidence.pairs is not None:
        pairs = pairs_of(evidence.pairs)
        judged = pl.concat([pairs.select("topic", doc=side) for side in ("left", "right")]).unique()
    return confusion.label_coverage(evidence.labels, judged)


@SECTION.table("Label sets against each other, by topic")
def concordance_by_topic(evidence: Evidence, get: Get) -> pl.DataFrame:
    """How two sets order the documents of each topic: alike, in opposite order, or tied in one of them (unknown)."""
    return label_sets.concordance_by_topic(_all_sets(evidence))
