"""Yang, Moffat and Turpin, ADCS 2018: the tables, and all items by number."""

from __future__ import annotations

import polars as pl

from judgewell.agreement.assessors import accuracy_summary, known_pair_accuracy
from judgewell.agreement.label_sets import concordance
from judgewell.agreement.likes import (
    likes_against_difficulty,
    likes_over_topics,
    question_likes,
)
from judgewell.analysis.scores import scores_under
from judgewell.comparison.correlation import concordance_table
from judgewell.comparison.discrimination import DISCRIMINATION, Confusion, chi_square, discrimination_table, mcnemar
from judgewell.comparison.scores import ScoreArray
from judgewell.comparison.simulated import random_gains
from judgewell.errors import DataError
from judgewell.evaluation.measures import parse
from judgewell.papers import adcs18_figures as figures
from judgewell.papers.adcs18_data import Data, read
from judgewell.papers.adcs18_printed import DESIGN, DOCUMENTS, LIKES, PAIRS, SIGNIFICANT_PAIRS, SYSTEMS
from judgewell.papers.items import SAME_NUMBERS, Item, Made, Paper, beside, unmakable
from judgewell.reports.parts import Grid
from judgewell.study.design.groups import partitions_for

SIZE, PARTNERS, TIMES, SHARE = 8, 3, 3, 0.15  # documents of a group, others each meets, workers, others met in all


