"""Sentences worked out from tables: every number in them is computed, and each names where it can be checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from judgewell.reports.parts import Finding
from judgewell.text import count, counted, listing, percent, plain

if TYPE_CHECKING:
    from judgewell.reports.sources import CollectedStudy, Sources

FEW = 20  # values up to which a scale has levels
FEWEST_FOR_A_FLAG = 6  # judgments or comments of an assessor before an attention check looks at them


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
    verb = "gave" if one == "judgment" else "compared"
    doers = f"{counted(who, 'assessor')} {verb}" if who else "There are"
    text = (
        f"{doers} {counted(table.height, one)} of {counted(docs.height, 'document')} in "
        f"{counted(table['topic'].n_unique(), 'topic')}; the median document has {plain(docs['count'].median())}."
    )
    return Finding(text, source)


def study(collected: CollectedStudy) -> Finding:
    """How much of what a study asks for is done, and what was begun in vain."""
    begun, counts = int(collected.endings["units"].sum()), collected.endings.filter("counted")
    vain = begun - int(counts["units"].sum())
    text = (
        f"{count(collected.completed)} of the {counted(collected.needed, 'unit')} that the study {collected.name} asks "
        f"for are completed ({percent(collected.completed / collected.needed)})"
    )
    if vain:
        lost = int(collected.endings.filter(~pl.col("counted"))["answers"].sum())
        text += f"; {count(vain)} more were begun and do not count, with {counted(lost, 'answer')}"
    return Finding(text + ".", "endings")


def checks(table: pl.DataFrame) -> Finding:
    """How often checks failed at the first try (table checks)."""
    worst = table.sort("share", "check", descending=[True, False]).row(0, named=True)
    tries = counted(int(table["first tries"].sum()), "first try", "first tries")
    text = (
        f"{count(int(table['failed at first'].sum()))} of {tries} "
        f"at a check failed; most at {worst['check']} ({percent(worst['share'])} of {count(worst['first tries'])})."
    )
    return Finding(text, "checks")


def given(sources: Sources) -> Finding:
    """What there is where nobody was asked: gains, labels and runs alone."""
    sets = [*sources.gains, *sources.labels]
    tables = [*sources.gains.values(), *sources.labels.values()]
    topics = sorted({table["topic"].n_unique() for table in tables})
    over = counted(topics[0], "topic") if len(topics) == 1 else f"{topics[0]} to {topics[-1]} topics"
    runs = f"{counted(len(sources.runs), 'system')} and " if sources.runs else ""
    text = (
        f"There are {runs}{counted(len(sets), 'set')} of gains or labels ({listing(sets)}) over {over}, "
        f"and no judgments, so nothing can be said about who judged."
    )
    return Finding(text, "asked")


def most_used(judgments: pl.DataFrame) -> Finding:
    """The value given most often, and how many are round."""
    value = judgments["value"]
    top = judgments.group_by("value").len().sort(["len", "value"], descending=[True, False]).row(0, named=True)
    text = f"The value given most often is {plain(top['value'])} ({percent(top['len'] / len(value))} of the judgments)"
    if value.n_unique() > FEW:
        tens = ((value % 10 == 0) & (value != 0)).sum() / len(value)
        text += (
            f"; {percent(tens)} are other multiples of 10"
            if top["value"] == 0
            else f"; {percent(tens)} are multiples of 10 above 0"
        )
    return Finding(text + ".", "values" if judgments["scale"].fill_null("").n_unique() == 1 else "values_1")


def flagged(flags: pl.DataFrame, judgments: pl.DataFrame) -> Finding | None:
    """How many assessors an attention check flags; only the checks that the data allow are named."""
    ran = _attention_checks(judgments)
    assessors = counted(judgments["assessor"].drop_nulls().n_unique(), "assessor")
    if not ran:
        return None
    who = flags["assessor"].n_unique()
    if not who:
        return Finding(f"None of {assessors} is flagged for {listing(list(ran.values())).replace(' and ', ' or ')}.")
    counts = flags.group_by("flag").agg(pl.col("assessor").n_unique()).sort("flag")
    reasons = listing([f"{ran.get(flag, flag.replace('_', ' '))}: {number}" for flag, number in counts.iter_rows()])
    verb = "is" if who == 1 else "are"
    text = f"{count(who)} of {assessors} {verb} flagged ({reasons}). A flag is a reason to look, not proof."
    return Finding(text, "flags")


def _attention_checks(judgments: pl.DataFrame) -> dict[str, str]:
    """What each attention check looks for, for those that had anything to look at."""
    each = judgments.filter(pl.col("assessor").is_not_null()).group_by("assessor")
    most = each.agg(
        same_answer=pl.len(),
        hurried=pl.when(pl.col("seconds").count() > 0).then(pl.len()).otherwise(0),
        same_comment=pl.col("comment").count(),
    ).max()
    looks_for = {
        "same_answer": "giving nearly always the same answer",
        "hurried": "a median time below 5 s",
        "same_comment": "repeating one comment",
    }
    return {name: words for name, words in looks_for.items() if (most[name][0] or 0) >= FEWEST_FOR_A_FLAG}


def gains(table: pl.DataFrame, made: str) -> Finding:
    """Where the gains lie and how sure they are."""
    gain = table["gain"]
    text = (
        f"The gains of {counted(table.height, 'document')} ({made}) lie between {plain(gain.min())} and "
        f"{plain(gain.max())}, "
        f"the median at {plain(gain.median())}"
    )
    known = table.filter(pl.col("low").is_not_null() & pl.col("high").is_not_null())
    if known.height:
        width = (known["high"] - known["low"]).median()
        which = "document’s" if known.height == table.height else f"of the {count(known.height)} with a"
        text += f"; the median {which} 95 % interval is {plain(width)} wide"
    return Finding(text + ".", "gains_histogram")
