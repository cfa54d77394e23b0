"""Scholer, Maddalena, Mizzaro and Turpin, EVIA 2014, and the poster of the same study: the tables, and all items."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl

from judgewell.agreement.power import grade_power
from judgewell.agreement.scale_use import scale_descriptives
from judgewell.agreement.unit_grades import grade_value_tests, unit_order_agreement
from judgewell.papers import evia14_figures as figures
from judgewell.papers.evia14_data import TWO_ORDERS, Data, read
from judgewell.papers.evia14_figures import MEANS, letters
from judgewell.papers.items import Item, Made, Paper, beside, unmakable
from judgewell.reports.parts import Grid

PAIRS = ("N<M", "M<R", "R<H", "N<R", "M<H", "N<H")
# Table 2: per cent of workers in agreement, for (order, scale) in the order of PAIRS
TABLE_2 = {
    ("NMRH", "unbounded"): (50, 62, 58, 75, 62, 75), ("NMRH", "bounded"): (54, 73, 69, 81, 85, 88),
    ("HRMN", "unbounded"): (72, 61, 72, 72, 83, 94), ("HRMN", "bounded"): (50, 67, 71, 83, 79, 88),
}  # fmt: skip
POSTER = {
    ("NMRH", "unbounded"): (54, 68, 68, 86, 82, 89), ("NMRH", "bounded"): (48, 70, 59, 81, 81, 81),
    ("HRMN", "unbounded"): (56, 70, 59, 67, 85, 70), ("HRMN", "bounded"): (46, 65, 69, 81, 85, 81),
}  # fmt: skip
COUNTS = (312, 176, 176, 92)  # judgments of N, M, R and H: what the judges of each order make


def table_1(data: Data) -> Made:
    """Table 1: what the raw numbers look like (§4.3)."""
    one = data.orders
    table = pl.concat(
        [scale_descriptives(part).with_columns(scale=pl.lit(name)) for name, part in one.by_scale.items()],
        how="diagonal",
    )
    shown = [Grid("table-1", "Raw numbers", "Least, median and greatest number on each scale.", table)]
    if data.any is not one:
        other = scale_descriptives(data.any.judgments)
        shown.append(
            Grid("table-1-public", "Raw numbers of the public scores", f"The same for {data.any.source}.", other)
        )
    units = one.templated.group_by("template").agg(judges=pl.struct("unit", "assessor").n_unique())
    own = dict(units.iter_rows())
    printed = {"NMRH": 50, "HRMN": 42, "MRMR": 42, "NNNN": 55}
    judges = one.judgments.select("unit", "assessor").n_unique()
    rows: list[tuple[str, float | None, float | None]] = [
        ("judges", 189, judges),
        ("judgments", 756, one.judgments.height),
    ]
    rows += [(f"judges of {name}", count, own.get(name)) for name, count in printed.items()]
    for scale, values in (("unbounded", (0.01, 4, 11_000_000)), ("bounded", (0.01, 20, 99))):
        part = table.filter(pl.col("scale") == scale)
        if len(part):
            ours = [part[name][0] for name in ("least", "median", "greatest")]
            named = zip(("least", "median", "greatest"), values, ours, strict=True)
            rows += [(f"{scale}: {name}", value, mine) for name, value, mine in named]
    notes = (
        "240 judges less 25 who failed the test question and 26 whose comments two of three reviewers refused make "
        "the printed 189; the numbers of each order make 312, 176, 176 and 92 judgments of N, M, R and H.",
    )
    return Made(tuple(shown), beside("table-1", rows), notes)


def table_2(data: Data) -> Made:
    """Table 2: the share of judges whose scores go the experts' way, for each pair of grades (§5.1)."""
    return _agreement(data, "table-2", TABLE_2)


def poster_table(data: Data) -> Made:
    """The poster's table: the same share, from its own data (Q1)."""
    return _agreement(data, "poster-table", POSTER)


def _agreement(data: Data, name: str, printed: Mapping[tuple[str, str], tuple[int, ...]]) -> Made:
    table = unit_order_agreement(data.orders.templated, data.orders.grades, by=("template", "scale_name"))
    pair = pl.format("{}<{}", letters("lower"), letters("upper"))
    two_orders = table.filter(pl.col("template").is_in(TWO_ORDERS)).with_columns(pair=pair)
    wide = two_orders.with_columns(
        cell=pl.format("{} {}", "template", "scale_name"), strict=100 * pl.col("strict")
    ).pivot("cell", index="pair", values="strict")
    order = pl.DataFrame({"pair": PAIRS}).join(wide, on="pair", how="left", maintain_order="left")
    own = {row[:3]: 100 * row[3] for row in two_orders.select("template", "scale_name", "pair", "strict").iter_rows()}
    rows = [
        (f"{template} {scale}: {pair_name}, %", value, own.get((template, scale, pair_name)))
        for (template, scale), values in printed.items()
        for pair_name, value in zip(PAIRS, values, strict=True)
    ]
    cells = [" or ".join(map(str, cell_sizes(values))) for values in printed.values()]
    caption = (
        "Per cent of judges who gave the document of the higher grade the higher number; equal numbers do not agree."
    )
    grid = Grid(name, "Judges in order", caption, order)
    notes = (
        f"The number of judges behind the printed percentages follows from them, up to 30: {', '.join(cells)}.",
        "The paper and its poster stem from different clean-ups of the data, so their tables differ.",
    )
    return Made((grid,), beside(name, rows), notes)


