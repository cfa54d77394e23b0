"""How often the interval of Krippendorff's alpha holds the alpha of endlessly many documents.

A part of docs/evidence/intervals.md, which intervals.py writes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from evidence import markdown
from numpy.typing import NDArray

from judgewell.agreement.alpha import krippendorff_alpha

STUDIES = 400
DOCUMENTS = (10, 30, 100)
JUDGES = 5
ENDLESS = 5000  # documents, for the truth
SCALES = {"ordinal": "five levels", "interval": "any number", "ratio": "magnitudes"}


def judgments(metric: str, documents: int, rng: np.random.Generator) -> pl.DataFrame:
    """Worth and noise are normal and equally wide; answers are cut into levels, left alone, or taken as logarithms."""
    seen: NDArray[np.float64] = rng.normal(size=(documents, 1)) + rng.normal(size=(documents, JUDGES))
    levels = np.digitize(seen, [-1, 0, 1, 2]).astype(float)
    values = {"ordinal": levels, "interval": seen, "ratio": np.exp(seen)}[metric]
    names = np.repeat([f"d{number}" for number in range(documents)], JUDGES)
    return pl.DataFrame({"doc": names, "value": values.ravel()}).with_columns(topic=pl.lit("t"))


def held(metric: str, seed: int) -> Iterator[str]:
    """For each number of documents, the share of intervals that hold the truth."""
    rng = np.random.default_rng([seed, *metric.encode()])
    truth = krippendorff_alpha(judgments(metric, ENDLESS, rng), metric, replicates=0)["alpha"].item()
    for documents in DOCUMENTS:
        found = pl.concat(
            krippendorff_alpha(judgments(metric, documents, rng), metric, seed=study) for study in range(STUDIES)
        )
        share = found.select(pl.lit(truth).is_between("low", "high").mean()).item()
        yield f"{100 * share:.1f} %"


def section(seed: int) -> Iterator[str]:
    """The lines of the page."""
    yield f"""## Intervals of α

How often the 95 % interval of Krippendorff's α, resampled over documents, holds the α of {ENDLESS:,} documents.
{STUDIES} studies for each cell, {JUDGES} judges of each document.
"""
    rows = [(metric, SCALES[metric], *held(metric, seed)) for metric in SCALES]
    yield markdown(("metric", "answers", *(f"{count} documents" for count in DOCUMENTS)), rows, words=2)
    yield "With few documents these intervals are too narrow."
