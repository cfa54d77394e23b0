"""Gains of expert levels from the magnitudes of labelled documents: the chain of median ratios of adjacent levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from judgewell.errors import DataError, note
from judgewell.executors import Executor
from judgewell.scaling.inputs import GROUP, Repeated, extra_column, gains_frame, judgments_of, place
from judgewell.scaling.magnitude import SCHOLER, Scores, log_scores
from judgewell.scaling.method import Kind
from judgewell.scaling.uncertainty import draws_on, with_interval
from judgewell.stats.resampling import check_level
from judgewell.tables import GAINS, check

Anchor = Literal["highest", "lowest"]


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
        note(f"{len(unlabelled)} of {len(documents)} documents have no level and get no gain ({place(unlabelled)})")
    gains = documents.filter(pl.col("level").is_not_null()).join(chain.select("level", "gain"), on="level", how="left")
    lost = gains.filter(pl.col("gain").is_null()).sort("topic", "doc")
    if len(lost):
        raise DataError(
            f"the level {lost['level'][0]:g} has no gain: no unit holds it beside its neighbour level "
            f"({place(lost)}); give the gains as a table (profile=…)"
        )
    return gains_frame(gains)


@dataclass(frozen=True, kw_only=True)
class LevelRatios(Scores):
    """Gains of levels from the magnitudes of labelled documents.

    Formula: gain of a level = product, from the anchor, of the median ratio between documents of adjacent levels
    judged in one unit.
    Use: To give the grades of existing qrels gains that people's magnitudes support.
    Traps: Gains are per level, not per document, and so is the interval: t times the spread of ln gain over resampled
    units, with as many degrees of freedom as units beyond each topic's first. The chain of medians is
    not the direct median ratio of the ends. A level that no unit connects to the anchor has no gain.
    """

    name = "level-ratios"
    purpose = "the gain of each expert level (column label) as the chain of median magnitude ratios of adjacent levels"
    source = SCHOLER
    label: str = "label"
    anchor: Anchor = "highest"

    def chain(self, table: Any) -> pl.DataFrame:
        return level_chain(table, label=self.label, anchor=self.anchor, **self.scored)

    def gains(self, table: Any) -> pl.DataFrame:
        return labelled_gains(table, self.chain(table), self.label)

    def interval(
        self,
        table: Any,
        *,
        level: float = 0.95,
        kind: Kind | None = None,
        draws: int = 200,
        seed: int = 0,
        executor: Executor | None = None,
    ) -> pl.DataFrame:
        """Quantiles of so few resampled units are too narrow: with 6 units they hold 88 % where this holds 95 %."""
        from scipy.special import stdtrit

        if kind == "formula":
            return super().interval(table, level=level, kind=kind)
        check_level(level)
        units = self.checked(table).select(GROUP).unique()
        freedom = units.height - units["topic"].n_unique()
        gains = self.gains(table)
        if freedom < 1:
            note("each topic has one unit, so level-ratios has no interval; collect more units")
            return gains
        drawn = draws_on(executor, self, table, draws, seed)
        spread = drawn.documents.with_columns(sd=pl.Series(np.nanstd(np.log(drawn.array()), axis=0, ddof=1)))
        sd = gains.join(spread, on=["topic", "doc"], how="left", maintain_order="left")["sd"].to_numpy()
        centre, half = np.log(gains["gain"].to_numpy()), float(stdtrit(freedom, (1 + level) / 2)) * sd
        return with_interval(gains, np.exp(centre - half), np.exp(centre + half))

    def tables(self, table: Any) -> dict[str, pl.DataFrame]:
        return {**super().tables(table), "levels": self.chain(table)}