def cell_sizes(percents: tuple[int, ...]) -> list[int]:
    """The numbers of judges, up to 30, for which every one of these rounded per cents is possible."""
    return [
        size
        for size in range(2, 31)
        if all(any(abs(100 * k / size - percent) <= 0.5 for k in range(size + 1)) for percent in percents)
    ]


def table_3(data: Data) -> Made:
    """Table 3: do scores of adjacent grades differ? Means of log normalised scores and tests (§5.2)."""
    parts = []
    for name, one in {"the study": data.orders, "public scores": data.any}.items():
        if name == "public scores" and one is data.orders:
            continue
        table = grade_value_tests(one.normalised, one.grades, by=("scale_name",), value="normalised_log")
        parts.append(table.with_columns(data=pl.lit(name)))
    frame = pl.concat(parts, how="diagonal").with_columns(
        comparison=pl.format("{} vs {}", letters("lower"), letters("upper"))
    )
    columns = ("data", "scale_name", "comparison", "lower_mean", "upper_mean", "p_rank_sum", "p_signed_rank", "note")
    order = grade_value_tests(
        data.orders.templated, data.orders.grades, by=("scale_name", "template"), value="normalised_log"
    )
    by_order = order.filter(pl.col("template").is_in(TWO_ORDERS)).with_columns(
        comparison=pl.format("{} vs {}", letters("lower"), letters("upper"))
    )
    power = grade_power(
        data.orders.normalised, data.orders.grades, value="normalised_log", replicates=300, seed=data.seed
    )
    shown = (
        Grid(
            "table-3",
            "Adjacent grades",
            "Mean natural logarithms of normalised scores; rank-sum on all judgments, signed rank within judges.",
            frame,
            columns,
            {"scale_name": "scale"},
        ),
        Grid(
            "table-3-orders",
            "The same for each order",
            "Within the increasing and the decreasing order (§5.3).",
            by_order,
            ("scale_name", "template", "comparison", "lower_mean", "upper_mean", "p_rank_sum", "p_signed_rank"),
            {"scale_name": "scale"},
        ),
        Grid(
            "table-3-power",
            "Power",
            "How often replicates of these judgments give a significant difference; the paper prints 0.99 for N and "
            "M over all orders and 0.16 within one.",
            power,
        ),
    )
    rows = []
    study = frame.filter(pl.col("data") == "the study")
    for scale, means in MEANS.items():
        own = study.filter(pl.col("scale_name") == scale).sort("lower")
        values = [*own["lower_mean"].to_list(), *own["upper_mean"].to_list()[-1:]]
        rows += [
            (f"{scale}: mean log of {key}", value, mine)
            for key, value, mine in zip("NMRH", means, values or [None] * 4, strict=False)
        ]
    middle = sum(count * mean for count, mean in zip(COUNTS, MEANS["bounded"], strict=True)) / sum(COUNTS)
    notes = (
        "The paper says its logarithms are to base 10, but the bounded scale ends at 99, whose log10 is 1.996, and "
        f"the mean of the printed bounded means is {middle:.2f}: they are natural logarithms. In base 10 they would "
        f"be {', '.join(f'{mean / math.log(10):.3f}' for mean in MEANS['bounded'])}.",
        "The paper calls the test signed rank; its samples differ in size, so it can only be the rank-sum test. "
        "Both are shown.",
    )
    return Made(shown, beside("table-3", rows), notes)


NO_PICTURE = "a screenshot of the judging page, not made from data; `judgewell serve` shows ours"
NO_TEXT = "the instructions given to judges, which are text; `judgewell serve` shows those of a study"

ITEMS = (
    Item("Table 1", "Raw numbers", ("orders", "any"), table_1),
    Item("Table 2", "Judges who go the experts' way", ("orders",), table_2),
    Item("Table 3", "Differences between grades", ("orders", "any"), table_3),
    Item("Figure 1", "The judging page", (), unmakable(NO_PICTURE)),
    Item("Figure 2", "Ranks of documents", ("orders",), figures.figure_2),
    Item("Figure 3", "Normalised scores by grade", ("orders", "any"), figures.figure_3),
    Item("Figure 4", "Inferred relevance of grades", ("orders",), figures.figure_4),
    Item("Figure 5", "Scores by place and order", ("orders",), figures.figure_5),
    Item("Appendix A", "Instructions", (), unmakable(NO_TEXT)),
    Item("Poster table", "Judges who go the experts' way, poster", ("orders",), poster_table),
    Item("Poster figure 1", "Ratios within judges, poster", ("orders",), figures.poster_figure_1),
    Item("Poster figure 2", "Inferred relevance of grades, poster", ("orders",), figures.poster_figure_2),
    Item("Poster figure 3", "How many judges: values, poster", ("orders",), figures.poster_figure_3),
    Item("Poster figure 4", "How many judges: order, poster", ("orders",), figures.poster_figure_4),
)

PAPER = Paper(
    "evia14",
    "Magnitudes of relevance (EVIA 2014)",
    "Scholer, Maddalena, Mizzaro and Turpin: Magnitudes of Relevance: Relevance Judgements, Magnitude Estimation, "
    "and Crowdsourcing. EVIA 2014; and the same authors' poster, Judging Relevance Using Magnitude Estimation",
    ITEMS,
    read,
)
