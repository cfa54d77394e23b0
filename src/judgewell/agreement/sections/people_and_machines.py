"""How far can a machine's labels be believed, beside people's?"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from judgewell.agreement import machines
from judgewell.agreement.evidence import Evidence, given, has
from judgewell.agreement.section import FILE, OPEN, Compute, Need, Section, Table
from judgewell.errors import DataError
from judgewell.text import count, counted, interval, percent, plain

ALPHA = 0.05


def _by_systems(name: str) -> Compute:
    def compute(evidence: Evidence, _: object) -> pl.DataFrame:
        if name not in evidence.system_tables:
            raise DataError("needs runs (--runs)")
        return evidence.system_tables[name]

    return compute


def _both(analysis: Callable[..., pl.DataFrame], *more: str) -> Compute:
    """An analysis of people's side and the machines' labels, with what else it takes."""

    def compute(evidence: Evidence, _: object) -> pl.DataFrame:
        if not evidence.machine:
            raise DataError("needs a machine’s labels (--machine)")
        extra = {"lengths": evidence.lengths, "ranks": evidence.system_tables.get("ranks")}
        return analysis(evidence.people, evidence.machine, *(extra[name] for name in more))

    return compute


def _agreement(evidence: Evidence) -> pl.DataFrame:
    if not evidence.machine:
        raise DataError("needs a machine’s labels (--machine)")
    return machines.agreement(evidence.people, evidence.machine, evidence.replicates, evidence.seed)


def _alphas(evidence: Evidence) -> pl.DataFrame:
    judged = given(evidence.judgments)
    if evidence.kind.in_logs:
        raise DataError("magnitudes have no common unit with a machine’s labels")
    return machines.alphas(judged, evidence.machine, evidence.kind.metric)


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
_BIAS = ("machine", "by", "group", "documents", "bias", "low", "high")

SECTION = Section(
    name="people and machines",
    about="how far a machine's labels can be believed",
    part="machines",
    order=25,
    needs=(_MACHINE, _PEOPLE),
    tables=(
        Table(
            name="machine_agreement",
            title="A machine’s labels against people’s",
            caption="Documents that both have: share of equal, higher and lower labels; bias (machine − people) with "
            "its 95 % interval over topics; κ, κ with quadratic weights with its interval for other documents; τ-b as "
            "the mean over topics. Documents that were drawn (column inclusion) count 1/π, here and below, so that the "
            "figures are those of all documents that the machine labelled.",
            compute=lambda e, get: _agreement(e),
            finding=_agreement_finding,
            heads={"weighted_kappa": "weighted κ", "weighted_low": "95 % from", "weighted_high": "95 % to"},
            shown=OPEN,
            across_scales=True,
        ),
        Table(
            name="machine_alpha",
            title="The machine as one of the assessors",
            caption="Krippendorff’s α on the documents that the machine labelled and two people judged: among people, "
            "and with the machine as one more assessor, with intervals for other assessors and documents. Every "
            "document counts once, however it was drawn.",
            compute=lambda e, get: _alphas(e),
            finding=_alpha_finding,
            shown=OPEN,
        ),
        Table(
            name="machine_order",
            title="Order of systems under people’s and the machine’s gains",
            caption="Kendall’s τ-b and τ-AP, the best system under each, the sizes of the sets that contain the best "
            "system with 95 % confidence, and their overlap (Jaccard). Both sides use the documents that both have; "
            "where people’s documents were drawn, people’s scores are estimates for all documents.",
            compute=_by_systems("machine_order"),
            finding=_order_finding,
            shown=OPEN,
            across_scales=True,
        ),
        Table(
            name="machine_systems",
            title="Which systems the machine favours",
            caption="Each system’s mean under people’s and the machine’s gains of the documents that both have (of all "
            "documents, where people’s were drawn), their difference, and the favour: that difference less its mean "
            "over systems. 95 % intervals over topics; p of the favour is corrected by Holm over systems.",
            compute=_by_systems("machine_systems"),
            finding=_systems_finding,
            heads={"machine_mean": "labels alone", "favour_low": "95 % from", "favour_high": "95 % to"},
            across_scales=True,
        ),
        Table(
            name="machine_needed",
            title="How many human judgments are needed",
            caption="For the mean gain of all documents that the machine labelled (gains in units of their range): "
            "human judgments, drawn at random, for a 95 % interval of ± width, with the machine’s labels calibrated as "
            "on the documents that both have, and without. For systems see compare --machine.",
            compute=_by_systems("machine_needed"),
            finding=_needed_finding,
            across_scales=True,
        ),
        Table(
            name="machine_bias",
            title="Where the machine is biased",
            caption="Machine − people by people’s grade, topic, length of the document and its best rank in any run, "
            "with 95 % intervals over topics. By people’s grade even a machine that errs at random is too high at the "
            "bottom and too low at the top.",
            compute=_both(machines.biases, "lengths", "ranks"),
            finding=_bias_finding,
            columns=_BIAS,
            across_scales=True,
        ),
        Table(
            name="machine_confusion",
            title="Confusion matrix of people and machine",
            caption="How many documents of each of people’s grades got each label; the share is of people’s grade.",
            compute=_both(machines.confusions),
            across_scales=True,
        ),
        Table(
            name="machine_position",
            title="Position bias on pairs",
            caption="How often the left document is preferred, with its 95 % interval over topics, and how often the "
            "same document wins when one assessor sees a pair in both orders.",
            compute=lambda e, get: machines.pair_positions(given(e.pairs, "pairs")),
            finding=_position_finding,
            across_scales=True,
        ),
        Table(
            name="machine_first_looks",
            title="Documents for people to look at first",
            caption="Documents that only the machine labelled, by the chance that people would differ, times the "
            "number of runs that rank them among the first ten. Expected is people’s mean gain at this label.",
            compute=_both(machines.first_looks, "ranks"),
            shown=FILE,
            across_scales=True,
        ),
    ),
)
