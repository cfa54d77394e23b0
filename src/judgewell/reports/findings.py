"""Sentences worked out from tables: every number in them is computed, and each names where it can be checked."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from judgewell.reports.parts import Finding
from judgewell.text import count, counted, interval, listing, p_said, percent, plain

if TYPE_CHECKING:
    from judgewell.comparison.worlds import Worlds
    from judgewell.reports.sources import CollectedStudy, Sources

FEW = 20  # values up to which a scale has levels
ENOUGH = 0.9  # the τ-b with all judgments from which on an order is called settled


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


def known(table: pl.DataFrame) -> Finding:
    """How many checks on known documents were passed (table known_accuracy)."""
    checks, passed = int(table["checks"].sum()), _passed(table)
    if passed == checks:
        text = f"In the answers that count, every one of {counted(checks, 'comparison')} of known documents is right."
    else:
        text = (
            f"In the answers that count, {count(passed)} of {counted(checks, 'comparison')} of known documents are "
            f"right ({percent(passed / checks)})."
        )
    return Finding(text, "known_accuracy_by_topic")


def _passed(table: pl.DataFrame) -> int:
    if "passed" in table.columns:
        return int(table["passed"].sum())
    return round(float((table["accuracy"] * table["checks"]).sum()))


def time(table: pl.DataFrame) -> Finding:
    """How long a judgment took (table time_distribution)."""
    row = table.row(0, named=True)
    text = (
        f"A judgment took {plain(row['median'], 1)} s in the median; half of {count(row['count'])} took between "
        f"{plain(row['q1'], 1)} s and {plain(row['q3'], 1)} s."
    )
    return Finding(text, "time_histogram")


def faster(table: pl.DataFrame) -> Finding | None:
    """Whether later documents in a unit went faster (table time_by_position)."""
    if table.height < 2:
        return None
    first, last = table.row(0, named=True), table.row(-1, named=True)
    text = (
        f"The document at place {first['position']} of a unit took {plain(first['median'], 1)} s, that at place "
        f"{last['position']} took {plain(last['median'], 1)} s (medians)."
    )
    return Finding(text, "time_by_position")


def flagged(flags: pl.DataFrame, assessors: int) -> Finding:
    """How many assessors an attention check points at."""
    names = {
        "same_answer": "nearly always one answer",
        "hurried": "a median time below 5 s",
        "same_comment": "one comment over and over",
    }
    counts = flags.group_by("flag").agg(pl.col("assessor").n_unique()).sort("flag")
    said = listing([f"{names.get(flag, flag.replace('_', ' '))}: {number}" for flag, number in counts.iter_rows()])
    who = flags["assessor"].n_unique()
    if not who:
        return Finding(
            f"Of {counted(assessors, 'assessor')} none is flagged for answering alike, in no time, or with one comment."
        )
    return Finding(
        f"{count(who)} of {counted(assessors, 'assessor')} are flagged ({said}); a flag asks for a look and "
        "proves nothing.",
        "flags",
    )


def alpha(table: pl.DataFrame, metric: str) -> Finding | None:
    """How far assessors agree on a document's value (table alpha)."""
    rows = table.filter((pl.col("metric") == metric) & pl.col("alpha").is_not_null())
    if rows.is_empty():
        return None
    row = rows.row(0, named=True)
    text = (
        f"Assessors agree on a document’s value to Krippendorff’s α = {plain(row['alpha'])} "
        f"{interval(row['low'], row['high'])} "
        f"on {'an' if metric[0] in 'io' else 'a'} {metric} scale (0 is chance, 1 is perfect), over "
        f"{counted(row['documents'], 'document')}."
    )
    return Finding(text, "alpha")


def order(table: pl.DataFrame) -> list[Finding]:
    """How many pairs of documents the gains order as each set of labels does, and where least (order_agreement)."""
    found = []
    for (labels,), part in table.partition_by("labels", as_dict=True, maintain_order=True).items():
        pooled = part.filter(pl.col("figure") == "pooled")
        if pooled.is_empty() or pooled["half"][0] is None:
            continue
        text = (
            f"Of {count(pooled['pairs'][0])} pairs of documents on different levels of {labels}, the gains order "
            f"{percent(pooled['half'][0])} alike (ties count half)"
        )
        steps = part.filter(pl.col("half").is_not_null() & pl.col("lower").is_not_null()).sort("half")
        if steps.height > 1:
            low, high = steps.row(0, named=True), steps.row(-1, named=True)
            text += (
                f"; least between levels {plain(low['lower'])} and {plain(low['upper'])} ({percent(low['half'])}), "
                "most "
                f"between {plain(high['lower'])} and {plain(high['upper'])} ({percent(high['half'])})"
            )
        found.append(Finding(text + ".", "order_agreement"))
    return found


