"""How many judges, judgments or partitions are enough: what fewer would have given, over random orders of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.agreement.common import (
    DOCUMENT,
    gains_of,
    grade_values,
    judgments_of,
    or_none,
    rows_table,
    with_grades,
    with_number,
)
from judgewell.agreement.unit_grades import with_unit_number
from judgewell.errors import DataError, JudgewellError, note
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.concordance import count_concordance
from judgewell.stats.resampling import permutations
from judgewell.text import counted

Score = Callable[[pl.DataFrame], pl.DataFrame]
Average = Literal["mean", "median"]


def inferred_grades(ratios: Floats) -> Floats:
    """The gain of each grade relative to the lowest: the running product of the median ratios of adjacent grades.

    `ratios` is … × judges × steps, NaN where a judge has none; the result is … × grades, NaN from a step no judge has.
    """
    steps = _median(ratios)
    return np.concatenate([np.ones((*steps.shape[:-1], 1)), np.cumprod(steps, axis=-1)], axis=-1)


def unit_ratios(judgments: Any, grades: Any, *, offset: float = 0.0) -> tuple[Floats, list[float]]:
    """Each unit's ratios of adjacent grades (units × steps, NaN where it lacks one) and the grades from low to high.

    A grade's value in a unit is the geometric mean of its documents'.
    """
    frame = with_unit_number(with_grades(judgments_of(judgments), grades)).filter(pl.col("grade").is_not_null())
    present = grade_values(frame)
    shifted = frame.with_columns(pl.col("value") + offset)
    positive = shifted.filter((pl.col("value") > 0).all().over("unit_number"))
    lost = shifted["unit_number"].n_unique() - positive["unit_number"].n_unique()
    if positive.is_empty():
        raise DataError("ratios need values above 0; every unit has one that is not: give an offset (1 for 0 to 100)")
    if lost:
        note(f"{counted(lost, 'unit')} with a value of 0 or below are excluded from ratios; an offset keeps them")
    means = positive.group_by("unit_number", "grade").agg(log=pl.col("value").log().mean())
    _, unit = np.unique(means["unit_number"].to_numpy(), return_inverse=True)
    table = np.full((unit.max() + 1, len(present)), np.nan)
    table[unit, np.searchsorted(present, means["grade"].to_numpy())] = means["log"].to_numpy()
    ratios = np.exp(np.diff(table, axis=1))
    return ratios[~np.isnan(ratios).all(axis=1)], present


def judge_stability(judgments: Any, grades: Any, *, orders: int, offset: float = 0.0, seed: int = 0) -> pl.DataFrame:
    """What the first k judges of a random order give, against all of them: SSD and tau with quartiles over orders.

    SSD_k = Σ (inferred_k(L) − inferred_all(L))² over the grades above the lowest, whose value is 1; tau_k is Kendall's
    between the grades' order and the inferred one. A judge is a unit that has two adjacent grades. Orders in which the
    first k judges lack a step are counted in `undefined`.
    """
    ratios, _ = unit_ratios(judgments, grades, offset=offset)
    whole = inferred_grades(ratios)
    if np.isnan(whole).any():
        raise DataError("no unit holds both of two adjacent grades: their ratio cannot be inferred")
    sizes = _counts(len(ratios))
    rng = np.random.default_rng(seed)
    drawn = permutations(len(ratios), orders, rng)[:, : max(sizes)]
    rows = []
    for count in sizes:
        inferred = inferred_grades(ratios[drawn[:, :count]])
        known = inferred[~np.isnan(inferred).any(axis=1)]
        ssd = ((known - whole) ** 2).sum(axis=1)
        rows.append({"judges": count} | _quartiles("ssd", ssd) | _quartiles("tau", _tau_with_order(known)))
        rows[-1] |= {"orders": orders, "undefined": orders - len(known)}
    lost = pl.col("undefined")
    note = pl.when(lost > 0).then(pl.format("{} orders in which the first judges lack a grade", lost))
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(note=note)


def document_stability(
    judgments: Any, *, average: Average = "mean", most: int = 20, orders: int = 20, seed: int = 0
) -> pl.DataFrame:
    """How many judgments per document are enough: tau-b of averages of k random judgments with averages of all.

    The mean over topics, then quartiles over random orders. Documents with fewer than k judgments count with all they
    have.
    """
    frame = with_number(judgments_of(judgments), DOCUMENT, "document").sort("document", maintain_order=True)
    documents = with_number(frame.unique("document", maintain_order=True), ["topic"], "number")
    code, value = frame["document"].to_numpy(), frame["value"].to_numpy()
    sizes = np.bincount(code)
    whole = _averages_of_first(value, sizes, int(sizes.max()), average)
    topics = documents["number"].to_numpy()
    rng = np.random.default_rng(seed)
    by_count: dict[int, list[float]] = {k: [] for k in range(1, min(most, int(sizes.max())) + 1)}
    for _ in range(orders):
        shuffled = value[np.lexsort((rng.random(len(code)), code))]
        for count in by_count:
            averages = _averages_of_first(shuffled, sizes, count, average)
            by_count[count].append(_mean_known(count_concordance(averages, whole, topics).tau_b))
    rows = []
    for count, taus in by_count.items():
        row: dict[str, Any] = {"judgments": count} | _quartiles("tau", np.array(taus))
        note = "tau is undefined: every topic ties all its documents" if None in row.values() else None
        rows.append(row | {"orders": orders, "typical": int(np.median(sizes)), "note": note})
    return rows_table(rows)


def split_halves(judgments: Any, *, splits: int = 50, seed: int = 0) -> pl.DataFrame:
    """How far two random halves of each document's judgments agree, and what that implies for more judgments.

    `correlation` is the mean over topics and random splits of Pearson's r between the documents' means from the two
    halves.
    With k judgments in a half, Spearman–Brown's m judgments have the reliability q r / (1 + (q − 1) r), q = m / k:
    `reliability` is that of all judgments, `one` of a single one, `for_90` the judgments per document that 0.9 needs.
    Documents with one judgment have no halves and are excluded.
    """
    frame = with_number(judgments_of(judgments), DOCUMENT, "document").sort("document", maintain_order=True)
    frame = frame.filter(pl.len().over("document") > 1)
    if frame.is_empty():
        raise DataError("split halves need documents with two judgments or more; every document has one")
    frame = with_number(frame.drop("document"), DOCUMENT, "document")
    documents = with_number(frame.unique("document", maintain_order=True), ["topic"], "number")
    code, value, topic = (frame["document"].to_numpy(), frame["value"].to_numpy(), documents["number"].to_numpy())
    sizes = np.bincount(code)
    starts = np.cumsum(sizes) - sizes
    first = np.arange(len(code)) - np.repeat(starts, sizes) < np.repeat(sizes // 2, sizes)
    rng = np.random.default_rng(seed)
    correlations = []
    for _ in range(splits):
        shuffled = value[np.lexsort((rng.random(len(code)), code))]
        one, other = (np.bincount(code[h], weights=shuffled[h]) / np.bincount(code[h]) for h in (first, ~first))
        correlations.append(_mean_known(_pearson(one, other, topic)))
    r = _mean_known(np.array(correlations))
    typical = float(np.median(sizes))
    row: dict[str, Any] = {"documents": len(sizes), "judgments": typical, "splits": splits, "correlation": or_none(r)}
    row |= {"reliability": None, "one": None, "for_90": None, "note": None}
    if np.isnan(r) or r <= 0:
        row["note"] = "the halves do not correlate: there is no reliability to speak of"
    else:
        half = typical / 2
        row |= {"reliability": _spearman_brown(r, 2.0), "one": _spearman_brown(r, 1 / half)}
        row["for_90"] = None if r >= 1 else float(np.ceil(half * 0.9 * (1 - r) / (0.1 * r) - 1e-9))
    return rows_table([row], "correlation", "reliability", "one", "for_90")


def _spearman_brown(r: float, longer: float) -> float:
    return float(longer * r / (1 + (longer - 1) * r))


def _pearson(x: Floats, y: Floats, groups: Ints) -> Floats:
    """Pearson's r within each group; NaN where one of the two does not vary."""
    size = np.bincount(groups)
    x, y = (values - (np.bincount(groups, weights=values) / size)[groups] for values in (x, y))
    xy, xx, yy = (np.bincount(groups, weights=part) for part in (x * y, x * x, y * y))
    scale = np.sqrt(xx * yy)
    flat = scale <= 1e-12 * np.maximum(xx, yy)
    return np.where(flat, np.nan, xy / np.where(flat, 1.0, scale))


