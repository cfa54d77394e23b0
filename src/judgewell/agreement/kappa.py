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
    some,
    with_number,
)
from judgewell.agreement.jackknife import few_groups, jackknife_interval, refusal
from judgewell.agreement.overlap import LEAST_DOCUMENTS, shared_documents
from judgewell.errors import DataError, InputError, note
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.resampling import percentile_interval, weight_blocks

WEIGHTS = ("none", "linear", "quadratic")
MOST_GROUPS = 500  # groups removed in turn; more are merged
SAME_SETS = "other documents, the same label sets"


def kappa_between(
    label_sets: Mapping[str, Any],
    weights: str = "none",
    *,
    by: Sequence[str] = (),
    replicates: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> pl.DataFrame:
    """Cohen's kappa of each two label sets over the documents both label; `by=("topic",)` for one row per topic."""
    checked = {name: gains_of(labels) for name, labels in label_sets.items()}
    rng = np.random.default_rng(seed)
    rows = []
    for first, second in combinations(checked, 2):
        both = checked[first].join(checked[second], on=DOCUMENT, suffix="_second", maintain_order="left")
        for key, part in each_group(both, by):
            values = part["gain"].to_numpy(), part["gain_second"].to_numpy()
            names = {"first": first, "second": second}
            rows.append(key | names | _kappa_row(*values, weights, replicates, level, rng))
    if all(row["kappa"] is None for row in rows):
        raise DataError("kappa between label sets " + (rows[0]["note"] if rows else "needs two sets"))
    return rows_table(rows, "observed", "kappa", "low", "high")


def weighted_kappa(
    x: Floats, y: Floats, shares: Floats, weights: str = "none", replicates: int = 1000, seed: int = 0
) -> dict[str, Any]:
    """Cohen's kappa of two raters with its 95 % interval for other documents, each document counting `shares`."""
    return _kappa_row(x, y, weights, replicates, 0.95, np.random.default_rng(seed), shares)


def cohen_kappa(
    judgments: Any, weights: str = "none", *, by: Sequence[str] = (), least_documents: int = LEAST_DOCUMENTS
) -> pl.DataFrame:
    """Cohen's kappa of each two assessors who share enough documents, largest overlap first.

    :func:`judgewell.agreement.overlap.mean_over_pairs` gives the mean over pairs with its interval.
    """
    _check_weights(weights)
    shared = shared_documents(judgments, by=by, least_documents=least_documents)
    observed, expected = _disagreement_by_group(shared.first, shared.second, shared.pair, weights)
    flat = expected <= 0
    kappa = np.where(flat, np.nan, 1 - observed / np.where(flat, 1.0, expected))
    same = np.bincount(shared.pair, weights=shared.first == shared.second) / np.bincount(shared.pair)
    note = pl.when(pl.col("kappa").is_null()).then(
        pl.lit("is undefined: both gave all documents one and the same value")
    )
    table = shared.pairs.with_columns(
        pl.Series("observed", same), pl.Series("kappa", kappa, nan_to_null=True)
    ).with_columns(note=note)
    return table.sort([*by, "documents"], descending=[False] * len(by) + [True], maintain_order=True)


def fleiss_kappa(judgments: Any, *, by: Sequence[str] = (), interval: bool = True, level: float = 0.95) -> pl.DataFrame:
    """Fleiss' kappa over the documents with two judgments or more; P̄ is the plain mean over documents.

    The jackknife interval speaks for other assessors and other documents.
    """
    frame = judgments_of(judgments)
    rows = [key | _fleiss_row(part, interval, level) for key, part in each_group(frame, by)]
    if not by and rows[0]["kappa"] is None:
        raise DataError(f"Fleiss' kappa {rows[0]['note']}")
    single = sum(row["single"] for row in rows)
    if single:
        note(f"{some(single, 'document')} with one judgment say nothing about agreement and are excluded from kappa")
    return rows_table(rows, "kappa", "low", "high", "observed", "expected")


def _kappa_row(
    x: Floats,
    y: Floats,
    weights: str,
    replicates: int,
    level: float,
    rng: np.random.Generator,
    shares: Floats | None = None,
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "documents": len(x),
        "observed": float((x == y).mean()) if len(x) else None,
        **dict.fromkeys(("kappa", "low", "high", "speaks_for")),
        "note": None if len(x) else "needs documents that both labelled; there are none",
    }
    if not len(x):
        return row
    shares = np.ones(len(x)) if shares is None else shares
    row["kappa"] = or_none(float(_kappas(x, y, weights, _counting(shares[None]))[0]))
    if row["kappa"] is None:
        row["note"] = f"is undefined: both gave every document the value {x[0]:g}"
    elif replicates:
        blocks = weight_blocks(len(x), replicates, rng)
        drawn = [_kappas(x, y, weights, _counting(block * shares)) for block in blocks]
        row["low"], row["high"] = map(or_none, percentile_interval(np.concatenate(drawn), level))
        row["speaks_for"] = SAME_SETS
    return row


def _counting(shares: Floats) -> Floats:
    """Weights of documents (… × documents) that add up to their number."""
    return np.asarray(shares * (shares.shape[-1] / shares.sum(axis=-1, keepdims=True)))


def _check_weights(weights: str) -> None:
    if weights not in WEIGHTS:
        raise InputError(f"there are no weights {weights!r} for kappa", cure=f"choose {', '.join(WEIGHTS)}")


def _kappas(x: Floats, y: Floats, weights: str, drawn: Any) -> Floats:
    """Kappa in each replicate (replicates × documents counts); NaN where chance disagreement is 0."""
    from scipy.sparse import csr_array

    _check_weights(weights)
    distinct, codes = np.unique(np.concatenate([x, y]), return_inverse=True)
    codes = codes.ravel()
    places = np.arange(len(x))
    shape = (len(x), len(distinct))
    counted = np.asarray(drawn, dtype=np.float64)
    ones = np.ones(len(x))
    first, second = (
        np.asarray((csr_array((ones, (places, own)), shape=shape).T @ counted.T).T)
        for own in (codes[: len(x)], codes[len(x) :])
    )
    observed = counted @ _distance(x, y, weights)
    expected = ((first @ _distance(distinct[:, None], distinct[None, :], weights)) * second).sum(axis=1) / len(x)
    flat = expected <= 0
    return np.where(flat, np.nan, 1 - observed / np.where(flat, 1.0, expected))


def _disagreement_by_group(x: Floats, y: Floats, group: Ints, weights: str) -> tuple[Floats, Floats]:
    """The mean observed and the expected disagreement of each group (0, 1, 2 …)."""
    size = np.bincount(group)
    observed = np.asarray(np.bincount(group, weights=_distance(x, y, weights)) / size)
    if weights == "quadratic":
        means = [np.bincount(group, weights=part) / size for part in (x, y, x**2, y**2)]
        spread = means[2] + means[3] - 2 * means[0] * means[1]
        return observed, np.where(spread <= 1e-12 * (means[2] + means[3]), 0.0, spread)
    merged = np.concatenate([x, y])
    place, is_first = np.concatenate([group, group]), np.repeat([1.0, 0.0], len(x))
    order = np.lexsort((merged, place))
    merged, place, is_first = merged[order], place[order], is_first[order]
    fresh = np.append((place[1:] != place[:-1]) | (merged[1:] != merged[:-1]), True)
    ends = np.flatnonzero(fresh)  # the last row of each distinct value of a group
    before = np.cumsum(2 * size) - 2 * size
    of_first = np.cumsum(is_first)[ends] - (np.cumsum(size) - size)[place[ends]]
    of_both = (ends + 1) - before[place[ends]]
    below_x, below_y = of_first / size[place[ends]], (of_both - of_first) / size[place[ends]]
    if weights == "linear":  # E|x − y| = ∫ F_x(1 − F_y) + F_y(1 − F_x)
        last = np.append(place[ends][1:] != place[ends][:-1], True)
        gap = np.where(last, 0.0, np.append(merged[ends][1:], 0.0) - merged[ends])
        cells = gap * (below_x * (1 - below_y) + below_y * (1 - below_x))
        return observed, np.bincount(place[ends], weights=cells).astype(np.float64)
    started = np.append(True, place[ends][1:] != place[ends][:-1])
    share_x = below_x - np.where(started, 0.0, np.append(0.0, below_x[:-1]))
    share_y = below_y - np.where(started, 0.0, np.append(0.0, below_y[:-1]))
    agreeing = np.bincount(place[ends], weights=share_x * share_y)
    return observed, np.where(agreeing >= 1 - 1e-12, 0.0, 1 - agreeing)


def _distance(first: Floats, second: Floats, weights: str) -> Floats:
    if weights == "none":
        return np.asarray(first != second, dtype=np.float64)
    return np.asarray(np.abs(first - second) if weights == "linear" else (first - second) ** 2, dtype=np.float64)


def _fleiss_row(frame: pl.DataFrame, interval: bool, level: float) -> dict[str, Any]:
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
        return row | {"note": f"needs two judgments per document; {some(documents, 'document')} have one"}
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
            row |= jackknife_interval(row["kappa"], without, level, judgments).columns
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
    order = np.argsort(group, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(group))[:-1]):
        touched, places = np.unique(document[rows], return_inverse=True)
        old = counts[touched]
        new = old.copy()
        np.subtract.at(new, (places.ravel(), value[rows]), 1.0)
        (was, had), (now, has) = _fleiss_sums(old), _fleiss_sums(new)
        left = len(counts) - int((new.sum(axis=1) < 1.5).sum())
        shares = (used - had + has) / max((used - had + has).sum(), 1.0)
        expected = (shares**2).sum()
        observed = (agreeing - was + now) / left if left else np.nan
        kappas.append((observed - expected) / (1 - expected) if expected < 1 else np.nan)
    return np.array(kappas)
