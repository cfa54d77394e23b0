"""Turpin, Scholer, Mizzaro and Maddalena, SIGIR 2015: the tables, and all items by number."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from judgewell.comparison.profiles import side_by_side
from judgewell.errors import note
from judgewell.papers import sigir15_figures as figures
from judgewell.papers.data import Crowd
from judgewell.papers.items import Item, Made, Paper, beside
from judgewell.papers.sigir15_data import CUT, ERR, MEASURES, Data, read, scores_under, sides
from judgewell.reports.parts import Grid

UNIT, REDUNDANCY, KNOWN = 8, 10, 2  # documents of a unit, judgments of a document, known documents of a unit


def table_1(data: Data) -> Made:
    """Table 1: topics, documents, units and known documents; how many units the rule asks for (§3.2)."""
    judgments = data.crowd.judgments
    flagged = "known" in judgments.columns
    flags = [
        pl.col("doc").filter(pl.col("known") == flag).unique().sort().str.join(" ").alias(f"known {flag}")
        for flag in "HN"
    ]
    frame = (
        judgments.group_by("topic")
        .agg(
            *(flags if flagged else []),
            documents=pl.col("doc").n_unique().cast(pl.Int64),
            units=pl.struct("unit", "assessor").n_unique().cast(pl.Int64),
            judgments=pl.len().cast(pl.Int64),
            assessors=pl.col("assessor").n_unique().cast(pl.Int64),
        )
        .sort("topic")
        .with_columns(needed=(REDUNDANCY * (pl.col("documents") - KNOWN) / (UNIT - KNOWN)).ceil().cast(pl.Int64))
    )
    known = [name for name in ("known H", "known N") if name in frame.columns]
    frame = frame.select("topic", "documents", "units", "needed", "judgments", "assessors", *known)
    went = judged_units(data.crowd)
    if went is not None:
        frame = frame.join(_how_often(went), on="topic", how="left", maintain_order="left")
    units = int(frame["units"].sum())
    printed = beside(
        "table-1",
        [
            ("documents (with their topic)", 4269, int(frame["documents"].sum())),
            ("units", 7059, units),
            ("units that the rule asks for", 7059, int(frame["needed"].sum())),
            ("judgments", 56472, int(frame["judgments"].sum())),
            ("cost in dollars at 0.20 a unit and a fee of 20 %", 1700, units * 0.20 * 1.2),
            ("judged by NIST, share of documents", 3881 / 4269, _share(data.crowd.binary, frame)),
            ("judged by Sormunen, share of documents", 805 / 4269, _share(data.crowd.graded, frame)),
            ("units in which the assessor went back, share (printed: fewer than)", 0.03, _times(went, "backs")),
            ("units that failed a check and were revised, share (printed: fewer than)", 0.1, _times(went, "revisions")),
        ],
        same=data.crowd.same,
    )
    grid = Grid(
        "table-1",
        "Topics, documents and units",
        "What was judged for each topic; needed is ⌈10·(n − 2)/6⌉ units."
        + (
            ""
            if went is None
            else " Back 1 and revised 1 count the units in which the assessor went back once, or revised answers once "
            "after a failed check; 2+ those where it was more often."
        ),
        frame,
    )
    unseen = "" if went is not None else "give an export's units.csv (--units) for them; "
    notes = (
        f"The paper's table also counts how often assessors went back and failed checks; {unseen}the table's values "
        "are lost in the text at hand.",
        "The paper rounds: “around $1,700”, “more than 50,000” judgments, “around 19 %” with a Sormunen grade.",
    )
    return Made((grid,), printed, notes)


def judged_units(crowd: Crowd) -> pl.DataFrame | None:
    """The units whose judgments count, with their back clicks and revisions; nothing without a table of units."""
    if crowd.units is None:
        return None
    judged = crowd.judgments.select("topic", "unit").unique()
    units = judged.join(crowd.units, on=["topic", "unit"])
    if units.height < judged.height:
        note(f"{judged.height - units.height} of {judged.height} units are not in the table of units")
    return units


def _how_often(units: pl.DataFrame) -> pl.DataFrame:
    """Per topic in how many units the assessor went back, and revised answers, once and more often."""
    times = {"back": pl.col("backs"), "revised": pl.col("revisions")}
    once = [(count == 1).sum().cast(pl.Int64).alias(f"{name} 1") for name, count in times.items()]
    more = [(count > 1).sum().cast(pl.Int64).alias(f"{name} 2+") for name, count in times.items()]
    return units.group_by("topic").agg(once[0], more[0], once[1], more[1])


def _times(units: pl.DataFrame | None, name: str) -> float | None:
    """The share of units in which it happened at least once."""
    return None if units is None or units.is_empty() else float((units[name] > 0).sum()) / units.height


def _share(labels: pl.DataFrame | None, frame: pl.DataFrame) -> float | None:
    return None if labels is None else labels.height / int(frame["documents"].sum())


MAPPINGS: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "10·C": lambda grade: 10 * grade,
    "C + 1": lambda grade: grade + 1,
    "C + 10": lambda grade: grade + 10,
    "C^1.5": lambda grade: grade**1.5,
    "2^C": lambda grade: 2**grade,
    "2^C − 1": lambda grade: 2**grade - 1,
    "10^C": lambda grade: 10**grade,
    "100^C": lambda grade: 100**grade,
}


def table_2(data: Data) -> Made:
    """Table 2: the order of simulated systems under other gains for the same grades, against G = C (§5.2)."""
    one = data.collection
    runs = data.simulated(one)
    sets = {"C": one.graded} | {
        name: one.graded.with_columns(gain=mapping(pl.col("gain"))) for name, mapping in MAPPINGS.items()
    }
    columns: dict[str, list[float]] = {}
    for measure in MEASURES:
        table = side_by_side(scores_under(runs, sets, measure), common=True).filter(pl.col("first") == "C")
        columns[measure] = table["tau_b"].to_list()
    frame = pl.DataFrame({"gain": list(MAPPINGS), **columns})
    caption = (
        "Kendall's τ-b between the order of simulated systems with the grade C itself as gain and with each mapping "
        "of it."
    )
    grid = Grid("table-2", "Gains made from grades", caption, frame)
    printed = beside(
        "table-2",
        [("10·C, nDCG@10: multiplication changes nothing", 1.0, columns["nDCG@10"][0])],
        "The paper's text says so; the table's own rows are lost in the text at hand.",
        same=one.same,
    )
    notes = (
        "Which mappings the paper tried is lost but for two remarks: the first row changes ERR and not nDCG (a "
        "multiplication), the last is wide and changes nDCG. These are ours.",
        "The gain that satisfies for certain in ERR is each topic's largest; the paper does not say which it took.",
    )
    return Made((grid,), printed, notes)


def table_3(data: Data) -> Made:
    """Table 3: narrow, wide and all units: τ and overlap of the top sets with TREC's and Sormunen's labels (§5.2)."""
    sets = sides(data)
    rows = []
    for labels, gains, runs in (
        ("TREC", data.study.two_valued, data.study.runs),
        ("Sormunen", data.study.expert, data.simulated(data.study)),
    ):
        for measure in MEASURES:
            table = side_by_side(scores_under(runs, {labels: gains} | sets, measure), test="wilcoxon", common=True)
            for row in table.filter(pl.col("first") == labels).iter_rows(named=True):
                rows.append(
                    {
                        "labels": labels,
                        "measure": measure,
                        "units": row["second"],
                        "tau": row["tau_b"],
                        "overlap": row["top_jaccard"],
                        "share of labels' top set": row["top_share"],
                    }
                )
    frame = pl.DataFrame(rows)
    printed = [
        ("TREC, nDCG@10: τ", 0.81, "TREC", "nDCG@10", "tau"),
        ("Sormunen, nDCG@10: τ", 0.53, "Sormunen", "nDCG@10", "tau"),
        ("TREC, nDCG@10: overlap", 0.44, "TREC", "nDCG@10", "overlap"),
        ("TREC, ERR@10: overlap", 0.76, "TREC", ERR, "overlap"),
        ("Sormunen, nDCG@10: overlap", 0.51, "Sormunen", "nDCG@10", "overlap"),
        ("Sormunen, ERR@10: overlap", 0.81, "Sormunen", ERR, "overlap"),
    ]
    pick = [(what, value, _cell(frame, labels, measure, column)) for what, value, labels, measure, column in printed]
    caption = (
        "Kendall's τ-b and the overlap of top sets (Jaccard) between labels and gains from units with H/N below "
        f"{CUT:g} (narrow), of {CUT:g} or more (wide), and from all."
    )
    grid = Grid("table-3", "Narrow, wide and all units", caption, frame)
    notes = (
        "“Overlap” of top sets is not defined in the paper: the share of the union (Jaccard) is shown first, the "
        "share of the labels' own top set beside it.",
        "The paper does not name its variant of Kendall's τ; this is τ-b.",
    )
    return Made((grid,), beside("table-3", pick, same=data.study.same), notes)


def _cell(frame: pl.DataFrame, labels: str, measure: str, column: str) -> float | None:
    rows = frame.filter((pl.col("labels") == labels) & (pl.col("measure") == measure) & (pl.col("units") == "all"))
    return None if rows.is_empty() else rows[column][0]


ITEMS = (
    Item("Table 1", "Topics, documents and units", ("crowd",), table_1),
    Item("Table 2", "Other gains for the same grades", ("collection",), table_2),
    Item("Table 3", "Systems under narrow and wide units", ("study",), table_3),
    Item("Figure 1", "Magnitudes by expert grade", ("crowd",), figures.figure_1),
    Item("Figure 2", "Magnitudes by expert grade, topic by topic", ("crowd",), figures.figure_2),
    Item("Figure 3", "Order agreement of documents", ("crowd",), figures.figure_3),
    Item("Figure 4", "Systems under binary labels and magnitudes", ("collection",), figures.figure_4),
    Item("Figure 5", "Simulated systems under grades and magnitudes", ("collection",), figures.figure_5),
    Item("Figure 6", "τ with one random score for each document", ("study",), figures.figure_6),
    Item("Figure 7", "How wide units are", ("crowd",), figures.figure_7),
    Item("Figure 8", "Gains of the grades", ("crowd",), figures.figure_8),
    Item("Figure 9", "Highly relevant against relevant documents", ("crowd",), figures.figure_9),
)

PAPER = Paper(
    "sigir15",
    "Benefits of magnitude estimation (SIGIR 2015)",
    "Turpin, Scholer, Mizzaro and Maddalena: The Benefits of Magnitude Estimation Relevance Assessments for "
    "Information Retrieval Evaluation. SIGIR 2015",
    ITEMS,
    read,
)
