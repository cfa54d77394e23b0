"""How reliable a machine's labels are: against people's, by grade, topic, length and rank, and on pairs.

People's side of a document is one number: its gain, or the lower median of people's judgments. Bias is the mean of
machine − people over documents; its interval comes from leaving out each topic in turn. Where people's documents were
drawn with known probabilities (column inclusion), every document counts 1/π, so that the figures are those of all
documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from judgewell.agreement import alpha, confusion, kappa
from judgewell.agreement.common import DOCUMENT, gains_of, judgments_of, pairs_of, with_number
from judgewell.errors import DataError, note
from judgewell.stats.arrays import Floats
from judgewell.stats.resampling import jackknife_variance
from judgewell.tables import INCLUSION

MACHINE = "machine"
KIND = "assessor_kind"
LEAST_TOPICS = 5
FEW_GRADES = 20  # labels with more values have an order, but no grades to compare
PRIOR = 5.0  # documents that a machine grade's own rate counts for beside a topic's
FIRST_LOOKS = 100  # documents listed of each machine
RANKS, DEEP, DEEPER = {"1 to 3": 3, "4 to 10": 10, "11 to 30": 30}, 30, "deeper or never"


def split_machines(
    judgments: pl.DataFrame | None,
) -> tuple[pl.DataFrame | None, dict[str, pl.DataFrame]]:
    """The judgments by people (and synthetic assessors), and each machine's as a label set."""
    if judgments is None or KIND not in judgments.columns:
        return judgments, {}
    by_machine = (pl.col(KIND) == MACHINE).fill_null(False)
    labels = {}
    for (name,), part in judgments.filter(by_machine).group_by("assessor", maintain_order=True):
        table = part.group_by(DOCUMENT, maintain_order=True).agg(gain=pl.col("value").mean())
        labels[str(name)] = gains_of(table)
    if not labels:
        return judgments, {}
    people = judgments.filter(~by_machine)
    note(
        f"{judgments.height - people.height} judgments by {len(labels)} machine assessors are compared with people's "
        "and excluded from all other analyses"
    )
    return (people if people.height else None), labels


def people_of(judgments: pl.DataFrame) -> pl.DataFrame:
    """The lower median of each document's judgments: always a value that somebody gave."""
    middle = pl.col("value").quantile(0.5, "lower")
    medians = judgments_of(judgments).group_by(DOCUMENT, maintain_order=True).agg(gain=middle)
    return with_inclusion(medians, judgments)


def with_inclusion(gains: pl.DataFrame, source: pl.DataFrame) -> pl.DataFrame:
    """The gains with the probability with which each document was drawn, where `source` has some below 1."""
    name = INCLUSION.name
    if name not in source.columns or not (source[name] < 1).any():
        return gains
    drawn = source.select(*DOCUMENT, name).drop_nulls().unique(DOCUMENT, maintain_order=True)
    return gains.join(drawn, on=DOCUMENT, how="left", maintain_order="left")


def beside(people: pl.DataFrame, machine: pl.DataFrame) -> pl.DataFrame:
    """The documents that both have: topic, doc, people, machine, weight (1/π where documents were drawn, else 1)."""
    both = (
        with_inclusion(gains_of(people), people)
        .rename({"gain": "people"})
        .join(gains_of(machine).rename({"gain": "machine"}), on=DOCUMENT, maintain_order="left")
    )
    if INCLUSION.name in both.columns:
        missing = both[INCLUSION.name].null_count()
        if missing:
            note(
                f"{missing:,} documents that people judged were not drawn (no inclusion) and are excluded, such as "
                "known ones"
            )
        both = both.drop_nulls(INCLUSION.name).with_columns(weight=1 / pl.col(INCLUSION.name)).drop(INCLUSION.name)
    else:
        both = both.with_columns(weight=pl.lit(1.0))
    if both.is_empty():
        raise DataError("people and machine share no document")
    return both


def each_machine(people: pl.DataFrame, machines: Mapping[str, pl.DataFrame]) -> Iterator[tuple[str, pl.DataFrame]]:
    """Every machine with the documents it shares with people; one that shares none is reported."""
    shared = 0
    for name, labels in machines.items():
        try:
            both = beside(people, labels)
        except DataError as reason:
            note(f"{name} is excluded: {reason}")
            continue
        shared += 1
        yield name, both
    if not shared:
        raise DataError("people and machine share no document")


