"""What goes into a report, in which order: composes the stages and adds nothing of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import polars as pl

from judgewell.agreement.sections import Evidence, Outcome, Section, all_sections, run_section
from judgewell.errors import InputError
from judgewell.reports import findings
from judgewell.reports.analyses import agreement_part, left_out_of, quality_part, use_part
from judgewell.reports.asked import asked_part
from judgewell.reports.parts import Grid, LeftOut, Part, Report
from judgewell.reports.scoring import Scored, score_systems
from judgewell.reports.sources import Sources
from judgewell.reports.systems import systems_part
from judgewell.reports.worth import Worth, gains_part, steps_of, worth_of
from judgewell.text import counted

Progress = Callable[[int, int], None]
NOT_ASKED = ("difficulty", "likes")  # sections whose data a report is never given


def tell(
    sources: Sources, *, title: str, notes: Sequence[str] = (), record: dict[str, Any] | None = None,
    progress: Progress | None = None,
) -> Report:  # fmt: skip
    """The whole report of what there is; `notes` are what reading the data left out or assumed."""
    made_in = steps_of(sources)
    step = _Steps(len(_analyses()) + 3 + made_in, progress)
    if sources.judgments is None and sources.pairs is None and not sources.gains and not sources.labels:
        raise InputError("there is nothing to report on", cure="give --judgments, --pairs, --gains or --labels")
    worth = worth_of(sources, step)
    step(made_in + 1)
    measured = score_systems(sources, worth) if sources.runs else None
    step()
    outcomes = analysed(sources, worth, step)
    parts = [
        asked_part(sources),
        quality_part(sources, outcomes),
        agreement_part(sources, outcomes),
        use_part(outcomes),
        *([gains_part(worth, outcomes)] if worth else []),
        *([systems_part(sources, measured)] if measured else []),
        limits_part(sources, worth, measured, outcomes, notes),
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


def analysed(sources: Sources, worth: Worth | None, step: Callable[[], None]) -> list[Outcome]:
    """Every section of the agreement stage that says something about these data."""
    evidence = Evidence(
        judgments=sources.judgments,
        pairs=sources.pairs,
        labels=sources.labels,
        gains=worth.gains if worth else None,
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
    said = []
    if sources.judgments is not None:
        said.append(counted(sources.judgments.height, "judgment"))
    if sources.pairs is not None:
        said.append(counted(sources.pairs.height, "pair"))
    sets = {**sources.gains, **sources.labels}
    if sets:
        said.append(f"{counted(len(sets), 'set')} of gains and labels ({', '.join(sets)})")
    if sources.runs:
        said.append(counted(len(sources.runs), "system"))
    return " · ".join(said)


def limits_part(
    sources: Sources, worth: Worth | None, measured: Scored | None, outcomes: Sequence[Outcome], notes: Sequence[str]
) -> Part:
    """What the data do not allow to say, and what was assumed on the way."""
    missing = left_out_of(outcomes)
    if worth is None:
        missing.append(LeftOut("gains", "gains", "needs gains, judgments or pairs"))
    if measured is None:
        missing.append(LeftOut("systems", "systems with uncertainty", "needs runs"))
    else:
        missing += measured.left_out
    said = [findings.left_out(len(missing))]
    if measured is not None:
        said.append(findings.unjudged(measured.judged, measured.depth))
    items = []
    if missing:
        frame = pl.DataFrame([asdict(one) for one in missing])
        items.append(Grid("left_out", "Left out", "Analyses that need what these data do not have.", frame))
    return Part("limits", "What the data do not allow to say", tuple(said), tuple(items), tuple(dict.fromkeys(notes)))
