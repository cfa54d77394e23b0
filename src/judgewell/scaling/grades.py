"""Grades and 0-100 scores to gains: majority, mean, median, profiles of levels, and levels' gains from magnitudes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
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
    settle_repeats,
)
from judgewell.scaling.magnitude import averaged, check_range, log_scores
from judgewell.tables import GAINS, check

Tied = Literal["mean", "lowest", "highest", "error"]
Anchor = Literal["highest", "lowest"]
PROFILES = ("linear", "exp2", "binary")


def profile_table(
    profile: str | Mapping[float, float], levels: Any, *, threshold: float | None = None
) -> dict[float, float]:
    """The gain of each level: `linear` (the level), `exp2` (2^level - 1), `binary` (1 from the threshold on), or a
    table: a mapping, or text like "0:0,1:0.3,2:1"."""
    found = sorted({float(level) for level in levels})
    if isinstance(profile, str) and profile not in PROFILES:
        profile = _read_table(profile)
    if isinstance(profile, Mapping):
        return _from_table(profile, found)
    if (profile == "binary") != (threshold is not None):
        raise InputError(
            f"the profile {profile} goes {'only with' if profile == 'binary' else 'without'} a threshold",
            cure="write profile=binary with threshold=1 (or another level), or leave both out",
        )
    if profile == "binary":
        return {level: float(level >= (threshold or 0.0)) for level in found}
    return {level: level if profile == "linear" else 2.0**level - 1 for level in found}


def _read_table(text: str) -> dict[float, float]:
    try:
        entries = [entry.split(":") for entry in text.replace(";", ",").split(",") if entry.strip()]
        return {float(level): float(gain) for level, gain in entries}
    except ValueError as error:
        raise InputError(
            f"the profile {text!r} is neither one of {', '.join(PROFILES)} nor a table of levels",
            cure="write level:gain pairs, like 0:0,1:0.3,2:1",
        ) from error


def _from_table(table: Mapping[float, float], found: list[float]) -> dict[float, float]:
    given = {float(level): float(gain) for level, gain in table.items()}
    lost = [level for level in found if level not in given]
    if lost:
        raise InputError(
            f"the table gives no gain for the level {lost[0]:g}; it has {', '.join(f'{level:g}' for level in given)}",
            cure=f"add {lost[0]:g}:… to it",
        )
    wrong = [level for level, gain in given.items() if not np.isfinite(gain)]
    if wrong:
        raise InputError(
            f"the gain of the level {wrong[0]:g} is undefined", cure="give it a finite gain: nobody used that level"
        )
    return {level: given[level] for level in found}


def graded(
    judgments: Any,
    profile: str | Mapping[float, float] = "linear",
    *,
    threshold: float | None = None,
    repeated: Repeated = "all",
) -> pl.DataFrame:
    """The judgments with their value turned into the gain of its level."""
    frame = settle_repeats(judgments_of(judgments), repeated)
    check_range(frame)
    if profile == "linear" and threshold is None:
        return frame
    table = profile_table(profile, frame["value"].unique(), threshold=threshold)
    return frame.with_columns(pl.col("value").replace_strict(table, return_dtype=pl.Float64))


def level_gains(
    levels: pl.DataFrame, profile: str | Mapping[float, float], *, threshold: float | None = None
) -> pl.DataFrame:
    """A gains table of whole levels (classic qrels) with each level turned into its gain."""
    table = profile_table(profile, levels["gain"].unique(), threshold=threshold)
    return levels.with_columns(pl.col("gain").replace_strict(table, return_dtype=pl.Float64))


def mean(graded_judgments: pl.DataFrame) -> pl.DataFrame:
    """The mean of a document's judgments."""
    return averaged(graded_judgments, "mean", "value")


def median(graded_judgments: pl.DataFrame) -> pl.DataFrame:
    """The median of a document's judgments; of an even count the arithmetic middle."""
    return averaged(graded_judgments, "median", "value")


def majority(graded_judgments: pl.DataFrame, ties: Tied = "mean") -> pl.DataFrame:
    """The value most of a document's judgments have; of tied values their mean, the lowest or the highest."""
    votes = graded_judgments.group_by("topic", "doc", "value").agg(votes=pl.len())
    top = votes.filter(pl.col("votes") == pl.col("votes").max().over("topic", "doc"))
    pick = {"lowest": pl.col("value").min(), "highest": pl.col("value").max()}.get(ties, pl.col("value").mean())
    chosen = (
        top.sort("topic", "doc", "value").group_by("topic", "doc", maintain_order=True).agg(gain=pick, tied=pl.len())
    )
    tied = chosen.filter(pl.col("tied") > 1).sort("topic", "doc")
    if len(tied) and ties == "error":
        raise DataError(f"{len(tied)} documents have no majority ({listed(tied)}); say ties=mean, lowest or highest")
    if len(tied):
        warnings.warn(
            f"{len(tied)} of {len(chosen)} documents have no majority; they get the {ties} of their most frequent "
            f"values ({listed(tied)})",
            JudgewellWarning,
            stacklevel=2,
        )
    counts = graded_judgments.group_by("topic", "doc").agg(judgments=pl.len())
    return gains_frame(chosen.join(counts, on=["topic", "doc"]))


