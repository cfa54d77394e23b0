"""Recorded answers asked again by other designs: what each would have cost, and whether it would have been right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl
from scipy.special import expit

from judgewell.analysis.goals.follow import follow
from judgewell.analysis.goals.follow import recorded as in_table
from judgewell.analysis.goals.look import Look, Mode, Rule, Systems
from judgewell.analysis.goals.pairs import PairLook, PairState, answered, look_at_pairs, next_pairs, strengths_of
from judgewell.analysis.goals.plan import ranked_part
from judgewell.analysis.goals.state import TOP, State
from judgewell.comparison.correlation import tau_b
from judgewell.errors import DataError, note
from judgewell.stats.arrays import Floats, Ints

BATCHES = 400  # looks at all preferences in a replay
SIMILAR = 0.95  # τ with the order of all answers from which an order counts as the same
DISCOUNT = 1 / np.log2(np.arange(2, 12))  # of simulated systems: DCG@10


@dataclass(frozen=True)
class Recorded:
    """Answers in points by document, in any order: documents × answers, NaN behind the last of each."""

    pool: pl.DataFrame
    values: Floats
    counts: Ints

    def shuffled(self, rng: np.random.Generator) -> Floats:
        """The same answers of each document in another order."""
        lots = np.where(np.isnan(self.values), 2.0, rng.random(self.values.shape))
        return np.asarray(np.take_along_axis(self.values, np.argsort(lots, axis=1), axis=1))

    @property
    def means(self) -> Floats:
        return np.asarray(np.nanmean(self.values, axis=1))


def recorded_answers(judgments: pl.DataFrame, points: Callable[[Floats], Floats], most: int) -> Recorded:
    """Recorded judgments by document; those of known documents in that role, and beyond `most`, are excluded."""
    rows = judgments.filter(pl.col("value").is_not_null())
    if "known" in rows.columns:
        known = rows["known"].is_not_null()
        if known.any():
            note(f"{int(known.sum()):,} answers about known documents are excluded")
        rows = rows.filter(~known)
    grouped = rows.group_by("topic", "doc").agg(pl.col("value").head(most)).sort("topic", "doc")
    if grouped.is_empty():
        raise DataError("there are no answers to replay")
    counts = grouped["value"].list.len().to_numpy().astype(np.int64)
    values = np.full((len(grouped), int(counts.max())), np.nan)
    values[np.arange(values.shape[1]) < counts[:, None]] = points(grouped["value"].explode().to_numpy())
    return Recorded(grouped.select("topic", "doc"), values, counts)


def simulated(pool: pl.DataFrame, gains: Floats, count: int, seed: int) -> Systems:
    """Systems that rank documents by gain and noise (1 to 2 times the gains' spread), under DCG@10."""
    rng = np.random.default_rng(seed)
    weights = np.zeros((count, len(pool)))
    topics = [
        np.array(rows) for rows in pool.with_row_index("row").group_by("topic", maintain_order=True).agg("row")["row"]
    ]
    for system, noise in enumerate(np.linspace(1.0, 2.0, count) * gains.std()):
        for rows in topics:
            top = rows[np.argsort(-(gains[rows] + rng.normal(0, noise, len(rows))), kind="stable")[: len(DISCOUNT)]]
            weights[system, top] = DISCOUNT[: len(top)]
    importance = np.log(0.05 + weights.sum(axis=0))
    names = tuple(f"simulated {number:02d}" for number in range(1, count + 1))
    return Systems(names, weights / DISCOUNT.sum() / len(topics), importance)


def ranked_only(recorded: Recorded, systems: Systems) -> tuple[Recorded, Systems]:
    """Only documents that some system ranks within the cutoff: an even design would not ask about others either."""
    kept = systems.weights.any(axis=0)
    pool, left = ranked_part(recorded.pool, systems)
    return Recorded(pool, recorded.values[kept], recorded.counts[kept]), left


def replay(
    recorded: Recorded,
    first: State,
    systems: Systems,
    rule: Rule,
    designs: Sequence[Mode] = ("even", "floor", "sampled"),
    repeats: int = 20,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> pl.DataFrame:
    """Every design over the same answers in `repeats` random orders: its cost, and whether all answers say the same.

    Columns design, repeat, answers, cost (answers per document), status, leader, right, wrong_pairs, and the mean
    difference of the pairs that are reported, as estimated at the stop and under all answers.
    """
    truth = systems.weights @ recorded.means
    rows: list[dict[str, object]] = []
    for repeat in range(repeats):
        rng = np.random.default_rng([seed, repeat])
        values = recorded.shuffled(rng)
        state = replace(first, u=rng.permutation(first.u))
        for at, design in enumerate(designs):
            own = replace(rule, mode=design)
            ended = follow(state, own, systems, in_table(values), recorded.counts)
            rows.append({"design": design, "repeat": repeat + 1, "answers": ended.state.answers, "cost": ended.cost})
            rows[-1] |= verdict(ended.last.status, ended.last, truth, own, systems)
            if progress:
                progress(repeat * len(designs) + at + 1, repeats * len(designs))
    return pl.DataFrame(rows)


def verdict(status: str, last: Look, truth: Floats, rule: Rule, systems: Systems) -> dict[str, object]:
    """Whether a conclusion holds under the true scores; of an order every pair that it declares must."""
    gap = (last.means[last.first] - last.means[last.second])[last.relevant]
    real = (truth[last.first] - truth[last.second])[last.relevant]
    wrong = (
        int((real < 0).sum()) if rule.decide == "order" else int(truth[last.leader] < truth.max() - rule.within - 1e-9)
    )
    return {
        "status": status,
        "leader": systems.names[last.leader],
        "right": status == "decided" and not wrong,
        "wrong_pairs": wrong,
        "estimated": float(gap.mean()) if len(gap) else None,
        "true": float(real.mean()) if len(real) else None,
    }


PairDesign = Literal["even", "pairs"]
Answer = tuple[int, int, int, float]  # topic, document, document (numbers within the topic), the first one's win


@dataclass(frozen=True)
class RecordedPairs:
    """Recorded preferences: topics with their documents, and every answer."""

    pool: pl.DataFrame
    sizes: tuple[int, ...]
    answers: tuple[Answer, ...]

    def state(self, answers: Sequence[Answer] = ()) -> PairState:
        return answered(PairState(tuple(np.zeros((size, size)) for size in self.sizes)), list(answers))


def recorded_pairs(pairs: pl.DataFrame) -> RecordedPairs:
    """Preferences by topic; a tie is half a win for each side, and pairs without an answer are excluded."""
    rows = pairs.filter(pl.col("preferred").is_not_null())
    both = [rows.select("topic", doc=side) for side in ("left", "right")]
    pool = pl.concat(both).unique().sort("topic", "doc")
    number = pl.int_range(pl.len()).over("topic")
    numbered = pool.with_columns(number=number, at=pl.col("topic").rank("dense") - 1)
    for side in ("left", "right"):
        rows = rows.join(numbered.rename({"doc": side, "number": f"{side}_number"}), on=["topic", side], how="left")
        rows = rows.rename({"at": "topic_number"}) if side == "left" else rows
    wins = {"left": 1.0, "right": 0.0, "same": 0.5}
    columns = rows.select("topic_number", "left_number", "right_number", "preferred").iter_rows()
    answers = tuple((int(at), left, right, wins[won]) for at, left, right, won in columns)
    sizes = pool.group_by("topic", maintain_order=True).len()["len"].to_list()
    return RecordedPairs(pool, tuple(sizes), answers)


def replay_pairs(
    recorded: RecordedPairs,
    systems: Systems,
    rule: Rule,
    designs: Sequence[PairDesign] = ("even", "pairs"),
    repeats: int = 5,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> pl.DataFrame:
    """Preferences asked in random order (even), or each next one where it reduces the variance most (pairs).

    Columns as of `replay`, and the share of the answers after which the order of the systems has a τ of .95 or more
    with that under all answers: `similar_own` by the estimate that stops the study, `similar` by the gains of the
    method bradley-terry.
    """
    whole = look_at_pairs(recorded.state(recorded.answers), rule, systems)
    rows: list[dict[str, object]] = []
    for repeat in range(repeats):
        rng = np.random.default_rng([seed, repeat])
        order = [recorded.answers[at] for at in rng.permutation(len(recorded.answers))]
        for at, design in enumerate(designs):
            rows.append({"design": design, "repeat": repeat + 1})
            rows[-1] |= _follow_pairs(recorded, order, systems, rule, design, whole)
            if progress:
                progress(repeat * len(designs) + at + 1, repeats * len(designs))
    return pl.DataFrame(rows)


def plain_means(state: PairState, systems: Systems) -> Floats:
    """Scores under the gains of the method bradley-terry: differences are shrunken, and the order is less noisy."""
    plain = strengths_of(state.wins, [np.zeros((len(one), 0)) for one in state.wins])
    return np.asarray(systems.weights @ np.concatenate([TOP * expit(one.theta) for one in plain]))


def _follow_pairs(
    recorded: RecordedPairs, order: Sequence[Answer], systems: Systems, rule: Rule, design: PairDesign, whole: PairLook
) -> dict[str, object]:
    """One design over the answers in one order, until it has stopped and both orders of the systems are similar."""
    waiting: dict[tuple[int, int, int], list[float]] = {}
    left = tuple(np.zeros((size, size)) for size in recorded.sizes)
    for topic, one, other, won in order:
        waiting.setdefault((topic, min(one, other), max(one, other)), []).append(won if one < other else 1 - won)
        left[topic][one, other] += 1
        left[topic][other, one] += 1
    state, total, truth = recorded.state(), len(order), whole.look.means
    wanted = plain_means(recorded.state(recorded.answers), systems)
    batch = max(1, total // BATCHES)
    ended: dict[str, object] = {}
    similar: dict[str, float] = {}
    seen = look_at_pairs(state, rule, systems)
    while True:
        if "similar" not in similar and float(tau_b(plain_means(state, systems), wanted)) >= SIMILAR:
            similar["similar"] = state.answers / total
        if "similar_own" not in similar and float(tau_b(seen.look.means, truth)) >= SIMILAR:
            similar["similar_own"] = state.answers / total
        stops = seen.look.status == "decided" or state.answers >= total
        if not ended and stops:
            status = "decided" if seen.look.status == "decided" else "not separable"
            ended = {"answers": state.answers, "cost": state.answers / state.documents}
            ended |= verdict(status, seen.look, truth, rule, systems)
        if (ended and len(similar) == 2) or state.answers >= total:
            return ended | similar
        if design == "pairs":
            chosen = next_pairs(state, seen, batch, left)
            more = [(*key, waiting[key].pop(0)) for key in chosen]
            for topic, one, other in chosen:
                left[topic][one, other] -= 1
                left[topic][other, one] -= 1
        else:
            more = list(order[state.answers : state.answers + batch])
        state = answered(state, more)
        seen = look_at_pairs(state, rule, systems, seen)
