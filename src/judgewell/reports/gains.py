"""The gains of a report: given, or made from judgments or pairs; and the part that shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from judgewell.agreement.evidence import are_grades
from judgewell.agreement.sections import Outcome
from judgewell.charts import marks as charts
from judgewell.errors import collect_notes
from judgewell.reports import bins, findings, grade_figures
from judgewell.reports.analyses import findings_for, grids_for, notes_for, on_ratio_scale, tables_of
from judgewell.reports.parts import Figure, Finding, Grid, Part, Place
from judgewell.reports.sources import Sources
from judgewell.text import counted

if TYPE_CHECKING:
    from judgewell.scaling.method import Method


METHOD_TABLES = {
    "repeats": "Documents that one assessor judged several times in one unit.",
    "assessors": "How reliable each assessor is, as the method estimates it.",
    "strengths": "Each document’s strength on a logarithmic scale, with its standard error.",
    "grades": "The gain of each grade.",
    "widths": "How far apart each unit puts its two known documents.",
    "parameters": "The chance that another assessor finds a document relevant that has this grade.",
    "enough": "Whether enough documents have two judgments to estimate these chances.",
    "disagreement": "How often another assessor gives each grade to a document that has this one.",
}


MOST_LINES = 150  # documents whose intervals are drawn one by one


@dataclass(frozen=True)
class ReportGains:
    """The gains that the report goes on with, how they were made, and other gains that the judgments allow."""

    name: str
    how: str  # they were made
    gains: pl.DataFrame
    draws: Any = None  # draws × documents, in the gains' order
    tables: tuple[tuple[str, pl.DataFrame], ...] = ()
    notes: tuple[str, ...] = ()


def steps_of(sources: Sources) -> int:
    """In how many steps the gains are made, for a progress bar."""
    from judgewell.scaling.uncertainty import BLOCK

    return 0 if sources.gains or sources.method is None else -(-sources.draws // BLOCK)


def report_gains(sources: Sources, step: Callable[[], None] = lambda: None) -> ReportGains | None:
    """The gains given, or made from judgments or pairs with the report's method; nothing where there is neither."""
    if sources.gains:
        name, given = next(iter(sources.gains.items()))
        return ReportGains(name, f"as given: {name}", given)
    if sources.method is None:
        return None
    from judgewell.scaling.inputs import with_inclusions

    table = sources.judgments if sources.method.takes == "judgments" else sources.pairs
    with collect_notes() as notes:
        made, draws = _made(sources.method, table, sources, step)
        gains = made if table is None else with_inclusions(made, table)
        tables = tuple(sources.method.tables(table).items())
    return ReportGains("gains", f"by {sources.method}", gains, draws, tables, tuple(notes))


def _made(method: Method, table: Any, sources: Sources, step: Callable[[], None]) -> tuple[pl.DataFrame, Any]:
    """Gains with intervals; draws of other gains where there are runs to measure under them or no formula."""
    from judgewell.scaling.uncertainty import draws_on, with_interval

    by_formula = method.by_formula(table, sources.level)
    if by_formula is not None and not sources.runs:
        return by_formula, None
    gains = method.gains(table) if by_formula is None else by_formula
    drawn = draws_on(sources.executor, method, table, sources.draws, sources.seed)
    places = gains.select("topic", "doc").join(
        drawn.documents.with_row_index("at"), on=["topic", "doc"], how="left", maintain_order="left"
    )["at"]
    blocks = []
    for block in drawn:
        blocks.append(block[:, places.to_numpy()])
        step()
    array = np.concatenate(blocks)
    if by_formula is None:
        tail = (1 - sources.level) / 2
        low, high = np.nanquantile(array, [tail, 1 - tail], axis=0)
        gains = with_interval(gains, low, high)
    return gains, array


