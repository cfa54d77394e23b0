"""How reliable are a machine's labels, compared with people's?"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from judgewell.agreement import machines
from judgewell.agreement.evidence import Evidence, given, has
from judgewell.agreement.section import FILE, OPEN, Get, Need, Section
from judgewell.errors import DataError
from judgewell.text import count, counted, interval, percent, plain

ALPHA = 0.05


def _by_systems(evidence: Evidence, name: str) -> pl.DataFrame:
    if name not in evidence.system_tables:
        raise DataError("needs runs (--runs)")
    return evidence.system_tables[name]


def _both(evidence: Evidence, analysis: Callable[..., pl.DataFrame], *more: str) -> pl.DataFrame:
    """An analysis of people's side and the machines' labels, with what else it takes."""
    if not evidence.machine:
        raise DataError("needs a machine’s labels (--machine)")
    extra = {"lengths": evidence.lengths, "ranks": evidence.system_tables.get("ranks")}
    return analysis(evidence.people, evidence.machine, *(extra[name] for name in more))


def _agreement_finding(table: pl.DataFrame) -> list[str]:
    texts = []
    for row in table.iter_rows(named=True):
        head = f"{row['machine']} and people share {counted(row['documents'], 'document')}"
        if row.get("equal") is None:
            texts.append(f"{head} and order them alike at τ-b = {plain(row['tau_b'])} (mean over topics).")
            continue
        text = f"{head}: {percent(row['equal'])} have equal labels"
        if row.get("weighted_kappa") is not None:
            text += (
                f", weighted κ = {plain(row['weighted_kappa'])} {interval(row['weighted_low'], row['weighted_high'])}"
            )
        off = "higher" if row["bias"] > 0 else "lower"
        around = f" {interval(row['low'], row['high'])}" if row["low"] is not None else ""
        texts.append(f"{text}. Its labels are {plain(abs(row['bias']))} {off} on average (machine − people{around}).")
    return texts


def _alpha_finding(table: pl.DataFrame) -> list[str]:
    texts = []
    for (name,), part in table.group_by("machine", maintain_order=True):
        alone, joined = part["alpha"].to_list()
        if alone is None or joined is None:
            continue
        texts.append(
            f"Krippendorff’s α is {plain(alone)} among people and {plain(joined)} with {name} as one more assessor: "
            f"the machine agrees with people {'less' if joined < alone else 'no less'} than they agree with each other."
        )
    return texts


def _signed(number: float, decimals: int = 2) -> str:
    return f"{number:+.{decimals}f}".replace("-", "−")


def _bias_finding(table: pl.DataFrame) -> list[str]:
    """The length or rank where the machine is most biased, where an interval excludes 0; by grade random errors look
    like bias."""
    texts = []
    sure = table.filter(pl.col("by").is_in(["length", "best rank"]), (pl.col("low") > 0) | (pl.col("high") < 0))
    for (name, by), part in sure.group_by("machine", "by", maintain_order=True):
        row = part.sort(pl.col("bias").abs(), descending=True).row(0, named=True)
        texts.append(
            f"By {by}, {name} is most biased at {row['group']}: {_signed(row['bias'])} "
            f"{interval(row['low'], row['high'])} over {counted(row['documents'], 'document')}."
        )
    return texts


def _position_finding(table: pl.DataFrame) -> list[str]:
    texts = []
    for row in table.filter(pl.col("by") != "people").iter_rows(named=True):
        around = f" {interval(row['low'], row['high'])}" if row["low"] is not None else ""
        text = f"{row['by']} prefers the left document in {percent(row['left'])} of answers{around}"
        if row["both_orders"]:
            kept = f"{percent(row['consistent'])} of {counted(row['both_orders'], 'pair')} shown in both orders"
            text += f"; the same document wins in {kept}"
        texts.append(f"{text}.")
    return texts


def _systems_finding(table: pl.DataFrame) -> list[str]:
    texts = []
    for (measure, name), part in table.group_by("measure", "machine", maintain_order=True):
        sure = part.filter(pl.col("p") < ALPHA) if "p" in part.columns else part.clear()
        favoured = sure.filter(pl.col("favour") > 0).sort("favour", descending=True)
        penalised = sure.filter(pl.col("favour") < 0).sort("favour")
        words = [
            f"{word} {counted(rows.height, 'system')} (most: {rows['system'][0]}, {_signed(rows['favour'][0], 3)})"
            for word, rows in (("favours", favoured), ("penalises", penalised))
            if rows.height
        ]
        mean = float(part["difference"].mean())  # type: ignore[arg-type]
        which = " and ".join(words) if words else "favours no system significantly"
        texts.append(f"{name} changes {measure} by {_signed(mean, 3)} on average over systems, and it {which}.")
    return texts


def _order_finding(table: pl.DataFrame) -> list[str]:
    return [
        f"{row['machine']} and people order systems alike at τ-b = {plain(row['tau_b'])} ({row['measure']}); "
        + (
            f"{row['people_best']} is best under both."
            if row["people_best"] == row["machine_best"]
            else f"the best is {row['people_best']} under people’s gains and {row['machine_best']} under the machine’s."
        )
        for row in table.iter_rows(named=True)
    ]


def _needed_finding(table: pl.DataFrame) -> list[str]:
    texts = []
    for (name,), part in table.group_by("machine", maintain_order=True):
        rows = part.filter(pl.col("width") == 0.02)
        if rows.height:
            row = rows.row(0, named=True)
            texts.append(
                f"±0.02 on the mean gain (range 0 to 1) of {counted(row['documents'], 'document')} needs about "
                f"{counted(row['with_machine'], 'human judgment')} with {name} and {count(row['people_alone'])} "
                "without."
            )
    return texts


_MACHINE = Need(
    "a machine’s labels (--machine) or judgments by a machine",
    lambda e: bool(e.machine) or (has(e.pairs, machines.KIND) and (given(e.pairs)[machines.KIND] == "machine").any()),
)
_PEOPLE = Need("people’s judgments, gains or labels", lambda e: e.has_gains or bool(e.labels) or e.pairs is not None)
_BIAS = "machine by group documents bias low high"

SECTION = Section(
    "people and machines", "how reliable a machine's labels are", "machines", order=25, needs=(_MACHINE, _PEOPLE)
)


@SECTION.table(
    "A machine’s labels against people’s",
    finding=_agreement_finding,
    heads={"weighted_kappa": "weighted κ", "weighted_low": "95 % from", "weighted_high": "95 % to"},
    shown=OPEN,
    across_scales=True,
)
def machine_agreement(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Documents that both have: share of equal, higher and lower labels; bias (machine − people) with its 95 % interval
    over topics; κ, κ with quadratic weights with its interval for other documents; τ-b as the mean over topics.
    Documents that were drawn (column inclusion) count 1/π, here and below, so that the figures are those of all
    documents that the machine labelled."""
    if not evidence.machine:
        raise DataError("needs a machine’s labels (--machine)")
    return machines.agreement(evidence.people, evidence.machine, evidence.replicates, evidence.seed)


