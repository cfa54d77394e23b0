"""Other gains that the judgments allow, and what becomes of the systems under them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from judgewell.comparison.noise import Draws, Score, scores_without_noise
from judgewell.comparison.scores import ScoreArray
from judgewell.comparison.simulated import IndividualDraws, individual_draws
from judgewell.comparison.worlds import Worlds, all_worlds
from judgewell.errors import DataError, InputError, note
from judgewell.evaluation.drawn import DrawnDocuments, can_estimate, drawn_documents, is_drawn
from judgewell.evaluation.measures import Measure
from judgewell.evaluation.resampled import Rankings, cutoff_of, ranked_items
from judgewell.evaluation.settings import Settings
from judgewell.executors import Executor
from judgewell.formats.runs import Run
from judgewell.scales import kind_of
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.footing import on_common_footing

BLOCK = 64  # gain tables scored at once
DOCUMENT = ["topic", "doc"]


@dataclass(frozen=True)
class Blocks:
    """Blocks of draws × documents that can be read more than once."""

    make: Callable[[], Iterator[Floats]]

    def __iter__(self) -> Iterator[Floats]:
        return self.make()


@dataclass(frozen=True)
class GainDraws:
    """Documents with their gains, and draws of other gains for them."""

    documents: pl.DataFrame  # topic, doc, gain
    draws: Draws  # blocks of draws × documents, for worlds
    noise: Draws  # blocks that vary as the gains themselves do
    judgments: Ints | None = None  # of each document, where known

    @classmethod
    def of_array(cls, gains: pl.DataFrame, array: Floats) -> GainDraws:
        """Draws (draws × documents) of a scaling method, in the order of the gains."""
        counts = gains["judgments"] if "judgments" in gains.columns else pl.Series([None])
        blocks = Blocks(lambda: (array[start : start + BLOCK] for start in range(0, len(array), BLOCK)))
        return cls(gains, blocks, blocks, None if counts.null_count() else counts.to_numpy().astype(np.int64))


@dataclass(frozen=True)
class Resampled:
    """What becomes of the systems: over worlds, and without the noise of judgments where that can be removed."""

    worlds: dict[str, Worlds]
    without_noise: ScoreArray | None


def draws_of_table(table: pl.DataFrame, gains: pl.DataFrame, file: str | None = None) -> GainDraws:
    """Draws as `judgewell scale --draws-to` writes them: topic, doc, draw1, draw2, …"""
    drawn = [name for name in table.columns if name.startswith("draw")]
    if not {"topic", "doc"} <= set(table.columns) or not drawn:
        raise InputError(
            "there are no columns topic, doc, draw1, …", cure="write them with judgewell scale --draws-to", file=file
        )
    documents = table.select(DOCUMENT).join(gains, on=DOCUMENT, how="left", maintain_order="left", validate="1:1")
    lost = documents["gain"].null_count(), len(gains) - len(documents) + documents["gain"].null_count()
    if any(lost):
        raise InputError(
            f"{lost[0]} of its documents have no gain and {lost[1]} of the gains' documents are not in it",
            cure="write gains and draws with one command: judgewell scale -o --draws-to",
            file=file,
        )
    return GainDraws.of_array(documents, table.select(drawn).to_numpy().T)


def draws_of_judgments(judgments: pl.DataFrame, gains: pl.DataFrame, size: int, *, seed: int = 0) -> GainDraws:
    """Draws in which each document's gain is one of its judgments, as a study with one judgment each would give.

    The gains themselves vary less: their draws deviate by (judgment − mean) / √n of the document's n judgments, on a
    ratio scale by this share of the logarithm.
    """
    in_logs = kind_of(judgments).in_logs
    values = comparable_judgments(judgments, gains)
    of_document = gains.select(DOCUMENT).join(
        values.group_by(DOCUMENT).agg(
            mean=(pl.col("value").log() if in_logs else pl.col("value")).mean(), count=pl.len()
        ),
        on=DOCUMENT,
        how="left",
        maintain_order="left",
    )
    mean, count = of_document["mean"].to_numpy(), of_document["count"].fill_null(0).to_numpy().astype(np.int64)
    own = gains["gain"].to_numpy()
    single = individual_draws(values, gains, size, seed=seed)
    return GainDraws(gains, single, _Averaged(single, own, mean, np.sqrt(count), in_logs), count)


@dataclass(frozen=True)
class _Averaged:
    """Draws that vary as a mean of the document's judgments does: (judgment − mean) / √n around its own gain."""

    single: IndividualDraws
    own: Floats
    mean: Floats
    root: Floats
    in_logs: bool

    def blocks(self) -> list[tuple[int, int]]:
        return self.single.blocks()

    def block(self, task: tuple[int, int]) -> Floats:
        single = self.single.block(task)
        if self.in_logs:
            return np.asarray(self.own * np.exp((np.log(single) - self.mean) / self.root))
        return np.asarray(self.own + (single - self.mean) / self.root)


