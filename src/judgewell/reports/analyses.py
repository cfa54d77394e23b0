"""The parts on quality, agreement and the use of the scale: what the agreement stage computed, with its figures first.

Tables, titles, captions and sentences come from the sections of the agreement stage; here are only the figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor

import numpy as np
import polars as pl

from judgewell.agreement.evidence import is_graded
from judgewell.agreement.section import FILE, Outcome
from judgewell.charts import marks as charts
from judgewell.reports import bins, findings
from judgewell.reports.grade_figures import with_shares
from judgewell.reports.parts import Figure, Finding, Grid, NotAnalysed, Part, Place
from judgewell.reports.sources import Sources
from judgewell.scales import Kind
from judgewell.text import count, counted, plain

MOST_TIMES = 0.99  # the share of times a histogram shows; a few very long ones would flatten it
MANY_ROWS = 12  # a table with more says how many it has
MOST_TOPICS = 40  # with a dot each; of more a histogram
MOST_CONFUSIONS = 3  # pairs of label sets with a figure


def tables_of(outcomes: Iterable[Outcome]) -> dict[str, pl.DataFrame]:
    """All tables by name."""
    return {name: table for outcome in outcomes for name, table in outcome.tables.items()}


def not_analysed_of(outcomes: Iterable[Outcome]) -> list[NotAnalysed]:
    """What could not be analysed, and why; a table that only lacks another one of its section is not listed."""
    missing = []
    for outcome in outcomes:
        titles = {table.name: table.title for table in outcome.section.tables}
        for name, reason in outcome.not_analysed.items():
            if not reason.startswith("needs the table "):
                missing.append(NotAnalysed(outcome.name, titles.get(name, outcome.section.about), reason))
    return missing


def grids_for(part: str, outcomes: Iterable[Outcome], without: Sequence[str] = ()) -> list[Grid]:
    """The tables that belong to a part, in the sections' order."""
    chosen = []
    for result in (one for outcome in outcomes if outcome.section.part == part for one in outcome.results):
        table = result.table
        if table.shown == FILE or table.name in without or result.frame.is_empty():
            continue
        rows = f" {counted(result.frame.height, 'row')}." if result.frame.height > MANY_ROWS else ""
        chosen.append(Grid(table.name, table.title, table.caption + rows, result.frame, table.columns, table.heads))
    return chosen


def findings_for(part: str, outcomes: Iterable[Outcome]) -> list[Finding]:
    """The sentences of a part's tables, each with the table it follows from."""
    results = [result for outcome in outcomes if outcome.section.part == part for result in outcome.results]
    return [Finding(text, result.table.name) for result in results for text in result.findings]