def same_scale(both: pl.DataFrame, people: pl.DataFrame) -> bool:
    """Whether the machine's labels lie on people's scale, so that differences mean something; of whole grades people
    may not have given the lowest or highest one."""
    low, high = float(people["gain"].min()), float(people["gain"].max())  # type: ignore[arg-type]
    whole = pl.concat([both["machine"], people["gain"].alias("machine")])
    spare = 1.0 if (whole == whole.round()).all() and high - low > 1 else 0.0
    return bool(both["machine"].is_between(low - spare, high + spare).all())


def agreement(people: pl.DataFrame, machines: Mapping[str, pl.DataFrame], replicates: int, seed: int) -> pl.DataFrame:
    """One row for each machine: equal, higher and lower labels, bias, κ, weighted κ and τ-b; documents count 1/π."""
    rows = []
    for name, both in each_machine(people, machines):
        gap, weight = both["machine"] - both["people"], both["weight"].to_numpy()
        row: dict[str, Any] = {"machine": name, "documents": both.height, "topics": both["topic"].n_unique()}
        if same_scale(both, people):
            sides = {"equal": gap == 0, "higher": gap > 0, "lower": gap < 0}
            row |= {side: float(np.average(which.to_numpy(), weights=weight)) for side, which in sides.items()}
            row |= cluster_mean(gap.to_numpy(), both)
            row |= _kappas(both, replicates, seed)
        else:
            low, high = float(both["machine"].min()), float(both["machine"].max())  # type: ignore[arg-type]
            note(f"{name} labels from {low:g} to {high:g}, outside people's scale, so only its order is compared")
        rows.append(row | {"tau_b": _tau_b(both)})
    return pl.DataFrame(rows, infer_schema_length=None)


def _tau_b(both: pl.DataFrame) -> float | None:
    """The mean over topics of τ-b; a pair of documents counts the product of their weights."""
    taus = []
    for _, part in both.group_by("topic", maintain_order=True):
        x, y, weight = (part[name].to_numpy() for name in ("people", "machine", "weight"))
        first, second = (np.sign(values[:, None] - values) for values in (x, y))
        pairs = np.outer(weight, weight)
        spread = float((pairs * first**2).sum() * (pairs * second**2).sum())
        if spread > 0:
            taus.append(float((pairs * first * second).sum()) / np.sqrt(spread))
    return float(np.mean(taus)) if taus else None


def _kappas(both: pl.DataFrame, replicates: int, seed: int) -> dict[str, float | None]:
    x, y, weight = (both[name].to_numpy() for name in ("people", "machine", "weight"))
    simple, weighted = (
        kappa.weighted_kappa(x, y, weight, kind, replicates, np.random.default_rng(seed))
        for kind in ("none", "quadratic")
    )
    if simple["kappa"] is None:
        return {}
    ends = {f"weighted_{name}": weighted[name] for name in ("kappa", "low", "high")}
    return {"kappa": simple["kappa"], **ends}


def cluster_mean(values: Floats, both: pl.DataFrame) -> dict[str, float | None]:
    """The mean over documents with its 95 % interval over topics (delete-one jackknife; none under 5 topics).

    Documents count by the column weight, where there is one.
    """
    from scipy.special import stdtrit

    topic = with_number(both, ["topic"], "number")["number"].to_numpy()
    weight = both["weight"].to_numpy() if "weight" in both.columns else np.ones(len(values))
    sums, counts = np.bincount(topic, values * weight), np.bincount(topic, weight)
    sums, counts = sums[counts > 0], counts[counts > 0]
    mean, topics = _rounded(float(sums.sum() / counts.sum()), values), len(counts)
    if topics < LEAST_TOPICS:
        return {"bias": mean, "low": None, "high": None}
    without = (sums.sum() - sums) / (counts.sum() - counts)
    half = float(stdtrit(topics - 1, 0.975) * np.sqrt(jackknife_variance(without)))
    return {"bias": mean, "low": mean - half, "high": mean + half}


def _rounded(mean: float, values: Floats) -> float:
    """A mean of which only the error of floating point is left is 0."""
    return 0.0 if abs(mean) < 1e-12 * float(np.abs(values).max(initial=0.0)) else mean


def _document_mean(values: Floats, weight: Floats) -> dict[str, float | None]:
    """The mean over the documents of one topic with Student's 95 % interval, by their weights."""
    from scipy.special import stdtrit

    share = weight / weight.sum()
    mean, size = _rounded(float(values @ share), values), len(values)
    if size < 2:
        return {"bias": mean, "low": None, "high": None}
    spread = float(np.square(share * (values - mean)).sum()) * size / (size - 1)  # s²/n where weights are equal
    half = float(stdtrit(size - 1, 0.975) * np.sqrt(spread))
    return {"bias": mean, "low": mean - half, "high": mean + half}


