"""Sentences about systems, worked out from the tables: each names the table where it can be checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from judgewell.comparison.scores import ScoreArray
from judgewell.comparison.worlds import Worlds
from judgewell.reports.parts import Finding
from judgewell.text import agrees, count, counted, interval, listing, percent, plain

MOST_TOP = 12  # systems of a top set that a sentence names
MOST_SETS = 6  # whose correlation with the first set a sentence lists
SIMILAR = 1.2  # two spreads with a smaller ratio limit the conclusion about equally
PAIR_TEST = "paired t-test over topics, Holm’s correction, 5 % level"
UNCORRECTED = (
    "Significance is corrected for the number of pairs, intervals are not: an interval can exclude 0 although the "
    "difference is not significant."
)
OVER = {"topics": "of topics", "judgments": "of judgments", "both": "of judgments and topics"}


def best(systems: pl.DataFrame, measure: str, under: str, topics: int) -> Finding:
    """Which system has the best mean, and which others may be the best (table systems of one set)."""
    top = systems.row(0, named=True)
    around = f" {interval(top['low'], top['high'])}" if "low" in systems.columns else ""
    over = f"over {counted(topics, 'topic')}"
    if systems.height == 1:
        text = f"Under {under}, {top['system']} has a mean {measure} of {plain(top['mean'])}{around} {over}"
        return Finding(f"{text}; there is no other system to compare it with.", "systems")
    if top["mean"] == 0 and systems["mean"].min() == 0:
        text = f"Under {under}, every system has a mean {measure} of 0 {over}: {measure} cannot rank the systems."
        return Finding(text, "systems")
    tied = systems.filter(pl.col("mean") == top["mean"])["system"].to_list()
    has = "has" if len(tied) == 1 else "share"
    text = f"Under {under}, {listing(tied)} {has} the best mean {measure}: {plain(top['mean'])}{around} {over}"
    if not around:
        return Finding(f"{text}; one topic allows no interval.", "systems")
    if "top" not in systems.columns:
        return Finding(f"{text}; {counted(topics, 'topic')} cannot show which system is the best.", "systems")
    others = [name for name in systems.filter("top")["system"] if name not in tied]
    if not others and len(tied) == 1:
        return Finding(f"{text}. With 95 % confidence it is the best system.", "systems")
    top_set = [*tied, *others]
    text += f". With 95 % confidence the best system is one of {len(top_set)} of {systems.height} (the top set): "
    return Finding(f"{text}{listing(top_set, MOST_TOP)}.", "systems")


def best_elsewhere(sets: Mapping[str, ScoreArray], systems: pl.DataFrame) -> Finding | None:
    """Which system is best under each other set, and whether it is in the top set of the first one."""
    first, *others = sets
    leaders = {name: sets[name].systems[int(np.argmax(sets[name].means))] for name in others}
    best = systems["system"][0]
    if not others:
        return None
    if set(leaders.values()) == {best}:
        tied = [set(np.array(one.systems)[one.means == one.means.max()].tolist()) for one in sets.values()]
        named = sorted(tied[0]) if all(one == tied[0] for one in tied) else [best]
        same = f"{listing(named)} also {agrees(len(named), 'has', 'have')} the best mean under {listing(others)}."
        return Finding(same, "systems")
    text = "; ".join(_leader(best, *one) for one in leaders.items()).replace("under", "Under", 1)
    if "top" not in systems.columns:
        return Finding(f"{text}.", "systems")
    outside = sorted(set(leaders.values()) - set(systems.filter("top")["system"]))
    if not outside:
        open_to = {best, *leaders.values()}
        which = "Both" if len(open_to) == 2 else f"All {len(open_to)}"
        same = f"{which} are in the top set under {first}: these topics cannot show which of them is better."
        return Finding(f"{text}. {same}", "systems")
    text += f". Under {first}, {listing(outside)} {agrees(len(outside), 'is', 'are')} not in the top set"
    return Finding(f"{text}: the sets disagree about the best system.", "systems")


def _leader(best: str, name: str, system: str) -> str:
    """Which system is first under one of the other sets."""
    return f"under {name}, {system} is {'first too' if system == best else 'first'}"


def significant(pairs: pl.DataFrame, systems: pl.DataFrame, under: str, baseline: str | None = None) -> Finding:
    """How many pairs of systems differ by more than the choice of topics, and why the top set may be larger."""
    number = int(pairs["significant"].sum())
    if baseline:
        better = int((pairs["significant"] & (pairs["difference"] > 0)).sum())
        text = (
            f"Under {under}, {count(number)} of {counted(pairs.height, 'other system')} "
            f"{agrees(number, 'differs', 'differ')} significantly from {baseline}: {count(better)} better, "
            f"{count(number - better)} worse ({PAIR_TEST})."
        )
        return Finding(text, "baseline_differences")
    if pairs.height == 1:
        head, share = f"the two systems {'differ' if number else 'do not differ'} significantly", ""
    else:
        head = f"{count(number)} of {counted(pairs.height, 'pair')} of systems "
        head += f"{agrees(number, 'differs', 'differ')} significantly"
        share = f"{percent(number / pairs.height)}; "
    text = f"Under {under}, {head} ({share}{PAIR_TEST})."
    return Finding(text + _against_top_set(pairs, systems), "pair_counts")


def _against_top_set(pairs: pl.DataFrame, systems: pl.DataFrame) -> str:
    """Why the top set keeps systems that differ significantly from the best one, or excludes others, where it does."""
    if "top" not in systems.columns:
        return ""
    best, top = systems["system"][0], systems.filter("top")["system"].to_list()
    against = pairs.filter((pl.col("first") == best) | (pl.col("second") == best))
    inside = pl.col("first").is_in(top) & pl.col("second").is_in(top)
    kept, excluded = against.filter(inside, "significant"), against.filter(~inside, ~pl.col("significant"))
    odd = [
        f"it {verb} {counted(part.height, 'system')} that {agrees(part.height, *words)} significantly from {best} here"
        for verb, part, words in (
            ("keeps", kept, ("differs", "differ")),
            ("excludes", excluded, ("does not differ", "do not differ")),
        )
        if part.height
    ]
    if not odd:
        return ""
    joint = "a joint test of each system against all others, so it can differ from these t-tests"
    return f" The top set comes from {joint}: {' and '.join(odd)}."


def ranks(table: pl.DataFrame, under: str) -> Finding:
    """How certain ranks are (a table of worlds)."""
    width = float(np.median((table["rank_high"] - table["rank_low"] + 1).to_numpy()))
    certain = int((table["rank_low"] == table["rank_high"]).sum())
    first = table.row(0, named=True)
    ranks = f"{count(int(width))} of {table.height} ranks"
    sure = f"; {counted(certain, 'system')} {agrees(certain, 'has', 'have')} a single plausible rank" if certain else ""
    text = (
        f"Under {under}, the 95 % interval of a typical system’s rank covers {ranks} "
        f"({count(first['worlds'])} resamples {OVER[first['over']]}){sure}."
    )
    return Finding(text, "rank_intervals")


def limits(worlds: Mapping[str, Worlds]) -> Finding:
    """Whether judgments or topics limit the conclusion."""
    spread = {over: float(worlds[over].spread.mean()) for over in ("judgments", "topics")}
    more, less = sorted(spread, key=lambda over: -spread[over])
    sizes = (
        f"a system’s mean has a standard deviation of {plain(spread[more], 4)} over other {more} and of "
        f"{plain(spread[less], 4)} over other {less}"
    )
    if spread[more] < SIMILAR * spread[less]:
        return Finding(f"Judgments and topics limit the conclusion about equally: {sizes}.", "worlds")
    text = f"More {more} would make the conclusion surer than more {less}: {sizes}."
    return Finding(text, "worlds")


def noise(systems: pl.DataFrame) -> Finding | None:
    """How far noise in judgments moves the scores (table systems with scores without noise)."""
    if "without_noise" not in systems.columns:
        return None
    shift = systems["mean"] - systems["without_noise"]
    top = systems.sort("without_noise", "system", descending=[True, False]).row(0, named=True)
    ends = top["without_noise_low"], top["without_noise_high"]
    around = "" if ends[0] is None else f" {interval(*ends)}"
    text = (
        f"Noise in judgments moves the means of systems by {plain(shift.mean(), 4)} on average "
        f"({plain(shift.min(), 4)} to {plain(shift.max(), 4)}). Without it the best score is "
        f"{plain(top['without_noise'])}{around} ({top['system']})."
    )
    return Finding(text, "systems")


def similar(table: pl.DataFrame) -> Finding | None:
    """How similarly sets of gains rank the systems (table sets)."""
    rows = table.filter(pl.col("tau_b").is_not_nan()).sort("tau_b")
    if rows.is_empty():
        return None
    low, high = rows.row(0, named=True), rows.row(-1, named=True)
    own = table.filter(pl.col("first") == table["first"][0], pl.col("tau_b").is_not_nan())

    def pair(row: Mapping[str, Any]) -> str:
        return f"{row['first']} and {row['second']}"

    if rows.height == 1:
        text = (
            f"The rankings of the {low['systems']} systems under {pair(low)} correlate at τ-b = "
            f"{plain(low['tau_b'])}: {counted(low['discordant'], 'pair')} of systems "
            f"{agrees(low['discordant'], 'changes', 'change')} places."
        )
    elif 1 < own.height <= MOST_SETS:
        taus = [f"{plain(tau)} with that under {name}" for name, tau in own.select("second", "tau_b").iter_rows()]
        ranking = f"The ranking of the {low['systems']} systems under {own['first'][0]}"
        text = f"{ranking} correlates at τ-b = {listing(taus, MOST_SETS)}."
    else:
        text = (
            f"The rankings of the {low['systems']} systems under two sets of gains correlate at τ-b between "
            f"{plain(low['tau_b'])} ({pair(low)}) and {plain(high['tau_b'])} ({pair(high)})."
        )
    return Finding(text, "sets")


def unjudged(judged: pl.DataFrame, depth: int) -> Finding:
    """How much of the rankings is not judged, under each set of gains (table judged: set, system, judged)."""
    shares = dict(judged.group_by("set", maintain_order=True).agg(pl.col("judged").mean()).iter_rows())
    if all(share == 1 for share in shares.values()):
        return Finding(f"Every document among the first {depth} of every system is judged.", "judged")
    under = listing([f"{percent(1 - share)} under {name}" for name, share in shares.items()])
    worst = judged.sort("judged", "set", "system").row(0, named=True)
    text = (
        f"Of the first {depth} documents of all systems, {under} are not judged; their gain counts as 0. The share "
        f"is highest for {worst['system']}: {percent(1 - worst['judged'])}."
    )
    return Finding(text, "judged")


def not_analysed(number: int) -> Finding:
    """How many analyses the data do not allow."""
    if not number:
        return Finding("Every analysis was possible with these data.")
    were = f"{counted(number, 'analysis', 'analyses')} {agrees(number, 'was', 'were')}"
    return Finding(f"{were} not possible with these data.", "not_analysed")
