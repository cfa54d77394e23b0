"""Demeester, Aly, Hiemstra, Nguyen and Develder, Information Retrieval Journal 2015: the tables, and all items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from judgewell.comparison.correlation import tau_a, tau_b
from judgewell.comparison.simulated import robustness
from judgewell.errors import DataError
from judgewell.evaluation.measures import parse
from judgewell.papers import prm15_figures as figures
from judgewell.papers.items import OTHER_DATA, SAME_NUMBERS, Item, Made, Paper, beside
from judgewell.papers.prm15_data import Data, Doubles, read
from judgewell.papers.prm15_printed import RUNS, TABLE_2, TABLE_3, TABLE_6, TABLE_7, U1, U2, attainable
from judgewell.papers.sigir15_data import top
from judgewell.reports.parts import Grid
from judgewell.scaling.double_judgments import Estimate, tallies
from judgewell.scaling.grade_probabilities import estimated
from judgewell.scaling.predicted import count_relevant

DEPTH = 10  # results of a system that Table 5 counts


def table_1(data: Data) -> Made:
    """Table 1: equations (4) and (5) on twenty documents that two assessors graded (§5.1)."""
    docs = [f"d{number:02}" for number in range(1, 21)]
    example = pl.concat(
        pl.DataFrame({"topic": "q", "doc": docs, "assessor": name, "value": list(map(float, grades))})
        for name, grades in (("U1", U1), ("U2", U2))
    )
    rows, parts = [], []
    printed: dict[Estimate, tuple[str, dict[int, float]]] = {
        "first": ("(4)", {2: 2 / 4, 1: 3 / 10, 0: 1 / 6}),
        "both": ("(5)", {2: 4 / 10, 1: 5 / 17, 0: 1 / 13}),
    }
    for estimate, (equation, values) in printed.items():
        for threshold in (2.0, 1.0):
            table = parameters(example, threshold, estimate).with_columns(equation=pl.lit(equation))
            parts.append(table)
            if threshold == 2.0:
                own = dict(zip(table["grade"], table["p"], strict=True))
                rows += [(f"eq. {equation}: p(2|{grade})", value, own[grade]) for grade, value in values.items()]
    columns = ("equation", "threshold", "grade", "relevant", "judged", "p", "sigma_pairs", "sigma_printed")
    caption = (
        "p is p(R|grade), relevant over judged; σ (pairs) counts a document once, σ (printed) is the paper's formula."
    )
    grid = Grid("table-1", "Estimates from twenty double judgments", caption, pl.concat(parts), columns)
    notes = (
        "The paper shows the threshold 2 only; 1 is shown below it.",
        "The paper's σ takes the counts of equation (5) for independent, but a pair of equal grades is counted "
        "twice; the corrected σ² = Σ(a − p·b)²/(Σb)² over documents comes first.",
    )
    return Made((grid,), beside("table-1", rows, SAME_NUMBERS), notes)


def parameters(judgments: pl.DataFrame, threshold: float, estimate: Estimate = "both") -> pl.DataFrame:
    """p(R|grade) with its errors, highest grade first."""
    tally = tallies(judgments, threshold=threshold, estimate=estimate)
    return estimated(tally).sort("grade", descending=True)


def table_2(data: Data) -> Made:
    """Table 2: p(top|grade) by equation (5) and (4) for two sets of double judgments (§5.2)."""
    parts = []
    rows: list[tuple[str, float | None, float | None]] = []
    equations: dict[Estimate, str] = {"both": "5", "first": "4"}
    for kind, one in (("pages", data.pages), ("snippets", data.snippets)):
        for estimate, equation in equations.items():
            table = parameters(one.judgments, one.top, estimate)
            parts.append(table.with_columns(set=pl.lit(one.name), equation=pl.lit(f"({equation})")))
            own = dict(zip(table["grade"], table["p"], strict=True))
            ours = [own.get(grade) for grade in reversed(one.grades)]
            values = TABLE_2[kind, equation]
            rows += [
                (f"{kind} ({equation}): p of grade {number} from the top", value, mine)
                for number, (value, mine) in enumerate(zip(values, ours, strict=False), 1)
            ]
    columns = ("set", "equation", "grade", "relevant", "judged", "p", "sigma_pairs", "sigma_printed")
    caption = "The chance that another assessor gives the top grade."
    grid = Grid("table-2", "Estimates for the top grade", caption, pl.concat(parts, how="vertical_relaxed"), columns)
    notes = (
        "For equation (4) the paper re-judged only documents above the lowest grade, so it has no estimate there.",
        "A printed 0.53 ± 0.02 by the printed formula means between 399 and 1,107 judgments behind it.",
    )
    return Made((grid,), beside("table-2", rows), notes)


def table_3(data: Data) -> Made:
    """Table 3: p(R|grade) for every threshold of relevance (§5.2)."""
    one = data.pages
    thresholds = list(reversed(one.grades[1:]))
    columns = {f"θ = {threshold:g}": parameters(one.judgments, threshold) for threshold in thresholds}
    grades = list(reversed(one.grades))
    frame = pl.DataFrame({"grade": grades, **{name: table["p"] for name, table in columns.items()}})
    rows = [
        (
            f"grade {place + 1} from the top, {name}",
            TABLE_3[place][column] if place < 4 and column < 3 else None,
            frame[name][place],
        )
        for place in range(len(grades))
        for column, name in enumerate(columns)
    ]
    grid = Grid(
        "table-3", "Estimates for every threshold", "p(R|grade), equation (5), when users want at least grade θ.", frame
    )
    return Made((grid,), beside("table-3", rows), ("p rises as θ falls, in every row, here as in the paper.",))


def table_4(data: Data) -> Made:
    """Table 4: p(top|grade) for all topics and for each kind of topic (§5.2)."""
    one = data.intent
    parts = [parameters(one.judgments, one.top).with_columns(topics=pl.lit("all"))]
    if "type" in one.judgments.columns:
        for kind in one.judgments["type"].unique().sort():
            own = one.judgments.filter(pl.col("type") == kind)
            parts.append(parameters(own, one.top).with_columns(topics=pl.lit(str(kind))))
    columns = ("topics", "grade", "relevant", "judged", "p", "sigma_pairs", "sigma_printed")
    caption = "p(top|grade), equation (5), for all judgments and for each kind."
    grid = Grid("table-4", "Kinds of topics", caption, pl.concat(parts, how="vertical_relaxed"), columns)
    p = dict(zip(parts[0]["grade"], parts[0]["p"], strict=True))
    rows = [
        (f"{name}, all: grade {place + 1} from the top", value, p.get(one.grades[-1 - place]))
        for name, values in (("Japanese", (0.51, 0.19, 0.03)), ("Chinese", (0.37, 0.03, 0.0)))
        for place, value in enumerate(values[: len(one.grades)])
    ]
    notes = (
        "The paper's kinds are navigational and informational queries, and its sets are Japanese and Chinese; "
        "intents of a query, and so its two last columns, need intents in the data.",
        "Kinds come from the column type of the judgments; for nyt-crowd they are the interfaces.",
    )
    return Made((grid,), beside("table-4", rows), notes)


def table_5(data: Data) -> Made:
    """Table 5: how many of each system's results are relevant: expected (PRM) and by one assessor (§7.1)."""
    one = data.pages
    results = top(one.runs, DEPTH).join(one.first, on=["topic", "doc"])
    topics = one.first["topic"].n_unique()
    frame = results.select("system").unique().sort("system")
    rows: list[tuple[str, float | None, float | None]] = []
    for scenario, threshold, printed in (("top", one.top, 0.93), ("marginal", one.marginal, 0.89)):
        table = parameters(one.judgments, threshold)
        counts = count_relevant(results, table, by=("system", "topic"))
        means = counts.group_by("system").agg(
            *_mean_and_error("expected", f"{scenario} PRM", topics),
            *_mean_and_error("binary", f"{scenario} binary", topics),
        )
        frame = frame.join(means, on="system", how="left", maintain_order="left")
        pair = frame[f"{scenario} PRM"].to_numpy(), frame[f"{scenario} binary"].to_numpy()
        rows.append((f"{scenario}: τ-b between PRM and binary, these runs", printed, float(tau_b(*pair))))
        smaller = (frame[f"{scenario} PRM ±"] < frame[f"{scenario} binary ±"]).sum() / frame.height
        rows.append((f"{scenario}: share of runs with the smaller error under PRM", 20 / 21, float(smaller)))
    order = frame.sort("top PRM", descending=True)
    rows += _table_5_again()
    caption = (
        f"Mean over {topics} topics of the relevant among the first {DEPTH} results of each system, ± standard "
        "error of the mean."
    )
    grid = Grid("table-5", "Relevant results", caption, order)
    notes = (
        "Results without a judgment count as not relevant. The paper counts the results of the three best resources.",
        "The paper's 0.93 and 0.89 come out of its own rows with τ-b and without the oracle; with all 21 rows or "
        "with τ-a they do not.",
    )
    return Made(
        (grid,),
        beside("table-5", rows, f"{OTHER_DATA} The last lines are worked out from the paper's own rows."),
        notes,
    )


