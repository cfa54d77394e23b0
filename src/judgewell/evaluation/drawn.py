"""Scores from gains of documents that were drawn with known probabilities (column inclusion).

A measure that is a weighted sum over documents is estimated with m + (value − m)/π for a document that was
drawn with probability π, and m for every other document that a run ranks; m is what the other documents predict. So a
document that nobody was asked about does not count 0, and differences between systems are not shrunken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from judgewell.errors import note
from judgewell.evaluation.evaluate import SystemScores
from judgewell.evaluation.measures import Judged, Measure, Residual
from judgewell.evaluation.measures.base import Linear, ratio
from judgewell.evaluation.measures.cumulative import nDCG
from judgewell.evaluation.resampled import Rankings, cutoff_of, fixed_unit, rank_weights, ranked_items
from judgewell.evaluation.settings import Settings
from judgewell.executors import Executor
from judgewell.formats.runs import Run
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.sampling import log_importance, predicted_values
from judgewell.tables import INCLUSION

DOCUMENT = ["topic", "doc"]
SLACK = 1e-9  # how far rounding may put a score beyond its limits


def is_drawn(gains: pl.DataFrame) -> bool:
    """Whether some documents of a gains table were drawn with a probability below 1."""
    return INCLUSION.name in gains.columns and bool((gains[INCLUSION.name] < 1).any())


def can_estimate(measure: Measure) -> bool:
    """Whether a measure is a weighted sum down to a cutoff, or nDCG."""
    if not isinstance(measure, Linear) or isinstance(measure, Judged) or measure.by_intent or not measure.cutoff:
        return False
    return isinstance(measure, nDCG) or fixed_unit(measure) is not None


def is_biased(measure: Measure, gains: pl.DataFrame | None, settings: Settings | None = None) -> bool:
    """Whether one system's score is biased because documents were drawn: of nDCG, whose best possible DCG is not known,
    and of measures that cannot be estimated."""
    if gains is None or not is_drawn(gains) or isinstance(measure, Judged | Residual):
        return False
    return isinstance(measure, nDCG) or not (can_estimate(measure) and _plain(settings or Settings()))


def _plain(settings: Settings) -> bool:
    """Whether these settings allow estimates."""
    return settings.ties == "doc" and settings.unjudged == "zero"


@dataclass(frozen=True)
class DrawnDocuments:
    """The documents that scores are about: those that were drawn, and those that a run ranks."""

    rankings: Rankings = field(repr=False)
    topic: Ints  # of each document: its topic's number
    drawn: Ints  # of each drawn row of the gains table: its document
    rows: Ints  # the drawn rows of the gains table
    inclusion: Floats  # of each drawn row
    gains: Floats  # of all rows of the gains table

    def scores(self, measure: Linear, gains: Floats) -> Floats:
        """The measure under gains for the rows of the gains table (…, rows): (…, systems, topics).

        Predictions come from the gains table itself. nDCG is the estimated DCG over the best possible one:
        the larger of that of means and predictions, and of that in which a drawn document stands for 1/π.
        """
        weights = rank_weights(self.rankings, measure)
        predicted = self._predicted(measure, weights)
        own = measure.credit(gains[..., self.rows]) - predicted[self.drawn]
        shape = (*gains.shape[:-1], len(self.topic))
        estimated = np.broadcast_to(predicted, shape).copy()
        estimated[..., self.drawn] += own / self.inclusion
        parts = [estimated[..., rows] @ part.T for rows, part in zip(self.rankings.rows, weights, strict=True)]
        scores = np.stack(parts, axis=-1)
        if not isinstance(measure, nDCG):
            return np.asarray(scores)
        likely = np.broadcast_to(predicted, shape).copy()
        likely[..., self.drawn] += own
        discount = measure.weights(cutoff_of(measure))
        best = [-np.sort(-likely[..., rows], axis=-1)[..., : len(discount)] for rows in self.rankings.rows]
        foreseen = np.stack([one @ discount[: one.shape[-1]] for one in best], axis=-1)
        ideal = np.maximum(self._ideal(measure, measure.credit(gains[..., self.rows])), foreseen)
        return np.asarray(ratio(scores, ideal[..., None, :]))

    def _ideal(self, measure: nDCG, credit: Floats) -> Floats:
        """The best possible DCG of each topic (…, topics), a drawn document standing for 1/π documents like it.

        Σ over drawn documents, the best first, of credit · (C(documents up to it) − C(documents before it)), C(n) the
        sum of the first n discounts.
        """
        sums = np.append(0.0, np.cumsum(measure.weights(cutoff_of(measure))))
        topic, ideal = self.topic[self.drawn], np.zeros((*credit.shape[:-1], len(self.rankings.rows)))
        for number in range(len(self.rankings.rows)):
            rows = np.flatnonzero(topic == number)
            order = np.argsort(-credit[..., rows], axis=-1, kind="stable")
            best = np.take_along_axis(credit[..., rows], order, axis=-1)
            reached = np.interp(np.cumsum(1 / self.inclusion[rows][order], axis=-1), np.arange(len(sums)), sums)
            ideal[..., number] = (best * np.diff(reached, prepend=0.0, axis=-1)).sum(axis=-1)
        return ideal

    def _predicted(self, measure: Linear, weights: Sequence[Floats]) -> Floats:
        weight = np.empty(len(self.topic))
        for rows, part in zip(self.rankings.rows, weights, strict=True):
            weight[rows] = part.sum(axis=0)
        first_rank = max(float(part.max(initial=0.0)) for part in weights) or 1.0
        credit = np.asarray(measure.credit(self.gains[self.rows]), dtype=np.float64)
        values, inclusion = np.zeros((2, len(self.topic)))
        values[self.drawn], inclusion[self.drawn] = credit, self.inclusion
        mean = float((credit / self.inclusion).sum() / (1 / self.inclusion).sum())
        ends = float(credit.min()), float(credit.max())
        importance = log_importance(weight / first_rank)
        return predicted_values(self.topic, values, importance, inclusion > 0, inclusion, mean, ends)


def drawn_documents(
    runs: Sequence[Run], gains: pl.DataFrame, depth: int, settings: Settings, executor: Executor | None = None
) -> DrawnDocuments:
    """Look up where every run ranks the drawn documents, and which others it has among its first `depth`."""
    topics = gains.select("topic").unique()
    firsts = [_first(run, topics, depth, settings.order) for run in runs]
    known = gains.select(*DOCUMENT, INCLUSION.name).with_row_index("row").drop_nulls(INCLUSION.name)
    if len(known) < len(gains):
        count = len(gains) - len(known)
        note(
            f"{count:,} judged documents have no inclusion probability, such as those asked about after the last look "
            "of a study with a goal: they count with their predicted gain; if they were judged for certain, give them "
            "inclusion 1"
        )
    whole = pl.concat([known.select(DOCUMENT), *firsts]).unique().sort(DOCUMENT)
    kept = replace(settings, ties="doc", unjudged="zero", topics="judged")
    rankings = ranked_items(runs, whole.with_columns(gain=pl.lit(0.0)), depth, kept, executor)
    topic = np.empty(len(whole), dtype=np.int64)
    for number, rows in enumerate(rankings.rows):
        topic[rows] = number
    drawn = known.join(whole.with_row_index("at"), on=DOCUMENT, how="left", maintain_order="left")
    at, row = (drawn[name].cast(pl.Int64).to_numpy() for name in ("at", "row"))
    return DrawnDocuments(rankings, topic, at, row, drawn[INCLUSION.name].to_numpy(), gains["gain"].to_numpy())


def _first(run: Run, topics: pl.DataFrame, depth: int, order: str) -> pl.DataFrame:
    """The first documents of a run on these topics."""
    frame = run.frame(ranks=order == "rank").join(topics, on="topic", how="semi")
    if order == "rank":
        ranked = frame.sort(pl.col("rank").cast(pl.Float64))
    else:
        ranked = frame.sort("score", "doc", descending=True)
    return ranked.group_by("topic", maintain_order=True).head(depth).select(DOCUMENT)


def with_estimates(
    results: Iterable[SystemScores],
    gains: pl.DataFrame | None,
    runs: Sequence[Run],
    measures: Sequence[Measure],
    settings: Settings | None = None,
    executor: Executor | None = None,
) -> Iterator[SystemScores]:
    """The results with estimates in place of scores, where documents were drawn and a measure allows it."""
    if gains is None or not is_drawn(gains):
        yield from results
        return
    settings = settings or Settings()
    places = [place for place, one in enumerate(measures) if _plain(settings) and can_estimate(one)]
    if not places:
        _say(gains, measures, places, 0)
        yield from results
        return
    results = list(results)
    depth = max(cutoff_of(measures[place]) for place in places)
    documents = drawn_documents(runs, gains, depth, settings, executor)
    _say(gains, measures, places, len(documents.topic) - len(documents.drawn))
    own = {system: at for at, system in enumerate(documents.rankings.systems)}
    names = gains["topic"].unique(maintain_order=True).to_list()
    order = [documents.rankings.topics.index(name) for name in names]
    estimates = {}
    for place in places:
        settled = results[0].measures[place]
        assert isinstance(settled, Linear)
        estimates[place] = documents.scores(settled, documents.gains)[:, order]
        _note_outside(settled, estimates[place])
    for result in results:
        values = result.values.copy()
        for place, scores in estimates.items():
            values[:, place] = np.where(np.isnan(values[:, place]), np.nan, scores[own[result.system]])
        yield replace(result, values=values)


def _note_outside(measure: Linear, scores: Floats) -> None:
    """Estimates of single topics may lie where no score can: they are kept, because limiting them would bias means."""
    high = 1.0 if isinstance(measure, nDCG) else np.inf
    outside = int(((scores < -SLACK) | (scores > high + SLACK)).sum())
    if outside:
        limits = "outside 0 to 1" if isinstance(measure, nDCG) else "below 0"
        note(
            f"{outside:,} of the {scores.size:,} estimates of {measure} for one system and topic are {limits}; they "
            "are kept, because cutting them off would bias the means: read means over topics, not single topics"
        )


def _say(gains: pl.DataFrame, measures: Sequence[Measure], places: Sequence[int], predicted: int) -> None:
    """Which measures are estimated, and which count documents that were not drawn as unjudged."""
    drawn = f"{int((gains[INCLUSION.name] < 1).sum()):,} documents were drawn with a probability below 1"
    if places:
        names = ", ".join(str(measures[place]) for place in places)
        verb = "is" if len(places) == 1 else "are"
        rest = f"predicted gains for {predicted:,} documents without a probability"
        note(f"{drawn} (column inclusion): {names} {verb} estimated, with {rest}")
        if any(isinstance(measures[place], nDCG) for place in places):
            note(
                "the best possible DCG, which nDCG is divided by, comes out too small where few documents were drawn, "
                "and too large where their gains rest on few answers, by about a tenth: so one system's nDCG has no "
                "interval, and differences between systems are off by the same share; DCG is not"
            )
    other = [
        str(one) for place, one in enumerate(measures) if place not in places and not isinstance(one, Judged | Residual)
    ]
    if other:
        note(
            f"{drawn} (column inclusion), and {', '.join(other)} cannot be estimated from them: documents that were "
            "not drawn count as unjudged, which lowers scores, so means have no interval; use DCG@10, RBP(p=0.8)@10, "
            "P@10 or nDCG@10"
        )
