"""What goes into a report, in which order: composes the stages and adds nothing of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import polars as pl

from judgewell.agreement.sections import Evidence, Outcome, Section, all_sections, run_section
from judgewell.errors import InputError
from judgewell.reports import system_findings
from judgewell.reports.analyses import agreement_part, left_out_of, quality_part, use_part
from judgewell.reports.gains import ReportGains, gains_part, report_gains, steps_of
from judgewell.reports.participants import participants_part
from judgewell.reports.parts import Grid, LeftOut, Part, Report
from judgewell.reports.scoring import Scored, score_systems
from judgewell.reports.sources import Sources
from judgewell.reports.systems import systems_part
from judgewell.text import counted

Progress = Callable[[int, int], None]
NOT_ASKED = ("difficulty", "likes")  # sections whose data a report is never given


def assemble(
    sources: Sources, *, title: str, notes: Sequence[str] = (), record: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> Report:  # fmt: skip
    """The whole report of what there is; `notes` are what reading the data left out or assumed."""
    made_in = steps_of(sources)
    step = _Steps(len(_analyses()) + 3 + made_in, progress)
    if sources.judgments is None and sources.pairs is None and not sources.gains and not sources.labels:
        raise InputError("there is nothing to report on", cure="give --judgments, --pairs, --gains or --labels")
    used = report_gains(sources, step)
    step(made_in + 1)
    scored = score_systems(sources, used) if sources.runs else None
    step()
    outcomes = analysed(sources, used, step)
    parts = [
        participants_part(sources),
        quality_part(sources, outcomes),
        agreement_part(sources, outcomes),
        use_part(outcomes),
        *([gains_part(used, outcomes)] if used else []),
        *([systems_part(sources, scored)] if scored else []),
        limits_part(sources, used, scored, outcomes, notes),
    ]
    step()
    kept = tuple(part for part in parts if not part.empty)
    return Report(title, subtitle(sources), kept, record or {})


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
        score=sources.method if sources.method is not None and sources.method.takes == "pairs" else None,
        replicates=sources.replicates,
        seed=sources.seed,
    )
    outcomes = []
    for section in _analyses():
        outcomes.append(run_section(section, evidence, files=False))
        step()
    return outcomes


def subtitle(sources: Sources) -> str:
    """What the report is about, in one line of counts."""
    counts = []
    if sources.judgments is not None:
        counts.append(counted(sources.judgments.height, "judgment"))
    if sources.pairs is not None:
        counts.append(counted(sources.pairs.height, "pair"))
    sets = {**sources.gains, **sources.labels}
    if sets:
        counts.append(f"{counted(len(sets), 'set')} of gains and labels ({', '.join(sets)})")
    if sources.runs:
        counts.append(counted(len(sources.runs), "system"))
    return " · ".join(counts)


def limits_part(
    sources: Sources, used: ReportGains | None, scored: Scored | None, outcomes: Sequence[Outcome], notes: Sequence[str]
) -> Part:
    """What could not be analysed, and what was assumed."""
    missing = left_out_of(outcomes)
    if used is None:
        missing.append(LeftOut("gains", "gains", "needs gains, judgments or pairs"))
    if scored is None:
        missing.append(LeftOut("systems", "systems with uncertainty", "needs runs"))
    else:
        missing += scored.left_out
    counts = [system_findings.left_out(len(missing))]
    if scored is not None:
        counts.append(system_findings.unjudged(scored.judged, scored.depth))
    items = []
    if missing:
        frame = pl.DataFrame([asdict(one) for one in missing])
        items.append(Grid("left_out", "Analyses left out", "Each needs data that this report does not have.", frame))
    return Part("limits", "What could not be analysed", tuple(counts), tuple(items), tuple(dict.fromkeys(notes)))
