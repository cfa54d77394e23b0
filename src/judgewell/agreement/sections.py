"""Every analysis as a list of sections, so that a command or a report runs what the data allow and says what not.

for outcome in run_sections(Evidence(judgments=…, labels={"sormunen": …})):
    outcome.name, outcome.tables, outcome.left_out, outcome.notes
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import polars as pl

from judgewell.agreement import (
    alpha,
    assessors,
    common,
    failures,
    kappa,
    label_sets,
    levels,
    mixed_model,
    order_effects,
    overlap,
    power,
    scale_use,
    stability,
    times,
    transitivity,
    unit_levels,
    workers,
)
from judgewell.agreement.evidence import Evidence, Need, Outcome, Section, Step, Tables, given, has, made, run_section
from judgewell.errors import DataError

FEW_LEVELS = 20  # kappa is for scales of few levels; with more values it only counts coincidences
FAILURES = 50


def run_sections(evidence: Evidence, sections: Sequence[Section] | None = None) -> Iterator[Outcome]:
    """The outcome of every section in turn, so that a progress bar can follow."""
    for section in SECTIONS if sections is None else sections:
        yield run_section(section, evidence)


def _per_label_set(evidence: Evidence, analysis: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    """One analysis against each set of labels, below each other; sets that do not allow it are told."""
    parts, reasons = [], []
    for name, labels in evidence.labels.items():
        try:
            parts.append(analysis(labels).select(pl.lit(name).alias("labels"), pl.all()))
        except DataError as reason:
            reasons.append(f"{name}: {reason}")
    if not parts:
        raise DataError("; ".join(reasons) or "needs labels to compare with")
    for reason_text in reasons:
        common.tell(f"left out against {reason_text}")
    return pl.concat(parts, how="diagonal_relaxed")


def _alpha(evidence: Evidence, by: Sequence[str]) -> pl.DataFrame:
    frame = given(evidence.judgments)
    value = common.judgments_of(frame)["value"]
    wanted = evidence.metrics or alpha.METRICS
    metrics = [metric for metric in wanted if metric != "ratio" or value.min() >= 0]  # type: ignore[operator]
    if "ratio" in wanted and "ratio" not in metrics:
        common.tell("alpha on a ratio scale is left out: some values are below 0")
    options = {"by": by, "replicates": evidence.replicates, "seed": evidence.seed}
    return pl.concat([alpha.krippendorff_alpha(frame, metric, **options) for metric in metrics])  # type: ignore[arg-type]


def _few_levels(evidence: Evidence) -> pl.DataFrame:
    frame = common.judgments_of(evidence.judgments)
    distinct = frame["value"].n_unique()
    if distinct > FEW_LEVELS:
        raise DataError(f"kappa needs a scale of few levels; the judgments hold {distinct} different values")
    return frame


def _kappa_between(evidence: Evidence) -> pl.DataFrame:
    sets = {name: common.gains_of(labels) for name, labels in evidence.labels.items()}
    graded = {name: labels for name, labels in sets.items() if labels["gain"].n_unique() <= FEW_LEVELS}
    if len(graded) < 2:
        raise DataError(f"kappa needs two sets of labels with at most {FEW_LEVELS} levels; there are {len(graded)}")
    return kappa.kappa_between(graded, replicates=evidence.replicates, seed=evidence.seed)


def _all_sets(evidence: Evidence) -> dict[str, pl.DataFrame]:
    """The label sets, with the documents' own scores first where there are any."""
    own = {"gains": evidence.document_gains()} if evidence.has_gains else {}
    return own | dict(evidence.labels)


def _transitivity(evidence: Evidence) -> pl.DataFrame:
    pairs = common.pairs_of(evidence.pairs)
    single = pairs.group_by(common.UNIT).len()["len"].max() == 1
    if single:
        common.tell("every unit holds one pair: transitivity is taken over all of an assessor's answers for a topic")
    return transitivity.transitivity(pairs, within="assessor" if single else "unit", seed=evidence.seed)


