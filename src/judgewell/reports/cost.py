"""What the judgments of a report cost, and what an even design would have needed."""

from __future__ import annotations

import polars as pl

from judgewell.reports.parts import Finding, Part
from judgewell.reports.sources import CollectedStudy, Sources
from judgewell.text import counted, listing, work_time

SECONDS = 3600


def cost_part(sources: Sources) -> Part:
    """Judgments, hours and money; of a study with a goal also its conclusion and the even design's cost."""
    study = sources.study
    kinds = (sources.judgments, "judgment"), (sources.pairs, "pairwise judgment")
    tables = [(table, word) for table, word in kinds if table is not None]
    if not tables:
        return Part("cost", "What it cost")
    counts = [counted(table.height, word) for table, word in tables]
    hours = study.hours if study is not None else sum(_hours(table) for table, _ in tables)
    if hours:
        counts.append(f"{work_time(hours)} of work")
    if study is not None and study.spent:
        counts.append(f"{study.spent:,.2f} {study.currency} with fees")
    findings = [Finding(f"The data of this report took {listing(counts)}.{_excluded(study)}")]
    if study is not None and study.goal is not None:
        findings = [*(Finding(text) for text in study.goal.sentences), *findings]
        findings += [Finding(study.goal.cost)] if study.goal.cost else []
    return Part("cost", "What it cost", tuple(findings))


def _excluded(study: CollectedStudy | None) -> str:
    """What units that were completed and then excluded took and cost besides."""
    if study is None or not study.excluded_units:
        return ""
    paid = f" and {study.excluded_spent:,.2f} {study.currency}" if study.excluded_spent else ""
    units = counted(study.excluded_units, "excluded unit")
    return f" {units[0].upper()}{units[1:]} took another {work_time(study.excluded_hours)} of work{paid}."


def _hours(table: pl.DataFrame) -> float:
    """The hours that answers took, where that was recorded."""
    if "seconds" not in table.columns:
        return 0.0
    return float(table.select(pl.col("seconds").cast(pl.Float64).clip(lower_bound=0).sum()).item() or 0.0) / SECONDS
