"""Sentences about systems, worked out from the tables: each names the table where it can be checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from judgewell.comparison.scores import ScoreArray
from judgewell.comparison.worlds import Worlds
from judgewell.reports.parts import Finding
from judgewell.text import count, counted, interval, listing, percent, plain

OVER = {"topics": "of topics", "judgments": "of judgments", "both": "of judgments and topics"}


def best(systems: pl.DataFrame, measure: str, under: str, topics: int) -> Finding:
    """Which system has the best mean, and which others may be the best (table systems of one set)."""
    top = systems.row(0, named=True)
    around = f" {interval(top['low'], top['high'])}" if "low" in systems.columns else ""
    over = f"under {under} over {counted(topics, 'topic')}"
    if systems.height == 1:
        text = f"The system {top['system']} has a mean {measure} of {plain(top['mean'])}{around} {over}"
        return Finding(f"{text}; there is no other system to compare it with.", "systems")
    text = f"The system {top['system']} has the best mean {measure}, {plain(top['mean'])}{around}, {over}"
    if not around:
        return Finding(f"{text}; one topic allows no interval.", "systems")
    if "top" not in systems.columns:
        return Finding(f"{text}; so few topics cannot show which system is the best.", "systems")
    others = systems.filter(pl.col("top") & (pl.col("system") != top["system"]))["system"].to_list()
    if not others:
        return Finding(f"{text}. With 95 % confidence it is the best system.", "systems")
    among = listing([top["system"], *others])
    text += f". With 95 % confidence the best system is among these {len(others) + 1} of {systems.height}: {among}"
    return Finding(f"{text}.", "systems")


def best_elsewhere(sets: Mapping[str, ScoreArray], systems: pl.DataFrame) -> Finding | None:
    """Which system is best under each other set, and whether it may be the best under the first one too."""
    first, *others = sets
    leaders = {name: sets[name].systems[int(np.argmax(sets[name].means))] for name in others}
    best = systems["system"][0]
    if not others or set(leaders.values()) == {best}:
        same = f"The system {best} also has the best mean under {listing(others)}." if others else ""
        return Finding(same, "sets") if same else None
    text = f"The best mean is that of {listing([f'{system} under {name}' for name, system in leaders.items()])}"
    if "top" not in systems.columns:
        return Finding(f"{text}.", "sets")
    possible = set(systems.filter("top")["system"])
    outside = sorted(set(leaders.values()) - possible)
    if not outside:
        return Finding(f"{text}; under {first}, too, these systems may be the best.", "sets")
    verb = "is" if len(outside) == 1 else "are"
    text += f"; under {first}, {listing(outside)} {verb} not among the systems that may be the best"
    return Finding(f"{text}: the sets disagree about the best system.", "sets")


def significant(pairs: pl.DataFrame) -> Finding:
    """How many pairs of systems differ by more than the choice of topics."""
    number = int(pairs["significant"].sum())
    text = (
        f"{count(number)} of {counted(pairs.height, 'pair')} of systems differ significantly "
        f"({percent(number / pairs.height)}; paired t-test, Holm’s correction, α = 0.05)."
    )
    return Finding(text, "pair_counts")


def ranks(table: pl.DataFrame) -> Finding:
    """How certain ranks are (a table of worlds)."""
    width = float(np.median((table["rank_high"] - table["rank_low"] + 1).to_numpy()))
    certain = int((table["rank_low"] == table["rank_high"]).sum())
    first = table.sort("best", descending=True).row(0, named=True)
    ranks = f"{count(int(width))} of {table.height} ranks"
    verb = "has" if certain == 1 else "have"
    sure = f"; {counted(certain, 'system')} {verb} a single plausible rank" if certain else ""
    text = (
        f"At the median, the 95 % interval of a system’s rank covers {ranks}{sure}. "
        f"The system {first['system']} ranks first, alone or tied, in {percent(first['best'])} of "
        f"{count(first['worlds'])} resamples ({OVER[first['over']]})."
    )
    return Finding(text, "rank_intervals")


def limits(worlds: Mapping[str, Worlds]) -> Finding:
    """Whether judgments or topics limit the conclusion."""
    spread = {over: float(worlds[over].spread.mean()) for over in ("judgments", "topics")}
    more, less = sorted(spread, key=lambda over: -spread[over])
    text = (
        f"A system’s mean varies by {plain(spread[more], 4)} (s.d.) over other {more} and by "
        f"{plain(spread[less], 4)} over other {less}: more {more} would help more."
    )
    return Finding(text, "worlds")


def noise(systems: pl.DataFrame) -> Finding | None:
    """How far noise in judgments moves the scores (table systems with scores without noise)."""
    if "without_noise" not in systems.columns:
        return None
    shift = systems["mean"] - systems["without_noise"]
    top = systems.sort("without_noise", descending=True).row(0, named=True)
    text = (
        f"Noise in judgments moves the means of systems by {plain(shift.mean(), 4)} on average "
        f"({plain(shift.min(), 4)} to {plain(shift.max(), 4)}). Without it the best score is "
        f"{plain(top['without_noise'])} {interval(top['without_noise_low'], top['without_noise_high'])} "
        f"({top['system']})."
    )
    return Finding(text, "systems")


def similar(table: pl.DataFrame) -> Finding | None:
    """How similarly sets of gains rank the systems (table sets)."""
    rows = table.filter(pl.col("tau_b").is_not_nan()).sort("tau_b")
    if rows.is_empty():
        return None
    low, high = rows.row(0, named=True), rows.row(-1, named=True)

    def pair(row: Mapping[str, Any]) -> str:
        return f"{row['first']} and {row['second']}"

    if rows.height == 1:
        text = (
            f"{pair(low)} rank the {low['systems']} systems with τ-b = {plain(low['tau_b'])}: "
            f"{counted(low['discordant'], 'pair')} of systems change places."
        )
    else:
        text = (
            f"The sets rank the {low['systems']} systems with τ-b between {plain(low['tau_b'])} ({pair(low)}) and "
            f"{plain(high['tau_b'])} ({pair(high)})."
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
        f"Of the first {depth} documents of all systems, {under} are not judged and count 0. The "
        f"system {worst['system']} has most of them: {percent(1 - worst['judged'])} under {worst['set']}."
    )
    return Finding(text, "judged")


def left_out(number: int) -> Finding:
    """How many analyses the data do not allow."""
    if not number:
        return Finding("No analysis was left out for lack of data.")
    verb = "was" if number == 1 else "were"
    return Finding(f"{counted(number, 'analysis', 'analyses')} {verb} left out for lack of data.", "left_out")
