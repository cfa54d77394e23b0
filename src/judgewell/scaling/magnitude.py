"""Magnitudes to gains: geometric averaging, normalisation by the known document, medians, widths, the two-way model.

A magnitude is a number above 0 whose ratios mean something; each assessor chooses its own unit of measure, so what an
assessor's numbers say is their ratios within one sitting (Turpin et al. 2015).
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError, JudgewellWarning
from judgewell.scaling.inputs import (
    GROUP,
    Repeated,
    extra_column,
    gains_frame,
    judgments_of,
    listed,
    place,
    scale_of,
    settle_repeats,
    with_groups,
)
from judgewell.scaling.laplacian import Array
from judgewell.scaling.numbers import documents_of, groups_of, numbered

Average = Literal["median", "log-median", "mean", "log-mean"]
TopicMean = Literal["judgments", "units"]
Group = Literal["unit", "assessor"]
Missing = Literal["error", "skip"]

HUGE = 700.0  # logarithms beyond this are no longer numbers
HUNDRED = ("s100", "0-100", "0–100", "0..100")  # scales from 0 to 100: a zero is a legal answer, so 1 is added
BOUNDED = ("bounded", "bounded magnitude", "bounded-magnitude")  # magnitudes between 0 and 100, both excluded


def log_scores(
    judgments: Any, *, offset: float | None = None, bound: float | None = None, repeated: Repeated = "all"
) -> pl.DataFrame:
    """The judgments with the columns `magnitude`, value + offset, and `log`, its natural logarithm.

    Without an offset given, a 0-100 scale gets 1 (a third of such scores are 0) and a magnitude scale none; a value
    that is not above 0 then is an error. `bound` is the excluded upper end of a bounded magnitude scale.
    """
    frame = with_groups(settle_repeats(judgments_of(judgments), repeated))
    check_range(frame, bound)
    added = used_offset(frame, offset)
    shifted = frame.with_columns(magnitude=pl.col("value") + added)
    bad = shifted.filter(pl.col("magnitude") <= 0)
    if len(bad):
        raise InputError(
            f"the magnitude {bad['value'][0]:g} is not above 0 ({place(bad)}), nor are {len(bad) - 1} others"
            if len(bad) > 1
            else f"the magnitude {bad['value'][0]:g} is not above 0 ({place(bad)})",
            cure=f"a magnitude has a ratio only above 0: {_cure_of_no_ratio(bad['value'], added)}",
        )
    return shifted.with_columns(log=pl.col("magnitude").log())


def _cure_of_no_ratio(values: pl.Series, added: float) -> str:
    """What to do with values that have no logarithm: an offset helps a 0, and nothing below it."""
    negative = values.filter(values < 0)
    if len(negative):
        return f"leave them out, or say that the answer is none (--words {negative[0]:g}=)"
    return f"drop these judgments, or add an offset (--offset {1 if added <= 0 else added + 1:g})"


def used_offset(frame: pl.DataFrame, offset: float | None) -> float:
    """What is added to every score before its logarithm: as asked, else 1 on a 0-100 scale and 0 on any other."""
    if offset is None:
        return 1.0 if (scale_of(frame) or "").lower() in HUNDRED else 0.0
    return offset


def check_range(frame: pl.DataFrame, bound: float | None = None) -> None:
    """Refuse a score outside its scale: 0 to 100, or below the bound of a bounded magnitude."""
    scale = (scale_of(frame) or "").lower()
    if scale in HUNDRED and bound is None:
        outside, rule = frame.filter((pl.col("value") < 0) | (pl.col("value") > 100)), "0 to 100"
    else:
        if bound is None:
            bound = 100.0 if scale in BOUNDED else float("inf")
        outside, rule = frame.filter(pl.col("value") >= bound), f"above 0 and below {bound:g}"
    if len(outside):
        raise InputError(
            f"the score {outside['value'][0]:g} is outside its scale of {rule} ({place(outside)})",
            cure="mend or drop these judgments, or name the scale they are on (column scale, option bound)",
        )


def normalised(
    judgments: Any,
    *,
    offset: float | None = None,
    bound: float | None = None,
    topic_mean: TopicMean = "judgments",
    group: Group = "unit",
    repeated: Repeated = "all",
) -> pl.DataFrame:
    """Geometric averaging: every unit's geometric mean is moved to the topic's, its ratios kept.

    s* = exp(l - mean of l in the unit + mean of l in the topic), l = log score (Turpin et al. 2015).
    Adds the columns `log` (l), `log_normalised` (log s*) and `normalised` (s*). `topic_mean="units"` takes the
    mean of the unit means; `group="assessor"` removes each assessor's mean over all topics and adds the mean of all.
    """
    frame = log_scores(judgments, offset=offset, bound=bound, repeated=repeated)
    if group == "assessor":
        _need_assessors(frame)
    units, unit = groups_of(frame, GROUP if group == "unit" else ["assessor"])
    outer = numbered(units["topic"])[1] if group == "unit" else np.zeros(len(units), dtype=np.int64)
    log = frame["log"].to_numpy()
    totals, sizes = np.bincount(unit, log), np.bincount(unit)
    means = totals / sizes
    _tell_alone(int((sizes == 1).sum()), len(sizes), group)
    if topic_mean == "units":
        centre = np.bincount(outer, means) / np.bincount(outer)
    else:
        centre = np.bincount(outer, totals) / np.bincount(outer, sizes)
    moved = log + (centre[outer] - means)[unit]
    _refuse_huge(frame, moved)
    return frame.with_columns(log_normalised=pl.Series(moved), normalised=pl.Series(np.exp(moved)))


def _tell_alone(alone: int, groups: int, group: Group) -> None:
    """A number that stands alone has no ratio to others: normalised, it is the mean, whatever was written."""
    if not alone:
        return
    cure = "normalise by assessor (--group assessor), or average the numbers as they are (--method median)"
    warnings.warn(
        f"{alone} of {groups} {group}s hold one judgment, which counts as the mean whatever it says; {cure}"
        if group == "unit"
        else f"{alone} of {groups} assessors gave one judgment, which counts as the mean whatever it says",
        JudgewellWarning,
        stacklevel=3,
    )


def _refuse_huge(frame: pl.DataFrame, log: Array) -> None:
    """A score so far from the rest of its unit that its gain is no number."""
    if max(log.max(), -log.min()) > HUGE:
        at = np.flatnonzero(np.abs(log) > HUGE)
        raise InputError(
            f"the score {frame['value'][int(at[0])]:g} is too far from the others of its unit for a gain "
            f"({place(frame, int(at[0]))})",
            cure="mend or drop it",
        )


def _need_assessors(frame: pl.DataFrame) -> None:
    nameless = frame.filter(pl.col("assessor").is_null())
    if len(nameless):
        raise InputError(
            f"{len(nameless)} judgments name no assessor ({place(nameless)})",
            cure="fill the column assessor, or normalise by unit (group=unit)",
        )


def known_scores(frame: pl.DataFrame, flag: str, missing: Missing) -> pl.DataFrame:
    """Per unit, the score of its known document (`known` is H or N), the geometric mean of several; units without one
    are refused."""
    extra_column(
        frame.drop("magnitude", "log"), "known", "H for the known highly relevant document, N for the known non-relevant one"
    )
    strange = frame.filter(~pl.col("known").is_in(["H", "N", ""]))
    if len(strange):
        raise InputError(
            f"known {strange['known'][0]!r} is neither H nor N ({place(strange)})", cure="write H, N, or nothing"
        )
    is_known = pl.col("known") == flag
    units = frame.group_by(GROUP, maintain_order=True).agg(geometric_mean(pl.col("magnitude").filter(is_known)).alias(flag))
    without = units.filter(pl.col(flag).is_null()).sort(GROUP)
    if without.is_empty():
        return units
    said = f"{len(without)} of {len(units)} units hold no known {flag} document ({listed(without)})"
    if missing == "error":
        raise DataError(f"{said}; mark it in the column known, or leave those units out (--missing skip)")
    if len(without) == len(units):
        raise DataError(f"{said}; mark them in the column known (H or N)")
    kept = units.filter(pl.col(flag).is_not_null())
    rows = frame.join(kept, on=list(GROUP), how="semi", nulls_equal=True)
    lost = frame.join(rows, on=["topic", "doc"], how="anti").select("topic", "doc").unique().sort("topic", "doc")
    gone = f", and with them {len(lost)} documents that no other unit holds ({listed(lost)})" if len(lost) else ""
    warnings.warn(f"{said}; they are left out{gone}", JudgewellWarning, stacklevel=3)
    return kept


def geometric_mean(values: pl.Expr) -> pl.Expr:
    """The geometric mean; equal values stay as they are, so that 5 does not become 4.999…"""
    return pl.when(values.min() == values.max()).then(values.first()).otherwise(values.log().mean().exp())


def exact_ratio(frame: pl.DataFrame, top: str, bottom: str) -> pl.Series:
    """One column over another, correctly rounded; polars multiplies by the reciprocal where the divisor is constant,
    which makes 694/347 a little less than 2."""
    return pl.Series(frame[top].to_numpy() / frame[bottom].to_numpy())


def by_known(
    judgments: Any,
    *,
    keep_known: bool = False,
    offset: float | None = None,
    bound: float | None = None,
    missing: Missing = "error",
    repeated: Repeated = "all",
) -> pl.DataFrame:
    """Scores divided by the score of the unit's known N document: s / s(N) in the column `normalised`.

    N itself is always 1 and is left out of its level unless `keep_known` (Turpin et al. 2015, Fig. 8).
    """
    frame = log_scores(judgments, offset=offset, bound=bound, repeated=repeated)
    units = known_scores(frame, "N", missing)
    result = frame.join(units, on=list(GROUP), how="inner", nulls_equal=True, maintain_order="left")
    result = result.with_columns(normalised=exact_ratio(result, "magnitude", "N")).drop("N")
    return result if keep_known else result.filter((pl.col("known") != "N").fill_null(True))


def widths(
    judgments: Any,
    *,
    offset: float | None = None,
    bound: float | None = None,
    missing: Missing = "error",
    repeated: Repeated = "all",
) -> pl.DataFrame:
    """Per unit, how wide its assessor spread the scale: score(H) / score(N) (Turpin et al. 2015, Fig. 7)."""
    frame = log_scores(judgments, offset=offset, bound=bound, repeated=repeated)
    high, low = known_scores(frame, "H", missing), known_scores(frame, "N", missing)
    both = high.join(low, on=list(GROUP), how="inner", nulls_equal=True)
    return both.select(*GROUP, width=exact_ratio(both, "H", "N")).sort(GROUP)


def averaged(frame: pl.DataFrame, average: Average = "median", column: str = "normalised") -> pl.DataFrame:
    """One gain per document from its scores: `median` (the arithmetic middle of an even count), `log-median` (the
    geometric middle), `mean` or `log-mean` (the geometric mean)."""
    documents, values = documents_of(frame), frame[column].to_numpy()
    values = np.log(values) if average.startswith("log-") else values
    gain = documents.medians(values) if average.endswith("median") else documents.means(values)
    gain = np.exp(gain) if average.startswith("log-") else gain
    return gains_frame(documents.table.with_columns(gain=pl.Series(gain)), ordered=True)


def width_gains(
    scores: pl.DataFrame, unit_widths: pl.DataFrame, *, side: Literal["narrow", "wide"], cut: float | None = 5.0
) -> pl.DataFrame:
    """Medians over the narrow (width < cut) or wide (>= cut) units alone; a document that no such unit holds gets the
    smallest (narrow) or largest (wide) of all its scores. `cut=None` is the median width (Turpin et al. 2015)."""
    limit = float(np.median(unit_widths["width"].to_numpy())) if cut is None else cut
    chosen = pl.col("width") < limit if side == "narrow" else pl.col("width") >= limit
    marked = scores.join(unit_widths, on=list(GROUP), how="inner", nulls_equal=True)
    inside, score = pl.col("normalised").filter(chosen), pl.col("normalised")
    fallback = score.min() if side == "narrow" else score.max()
    gains = marked.group_by("topic", "doc").agg(
        gain=inside.median(), other=fallback, inside=inside.len(), total=pl.len()
    )
    alone = gains.filter(pl.col("inside") == 0).sort("topic", "doc")
    if len(alone):
        said = "smallest" if side == "narrow" else "largest"
        warnings.warn(
            f"{len(alone)} documents are in no {side} unit (cut {limit:g}); their gain is the {said} of all their "
            f"scores ({listed(alone)})",
            JudgewellWarning,
            stacklevel=2,
        )
    count = pl.when(pl.col("inside") > 0).then("inside").otherwise("total")
    return gains_frame(gains.with_columns(gain=pl.coalesce("gain", "other"), judgments=count))


def sampled(scores: pl.DataFrame, generator: np.random.Generator, size: int = 1) -> Array:
    """One randomly chosen score per document, `size` times: an array size x documents in topic and document order
    (Turpin et al. 2015, Fig. 6)."""
    ordered = scores.select("topic", "doc", "normalised").sort("topic", "doc", maintain_order=True)
    counts = ordered.group_by("topic", "doc", maintain_order=True).len()["len"].to_numpy().astype(np.int64)
    starts = np.cumsum(counts) - counts
    picks = starts + (generator.random((size, len(counts))) * counts).astype(np.int64)
    return np.asarray(ordered["normalised"].to_numpy()[picks])
