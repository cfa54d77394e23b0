"""The parts on quality, agreement and the use of the scale: what the agreement stage found, with its figures first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from judgewell.agreement.evidence import Outcome
from judgewell.reports import bins, charts, findings
from judgewell.reports.in_short import metric_of, of_agreement, of_use, usual_count
from judgewell.reports.parts import Figure, Finding, Grid, LeftOut, Part
from judgewell.reports.shown import SHOWN, grid
from judgewell.reports.sources import Sources
from judgewell.text import count, counted

Tables = Mapping[str, pl.DataFrame]
MOST_TIMES = 0.99  # the share of times a histogram shows; a few very long ones would flatten it


def tables_of(outcomes: Iterable[Outcome]) -> dict[str, pl.DataFrame]:
    """All tables by name."""
    return {name: table for outcome in outcomes for name, table in outcome.tables.items()}


def left_out_of(outcomes: Iterable[Outcome]) -> list[LeftOut]:
    """What could not be had, and why; what only lacks another table of its section is not told again."""
    return [
        LeftOut(outcome.name, outcome.about if name == "all" else _title(name), reason)
        for outcome in outcomes
        for name, reason in outcome.left_out.items()
        if not reason.startswith("needs the table ")
    ]


def _title(name: str) -> str:
    return SHOWN[name].title or name.replace("_", " ") if name in SHOWN else name.replace("_", " ")


def grids_for(part: str, tables: Tables, without: Sequence[str] = ()) -> list[Grid]:
    """The tables that belong to a part: open ones first, then the folded, each in the analyses' order."""
    chosen = [
        found
        for name, table in tables.items()
        if name not in without and SHOWN.get(name) and SHOWN[name].part == part and (found := grid(name, table))
    ]
    return sorted(chosen, key=lambda one: one.folded)


def notes_for(outcomes: Iterable[Outcome], sections: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for one in outcomes if one.name in sections for note in one.notes))


def quality_part(sources: Sources, outcomes: Sequence[Outcome]) -> Part:
    """Checks, attention, time, and who did how much."""
    tables = tables_of(outcomes)
    said: list[Finding] = []
    figures: list[Figure] = []
    if "known_accuracy" in tables:
        said.append(findings.known(tables["known_accuracy"]))
    if "known_accuracy_by_topic" in tables and tables["known_accuracy_by_topic"]["pooled"].min() < 1:  # type: ignore[operator]
        figures.append(_known(tables["known_accuracy_by_topic"]))
    checks = sources.study.checks if sources.study is not None else None
    if checks is not None and checks.height:
        said.insert(0, findings.checks(checks))
    flags = _flags(sources)
    if flags is not None and sources.judgments is not None:
        said += filter(None, [findings.flagged(flags, sources.judgments)])
    if "time_distribution" in tables:
        said.append(findings.time(tables["time_distribution"]))
        figures.append(_times(sources))
    if "time_by_position" in tables:
        said += filter(None, [findings.faster(tables["time_by_position"])])
        figures.append(
            _by_place(tables["time_by_position"], "time_by_position", "Time by place in the unit", "seconds", "count")
        )
    if "units_per_worker" in tables and tables["units_per_worker"].height > 1:
        figures.append(_units(tables["units_per_worker"]))
    items: list[Figure | Grid] = [*figures]
    if checks is not None and checks.height:
        caption = "Verdicts of the server’s checks over all tries; share: of first tries that failed."
        items.append(Grid("checks", "Checks while judging", caption, checks))
    if flags is not None and flags.height:
        caption = (
            f"{counted(flags['assessor'].n_unique(), 'assessor')}; `seen` of `of` judgments show what the flag "
            "is about."
        )
        items.append(Grid("flags", "Flags of attention", caption, flags, folded=flags.height > 5))
    items += grids_for("quality", tables, without=("units_per_worker", "time_by_position"))
    notes = notes_for(outcomes, ("known documents", "time", "workers"))
    return Part("quality", "Quality", tuple(said), tuple(items), notes if said or items else ())