def _mean_and_error(column: str, name: str, topics: int) -> list[pl.Expr]:
    """Mean over all topics (those without results count 0) and its standard error."""
    value = pl.col(column).cast(pl.Float64)
    mean = value.sum() / topics
    variance = (value.pow(2).sum() - topics * mean.pow(2)) / max(1, topics - 1)
    return [mean.alias(name), (variance / topics).sqrt().alias(f"{name} ±")]


def _table_5_again() -> list[tuple[str, float | None, float | None]]:
    """τ between the printed columns for the row sets and variants that could be meant."""
    rows: list[tuple[str, float | None, float | None]] = []
    runs = np.array([row[1:] for row in RUNS])
    for rows_named, part in (("all 21 rows", runs), ("without the oracle", runs[1:])):
        for scenario, first, printed in (("top", 0, 0.93), ("marginal", 2, 0.89)):
            for name, tau in (("τ-b", tau_b), ("τ-a", tau_a)):
                value = float(tau(part[:, first], part[:, first + 1]))
                rows.append((f"printed columns, {rows_named}, {scenario}: {name}", printed, value))
    return rows


def gains_of(grades: Any, table: pl.DataFrame) -> Any:
    """Grades as p(R|grade); an undefined p cannot be a gain."""
    known = table.drop_nulls("p")
    order = np.argsort(known["grade"].to_numpy())
    grade, p = known["grade"].to_numpy()[order], known["p"].to_numpy()[order]
    place = np.clip(np.searchsorted(grade, grades), 0, len(grade) - 1)
    lost = np.unique(grades[grade[place] != grades])
    if len(lost):
        raise DataError(f"p(R|grade) is undefined for grade {lost[0]:g}, which no doubly judged document has")
    return p[place]