def sets(table: pl.DataFrame) -> Finding | None:
    """Which two sets of labels order documents most and least alike (table concordance)."""
    rows = table.filter(pl.col("macro_tau_b").is_not_null() & ~pl.col("macro_tau_b").is_nan()).sort(
        "macro_tau_b", descending=True
    )
    if rows.is_empty():
        return None

    def said(row: Mapping[str, Any]) -> str:
        return (
            f"The sets {row['first']} and {row['second']} order documents alike to τ-b = {plain(row['macro_tau_b'])} "
            f"(mean over {counted(row['topics'], 'topic')})"
        )

    best, worst = rows.row(0, named=True), rows.row(-1, named=True)
    more = (
        f"; {worst['first']} and {worst['second']} least, τ-b = {plain(worst['macro_tau_b'])}"
        if rows.height > 1
        else ""
    )
    return Finding(said(best) + more + ".", "concordance")


def assessors(table: pl.DataFrame) -> Finding | None:
    """How an assessor's order compares with the others' (table against_the_rest)."""
    tau = table["tau_b"].drop_nulls().drop_nans()
    if not len(tau):
        return None
    below = int((tau < 0).sum())
    text = (
        f"The median assessor orders documents like the rest to τ-b = {plain(tau.median())}; "
        f"{count(below)} of {count(len(tau))} assessors ({percent(below / len(tau))}) order them rather the "
        "other way round."
    )
    return Finding(text, "against_the_rest")


def transitive(table: pl.DataFrame) -> Finding:
    """How far preferences fit an order (table transitivity_overall)."""
    row = table.row(0, named=True)
    text = (
        f"{count(row['discords'])} of {counted(row['comparisons'], 'preference')} go against their "
        "assessor’s own best order "
        f"({percent(row['share'])}; answers at random would give {percent(row['chance_share'])})."
    )
    return Finding(text, "transitivity_overall")


def position(effect: pl.DataFrame) -> Finding | None:
    """Whether the place in the unit moved the answer (table position_effect)."""
    row = effect.row(0, named=True)
    if row["p"] is None:
        return None
    moved = "moved with" if row["p"] < 0.05 else "is not seen to move with"
    text = (
        f"A document’s standing in its unit {moved} its place: {plain(100 * row['slope'], 2)} percentage "
        "points of rank per place "
        f"({p_said(row['p'])}, {counted(row['judgments'], 'judgment')})."
    )
    return Finding(text, "score_by_position")


def enough(table: pl.DataFrame, usual: int) -> Finding | None:
    """What fewer judgments than the median document has would have given (table document_stability)."""
    rows = table.filter(pl.col("tau_median").is_not_null() & (pl.col("judgments") < usual))
    if rows.is_empty():
        return None
    one, most = rows.row(0, named=True), rows.row(-1, named=True)
    text = f"One judgment of each document would order documents like all of them to τ-b = {plain(one['tau_median'])}"
    if most["judgments"] > one["judgments"]:
        text += f", {most['judgments']} of the median document’s {usual} to {plain(most['tau_median'])}"
    enough = rows.filter(pl.col("tau_median") >= ENOUGH)
    if enough.height:
        text += f"; from {enough['judgments'][0]} on it is {ENOUGH:g} or more."
    else:
        text += f"; with fewer than all it stays below {ENOUGH:g}."
    return Finding(text, "document_stability_curve")


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


def levels(table: pl.DataFrame) -> list[Finding]:
    """Whether gains rise with the labels' levels (table level_distributions)."""
    found = []
    for (labels,), part in table.partition_by("labels", as_dict=True, maintain_order=True).items():
        named = part.filter(pl.col("level").is_not_null()).sort("level")
        medians = named["median"].to_list()
        if len(medians) < 2 or len(medians) > FEW:
            continue
        rises = all(lower < upper for lower, upper in pairwise(medians))
        said = ", ".join(map(plain, medians))
        text = (
            f"Median gains {'rise with every level' if rises else 'do not rise with every level'} of {labels}: {said}."
        )
        found.append(Finding(text, "level_distributions"))
    return found


def shifted(shift: pl.Series) -> str:
    """How far resampled judgments move the means, and so which intervals are over what."""
    return (
        f"Gains of resampled judgments are noisier, which moves the means of systems by {plain(shift.mean(), 4)} on "
        f"average ({plain(shift.min(), 4)} to {plain(shift.max(), 4)}); so the intervals of means are over topics "
        "alone, ranks and who is above whom are over judgments and topics."
    )
