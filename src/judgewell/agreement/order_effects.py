"""Did the order of documents, or the time of judging, change the answer?

Units with a fixed order of grades (templates) are compared with each other; units in random order are tested within:
under no effect, the places of a unit's documents are exchangeable, which gives the exact mean and variance of every sum
over places, whatever the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from judgewell.agreement.common import (
    DOCUMENT,
    check_columns,
    each_group,
    five_numbers,
    judgments_of,
    require,
    rows_table,
    with_grades,
)
from judgewell.agreement.scale_use import ratios_within_units
from judgewell.agreement.unit_grades import with_unit_number
from judgewell.errors import DataError, InputError, note
from judgewell.stats.arrays import Floats
from judgewell.text import agrees, counted

DIGITS = 12  # of shares; what is smaller is rounding and must not pass as an effect


def with_templates(judgments: Any, grades: Any, names: dict[float, str]) -> pl.DataFrame:
    """The judgments with the column `template`: the grades of the unit's documents in the order they were shown.

    `names` turns grades into letters ({0: "N", 1: "M", 2: "R", 3: "H"}); a document without a grade is "U".
    """
    frame = with_unit_number(with_grades(judgments_of(judgments), grades))
    require(frame, "position", "templates")
    letters = {grade: f"{grade:g}" for grade in frame["grade"].drop_nulls().unique()} | names
    letter = pl.col("grade").replace_strict(letters, default="U", return_dtype=pl.String)
    shown = frame.sort("position", maintain_order=True).group_by("unit_number").agg(template=letter.str.join(""))
    return (
        frame.drop("template", strict=False)
        .join(shown, on="unit_number", maintain_order="left")
        .drop("unit_number", "grade")
    )


def ratio_order_effects(judgments: Any, grades: Any, *, offset: float = 0.0) -> pl.DataFrame:
    """Kolmogorov–Smirnov between orders, for the ratio of every two grades within a unit.

    With a column `template`, every two templates that show both grades are compared (as for NMRH against HRMN in the
    papers). Without it, ratios where the lower grade was shown first are compared with those where the upper one was.
    """
    frame = judgments_of(judgments)
    templated = "template" in frame.columns and frame["template"].null_count() < frame.height
    if not templated:
        require(frame, "position", "order effects")
    ratios = ratios_within_units(frame, grades, offset=offset, by=["template"] if templated else [])
    if not templated:
        first = pl.when(pl.col("lower_position") < pl.col("upper_position")).then(pl.lit("lower first"))
        ratios = ratios.with_columns(template=first.otherwise(pl.lit("upper first")))
    rows = []
    for key, part in each_group(ratios, ["lower", "upper"]):
        orders = {
            name[0]: each["ratio"].to_numpy() for name, each in part.partition_by("template", as_dict=True).items()
        }
        for one, other in combinations(sorted(orders), 2):
            rows.append(key | {"order": one, "other": other} | _kolmogorov(orders[one], orders[other]))
    if not rows:
        raise DataError("order effects need two grades shown in two orders; every pair of grades has one order only")
    return pl.DataFrame(rows, infer_schema_length=None)


def score_by_position(judgments: Any) -> pl.DataFrame:
    """The values at each place in the unit (Scholer et al. 2014, Fig. 5)."""
    frame = judgments_of(judgments)
    require(frame, "position", "score by position")
    return (
        frame.filter(pl.col("position").is_not_null())
        .group_by("position")
        .agg(pl.len().cast(pl.Int64).alias("judgments"), pl.col("value").mean().alias("mean"), *five_numbers("value"))
        .sort("position")
    )


def position_effect(judgments: Any, *, by: Sequence[str] = ()) -> pl.DataFrame:
    """Does the position in the unit move the answer? For units whose documents came in random order.

    A judgment's rank in its unit (as a share) minus the document's mean rank elsewhere is summed by position. `slope`
    is the change per position with its z and p (trend); `chi2` tests any difference between positions on `df` degrees.
    Documents that always stood at one position cannot show an effect and are excluded.
    """
    frame = moved_documents(_residuals(judgments))
    check_columns(frame, by)
    rows = []
    for key, part in each_group(frame, by):
        rows.append(key | {"judgments": part.height} | _trend(part) | _any_effect(part))
    return rows_table(rows, "slope", "z", "p", "chi2", "p_any")


def assessor_drift(judgments: Any, *, least_judgments: int = 16) -> pl.DataFrame:
    """Each assessor's trend: do values rise or fall within units? Strongest first, with Holm's p.

    Assessors with fewer than `least_judgments` have no power and are excluded.
    """
    frame = _residuals(judgments)
    require(frame, "assessor", "drift")
    rows = []
    for key, part in each_group(frame.filter(pl.len().over("assessor") >= least_judgments), ["assessor"]):
        rows.append(key | {"judgments": part.height} | _trend(part))
    if not rows:
        raise DataError(f"drift needs an assessor with {least_judgments} judgments; none has so many")
    table = rows_table(rows, "slope", "z", "p")
    return table.with_columns(p_holm=pl.Series(holm(table["p"].fill_null(1.0).to_numpy()))).sort("p", nulls_last=True)


def moved_documents(frame: pl.DataFrame) -> pl.DataFrame:
    """The judgments of documents that stood at two positions or more; only these separate position from document."""
    moved = frame.filter(pl.col("position").drop_nulls().n_unique().over(DOCUMENT) > 1)
    documents = frame.select(DOCUMENT).n_unique()
    lost = documents - moved.select(DOCUMENT).n_unique()
    if moved.is_empty():
        raise DataError(
            f"an effect of position needs documents that stood at several positions; each of {documents} stood at one"
        )
    if lost:
        note(
            f"{counted(lost, 'document')} of {documents} {agrees(lost, 'was', 'were')} shown at one position only and "
            "cannot show an effect of position"
        )
    return moved


def holm(p: Floats) -> Floats:
    """Holm's step-down adjustment: p values that hold for all tests together."""
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _kolmogorov(one: Floats, other: Floats) -> dict[str, Any]:
    from scipy.stats import ks_2samp

    result = ks_2samp(one, other)
    counts = {"count": len(one), "other_count": len(other)}
    medians = {"median": float(np.median(one)), "other_median": float(np.median(other))}
    return counts | medians | {"distance": float(result.statistic), "p": float(result.pvalue)}


