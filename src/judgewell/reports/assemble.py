"""What goes into a report, in which order: composes the stages and adds nothing of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Literal

import polars as pl

from judgewell.agreement.sections import Evidence, Outcome, Section, all_sections, run_sections
from judgewell.analysis.trust import system_tables
from judgewell.errors import Information, InputError
from judgewell.reports import system_findings
from judgewell.reports.analyses import agreement_part, not_analysed_of, quality_part, use_part
from judgewell.reports.cost import cost_part
from judgewell.reports.gains import ReportGains, gains_part, report_gains, steps_of
from judgewell.reports.machine import drawn_by_chance, machine_part, trust_part
from judgewell.reports.participants import participants_part
from judgewell.reports.parts import Finding, Grid, NotAnalysed, Part, Report
from judgewell.reports.scoring import Scored, score_systems
from judgewell.reports.sources import Sources
from judgewell.reports.systems import systems_part
from judgewell.text import counted

Progress = Callable[[int, int], None]
NOT_ASKED = ("difficulty", "likes")  # sections whose data a report is never given


def assemble(
    sources: Sources, *, title: str, notes: Sequence[str] = (), record: dict[str, Any] | None = None,
    notice: str = "", progress: Progress | None = None,
) -> Report:  # fmt: skip
    """The whole report; `notes` are what reading the data dropped or assumed, `notice` is shown above everything
    else."""
    made_in = steps_of(sources)
    step = _Steps(len(_analyses()) + 3 + made_in, progress)
    if sources.judgments is None and sources.pairs is None and not sources.gains and not sources.labels:
        raise InputError("there is nothing to report on", cure="give --judgments, --pairs, --gains or --labels")
    used = report_gains(sources, step)
    step(made_in + 1)
    scored = score_systems(sources, used) if sources.runs else None
    step()
    outcomes = analysed(sources, used, step)
    judgments = (
        agreement_part(sources, outcomes),
        trust_part(outcomes),
        participants_part(sources, [text for text in notes if isinstance(text, Information)]),
        quality_part(sources, outcomes),
        use_part(sources, outcomes),
    )
    machine, lacking = machine_part(sources, used)
    best = [*([systems_part(sources, scored)] if scored else []), *([machine] if machine else [])]
    if machine and drawn_by_chance(sources, used):  # scores under a sample alone count unjudged documents as 0
        best.reverse()
    answers = [
        ("Which system is best", tuple(best)),
        ("How good the judgments are", judgments),
        ("What the judgments say about relevance", (gains_part(sources, used, outcomes),) if used else ()),
    ]
    assumed = [text for text in notes if not isinstance(text, Information)]
    limits = limits_part(sources, used, scored, lacking, outcomes, assumed)
    step()
    return Report(title, subtitle(sources), arranged(answers, cost_part(sources), limits), record or {}, notice)


def arranged(answers: Sequence[tuple[str, Sequence[Part]]], *after: Part) -> tuple[Part, ...]:
    """The sections of the page: an answer to each question, details, the sections `after` them, and an appendix.

    An answer has the leading findings of its parts; the details have the other findings, the appendix all other tables.
    """
    first, details, tables = [], [], []
    for title, parts in answers:
        main = tuple(finding for part in parts for finding in part.findings[: part.lead])
        items = tuple(item for part in parts for item in part.at("body"))
        if parts:
            first.append(Part(parts[0].name, title, main, items))
        for part in parts:
            more, rest = part.findings[part.lead :], part.at("details")
            details.append(replace(part, name=f"{part.name}-details", findings=more, items=rest))
            tables.append(Part(f"{part.name}-tables", part.title, items=part.at("appendix")))
    whole = (
        *first,
        Part("details", "Details", groups=_filled(details)),
        *after,
        Part("appendix", "Appendix: tables", groups=_filled(tables)),
    )
    return _filled(whole)


def _filled(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(part for part in parts if not part.empty)


class _Steps:
    """Counts what is done."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self.done, self.total, self.progress = 0, total, progress

    def __call__(self, done: int = 0) -> None:
        """One more, or so many in all."""
        self.done = done or self.done + 1
        if self.progress:
            self.progress(self.done, self.total)


