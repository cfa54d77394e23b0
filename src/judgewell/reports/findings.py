"""Sentences worked out from tables: every number in them is computed, and each names where it can be checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from judgewell.reports.parts import Finding
from judgewell.text import count, counted, interval, listing, percent, plain

if TYPE_CHECKING:
    from judgewell.comparison.worlds import Worlds
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


def study(found: CollectedStudy) -> Finding:
    """How much of what a study asks for is done, and what was begun in vain."""
    begun, counts = int(found.endings["units"].sum()), found.endings.filter("counted")
    vain = begun - int(counts["units"].sum())
    text = (
        f"{count(found.completed)} of the {counted(found.needed, 'unit')} that the study {found.name} asks for are "
        f"completed ({percent(found.completed / found.needed)})"
    )
    if vain:
        lost = int(found.endings.filter(~pl.col("counted"))["answers"].sum())
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


def best(systems: pl.DataFrame, measure: str, topics: int) -> list[Finding]:
    """Which system has the best mean, and which cannot be told from it (table systems of one set)."""
    top = systems.row(0, named=True)
    if systems.height == 1:
        around = f" {interval(top['low'], top['high'])}" if "low" in systems.columns else ""
        text = f"The system {top['system']} has a mean {measure} of {plain(top['mean'])}{around} over "
        text += counted(topics, "topic")
        return [Finding(f"{text}; there is no other system to compare it with.", "systems")]
    text = f"The system {top['system']} has the best mean {measure}, {plain(top['mean'])}"
    if "low" not in systems.columns:
        return [Finding(f"{text}; one topic allows no interval.", "systems")]
    text += f" {interval(top['low'], top['high'])} over {counted(topics, 'topic')}"
    if "top" not in systems.columns:
        return [Finding(f"{text}; so few topics cannot show whether another system is better.", "systems")]
    others = systems.filter(pl.col("top") & (pl.col("system") != top["system"]))["system"].to_list()
    if others:
        text += (
            f"; {len(others)} of the {counted(systems.height - 1, 'other system')} may be the best too "
            f"({listing(others)})"
        )
    else:
        text += "; it is better than every other system"
    return [Finding(f"{text} (95 % confidence).", "systems")]


def told_apart(pairs: pl.DataFrame) -> Finding:
    """How many pairs of systems differ beyond the choice of topics."""
    told = int(pairs["significant"].sum())
    text = (
        f"{count(told)} of {counted(pairs.height, 'pair')} of systems can be told apart "
        f"({percent(told / pairs.height)}; "
        f"paired t-test, Holm’s correction, α = 0.05)."
    )
    return Finding(text, "pair_counts")


def ranks(table: pl.DataFrame) -> Finding:
    """How far ranks are settled (a table of worlds)."""
    width = float(np.median((table["rank_high"] - table["rank_low"] + 1).to_numpy()))
    settled = int((table["rank_low"] == table["rank_high"]).sum())
    first = table.sort("best", descending=True).row(0, named=True)
    text = (
        f"The median system’s 95 % interval spans {counted(int(width), 'rank')} of {table.height}; "
        f"for {counted(settled, 'system')} it is a single rank. "
        f"The system {first['system']} comes first, alone or tied, in {percent(first['best'])} of "
        f"{count(first['worlds'])} resamples ({OVER[first['over']]})."
    )
    return Finding(text, "rank_intervals")


OVER = {"topics": "of topics", "judgments": "of judgments", "both": "of judgments and topics"}


def limits(worlds: Mapping[str, Worlds]) -> Finding:
    """Whether judgments or topics limit the conclusion."""
    spread = {over: float(worlds[over].spread.mean()) for over in ("judgments", "topics")}
    more, less = sorted(spread, key=lambda over: -spread[over])
    text = (
        f"A system’s mean varies by {plain(spread[more], 4)} (s.d.) over other {more} and by "
        f"{plain(spread[less], 4)} over other "
        f"{less}: more {more} would help more."
    )
    return Finding(text, "worlds")


def alike(table: pl.DataFrame) -> Finding | None:
    """How alike sets of gains order the systems (table sets)."""
    rows = table.filter(pl.col("tau_b").is_not_nan()).sort("tau_b")
    if rows.is_empty():
        return None
    low, high = rows.row(0, named=True), rows.row(-1, named=True)

    def pair(row: Mapping[str, Any]) -> str:
        return f"{row['first']} and {row['second']}"

    if rows.height == 1:
        text = (
            f"The sets {pair(low)} order the {low['systems']} systems alike to τ-b = {plain(low['tau_b'])}: "
            f"{counted(low['discordant'], 'pair')} of systems change places."
        )
    else:
        text = (
            f"The sets order the {low['systems']} systems alike to τ-b between {plain(low['tau_b'])} ({pair(low)}) and "
            f"{plain(high['tau_b'])} ({pair(high)})."
        )
    return Finding(text, "sets")


def unjudged(judged: pl.DataFrame, depth: int) -> Finding:
    """How much of what systems returned nobody judged, under each set of gains (table judged: set, system, judged)."""
    shares = dict(judged.group_by("set", maintain_order=True).agg(pl.col("judged").mean()).iter_rows())
    if all(share == 1 for share in shares.values()):
        return Finding(f"Every document among the first {depth} of every system is judged.", "judged")
    said = listing([f"{percent(1 - share)} under {name}" for name, share in shares.items()])
    worst = judged.sort("judged", "set", "system").row(0, named=True)
    text = (
        f"Of the documents that systems have among their first {depth}, some are not judged and count 0: {said}. The "
        f"system {worst['system']} has most of them, {percent(1 - worst['judged'])} under {worst['set']}."
    )
    return Finding(text, "judged")


def left_out(number: int) -> Finding:
    """How many analyses the data do not allow."""
    if not number:
        return Finding("No analysis is left out for want of data.")
    verbs = ("needs", "is") if number == 1 else ("need", "are")
    text = f"{counted(number, 'analysis', 'analyses')} {verbs[0]} what these data do not have and {verbs[1]}"
    return Finding(f"{text} left out.", "left_out")