def _work(evidence: Evidence) -> pl.DataFrame:
    return given(evidence.judgments if evidence.judgments is not None else evidence.pairs, "judgments or pairs")


def _timed(evidence: Evidence) -> pl.DataFrame:
    return given(evidence.judgments if has(evidence.judgments, "seconds") else evidence.pairs, "times")


def _partitions(evidence: Evidence) -> pl.DataFrame:
    if evidence.score is None or not has(evidence.pairs, "partition"):
        raise DataError("stability over partitions needs pairs with a column 'partition' and a way to score them")
    return stability.partition_stability(given(evidence.pairs, "pairs"), evidence.score, seed=evidence.seed)


JUDGED = Need("judgments", lambda e: e.judgments is not None)
PAIRED = Need("pairs with a preference", lambda e: has(e.pairs, "preferred"))
LABELLED_PAIRS = Need("pairs with relevant or not", lambda e: has(e.pairs, "left_relevant"))
WORK = Need("judgments or pairs", lambda e: e.judgments is not None or e.pairs is not None)
NAMED = Need("assessors' names", lambda e: has(e.judgments, "assessor") or has(e.pairs, "assessor"))
SCORED = Need("judgments or gains", lambda e: e.has_gains)
LABELS = Need("labels to compare with", lambda e: bool(e.labels))
TWO_SETS = Need("two sets of labels (gains count as one)", lambda e: len(e.labels) + e.has_gains >= 2)
POSITIONS = Need("positions in the unit", lambda e: has(e.judgments, "position"))
KNOWN = Need("known documents (H and N)", lambda e: has(e.judgments, "known") or has(e.pairs, "left_known"))
TIMED = Need("times", lambda e: has(e.judgments, "seconds") or has(e.pairs, "seconds"))
LIKES = Need("answers to which question was liked", lambda e: e.likes is not None)
SCORES = Need("systems' scores", lambda e: e.scores is not None)


def _level_steps() -> dict[str, Step]:
    """Documents' scores against each set of labels."""

    def against(analysis: Callable[..., pl.DataFrame], **options: object) -> Step:
        def step(evidence: Evidence, _: Tables) -> pl.DataFrame:
            gains = evidence.document_gains()
            return _per_label_set(evidence, lambda labels: analysis(gains, labels, **options))

        return step

    return {
        "grade_distributions": against(levels.grade_distributions),
        "level_distributions_by_topic": against(levels.grade_distributions, by=["topic"]),
        "adjacent_grade_tests": against(levels.adjacent_grade_tests),
        "exception_counts": against(levels.exception_counts),
        "exceptions": against(levels.exceptions),
        "order_agreement": against(levels.order_agreement_summary),
        "order_agreement_by_topic": against(levels.order_agreement),
        "failures": against(failures.failures, most=FAILURES),
        "failure_judgments": lambda e, t: _failure_judgments(e, made(t, "failures")),
    }


def _failure_judgments(evidence: Evidence, listed: pl.DataFrame) -> pl.DataFrame:
    if evidence.judgments is None:
        raise DataError("the judgments behind failures need judgments; only gains are given")
    if listed.is_empty():
        raise DataError("no document sits in another level's territory")
    parts = listed.partition_by("labels", as_dict=True, maintain_order=True)
    behind = {name: failures.failure_judgments(part, evidence.judgments) for (name,), part in parts.items()}
    return pl.concat([part.select(pl.lit(name).alias("labels"), pl.all()) for name, part in behind.items()])