def _residuals(judgments: Any) -> pl.DataFrame:
    """Each judgment's rank in its unit as a share, minus the document's mean share in other units."""
    frame = judgments_of(judgments)
    require(frame, "position", "effects of order and time")
    lacking = frame["position"].null_count()
    if lacking:
        raise InputError(f"{lacking} judgments have no position", cure="leave them out, or give their positions")
    numbered = with_unit_number(frame).filter(pl.len().over("unit_number") > 1)
    if numbered.is_empty():
        raise DataError("effects of order need units of two judgments or more")
    share = (pl.col("value").rank("average").over("unit_number") - 0.5) / pl.len().over("unit_number")
    shared = numbered.with_columns(share=share)
    others = pl.len().over(DOCUMENT) - 1
    elsewhere = (pl.col("share").sum().over(DOCUMENT) - pl.col("share")) / others
    residual = pl.col("share") - pl.when(others > 0).then(elsewhere).otherwise(0.5)
    return shared.with_columns(residual=residual.round(DIGITS))


def _trend(part: pl.DataFrame) -> dict[str, Any]:
    """The within-block slope and its z under exchangeable places: Var Σ(x−x̄)(e−ē) = Sxx See/(m − 1)."""
    from scipy.stats import norm

    _, codes = np.unique(part["unit_number"].to_numpy(), return_inverse=True)
    when, residual = part["position"].to_numpy().astype(float), part["residual"].to_numpy()
    size = np.bincount(codes)
    x = when - (np.bincount(codes, weights=when) / size)[codes]
    e = residual - (np.bincount(codes, weights=residual) / size)[codes]
    sxx, see = np.bincount(codes, weights=x * x), np.bincount(codes, weights=e * e)
    total, variance = float(x @ e), float((sxx * see / np.maximum(size - 1, 1)).sum())
    if variance <= 0:
        return {"slope": None, "z": None, "p": None, "note": "nothing varies within units: no trend can show"}
    z = total / np.sqrt(variance)
    return {"slope": total / float(sxx.sum()), "z": float(z), "p": float(2 * norm.sf(abs(z))), "note": None}


def _any_effect(part: pl.DataFrame) -> dict[str, Any]:
    """Friedman's test for units of any size: T′V⁻T with T the residual sums by place, V their covariance."""
    from scipy.stats import chi2

    block, place = (np.unique(part[name].to_numpy(), return_inverse=True)[1] for name in ("unit_number", "position"))
    residual = part["residual"].to_numpy()
    size = np.bincount(block)
    e = residual - (np.bincount(block, weights=residual) / size)[block]
    spread = np.bincount(block, weights=e * e) / np.maximum(size - 1, 1)
    places = int(place.max()) + 1
    sums = np.bincount(place, weights=e, minlength=places)
    there = np.zeros((len(size), places))
    np.add.at(there, (block, place), 1.0)
    covariance = np.diag(spread @ there) - (there * (spread / size)[:, None]).T @ there
    values, vectors = np.linalg.eigh(covariance)
    free = values > 1e-9 * max(values.max(), 0)  # rows of V sum to 0: at least one direction is empty
    rank = int(free.sum())
    if not rank:
        return {"chi2": None, "df": 0, "p_any": None}
    statistic = float(((vectors[:, free].T @ sums) ** 2 / values[free]).sum())
    return {"chi2": statistic, "df": rank, "p_any": float(chi2.sf(statistic, rank))}