def _analyses() -> list[Section]:
    return [section for section in all_sections() if section.name not in NOT_ASKED]


def analysed(sources: Sources, used: ReportGains | None, step: Callable[[], None]) -> list[Outcome]:
    """Every section of the agreement stage that says something about these data."""
    evidence = Evidence(
        judgments=sources.judgments,
        pairs=sources.pairs,
        labels=sources.labels,
        gains=used.gains if used else None,
        averaged_by=_average(sources),
        score=sources.method if sources.method is not None and sources.method.takes == "pairs" else None,
        machine=sources.machine,
        systems=partial(system_tables, runs=sources.runs, measures=sources.measures[:1], seed=sources.seed),
        replicates=sources.replicates,
        seed=sources.seed,
    )
    outcomes = []
    for outcome in run_sections(evidence, _analyses(), sources.executor, files=False):
        outcomes.append(outcome)
        step()
    return outcomes


def _average(sources: Sources) -> Literal["mean", "median"] | None:
    """How the report's method averages a document's judgments; nothing where it does not."""
    average = getattr(sources.method, "average", sources.method.name if sources.method else "")
    return "median" if average.endswith("median") else "mean" if average.endswith("mean") else None


def subtitle(sources: Sources) -> str:
    """What the report is about, in one line of counts."""
    counts = []
    if sources.judgments is not None:
        counts.append(counted(sources.judgments.height, "judgment"))
    if sources.pairs is not None:
        counts.append(counted(sources.pairs.height, "pairwise judgment"))
    for one, sets in (("gain set", sources.gains), ("label set", sources.labels), ("machine", sources.machine)):
        if sets:
            counts.append(f"{counted(len(sets), one)} ({', '.join(sets)})")
    if sources.runs:
        counts.append(counted(len(sources.runs), "system"))
    return " · ".join(counts)


def _opening(text: pl.Expr) -> pl.Expr:
    """Text with a capital at its beginning; a sign such as κ stays what it is."""
    capital = text.str.slice(0, 1).str.to_uppercase() + text.str.slice(1)
    return pl.when(text.str.contains("^[a-z]")).then(capital).otherwise(text)


def _needs_assessors(one: NotAnalysed) -> bool:
    """Whether an analysis is about how assessors work, and not about labels and systems."""
    return one.reason.startswith("needs ") and any(word in one.reason for word in ("judgments", "pairs", "assessors"))


def limits_part(
    sources: Sources,
    used: ReportGains | None,
    scored: Scored | None,
    lacking: Sequence[NotAnalysed],
    outcomes: Sequence[Outcome],
    notes: Sequence[str],
) -> Part:
    """What could not be analysed, and what was assumed."""
    missing = [*not_analysed_of(outcomes), *lacking]
    if used is None and not sources.labels:
        missing.append(NotAnalysed("gains", "gains", "needs gains, judgments or pairs"))
    if scored is None:
        missing.append(NotAnalysed("systems", "systems with uncertainty", "needs runs"))
    else:
        missing += scored.not_analysed
    of_assessors = []
    if sources.judgments is None and sources.pairs is None:
        assessors = [one for one in not_analysed_of(outcomes) if _needs_assessors(one)]
        missing = [one for one in missing if one not in assessors]
        about = (
            f"{counted(len(assessors), 'analysis', 'analyses')} of assessors’ work (agreement, times, use of the scale)"
        )
        of_assessors.append(Finding(f"{about} need judgments by several assessors (--judgments) or pairs (--pairs)."))
    counts = [] if of_assessors and not missing else [system_findings.not_analysed(len(missing))]
    items = []
    if missing:
        frame = pl.DataFrame([asdict(one) for one in missing]).with_columns(pl.col("analysis", "reason").pipe(_opening))
        caption = "Each line names an analysis and the data that it would need."
        items.append(Grid("not_analysed", "Analyses left out", caption, frame, ("analysis", "reason"), place="details"))
    return Part(
        "limits", "What could not be analysed", (*counts, *of_assessors), tuple(items), tuple(dict.fromkeys(notes))
    )
