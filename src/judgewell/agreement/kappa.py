"""Kappa: agreement between two raters, or among many, corrected for what their habits alone would give.

Cohen (1960, 1968): κ = 1 − Σ d_ij o_ij / Σ d_ij e_ij, with o the observed shares of value pairs, e the product of the
two raters' own shares, d = 1 for unequal values (weights "none"), |i − j| ("linear") or (i − j)² ("quadratic") of the
values themselves. Fleiss (1971): κ = (P̄ − P̄_e)/(1 − P̄_e), P_i the share of agreeing pairs of judgments of document i,
P̄_e = Σ_j p_j²; documents may have different numbers of judgments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from judgewell.agreement.common import (
    DOCUMENT,
    each_group,
    gains_of,
    judgments_of,
    or_none,
    rows_table,
    with_number,
)
from judgewell.agreement.jackknife import counts_without, few_groups, jackknife_interval, refusal
from judgewell.agreement.overlap import LEAST_DOCUMENTS, shared_documents
from judgewell.errors import DataError, InputError, note
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.laplacian import summed
from judgewell.stats.resampling import percentile_interval, weight_blocks
from judgewell.text import counted

WEIGHTS = ("none", "linear", "quadratic")
MOST_GROUPS = 500  # groups removed in turn; more are merged
SAME_SETS = "other documents, the same label sets"


def kappa_between(
    label_sets: Mapping[str, Any], weights: str = "none", *, replicates: int = 1000, seed: int = 0
) -> pl.DataFrame:
    """Cohen's kappa of each two label sets over the documents both label."""
    checked = {name: gains_of(labels) for name, labels in label_sets.items()}
    rng = np.random.default_rng(seed)
    rows = []
    for first, second in combinations(checked, 2):
        both = checked[first].join(checked[second], on=DOCUMENT, suffix="_second", maintain_order="left")
        values = both["gain"].to_numpy(), both["gain_second"].to_numpy()
        every = np.ones(both.height)
        rows.append({"first": first, "second": second} | weighted_kappa(*values, every, weights, replicates, rng))
    if all(row["kappa"] is None for row in rows):
        raise DataError("kappa between label sets " + (rows[0]["note"] if rows else "needs two sets"))
    return rows_table(rows, "observed", "kappa", "low", "high")