def alphas(judgments: pl.DataFrame, machines: Mapping[str, pl.DataFrame], metric: str) -> pl.DataFrame:
    """Krippendorff's α of people on the documents that a machine labelled, and with the machine as one more."""
    people = judgments_of(judgments).select(*DOCUMENT, "assessor", "value")
    if people["assessor"].null_count():
        raise DataError("α with the machine as one of the assessors needs assessors' names")
    rows = []
    for name, labels in machines.items():
        shared = people.join(gains_of(labels).select(DOCUMENT), on=DOCUMENT, how="semi")
        several = shared.filter(pl.col("assessor").n_unique().over(DOCUMENT) > 1)
        if several.is_empty():
            note(f"{name} is excluded: it labelled no document that two people judged")
            continue
        own = gains_of(labels).join(several.select(DOCUMENT).unique(), on=DOCUMENT, how="semi")
        machine = own.select(*DOCUMENT, assessor=pl.lit(f"machine {name}"), value="gain")
        sides = {"people": several, "people and machine": pl.concat([several, machine])}
        for who, frame in sides.items():
            row = alpha.krippendorff_alpha(frame, metric).row(0, named=True)
            kept = ("alpha", "low", "high", "assessors", "documents", "note")
            rows.append({"machine": name, "among": who} | {key: row.get(key) for key in kept})
    if not rows:
        raise DataError("no machine labelled a document that two people judged")
    return pl.DataFrame(rows, infer_schema_length=None)


