"""Sentences worked out from tables: every number in them is computed, and each names where it can be checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from judgewell.reports.parts import Finding
from judgewell.text import count, counted, fractions, listing, percent, plain

if TYPE_CHECKING:
    from judgewell.reports.sources import CollectedStudy, Sources

FEW = 20  # values up to which a scale has grades


def documents_of(table: pl.DataFrame) -> pl.DataFrame:
    """The topics' documents with how often each was judged or compared: topic, doc, count."""
    if "doc" not in table.columns:
        sides = [table.select("topic", doc=side) for side in ("left", "right")]
        table = pl.concat(sides)
    return table.group_by("topic", "doc").len("count")


def work(table: pl.DataFrame, one: str, source: str) -> Finding:
    """How much was done by how many."""
    docs = documents_of(table)
    who = table["assessor"].drop_nulls().n_unique()
    doers = f"{counted(who, 'assessor')} gave" if who else "There are"
    text = (
        f"{doers} {counted(table.height, one)} of {counted(docs.height, 'document')} in "
        f"{counted(table['topic'].n_unique(), 'topic')} (median {plain(docs['count'].median())} per document)."
    )
    return Finding(text, source)


def study(collected: CollectedStudy) -> Finding:
    """How much of a study is complete, and what is not used."""
    unused = collected.endings.filter(~pl.col("counted"))
    complete = f"{count(collected.completed)} of {counted(collected.needed, 'unit')}"
    share = percent(collected.completed / collected.needed)
    text = f"The study {collected.name} has {complete} complete ({share})."
    if unused["units"].sum():
        units, answers = int(unused["units"].sum()), int(unused["answers"].sum())
        text += (
            f" {counted(units, 'further attempt')} did not count ({listing(unused['ended'].to_list())}), "
            f"with {counted(answers, 'answer')}."
        )
    return Finding(text, "endings")


def machines(table: pl.DataFrame) -> Finding:
    """What models among the assessors did (table machines)."""
    answers, missing = int(table["answers"].sum()), int(table["unrateable"].sum())
    text = f"{counted(table.height, 'machine')} judged beside people or alone: {counted(answers, 'answer')}"
    return Finding(f"{text}; {counted(missing, 'place')} could not be rated. Machines are not paid.", "machines")


def checks(table: pl.DataFrame) -> Finding:
    """How often checks failed at the first attempt (table checks)."""
    failed = table.filter(pl.col("failed at first") > 0).sort("share", "check", descending=[True, False])
    if failed.is_empty():
        return Finding("No check failed at the first attempt.", "checks")
    rates = [
        f"{row['check']} {percent(row['share'])} (of {count(row['first attempts'])})"
        for row in failed.iter_rows(named=True)
    ]
    return Finding(f"First attempts that failed, by check: {listing(rates, most=6)}.", "checks")


def given(sources: Sources) -> Finding:
    """The data of a report without judgments: gains, labels and runs alone."""
    sets = [*sources.gains, *sources.labels]
    tables = [*sources.gains.values(), *sources.labels.values()]
    topics = sorted({table["topic"].n_unique() for table in tables})
    over = counted(topics[0], "topic") if len(topics) == 1 else f"{topics[0]} to {topics[-1]} topics"
    runs = f"{counted(len(sources.runs), 'system')} and " if sources.runs else ""
    text = (
        f"This report uses {runs}{counted(len(sets), 'set')} of gains or labels ({listing(sets)}) over {over}. It has "
        "no single judgments, so agreement between assessors cannot be measured."
    )
    return Finding(text, "asked")


def most_used(judgments: pl.DataFrame) -> Finding:
    """The most frequent value, and how many values are round."""
    value = judgments["value"]
    top = judgments.group_by("value").len().sort(["len", "value"], descending=[True, False]).row(0, named=True)
    text = f"The most frequent value is {plain(top['value'])} ({percent(top['len'] / len(value))} of judgments)"
    return Finding(text + ".", "values" if judgments["scale"].fill_null("").n_unique() == 1 else "values_1")


def gains(table: pl.DataFrame, made: str) -> Finding:
    """Where the gains lie and how sure they are."""
    gain = pl.col("gain")
    known = table.filter(pl.col("low").is_not_null() & pl.col("high").is_not_null())
    numbers = table.select(gain.min().alias("least"), gain.max().alias("most"), gain.median()).row(0)
    widths = known.select((pl.col("high") - pl.col("low")).median()).item()
    least, most, median, width = fractions([*numbers, widths])
    text = (
        f"The gains of {counted(table.height, 'document')} ({made}) range from {least} to {most}; their median is "
        f"{median}"
    )
    if known.height:
        which = "" if known.height == table.height else f" ({count(known.height)} of them)"
        text += f"; the median width of 95 % intervals{which} is {width}"
    return Finding(text + ".", "gains_histogram")