def weighted_kappa(
    x: Floats, y: Floats, shares: Floats, weights: str, replicates: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Cohen's kappa of two raters with its 95 % interval for other documents, each document counting `shares`."""
    row: dict[str, Any] = {
        "documents": len(x),
        "observed": float((x == y).mean()) if len(x) else None,
        **dict.fromkeys(("kappa", "low", "high", "speaks_for")),
        "note": None if len(x) else "needs documents that both labelled; there are none",
    }
    if not len(x):
        return row
    row["kappa"] = or_none(float(_kappas(x, y, weights, _counting(shares[None]))[0]))
    if row["kappa"] is None:
        row["note"] = f"is undefined: both gave every document the value {x[0]:g}"
    elif replicates:
        blocks = weight_blocks(len(x), replicates, rng)
        drawn = [_kappas(x, y, weights, _counting(block * shares)) for block in blocks]
        row["low"], row["high"] = map(or_none, percentile_interval(np.concatenate(drawn)))
        row["speaks_for"] = SAME_SETS
    return row


def cohen_kappa(judgments: Any, weights: str = "none", *, least_documents: int = LEAST_DOCUMENTS) -> pl.DataFrame:
    """Cohen's kappa of each two assessors who share enough documents, largest overlap first.

    :func:`judgewell.agreement.overlap.mean_over_pairs` gives the mean over pairs with its interval.
    """
    _check_weights(weights)
    shared = shared_documents(judgments, least_documents=least_documents)
    kappa = _kappa_by_group(shared.first, shared.second, shared.pair, weights)
    same = np.bincount(shared.pair, weights=shared.first == shared.second) / np.bincount(shared.pair)
    note = pl.when(pl.col("kappa").is_null()).then(
        pl.lit("is undefined: both gave all documents one and the same value")
    )
    table = shared.pairs.with_columns(
        pl.Series("observed", same), pl.Series("kappa", kappa, nan_to_null=True)
    ).with_columns(note=note)
    return table.sort("documents", descending=True, maintain_order=True)


def fleiss_kappa(judgments: Any, *, by: Sequence[str] = (), interval: bool = True) -> pl.DataFrame:
    """Fleiss' kappa over the documents with two judgments or more; P̄ is the plain mean over documents.

    The jackknife interval speaks for other assessors and other documents.
    """
    frame = judgments_of(judgments)
    rows = [key | _fleiss_row(part, interval) for key, part in each_group(frame, by)]
    if not by and rows[0]["kappa"] is None:
        raise DataError(f"Fleiss' kappa {rows[0]['note']}")
    single = sum(row["single"] for row in rows)
    if single:
        note(f"{counted(single, 'document')} with one judgment say nothing about agreement and are excluded from kappa")
    return rows_table(rows, "kappa", "low", "high", "observed", "expected")


def _counting(shares: Floats) -> Floats:
    """Weights of documents (… × documents) that add up to their number."""
    return np.asarray(shares * (shares.shape[-1] / shares.sum(axis=-1, keepdims=True)))


def _check_weights(weights: str) -> None:
    if weights not in WEIGHTS:
        raise InputError(f"there are no weights {weights!r} for kappa", cure=f"choose {', '.join(WEIGHTS)}")


def _kappas(x: Floats, y: Floats, weights: str, drawn: Floats) -> Floats:
    """Kappa in each replicate (replicates × documents counts); NaN where chance disagreement is 0."""
    _check_weights(weights)
    distinct, codes = np.unique(np.concatenate([x, y]), return_inverse=True)
    first, second = (
        np.stack([summed(own, counts, len(distinct)) for counts in drawn]) for own in np.split(codes.ravel(), 2)
    )
    return _beyond_chance(drawn @ _distance(x, y, weights), first, second, distinct, weights)


def _kappa_by_group(x: Floats, y: Floats, group: Ints, weights: str) -> Floats:
    """Kappa in each group (0, 1, 2 …)."""
    distinct, codes = np.unique(np.concatenate([x, y]), return_inverse=True)
    groups, values = int(group.max()) + 1, len(distinct)
    first, second = (
        summed(group * values + own, np.ones(len(own)), groups * values).reshape(groups, values)
        for own in np.split(codes.ravel(), 2)
    )
    disagreement = summed(group, _distance(x, y, weights), groups)
    return _beyond_chance(disagreement, first, second, distinct, weights)


def _beyond_chance(disagreement: Floats, first: Floats, second: Floats, distinct: Floats, weights: str) -> Floats:
    """Kappa from the sums of disagreement and how often the two raters gave each value; NaN where chance disagreement
    is 0."""
    chance = (first @ _distance(distinct[:, None], distinct[None, :], weights)) * second
    expected = chance.sum(axis=1) / first.sum(axis=1)
    flat = expected <= 0
    return np.where(flat, np.nan, 1 - disagreement / np.where(flat, 1.0, expected))


def _distance(first: Floats, second: Floats, weights: str) -> Floats:
    if weights == "none":
        return np.asarray(first != second, dtype=np.float64)
    return np.asarray(np.abs(first - second) if weights == "linear" else (first - second) ** 2, dtype=np.float64)


def _fleiss_row(frame: pl.DataFrame, interval: bool) -> dict[str, Any]:
    document, value, who = (
        with_number(frame.select(names), names, "number")["number"].to_numpy()
        for names in (DOCUMENT, ["value"], ["assessor"])
    )
    twice = np.bincount(document)[document] >= 2
    documents = int(document.max()) + 1
    row: dict[str, Any] = dict.fromkeys(("kappa", "low", "high", "speaks_for", "observed", "expected"))
    row |= {"documents": len(np.unique(document[twice])), "single": documents - len(np.unique(document[twice]))}
    row["note"] = None
    if not twice.any():
        return row | {"note": f"needs two judgments per document; {counted(documents, 'document')} have one"}
    if len(np.unique(value[twice])) == 1:
        same = frame["value"].to_numpy()[twice][0]
        return row | {"note": f"is undefined where all values are equal; all are {same:g}"}
    document = np.unique(document[twice], return_inverse=True)[1].ravel()
    value, who = value[twice], np.unique(who[twice], return_inverse=True)[1].ravel()
    counts = np.zeros((row["documents"], int(value.max()) + 1))
    np.add.at(counts, (document, value), 1.0)
    agreeing, used = _fleiss_sums(counts)
    observed, expected = agreeing / len(counts), float(((used / used.sum()) ** 2).sum())
    row |= {"observed": float(observed), "expected": expected, "kappa": float((observed - expected) / (1 - expected))}
    if interval:
        named = 0 if frame["assessor"].null_count() else int(who.max()) + 1
        row["note"] = refusal(row["documents"], named)
        if row["note"] is None:
            groups = [few_groups(codes, MOST_GROUPS) for codes in (document, who, np.arange(len(who)))]
            *without, judgments = (_fleiss_without(counts, document, value, codes) for codes in groups)
            row |= jackknife_interval(row["kappa"], without, judgments)
    return row


def _fleiss_sums(counts: Floats) -> tuple[Any, Floats]:
    """The sum of documents' shares of agreeing pairs, and how often each value was given."""
    total = counts.sum(axis=1)
    enough = total > 1.5
    pairs = np.where(enough, total * (total - 1), 1.0)
    agreeing = np.where(enough, ((counts**2).sum(axis=1) - total) / pairs, 0.0)
    return agreeing.sum(), (counts * enough[:, None]).sum(axis=0)


def _fleiss_without(counts: Floats, document: Ints, value: Ints, group: Ints) -> Floats:
    """Fleiss' kappa without each group of rows; only the documents that a group judged change."""
    kappas = []
    agreeing, used = _fleiss_sums(counts)
    for old, new in counts_without(counts, document, value, group):
        (was, had), (now, has) = _fleiss_sums(old), _fleiss_sums(new)
        left = len(counts) - int((new.sum(axis=1) < 1.5).sum())
        shares = (used - had + has) / max((used - had + has).sum(), 1.0)
        expected = (shares**2).sum()
        observed = (agreeing - was + now) / left if left else np.nan
        kappas.append((observed - expected) / (1 - expected) if expected < 1 else np.nan)
    return np.array(kappas)