def _judgment_steps() -> dict[str, Step]:
    """Single judgments against each set of labels, by scale and template where they are recorded."""

    def against(analysis: Callable[..., pl.DataFrame], **options: object) -> Step:
        def step(evidence: Evidence, _: Tables) -> pl.DataFrame:
            frame = given(evidence.judgments)
            by = [name for name in ("scale", "template") if has(frame, name)]
            return _per_label_set(evidence, lambda labels: analysis(frame, labels, by=by, **options))

        return step

    return {
        "grade_value_tests": against(unit_levels.grade_value_tests),
        "unit_order_agreement": against(unit_levels.unit_order_agreement),
        "inferred_ranks": against(unit_levels.inferred_ranks),
        "grade_power": against(power.grade_power, sizes=(10, 20, 50, 100), replicates=500, observed=False),
    }


def _scale_steps() -> dict[str, Step]:
    def scales(evidence: Evidence) -> pl.DataFrame:
        frame = common.judgments_of(evidence.judgments)
        return scale_use.scale_descriptives(frame, by=["scale"] if has(frame, "scale") else [])

    def ratios(analysis: Callable[..., pl.DataFrame]) -> Step:
        def step(evidence: Evidence, _: Tables) -> pl.DataFrame:
            offset = evidence.offset()
            return _per_label_set(evidence, lambda labels: analysis(evidence.judgments, labels, offset=offset))

        return step

    return {
        "scale_descriptives": lambda e, t: scales(e),
        "compare_scales": lambda e, t: scale_use.compare_scales(e.judgments),
        "widths": lambda e, t: scale_use.widths(e.judgments, offset=e.offset()),
        "width_distribution": lambda e, t: scale_use.width_distribution(made(t, "widths")),
        "gain_profile": ratios(scale_use.gain_profile),
        "grade_ratios": ratios(scale_use.grade_ratios),
        "document_ratios": lambda e, t: _document_ratios(e),
    }


def _document_ratios(evidence: Evidence) -> pl.DataFrame:
    gains = evidence.document_gains()
    zero = common.gains_of(gains)["gain"].min() == 0
    if zero:
        common.tell("some documents score 0: their ratios are taken after adding 1 to all scores")
    return _per_label_set(
        evidence, lambda labels: scale_use.document_ratios(gains, labels, offset=1.0 if zero else 0.0)
    )


def _order_steps() -> dict[str, Step]:
    def ratios(evidence: Evidence, _: Tables) -> pl.DataFrame:
        offset = evidence.offset()
        return _per_label_set(
            evidence, lambda labels: order_effects.ratio_order_effects(evidence.judgments, labels, offset=offset)
        )

    return {
        "score_by_position": lambda e, t: order_effects.score_by_position(
            order_effects.moved_documents(given(e.judgments))
        ),
        "position_effect": lambda e, t: order_effects.position_effect(e.judgments),
        "position_effect_by_topic": lambda e, t: order_effects.position_effect(e.judgments, by=["topic"]),
        "ratio_order_effects": ratios,
        "assessor_drift": lambda e, t: order_effects.assessor_drift(e.judgments),
    }


def _known_steps() -> dict[str, Step]:
    def accuracy(evidence: Evidence, _: Tables) -> pl.DataFrame:
        if has(evidence.pairs, "left_known"):
            return assessors.known_pair_accuracy(evidence.pairs)
        return assessors.known_accuracy(evidence.judgments)

    return {
        "known_accuracy": accuracy,
        "known_accuracy_by_topic": lambda e, t: assessors.accuracy_summary(made(t, "known_accuracy")),
    }


def _tau_by_topic(evidence: Evidence, _: Tables) -> pl.DataFrame:
    """Within a topic two assessors share few documents, so that five are enough to count."""
    pairs = assessors.assessor_tau(evidence.unknown_documents(), by=["topic"], least_documents=5)
    return overlap.mean_over_pairs(pairs, "tau_b", by=["topic"], replicates=evidence.replicates, seed=evidence.seed)


