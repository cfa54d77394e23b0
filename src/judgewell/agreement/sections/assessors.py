"""How far does each assessor agree with the others?"""

from __future__ import annotations

import polars as pl

from judgewell.agreement import assessors, kappa, overlap, transitivity
from judgewell.agreement.evidence import Evidence
from judgewell.agreement.section import FILE, JUDGED, NAMED, Compute, Section, Table
from judgewell.agreement.sections.reliability import few_values
from judgewell.text import agrees, count, counted, percent, plain

FEWEST_WITHIN_A_TOPIC = 5  # within a topic two assessors share few documents


def _mean(table: str, statistic: str) -> Compute:
    return lambda e, get: overlap.mean_over_pairs(get(table), statistic)


def _tau_by_topic(evidence: Evidence) -> pl.DataFrame:
    frame = evidence.without_known_documents()
    pairs = assessors.assessor_tau(frame, by=["topic"], least_documents=FEWEST_WITHIN_A_TOPIC)
    return overlap.mean_over_pairs(pairs, "tau_b", by=["topic"])


def _rest_finding(table: pl.DataFrame) -> str | None:
    tau = table["tau_b"].drop_nulls().drop_nans()
    if not len(tau):
        return None
    below = int((tau < 0).sum())
    share = f" ({percent(below / len(tau))})" if below else ""
    return (
        f"The median assessor’s ranking of documents agrees with that of the others at τ-b = {plain(tau.median())}; "
        f"{count(below) if below else 'none'} of {counted(len(tau), 'assessor')}{share} "
        f"{agrees(below, 'ranks', 'rank') if below else 'ranks'} them the other way round."
    )


SECTION = Section(
    name="assessors",
    about="how far each assessor agrees with the others",
    part="agreement",
    order=15,
    needs=(JUDGED, NAMED),
    tables=(
        Table(
            name="against_the_rest",
            title="Each assessor against the others",
            caption="Each assessor’s ranking of documents against the mean of the others, lowest agreement first; bias "
            "is how much higher the assessor’s values are.",
            compute=lambda e, get: assessors.against_the_rest(e.without_known_documents()),
            finding=_rest_finding,
            columns=("assessor", "documents", "topics", "bias", "pairs", "agree", "disagree", "tau_b"),
        ),
        Table(
            name="assessor_tau",
            title="Every two assessors",
            caption="Kendall’s τ-b of every two assessors over the documents they share.",
            compute=lambda e, get: assessors.assessor_tau(e.without_known_documents()),
            shown=FILE,
        ),
        Table(
            name="assessor_tau_mean",
            title="Rank correlation of two assessors",
            caption="Kendall’s τ-b of two assessors over the documents they share: mean over pairs of assessors, with "
            "its 95 % interval over assessors.",
            compute=_mean("assessor_tau", "tau_b"),
        ),
        Table(
            name="assessor_tau_by_topic",
            title="Rank correlation of two assessors, by topic",
            caption="The same within each topic.",
            compute=lambda e, get: _tau_by_topic(e),
        ),
        Table(
            name="cohen_kappa",
            title="Cohen’s κ of every two assessors",
            caption="Agreement of every two assessors on grades beyond chance.",
            compute=lambda e, get: kappa.cohen_kappa(few_values(e)),
            shown=FILE,
        ),
        Table(
            name="cohen_kappa_mean",
            title="Cohen’s κ",
            caption="The mean over pairs of assessors, with its 95 % interval over assessors.",
            compute=_mean("cohen_kappa", "kappa"),
        ),
        Table(
            name="weighted_kappa",
            title="Weighted κ of every two assessors",
            caption="Cohen’s κ with quadratic weights for every two assessors.",
            compute=lambda e, get: kappa.cohen_kappa(few_values(e), "quadratic"),
            shown=FILE,
        ),
        Table(
            name="weighted_kappa_mean",
            title="Weighted κ",
            caption="Cohen’s κ with quadratic weights: the mean over pairs of assessors, with its 95 % interval.",
            compute=_mean("weighted_kappa", "kappa"),
        ),
        Table(
            name="repeated_judgments",
            title="Documents judged twice by one assessor",
            caption="The values that one assessor gave to the same document.",
            compute=lambda e, get: transitivity.repeated_judgments(e.judgments),
            columns=("topic", "doc", "assessor", "times", "values", "spread"),
        ),
    ),
)
