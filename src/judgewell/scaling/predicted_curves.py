"""How far to trust p(R|grade): by topic, with more double judgments, by the quality of the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from judgewell.errors import DataError
from judgewell.scaling.double_judgments import Tallies
from judgewell.scaling.grade_probabilities import probabilities
from judgewell.scaling.inputs import judgments_of
from judgewell.stats.arrays import Floats
from judgewell.stats.resampling import bootstrap_weights
from judgewell.tables import RUNS, check


def topic_bootstrap(tally: Tallies, generator: np.random.Generator, draws: int = 300) -> Floats:
    """p(R|grade) for topics drawn with replacement, all judgments of a topic as often as it is drawn: draws x grades,
    NaN where a draw holds no judgment of a grade (Demeester et al. 2015, Fig. 2)."""
    relevant, judged = tally.by_topic()
    if len(judged) < 2:
        raise DataError(
            f"{len(judged)} topic cannot be resampled; a topic bootstrap needs double judgments of several topics"
        )
    times = bootstrap_weights(len(judged), draws, generator).astype(np.float64)
    return probabilities(times @ relevant, times @ judged)


def resampled_counts(
    tally: Tallies, generator: np.random.Generator, draws: int
) -> Iterator[tuple[Floats, Floats, Floats]]:
    """`relevant`, `judged` and `joint` of resampled topics. Of a single topic its documents are resampled, and `joint`
    stays as it is."""
    relevant, judged = tally.by_topic()
    one = len(judged) == 1
    if one:
        relevant, judged = tally.relevant, tally.judged
    for times in bootstrap_weights(len(judged), draws, generator).astype(np.float64):
        joint = tally.joint[0] if one else np.tensordot(times, tally.joint, axes=1)
        yield times @ relevant, times @ judged, joint


def topic_spread(tally: Tallies, generator: np.random.Generator, draws: int = 300) -> pl.DataFrame:
    """Per grade: the standard deviation over topic bootstraps, its 2.5 % and 97.5 % points, and how many draws had no
    judgment of the grade (they are excluded)."""
    p = topic_bootstrap(tally, generator, draws)
    empty = np.isnan(p).all(axis=0)
    shown = np.where(empty, 0.0, p)
    columns = {
        "grade": tally.grades,
        "sigma_topics": np.where(empty, np.nan, np.nanstd(shown, axis=0, ddof=1)),
        "low": np.where(empty, np.nan, np.nanquantile(shown, 0.025, axis=0)),
        "high": np.where(empty, np.nan, np.nanquantile(shown, 0.975, axis=0)),
        "empty": np.isnan(p).sum(axis=0),
    }
    return pl.DataFrame(columns).with_columns(pl.col("sigma_topics", "low", "high").fill_nan(None))


def growth(
    tally: Tallies, generator: np.random.Generator, *, rounds: int = 50, sizes: Sequence[int] | None = None
) -> pl.DataFrame:
    """How the estimate settles as double judgments come in: documents drawn with replacement, p on the growing set;
    mean and standard deviation over rounds for each size and grade (Fig. 3)."""
    total = len(tally.documents)
    grid = np.unique(np.linspace(1, total, min(total, 50)).astype(np.int64)) if sizes is None else np.array(sizes)
    if len(grid) == 0 or grid.min() < 1:
        raise DataError("the sizes of a growth curve are whole numbers from 1 on")
    curves = np.empty((rounds, len(grid), len(tally.grades)))
    for turn in range(rounds):
        order = generator.integers(0, total, int(grid.max()))
        sums = [np.cumsum(values[order], axis=0)[grid - 1] for values in (tally.relevant, tally.judged)]
        curves[turn] = probabilities(sums[0], sums[1])
    seen = (~np.isnan(curves)).sum(axis=0)
    filled, count = np.nan_to_num(curves), np.maximum(seen, 1)
    middle = filled.sum(axis=0) / count
    squares = np.where(np.isnan(curves), 0.0, (curves - middle) ** 2).sum(axis=0)
    spread = np.sqrt(np.divide(squares, seen - 1, out=np.full(squares.shape, np.nan), where=seen > 1))
    middle = np.where(seen > 0, middle, np.nan)
    size, width = len(grid), len(tally.grades)
    return pl.DataFrame(
        {
            "documents": np.repeat(grid, width),
            "grade": np.tile(tally.grades, size),
            "p": middle.ravel(),
            "sd": spread.ravel(),
            "rounds": seen.ravel(),
        }
    ).with_columns(pl.col("p", "sd").fill_nan(None))


def quality(judgments: Any, runs: Any, tally: Tallies, *, good: float) -> pl.DataFrame:
    """p(R|grade) from the results of the best k systems of each topic, for every k (Fig. 1).

    Systems (or resources) of a topic are ordered by how many of their results the first assessor gave at least `good`,
    ties by name; a document counts from the first system that returned it on.
    """
    first = judgments_of(judgments).unique(["topic", "doc"], keep="first", maintain_order=True)
    returned = check(runs, RUNS).select("system", "topic", "doc")
    joined = returned.join(first.select("topic", "doc", "value"), on=["topic", "doc"], how="left")
    systems = joined.group_by("topic", "system").agg(good=(pl.col("value") >= good).sum())
    systems = systems.sort("topic", "good", "system", descending=[False, True, False])
    systems = systems.with_columns(k=pl.int_range(1, pl.len() + 1).over("topic"))
    reached = returned.join(systems, on=["topic", "system"]).group_by("topic", "doc").agg(pl.col("k").min())
    k = tally.documents.join(reached, on=["topic", "doc"], how="left", maintain_order="left")["k"].to_numpy()
    if np.isnan(k.astype(np.float64)).all():
        raise DataError("no doubly judged document is in the runs; give runs of the judged documents")
    most = int(systems["k"].max())  # type: ignore[arg-type]
    steps = np.nan_to_num(k.astype(np.float64), nan=most + 1).astype(np.int64) - 1
    sums = []
    for values in (tally.relevant, tally.judged):
        per_step = np.zeros((most + 1, len(tally.grades)))
        np.add.at(per_step, steps, values)
        sums.append(np.cumsum(per_step[:most], axis=0))
    p = probabilities(sums[0], sums[1])
    return pl.DataFrame(
        {
            "k": np.repeat(np.arange(1, most + 1), len(tally.grades)),
            "grade": np.tile(tally.grades, most),
            "p": p.ravel(),
            "judged": sums[1].ravel(),
        }
    ).with_columns(pl.col("p").fill_nan(None))