def _pairwise_steps() -> dict[str, Step]:
    def mean(table: str, statistic: str) -> Step:
        return lambda e, t: overlap.mean_over_pairs(made(t, table), statistic, replicates=e.replicates, seed=e.seed)

    return {
        "against_the_rest": lambda e, t: assessors.against_the_rest(e.unknown_documents()),
        "assessor_tau": lambda e, t: assessors.assessor_tau(e.unknown_documents()),
        "assessor_tau_mean": mean("assessor_tau", "tau_b"),
        "assessor_tau_by_topic": _tau_by_topic,
        "cohen_kappa": lambda e, t: kappa.cohen_kappa(_few_levels(e)),
        "cohen_kappa_mean": mean("cohen_kappa", "kappa"),
        "weighted_kappa": lambda e, t: kappa.cohen_kappa(_few_levels(e), "quadratic"),
        "weighted_kappa_mean": mean("weighted_kappa", "kappa"),
        "repeated_judgments": lambda e, t: transitivity.repeated_judgments(e.judgments),
    }


def _fleiss(evidence: Evidence, by: Sequence[str]) -> pl.DataFrame:
    return kappa.fleiss_kappa(_few_levels(evidence), by=by, replicates=evidence.replicates, seed=evidence.seed)


def _transitivity_steps() -> dict[str, Step]:
    def summary(by: Sequence[str]) -> Step:
        return lambda e, t: transitivity.transitivity_summary(made(t, "transitivity"), by=by)

    return {
        "transitivity": lambda e, t: _transitivity(e),
        "transitivity_overall": summary(()),
        "transitivity_by_topic": summary(("topic",)),
        "transitivity_by_assessor": summary(("topic", "assessor")),
        "volume_against_inconsistency": lambda e, t: transitivity.volume_against_inconsistency(
            made(t, "transitivity_by_assessor"), "share"
        ),
    }


def _repeat_steps() -> dict[str, Step]:
    return {
        "repeated_labels": lambda e, t: transitivity.repeated_labels(e.pairs),
        "repeated_labels_by_topic": lambda e, t: transitivity.repeated_labels(e.pairs, by=("topic",)),
        "label_volume_against_inconsistency": lambda e, t: transitivity.volume_against_inconsistency(
            made(t, "repeated_labels"), "changed_share"
        ),
        "preferences_against_labels": lambda e, t: transitivity.preferences_against_labels(
            transitivity.transitivity_summary(_transitivity(e), by=("topic", "assessor")), made(t, "repeated_labels")
        ),
    }


def _time_steps() -> dict[str, Step]:
    def lengths(evidence: Evidence, _: Tables) -> pl.DataFrame:
        if evidence.lengths is None:
            raise DataError("time against length needs the documents' lengths")
        return times.time_and_length(_timed(evidence), evidence.lengths)

    return {
        "time_distribution": lambda e, t: times.time_distribution(_timed(e)),
        "time_distribution_by_topic": lambda e, t: times.time_distribution(_timed(e), by=["topic"]),
        "time_histogram": lambda e, t: times.time_histogram(_timed(e)),
        "time_by_position": lambda e, t: times.time_by_position(_timed(e)),
        "time_and_length": lengths,
        "time_against_length": lambda e, t: times.time_against_length(made(t, "time_and_length")),
    }


def _worker_steps() -> dict[str, Step]:
    def per_document(evidence: Evidence, _: Tables) -> pl.DataFrame:
        if evidence.judgments is not None:
            return workers.assessors_per_document(evidence.judgments)
        return workers.assessors_per_document_of_pairs(evidence.pairs)

    def statistics(evidence: Evidence, _: Tables) -> pl.DataFrame:
        if evidence.judgments is None:
            raise DataError("worker statistics need judgments; only pairs are given")
        return workers.assessor_statistics(evidence.judgments)

    return {
        "assessor_statistics": statistics,
        "assessors_per_document": per_document,
        "units_per_assessor": lambda e, t: workers.units_per_assessor(_work(e)),
    }


