"""Gains of documents that were drawn with known probabilities (column inclusion)."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgewell.errors import note
from judgewell.evaluation.measures import Measure
from judgewell.evaluation.measures.cumulative import CG, DCG, nDCG
from judgewell.tables import INCLUSION


def weighted_by_inclusion(gains: pl.DataFrame, measures: Sequence[Measure]) -> pl.DataFrame:
    """The gains over their inclusion probability π, where every measure is a sum of gains (Horvitz and Thompson 1952).

    A document that was drawn stands for 1/π documents like it, so CG and DCG are unbiased although documents that were
    not drawn count 0. Other measures are not sums of gains: they get the gains as they are, and a note.
    """
    if INCLUSION.name not in gains.columns or not (gains[INCLUSION.name] < 1).any():
        return gains
    drawn = int((gains[INCLUSION.name] < 1).sum())
    other = next((one for one in measures if not _sums_gains(one)), None)
    if other is not None:
        note(
            f"{drawn:,} documents were drawn with a probability below 1 (column inclusion), and {other} is not a sum "
            "of gains: documents that were not drawn count as unjudged, which lowers scores; use DCG@10, or --machine"
        )
        return gains
    note(f"{drawn:,} gains are divided by the probability with which their documents were drawn (column inclusion)")
    return gains.with_columns(gain=pl.col("gain") / pl.col(INCLUSION.name).fill_null(1.0))


def _sums_gains(measure: Measure) -> bool:
    """CG, or DCG of gains as they are."""
    if type(measure) is CG:
        return True
    return isinstance(measure, DCG) and not isinstance(measure, nDCG) and measure.gain == "linear" and not measure.gains
