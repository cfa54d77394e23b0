"""A comparison as text for a terminal: the tables with the sentences that say what they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import polars as pl

from judgewell.comparison.scores import ScoreArray, listed
from judgewell.comparison.worlds import Worlds
from judgewell.terminal import frame_text


def report(
    tables: Mapping[str, pl.DataFrame],
    sets: Mapping[str, ScoreArray],
    worlds: Mapping[str, Worlds],
    given: Mapping[str, Any],
    most: int,
) -> str:
    """All that is printed, part by part."""
    first = next(iter(sets.values()))
    parts = [f"{first.measure} of {len(first.systems)} systems on {len(first.topics)} topics"]
    parts.append(
        _systems(tables["systems"], list(sets), "judgments and topics" if "both" in worlds else "topics", given, most)
    )
    if "sets" in tables:
        parts.append(_sets(tables["sets"], given, most))
    if "discrimination" in tables:
        parts.append(_discrimination(tables["discrimination"], given))
    if "pairs" in tables:
        parts.append(_pairs(tables["pairs"], list(sets), given, most))
    if len(worlds) > 1:
        parts.append(_worlds(worlds, given["level"]))
    if "topics needed" in tables:
        parts.append(_needed(tables["topics needed"], given, len(first.topics)))
    if "judges needed" in tables:
        first_name, second_name = given["tell_apart"]
        said = (
            f"How often {first_name} is above {second_name}, by the number of judges of each document, topics as here"
        )
        parts.append(f"{said}\n{frame_text(tables['judges needed'])}")
    return "\n\n".join(parts)


def _systems(table: pl.DataFrame, names: Sequence[str], over: str, given: Mapping[str, Any], most: int) -> str:
    """Means side by side, best first by the first set; with one set also intervals and ranks."""
    if len(names) == 1:
        shown = frame_text(table.drop("set"), most)
        if "low" not in table.columns:
            return f"{shown}\nOne topic allows no interval and no test."
        if "top" not in table.columns:
            return shown
        top = table.filter("top")["system"].to_list()
        shown = f"{shown}\nIntervals of means are over other topics, of ranks over other {over}."
        if given["top_test"] != "joint":
            test = f"{given['top_test']} test, alpha {given['alpha']:g}"
            return f"{shown}\nNot significantly different from the best ({test}): {listed(top, 'systems', 8)}."
        sure = f"The best system is, with {100 * (1 - given['alpha']):g} % confidence,"
        which = top[0] if len(top) == 1 else f"one of {len(top)}: {listed(top, 'systems', 8)}"
        return f"{shown}\n{sure} {which}."
    wide = table.pivot("set", index="system", values="mean")
    text = frame_text(wide.sort(names[0], "system", descending=[True, False]), most)
    if "top" not in table.columns:
        return text
    sizes = ", ".join(f"{name} {table.filter((pl.col('set') == name) & pl.col('top')).height}" for name in names)
    return f"{text}\nTop sets: {sizes} systems"


def _sets(table: pl.DataFrame, given: Mapping[str, Any], most: int) -> str:
    columns = ["first", "second", "tau_b", "tau_a", "tau_ap", "spearman", "rbo", "concordant", "discordant", "tied"]
    shown = table.select(*columns, pl.col("top_jaccard").alias("top overlap"))
    return (
        "How alike the sets order the systems (RBO with p = 0.9 and its rule b for ties; top overlap as Jaccard)"
        f"\n{frame_text(shown, most)}"
    )


def _discrimination(table: pl.DataFrame, given: Mapping[str, Any]) -> str:
    columns = ["set", "distinguished", "tp", "opposite", "fp", "fn", "tn", "agreement", "kappa", "mcnemar_p"]
    pairs = table["pairs"][0]
    return (
        f"Pairs of systems told apart, of {pairs} ({_test(given)}), against {table['reference'][0]}"
        f"\n{frame_text(table.select(columns))}"
    )


def _pairs(table: pl.DataFrame, names: Sequence[str], given: Mapping[str, Any], most: int) -> str:
    """How many pairs differ; every pair where asked for, else those of the baseline or of the best system."""
    one = table.filter(pl.col("set") == names[0])
    of = f" under {names[0]}" if len(names) > 1 else ""
    columns = ["first", "second", "difference", "low", "high", "effect", "wins", "losses", "p"]
    if given["correction"] != "none":
        columns.append("p_corrected")
    told = int(one["significant"].sum())
    against = f" against {given['baseline']}" if given["baseline"] else ""
    text = f"{told} of {len(one)} pairs of systems{of}{against} differ significantly ({_test(given)})"
    if given["pairs"] or given["baseline"]:
        rows = one.sort("difference", descending=True, maintain_order=True)
        return f"{text}\n{frame_text(rows.select(columns))}"
    best = one.sort("mean_first", "first", descending=[True, False])["first"][0]
    rows = one.filter((pl.col("first") == best) | (pl.col("second") == best)).sort("mean_second", descending=True)
    return f"{text}; those of the best (-q shows all):\n{frame_text(rows.select(columns), most)}"


def _worlds(worlds: Mapping[str, Worlds], level: float) -> str:
    """What limits the conclusion, and how sure the order of the best systems is."""
    rows = []
    for over, one in worlds.items():
        middle, low, high = one.tau_interval(level)
        rows.append(
            {
                "worlds of other": over,
                "worlds": one.count,
                "sd of a mean": float(one.spread.mean()),
                "tau": middle,
                "low": low,
                "high": high,
            }
        )
    spread = {over: float(worlds[over].spread.mean()) for over in ("judgments", "topics")}
    limit = max(spread, key=lambda over: spread[over])
    lines = [frame_text(pl.DataFrame(rows)), f"The {limit} limit the conclusion more: means vary more with them."]
    best = worlds["both"].table(level)["system"].to_list()[:6]
    for first, second in pairwise(best):
        shares = ", ".join(f"{100 * one.above(first, second):.1f} % ({over})" for over, one in worlds.items())
        gap, low, high = worlds["both"].difference(first, second, level)
        lines.append(
            f"{first} is above {second} in {shares} of the worlds; difference {gap:.4f} [{low:.4f}, {high:.4f}]"
        )
    return "\n".join(lines)


def _needed(table: pl.DataFrame, given: Mapping[str, Any], topics: int) -> str:
    first, second = given["tell_apart"]
    enough = table.filter("enough")["topics"].to_list()
    answer = f"about {min(enough)} topics" if enough else f"more than {table['topics'].to_list()[-1]} topics"
    return (
        f"To tell {first} from {second} in 80 % of studies takes {answer} like these {topics} ({_test(given)}), if the "
        f"difference is as seen\n{frame_text(table)}"
    )


def _test(given: Mapping[str, Any]) -> str:
    corrections = {"none": "without correction", "holm": "Holm's correction", "bh": "Benjamini–Hochberg"}
    return f"{given['test']}, alpha {given['alpha']:g}, {corrections[given['correction']]}"