def level_chain(
    judgments: Any,
    *,
    label: str = "label",
    anchor: Anchor = "highest",
    offset: float | None = None,
    bound: float | None = None,
    repeated: Repeated = "all",
) -> pl.DataFrame:
    """The gains of levels derived from magnitudes: the chain of median ratios of adjacent levels.

    For each unit and each pair of its documents on adjacent levels the ratio of the higher to the lower document's
    score; `ratio` is the median over all of them, and a level's `gain` the product of the ratios from the anchor, whose
    gain is 1 (Maddalena et al. anchor H; the poster anchors N). The median of ratios is not the ratio of medians, and
    the chain not the direct median of H/N: this is the chain. Levels no unit connects to the anchor are missing.
    """
    frame = extra_column(judgments_of(judgments), label, "the document's level, a number", "label")
    scores = log_scores(frame, offset=offset, bound=bound, repeated=repeated)
    scores = scores.with_columns(pl.col(label).cast(pl.Float64)).filter(pl.col(label).is_not_null())
    if scores.is_empty():
        raise DataError(f"no judged document has a level in the column {label}; the chain needs labelled documents")
    levels = scores[label].unique().sort().to_list()
    side = scores.select(*GROUP, pl.col(label).alias("level"), "log")
    above = side.join(side, on=list(GROUP), nulls_equal=True, suffix="_lower")
    steps = dict(zip(levels[1:], levels[:-1], strict=True))
    next_lower = pl.col("level").replace_strict(steps, default=None, return_dtype=pl.Float64)
    adjacent = above.filter(pl.col("level_lower") == next_lower)
    logs = adjacent.group_by("level").agg(ratio=(pl.col("log") - pl.col("log_lower")).exp().median(), ratios=pl.len())
    table = pl.DataFrame({"level": levels}).join(logs, on="level", how="left", maintain_order="left")
    table = table.with_columns(pl.col("ratios").fill_null(0).cast(pl.Int64))
    return table.with_columns(gain=pl.Series(_chained(table["ratio"].to_list(), anchor))).select(
        "level", "gain", "ratio", "ratios"
    )


def _chained(ratios: list[float | None], anchor: Anchor) -> list[float | None]:
    """Gains from the ratios to the next lower level (the first has none), 1 at the anchor, None beyond a gap."""
    gains: list[float | None] = [None] * len(ratios)
    if anchor == "lowest":
        gains[0] = 1.0
        for at in range(1, len(ratios)):
            below, ratio = gains[at - 1], ratios[at]
            gains[at] = None if below is None or ratio is None else below * ratio
    else:
        gains[-1] = 1.0
        for at in range(len(ratios) - 1, 0, -1):
            here, ratio = gains[at], ratios[at]
            gains[at - 1] = None if here is None or ratio is None else here / ratio
    return gains


def with_labels(judgments: Any, levels: Any, label: str = "label") -> pl.DataFrame:
    """The judgments with each document's level from a gains table of levels (qrels), missing where it has none."""
    known = check(levels, GAINS).select("topic", "doc", pl.col("gain").alias(label))
    frame = judgments_of(judgments)
    frame = frame.drop(label) if label in frame.columns else frame
    return frame.join(known, on=["topic", "doc"], how="left", maintain_order="left")


def labelled_gains(judgments: Any, chain: pl.DataFrame, label: str = "label") -> pl.DataFrame:
    """Each labelled document with the gain of its level; unlabelled documents are left out and counted."""
    frame = judgments_of(judgments).with_columns(pl.col(label).cast(pl.Float64))
    documents = frame.group_by("topic", "doc").agg(level=pl.col(label).first(), judgments=pl.len())
    unlabelled = documents.filter(pl.col("level").is_null()).sort("topic", "doc")
    if len(unlabelled):
        warnings.warn(
            f"{len(unlabelled)} of {len(documents)} documents have no level and get no gain ({place(unlabelled)})",
            JudgewellWarning,
            stacklevel=2,
        )
    gains = documents.filter(pl.col("level").is_not_null()).join(chain.select("level", "gain"), on="level", how="left")
    lost = gains.filter(pl.col("gain").is_null()).sort("topic", "doc")
    if len(lost):
        raise DataError(
            f"the level {lost['level'][0]:g} has no gain: no unit holds it beside its neighbour level "
            f"({place(lost)}); give the gains as a table (profile=…)"
        )
    return gains_frame(gains)
