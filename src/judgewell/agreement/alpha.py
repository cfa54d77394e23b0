"""Krippendorff's alpha: do assessors give the same document the same value, beyond what chance would give?

α = 1 − D_o / D_e, D_o = (1/n) Σ_u 1/(m_u − 1) Σ_{i≠j in u} δ²(v_i, v_j), D_e = 1/(n(n − 1)) Σ_{i≠j} δ²(v_i, v_j),
over the n values of documents with m_u ≥ 2 values (Krippendorff 2011). δ² is 1 for unequal values (nominal), the
squared difference of values (interval) or of mid-ranks (ordinal), or ((a − b)/(a + b))² (ratio). No coincidence matrix
is made: all need sums only, ratio too once there are more than 200 distinct values.
Intervals come from :mod:`~judgewell.agreement.jackknife`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from judgewell.agreement.alpha_without import alphas_without
from judgewell.agreement.common import each_group, judgments_of, rows_table
from judgewell.agreement.jackknife import jackknife_interval, refusal
from judgewell.errors import DataError, InputError, note
from judgewell.stats.arrays import Floats, Ints
from judgewell.text import agrees, count, counted

BLOCK_CELLS = 4_000_000  # cells of distances held at once: 32 MB
ROUNDING = 1e-12  # an α nearer to 0 is 0
DIRECT_VALUES = 200  # up to this many distinct values they are compared one by one on a ratio scale
WAVE_MARGIN, WAVE_LIMIT = 40.0, 14.0  # e^−40 and 4πω/sinh(πω) at 14: both below the last digit


@dataclass(frozen=True)
class _Values:
    """The values of documents judged twice or more, rows of a document side by side."""

    values: Floats
    starts: Ints  # where each document begins
    sizes: Ints  # how many values it has

    def sums(self, rows: Floats) -> Floats:
        """The sum of a row-wise quantity over each document."""
        return np.asarray(np.add.reduceat(rows, self.starts), dtype=np.float64)

    def away_from_means(self, rows: Floats) -> Floats:
        """Each document's Σ (a − b)²/(m − 1) over ordered pairs of its m rows."""
        away = rows - np.repeat(self.sums(rows) / self.sizes, self.sizes)
        return 2 * self.sizes * self.sums(away**2) / (self.sizes - 1)


# Each gives every document's disagreement Σδ²/(m − 1), and the sum of δ² over all ordered pairs of values.
Disagreement = Callable[[_Values], tuple[Floats, float]]


def krippendorff_alpha(
    judgments: Any, metric: str = "interval", *, by: Sequence[str] = (), interval: bool = True, removed: int = 0
) -> pl.DataFrame:
    """Alpha with its 95 % jackknife interval, which speaks for other assessors and other documents.

    All rows count, also those where one assessor judged a document twice; documents with one judgment cannot.
    `removed` is how many numbers were fitted and removed from the values before (one for each unit on the common
    footing), which takes disagreement away; :func:`_corrected` puts it back.
    """
    _check_metric(metric)
    frame = judgments_of(judgments)
    _note_repeats(frame)
    share = removed / frame.height
    rows = [key | _alpha_row(part, metric, interval, share) for key, part in each_group(frame, by)]
    if not by and rows[0]["alpha"] is None:
        raise DataError(f"alpha {rows[0]['note']}")
    single = sum(row["single"] for row in rows)
    if single:
        note(f"{counted(single, 'document')} with one judgment say nothing about agreement and are excluded from alpha")
    return rows_table(rows, "alpha", "low", "high")


def alpha_of(documents: ArrayLike, values: ArrayLike, metric: str = "interval") -> float:
    """Alpha of plain arrays: `documents` names what each value belongs to; NaN values are missing."""
    _check_metric(metric)
    given = np.asarray(values, dtype=np.float64)
    there = ~np.isnan(given)
    _, codes = np.unique(np.asarray(documents)[there], return_inverse=True)
    prepared = _prepare(codes.ravel(), given[there])
    problem = _problem(prepared, metric, len(np.unique(codes)))
    if problem:
        raise DataError(f"alpha {problem}")
    return _alpha(prepared, metric)


