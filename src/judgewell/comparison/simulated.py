"""Systems made of real sub-runs, labels made of chance, and how much hangs on who judged.

simulated_systems  runs whose documents are all judged, each topic's list from a random real run (Turpin et al. 2015)
random_gains       a gain table without information: what any measure of labels must beat
robustness         tau between the orders of the systems that two assessors' judgments give (Demeester et al. 2015)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from judgewell.comparison.correlation import concordance
from judgewell.errors import DataError, InputError, note
from judgewell.stats.arrays import Floats, Ints
from judgewell.stats.resampling import tasks
from judgewell.tables import GAINS, RUNS, check

Profile = Callable[[Floats], Floats]  # grades of an assessor -> gains

BLOCK = 64  # gain tables drawn at once


def complete_sub_runs(runs: Any, gains: Any, depth: int = 10) -> pl.DataFrame:
    """The rankings (system, topic, rank from 1, doc) whose first `depth` documents are all judged.

    Ranked by score descending, then document id descending; a ranking with fewer documents is not complete.
    """
    if depth < 1:
        raise InputError(f"depth {depth} is below 1", cure="give the rank down to which all documents must be judged")
    judged = check(gains, GAINS).select("topic", "doc", judged=pl.lit(True))
    ranked = check(runs, RUNS).sort("system", "topic", "score", "doc", descending=[False, False, True, True])
    top = ranked.group_by("system", "topic", maintain_order=True).head(depth)
    joined = top.join(judged, on=["topic", "doc"], how="left", maintain_order="left")
    of_run = ["system", "topic"]
    whole = joined.filter((pl.col("judged").is_not_null().all() & (pl.len() == depth)).over(of_run))
    return whole.select("system", "topic", pl.int_range(1, pl.len() + 1).over(of_run).alias("rank"), "doc")


def simulated_systems(
    runs: Any,
    gains: Any,
    count: int = 100,
    *,
    depth: int = 10,
    identical: Literal["keep", "merge"] = "keep",
    seed: int = 0,
) -> pl.DataFrame:
    """A runs table of `count` systems, each a random complete sub-run for every topic that has two or more.

    Sub-runs are drawn with replacement, so two systems may share a list. Lists that several runs have in common are
    each a sub-run ("keep"), or count once ("merge"). What is excluded is noted.
    """
    if count < 1 or identical not in ("keep", "merge"):
        raise InputError(f"count {count}, identical {identical!r}", cure="count is 1 or more, identical keep or merge")
    lists = complete_sub_runs(runs, gains, depth).group_by("topic", "system", maintain_order=True).agg("doc")
    if identical == "merge":
        lists = lists.unique(["topic", "doc"], keep="first", maintain_order=True)
    usable = lists.filter(pl.len().over("topic") >= 2).sort("topic", "system")
    topics = check(runs, RUNS)["topic"].n_unique()
    if not len(usable):
        raise DataError(f"no topic of {topics} has two rankings with all of the first {depth} documents judged")
    kept = usable["topic"].n_unique()
    if kept < topics:
        note(
            f"{topics - kept} of {topics} topics have fewer than two rankings with all of the first {depth} documents "
            "judged and are excluded"
        )
    return _merged(usable, count, depth, np.random.default_rng(seed))


def _merged(usable: pl.DataFrame, count: int, depth: int, rng: np.random.Generator) -> pl.DataFrame:
    """One random list per system and topic, as runs."""
    width = len(str(count))
    sizes = usable.group_by("topic", maintain_order=True).len()["len"].to_numpy().astype(np.int64)
    starts = np.cumsum(sizes) - sizes
    chosen = (starts + rng.integers(0, sizes, size=(count, len(sizes)))).ravel()
    names = [f"simulated{number:0{width}}" for number in range(1, count + 1)]
    systems = pl.Series("system", np.repeat(np.array(names), len(sizes)).tolist())
    taken = usable[chosen].select("topic", "doc").with_columns(systems).explode("doc", empty_as_null=False)
    scores = np.tile(np.arange(depth, 0, -1, dtype=np.float64), count * len(sizes))
    return pl.DataFrame(taken.select("system", "topic", "doc").with_columns(pl.Series("score", scores)))


def random_gains(gains: pl.DataFrame, seed: int = 0) -> pl.DataFrame:
    """The same gains dealt out to each topic's documents at random: a topic keeps its number of good documents."""
    values = gains["gain"].to_numpy()
    topic = gains["topic"].rank("dense").to_numpy()
    dealt = np.empty(len(values))
    chance = np.random.default_rng([seed, 0]).random(len(values))
    dealt[np.argsort(topic, kind="stable")] = values[np.lexsort((chance, topic))]
    return gains.with_columns(pl.Series("gain", dealt))


@dataclass(frozen=True)
class IndividualDraws:
    """`size` gain tables in which each document's gain is one of its judgments, chosen at random."""

    values: Floats  # the judgments, document by document
    counts: Ints  # of each document
    size: int
    seed: int

    def blocks(self) -> list[tuple[int, int]]:
        return tasks(self.size, BLOCK)

    def block(self, task: tuple[int, int]) -> Floats:
        """Draws × documents."""
        number, size = task
        rng, starts = np.random.default_rng([self.seed, number]), np.cumsum(self.counts) - self.counts
        return np.asarray(self.values[starts + rng.integers(0, self.counts, size=(size, len(self.counts)))])


def individual_draws(judgments: pl.DataFrame, gains: pl.DataFrame, size: int, *, seed: int = 0) -> IndividualDraws:
    """Draws in which the gain of each row of `gains` is one of the document's judgments.

    `judgments` holds topic, doc and value, normalised as the gains are. A document of the gains without judgments is
    an error: its gain would not vary.
    """
    numbered = gains.select("topic", "doc").with_row_index("row")
    joined = judgments.join(numbered, on=["topic", "doc"], how="inner").sort("row", maintain_order=True)
    counts = np.bincount(joined["row"].to_numpy().astype(np.int64), minlength=len(gains))
    bare = np.flatnonzero(counts == 0)
    if len(bare):
        topic, doc = gains.select("topic", "doc").row(int(bare[0]))
        raise DataError(
            f"{len(bare)} of {len(gains)} documents have no judgment to draw (the first: topic {topic}, doc {doc}); "
            "leave them out of the gains, or add their judgments"
        )
    return IndividualDraws(joined["value"].to_numpy(), counts, size, seed)


def robustness(
    score: Callable[[Floats], Floats], assessors: Mapping[str, ArrayLike], profiles: Mapping[str, Profile]
) -> pl.DataFrame:
    """For each way to turn grades into gains, how alike two assessors' judgments of the same documents order the
    systems: tau-b and tau-a between their mean scores, for every pair of assessors."""
    if len(assessors) < 2:
        raise DataError("robustness to the choice of assessor needs the grades of two assessors or more")
    rows = []
    for name, profile in profiles.items():
        gains = np.stack([profile(np.asarray(grades, dtype=np.float64)) for grades in assessors.values()])
        means = dict(zip(assessors, score(gains).mean(axis=-1), strict=True))
        for first, second in combinations(assessors, 2):
            counts = concordance(means[first], means[second])
            rows.append(
                {
                    "profile": name,
                    "first": first,
                    "second": second,
                    "tau_b": float(counts.tau_b),
                    "tau_a": float(counts.tau_a),
                    "tied": int(counts.unknown),
                }
            )
    return pl.DataFrame(rows)