@SECTION.table("The machine as one of the assessors", finding=_alpha_finding, shown=OPEN)
def machine_alpha(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Krippendorff’s α on the documents that the machine labelled and two people judged: among people, and with the
    machine as one more assessor, with intervals for other assessors and documents. Every document counts once,
    however it was drawn."""
    if evidence.kind.in_logs:
        raise DataError("magnitudes have no common unit with a machine’s labels")
    return machines.alphas(evidence.compared_judgments(), evidence.machine, evidence.kind.metric)


@SECTION.table(
    "Order of systems under people’s and the machine’s gains", finding=_order_finding, shown=OPEN, across_scales=True
)
def machine_order(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Kendall’s τ-b and τ-AP, the best system under each, the sizes of the sets that contain the best system with 95 %
    confidence, and their overlap (Jaccard). Both sides use the documents that both have; where people’s documents
    were drawn, people’s scores are estimates for all documents."""
    return _by_systems(evidence, "machine_order")


@SECTION.table(
    "Which systems the machine favours",
    finding=_systems_finding,
    heads={"machine_mean": "labels alone", "favour_low": "95 % from", "favour_high": "95 % to"},
    across_scales=True,
)
def machine_systems(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Each system’s mean under people’s and the machine’s gains of the documents that both have (of all documents,
    where people’s were drawn), their difference, and the favour: that difference less its mean over systems. 95 %
    intervals over topics; p of the favour is corrected by Holm over systems."""
    return _by_systems(evidence, "machine_systems")


@SECTION.table("How many human judgments are needed", finding=_needed_finding, across_scales=True)
def machine_needed(evidence: Evidence, get: Get) -> pl.DataFrame:
    """For the mean gain of all documents that the machine labelled (gains in units of their range): human judgments,
    drawn at random, for a 95 % interval of ± width, with the machine’s labels calibrated as on the documents that
    both have, and without. For systems see compare --machine."""
    return _by_systems(evidence, "machine_needed")


@SECTION.table("Where the machine is biased", finding=_bias_finding, columns=_BIAS, across_scales=True)
def machine_bias(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Machine − people by people’s grade, topic, length of the document and its best rank in any run, with 95 %
    intervals over topics. By people’s grade even a machine that errs at random is too high at the bottom and too low
    at the top."""
    return _both(evidence, machines.biases, "lengths", "ranks")


@SECTION.table("Confusion matrix of people and machine", across_scales=True)
def machine_confusion(evidence: Evidence, get: Get) -> pl.DataFrame:
    """How many documents of each of people’s grades got each label; the share is of people’s grade."""
    return _both(evidence, machines.confusions)


@SECTION.table("Position bias on pairs", finding=_position_finding, across_scales=True)
def machine_position(evidence: Evidence, get: Get) -> pl.DataFrame:
    """How often the left document is preferred, with its 95 % interval over topics, and how often the same document
    wins when one assessor sees a pair in both orders."""
    return machines.pair_positions(given(evidence.pairs, "pairs"))


@SECTION.table("Documents for people to look at first", shown=FILE, across_scales=True)
def machine_first_looks(evidence: Evidence, get: Get) -> pl.DataFrame:
    """Documents that only the machine labelled, by the chance that people would differ, times the number of runs that
    rank them among the first ten. Expected is people’s mean gain at this label."""
    return _both(evidence, machines.first_looks, "ranks")