def comparable_judgments(judgments: pl.DataFrame, gains: pl.DataFrame) -> pl.DataFrame:
    """The judgments of the gains' documents in the unit of the gains: topic, doc, value.

    On a ratio scale only proportions within a unit count: a judgment is the document's gain times the factor by which
    it differs, after its unit's offset is removed, from the document's geometric mean.
    """
    if not kind_of(judgments).in_logs:
        return judgments.select(*DOCUMENT, "value")
    footed = on_common_footing(judgments).select(*DOCUMENT, "value")
    joined = footed.join(gains.select(*DOCUMENT, "gain"), on=DOCUMENT, how="inner", maintain_order="left")
    if len(joined) and joined["gain"].min() <= 0:  # type: ignore[operator]
        raise DataError("a gain is not above 0, so it does not come from these judgments on a ratio scale")
    factor = (pl.col("value") - pl.col("value").mean().over(DOCUMENT)).exp()
    return joined.select(*DOCUMENT, value=pl.col("gain") * factor)


@dataclass(frozen=True)
class DrawScore:
    """Scores (draws × systems × topics) under gains (draws × documents), with rankings that were looked up once."""

    rankings: Rankings | DrawnDocuments
    measure: Any
    rows: list[int]
    columns: list[int]

    def __call__(self, gains: Floats) -> Floats:
        return self.rankings.scores(self.measure, gains)[:, self.rows][..., self.columns]


def score_of_draws(
    runs: Sequence[Run],
    documents: pl.DataFrame,
    measure: Measure,
    scores: ScoreArray,
    settings: Settings | None = None,
    executor: Executor | None = None,
) -> DrawScore:
    """A function from gains (draws × documents) to scores (draws × systems × topics) in the order of `scores`."""
    depth, settled = cutoff_of(measure), measure.settled(documents["gain"].to_numpy())
    ranked: Rankings | DrawnDocuments
    if is_drawn(documents) and can_estimate(settled):
        ranked = drawn_documents(runs, documents, depth, settings or Settings(), executor)
        rankings = ranked.rankings
    else:
        ranked = rankings = ranked_items(runs, documents, depth, settings, executor)
    rows = [rankings.systems.index(name) for name in scores.systems]
    columns = [rankings.topics.index(name) for name in scores.topics]
    return DrawScore(ranked, settled, rows, columns)


def resample(
    draws: GainDraws,
    score: Score,
    scores: ScoreArray,
    *,
    worlds: int = 1000,
    seed: int = 0,
    executor: Executor | None = None,
) -> Resampled:
    """The systems over other judgments, other topics and both, and their scores without noise in judgments."""
    gains = draws.documents["gain"].to_numpy()
    values = score(gains[None])[0]
    resampled = all_worlds(scores.systems, values, score, draws.draws, worlds, seed=seed, executor=executor)
    if draws.judgments is None:
        note("the gains do not say how many judgments each document has: no score without judgment noise is given")
        return Resampled(resampled, None)
    try:
        clean = scores_without_noise(score, gains, draws.noise, draws.judgments, executor)
    except DataError as problem:
        note(f"no score without judgment noise is given: {problem}")
        return Resampled(resampled, None)
    return Resampled(resampled, replace(scores, values=clean))