def _alpha_row(frame: pl.DataFrame, metric: str, interval: bool, removed: float) -> dict[str, Any]:
    codes = _document_codes(frame)
    values = frame["value"].to_numpy()
    prepared = _prepare(codes, values)
    documents = int(codes.max()) + 1
    row: dict[str, Any] = {
        "metric": metric,
        **dict.fromkeys(("alpha", "low", "high", "speaks_for")),
        "documents": len(prepared.sizes),
        "judgments": len(prepared.values),
        "assessors": frame["assessor"].drop_nulls().n_unique(),
        "single": documents - len(prepared.sizes),
        "note": _problem(prepared, metric, documents),
    }
    if row["note"]:
        return row
    free = len(prepared.values) - len(prepared.sizes)
    inflation = free / max(free - removed * len(prepared.values), 1.0)
    row["alpha"] = float(_corrected(_alpha(prepared, metric), inflation))
    if interval:
        row |= _interval_of(frame, codes, values, row, inflation)
    return row


def _interval_of(
    frame: pl.DataFrame, codes: Ints, values: Floats, row: dict[str, Any], inflation: float
) -> dict[str, Any]:
    refused = refusal(row["documents"], 0 if frame["assessor"].null_count() else row["assessors"])
    if refused:
        return {"note": refused}
    twice = np.bincount(codes)[codes] >= 2
    codes, values = np.unique(codes[twice], return_inverse=True)[1].ravel(), values[twice]
    who = np.unique(frame["assessor"].to_numpy()[twice], return_inverse=True)[1].ravel()
    without = [_corrected(alphas_without(codes, values, group, row["metric"]), inflation) for group in (codes, who)]
    return jackknife_interval(row["alpha"], without)


def _corrected(alpha: Any, inflation: float) -> Any:
    """Alpha with the disagreement that fitted offsets took away: D_o is multiplied, and D_e grows by as much.

    With f = judgments − documents, the offsets leave f − removed degrees of freedom, so the inflation is
    f / (f − removed). In units of D_e, D_o is 1 − α; both grow by (inflation − 1)(1 − α).
    """
    disagreement = 1 - alpha
    return 1 - inflation * disagreement / (1 + (inflation - 1) * disagreement)


def _document_codes(frame: pl.DataFrame) -> Ints:
    """A number for each row's document, 0 and up."""
    topic = frame["topic"].cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
    doc = frame["doc"].cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
    _, codes = np.unique(topic * (int(doc.max()) + 1) + doc, return_inverse=True)
    return codes.ravel()


def _prepare(codes: Ints, values: Floats) -> _Values:
    """Rows sorted by document, without documents that have one value."""
    sizes = np.bincount(codes)
    keep = sizes[codes] >= 2
    codes, values = codes[keep], values[keep]
    order = np.argsort(codes, kind="stable")
    sizes = sizes[sizes >= 2]
    return _Values(np.asarray(values, dtype=np.float64)[order], np.cumsum(sizes) - sizes, sizes)


def _problem(prepared: _Values, metric: str, documents: int) -> str | None:
    """Why alpha cannot be had, or nothing."""
    if not len(prepared.sizes):
        return f"needs two judgments per document; {counted(documents, 'document')} have one"
    if metric == "ratio" and prepared.values.min() < 0:
        return f"on a ratio scale needs values of 0 or more; {prepared.values.min():g} is below 0"
    if np.ptp(prepared.values) == 0:
        return f"is undefined where all values are equal; all {len(prepared.values)} are {prepared.values[0]:g}"
    return None


def _alpha(prepared: _Values, metric: str) -> float:
    within, between = DISAGREEMENTS[metric](prepared)
    if between <= 0:
        return np.nan
    alpha = float(1 - (len(prepared.values) - 1) * within.sum() / between)
    return 0.0 if abs(alpha) < ROUNDING else alpha


