"""How long judging took: distributions with a gamma fit, and time against document length and position.

The gamma density is x^(k−1) e^(−x/θ) / (Γ(k) θ^k) on x > 0, fitted by maximum likelihood with the origin at 0:
log k − ψ(k) = log(mean) − mean(log), θ = mean / k.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from judgewell.agreement.common import check_columns, each_group, five_numbers, require, rows_table
from judgewell.errors import DataError, InputError, note
from judgewell.stats.arrays import Floats
from judgewell.tables import JUDGMENTS, PAIRS, Table, check, frame_of
from judgewell.text import counted


def time_distribution(work: Any, *, by: Sequence[str] = (), longest: float | None = None) -> pl.DataFrame:
    """Seconds per judgment (or per pair): quartiles, mean and the gamma that fits best (Yang et al. 2018, Fig. 5).

    Times of 0 or below are no durations and are excluded, as are those above `longest` where it is given; both are
    counted. `distance` is the largest gap between the data's and the gamma's distribution functions.
    """
    frame = _timed(work, longest)
    check_columns(frame, by)
    rows = []
    for key, part in each_group(frame, by):
        summary = part.select(
            pl.len().cast(pl.Int64).alias("count"), pl.col("seconds").mean().alias("mean"), *five_numbers("seconds")
        ).row(0, named=True)
        rows.append(key | summary | _gamma_row(part["seconds"].to_numpy()))
    return rows_table(rows, "shape", "scale", "distance")


def time_histogram(
    work: Any, *, by: Sequence[str] = (), width: float = 10, longest: float | None = None
) -> pl.DataFrame:
    """Bars of total area 1 with the fitted gamma's density at their middle, for drawing."""
    from scipy.stats import gamma

    if width <= 0:
        raise InputError(f"bars {width} seconds wide cannot be drawn", cure="give a width above 0")
    parts = []
    for key, part in each_group(_timed(work, longest), by):
        seconds = part["seconds"].to_numpy()
        counts = np.bincount((seconds // width).astype(np.int64))
        middle = (np.arange(len(counts)) + 0.5) * width
        fit = _gamma_row(seconds)
        curve = None if fit["shape"] is None else gamma.pdf(middle, fit["shape"], scale=fit["scale"])
        bars = {"seconds": middle, "count": counts, "density": counts / counts.sum() / width, "gamma": curve}
        table = pl.DataFrame(bars, schema_overrides={"gamma": pl.Float64})
        parts.append(table.select(*(pl.lit(value).alias(name) for name, value in key.items()), pl.all()))
    return pl.concat(parts)


def time_by_position(work: Any) -> pl.DataFrame:
    """Seconds at each place in the unit: does the work speed up?"""
    frame = _timed(work, None)
    require(frame, "position", "time by position")
    return (
        frame.filter(pl.col("position").is_not_null())
        .group_by("position")
        .agg(pl.len().cast(pl.Int64).alias("count"), pl.col("seconds").mean().alias("mean"), *five_numbers("seconds"))
        .sort("position")
    )


def time_and_length(work: Any, lengths: Any, *, longest: float | None = None) -> pl.DataFrame:
    """Each assessor's mean time and mean document length in a topic: the dots of Yang et al. 2018, Fig. 6.

    `lengths` has doc and length (and topic, where a document's shown text depends on it); a pair's length is the mean
    of its two documents'.
    """
    timed = _timed(work, longest)
    require(timed, "assessor", "time against length")
    table = frame_of(lengths)
    missing = [name for name in ("doc", "length") if name not in table.columns]
    if missing:
        raise InputError(f"the lengths table lacks {', '.join(missing)}", cure="give doc and length")
    on = ["topic", "doc"] if "topic" in table.columns else ["doc"]
    table = table.select(*[pl.col(name).cast(pl.String) for name in on], pl.col("length").cast(pl.Float64)).unique(on)
    known = _with_length(timed, table, on)
    lost = known["length"].null_count()
    if lost == known.height:
        raise DataError("no document judged has a length")
    if lost:
        note(f"{counted(lost, 'judgment')} of documents without a length are excluded from time against length")
    return (
        known.drop_nulls("length")
        .group_by("topic", "assessor")
        .agg(count=pl.len().cast(pl.Int64), seconds=pl.col("seconds").mean(), length=pl.col("length").mean())
        .sort("topic", "assessor")
    )


def time_against_length(dots: pl.DataFrame) -> pl.DataFrame:
    """Kendall's tau-b between the columns length and seconds of :func:`time_and_length`, with its p.

    With hundreds of dots a tau near 0 can be significant: read the size of tau first.
    """
    from scipy.stats import kendalltau

    if dots.height < 3 or dots["length"].n_unique() < 2 or dots["seconds"].n_unique() < 2:
        raise DataError(f"time against length needs three assessors with different times; there are {dots.height}")
    result = kendalltau(dots["length"].to_numpy(), dots["seconds"].to_numpy())
    return pl.DataFrame([{"points": dots.height, "tau": float(result.statistic), "p": float(result.pvalue)}])


def gamma_fit(values: Floats) -> tuple[float, float]:
    """Shape and scale of the gamma with origin 0 that makes positive values most likely."""
    from scipy.optimize import brentq
    from scipy.special import digamma

    mean = values.mean()
    gap = float(np.log(mean) - np.log(values).mean())
    if gap < 1e-12:
        raise DataError(f"a gamma needs times that vary; all {len(values)} are {mean:g}")
    guess = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)  # within 1.5 % (Minka 2002)
    shape = brentq(lambda k: np.log(k) - digamma(k) - gap, guess / 2, guess * 2, xtol=1e-12, rtol=1e-12)
    return float(shape), float(mean / shape)


def _timed(work: Any, longest: float | None) -> pl.DataFrame:
    """The rows whose time is a duration."""
    table: Table = PAIRS if "left" in frame_of(work).columns else JUDGMENTS
    frame = check(work, table)
    require(frame, "seconds", "time per judgment")
    known = frame.drop_nulls("seconds")
    positive = known.filter(pl.col("seconds") > 0)
    if positive.height < known.height:
        note(f"{counted(known.height - positive.height, 'time')} of 0 seconds or below are excluded")
    kept = positive if longest is None else positive.filter(pl.col("seconds") <= longest)
    if kept.height < positive.height:
        note(f"{counted(positive.height - kept.height, 'time')} above {longest:g} seconds are excluded")
    if kept.is_empty():
        raise DataError("no time is above 0 seconds")
    return kept


def _gamma_row(seconds: Floats) -> dict[str, Any]:
    from scipy.stats import gamma, kstest

    if len(seconds) < 2 or np.ptp(seconds) == 0:
        return {"shape": None, "scale": None, "distance": None, "note": "a gamma needs two different times"}
    shape, scale = gamma_fit(seconds)
    distance = float(kstest(seconds, gamma(shape, scale=scale).cdf).statistic)
    return {"shape": shape, "scale": scale, "distance": distance, "note": None}


def _with_length(timed: pl.DataFrame, lengths: pl.DataFrame, on: list[str]) -> pl.DataFrame:
    if "left" not in timed.columns:
        return timed.drop("length", strict=False).join(lengths, on=on, how="left", maintain_order="left")
    keep = [name for name in on if name != "doc"]
    for side in ("left", "right"):
        named = lengths.rename({"doc": side, "length": f"{side}_length"})
        timed = timed.join(named, on=[*keep, side], how="left", maintain_order="left")
    return timed.with_columns(length=(pl.col("left_length") + pl.col("right_length")) / 2)
