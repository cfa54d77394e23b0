"""Scholer, Maddalena, Mizzaro and Turpin, EVIA 2014, and its poster: the figures."""

from __future__ import annotations

import numpy as np
import polars as pl

from judgewell.agreement.common import with_grades
from judgewell.agreement.order_effects import ratio_order_effects
from judgewell.agreement.scale_use import ratios_within_units
from judgewell.agreement.stability import inferred_grades, judge_stability, unit_ratios
from judgewell.agreement.unit_grades import inferred_ranks
from judgewell.charts.marks import line_band
from judgewell.papers.charts import box_numbers, box_panels, lines
from judgewell.papers.evia14_data import TWO_ORDERS, Data, Judged
from judgewell.papers.items import Made, beside
from judgewell.papers.synthetic import TEMPLATES
from judgewell.reports.parts import Figure, Grid

KEYS = {0.0: "N", 1.0: "M", 2.0: "R", 3.0: "H"}


def letters(column: str) -> pl.Expr:
    """Grades 0 to 3 by the papers' letters, others as numbers."""
    value = pl.col(column).cast(pl.Float64)
    return value.replace_strict(KEYS, default=value.cast(pl.String), return_dtype=pl.String)


def figure_2(data: Data) -> Made:
    """Figure 2: ranks that judges' scores give the documents of each order, beside the experts' (§5.1)."""
    table = inferred_ranks(data.orders.templated, data.orders.grades, by=("template", "scale_name"))
    order = {template: number for number, template in enumerate(TEMPLATES)}
    shown = table.with_columns(panel="template", name=pl.format("D{}", "position")).sort(
        pl.col("panel").replace_strict(order), "name", "scale_name", descending=[False, False, True]
    )
    frame = box_numbers(shown, "rank", ["panel", "name", "scale_name"])
    nominal = shown.group_by("panel", "name").agg(mark=pl.col("nominal").mean())
    frame = frame.join(nominal, on=["panel", "name"], how="left", maintain_order="left")
    chart = box_panels(frame, "place of the document", "rank by scores", kind="scale_name", columns=2)
    caption = (
        "Rank 1 has the lowest score; diamonds are the ranks that the experts' grades give, ties sharing their mean."
    )
    return Made((Figure("figure-2", "Ranks of documents", caption, chart, frame),))


def figure_3(data: Data) -> Made:
    """Figure 3: log normalised scores by grade on each scale, all orders together (§5.2)."""
    parts = []
    for one in [data.orders] if data.any is data.orders else [data.orders, data.any]:
        table = with_grades(one.normalised, one.grades).drop_nulls("grade").sort("grade")
        kind = pl.lit("" if one is data.orders else ", public scores")
        parts.append(
            table.select(panel=pl.concat_str(pl.col("scale_name"), kind), name=letters("grade"), value="normalised_log")
        )
    frame = box_numbers(pl.concat(parts), "value", ["panel", "name"])
    chart = box_panels(frame, "grade", "log normalised score")
    caption = "Natural logarithms after geometric averaging."
    note = "Units of N documents alone are moved to the topic's mean like all others, which lifts grade N."
    return Made((Figure("figure-3", "Scores by grade", caption, chart, frame),), None, (note,))


def _chains(one: Judged, highest: bool) -> pl.DataFrame:
    """The gain of each grade relative to the lowest (or highest): the product of median ratios of adjacent grades
    within judges."""
    parts = []
    for template in TWO_ORDERS:
        for scale in one.by_scale:
            part = one.templated.filter((pl.col("template") == template) & (pl.col("scale_name") == scale))
            ratios, grades = unit_ratios(part, one.grades, offset=one.offset(scale))
            relevance = inferred_grades(ratios)
            relevance = relevance / relevance[-1] if highest else relevance
            kind = f"{scale} {template}"
            parts.append(
                pl.DataFrame({"x": [KEYS.get(grade, f"{grade:g}") for grade in grades], "y": relevance, "kind": kind})
            )
    return pl.concat(parts).fill_nan(None)


# Table 3: mean log scores of N, M, R and H
MEANS = {"unbounded": (0.715, 1.443, 2.129, 2.649), "bounded": (1.579, 2.395, 3.489, 3.902)}


def figure_4(data: Data) -> Made:
    """Figure 4: relevance of grades inferred from median ratios, H = 1 (§5.2)."""
    frame = _chains(data.orders, highest=True)
    chart = lines(frame, "grade", "inferred relevance", names=frame["x"].unique(maintain_order=True).to_list())
    steps = frame.with_columns(
        linear=pl.col("y").diff().over("kind"), logarithmic=pl.col("y").log().diff().over("kind")
    ).drop_nulls("linear")
    grid = Grid(
        "figure-4-steps",
        "Steps between grades",
        "From the grade below: the difference of inferred relevance, and of its logarithm.",
        steps.select("kind", grade="x", linear="linear", logarithmic="logarithmic"),
    )
    means = np.array(MEANS["unbounded"])
    rows = [
        (f"unbounded, from Table 3's printed means: {what} step to {key}", None, float(value))
        for what, values in (("linear", np.diff(np.exp(means - means[-1]))), ("logarithmic", np.diff(means)))
        for key, value in zip("MRH", values, strict=True)
    ]
    notes = (
        "The paper finds the step from N to M smaller than from M to R. That holds on the linear scale; on the "
        "scale of ratios, which magnitudes are on, the step from N to M is the largest in its own Table 3.",
        "This paper sets H to 1 and its poster N; the ratios are the same.",
    )
    caption = "The chain of median ratios of adjacent grades within judges; H is 1."
    return Made(
        (Figure("figure-4", "Inferred relevance", caption, chart, frame), grid), beside("figure-4", rows), notes
    )