def _flags(sources: Sources) -> pl.DataFrame | None:
    """Assessors who answer alike, in no time or with one comment; nothing where nobody is named."""
    frame = sources.judgments
    if frame is None or frame["assessor"].null_count() == frame.height:
        return None
    from judgewell.study.unit_flags import attention_flags

    return attention_flags(frame).sort("flag", "assessor")


def _known(table: pl.DataFrame) -> Figure:
    data = table.select(name="topic", value="pooled", checks="checks").sort("value", "name")
    caption = (
        f"Share of checks passed in {counted(data.height, 'topic')}, {counted(int(data['checks'].sum()), 'check')}."
    )
    return Figure(
        "known_accuracy_figure",
        "Known documents told apart",
        caption,
        charts.bars(data, "topic", "checks passed", percent=True),
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
    edge = max(1.0, round(longest / bins.BINS))
    data = (
        pl.DataFrame({"low": (shown / edge).floor() * edge}).group_by("low").len("count").sort("low")
        .with_columns(high=pl.col("low") + edge).select("low", "high", pl.col("count").cast(pl.Int64))
    )  # fmt: skip
    caption = (
        f"Times of {counted(len(shown), 'judgment')} in bins of {edge:g} s; "
        f"{counted(len(taken) - len(shown), 'longer one')} "
        f"(above {longest:.0f} s) not shown."
    )
    return Figure("time_histogram", "Time of a judgment", caption, charts.histogram(data, "seconds"), data)


def _by_place(table: pl.DataFrame, name: str, title: str, value: str, number: str) -> Figure:
    data = table.select(x="position", y="median", low="q1", high="q3")
    caption = f"Median and quartiles at each of {data.height} places, {counted(int(table[number].sum()), 'judgment')}."
    return Figure(name, title, caption, charts.line_band(data, "place in the unit", value, whole=True), data)


def _units(table: pl.DataFrame) -> Figure:
    data = table.select(low=pl.col("units") - 0.5, high=pl.col("units") + 0.5, count="workers")
    caption = f"{counted(int(table['workers'].sum()), 'assessor')} by how many units they did."
    chart = charts.histogram(data, "units", "assessors", whole=True)
    return Figure("units_per_worker", "How much assessors did", caption, chart, data)


def metrics_for(judgments: pl.DataFrame | None) -> tuple[str, ...]:
    """The metrics of α that are shown: the one that fits the scale and interval; with few levels nominal too."""
    fitting = metric_of(judgments)
    return {"ratio": ("interval", "ratio"), "ordinal": ("nominal", "ordinal", "interval")}.get(fitting, ("interval",))


def agreement_part(sources: Sources, outcomes: Sequence[Outcome]) -> Part:
    """With experts, with each other, with themselves."""
    tables = tables_of(outcomes)
    said = tuple(of_agreement(tables, sources.judgments))
    figures: list[Figure] = []
    if "order_agreement" in tables:
        figures += _orders(tables["order_agreement"])
    if "against_the_rest" in tables:
        figures += _assessors(tables["against_the_rest"])
    if "alpha_by_topic" in tables:
        figures += _alphas(tables["alpha_by_topic"], metric_of(sources.judgments))
    sections = (
        "label sets",
        "levels",
        "judgments against levels",
        "reliability",
        "assessors",
        "transitivity",
        "repeated labels",
    )
    items: tuple[Figure | Grid, ...] = (*figures, *grids_for("agreement", tables))
    return Part("agreement", "Agreement", said, items, notes_for(outcomes, sections) if said or items else ())


def _orders(table: pl.DataFrame) -> list[Figure]:
    steps = table.filter(pl.col("lower").is_not_null() & pl.col("half").is_not_null())
    if steps.is_empty():
        return []
    several = steps["labels"].n_unique() > 1
    name = pl.format(
        "{} {} < {}",
        "labels",
        pl.col("lower").cast(pl.Int64, strict=False),
        pl.col("upper").cast(pl.Int64, strict=False),
    )
    short = pl.format(
        "{} < {}", pl.col("lower").cast(pl.Int64, strict=False), pl.col("upper").cast(pl.Int64, strict=False)
    )
    whole = ((steps["lower"] % 1 == 0) & (steps["upper"] % 1 == 0)).all()
    data = steps.select(
        (name if several else short).alias("name") if whole else pl.format("{} {}", "labels", "figure").alias("name"),
        value="half", low="strict", high="lenient", pairs="pairs",
    )  # fmt: skip
    caption = (
        "Share of pairs of documents that the gains put in the levels’ order; the dot counts ties half, "
        "the line reaches "
        f"from ties against to ties in order; dashed: chance. {counted(int(data['pairs'].sum()), 'pair')} of documents."
    )
    chart = charts.dots(data, "levels", "share in order", reference=0.5)
    return [Figure("order_agreement_figure", "Order of documents on different levels", caption, chart, data)]


def _assessors(table: pl.DataFrame) -> list[Figure]:
    tau = table["tau_b"].drop_nulls().drop_nans()
    if len(tau) < 10:
        return []
    data = bins.binned(tau, bins=30)
    caption = (
        f"Kendall’s τ-b of {counted(len(tau), 'assessor')} with the mean of the others over the documents each judged."
    )
    return [
        Figure(
            "assessor_tau_histogram",
            "Assessors against the rest",
            caption,
            charts.histogram(data, "τ-b with the rest", "assessors"),
            data,
        )
    ]


def _alphas(table: pl.DataFrame, metric: str) -> list[Figure]:
    rows = table.filter((pl.col("metric") == metric) & pl.col("alpha").is_not_null())
    if rows.height < 2:
        return []
    data = rows.select(name="topic", value="alpha", low="low", high="high", documents="documents").sort(
        "value", descending=True
    )
    caption = (
        f"Krippendorff’s α ({metric}) with 95 % intervals over documents; dashed: chance. "
        f"{counted(data.height, 'topic')}, best first."
    )
    return [
        Figure(
            "alpha_figure",
            "Reliability by topic",
            caption,
            charts.dots(data, "topic", f"α ({metric})", reference=0),
            data,
        )
    ]


def use_part(sources: Sources, outcomes: Sequence[Outcome]) -> Part:
    """How the numbers were used, whether order mattered, how many judgments are enough."""
    tables = tables_of(outcomes)
    said = tuple(of_use(tables, sources.judgments))
    items: list[Figure | Grid] = []
    if "document_stability" in tables:
        items += _enough(tables["document_stability"], usual_count(sources.judgments))
    if "score_by_position" in tables:
        items.append(
            _by_place(
                tables["score_by_position"], "score_by_position", "Values by place in the unit", "value", "judgments"
            )
        )
    items += grids_for("use", tables, without=("score_by_position",))
    notes = notes_for(outcomes, ("scale", "order", "stability")) if said or items else ()
    return Part("use", "Scale, order, and how many judgments are enough", said, tuple(items), notes)


def _enough(table: pl.DataFrame, usual: int) -> list[Figure]:
    rows = table.filter(pl.col("tau_median").is_not_null() & (pl.col("judgments") < usual))
    if rows.height < 2:
        return []
    data = rows.select(x="judgments", y="tau_median", low="tau_q1", high="tau_q3")
    caption = (
        "τ-b with the order from all judgments, mean over topics; median and quartiles of "
        f"{count(rows['orders'][0])} random orders. The median document has {count(usual)}: with so many the order "
        "is that of all but for the few that have more."
    )
    chart = charts.line_band(data, "judgments of a document", "τ-b with all", whole=True)
    return [Figure("document_stability_curve", "How many judgments are enough", caption, chart, data)]
