"""How many documents people have to judge beside a machine's labels, for intervals of a given width."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from judgewell.comparison.calibration import Sample
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.sampling import inclusion_probabilities, shared_out
from judgewell.study.design.importance import LEAST

WIDTHS = (0.01, 0.02, 0.05)
STEPS = 24  # sizes of samples that are tried, between the fewest documents and all


def documents_needed(
    sample: Sample, residual: Floats, weights: Sequence[Floats], importance: Floats, half: dict[str, float]
) -> pl.DataFrame:
    """Per width the documents that people judge, drawn by importance, until the typical interval (`half` has its
    half-width now, by name) is ± width; nothing where no residual is left.

    The variance of another sample with probabilities π' is estimated from the documents at hand as
    Σ (1/π)(1/π' − 1)(w r)², r what people said less its prediction, w the documents' weights in the systems' scores.
    """
    squares = _squared_weights(weights)[sample.drawn] * np.square(residual) / sample.inclusion
    now = float((squares * (1 / sample.inclusion - 1)).sum())
    if now <= 0:
        return pl.DataFrame(schema={"width": pl.Float64})
    documents, topics = int(sample.starts[-1]), len(sample.starts) - 1
    tried = np.unique(np.geomspace(min(LEAST * topics, documents), documents, STEPS).astype(np.int64))
    spread = []
    for size in tried.tolist():
        inclusion = _probabilities(sample, importance, size)[sample.drawn]
        spread.append(np.sqrt(float((squares * (1 / inclusion - 1)).sum()) / now))
    rows = []
    for width in WIDTHS:
        row: dict[str, float | int | None] = {"width": width}
        for name, now_half in half.items():
            row[name] = _first(tried, np.array(spread) * now_half, width)
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def _squared_weights(weights: Sequence[Floats]) -> Floats:
    """The mean over systems of each document's squared weight."""
    return np.concatenate([np.square(part).mean(axis=0) for part in weights])


def _probabilities(sample: Sample, importance: Floats, size: int) -> Floats:
    """The probabilities with which a design of so many documents draws each."""
    sizes = np.diff(sample.starts)
    counts = shared_out(size, sizes, LEAST)
    parts = [
        inclusion_probabilities(importance[start:end], count)
        for start, end, count in zip(sample.starts[:-1], sample.starts[1:], counts.tolist(), strict=True)
    ]
    return np.concatenate(parts)


def _first(sizes: Ints, half: Floats, width: float) -> int | None:
    """The first size whose half-width is small enough, straight between the sizes tried."""
    enough = np.flatnonzero(half <= width)
    if not len(enough):
        return None
    at = int(enough[0])
    if at == 0:
        return int(sizes[0])
    share = (half[at - 1] - width) / (half[at - 1] - half[at])
    return round(float(sizes[at - 1] + share * (sizes[at] - sizes[at - 1])))