def confusions(people: pl.DataFrame, machines: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """How many documents of each of people's grades got each label; the share is of people's grade, by weight."""
    parts = []
    for name, both in each_machine(people, machines):
        sets = {"people": both.select(*DOCUMENT, gain="people"), name: both.select(*DOCUMENT, gain="machine")}
        table = confusion.label_confusion(sets).rename({"second": "machine", "grade": "people", "other": "label"})
        weight = both.group_by("people", label="machine").agg(pl.col("weight").sum())
        table = table.join(weight, on=["people", "label"], how="left", maintain_order="left")
        share = pl.col("weight").fill_null(0.0) / pl.col("weight").sum().over("people")
        parts.append(table.select("machine", "people", "label", "documents", share=share))
    return pl.concat(parts)


def biases(
    people: pl.DataFrame, machines: Mapping[str, pl.DataFrame], lengths: pl.DataFrame | None, ranks: pl.DataFrame | None
) -> pl.DataFrame:
    """The machine's bias by people's grade, by topic, by length and by the best rank in any run."""
    rows = []
    for name, both in each_machine(people, machines):
        if not same_scale(both, people):
            note(f"{name} is excluded: its labels are not on people's scale")
            continue
        for by, groups in _groups(both, lengths, ranks).items():
            for group in groups.unique().drop_nulls().sort():
                part = both.filter((groups == group).fill_null(False))
                gap = (part["machine"] - part["people"]).to_numpy()
                words = f"{group:g}" if isinstance(group, float) else str(group)
                row = {"machine": name, "by": by, "group": words, "documents": part.height}
                rows.append(
                    row | (_document_mean(gap, part["weight"].to_numpy()) if by == "topic" else cluster_mean(gap, part))
                )
    if not rows:
        raise DataError("no machine's labels are on people's scale")
    return pl.DataFrame(rows, infer_schema_length=None)


def _groups(both: pl.DataFrame, lengths: pl.DataFrame | None, ranks: pl.DataFrame | None) -> dict[str, pl.Series]:
    """What documents are grouped by: a value for each of them."""
    groups: dict[str, pl.Series] = {}
    if both["people"].n_unique() <= FEW_GRADES:
        groups["people’s grade"] = both["people"]
    if lengths is not None:
        words = both.join(lengths, on="doc", how="left", maintain_order="left")["length"]
        thirds = [words.quantile(share) for share in (1 / 3, 2 / 3)]
        if words.null_count() < both.height and None not in thirds:
            names = [f"up to {thirds[0]:g} words", f"up to {thirds[1]:g} words", f"more than {thirds[1]:g} words"]
            place = (words > thirds[0]).cast(pl.Int8) + (words > thirds[1]).cast(pl.Int8)
            named = place.replace_strict(range(3), names, default=None, return_dtype=pl.String)
            groups["length"] = named.cast(pl.Enum(list(dict.fromkeys(names))))  # in this order
    if ranks is not None:
        best = both.join(ranks, on=DOCUMENT, how="left", maintain_order="left")["rank"].fill_null(DEEP + 1)
        places = np.searchsorted(list(RANKS.values()), best.to_numpy())
        groups["best rank"] = pl.Series(np.array([*RANKS, DEEPER])[places], dtype=pl.Enum([*RANKS, DEEPER]))
    return groups | {"topic": both["topic"]}


def first_looks(
    people: pl.DataFrame, machines: Mapping[str, pl.DataFrame], ranks: pl.DataFrame | None, most: int = FIRST_LOOKS
) -> pl.DataFrame:
    """The documents that people have not judged and where the machine is most likely wrong, times how many runs rank
    them among the first ten.

    P(wrong) is the share of the machine's labels of this grade in this topic that differ from people's, drawn towards
    the share over all topics: (k + 5 p) / (n + 5).
    """
    parts = []
    for name, both in each_machine(people, machines):
        if both["machine"].n_unique() > FEW_GRADES or not same_scale(both, people):
            note(f"{name} is excluded: its labels are not people's grades")
            continue
        wrong = both.with_columns(wrong=(pl.col("machine") != pl.col("people")).cast(pl.Float64))
        own = pl.col("weight") / pl.col("weight").sum()
        grade = wrong.group_by("machine").agg(p=(pl.col("wrong") * own).sum(), expected=(pl.col("people") * own).sum())
        shares = pl.len() * pl.col("weight") / pl.col("weight").sum()  # 1 where weights are equal
        cell = wrong.group_by("topic", "machine").agg(k=(pl.col("wrong") * shares).sum(), n=pl.len())
        rest = gains_of(machines[name]).rename({"gain": "machine"}).join(both, on=DOCUMENT, how="anti")
        rest = rest.join(grade, on="machine").join(cell, on=["topic", "machine"], how="left")
        chance = (pl.col("k").fill_null(0.0) + PRIOR * pl.col("p")) / (pl.col("n").fill_null(0) + PRIOR)
        rest = rest.with_columns(wrong=chance)
        if ranks is not None:
            rest = rest.join(ranks.select(*DOCUMENT, "systems"), on=DOCUMENT, how="left")
            rest = rest.with_columns(pl.col("systems").fill_null(0)).sort(
                pl.col("wrong") * pl.col("systems"), "topic", "doc", descending=[True, False, False]
            )
        else:
            rest = rest.sort("wrong", "topic", "doc", descending=[True, False, False])
        kept = ["topic", "doc", "machine", "expected", "wrong", *(["systems"] if ranks is not None else [])]
        parts.append(rest.head(most).select(pl.lit(name).alias("labels"), *kept).rename({"machine": "label"}))
    if not parts or all(part.is_empty() for part in parts):
        raise DataError("people have judged every document that the machine labelled")
    return pl.concat(parts).rename({"labels": "machine"})


def pair_positions(pairs: pl.DataFrame) -> pl.DataFrame:
    """How often each machine, and people, prefer the left document, and how often an answer stays when sides change.

    A pair shown in both orders to one assessor is consistent if the same document wins; "same" counts half.
    """
    frame = pairs_of(pairs)
    if KIND not in frame.columns or not (frame[KIND] == MACHINE).any():
        raise DataError("no pair was answered by a machine (column assessor_kind)")
    by_machine = (pl.col(KIND) == MACHINE).fill_null(False)
    side = pl.col("preferred").replace_strict({"left": 1.0, "right": 0.0, "same": 0.5}, default=None)
    frame = frame.filter(pl.col("preferred").is_not_null()).with_columns(
        who=pl.when(by_machine).then(pl.format("{}", "assessor")).otherwise(pl.lit("people")), left_share=side
    )
    rows = []
    for (who,), part in frame.group_by("who", maintain_order=True):
        share, answers = float(part["left_share"].mean()), part.height  # type: ignore[arg-type]
        topics = cluster_mean(part["left_share"].to_numpy(), part)
        turned, kept = _both_orders(part)
        rows.append(
            {"by": who, "answers": answers, "left": share, "low": topics["low"], "high": topics["high"],
             "both_orders": turned, "consistent": kept / turned if turned else None}
        )  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _both_orders(part: pl.DataFrame) -> tuple[int, float]:
    """How many pairs one assessor saw in both orders, and in how many the same document won."""
    first = pl.min_horizontal("left", "right")
    won = pl.when(pl.col("left") == first).then(pl.col("left_share")).otherwise(1 - pl.col("left_share"))
    sides = part.with_columns(
        one=first, two=pl.max_horizontal("left", "right"), won=won, turned=pl.col("left") == first
    )
    keys = ["topic", "one", "two", "assessor"]
    pairs = sides.group_by(keys).agg(
        orders=pl.col("turned").n_unique(), spread=pl.col("won").max() - pl.col("won").min()
    )
    both = pairs.filter(pl.col("orders") == 2)
    return both.height, float((1 - both["spread"]).sum())