def share_preferred(pairs: pl.DataFrame) -> pl.DataFrame:
    """The share of a document's comparisons in which it was preferred, "same" as one half: gains for partitions."""
    won = {"left": 1.0, "right": 0.0, "same": 0.5}
    left = pl.col("preferred").replace_strict(won, default=None, return_dtype=pl.Float64)
    sides = [pairs.select("topic", doc="left", won=left), pairs.select("topic", doc="right", won=1 - left)]
    return pl.concat(sides).drop_nulls("won").group_by(DOCUMENT, maintain_order=True).agg(gain=pl.col("won").mean())


def partition_stability(data: pl.DataFrame, score: Score, *, orders: int = 10, seed: int = 0) -> pl.DataFrame:
    """Tau-b per topic between gains from the first k partitions of a random order and gains from all of them.

    `score` turns rows of `data` (pairs or judgments, with the column partition) into a gains table. Where
    it refuses (with a JudgewellError: few partitions may leave the comparisons unconnected), the order counts as
    undefined and the first refusal is in the note. Documents that k partitions do not show are excluded from tau.
    """
    if "partition" not in data.columns or data["partition"].null_count():
        raise DataError(
            "stability over partitions needs to know each row's; the column 'partition' has gaps or is missing"
        )
    rng = np.random.default_rng(seed)
    rows = []
    for (topic,), part in data.partition_by("topic", as_dict=True, maintain_order=True).items():
        names = part["partition"].unique(maintain_order=True)
        if len(names) < 2:
            note(f"topic {topic} has one partition and shows no stability")
            continue
        whole = gains_of(score(part))
        drawn = permutations(len(names), orders, rng)
        for count in _counts(len(names)):
            taus = [_partial_tau(part, score, names.gather(order[:count]), whole) for order in drawn]
            rows.append({"topic": topic, "partitions": count} | _partition_row(taus))
    if not rows:
        raise DataError("stability over partitions needs a topic with two of them; every topic has one")
    return rows_table(rows, "tau_mean", "tau_q1", "tau_median", "tau_q3")