def _nominal(prepared: _Values) -> tuple[Floats, float]:
    _, codes, counts = np.unique(prepared.values, return_inverse=True, return_counts=True)
    document = np.repeat(np.arange(len(prepared.sizes)), prepared.sizes)
    cells, times = np.unique(document * len(counts) + codes.ravel(), return_counts=True)
    same = np.bincount(cells // len(counts), weights=times**2)
    return (prepared.sizes**2 - same) / (prepared.sizes - 1), float(len(codes) ** 2 - (counts**2).sum())


def _interval(prepared: _Values) -> tuple[Floats, float]:
    centred = prepared.values - prepared.values.mean()
    return prepared.away_from_means(centred), 2 * len(centred) * float((centred**2).sum())


def _ordinal(prepared: _Values) -> tuple[Floats, float]:
    """Interval on mid-ranks: δ² = (values between, with half of both ends)²."""
    _, codes, counts = np.unique(prepared.values, return_inverse=True, return_counts=True)
    return _interval(replace(prepared, values=(np.cumsum(counts) - counts / 2)[codes.ravel()]))


def _ratio(prepared: _Values) -> tuple[Floats, float]:
    distinct, counts = np.unique(prepared.values, return_counts=True)
    if len(distinct) > DIRECT_VALUES:
        total = float(len(prepared.values)) ** 2
        expected = total - _similarity_by_waves(prepared.values)
        if expected > 1e-6 * total:  # else nearly equal values: the difference would lose its digits
            return _ratio_within(prepared), expected
    return _ratio_within(prepared), _ratio_between(distinct, counts.astype(np.float64))


def _ratio_between(distinct: Floats, counts: Floats) -> float:
    """Σ δ² over all ordered pairs of values: distinct values against each other, a block at a time."""
    rows = max(1, BLOCK_CELLS // len(distinct))
    blocks = [slice(start, start + rows) for start in range(0, len(distinct), rows)]
    return sum(
        float(counts[block] @ _ratio_distance(distinct[block, None], distinct[None, :]) @ counts) for block in blocks
    )


def _similarity_by_waves(values: Floats) -> float:
    """Σ (1 − δ²) over all ordered pairs of values in O(n): 1 − ((a − b)/(a + b))² = sech²((ln a − ln b)/2).

    The kernel's Fourier transform 4πω/sinh(πω) dies off exponentially, so Σ_ij K(x_i − x_j) adds up |Σ_i e^{iωx_i}|²
    over about a hundred evenly spaced ω, exact to the last digits: the spacing keeps copies of the kernel 40 away from
    the data, where it has fallen to 1e-17. A value of 0 is like another 0 and nothing else.
    """
    positive = values[values > 0]
    x = np.log(positive / positive.min())
    step = 2 * np.pi / (x.max() + WAVE_MARGIN)
    omega = step * np.arange(1, int(WAVE_LIMIT / step) + 1)
    heights = np.append(4.0, 2 * 4 * np.pi * omega / np.sinh(np.pi * omega))  # ω and −ω
    turn, wave = np.exp(1j * step * x), np.ones(len(x), dtype=np.complex128)
    similar = float(len(values) - len(positive)) ** 2
    for height in heights:
        similar += step / (2 * np.pi) * height * abs(wave.sum()) ** 2
        wave *= turn
    return similar


def _ratio_within(prepared: _Values) -> Floats:
    """Per document Σδ²/(m − 1) over ordered pairs, all documents of one size together."""
    within = np.zeros(len(prepared.sizes))
    for size in np.unique(prepared.sizes):
        which = np.flatnonzero(prepared.sizes == size)
        block = prepared.values[prepared.starts[which][:, None] + np.arange(size)]
        for step in range(1, size):
            within[which] += _ratio_distance(block[:, step:], block[:, :-step]).sum(axis=1)
        within[which] *= 2 / (size - 1)
    return within


def _ratio_distance(first: Floats, second: Floats) -> Floats:
    """((a − b)/(a + b))²; two zeros are equal."""
    total = first + second
    return ((first - second) / np.where(total == 0, 1.0, total)) ** 2


DISAGREEMENTS: dict[str, Disagreement] = {
    "nominal": _nominal,
    "ordinal": _ordinal,
    "interval": _interval,
    "ratio": _ratio,
}
METRICS = tuple(DISAGREEMENTS)


def _check_metric(metric: str) -> None:
    if metric not in DISAGREEMENTS:
        raise InputError(f"there is no metric {metric!r} for alpha", cure=f"choose {', '.join(METRICS)}")


def _note_repeats(frame: pl.DataFrame) -> None:
    """Say how often one assessor judged one document again: those rows are not independent."""
    named = frame.filter(pl.col("assessor").is_not_null())
    repeats = named.height - named.select("topic", "doc", "assessor").n_unique()
    if repeats:
        again = f"{count(repeats)} {agrees(repeats, 'judgment repeats', 'judgments repeat')}"
        note(f"{again} a document the same assessor already judged; for α all count")