def figure_5(data: Data) -> Made:
    """Figure 5: log normalised scores by place in each order, on each scale (§5.3)."""
    table = data.orders.templated.sort("scale_name", "template", "position", descending=[True, True, False])
    shown = table.with_columns(
        panel=pl.format("{} {}", "scale_name", "template"), name=pl.format("D{}", pl.col("position"))
    )
    frame = box_numbers(shown, "normalised_log", ["panel", "name"])
    chart = box_panels(frame, "place of the document", "log normalised score", columns=4)
    caption = "Natural logarithms after geometric averaging, one panel for each scale and order."
    note = "The paper reads order effects from this; the poster tests for them and finds none (p > 0.2), on other data."
    return Made((Figure("figure-5", "Scores by place", caption, chart, frame),), None, (note,))


def poster_figure_1(data: Data) -> Made:
    """Poster, figure 1: ratios of the scores of two grades, one for each judge (Q1), and the test of orders (Q2)."""
    one = data.orders
    parts, tests = [], []
    for scale in one.by_scale:
        part = one.templated.filter((pl.col("scale_name") == scale) & pl.col("template").is_in(TWO_ORDERS))
        offset = one.offset(scale)
        ratios = ratios_within_units(part, one.grades, offset=offset, by=("template",))
        name = pl.format("{}/{}", letters("upper"), letters("lower"))
        parts.append(ratios.with_columns(panel=pl.format("{} {}", pl.lit(scale), "template"), name=name))
        test = ratio_order_effects(part, one.grades, offset=offset)
        tests.append(test.with_columns(scale=pl.lit(scale)))
    frame = box_numbers(pl.concat(parts), "ratio", ["panel", "name"])
    chart = box_panels(frame, "grades", "ratio", columns=2, log=True)
    tested = pl.concat(tests, how="diagonal")
    about = "Kolmogorov–Smirnov between the increasing and the decreasing order, for each ratio."
    grid = Grid("poster-figure-1-orders", "Do orders differ?", about, tested)
    least = tested["p"].min() if "p" in tested.columns else None
    rows = [("least p between orders (printed: above)", 0.2, float(least) if isinstance(least, float) else None)]
    caption = "Above 1 a judge goes the experts' way. The poster draws a dot for each judge."
    figure = Figure("poster-figure-1", "Ratios within judges", caption, chart, frame)
    return Made((figure, grid), beside("poster-figure-1", rows))


def poster_figure_2(data: Data) -> Made:
    """Poster, figure 2: relevance of grades inferred from median ratios, N = 1 (Q3)."""
    frame = _chains(data.orders, highest=False)
    chart = lines(frame, "grade", "inferred relevance, N = 1", names=frame["x"].unique(maintain_order=True).to_list())
    caption = "As Figure 4 of the paper, anchored at N."
    note = "The poster finds N and M much closer than R and H: a statement about differences, not about ratios."
    return Made((Figure("poster-figure-2", "Inferred relevance", caption, chart, frame),), None, (note,))


def poster_figure_3(data: Data) -> Made:
    """Poster, figure 3: how far grades inferred from k judges are from those of all (Q4)."""
    return _curve(data, "poster-figure-3", "ssd", "sum of squared differences", "10 to 13 judges for each topic")


def poster_figure_4(data: Data) -> Made:
    """Poster, figure 4: τ between the experts' order of grades and the one inferred from k judges (Q4)."""
    return _curve(data, "poster-figure-4", "tau", "Kendall's τ", "about 10 judges, 3 for each topic")


def _curve(data: Data, name: str, column: str, title: str, finding: str) -> Made:
    one = data.orders
    scale = next(iter(one.by_scale))
    part = one.templated.filter((pl.col("scale_name") == scale) & pl.col("template").is_in(TWO_ORDERS))
    table = judge_stability(part, one.grades, orders=data.draws, offset=one.offset(scale), seed=data.seed)
    frame = table.select(x="judges", y=f"{column}_median", low=f"{column}_q1", high=f"{column}_q3").drop_nulls()
    chart = line_band(frame, "judges", title, whole=True)
    caption = f"Median and quartiles over {data.draws} random orders of the judges, all topics together."
    note = f"The poster finds it stable after {finding}."
    return Made((Figure(name, title.capitalize(), caption, chart, table),), None, (note,))
