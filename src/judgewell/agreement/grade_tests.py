"""Do documents of neighbouring grades differ in gain? A test whose unit is the document and, with several, the topic.

In one topic: Welch's t-test on the documents' gains. In several: the difference d_t of each topic with its variance
v_t = s²/n + s′²/n′, combined with weights 1 / (v_t + τ²) (DerSimonian & Laird 1986), the variance of Hartung and Knapp
(2001), q = Σ w_t (d_t − d̄)² / ((T − 1) Σ w_t), and Student's t on T − 1 degrees. s² and s′² are pooled over topics:
from the few documents of one topic they are so uncertain that the weights follow them and the test rejects up to 8 % at
5 %. Tests on pooled judgments take judgments of one document for independent and reject 17 to 46 %
(docs/evidence/agreement.md).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from judgewell.agreement.common import each_group, gains_of, grade_values, rows_table, with_grades
from judgewell.agreement.grades import by_grade
from judgewell.errors import DataError
from judgewell.stats.arrays import Floats
from judgewell.text import agrees, counted, p_said, plain

LEAST_DOCUMENTS = 2  # of each grade in a topic


def grade_differences(gains: Any, grades: Any, *, log: bool = False) -> pl.DataFrame:
    """The difference of gains between every two neighbouring grades, with interval and p; `log` compares ln gain."""
    frame = with_grades(gains_of(gains), grades).filter(pl.col("grade").is_not_null())
    if log:
        lowest = float(frame["gain"].to_numpy().min())
        if lowest <= 0:
            raise DataError(f"logs need gains above 0; the lowest is {lowest:g}")
        frame = frame.with_columns(pl.col("gain").log())
    topics = [by_grade(part, "gain") for _, part in each_group(frame, ["topic"])]
    rows = []
    for low, high in pairwise(grade_values(frame)):
        samples = [
            (topic[low], topic[high])
            for topic in topics
            if min(len(topic.get(low, ())), len(topic.get(high, ()))) >= LEAST_DOCUMENTS
        ]
        rows.append({"lower": low, "upper": high, "unit": "ln gain" if log else "gain"} | _row(samples))
    return rows_table(rows, "difference", "low", "high", "p")


def finding(table: pl.DataFrame) -> list[str]:
    """Which neighbouring grades differ significantly, for each label set, and which could not be tested."""
    sentences = []
    for (labels,), part in table.partition_by("labels", as_dict=True, maintain_order=True).items():
        tested = part.filter(pl.col("p").is_not_null())
        if tested.is_empty():
            continue
        differ, alike = tested.filter(pl.col("p") < 0.05), tested.filter(pl.col("p") >= 0.05)
        if differ.height == part.height:
            text = f"All neighbouring grades of the label set {labels} differ significantly in gain ({_pairs(differ)})."
        else:
            counts = []
            if differ.height:
                counts.append(
                    f"{differ.height} differ{'s' * (differ.height == 1)} significantly in gain ({_pairs(differ)})"
                )
            if alike.height:
                what = "not" if differ.height else "not differ significantly in gain"
                counts.append(f"{alike.height} {agrees(alike.height, 'does', 'do')} {what} ({_pairs(alike)})")
            if untested := part.height - tested.height:
                counts.append(f"{untested} could not be tested, with too few documents of both grades in a topic")
            pairs = counted(part.height, "pair of neighbouring grades", "pairs of neighbouring grades")
            text = f"Of {pairs} of the label set {labels}, {'; '.join(counts)}."
        sentences.append(text)
    return sentences


def _pairs(table: pl.DataFrame) -> str:
    """The grades with their p; a difference the other way round is named."""
    return "; ".join(
        f"{plain(row['lower'])} and {plain(row['upper'])}, {p_said(row['p'])}"
        + (", the lower grade having the higher gain" if row["difference"] < 0 and row["p"] < 0.05 else "")
        for row in table.iter_rows(named=True)
    )


def _row(samples: list[tuple[Floats, Floats]]) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(("difference", "low", "high", "p", "test", "note"))
    row = {"topics": len(samples), "documents": sum(len(low) + len(high) for low, high in samples)} | row
    if not samples:
        return row | {"note": f"no topic has {LEAST_DOCUMENTS} documents of both grades"}
    differences = np.array([high.mean() - low.mean() for low, high in samples])
    if len(samples) == 1:
        return row | {"test": "Welch"} | _welch(*samples[0])
    spreads = [_pooled_variance([sample[grade] for sample in samples]) for grade in (0, 1)]
    variances = np.array([spreads[0] / len(low) + spreads[1] / len(high) for low, high in samples])
    mean, variance = combined(differences, variances)
    return row | {"test": "over topics"} | _t_row(mean, variance, len(samples) - 1)


def combined(differences: Floats, variances: Floats) -> tuple[float, float]:
    """The mean over topics and its variance: DerSimonian–Laird weights, Hartung–Knapp variance."""
    within = variances if variances.any() else np.ones(len(variances))
    weights = 1 / within
    centre = weights @ differences / weights.sum()
    excess = weights @ (differences - centre) ** 2 - (len(differences) - 1)
    between = max(0.0, excess / (weights.sum() - (weights**2).sum() / weights.sum()))
    weights = 1 / (within + between)
    mean = float(weights @ differences / weights.sum())
    return mean, float(weights @ (differences - mean) ** 2 / ((len(differences) - 1) * weights.sum()))


def _pooled_variance(samples: list[Floats]) -> float:
    """The variance within topics, all topics of one grade taken together."""
    squares = sum(float(((sample - sample.mean()) ** 2).sum()) for sample in samples)
    return squares / sum(len(sample) - 1 for sample in samples)


def _welch(low: Floats, high: Floats) -> dict[str, Any]:
    parts = [sample.var(ddof=1) / len(sample) for sample in (low, high)]
    variance = float(sum(parts))
    if variance == 0:
        return {"difference": float(high.mean() - low.mean()), "note": "no test: all gains of a grade are equal"}
    freedom = variance**2 / sum(part**2 / (len(sample) - 1) for part, sample in zip(parts, (low, high), strict=True))
    return _t_row(float(high.mean() - low.mean()), variance, freedom)


def _t_row(mean: float, variance: float, freedom: float) -> dict[str, Any]:
    from scipy.stats import t

    if variance <= 0:
        return {"difference": mean, "note": "no test: the difference is the same in all topics"}
    error = np.sqrt(variance)
    reach = float(t.ppf(0.975, freedom)) * error
    p = float(2 * t.sf(abs(mean) / error, freedom))
    return {"difference": mean, "low": mean - reach, "high": mean + reach, "p": p}