def _like_steps() -> dict[str, Step]:
    def two_questions(evidence: Evidence) -> list[str]:
        questions: list[str] = given(evidence.likes, "likes")["question"].unique().sort().to_list()
        if len(questions) < 2:
            raise DataError(f"a choice between questions needs two; there is {len(questions)}")
        return questions[:2]

    def difficulty(evidence: Evidence) -> pl.DataFrame:
        return workers.topic_difficulty(given(evidence.scores, "systems' scores"))

    def choice(evidence: Evidence, _: Tables) -> pl.DataFrame:
        hard = None if evidence.scores is None else difficulty(evidence)
        likes = given(evidence.likes, "likes")
        if not has(likes, "unit"):
            raise DataError("a model of the choice needs the unit of each answer")
        first, second = two_questions(evidence)
        return mixed_model.question_choice_model(likes, first, second, hard).fixed

    return {
        "question_likes": lambda e, t: workers.question_likes(given(e.likes, "likes")),
        "likes_over_topics": lambda e, t: workers.likes_over_topics(made(t, "question_likes")),
        "likes_against_difficulty": lambda e, t: workers.likes_against_difficulty(
            made(t, "question_likes"), difficulty(e), *two_questions(e)
        ),
        "question_choice": choice,
    }


def _stability_steps() -> dict[str, Step]:
    def judges(evidence: Evidence, _: Tables) -> pl.DataFrame:
        frame, offset = given(evidence.judgments), evidence.offset()
        return _per_label_set(
            evidence,
            lambda labels: stability.judge_stability(frame, labels, offset=offset, orders=200, seed=evidence.seed),
        )

    return {
        "document_stability": lambda e, t: stability.document_stability(given(e.judgments), seed=e.seed),
        "judge_stability": judges,
        "partition_stability": lambda e, t: _partitions(e),
    }


SECTIONS: tuple[Section, ...] = (
    Section(
        "label sets",
        "how far sets of labels put documents in the same order",
        (TWO_SETS,),
        {
            "concordance": lambda e, t: label_sets.concordance(_all_sets(e)),
            "concordance_by_topic": lambda e, t: label_sets.concordance_by_topic(_all_sets(e)),
            "label_kappa": lambda e, t: _kappa_between(e),
        },
    ),
    Section("levels", "documents' scores against expert levels", (SCORED, LABELS), _level_steps()),
    Section("judgments against levels", "single judgments against expert levels", (JUDGED, LABELS), _judgment_steps()),
    Section(
        "reliability",
        "do assessors give the same document the same value",
        (JUDGED,),
        {
            "alpha": lambda e, t: _alpha(e, ()),
            "alpha_by_topic": lambda e, t: _alpha(e, ("topic",)),
            "fleiss_kappa": lambda e, t: _fleiss(e, ()),
            "fleiss_kappa_by_topic": lambda e, t: _fleiss(e, ("topic",)),
        },
    ),
    Section("assessors", "assessors against each other and the rest", (JUDGED, NAMED), _pairwise_steps()),
    Section("known documents", "accuracy on documents whose answer is known", (KNOWN, NAMED), _known_steps()),
    Section("transitivity", "do preferences fit an order", (PAIRED, NAMED), _transitivity_steps()),
    Section("repeated labels", "is a document labelled the same again", (LABELLED_PAIRS, NAMED), _repeat_steps()),
    Section("scale", "how the numbers are used", (JUDGED,), _scale_steps()),
    Section("order", "did the order of documents change the answer", (JUDGED, POSITIONS), _order_steps()),
    Section("time", "how long judging took", (TIMED,), _time_steps()),
    Section("workers", "who did how much", (WORK, NAMED), _worker_steps()),
    Section("likes", "which question workers liked", (LIKES,), _like_steps()),
    Section(
        "difficulty",
        "how hard the topics were for systems",
        (SCORES,),
        {"topic_difficulty": lambda e, t: workers.topic_difficulty(e.scores)},
    ),
    Section("stability", "how many judgments, judges and partitions are enough", (WORK,), _stability_steps()),
)

__all__ = ["SECTIONS", "Evidence", "Need", "Outcome", "Section", "run_section", "run_sections"]
