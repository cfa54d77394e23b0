"""Agree, disagree, unknown: how far any number of label sets put the same documents in the same order.

Over all pairs of documents of a topic that both sets label: A = same strict order, D = opposite order, U = tied in
either; A + D + U = 1 and A − D is Kendall's tau-a (Yang, Moffat & Turpin 2018, Table 2).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import polars as pl

from judgewell.agreement.common import gains_of, with_number
from judgewell.errors import DataError, InputError, note
from judgewell.stats.concordance import count_concordance

COUNTS = ["pairs", "agree", "disagree", "unknown"]


def concordance_by_topic(label_sets: Mapping[str, Any]) -> pl.DataFrame:
    """Per topic and pair of label sets: the document pairs both label, counted and as shares, with tau-a and tau-b."""
    if len(label_sets) < 2:
        raise InputError(f"{len(label_sets)} label set cannot be compared", cure="give two or more, each with its name")
    checked = {name: gains_of(labels) for name, labels in label_sets.items()}
    parts = [_compare(checked[first], checked[second], first, second) for first, second in combinations(label_sets, 2)]
    table = pl.concat(parts)
    if table.is_empty():
        raise DataError("no two label sets share two documents of a topic")
    return table


def concordance(label_sets: Mapping[str, Any]) -> pl.DataFrame:
    """Per pair of label sets: shares over all document pairs (micro) and as the mean over topics (macro)."""
    topics = concordance_by_topic(label_sets)
    compared = topics.select("first", "second").unique().rows()
    lost = [pair for pair in combinations(label_sets, 2) if pair not in compared]
    for first, second in lost:
        note(f"{first} and {second} share no two documents of a topic and are not compared")
    shares = [(pl.col(name).sum() / pl.col("pairs").sum()).alias(f"micro_{name}") for name in COUNTS[1:]]
    means = [pl.col(f"{name}_share").mean().alias(f"macro_{name}") for name in COUNTS[1:]]
    return topics.group_by("first", "second", maintain_order=True).agg(
        pl.len().alias("topics"),
        *[pl.col(name).sum() for name in COUNTS],
        *shares,
        *means,
        micro_tau_a=(pl.col("agree").sum() - pl.col("disagree").sum()) / pl.col("pairs").sum(),
        macro_tau_a=pl.col("tau_a").mean(),
        macro_tau_b=pl.col("tau_b").mean(),
    )


def correlation(gains: Any, labels: Any) -> pl.DataFrame:
    """How far gains follow labels of any values: Kendall's τ-b and Spearman's ρ, each the mean over topics."""
    both = gains_of(gains).join(gains_of(labels), on=["topic", "doc"], suffix="_label", maintain_order="left")
    both = both.filter(pl.len().over("topic") > 1)
    if both.is_empty():
        raise DataError("gains and labels share no two documents of a topic")
    topics = _compare(gains_of(gains), gains_of(labels), "gains", "labels")
    ranks = [pl.col(name).rank("average").over("topic") for name in ("gain", "gain_label")]
    rho = both.with_columns(ranks).group_by("topic").agg(rho=pl.corr("gain", "gain_label").fill_nan(None))
    return pl.DataFrame(
        {
            "topics": [topics.height],
            "documents": [both.height],
            "tau_b": [topics["tau_b"].mean()],
            "spearman": [rho["rho"].mean()],
        },
        schema_overrides={"tau_b": pl.Float64, "spearman": pl.Float64},
    )


def _compare(first: pl.DataFrame, second: pl.DataFrame, name: str, other: str) -> pl.DataFrame:
    joined = first.join(second, on=["topic", "doc"], suffix="_second", maintain_order="left")
    both = with_number(joined.sort("topic", maintain_order=True), ["topic"], "number")
    order = count_concordance(*(both[name].to_numpy() for name in ("gain", "gain_second", "number")))
    topics = both.group_by("topic", maintain_order=True).agg(documents=pl.len())
    return (
        topics.with_columns(pl.Series(count, getattr(order, count)) for count in COUNTS)
        .with_columns((pl.col(count) / pl.col("pairs")).alias(f"{count}_share") for count in COUNTS[1:])
        .with_columns(tau_a=pl.Series(order.tau_a), tau_b=pl.Series(order.tau_b, nan_to_null=True))
        .filter(pl.col("pairs") > 0)
        .select(
            pl.lit(name).alias("first"),
            pl.lit(other).alias("second"),
            pl.all(),
            note=pl.when(pl.col("tau_b").is_null()).then(pl.lit("tau-b is undefined: one set ties every pair")),
        )
    )
