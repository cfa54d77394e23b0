# ruff: noqa: E501 — a table of words reads best with one table to a line
"""How each table of the agreement analyses is shown: its title, its caption, its columns, and whether it is folded."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from judgewell.reports.parts import Grid
from judgewell.text import counted


@dataclass(frozen=True)
class Shown:
    """A table's words. An empty `part` keeps it off the report."""

    part: str
    title: str
    caption: str
    columns: tuple[str, ...] = ()
    folded: bool = True


def _off(title: str = "") -> Shown:
    return Shown("", title, "")


SHOWN = {
    "concordance": Shown(
        "agreement",
        "Sets of labels against each other",
        "Pairs of documents of one topic that two sets order alike, differently, or that one of them ties (unknown).",
        ("first", "second", "topics", "pairs", "micro_agree", "micro_disagree", "micro_unknown", "micro_tau_a", "macro_tau_b"),
        folded=False,
    ),
    "concordance_by_topic": Shown("agreement", "Sets of labels against each other, by topic", "As above, for each topic."),
    "label_kappa": Shown("agreement", "κ between sets of labels", "Cohen’s κ over documents that both sets label, with 95 % intervals.", ("first", "second", "documents", "observed", "kappa", "low", "high", "note")),
    "level_distributions": Shown(
        "gains", "Gains by level", "Gains of the documents of each level; U are documents without a label.",
        ("labels", "label", "documents", "least", "q1", "median", "q3", "greatest", "mean", "sd"), folded=False,
    ),
    "level_distributions_by_topic": Shown("gains", "Gains by level and topic", "As above, for each topic.", ("labels", "topic", "label", "documents", "q1", "median", "q3", "mean", "sd")),
    "adjacent_level_tests": Shown("agreement", "Neighbouring levels", "Do gains of neighbouring levels differ: rank-sum test, Welch’s t-test.", ("labels", "lower", "upper", "lower_count", "upper_count", "lower_median", "upper_median", "p_rank_sum", "p_welch", "note")),
    "exception_counts": Shown("agreement", "Medians out of order", "Topics’ pairs of levels whose median gains are in the wrong order."),
    "exceptions": _off(),
    "order_agreement": Shown(
        "agreement", "Order of documents on different levels",
        "Pairs of documents of one topic on different levels that the gains put in the levels’ order; the mean is over the pairs of levels, pooled over all pairs of documents.",
        ("labels", "figure", "pairs", "in_order", "tied", "strict", "half", "lenient", "topics"), folded=False,
    ),
    "order_agreement_by_topic": Shown("agreement", "Order of documents on different levels, by topic", "As above, for each topic."),
    "failures": Shown("agreement", "Documents that sit in another level’s territory", "The documents whose gain is nearer to another level of their topic, worst first; worth reading again.", ("labels", "topic", "doc", "gain", "level", "own_median", "nearest", "nearest_median", "misfit")),
    "failure_judgments": _off(),
    "level_value_tests": Shown("agreement", "Single judgments on neighbouring levels", "Values given to documents on neighbouring levels: rank-sum over judgments, signed-rank over units.", ("labels", "scale", "lower", "upper", "lower_count", "upper_count", "lower_median", "upper_median", "p_rank_sum", "p_signed_rank")),
    "unit_order_agreement": Shown("agreement", "Order within units", "Pairs of judgments in one unit of documents on different levels that are in the levels’ order.", ("labels", "scale", "lower", "upper", "pairs", "units", "strict", "half", "lenient")),
    "level_power": Shown("agreement", "Would a difference have been seen", "The chance that a rank-sum test finds the difference between two levels with so many judgments of each (500 draws).", ("labels", "scale", "lower", "upper", "size", "power", "low", "high")),
    "alpha": Shown("agreement", "Reliability", "Krippendorff’s α with 95 % intervals from resampled documents.", ("metric", "alpha", "low", "high", "documents", "judgments", "assessors"), folded=False),
    "alpha_by_topic": Shown("agreement", "Reliability by topic", "Krippendorff’s α for each topic.", ("topic", "metric", "alpha", "low", "high", "documents", "judgments", "assessors")),
    "fleiss_kappa": Shown("agreement", "Fleiss’ κ", "Agreement on levels beyond chance, with 95 % intervals."),
    "fleiss_kappa_by_topic": Shown("agreement", "Fleiss’ κ by topic", "As above, for each topic."),
    "against_the_rest": Shown("agreement", "Assessors against the rest", "Each assessor’s order of documents against the mean of the others, least alike first; bias is how much higher the values are.", ("assessor", "documents", "topics", "bias", "pairs", "agree", "disagree", "tau_b")),
    "assessor_tau": _off(),
    "assessor_tau_mean": Shown("agreement", "Pairs of assessors", "Kendall’s τ-b between two assessors over the documents they share."),
    "cohen_kappa": _off("Cohen’s κ"),
    "cohen_kappa_mean": Shown("agreement", "Cohen’s κ", "The mean over pairs of assessors, with its 95 % interval."),
    "weighted_kappa": _off("Weighted κ"),
    "weighted_kappa_mean": Shown("agreement", "Weighted κ", "Cohen’s κ with quadratic weights, the mean over pairs of assessors."),
    "repeated_judgments": Shown("quality", "Documents judged twice by one assessor", "The values one assessor gave to the same document.", ("topic", "doc", "assessor", "times", "values", "spread")),
    "known_accuracy": _off("Known documents told apart"),
    "known_accuracy_by_topic": Shown("quality", "Known documents, by topic", "Checks in which the document known to be better got the higher value: the mean over assessors and over all checks.", ("topic", "assessors", "checks", "mean", "sd", "pooled")),
    "transitivity": _off(),
    "transitivity_overall": Shown("agreement", "Preferences against their best order", "Comparisons that contradict the best order of an assessor’s answers, and what answers at random would give.", ("groups", "comparisons", "discords", "share", "chance_discords", "chance_share", "perfect", "chance_perfect", "consistency"), folded=False),
    "transitivity_by_topic": Shown("agreement", "Preferences against their best order, by topic", "As above, for each topic."),
    "transitivity_by_assessor": _off(),
    "volume_against_inconsistency": Shown("agreement", "Does more work mean more contradictions", "Kendall’s τ between how much an assessor did and how inconsistent it is."),
    "repeated_labels": _off(),
    "repeated_labels_by_topic": Shown("agreement", "Documents labelled again", "How often a document’s label changed when it was shown again."),
    "label_volume_against_inconsistency": _off(),
    "preferences_against_labels": Shown("agreement", "Preferences against labels", "Which of the two kinds of answer contradicts itself more."),
    "scale_descriptives": Shown("use", "The numbers", "What the values look like on each scale.", ("scale", "judgments", "assessors", "units", "least", "q1", "median", "q3", "greatest", "mean", "sd", "distinct", "zeros", "tens", "fives"), folded=False),
    "compare_scales": Shown("use", "Scales against each other", "The same documents on two scales."),
    "widths": _off("Width of units"),
    "width_distribution": Shown("use", "Width of units", "How far apart an assessor puts the known H and N documents: units for each ratio, rounded to 5."),
    "gain_profile": Shown("use", "Values of levels as multiples of the known N document", "What a level is worth, beside linear and exponential gains.", ("labels", "level", "judgments", "q1", "median", "q3", "geometric_mean", "linear", "exponential")),
    "level_ratios": Shown("use", "Ratios between levels", "Values of two documents of one unit on different levels, as ratios."),
    "score_by_position": Shown("use", "Values by place in the unit", "Values given at each place.", ("position", "judgments", "mean", "q1", "median", "q3")),
    "position_effect": Shown("use", "Effect of the place in the unit", "The change of a document’s rank in its unit per place, with its test, and a test of any difference between places.", ("judgments", "slope", "z", "p", "chi2", "df", "p_any")),
    "position_effect_by_topic": Shown("use", "Effect of the place in the unit, by topic", "As above, for each topic.", ("topic", "judgments", "slope", "z", "p", "chi2", "df", "p_any")),
    "ratio_order_effects": Shown("use", "Does the order of two documents move their ratio", "Ratios of two levels with the lower or the upper document first: Kolmogorov–Smirnov.", ("labels", "lower", "upper", "count", "other_count", "median", "other_median", "distance", "p")),
    "assessor_drift": Shown("use", "Drift of assessors", "Does an assessor’s generosity change in the course of the work; strongest first, p corrected by Holm.", ("assessor", "judgments", "slope", "z", "p", "p_holm")),
    "time_distribution": Shown("quality", "Time of a judgment", "Seconds, with the gamma distribution that fits best and its distance (Kolmogorov–Smirnov).", ("count", "mean", "least", "q1", "median", "q3", "greatest", "shape", "scale", "distance"), folded=False),
    "time_distribution_by_topic": Shown("quality", "Time of a judgment, by topic", "Seconds, for each topic.", ("topic", "count", "mean", "q1", "median", "q3", "greatest")),
    "time_histogram": _off(),
    "time_by_position": Shown("quality", "Time by place in the unit", "Seconds at each place.", ("position", "count", "mean", "q1", "median", "q3")),
    "time_and_length": _off("Time against length"),
    "time_against_length": Shown("quality", "Time against length", "Do longer documents take longer."),
    "worker_statistics": Shown("quality", "Assessors", "What each assessor did, most judgments first.", ("assessor", "judgments", "documents", "topics", "units", "median_seconds", "median", "distinct", "most_used", "most_used_share")),
    "workers_per_document": Shown("quality", "Assessors of a document", "Documents of each topic by how many assessors saw them."),
    "units_per_worker": Shown("quality", "Units of an assessor", "Assessors by how many units they did."),
    "question_likes": Shown("quality", "Which question was liked", "Answers of assessors."),
    "likes_over_topics": _off(),
    "topic_difficulty": Shown("systems", "Difficulty of topics", "Each topic’s mean over systems, hardest first."),
    "document_stability": Shown("use", "How many judgments are enough", "τ-b of medians of some random judgments of each document with medians of all (quartiles over 20 orders).", ("judgments", "tau_q1", "tau_median", "tau_q3", "orders")),
    "judge_stability": _off(),
    "partition_stability": Shown("use", "How many partitions are enough", "Gains from some partitions against those from all."),
}  # fmt: skip


def grid(name: str, frame: pl.DataFrame) -> Grid | None:
    """A table of the analyses as a grid, or nothing where the report leaves it to `judgewell agree`."""
    words = SHOWN.get(name, Shown("agreement", name.replace("_", " "), ""))
    if not words.part or frame.is_empty():
        return None
    rows = f" {counted(frame.height, 'row')}." if frame.height > 12 else ""
    return Grid(name, words.title, words.caption + rows, frame, words.columns, folded=words.folded)