def gains_part(sources: Sources, used: ReportGains, outcomes: Sequence[Outcome]) -> Part:
    """How gains follow grades, their distribution, intervals and topics."""
    gains, tables = used.gains, tables_of(outcomes)
    ratio = on_ratio_scale(sources) or (sources.judgments is None and sources.pairs is not None)
    log = bins.on_a_log_axis(gains["gain"], ratio)
    ratio = ratio or (sources.judgments is None and log)
    items: list[Figure | Grid] = [*grade_figures.by_grade(gains, sources.labels, log=log)]
    if not ratio:  # a grade or a score of 2 is not twice as much as 1
        pass
    elif "grade_ratios" in tables:
        items += grade_figures.ratios(tables["grade_ratios"], "values that an assessor gave in one unit")
    elif "document_ratios" in tables and not are_grades(gains):
        items += grade_figures.ratios(tables["document_ratios"], "gains in one topic")
    if "grade_distributions_by_topic" in tables and not are_grades(gains):
        items += grade_figures.profiles(tables["grade_distributions_by_topic"], ratio)
    if "order_agreement" in tables:
        items += grade_figures.orders(tables["order_agreement"])
    items.append(_spread(gains, used.how, log, "details" if any(item.place == "body" for item in items) else "body"))
    if gains["low"].null_count() < gains.height:
        items.append(_intervals(gains, log=log))
    sentences: list[Finding] = [*findings_for("relevance", outcomes), findings.gains(gains, used.how)]
    items += grids_for("relevance", outcomes)
    topics = by_topic(gains)
    items.append(Grid("gains_by_topic", "Gains by topic", _by_topic_caption(topics), topics))
    items += [
        Grid(
            f"gains_{name}",
            name.replace("_", " ").capitalize(),
            METHOD_TABLES.get(name, f"A further result of the method {used.how.removeprefix('by ')}."),
            frame,
        )
        for name, frame in used.tables
    ]
    caption = (
        f"{counted(gains.height, 'document')} of {counted(gains['topic'].n_unique(), 'topic')}, highest "
        "first in each topic."
    )
    whole = gains.sort("topic", "gain", "doc", descending=[False, True, False])
    items.append(Grid("gains", "All gains", caption, whole))
    notes = (*used.notes, *notes_for("relevance", outcomes))
    return Part("gains", "Gains", tuple(sentences), tuple(items), notes, lead=len(sentences))


def _by_topic_caption(topics: pl.DataFrame) -> str:
    """What the table holds; widths only where some document has an interval."""
    caption = "Documents, judgments and gains of each topic."
    known = topics["width"].null_count() < topics.height
    return f"{caption} The width is that of the median 95 % interval." if known else caption


def _spread(gains: pl.DataFrame, made: str, log: bool, place: Place) -> Figure:
    data = bins.binned(gains["gain"], log=log)
    caption = f"How the gains of {counted(gains.height, 'document')} are distributed ({made})."
    title = "gain (logarithmic axis)" if log else "gain"
    chart = charts.histogram(data, title, "documents", log=log)
    return Figure("gains_histogram", "Distribution of gains", caption, chart, data, place)


def _intervals(gains: pl.DataFrame, *, log: bool) -> Figure:
    known = gains.filter(pl.col("low").is_not_null())
    log = log and bool((known["low"] > 0).all())
    every = known.height == gains.height
    which = counted(known.height, "document")
    which = which if every else f"the {which} that have an interval, of {gains.height:,},"
    title = "How certain the gains are"
    if known.height <= MOST_LINES:
        ranked = known.sort("gain", "topic", "doc").with_columns(x=pl.int_range(1, pl.len() + 1))
        data = ranked.select("x", "topic", "doc", "low", "high", y="gain")
        caption = f"Each dot is the gain of a document, the line its 95 % interval; {which} from the lowest gain up."
        chart = charts.interval_lines(data, "documents by gain", "gain", log=log)
        return Figure("gains_intervals", title, caption, chart, data)
    data = bins.ordered_groups(known)
    caption = (
        f"The line is the median gain, the band the median 95 % interval of about {known.height // data.height} "
        f"documents that follow each other by gain; {which} from the lowest gain to the highest."
    )
    chart = charts.line_band(data, "documents by gain (%)", "gain", across=(0, 100), log=log)
    return Figure("gains_intervals", title, caption, chart, data)


def by_topic(gains: pl.DataFrame) -> pl.DataFrame:
    """A line for each topic: documents, judgments, lowest, median and highest gain, width of the interval."""
    gain = pl.col("gain")
    return (
        gains.group_by("topic")
        .agg(
            documents=pl.len(),
            judgments=pl.when(pl.col("judgments").is_not_null().any()).then(pl.col("judgments").sum()),
            lowest=gain.min(),
            median=gain.median(),
            highest=gain.max(),
            width=(pl.col("high") - pl.col("low")).median(),
        )
        .sort("topic")
    )