def _partial_tau(part: pl.DataFrame, score: Score, names: pl.Series, whole: pl.DataFrame) -> float | str:
    """Tau-b of gains from some partitions with the whole, or why there is none."""
    try:
        some_gains = gains_of(score(part.filter(pl.col("partition").is_in(names.implode()))))
    except JudgewellError as refusal:
        return str(refusal)
    both = some_gains.join(whole, on=DOCUMENT, suffix="_whole")
    tau = count_concordance(both["gain"].to_numpy(), both["gain_whole"].to_numpy()).tau_b
    return float(tau[0]) if len(tau) and not np.isnan(tau[0]) else "tau is undefined: all documents are tied"


def _partition_row(taus: list[float | str]) -> dict[str, Any]:
    known = np.array([tau for tau in taus if not isinstance(tau, str)])
    refusals = [tau for tau in taus if isinstance(tau, str)]
    row = {"tau_mean": float(known.mean()) if len(known) else None} | _quartiles("tau", known)
    return row | {"orders": len(taus), "undefined": len(refusals), "note": refusals[0] if refusals else None}


def _counts(most: int) -> list[int]:
    """The sizes to try: all up to 30 and then ever wider steps up to 500."""
    if most < 2:
        raise DataError(f"stability needs two to begin with; there is {most}")
    few = min(most, 30)
    return sorted({*range(1, few + 1), *np.geomspace(few, min(most, 500), 15).round().astype(int).tolist()})


def _median(values: Floats) -> Floats:
    """The median over the axis before the last without NaN; NaN where nothing is there."""
    if values.shape[-2] == 0:
        return np.full((*values.shape[:-2], values.shape[-1]), np.nan)
    if not np.isnan(values).any():
        return np.asarray(np.median(values, axis=-2))
    ordered = np.sort(values, axis=-2)  # NaN go last
    known = (~np.isnan(values)).sum(axis=-2)
    low, high = np.maximum((known - 1) // 2, 0), np.maximum(known // 2, 0)
    high = np.minimum(high, values.shape[-2] - 1)
    picked = [np.take_along_axis(ordered, place[..., None, :], axis=-2)[..., 0, :] for place in (low, high)]
    return np.asarray((picked[0] + picked[1]) / 2)


def _tau_with_order(inferred: Floats) -> Floats:
    """Kendall's tau-b of each row with the order of its columns."""
    first, second = np.triu_indices(inferred.shape[1], 1)
    signs = np.sign(inferred[:, second] - inferred[:, first])
    untied = np.abs(signs).sum(axis=1)
    return np.asarray(signs.sum(axis=1) / np.sqrt(np.maximum(untied, 1) * len(first)))


def _averages_of_first(shuffled: Floats, sizes: Ints, count: int, average: Average) -> Floats:
    """The mean or median of each document's first `count` values; in ascending order, so that equal values have equal
    means."""
    starts = np.cumsum(sizes) - sizes
    taken = np.minimum(sizes, count)
    averages = np.empty(len(sizes))
    for size in np.unique(taken):
        which = np.flatnonzero(taken == size)
        values = np.sort(shuffled[starts[which][:, None] + np.arange(size)], axis=1)
        averages[which] = values.mean(axis=1) if average == "mean" else np.median(values, axis=1)
    return averages


def _mean_known(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


def _quartiles(name: str, values: Floats) -> dict[str, float | None]:
    known = values[~np.isnan(values)]
    if not len(known):
        return {f"{name}_q1": None, f"{name}_median": None, f"{name}_q3": None}
    q1, median, q3 = np.percentile(known, [25, 50, 75])
    return {f"{name}_q1": or_none(q1), f"{name}_median": or_none(median), f"{name}_q3": or_none(q3)}