def table_1(data: Data) -> Made:
    """Table 1: how many partitions and groups the design's two rules give each topic (§3)."""
    frame = pl.DataFrame(DESIGN, schema=["topic", "documents", "X", "groups"], orient="row").with_columns(
        pl.Series("X by rule", [partitions_for(row[1], PARTNERS, SHARE) for row in DESIGN]),
        pl.Series("groups by eq. (1)", [-(-row[1] // SIZE) * row[2] for row in DESIGN]),
        pl.Series("groups a partition", [row[3] // row[2] for row in DESIGN]),
        pl.Series("places left over", [SIZE * (row[3] // row[2]) - row[1] for row in DESIGN]),
    )
    rows: list[tuple[str, float | None, float | None]] = []
    for topic, documents, repeats, groups in DESIGN:
        rows.append((f"{topic}: X", repeats, partitions_for(documents, PARTNERS, SHARE)))
        rows.append((f"{topic}: groups by eq. (1)", groups, -(-documents // SIZE) * repeats))
    total = sum(row[3] for row in DESIGN)
    rows += [
        ("groups in all", 2628, total),
        ("pairs in a group", 12, SIZE * PARTNERS // 2),
        ("completed groups", 7884, total * TIMES),
        ("pairs judged", 94608, total * TIMES * SIZE * PARTNERS // 2),
    ]
    caption = "X is round(0.15·(n − 1)/3) partitions; equation (1) says ⌈n/8⌉·X groups."
    grid = Grid("table-1", "Partitions and groups", caption, frame)
    notes = (
        "Equation (1) does not give the printed groups of 402, 403, 407 and 440. These are the topics whose known "
        "relevant documents were used again: documents are counted once, groups count places (8·groups = documents "
        "+ repeats).",
        "The caption says that the documents include padding to whole groups; 278, 225 and 270 are no multiples of 8.",
        "The paper sets expert cost at 12,856 documents; the table's sum is 1,869.",
        "The lists of topics with too few relevant documents differ between two places of the paper (403 and 440).",
    )
    return Made((grid,), beside("table-1", rows, SAME_NUMBERS), notes)


def table_2(data: Data) -> Made:
    """Table 2: how alike judgments order documents (upper half) and systems (lower half) (§4)."""
    one = data.systems
    upper = concordance(one.sets).select(
        "first",
        "second",
        "topics",
        "micro_agree",
        "micro_disagree",
        "micro_unknown",
        "macro_agree",
        "macro_disagree",
        "macro_unknown",
    )
    shown = [
        Grid(
            "table-2-documents",
            "Document pairs",
            "Shares of document pairs: the same order (agree), the opposite, or a tie in either (unknown); over all "
            "pairs (micro) and as a mean over topics (macro).",
            upper,
        )
    ]
    notes = ["The paper does not say whether it pools pairs or averages topics; both are shown."]
    lower = None
    if one.runs:
        lower = concordance_table({name: one.scores(frame).means for name, frame in one.sets.items()})
        caption = "Shares of pairs of systems by mean RBP(0.9); tau_a is agree − disagree, as in the paper."
        shown.append(Grid("table-2-systems", "System pairs", caption, lower))
    else:
        notes.append("There are no runs, so the part about systems is missing.")
    rows = [
        (f"systems, {first}–{second}: A − D", round(agree - disagree, 3), _between(lower, first, second, "tau_a"))
        for (first, second), (agree, disagree) in SYSTEMS.items()
    ]
    rows += [
        (f"documents, {first}–{second}: A", values[0], _between(upper, first, second, "micro_agree"))
        for (first, second), values in DOCUMENTS.items()
    ]
    notes.append(f"RBP looks at ten results, of which the pool holds all; the rest could add up to {0.9**10:.3f}.")
    return Made(tuple(shown), beside("table-2", rows), tuple(notes))


def _between(table: pl.DataFrame | None, first: str, second: str, column: str) -> float | None:
    """A number of two sets, in either order, where both exist."""
    if table is None:
        return None
    one, other = pl.col("first"), pl.col("second")
    row = table.filter(((one == first) & (other == second)) | ((one == second) & (other == first)))
    return None if row.is_empty() else float(row[column][0])


def table_3(data: Data) -> Made:
    """Table 3: which questions workers liked, topics' difficulty, and accuracy on known pairs (§5)."""
    one = data.study
    likes = question_likes(one.likes)
    wide = likes.pivot("question", index="topic", values="share", sort_columns=True)
    workers = likes.group_by("topic").agg(workers=pl.col("assessors").max())
    frame = wide.join(workers, on="topic", maintain_order="left")
    if one.runs and one.labels:
        scores = scores_under(one.runs, next(iter(one.labels.values())), [parse("AP")])[0]
        difficulty = pl.DataFrame({"topic": scores.topics, "AP": scores.values.mean(axis=0)})
        frame = frame.join(difficulty, on="topic", how="left", maintain_order="left")
    if "left_known" in one.pairs.columns:
        accuracy = accuracy_summary(known_pair_accuracy(one.pairs)).select("topic", accuracy="mean", sd="sd")
        frame = frame.join(accuracy, on="topic", how="left", maintain_order="left")
    caption = (
        "Shares of workers who liked each question (several may be chosen), every worker counting once; AP is the "
        "mean over systems; accuracy on known pairs over workers."
    )
    grid = Grid("table-3", "What workers liked", caption, frame)
    notes = ("The printed shares do not add up to 1: workers could like several questions.",)
    return Made((grid,), beside("table-3", _likes_again(), SAME_NUMBERS), notes)


def _likes_again() -> list[tuple[str, float | None, float | None]]:
    """Means over the printed topics, and what they say about easy topics."""
    table = pl.DataFrame(
        [
            {"topic": row[0], "question": f"Q{number}", "assessors": row[4], "share": row[number]}
            for row in LIKES
            for number in (1, 2, 3)
        ]
    )
    means = likes_over_topics(table)
    difficulty = pl.DataFrame({"topic": [row[0] for row in LIKES], "difficulty": [row[5] for row in LIKES]})
    likes = likes_against_difficulty(table, difficulty, "Q1", "Q2")
    rows: list[tuple[str, float | None, float | None]] = [
        (f"{row['question']}: {words}", None, row[column])
        for row in means.iter_rows(named=True)
        for column, words in (("mean", "mean over the printed topics"), ("weighted", "weighted by workers"))
    ]
    rows += [
        ("Q1 − Q2 against AP over the printed topics: Pearson's r", None, likes["pearson"][0]),
        ("its p (the paper: 0.002 by a mixed model)", 0.002, likes["p_pearson"][0]),
        ("Q1 − Q2 against AP: Kendall's τ", None, likes["tau"][0]),
        ("workers of all topics (806 different ones)", None, float(sum(row[4] for row in LIKES))),
    ]
    return rows


def table_4(data: Data) -> Made:
    """Table 4: pairs of systems that differ significantly under each set of judgments, against binary labels (§6)."""
    one = data.systems
    if not one.labels:
        raise DataError("there are no labels to compare with; give --labels binary=FILE")
    if not one.runs:
        raise DataError("there are no runs to measure; give --runs")
    reference = next(iter(one.labels))
    chance = one.sets[reference].sort("topic", "doc")
    named = {"Pref": "Q1", "Rele": "Q2", "Ratio": "Q3"}
    sets = {named.get(name, name): frame for name, frame in (one.sets | one.combined).items()}
    sets["Random"] = random_gains(chance, data.seed)
    scored: dict[str, ScoreArray] = {name: one.scores(frame) for name, frame in sets.items()}
    frame = discrimination_table(scored, reference).filter(pl.col("set") != reference)
    columns = ("set", *DISCRIMINATION, "kappa", "chi_square_p", "mcnemar_p")
    caption = (
        f"Paired t-test at 0.05 over topics, against {reference}; opposite counts significant pairs the other way "
        "round, which the paper counts as TP."
    )
    grid = Grid("table-4", "Pairs of systems that differ significantly", caption, frame, columns)
    notes = (
        "The paper compares 3,650, 3,226 and 3,224 significant pairs by χ², but they are the same pairs: McNemar's "
        "test is the one for that. Pairs that share a system are not independent either way.",
        "How the paper made its random judgments is not said; here each topic's labels are dealt out at random.",
    )
    return Made((grid,), beside("table-4", _significant_again(), SAME_NUMBERS), notes)


def _significant_again() -> list[tuple[str, float | None, float | None]]:
    """Sums, κ, χ² and McNemar from the printed counts."""
    rows: list[tuple[str, float | None, float | None]] = []
    for name, (tp, fp, fn, tn) in SIGNIFICANT_PAIRS.items():
        counts = Confusion(tp, 0, fp, fn, tn)
        rows.append((f"{name}: pairs in all", PAIRS, counts.pairs))
        rows.append((f"{name}: significant", {"Sormunen": 3224, "Q1": 3650}.get(name), tp + fp))
        rows.append((f"{name}: κ with the binary labels", None, counts.kappa))
    tp, fp, fn, _ = SIGNIFICANT_PAIRS["Q1"]
    rows += [
        ("significant under the binary labels", 3226, tp + fn),
        ("Q1 against binary: χ² with Yates' correction", None, chi_square([tp + fp, tp + fn], PAIRS).statistic),
        ("Q1, binary and Sormunen: χ²", None, chi_square([3650, 3226, 3224], PAIRS).statistic),
        ("Q1 against binary: McNemar's χ²", None, mcnemar(fp, fn).statistic),
        ("random judgments: share significant", None, 451 / PAIRS),
    ]
    return rows


NO_PICTURE = "a screenshot of the judging page, not made from data; `judgewell serve` shows ours for pairs"

ITEMS = (
    Item("Table 1", "The design of each topic", (), table_1),
    Item("Table 2", "Agreement on documents and on systems", ("systems",), table_2),
    Item("Table 3", "What workers liked, and how accurate they were", ("study",), table_3),
    Item("Table 4", "Pairs of systems that differ significantly", ("systems",), table_4),
    Item("Figure 1", "The judging page", (), unmakable(NO_PICTURE)),
    Item("Figure 2", "Workers for each document", ("study",), figures.figure_2),
    Item("Figure 3", "Scores by expert grade", ("systems",), figures.figure_3),
    Item("Figure 4", "Inconsistent answers", ("study", "workers"), figures.figure_4),
    Item("Figure 5", "Time for a pair", ("workers",), figures.figure_5),
    Item("Figure 6", "Time and length", ("study",), figures.figure_6),
    Item("Figure 7", "How scores settle over partitions", ("study",), figures.figure_7),
)

PAPER = Paper(
    "adcs18",
    "Pairwise crowd judgments: preference, absolute and ratio (ADCS 2018)",
    "Yang, Moffat and Turpin: Pairwise Crowd Judgments: Preference, Absolute, and Ratio. ADCS 2018",
    ITEMS,
    read,
)
