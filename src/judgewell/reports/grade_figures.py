"""How gains follow grades: every document by its grade, the ratios between grades, and the profile of each topic."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from judgewell.agreement.common import with_grades
from judgewell.agreement.evidence import are_grades, is_graded
from judgewell.charts import marks as charts
from judgewell.errors import DataError
from judgewell.reports.parts import Figure
from judgewell.text import counted, plain

MOST_DOTS = 5000  # documents drawn one by one; of more a sample, with the extremes of each grade
MOST_TOPICS = 24  # small multiples
MOST_RATIOS = 10  # pairs of grades in a figure; of more, neighbouring ones, and the tables have all


def by_grade(gains: pl.DataFrame, labels: Mapping[str, pl.DataFrame], *, log: bool) -> list[Figure]:
    """For each label set a dot for every document above its grade; a confusion matrix where gains are grades too."""
    figures = []
    for number, (name, grades) in enumerate(labels.items(), 1):
        if not is_graded(grades):
            continue
        try:
            known = with_grades(gains, grades).filter(pl.col("grade").is_not_null())
        except DataError:  # the set shares no document with the gains; the analyses of grades say so
            continue
        if are_grades(gains):
            figures.append(_confusion(known, name, number))
            continue
        data, which = _dots(known)
        counts = ", ".join(
            f"{plain(grade)}: {size:,}" for grade, size in known.group_by("grade").len().sort("grade").rows()
        )
        caption = (
            "Each dot is a document; the box holds the middle half of a grade’s documents, and its line is their "
            f"median.{which} Documents by grade: {counts}."
        )
        chart = charts.strips(data, grade_title(name), "gain", log=log)
        figures.append(Figure(f"gains_by_grade_{number}", f"Gains by grade ({name})", caption, chart, data, "body"))
    return figures


def grade_title(labels: str) -> str:
    """The title of an axis of grades."""
    return "grade" if labels == "grades" else f"grade ({labels})"


def _confusion(known: pl.DataFrame, name: str, number: int) -> Figure:
    cells = known.group_by(first="gain", second="grade").agg(count=pl.len()).sort("first", "second")
    data = with_shares(cells)
    caption = (
        f"How many of {counted(known.height, 'document')} have each gain and each grade of the label set {name}; the "
        "colour is the share of a gain’s documents."
    )
    chart = charts.confusion(data, "gain", grade_title(name), "documents")
    return Figure(f"gains_by_grade_{number}", f"Gains and grades ({name})", caption, chart, data, "body")


def with_shares(cells: pl.DataFrame) -> pl.DataFrame:
    """Counts of two grades (first, second, count) with the share of the first, grades as text."""
    share = pl.col("count") / pl.col("count").sum().over("first")
    names = [pl.Series(side, [plain(grade) for grade in cells[side]]) for side in ("first", "second")]
    return cells.with_columns(share=share.fill_nan(0.0)).with_columns(*names)


def _dots(known: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Documents with their grade's quartiles and a place beside its axis; the lowest and highest are always there."""
    quartiles = [pl.col("gain").quantile(share, "linear").over("grade").alias(name)
                 for share, name in ((0.25, "q1"), (0.5, "median"), (0.75, "q3"))]  # fmt: skip
    frame = known.sort("grade", "gain", "topic", "doc").with_columns(*quartiles)
    which = ""
    if frame.height > MOST_DOTS:
        place = pl.int_range(pl.len()).over("grade")
        end = (place < 10) | (place >= pl.len().over("grade") - 10)
        chosen = np.random.default_rng(0).random(frame.height) < MOST_DOTS / frame.height
        frame = frame.filter(end | pl.Series(chosen))
        which = f" A random sample of {counted(frame.height, 'document')} is drawn, with the extremes of each grade."
    beside = pl.Series("beside", np.random.default_rng(1).uniform(-1, 1, frame.height))
    names = [plain(grade) for grade in frame["grade"]]
    return frame.select(pl.Series("name", names), "topic", "doc", "gain", "q1", "median", "q3", beside), which


