"""Study and participants: counts, by topic, and the values that were used."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgewell.charts import marks as charts
from judgewell.reports import bins, findings
from judgewell.reports.parts import Figure, Finding, Grid, Part
from judgewell.reports.sources import CollectedStudy, Sources
from judgewell.text import count, counted, listing, percent, plain


def participants_part(sources: Sources, how_read: Sequence[str] = ()) -> Part:
    """The part about the data and the participants, with how files were read, such as which words are which numbers."""
    items: list[Figure | Grid] = [
        Grid("asked", "Data", "The data of this report.", inventory(sources), ("what", "number"))
    ]
    sentences: list[Finding] = []
    if sources.study is not None:
        sentences.append(findings.study(sources.study))
        if sources.study.machines.height:
            sentences.append(findings.machines(sources.study.machines))
        items = [*study_grids(sources.study), *items]
    if sources.judgments is not None:
        frame = sources.judgments
        sentences += [findings.work(frame, "judgment", "asked"), findings.most_used(frame)]
        items += values_figures(frame)
    if sources.pairs is not None:
        sentences.append(findings.work(sources.pairs, "pairwise judgment", "asked"))
    if sources.judgments is None and sources.pairs is None:
        sentences.append(findings.given(sources))
    by_topic = topics(sources)
    if sources.study is not None:
        by_topic = sources.study.topics.join(by_topic, on="topic", how="left", maintain_order="left")
    if by_topic.height:
        caption = f"{counted(by_topic.height, 'topic')}; an empty cell means none. Known documents have a known answer."
        items.append(Grid("asked_by_topic", "Topic by topic", caption, by_topic))
    return Part("asked", "Study and participants", tuple(sentences), tuple(items), tuple(dict.fromkeys(how_read)))


def study_grids(study: CollectedStudy) -> list[Grid]:
    """The frozen study in words, and what became of every unit that was begun."""
    marked = f"The study {study.name} as it was frozen when judging began (SHA-256 {study.hash[:12]}…)."
    ended = (
        f"{counted(int(study.endings['units'].sum()), 'unit')} that assessors began; only answers of completed ones "
        "are in the rest of this report."
    )
    asked = "Models that judged as assessors. An unrateable place has no answer that could be read, and no value."
    machines = [Grid("machines", "Machines", asked, study.machines)] if study.machines.height else []
    return [
        Grid("study", "Settings", marked, study.settings),
        Grid("endings", "How units ended", ended, study.endings, ("ended", "units", "assessors", "answers")),
        *machines,
    ]


def inventory(sources: Sources) -> pl.DataFrame:
    """What there is, a line for each: what, number."""
    lines: list[tuple[str, str]] = []
    for name, table in (("judgments", sources.judgments), ("pairs", sources.pairs)):
        if table is not None:
            lines += _work_lines(name, table)
    for name, table in sources.gains.items():
        lines.append((f"gains {name}", _documents(table)))
    for name, table in sources.labels.items():
        grades = table["gain"].n_unique()
        kind = (
            f", {grades} grades"
            if grades <= findings.FEW
            else f", from {plain(table['gain'].min())} to {plain(table['gain'].max())}"
        )
        lines.append((f"labels {name}", _documents(table) + kind))
    if sources.runs:
        lines.append(("systems", count(len(sources.runs))))
        lines.append(("measures", ", ".join(map(str, sources.measures))))
    return pl.DataFrame(lines, schema={"what": pl.String, "number": pl.String}, orient="row")


def _work_lines(name: str, table: pl.DataFrame) -> list[tuple[str, str]]:
    lines = [(name, count(table.height)), ("topics", count(table["topic"].n_unique()))]
    docs = findings.documents_of(table)
    lines.append(("documents", f"{count(docs.height)} (of a topic)"))
    per = docs["count"]
    lines.append((f"{name} of a document", f"{plain(per.median())} (median), {plain(per.min())} to {plain(per.max())}"))
    for name_of, columns in (("assessors", ["assessor"]), ("units", ["topic", "unit"])):
        named = table.select(columns).drop_nulls()
        if named.height:
            lines.append((name_of, count(named.n_unique())))
    lines += _kind_lines(name, table)
    if "scale" in table.columns and table["scale"].null_count() < table.height:
        used = table.group_by("scale").len().sort("len", descending=True)
        lines.append(("scale", listing([str(scale) for scale in used["scale"].to_list()])))
    if name == "judgments":
        lines.append(("values", f"{plain(table['value'].min())} to {plain(table['value'].max())}"))
    if "known" in table.columns and table["known"].null_count() < table.height:
        known = table.filter(pl.col("known").is_not_null())
        lines.append(
            (
                "known documents",
                f"{count(known.select('topic', 'doc').n_unique())} in {counted(known['topic'].n_unique(), 'topic')}",
            )
        )
        lines.append(("judgments of them", f"{count(known.height)} ({percent(known.height / table.height)})"))
    return lines


def _kind_lines(name: str, table: pl.DataFrame) -> list[tuple[str, str]]:
    """People, machines and synthetic assessors apart, where not all are people."""
    if "assessor_kind" not in table.columns or set(table["assessor_kind"].drop_nulls()) <= {"person"}:
        return []
    kinds = table.group_by("assessor_kind").agg(pl.col("assessor").n_unique(), pl.len()).sort("assessor_kind")
    many = {"person": "people", "machine": "machines", "synthetic": "synthetic assessors"}
    return [
        (f"{name} by {many.get(kind, kind)}", f"{count(rows)} by {count(who)}") for kind, who, rows in kinds.iter_rows()
    ]


def _documents(table: pl.DataFrame) -> str:
    return f"{counted(table.height, 'document')} in {counted(table['topic'].n_unique(), 'topic')}"


def values_figures(judgments: pl.DataFrame) -> list[Figure]:
    """The values that were used, one figure for each scale."""
    figures = []
    parts = judgments.with_columns(pl.col("scale").fill_null("")).partition_by(
        "scale", as_dict=True, maintain_order=True
    )
    for number, ((scale,), part) in enumerate(sorted(parts.items()), 1):
        log = bins.on_a_log_axis(part["value"])
        data = bins.binned(part["value"], log=log)
        on = f" on the scale {scale}" if scale else ""
        width = plain(data["high"][0] - data["low"][0])
        bars = f", in bins of {width}" if not log and width != "1" else ""
        caption = (
            f"How often each value was given{on}{bars}: {counted(part.height, 'judgment')}, "
            f"{count(part['value'].n_unique())} different values."
        )
        title = "value (logarithmic axis)" if log else "value"
        name = "values" if len(parts) == 1 else f"values_{number}"
        figures.append(
            Figure(name, f"Values that were used{on}", caption, charts.histogram(data, title, log=log), data)
        )
    return figures


def topics(sources: Sources) -> pl.DataFrame:
    """A line for each topic: documents, judgments, assessors, known documents, labelled documents."""
    columns: list[pl.DataFrame] = []
    if sources.judgments is not None:
        frame = sources.judgments
        wanted = {"documents": pl.col("doc").n_unique(), "judgments": pl.len()}
        for column in ("assessor", "unit"):
            if frame[column].null_count() < frame.height:
                wanted[f"{column}s"] = pl.col(column).n_unique()
        if "known" in frame.columns and frame["known"].null_count() < frame.height:
            wanted["known documents"] = pl.col("doc").filter(pl.col("known").is_not_null()).n_unique()
        columns.append(frame.group_by("topic").agg(**wanted))
    if sources.pairs is not None:
        both = pl.concat_list("left", "right").explode().n_unique()
        wanted = {"documents in pairs": both, "pairs": pl.len()}
        if sources.pairs["assessor"].null_count() < sources.pairs.height:
            wanted["assessors of pairs"] = pl.col("assessor").n_unique()
        columns.append(sources.pairs.group_by("topic").agg(**wanted))
    for kind, tables in (("gains", sources.gains), ("labels", sources.labels)):
        columns += [table.group_by("topic").agg(pl.len().alias(f"{kind} {name}")) for name, table in tables.items()]
    if not columns:
        return pl.DataFrame()
    table = columns[0]
    for more in columns[1:]:
        table = table.join(more, on="topic", how="full", coalesce=True)
    return table.sort("topic")
