"""Figures of systems: means, ranks, significant differences, how often each outranks another, stability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from judgewell.charts import marks as charts
from judgewell.comparison.worlds import Worlds
from judgewell.reports.parts import Figure
from judgewell.reports.scoring import Scored
from judgewell.reports.sources import Sources
from judgewell.reports.system_findings import OVER, PAIR_TEST, UNCORRECTED
from judgewell.text import count, counted, plain

MOST, MOST_CELLS = 150, 64  # systems in a list and in a matrix; tables hold all
SCATTERS = 3


def most(table: pl.DataFrame, room: int = MOST) -> tuple[pl.DataFrame, str]:
    """The best systems that a figure has room for, and a sentence where some are not drawn."""
    left = table.height - room
    if left <= 0:
        return table, ""
    return table.head(room), f" The best {room} of {count(table.height)} systems are drawn, {count(left)} are not."


def resamples_of(worlds: Worlds) -> str:
    return f"{count(worlds.count)} resamples {OVER[worlds.over]}"


def means_figure(table: pl.DataFrame, scored: Scored) -> Figure:
    drawn, left = most(table)
    top = [column for column in ("top", "ruled_out_by") if column in drawn.columns]
    data = drawn.select(pl.col("system").alias("name"), pl.col("mean").alias("value"), "low", "high", *top)
    first, main = next(iter(scored.sets)), scored.main
    caption = (
        f"The dot is a system’s mean {main.measure} under {first} over {counted(len(main.topics), 'topic')}, the line "
        f"its 95 % interval over other topics.{left}"
    )
    if top:
        caption += " Blue systems are in the top set, which contains the best system with 95 % confidence."
    if top and not drawn["top"].all():
        caption += " A grey system is ruled out by another one, which the table of systems names."
    chart = charts.dots(data, "", f"mean {main.measure}")
    return Figure("system_means", f"Mean {main.measure} under {first}", caption, chart, data, "body")


def ranks_figure(worlds: Worlds, level: float, table: pl.DataFrame) -> Figure:
    drawn, left = most(table.select("system").join(worlds.table(level), on="system", maintain_order="left"))
    data = drawn.select(name="system", value="rank", low="rank_low", high="rank_high", best="best")
    caption = (
        f"The dot is a system’s median rank in {resamples_of(worlds)}, the line holds 95 % of its ranks. Systems are "
        f"in the order of their means.{left}"
    )
    lowest = max([2, *data["high"].to_list()])
    chart = charts.dots(data, "", f"rank among {len(worlds.systems)}", domain=(1, lowest), whole=True)
    return Figure("rank_intervals", "Plausible ranks", caption, chart, data)


def differences_figure(pairs: pl.DataFrame, baseline: str, measure: str) -> Figure:
    drawn, left = most(pairs.sort("difference", "first", descending=[True, False]))
    data = drawn.select(name="first", value="difference", low="low", high="high", top="significant")
    caption = (
        f"The dot is a system’s mean difference from {baseline}, the line its 95 % interval over other topics. Blue "
        f"differences are significant ({PAIR_TEST}).{left} {UNCORRECTED}"
    )
    chart = charts.dots(data, "", f"difference of {measure}", reference=0)
    figure = data.rename({"top": "significant"})
    return Figure(
        "baseline_differences", f"Differences of mean {measure} from {baseline}", caption, chart, figure, "body"
    )


KINDS = ("better than", "no significant difference", "worse than")


def pair_counts(pairs: pl.DataFrame, systems: Sequence[str]) -> pl.DataFrame:
    """For each system how many others it is significantly better or worse than, or neither: name, kind, count."""
    distinct = pairs.filter("significant")
    better = dict(distinct.group_by("first").len().iter_rows())
    worse = dict(distinct.group_by("second").len().iter_rows())
    others = len({*pairs["first"], *pairs["second"]}) - 1
    rows = []
    for name in systems:
        above, below = better.get(name, 0), worse.get(name, 0)
        for kind, number in zip(KINDS, (above, others - above - below, below), strict=True):
            rows.append({"name": name, "kind": kind, "count": number})
    return pl.DataFrame(rows)


def counts_figure(pairs: pl.DataFrame, table: pl.DataFrame) -> Figure:
    drawn, left = most(table)
    data = pair_counts(pairs, drawn["system"].to_list())
    caption = (
        f"A bar shows how many other systems a system is significantly better or worse than ({PAIR_TEST}). Systems are "
        f"in the order of their means.{left}"
    )
    return Figure("pair_counts", "Significant differences", caption, charts.shares(data, "", "systems", KINDS), data)


def above_matrix(worlds: Worlds, pairs: pl.DataFrame, systems: Sequence[str]) -> pl.DataFrame:
    """For each two systems the share of resamples in which the first is above: first, second, value, sign."""
    distinct = {(first, second) for first, second in pairs.filter("significant").select("first", "second").iter_rows()}
    places = [worlds.systems.index(name) for name in systems]
    share = (worlds.higher + worlds.tied / 2)[np.ix_(places, places)] / worlds.count
    rows = [
        {"first": one, "second": other, "value": float(share[i, j]),
         "sign": "+" if (one, other) in distinct else "−" if (other, one) in distinct else ""}
        for i, one in enumerate(systems) for j, other in enumerate(systems) if i != j
    ]  # fmt: skip
    return pl.DataFrame(rows)


def matrix_figure(worlds: Worlds, pairs: pl.DataFrame, table: pl.DataFrame) -> Figure:
    drawn, left = most(table, MOST_CELLS)
    data = above_matrix(worlds, pairs, drawn["system"].to_list())
    caption = (
        f"The bluer a square, the more often the system of its row ranks above that of its column in "
        f"{resamples_of(worlds)}. + and − mark significant differences, better and worse ({PAIR_TEST}).{left}"
    )
    chart = charts.matrix(data, "this system", "ranks above this one", "row above column")
    return Figure("above_matrix", "How often each system outranks another", caption, chart, data)


def taus_figure(worlds: Mapping[str, Worlds]) -> list[Figure]:
    """How tau spreads over resamples; nothing where the systems are tied."""
    from judgewell.comparison.charts import tau_points

    if all(np.isnan(one.tau).all() for one in worlds.values()):
        return []
    points = tau_points(worlds, bins=30)
    data = points.select(x=(pl.col("low") + pl.col("high")) / 2, y="share", kind="name")
    kinds = list(worlds)
    medians = "; ".join(f"{over}: {plain(one.tau_interval()[0])}" for over, one in worlds.items())
    caption = (
        "The further right a line, the closer the rankings in its resamples are to the ranking of the data. Median "
        f"τ-b: {medians}; {resamples_of(worlds.get('both') or worlds['topics'])}."
    )
    chart = charts.curves(data, "τ-b with the ranking of the data", "share of resamples", kinds)
    return [Figure("tau_over_worlds", "Stability of the ranking", caption, chart, data)]


def scatter_figures(scored: Scored, sources: Sources) -> list[Figure]:
    from judgewell.comparison.charts import score_points

    if len(scored.main.topics) < 2:
        return []
    first, *others = scored.sets
    figures = []
    for number, other in enumerate(others[:SCATTERS], 1):
        both = {first: scored.sets[first], other: scored.sets[other]}
        data = score_points(both, level=sources.level, seed=sources.seed).rename({"system": "name"})
        caption = (
            f"Each dot is a system, with its mean {scored.main.measure} and 95 % intervals under {first} (across) and "
            f"{other} (up); above the dashed line it scores higher under {other}. Names mark the best systems and "
            "those whose difference between the two is the most unusual."
        )
        measure = scored.main.measure
        chart = charts.scatter(data, f"{measure} under {first}", f"{measure} under {other}", "system")
        figures.append(
            Figure(
                f"scatter_{number}",
                f"Systems under {first} and under {other}",
                caption,
                chart,
                data,
                "body" if number == 1 else "details",
            )
        )
    return figures