def ratios(table: pl.DataFrame, source: str) -> list[Figure]:
    """How many times as relevant a higher grade is: the median ratio of two grades, with its quartiles."""
    if table.is_empty():
        return []
    which = ""
    if table.height > MOST_RATIOS:
        next_up = pl.col("upper").min().over("lower", *(["labels"] if "labels" in table.columns else []))
        table, which = table.filter(pl.col("upper") == next_up), " Only neighbouring grades are drawn."
    name = pl.format("{} over {}", pl.col("upper").map_elements(plain, pl.String),
                     pl.col("lower").map_elements(plain, pl.String))  # fmt: skip
    several = "labels" in table.columns and table["labels"].n_unique() > 1
    named = pl.format("{}: {}", "labels", name) if several else name
    set_first = ["labels"] if several else []
    steps = table.with_columns(step=pl.col("upper") - pl.col("lower"))
    order = steps.sort(*set_first, "step", "lower", maintain_order=True)
    data = order.select(named.alias("name"), value="median", low="q1", high="q3", ratios="ratios")
    data = data.filter(pl.col("low") > 0)
    if data.is_empty():
        return []
    caption = (
        f"How many times as high documents of one grade are rated as documents of a lower one. The tick is the "
        f"median ratio of two {source}, the bar holds the middle half of the ratios "
        f"({counted(int(data['ratios'].sum()), 'ratio')} in all); dashed: no difference.{which}"
    )
    chart = charts.ranges(data, "grades", "ratio (logarithmic axis)", reference=1, log=True)
    shown = data.rename({"name": "grades", "value": "median", "low": "q1", "high": "q3"})
    return [Figure("grade_ratios_figure", "How much more relevant each grade is", caption, chart, shown, "body")]


def profiles(table: pl.DataFrame, ratio: bool) -> list[Figure]:
    """The median gain of each grade, over that of the topic's highest grade where ratios mean something, a small chart
    for each topic."""
    figures = []
    for number, ((labels,), part) in enumerate(
        table.partition_by("labels", as_dict=True, maintain_order=True).items(), 1
    ):
        known = part.filter(pl.col("grade").is_not_null()).sort("topic", "grade")
        top = known.group_by("topic").agg(top=pl.col("median").sort_by("grade").last(), grades=pl.len())
        most = known["grade"].n_unique()
        full = known.join(
            top.filter((pl.col("top") > 0) & (pl.col("grades") == most)), on="topic", maintain_order="left"
        )
        # Two grades have one ratio, which the figure of ratios shows; one topic has no others to be unlike.
        if full["topic"].n_unique() < 2 or most < 3:
            continue
        share = full.with_columns(y=pl.col("median") / (pl.col("top") if ratio else 1))
        overall = share.group_by("grade").agg(all=pl.col("y").median())
        topics = sorted(set(share["topic"]))[:MOST_TOPICS]
        data = share.filter(pl.col("topic").is_in(topics)).join(overall, on="grade", maintain_order="left")
        data = data.select("topic", "y", "all", "documents", x="grade")
        total = share["topic"].n_unique()
        drawn = "are drawn" if total <= MOST_TOPICS else f"of which the first {MOST_TOPICS} are drawn"
        caption = (
            f"Each panel is a topic. The line shows the median gain of each grade of the label set {labels}"
            f"{', as a share of that of the highest grade' if ratio else ''}; the dashed line is the median over "
            f"topics. {counted(total, 'topic')} with documents of every grade {drawn}."
        )
        chart = charts.profiles(data, grade_title(labels), "relative gain" if ratio else "gain")
        title = f"Gain profile by topic ({labels})"
        figures.append(Figure(f"gain_profiles_{number}", title, caption, chart, data, "body"))
    return figures


def orders(table: pl.DataFrame) -> list[Figure]:
    """The share of pairs of documents that the gains put in the grades' order; nothing where there is no pair."""
    steps = table.filter(pl.col("lower").is_not_null() & pl.col("half").is_not_null())
    if steps.is_empty():
        return []
    pair = pl.col("figure").str.replace("<", " < ")
    name = pl.format("{} {}", "labels", pair) if steps["labels"].n_unique() > 1 else pair
    data = steps.select(name.alias("name"), value="half", low="strict", high="lenient", pairs="pairs")
    tied = bool((data["low"] < data["high"]).any())
    ties = " Ties count half; the bar reaches from all ties out of order to all in order." if tied else ""
    caption = (
        f"The {'tick' if tied else 'dot'} is the share of pairs of documents that the gains put in the order of "
        f"their grades ({counted(int(data['pairs'].sum()), 'pair')} in all); dashed: chance.{ties}"
    )
    chart = (charts.ranges if tied else charts.dots)(
        data, "grades", "share in order", reference=0.5, domain=(0, 1), ends=("ties against", "ties in order")
    )
    shown = data.rename({"name": "grades", "value": "half", "low": "strict", "high": "lenient"})
    return [Figure("order_agreement_figure", "Agreement on the order of documents", caption, chart, shown)]