def profiles(one: Doubles, threshold: float) -> dict[str, Callable[[Any], Any]]:
    """Ways to turn grades into gains: binary at the threshold, p(R|grade), the grade itself, 2^grade − 1."""
    table = parameters(one.judgments, threshold)
    return {
        "binary": lambda grades: (grades >= threshold).astype(np.float64),
        "PRM": lambda grades: gains_of(grades, table),
        "linear": lambda grades: grades.astype(np.float64),
        "exponential": lambda grades: 2.0**grades - 1,
    }


def table_6(data: Data) -> Made:
    """Table 6: how alike systems are ordered by one assessor's grades and by another's, under the same gains (§7.2)."""
    one = data.pages if data.pages.runs else data.intent
    grades = one.assessors
    ranked = one.ranked(grades["U1"], 10)
    robust = robustness(
        lambda gains: ranked.scores(parse("nDCG@10"), gains),
        {name: frame["gain"].to_numpy() for name, frame in grades.items()},
        profiles(one, one.top),
    )
    own = dict(zip(robust["profile"], robust["tau_b"], strict=True))
    rows = [
        (f"{name}: {profile}", value, own[profile])
        for name, values in TABLE_6.items()
        for profile, value in zip(("binary", "PRM", "linear"), values, strict=True)
    ]
    impossible = [
        f"{value:.2f}"
        for name, values in TABLE_6.items()
        for value in values
        if not attainable(value, 28 if name.startswith("Japanese") else 66)
    ]
    caption = "τ between systems' nDCG@10 with U1's and with U2's grades; documents that both graded."
    grid = Grid("table-6", "Robustness", caption, robust)
    notes = (
        f"{', '.join(impossible)} are no multiple of 1/28 (8 runs) or 1/66 (12 runs), ties or not: the paper's τ is "
        "not τ-a; τ-b with a tied pair or two gives them.",
    )
    return Made((grid,), beside("table-6", rows), notes)


def table_7(data: Data) -> Made:
    """Table 7: how alike systems are ordered under PRM gains and under binary, linear and exponential ones (§7.3)."""
    one = data.pages
    ranked = one.ranked(one.first, 20)
    grades = one.first["gain"].to_numpy()
    parts, rows = [], []
    for scenario, threshold in (("top", one.top), ("marginal", one.marginal)):
        means = {
            name: ranked.scores(parse("nDCG@20"), profile(grades)).mean(axis=-1)
            for name, profile in profiles(one, threshold).items()
        }
        for name in ("binary", "linear", "exponential"):
            taus = {"tau_b": float(tau_b(means["PRM"], means[name])), "tau_a": float(tau_a(means["PRM"], means[name]))}
            parts.append({"scenario": scenario, "PRM versus": name, **taus})
            rows.append((f"{scenario}: PRM versus {name}", TABLE_7[scenario][name], taus["tau_b"]))
    grid = Grid(
        "table-7", "PRM and other gains", "τ between systems' nDCG@20 under PRM gains and others.", pl.DataFrame(parts)
    )
    notes = ("Without ties a τ of 15 runs is an odd number of 105ths; 0.99 and 0.93 are none, so some runs must tie.",)
    return Made((grid,), beside("table-7", rows), notes)


ITEMS = (
    Item("Table 1", "The two estimates on a worked example", (), table_1),
    Item("Table 2", "Disagreement about the top grade", ("pages", "snippets"), table_2),
    Item("Table 3", "Disagreement for every threshold", ("pages",), table_3),
    Item("Table 4", "Disagreement by kind of topic", ("intent",), table_4),
    Item("Table 5", "Counting relevant results", ("pages",), table_5),
    Item("Table 6", "Robustness to the choice of assessor", ("pages",), table_6),
    Item("Table 7", "PRM gains and standard gains", ("pages",), table_7),
    Item("Figure 1", "Disagreement and the quality of results", ("pages",), figures.figure_1),
    Item("Figure 2", "Disagreement over topics", ("pages", "snippets"), figures.figure_2),
    Item("Figure 3", "Disagreement and the number of double judgments", ("intent",), figures.figure_3),
)

PAPER = Paper(
    "prm15",
    "Predicting relevance based on assessor disagreement (IRJ 2015)",
    "Demeester, Aly, Hiemstra, Nguyen and Develder: Predicting relevance based on assessor disagreement: analysis "
    "and practical applications for search evaluation. Information Retrieval Journal 2015",
    ITEMS,
    read,
)
