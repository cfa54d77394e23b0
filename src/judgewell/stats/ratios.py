"""Ratios of magnitudes without rounding errors, so that a ratio of exactly 5 falls on the right side of a cut at 5."""

from __future__ import annotations

import polars as pl


def geometric_mean(values: pl.Expr) -> pl.Expr:
    """The geometric mean; equal values stay as they are, so that 5 does not become 4.999…"""
    return pl.when(values.min() == values.max()).then(values.first()).otherwise(values.log().mean().exp())


def exact_ratio(frame: pl.DataFrame, top: str, bottom: str) -> pl.Series:
    """One column over another, correctly rounded, missing where either is.

    Polars multiplies by the reciprocal where the divisor is constant, which makes 694/347 a little less than 2.

    >>> exact_ratio(pl.DataFrame({"high": [694.0, 694.0], "low": [347.0, 347.0]}), "high", "low").to_list()
    [2.0, 2.0]
    """
    return pl.Series(frame[top].to_numpy() / frame[bottom].to_numpy(), nan_to_null=True)
