"""Magnitudes beside the unit's known documents: multiples of the known N document, and units by their width H/N."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.errors import DataError, InputError, note
from judgewell.scaling.inputs import GROUP, Repeated, extra_column, gains_frame, listed, place
from judgewell.scaling.magnitude import (
    TURPIN,
    Averaged,
    Scores,
    averaged,
    averaged_interval,
    log_scores,
    normalised,
)
from judgewell.stats.ratios import exact_ratio, geometric_mean
from judgewell.text import agrees, counted

Missing = Literal["error", "skip"]


def known_scores(frame: pl.DataFrame, flag: str, missing: Missing) -> pl.DataFrame:
    """Per unit, the score of its known document (`known` is H or N), the geometric mean of several; units without one
    are refused."""
    about = "H for the known highly relevant document, N for the known non-relevant one"
    extra_column(frame.drop("magnitude", "log"), "known", about)
    strange = frame.filter(~pl.col("known").is_in(["H", "N", ""]))
    if len(strange):
        raise InputError(
            f"known {strange['known'][0]!r} is neither H nor N ({place(strange)})", cure="write H, N, or nothing"
        )
    own = pl.col("magnitude").filter(pl.col("known") == flag)
    units = frame.group_by(GROUP, maintain_order=True).agg(geometric_mean(own).alias(flag))
    without = units.filter(pl.col(flag).is_null()).sort(GROUP)
    if without.is_empty():
        return units
    problem = f"{len(without)} of {len(units)} units hold no known {flag} document ({listed(without)})"
    if missing == "error":
        raise DataError(f"{problem}; mark it in the column known, or leave those units out (--missing skip)")
    if len(without) == len(units):
        raise DataError(f"{problem}; mark them in the column known (H or N)")
    kept = units.filter(pl.col(flag).is_not_null())
    rows = frame.join(kept, on=list(GROUP), how="semi", nulls_equal=True)
    lost = frame.join(rows, on=["topic", "doc"], how="anti").select("topic", "doc").unique().sort("topic", "doc")
    gone = f", and with them {len(lost)} documents that no other unit holds ({listed(lost)})" if len(lost) else ""
    note(f"{problem}; they are excluded{gone}")
    return kept


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

    N itself is always 1 and is excluded from its grade unless `keep_known` (Turpin et al. 2015, Fig. 8).
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
        extreme = "smallest" if side == "narrow" else "largest"
        note(
            f"{counted(len(alone), 'document')} {agrees(len(alone), 'is', 'are')} in no {side} unit (cut {limit:g}); "
            f"the gain is the {extreme} of all scores of the document ({listed(alone)})"
        )
    count = pl.when(pl.col("inside") > 0).then("inside").otherwise("total")
    return gains_frame(gains.with_columns(gain=pl.coalesce("gain", "other"), judgments=count))


@dataclass(frozen=True, kw_only=True)
class KnownRatio(Averaged):
    """Every magnitude divided by the magnitude of the unit's known N document; the gain of N is 1 by definition.

    Formula: value / value of the unit's known N document; a document's gain is the median of these ratios.
    Use: If every unit holds a known document that is not relevant (N): a gain says how many times as relevant a
    document is.
    Traps: Every gain is divided by the value of one document, so the noise of that document is in every gain. It needs
    the column known (H, N).
    """

    name = "known-ratio"
    purpose = "magnitudes as multiples of the unit's known N document (column known), then the median per document"
    source = TURPIN
    missing: Missing = "error"

    def scores(self, table: Any) -> pl.DataFrame:
        return by_known(table, keep_known=True, missing=self.missing, **self.scored)

    def by_formula(self, table: Any, level: float) -> pl.DataFrame:
        """N, which is 1 in every unit, shows nothing about how far judgments spread; its interval has no width."""
        scores = self.scores(table)
        others = scores.filter((pl.col("known") != "N").fill_null(True))
        gains = averaged_interval(averaged(scores, self.average), others, self.average, level, self.in_logs)
        by_definition = scores.filter(known="N").select("topic", "doc").unique().with_columns(one=pl.lit(True))
        joined = gains.join(by_definition, on=["topic", "doc"], how="left", maintain_order="left")
        return joined.with_columns(
            low=pl.when("one").then("gain").otherwise("low"), high=pl.when("one").then("gain").otherwise("high")
        ).drop("one")


@dataclass(frozen=True, kw_only=True)
class Width(Scores):
    """The gains of magnitude from narrow or wide units only; a unit is wide if its known H is many times its known N.

    Formula: magnitude over the units with known H / known N < cut (narrow) or ≥ cut (wide); a document in no such
    unit gets the smallest (narrow) or largest (wide) of all its s*.
    Use: For sensitivity analyses: which gains would assessors give who use a narrow, or a wide, range of numbers?
    Traps: Units are chosen by their answers, so the gains do not estimate what all assessors think. Fewer judgments
    remain. The interval describes the median of the chosen units.
    """

    name = "width"
    purpose = "normalised magnitudes of narrow or wide units alone, by the ratio of their known H and N documents"
    source = TURPIN
    side: Literal["narrow", "wide"] = "narrow"
    cut: float | None = 5.0
    missing: Missing = "error"

    def gains(self, table: Any) -> pl.DataFrame:
        units = widths(table, missing=self.missing, **self.scored)
        return width_gains(normalised(table, **self.scored), units, side=self.side, cut=self.cut)

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        return {**super().tables(table), "widths": widths(table, missing=self.missing, **self.scored)}