def notes_for(part: str, outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """What the sections of a part assumed or left out, each note once."""
    return tuple(dict.fromkeys(note for one in outcomes if one.section.part == part for note in one.notes))


def quality_part(sources: Sources, outcomes: Sequence[Outcome]) -> Part:
    """Checks, attention, time, and who judged how much."""
    tables = tables_of(outcomes)
    sentences = findings_for("quality", outcomes)
    items: list[Figure | Grid] = [*_quality_figures(sources, tables)]
    checks = sources.study.checks if sources.study is not None else None
    if checks is not None and checks.height:
        sentences.insert(0, findings.checks(checks))
        caption = "Results of the checks over all attempts, and the share of first attempts that failed."
        items.append(Grid("checks", "Checks while judging", caption, checks))
    items += grids_for("quality", outcomes, without=("units_per_assessor", "time_by_position"))
    notes = notes_for("quality", outcomes) if sentences or items else ()
    return Part("quality", "Quality", tuple(sentences), tuple(items), notes)


def _quality_figures(sources: Sources, tables: dict[str, pl.DataFrame]) -> list[Figure]:
    figures = []
    known = tables.get("known_accuracy_by_topic")
    if known is not None and known["pooled"].min() < 1:  # type: ignore[operator]
        figures.append(_known(known))
    if "time_distribution" in tables:
        figures.append(_times(sources))
    if "time_by_position" in tables:
        title = "Time by position in the unit"
        figures.append(_by_position(tables["time_by_position"], "time_by_position", title, "seconds", "count"))
    if "units_per_assessor" in tables and tables["units_per_assessor"].height > 1:
        figures.append(_units(tables["units_per_assessor"]))
    return figures


def _known(table: pl.DataFrame) -> Figure:
    data = table.select(name="topic", value="pooled", checks="checks").sort("value", "name")
    checks = counted(int(data["checks"].sum()), "comparison")
    caption = f"How often assessors put the two known documents in the right order; {checks}."
    return Figure(
        "known_accuracy_figure",
        "Accuracy on known documents",
        caption,
        charts.bars(data, "topic", "right order", percent=True),
        data,
    )


def _times(sources: Sources) -> Figure:
    frame = (
        sources.judgments
        if sources.judgments is not None and sources.judgments["seconds"].null_count() < sources.judgments.height
        else sources.pairs
    )
    seconds = frame["seconds"].drop_nulls() if frame is not None else pl.Series([], dtype=pl.Float64)
    taken = seconds.filter(seconds > 0)
    longest = taken.quantile(MOST_TIMES, "higher") or 1.0
    shown = taken.filter(taken <= longest)
    edge = max(1.0, bins.round_width(shown.to_numpy()))
    data = (
        pl.DataFrame({"low": (shown / edge).floor() * edge}).group_by("low").len("count").sort("low")
        .with_columns(high=pl.col("low") + edge).select("low", "high", pl.col("count").cast(pl.Int64))
    )  # fmt: skip
    longer = counted(len(taken) - len(shown), "longer one")
    rest = f"; {longer} (above {longest:.0f} s) not shown" if len(shown) < len(taken) else ""
    caption = f"How long {counted(len(shown), 'judgment')} took, in bins of {edge:g} s{rest}."
    return Figure("time_histogram", "Time per judgment", caption, charts.histogram(data, "seconds"), data)


def _by_position(table: pl.DataFrame, name: str, title: str, value: str, number: str, *, log: bool = False) -> Figure:
    data = table.select(x="position", y="median", low="q1", high="q3")
    judgments = counted(int(table[number].sum()), "judgment")
    caption = f"The line is the median at each position, the band holds the middle half; {judgments}."
    chart = charts.line_band(data, "position in the unit", value, whole=True, log=log)
    return Figure(name, title, caption, chart, table.select("position", "median", "q1", "q3"))


def _units(table: pl.DataFrame) -> Figure:
    each = np.repeat(table["units"].to_numpy(), table["assessors"].to_numpy())
    step = 1 if np.ptp(each) <= bins.FEW_VALUES else int(bins.round_width(each, whole=True))
    first = (pl.col("units") - 1) // step * step + 0.5
    data = table.group_by(low=first).agg(count=pl.col("assessors").sum()).sort("low")
    data = data.select("low", high=pl.col("low") + step, count="count")
    caption = f"{counted(int(table['assessors'].sum()), 'assessor')} by the number of units they completed."
    chart = charts.histogram(data, "units", "assessors", whole=True)
    return Figure("units_per_assessor", "Units per assessor", caption, chart, data)


def agreement_part(sources: Sources, outcomes: Sequence[Outcome]) -> Part:
    """With each other, with label sets, with themselves."""
    tables = tables_of(outcomes)
    figures: list[Figure] = []
    figures += _clouds(sources)
    if "against_the_rest" in tables:
        everybody = sources.judgments["assessor"].n_unique() if sources.judgments is not None else 0
        figures += _assessors(tables["against_the_rest"], everybody)
    if "alpha_by_topic" in tables:
        figures += _alphas(tables["alpha_by_topic"])
    if "label_confusion" in tables:
        figures += _confusions(tables)
    sentences = tuple(findings_for("agreement", outcomes))
    items: tuple[Figure | Grid, ...] = (*figures, *grids_for("agreement", outcomes))
    return Part("agreement", "Agreement", sentences, items, notes_for("agreement", outcomes) if items else ())


def _clouds(sources: Sources) -> list[Figure]:
    """The gains given against each label set with many values, a dot for each document."""
    figures = []
    gains = next(iter(sources.gains.values()), None)
    for number, (name, labels) in enumerate(sources.labels.items(), 1):
        if gains is None or is_graded(labels):
            continue
        both = gains.join(labels, on=["topic", "doc"], suffix="_label")
        data = both.select(topic="topic", name="doc", x="gain_label", y="gain")
        if data.height > 1:
            caption = f"Each dot is a document: its gain (up) by its label (across); {count(data.height)} have both."
            title = f"Gains against {name}"
            figures.append(Figure(f"label_cloud_{number}", title, caption, charts.cloud(data, name, "gain"), data))
    return figures


def _assessors(table: pl.DataFrame, everybody: int) -> list[Figure]:
    tau = table["tau_b"].drop_nulls().drop_nans()
    if len(tau) < 10:
        return []
    data = bins.binned(tau)
    left = everybody - len(tau)
    others = (
        f"; {counted(left, 'other')} share too few documents with others or rank none above another" if left else ""
    )
    caption = (
        f"How similarly each of {counted(len(tau), 'assessor')} and the mean of the others rank documents (τ-b: 1 is "
        f"the same order, 0 is chance){others}."
    )
    return [
        Figure(
            "assessor_tau_histogram",
            "Each assessor against the others",
            caption,
            charts.histogram(data, "τ-b with the others", "assessors"),
            data,
        )
    ]


def _alphas(table: pl.DataFrame) -> list[Figure]:
    """Alpha by topic for the values that fit the scale, which come first."""
    first = table.row(0, named=True)
    rows = table.filter((pl.col("metric") == first["metric"]) & (pl.col("values") == first["values"]))
    rows = rows.filter(pl.col("alpha").is_not_null())
    if rows.height < 2 or "scale" in rows.columns:
        return []
    data = rows.select(name="topic", value="alpha", low="low", high="high", documents="documents")
    data = data.sort("value", "name", descending=[True, False])
    title = "Agreement between assessors, by topic"
    if data.height > MOST_TOPICS:
        spread = bins.binned(data["value"])
        caption = f"Krippendorff’s α ({first['metric']}) of {counted(data.height, 'topic')}; 1 is perfect, 0 is chance."
        chart = charts.histogram(spread, f"α ({first['metric']})", "topics")
        return [Figure("alpha_figure", title, caption, chart, spread, "body")]
    line = ", the line its 95 % interval over other assessors and documents" if data["low"].count() else ""
    caption = f"The dot is Krippendorff’s α ({first['metric']} metric) of a topic{line}; dashed: chance."
    lowest = min([0.0, *data["low"].drop_nulls(), *data["value"]])
    left = floor(10 * lowest - 0.5) / 10 if lowest < 0 else 0.0  # a dot has room beside the axis
    chart = charts.dots(data, "topic", f"α ({first['metric']})", reference=0, domain=(left, 1.0))
    return [Figure("alpha_figure", title, caption, chart, data, "body")]


def _confusions(tables: dict[str, pl.DataFrame]) -> list[Figure]:
    """Which grades two label sets give to the same documents, with κ; the pairs of the first set come first."""
    figures: list[Figure] = []
    kappas = tables.get("label_kappa", pl.DataFrame(schema={"first": pl.String, "second": pl.String}))
    for (one, other), part in tables["label_confusion"].partition_by("first", "second", as_dict=True).items():
        if len(figures) == MOST_CONFUSIONS:
            break
        data = with_shares(part.select(first="grade", second="other", count="documents"))
        caption = (
            f"How many of {counted(int(data['count'].sum()), 'document')} have each grade of the label set {one} (row) "
            f"and of {other} (column); the colour is the share of the row."
        )
        for row in kappas.filter(first=one, second=other).iter_rows(named=True):
            caption += f" κ = {plain(row['kappa'])}, with quadratic weights {plain(row['weighted_kappa'])}."
        chart = charts.confusion(data, f"grade ({one})", f"grade ({other})", "documents")
        place: Place = "details" if figures else "body"
        name = f"label_confusion_{len(figures) + 1}"
        figures.append(Figure(name, f"Grades of {one} and {other}", caption, chart, data, place))
    return figures


def on_ratio_scale(sources: Sources) -> bool:
    """Whether all judgments are on a ratio scale."""
    judgments = sources.judgments
    if judgments is None or "kind" not in judgments.columns:
        return False
    kinds = judgments["kind"].unique().to_list()
    return len(kinds) == 1 and kinds[0] is not None and Kind.parse(kinds[0]).in_logs


def use_part(sources: Sources, outcomes: Sequence[Outcome]) -> Part:
    """How the scale was used, whether positions mattered, how many judgments are enough."""
    tables = tables_of(outcomes)
    items: list[Figure | Grid] = []
    if "document_stability" in tables:
        items += _enough(tables["document_stability"])
    if "score_by_position" in tables and "scale" not in tables["score_by_position"].columns:
        title, table = "Values by position in the unit", tables["score_by_position"]
        log = on_ratio_scale(sources) and bool((table["q1"] > 0).all())
        items.append(_by_position(table, "score_by_position", title, "value", "judgments", log=log))
    drawn = [item.name for item in items]
    sentences = tuple(findings_for("use", outcomes))
    items += grids_for("use", outcomes, without=drawn)
    notes = notes_for("use", outcomes) if sentences or items else ()
    return Part("use", "Scale, order, and how many judgments are enough", sentences, tuple(items), notes)


def _enough(table: pl.DataFrame) -> list[Figure]:
    rows = table.filter(pl.col("tau_median").is_not_null() & (pl.col("judgments") < pl.col("typical")))
    if rows.height < 2 or "scale" in rows.columns:
        return []
    data = rows.select(x="judgments", y="tau_median", low="tau_q1", high="tau_q3")
    caption = (
        "How similarly some and all judgments rank the documents of a topic; a typical document has "
        f"{count(rows['typical'][0])}. The line is the median of {count(rows['orders'][0])} random choices, the band "
        "their middle half (means over topics)."
    )
    chart = charts.line_band(data, "judgments per document", "τ-b with all judgments", whole=True, domain=(0, 1))
    shown = rows.select("judgments", "tau_median", "tau_q1", "tau_q3")
    return [Figure("document_stability_curve", "How many judgments are enough", caption, chart, shown)]
