"""Demeester, Aly, Hiemstra, Nguyen and Develder, Information Retrieval Journal 2015: the figures."""

from __future__ import annotations

import polars as pl

from judgewell.papers.charts import box_numbers, box_panels, lines
from judgewell.papers.items import Made
from judgewell.papers.prm15_data import Data
from judgewell.papers.sigir15_data import top
from judgewell.reports.parts import Figure, Grid
from judgewell.scaling.double_judgments import tallies
from judgewell.scaling.grade_probabilities import estimated
from judgewell.scaling.predicted_curves import growth, quality, topic_bootstrap, topic_spread

DRAWS, ROUNDS = 300, 50


def figure_1(data: Data) -> Made:
    """Figure 1: p(R|grade) from the results of each topic's best k systems (§6.1)."""
    one = data.pages
    tally = tallies(one.judgments, threshold=one.top)
    good = one.grades[-2] if len(one.grades) > 2 else one.top
    table = quality(one.judgments, top(one.runs), tally, good=good).drop_nulls("p")
    frame = table.sort("grade", descending=True).select(
        x="k", y="p", kind=pl.format("p(top|{})", pl.col("grade").cast(pl.Int64)), judged="judged"
    )
    chart = lines(frame, "best systems of each topic", "p(top|grade)", points=False)
    caption = f"Systems of a topic in order of how many of their first ten results have grade {good:g} or more."
    note = "The paper ranks 157 search engines; here runs take their place."
    return Made((Figure("figure-1", "Quality of results", caption, chart, frame),), None, (note,))


def figure_2(data: Data) -> Made:
    """Figure 2: p(top|grade) over topics drawn again with replacement (§6.2)."""
    parts, tables = [], []
    for one in [data.pages] if data.pages is data.snippets else [data.pages, data.snippets]:
        tally = tallies(one.judgments, threshold=one.top)
        draws = topic_bootstrap(tally, data.rng, DRAWS)
        for place, grade in reversed(list(enumerate(tally.grades))):
            values = pl.DataFrame({"panel": one.name, "name": f"{grade:g}", "p": draws[:, place]}).fill_nan(None)
            parts.append(values.drop_nulls())
        spread = topic_spread(tally, data.rng, DRAWS)
        sigma = estimated(tally).select("grade", "p", "sigma_pairs", "sigma_printed")
        tables.append(sigma.join(spread, on="grade", suffix="_topics").with_columns(set=pl.lit(one.name)))
    frame = box_numbers(pl.concat(parts), "p", ["panel", "name"])
    chart = box_panels(frame, "grade", "p(top|grade)", columns=2)
    figure = Figure(
        "figure-2", "Topics drawn again", f"{DRAWS} times as many topics are drawn with replacement.", chart, frame
    )
    caption = "The spread over topics beside the formulas, which take judgments of a topic for independent."
    grid = Grid("figure-2-spread", "Three errors", caption, pl.concat(tables, how="diagonal"))
    note = "The paper finds a spread of 0.06 over topics where its formula says 0.02."
    return Made((figure, grid), None, (note,))


def figure_3(data: Data) -> Made:
    """Figure 3: how p(top|grade) settles as double judgments come in (§6.3)."""
    one = data.intent
    tally = tallies(one.judgments, threshold=one.top)
    table = growth(tally, data.rng, rounds=ROUNDS)
    frame = table.sort("grade", descending=True).select(
        x="documents",
        y="p",
        low=pl.col("p") - pl.col("sd"),
        high=pl.col("p") + pl.col("sd"),
        kind=pl.format("p(top|{})", pl.col("grade").cast(pl.Int64)),
    )
    chart = lines(frame, "documents judged twice", "p(top|grade), mean ± 1 sd")
    caption = f"Mean and standard deviation over {ROUNDS} rounds of documents drawn with replacement."
    return Made((Figure("figure-3", "More double judgments", caption, chart, frame),))
